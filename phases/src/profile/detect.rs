//! Project detection: the nearest folder with project files decides the profile.

use std::path::Path;

use shared::model::toolchain::{Toolchain, is_dotnet_project, toolchains};

use super::overrides::{Override, ProfileError};
use super::table::{built_in, known};
use super::{Profile, ProfileName, USER_FILE, node};

/// .NET project files can have any name, so up to this many entries of a folder are checked.
const MAX_ENTRIES: usize = 500;

/// Finds the profile for a file or folder inside a worktree: override file, project files, default.
///
/// The repository's override file names commands to run, so it is used only if `is_trusted` accepts its text.
pub fn find(
    worktree: &Path,
    path: &Path,
    home: Option<&Path>,
    default: Option<ProfileName>,
    is_trusted: impl FnOnce(&str) -> bool,
) -> Result<Option<Profile>, ProfileError> {
    let of_user = match home {
        Some(home) => Override::read(&home.join(USER_FILE))?,
        None => None,
    };
    let chosen = match of_user {
        Some(of_user) => Some(of_user),
        None => Override::read_inside(worktree, is_trusted)?,
    };
    if let Some(chosen) = chosen {
        return Ok(Some(chosen.apply_to(worktree, detect(worktree, path))));
    }
    Ok(detect(worktree, path).or_else(|| default.map(|name| built_in(name, worktree, worktree))))
}

/// Finds the project nearest to a path, within the worktree. A project of the file's language is preferred to
/// a nearer one.
pub fn detect(worktree: &Path, path: &Path) -> Option<Profile> {
    let ending = path.extension().and_then(|ending| ending.to_str());
    let speaks = |name: &ProfileName| ending.is_some_and(|it| known(*name).endings.contains(&it));
    let mut nearest = None;
    for folder in path
        .ancestors()
        .filter(|folder| folder.starts_with(worktree))
    {
        let found = in_folder(folder);
        if let Some(name) = found.iter().copied().find(speaks) {
            return Some(built_in(name, folder, worktree));
        }
        if nearest.is_none()
            && let Some(first) = found.first()
        {
            nearest = Some((*first, folder));
        }
    }
    nearest.map(|(name, folder)| built_in(name, folder, worktree))
}

fn in_folder(folder: &Path) -> Vec<ProfileName> {
    let has = |name: &str| folder.join(name).is_file();
    let found = toolchains(has).into_iter();
    let mut found: Vec<ProfileName> = found
        .map(|toolchain| profile_of(toolchain, folder))
        .collect();
    if found.is_empty() && has_dotnet(folder) {
        found.push(ProfileName::Dotnet);
    }
    found
}

/// Chooses the test runner; some toolchains have several.
fn profile_of(toolchain: Toolchain, folder: &Path) -> ProfileName {
    match toolchain {
        Toolchain::Cargo => ProfileName::Cargo,
        Toolchain::Go => ProfileName::Go,
        Toolchain::Node => node::runner(folder),
        Toolchain::Maven => ProfileName::Maven,
        Toolchain::Gradle => ProfileName::Gradle,
        Toolchain::Mix => ProfileName::Mix,
        Toolchain::Composer => ProfileName::Phpunit,
        Toolchain::Bundler if folder.join(".rspec").is_file() || folder.join("spec").is_dir() => {
            ProfileName::Rspec
        }
        Toolchain::Bundler => ProfileName::Minitest,
        Toolchain::Python => ProfileName::Pytest,
        Toolchain::Cmake => ProfileName::Cmake,
        Toolchain::Dotnet => ProfileName::Dotnet,
    }
}

fn has_dotnet(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|entries| {
        entries
            .take(MAX_ENTRIES)
            .filter_map(Result::ok)
            .any(|entry| entry.file_name().to_str().is_some_and(is_dotnet_project))
    })
}
