//! Snapshots of a worktree's files, and the changes since.
//!
//! A snapshot is an index and an object database of its own in a folder of ours: it begins as a copy of the
//! worktree's index, so that files which are unchanged are known by their times and sizes, and neither the
//! worktree's index nor the repository's objects are ever written. Settings with which changed files could be
//! hidden from git (times that are not looked at, assumed or skipped entries, a monitor) are switched off.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::command::{Call, Git, Place};
use super::discovery::Repository;
use super::error::GitError;
use super::paths::{path_of, path_of_line};
use crate::file;
use crate::model::Alteration;

/// Reading all files of a large worktree once.
const SNAPSHOT_TIMEOUT: Duration = Duration::from_mins(2);

/// More in a file of ignore rules is not compared.
const MAX_RULES_BYTES: u64 = 1 << 20;

/// Settings that would keep git from looking.
const LOOK: [&str; 12] = [
    "-c",
    "core.trustctime=true",
    "-c",
    "core.checkStat=default",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.ignoreStat=false",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "core.splitIndex=false",
];

/// Where a snapshot is kept.
#[derive(Debug, Clone)]
pub struct Snapshot {
    git: Git,
    worktree: PathBuf,
    common_dir: PathBuf,
    folder: PathBuf,
}

/// One file that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Changed {
    /// Relative to the worktree.
    pub path: PathBuf,
    pub how: Alteration,
}

impl Snapshot {
    /// Names a snapshot of a worktree; nothing is made or read.
    pub fn new(repository: &Repository, worktree: &Path, folder: &Path) -> Self {
        Self::at(worktree, repository.common_dir(), folder)
    }

    /// The same, for those who know where the repository is.
    pub fn at(worktree: &Path, common_dir: &Path, folder: &Path) -> Self {
        Self {
            git: Git::default(),
            worktree: worktree.to_owned(),
            common_dir: common_dir.to_owned(),
            folder: folder.to_owned(),
        }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Takes the snapshot, or brings it up to date. Only files that are wanted are kept with their contents.
    pub async fn take(&self, wanted: impl Fn(&Path) -> bool) -> Result<(), GitError> {
        let objects = self.folder.join("objects");
        file::make_private_folder(&objects).map_err(GitError::io("make", &objects))?;
        let index = self.index();
        if !index.exists() {
            self.freeze_filters().await?;
            self.copy_index(&index).await?;
            self.look_at_everything().await?;
        }
        let (changed, new) = tokio::try_join!(self.differing(), self.untracked())?;
        let mut input = Vec::new();
        let (nested, new): (Vec<_>, Vec<_>) = new.into_iter().partition(|path| is_folder(path));
        if !self.folder.join("nested").exists() {
            self.keep_list("nested", &nested)?;
        }
        let paths: BTreeSet<PathBuf> = changed.into_iter().map(|one| one.path).chain(new).collect();
        for path in paths.iter().filter(|path| wanted(path)) {
            input.extend_from_slice(path.as_os_str().as_bytes());
            input.push(0);
        }
        if !input.is_empty() {
            self.call("update-index")
                .args(["-z", "--add", "--remove", "--stdin"])
                .input(&input)
                .writes()
                .success()
                .await?;
        }
        self.keep_list("ignored", &self.ignored().await?)?;
        let rules = self.ignore_rules().await?;
        let path = self.folder.join("ignore-rules");
        std::fs::write(&path, &rules).map_err(GitError::io("write", &path))
    }

    /// Accepts the nested repositories that are there now.
    pub async fn accept_nested(&self) -> Result<(), GitError> {
        let mut nested = self.untracked().await?;
        nested.retain(|path| is_folder(path));
        self.keep_list("nested", &nested)
    }

    fn keep_list(&self, name: &str, paths: &[PathBuf]) -> Result<(), GitError> {
        let mut list = Vec::new();
        for path in paths {
            list.extend_from_slice(path.as_os_str().as_bytes());
            list.push(0);
        }
        let path = self.folder.join(name);
        std::fs::write(&path, &list).map_err(GitError::io("write", &path))
    }

    fn kept_list(&self, name: &str) -> BTreeSet<PathBuf> {
        let known = std::fs::read(self.folder.join(name)).unwrap_or_default();
        known
            .split(|byte| *byte == 0)
            .filter(|path| !path.is_empty())
            .map(path_of)
            .collect()
    }

    /// Records the filters that turn files into what git keeps: one that is set later could hide a change.
    async fn freeze_filters(&self) -> Result<(), GitError> {
        let found = self.filters().await?;
        let path = self.folder.join("filters");
        std::fs::write(&path, found).map_err(GitError::io("write", &path))
    }

    async fn filters(&self) -> Result<Vec<u8>, GitError> {
        let finished = self
            .call("config")
            .args(["-z", "--get-regexp", r"^filter\."])
            .run()
            .await?;
        Ok(finished.stdout)
    }

    /// Returns the settings with which filters are as they were when the first snapshot was taken.
    async fn frozen_filters(&self) -> Result<Vec<OsString>, GitError> {
        let now = self.filters().await?;
        let before = std::fs::read(self.folder.join("filters")).unwrap_or_default();
        if now == before {
            return Ok(Vec::new());
        }
        let (now, before) = (values(&now), values(&before));
        let names: BTreeSet<&Vec<u8>> = now.keys().chain(before.keys()).collect();
        let mut settings = Vec::new();
        for name in names {
            if now.get(name) == before.get(name) {
                continue;
            }
            let mut setting = name.clone();
            setting.push(b'=');
            setting.extend(before.get(name).cloned().unwrap_or_default());
            settings.push("-c".into());
            settings.push(OsString::from_vec(setting));
        }
        Ok(settings)
    }

    /// Returns the symbolic links of the snapshot.
    pub async fn links(&self) -> Result<Vec<PathBuf>, GitError> {
        let listed = self.call("ls-files").args(["-s", "-z"]).success().await?;
        let lines = listed.stdout.split(|byte| *byte == 0);
        Ok(lines
            .filter(|line| line.starts_with(b"120000 "))
            .filter_map(|line| line.splitn(2, |byte| *byte == b'\t').nth(1))
            .map(path_of)
            .collect())
    }

    /// Returns whether git ignores what it ignored when the snapshot was taken.
    pub async fn has_same_ignore_rules(&self) -> Result<bool, GitError> {
        let Ok(before) = std::fs::read(self.folder.join("ignore-rules")) else {
            return Ok(false);
        };
        Ok(before == self.ignore_rules().await?)
    }

    /// Returns the files that say what git ignores, with the names of their contents.
    async fn ignore_rules(&self) -> Result<Vec<u8>, GitError> {
        let listed = self
            .call("ls-files")
            .args(["--cached", "--others", "-z", "--", ":(glob)**/.gitignore"])
            .success()
            .await?;
        let user = self
            .call("config")
            .args(["--path", "--get", "core.excludesFile"])
            .run()
            .await?;
        let places = listed.stdout.split(|byte| *byte == 0).map(path_of);
        let places: BTreeSet<PathBuf> = places
            .filter(|path| !path.as_os_str().is_empty())
            .map(|path| self.worktree.join(path))
            .chain([
                self.common_dir.join("info/exclude"),
                path_of_line(&user.stdout),
            ])
            .collect();
        let mut rules = b"rules\n".to_vec();
        for place in places {
            rules.extend_from_slice(place.as_os_str().as_bytes());
            rules.push(0);
            rules.extend(file::read(&place, MAX_RULES_BYTES).unwrap_or_default());
            rules.push(0);
        }
        Ok(rules)
    }

    /// Returns whether the snapshot has files in a folder.
    pub async fn has_files_in(&self, folder: &Path) -> Result<bool, GitError> {
        let mut place = std::ffi::OsString::from(":(literal)");
        place.push(folder);
        let listed = self
            .call("ls-files")
            .args(["--cached", "-z", "--"])
            .arg(place)
            .success()
            .await?;
        Ok(!listed.stdout.is_empty())
    }

    /// Returns how files differ from what they were, as git shows it.
    pub async fn diff(&self, paths: &[PathBuf]) -> Result<String, GitError> {
        let mut call = self.call("diff").args([
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--no-renames",
            "--relative",
            "--",
        ]);
        for path in paths {
            let mut place = std::ffi::OsString::from(":(literal)");
            place.push(path);
            call = call.arg(place);
        }
        let finished = call.success().await?;
        Ok(String::from_utf8_lossy(&finished.stdout).into_owned())
    }

    /// Returns every file that is not as it was, new ones included; sorted.
    pub async fn changes(&self) -> Result<Vec<Changed>, GitError> {
        if !self.index().exists() {
            let missing = std::io::ErrorKind::NotFound.into();
            return Err(GitError::io("find the snapshot", &self.index())(missing));
        }
        let (mut changes, new, ignored) =
            tokio::try_join!(self.differing(), self.untracked(), self.ignored())?;
        let nested = self.kept_list("nested");
        let new = new.into_iter().filter(|path| !nested.contains(path));
        changes.extend(new.map(|path| Changed {
            path,
            how: Alteration::Added,
        }));
        let known = self.kept_list("ignored");
        let fresh = ignored.into_iter().filter(|path| !known.contains(path));
        changes.extend(fresh.map(|path| Changed {
            path,
            how: Alteration::Ignored,
        }));
        changes.sort();
        Ok(changes)
    }

    /// Returns what a file held; `None` if it was not there.
    pub async fn content(&self, path: &Path) -> Result<Option<Vec<u8>>, GitError> {
        let mut name = std::ffi::OsString::from(":");
        name.push(path);
        let finished = self.call("cat-file").arg("blob").arg(name).run().await?;
        Ok(finished.status.success().then_some(finished.stdout))
    }

    /// Puts files back as they were. What is there now is moved to `kept` first; nothing is deleted.
    pub async fn restore(&self, changes: &[Changed], kept: &Path) -> Result<(), GitError> {
        let mut input = Vec::new();
        for change in changes {
            let from = self.worktree.join(&change.path);
            if from.symlink_metadata().is_ok() {
                keep(&from, &kept.join(&change.path))?;
            }
            match change.how {
                Alteration::Modified | Alteration::Deleted => {
                    input.extend_from_slice(change.path.as_os_str().as_bytes());
                    input.push(0);
                }
                Alteration::Added | Alteration::Ignored => {}
            }
        }
        if input.is_empty() {
            return Ok(());
        }
        let filters = self.frozen_filters().await?;
        self.call("checkout-index")
            .settings(&filters)
            .args(["-f", "-u", "-z", "--stdin"])
            .input(&input)
            .writes()
            .success()
            .await?;
        Ok(())
    }

    fn index(&self) -> PathBuf {
        self.folder.join("index")
    }

    fn call(&self, operation: &'static str) -> Call<'_> {
        self.git
            .call(Place::Worktree(&self.worktree), operation)
            .settings(LOOK)
            .time(SNAPSHOT_TIMEOUT)
            // Another content could be put in the place of an object's.
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_INDEX_FILE", self.index())
            .env("GIT_OBJECT_DIRECTORY", self.folder.join("objects"))
            .env(
                "GIT_ALTERNATE_OBJECT_DIRECTORIES",
                self.common_dir.join("objects"),
            )
    }

    async fn copy_index(&self, to: &Path) -> Result<(), GitError> {
        let place = Place::Worktree(&self.worktree);
        let answer = self
            .git
            .call(place, "rev-parse")
            .args(["--path-format=absolute", "--git-path", "index"])
            .success()
            .await?;
        let from = path_of_line(&answer.stdout);
        match std::fs::copy(&from, to) {
            Ok(_) => Ok(()),
            // A repository without a first commit: every file is new.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(source) => Err(GitError::io("copy", &from)(source)),
        }
    }

    /// Forgets which files git was told not to look at.
    async fn look_at_everything(&self) -> Result<(), GitError> {
        let listed = self.call("ls-files").args(["-v", "-z"]).success().await?;
        let mut assumed = Vec::new();
        let mut skipped = Vec::new();
        for line in listed.stdout.split(|byte| *byte == 0) {
            let [letter, b' ', path @ ..] = line else {
                continue;
            };
            let into = match letter {
                b'S' if self.worktree.join(path_of(path)).symlink_metadata().is_ok() => {
                    &mut skipped
                }
                letter if letter.is_ascii_lowercase() => &mut assumed,
                _ => continue,
            };
            into.extend_from_slice(path);
            into.push(0);
        }
        for (option, paths) in [
            ("--no-assume-unchanged", assumed),
            ("--no-skip-worktree", skipped),
        ] {
            if !paths.is_empty() {
                self.call("update-index")
                    .args([option, "-z", "--stdin"])
                    .input(&paths)
                    .writes()
                    .success()
                    .await?;
            }
        }
        Ok(())
    }

    /// Files of the snapshot that are not as they were.
    async fn differing(&self) -> Result<Vec<Changed>, GitError> {
        let filters = self.frozen_filters().await?;
        let finished = self
            .call("diff")
            .settings(&filters)
            .args(["--name-status", "-z", "--no-renames", "--no-ext-diff"])
            .args(["--no-textconv", "--ignore-submodules=all", "--relative"])
            .success()
            .await?;
        let mut fields = finished.stdout.split(|byte| *byte == 0);
        let mut changes = Vec::new();
        while let (Some(letter), Some(path)) = (fields.next(), fields.next()) {
            let how = match letter.first() {
                Some(b'D') => Alteration::Deleted,
                // Added is what the index has with no content yet.
                Some(b'A') => Alteration::Added,
                _ => Alteration::Modified,
            };
            changes.push(Changed {
                path: path_of(path),
                how,
            });
        }
        changes.dedup();
        Ok(changes)
    }

    async fn untracked(&self) -> Result<Vec<PathBuf>, GitError> {
        self.others(&["--exclude-standard"]).await
    }

    /// What git ignores; a folder that is ignored as a whole is one entry.
    async fn ignored(&self) -> Result<Vec<PathBuf>, GitError> {
        self.others(&["--exclude-standard", "--ignored", "--directory"])
            .await
    }

    async fn others(&self, options: &[&str]) -> Result<Vec<PathBuf>, GitError> {
        let finished = self
            .call("ls-files")
            .args(["--others", "-z"])
            .args(options)
            .success()
            .await?;
        Ok(finished
            .stdout
            .split(|byte| *byte == 0)
            .filter(|path| !path.is_empty())
            .map(path_of)
            .collect())
    }
}

/// A nested repository, which git lists as a folder.
fn is_folder(path: &Path) -> bool {
    path.as_os_str().as_bytes().ends_with(b"/")
}

/// Reads `git config -z`; the last value of a name holds.
fn values(listed: &[u8]) -> BTreeMap<Vec<u8>, Vec<u8>> {
    listed
        .split(|byte| *byte == 0)
        .filter(|entry| !entry.is_empty())
        .map(|entry| {
            let mut parts = entry.splitn(2, |byte| *byte == b'\n');
            let mut next = || parts.next().unwrap_or_default().to_vec();
            (next(), next())
        })
        .collect()
}

/// Moves a file away; copies it to another file system.
fn keep(from: &Path, to: &Path) -> Result<(), GitError> {
    if let Some(folder) = to.parent() {
        file::make_private_folder(folder).map_err(GitError::io("make", folder))?;
    }
    if std::fs::rename(from, to).is_ok() {
        return Ok(());
    }
    std::fs::copy(from, to)
        .and_then(|_| std::fs::remove_file(from))
        .map_err(GitError::io("keep", from))
}

/// Finds the top level and the common git directory of the worktree around a path, without running git.
pub fn worktree_around(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let top = path
        .ancestors()
        .find(|folder| folder.join(".git").symlink_metadata().is_ok())?;
    let entry = top.join(".git");
    if entry.is_dir() {
        return Some((top.to_owned(), entry.canonicalize().ok()?));
    }
    let text = std::fs::read_to_string(&entry).ok()?;
    let git_dir = top.join(text.strip_prefix("gitdir: ")?.trim_end_matches('\n'));
    let common = match std::fs::read_to_string(git_dir.join("commondir")) {
        Ok(text) => git_dir.join(text.trim_end_matches('\n')),
        Err(_) => git_dir,
    };
    Some((top.to_owned(), common.canonicalize().ok()?))
}
