//! Which project a file belongs to: the nearest folder with project files.

use std::io::Read;
use std::path::Path;

use super::overrides::{Override, ProfileError};
use super::table::{built_in, known};
use super::{Profile, ProfileName, USER_FILE, node};

/// No project file that anybody wrote is larger.
const LARGEST: u64 = 1 << 20;
/// How many entries of a folder are looked at for .NET's projects, which have any name.
const MOST_ENTRIES: usize = 500;

/// Project files and what they say, most telling first.
const MARKERS: [(&str, ProfileName); 21] = [
    ("Cargo.toml", ProfileName::Cargo),
    ("go.mod", ProfileName::Go),
    // Which runner it is, is looked up.
    ("package.json", ProfileName::Node),
    ("pom.xml", ProfileName::Maven),
    ("build.gradle", ProfileName::Gradle),
    ("build.gradle.kts", ProfileName::Gradle),
    ("settings.gradle", ProfileName::Gradle),
    ("settings.gradle.kts", ProfileName::Gradle),
    ("mix.exs", ProfileName::Mix),
    ("composer.json", ProfileName::Phpunit),
    ("phpunit.xml", ProfileName::Phpunit),
    (".rspec", ProfileName::Rspec),
    // Which of the two, is looked up.
    ("Gemfile", ProfileName::Minitest),
    ("pyproject.toml", ProfileName::Pytest),
    ("pytest.ini", ProfileName::Pytest),
    ("setup.py", ProfileName::Pytest),
    ("setup.cfg", ProfileName::Pytest),
    ("tox.ini", ProfileName::Pytest),
    ("conftest.py", ProfileName::Pytest),
    ("requirements.txt", ProfileName::Pytest),
    ("CMakeLists.txt", ProfileName::Cmake),
];

/// Finds the profile for a file or folder inside a worktree: override file, project files, default.
///
/// The repository's own override file names commands to run, so it counts only if `is_trusted` says so
/// of its text.
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
    let said = match of_user {
        Some(said) => Some(said),
        None => Override::read_inside(worktree, is_trusted)?,
    };
    if let Some(said) = said {
        return Ok(Some(said.onto(worktree, detect(worktree, path))));
    }
    Ok(detect(worktree, path).or_else(|| default.map(|name| built_in(name, worktree))))
}

/// Finds the project nearest to a path, not above the worktree. One that speaks the file's language wins
/// over a nearer one that doesn't.
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
            return Some(built_in(name, folder));
        }
        if nearest.is_none()
            && let Some(first) = found.first()
        {
            nearest = Some((*first, folder));
        }
    }
    nearest.map(|(name, folder)| built_in(name, folder))
}

fn in_folder(folder: &Path) -> Vec<ProfileName> {
    let mut found: Vec<ProfileName> = Vec::new();
    for (marker, name) in MARKERS {
        if !folder.join(marker).is_file() {
            continue;
        }
        let name = match marker {
            "package.json" => node::runner(folder),
            "Gemfile" if folder.join("spec").is_dir() => ProfileName::Rspec,
            _ => name,
        };
        if !found.contains(&name) {
            found.push(name);
        }
    }
    if found.is_empty() && has_dotnet(folder) {
        found.push(ProfileName::Dotnet);
    }
    found
}

fn has_dotnet(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return false;
    };
    entries
        .take(MOST_ENTRIES)
        .filter_map(Result::ok)
        .any(|entry| {
            Path::new(&entry.file_name())
                .extension()
                .is_some_and(|ending| {
                    ["csproj", "fsproj", "vbproj", "sln", "slnx"]
                        .iter()
                        .any(|it| ending == *it)
                })
        })
}

/// Reads a text file that has a reasonable size.
pub(super) fn read_bounded(path: &Path) -> Option<String> {
    let mut text = String::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(LARGEST).read_to_string(&mut text).ok()?;
    Some(text)
}
