//! Where a repository has its `.git`, and whether what git reads there is made of files that end.
//!
//! A pipe or a device in place of `.gitignore` or `config` would make git wait for ever or fill the memory.

use std::fs;
use std::path::{Path, PathBuf};

use super::open;

/// Largest file with the place of a git directory.
const MAX_POINTER: u64 = 1 << 16;

/// Largest file that git reads into memory or line by line.
const MAX_SIZE: u64 = 64 << 20;

/// What git maps instead of reading it: a large one does no harm.
const MAPPED: [&str; 2] = ["index", "packed-refs"];

const IN_WORKING_TREE: [&str; 6] = [
    ".git",
    ".gitattributes",
    ".gitignore",
    ".gitmodules",
    ".mailmap",
    ".git-blame-ignore-revs",
];

const IN_GIT_DIR: [&str; 12] = [
    "HEAD",
    "commondir",
    "config",
    "config.worktree",
    "index",
    "packed-refs",
    "shallow",
    "info/attributes",
    "info/exclude",
    "info/grafts",
    "info/sparse-checkout",
    "objects/info/alternates",
];

/// The places of a repository.
#[derive(Debug)]
pub(crate) struct GitPlace {
    /// The folder that has `.git`.
    pub(crate) top: PathBuf,
    git_dir: PathBuf,
    /// Shared by all worktrees.
    pub(crate) common_dir: PathBuf,
}

impl GitPlace {
    /// Finds the repository that a folder belongs to, without git.
    pub(crate) fn of(folder: &Path) -> Option<Self> {
        let has_git = |folder: &&Path| fs::symlink_metadata(folder.join(".git")).is_ok();
        let top = folder.ancestors().find(has_git)?;
        let dot_git = top.join(".git");
        let git_dir = if dot_git.is_dir() {
            dot_git
        } else {
            let text = pointer(&dot_git)?;
            top.join(text.strip_prefix("gitdir:")?.trim())
        };
        let common_dir = pointer(&git_dir.join("commondir"))
            .map_or_else(|| git_dir.clone(), |text| git_dir.join(text.trim()));
        Some(Self {
            top: top.to_owned(),
            git_dir,
            common_dir,
        })
    }
}

fn pointer(path: &Path) -> Option<String> {
    let mut text = Vec::new();
    let size = open::read(path, MAX_POINTER, &mut text).ok()?;
    String::from_utf8(text).ok().filter(|_| size <= MAX_POINTER)
}

/// Returns a file that git would read although it can't be read whole.
pub(crate) fn obstacle(root: &Path) -> Option<PathBuf> {
    let Some(place) = GitPlace::of(root) else {
        let dot_git = root.join(".git");
        return is_endless(&dot_git).then_some(dot_git);
    };
    let of_tree = IN_WORKING_TREE.iter().map(|name| place.top.join(name));
    let folders = [&place.git_dir, &place.common_dir];
    let of_git = folders
        .into_iter()
        .flat_map(|folder| IN_GIT_DIR.iter().map(move |name| folder.join(name)));
    of_tree.chain(of_git).find(|path| is_endless(path))
}

/// Returns whether something is neither a folder nor a file of a reasonable size. Git follows links.
fn is_endless(path: &Path) -> bool {
    let is_mapped = MAPPED.iter().any(|name| path.ends_with(name));
    fs::metadata(path).is_ok_and(|metadata| {
        if metadata.is_file() {
            metadata.len() > MAX_SIZE && !is_mapped
        } else {
            !metadata.is_dir()
        }
    })
}
