//! Repository discovery: finds the repository that a path belongs to.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::command::{Call, Git, Place};
use super::error::GitError;
use super::libgit2::{self, Unanswered};
use super::lock::{self, WorktreeLock};
use super::paths::{MAX_LINK, linked_record, path_of, path_of_line};
use crate::file;

/// The file, in a git directory that is kept elsewhere, that says where the files are.
const NOTED_ROOT: &str = "claude-codex-root";

/// A repository: all worktrees that share one common git directory.
#[derive(Debug, Clone)]
pub struct Repository {
    pub(super) git: Git,
    common_dir: PathBuf,
    root: PathBuf,
    worktree: Option<PathBuf>,
    lock_timeout: Duration,
}

impl Repository {
    /// Finds the repository around a path with the `git` on PATH.
    pub async fn discover(path: &Path) -> Result<Self, GitError> {
        Git::default().discover(path).await
    }

    /// Finds the repository that has its top level here, with the `git` on PATH.
    ///
    /// If that was deleted or moved away, one around it is not meant.
    pub async fn at(root: &Path) -> Result<Self, GitError> {
        let found = Self::discover(root).await?;
        let resolved = |path: &Path| path.canonicalize().ok();
        if resolved(found.root()) != resolved(root) {
            return Err(GitError::NotARepository {
                path: root.to_owned(),
            });
        }
        Ok(found)
    }

    /// Returns the git directory that all worktrees share.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// Returns the top level of the main worktree, or the directory of a bare repository.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the top level of the worktree that the discovered path was in.
    pub fn worktree(&self) -> Option<&Path> {
        self.worktree.as_deref()
    }

    /// Returns the repository's folder name, made of characters that fit in any path.
    pub fn name(&self) -> String {
        // A bare repository may be kept as `project/.git`, beside its worktrees.
        let named = match self.root.file_name() {
            Some(name) if name == ".git" => self.root.parent().and_then(Path::file_name),
            name => name,
        };
        let name = named.unwrap_or_default().to_string_lossy();
        let name = name.strip_suffix(".git").unwrap_or(&name);
        let usable =
            |character: char| character.is_alphanumeric() || matches!(character, '.' | '_' | '-');
        let name: String = name
            .chars()
            .map(|character| if usable(character) { character } else { '-' })
            .collect();
        match name.trim_matches(['.', '-']) {
            "" => "repository".to_owned(),
            name => name.to_owned(),
        }
    }

    /// Sets how long to wait for the worktree lock, for a caller that would rather try again later.
    #[must_use]
    pub fn with_lock_timeout(mut self, timeout: Duration) -> Self {
        self.lock_timeout = timeout;
        self
    }

    /// Waits for the lock around changes to worktrees and branches.
    pub(super) async fn lock(&self) -> Result<WorktreeLock, GitError> {
        self.lock_file(lock::WORKTREES_FILE, self.lock_timeout)
            .await
    }

    /// Waits for the lock that a file in the common directory stands for.
    pub(super) async fn lock_file(
        &self,
        name: &str,
        timeout: Duration,
    ) -> Result<WorktreeLock, GitError> {
        WorktreeLock::acquire(self.common_dir().join(name), timeout).await
    }

    /// Writes into a git directory that is kept elsewhere where the files are: git does not, and a linked worktree leads
    /// to the git directory alone.
    pub(super) fn note_root(&self) -> Result<(), GitError> {
        use std::os::unix::ffi::OsStrExt;
        if self.root == self.common_dir || self.root.join(".git") == self.common_dir {
            return Ok(());
        }
        let path = self.common_dir.join(NOTED_ROOT);
        let root = self.root.as_os_str().as_bytes();
        file::replace(&path, root, None).map_err(GitError::io("write", &path))
    }

    /// Asks libgit2 about the repository as a whole; `None` if the git program has to answer.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&git2::Repository) -> Result<T, Unanswered> + Send + 'static,
    ) -> Option<T> {
        let place = Place::Repository(&self.common_dir);
        self.git.ask(place, question).await
    }

    /// Starts a call about the repository as a whole.
    pub(super) fn call(&self, operation: &'static str) -> Call<'_> {
        self.git
            .call(Place::Repository(&self.common_dir), operation)
    }

    /// Starts a call in one worktree.
    pub(super) fn call_in<'a>(&'a self, worktree: &'a Path, operation: &'static str) -> Call<'a> {
        self.git.call(Place::Worktree(worktree), operation)
    }
}

impl Git {
    /// Finds the repository around a path: a subdirectory, a worktree, a bare repository.
    pub async fn discover(&self, path: &Path) -> Result<Repository, GitError> {
        let start = if path.is_file() {
            path.parent().unwrap_or(path)
        } else {
            path
        };
        if !start.is_dir() {
            return Err(GitError::NotARepository {
                path: path.to_owned(),
            });
        }
        if let Some(found) = self.discover_in_process(start).await? {
            return Ok(found);
        }
        let place = Place::Directory(start);
        let facts = self
            .call(place, "rev-parse")
            .args(["--is-bare-repository", "--is-inside-work-tree"])
            .args(["--path-format=absolute", "--git-common-dir"])
            .success()
            .await?;
        // The path comes last because it alone may contain line breaks.
        let mut fields = facts.stdout.splitn(3, |byte| *byte == b'\n');
        let (bare, inside) = (fields.next(), fields.next());
        let common_dir = fields.next().map(path_of_line);
        let (Some(bare), Some(inside), Some(common_dir)) = (bare, inside, common_dir) else {
            return Err(GitError::unexpected("rev-parse", &facts.stdout));
        };
        self.refuse_among_files(start, &common_dir).await?;
        let worktree = if inside == b"true" {
            Some(self.path_question(place, "--show-toplevel").await?)
        } else {
            None
        };
        let root = if bare == b"true" {
            common_dir.clone()
        } else {
            self.root_of(place, &common_dir, worktree.as_deref())
                .await?
        };
        Ok(self.repository(common_dir, root, worktree))
    }

    /// Finds the repository at the top level of a worktree by libgit2, unless a setting says where its files are.
    ///
    /// The search upwards from other folders is left to git, which stops at `GIT_CEILING_DIRECTORIES`.
    async fn discover_in_process(&self, start: &Path) -> Result<Option<Repository>, GitError> {
        let directories = self.ask(Place::Worktree(start), libgit2::directories).await;
        let (Some((git_dir, common_dir)), Ok(worktree)) = (directories, start.canonicalize())
        else {
            return Ok(None);
        };
        self.refuse_among_files(start, &common_dir).await?;
        let root = if git_dir == common_dir {
            worktree.clone()
        } else {
            usual_root(&common_dir)
        };
        Ok(Some(self.repository(common_dir, root, Some(worktree))))
    }

    fn repository(
        &self,
        common_dir: PathBuf,
        root: PathBuf,
        worktree: Option<PathBuf>,
    ) -> Repository {
        Repository {
            git: self.clone(),
            common_dir,
            root,
            worktree,
            lock_timeout: lock::DEFAULT_TIMEOUT,
        }
    }

    /// Refuses a folder that is a repository by its contents (`HEAD`, `config`, `objects` …), not by the name `.git`, and
    /// lies among the files of another repository: a clone can have brought it, and git would obey its configuration.
    async fn refuse_among_files(&self, start: &Path, common_dir: &Path) -> Result<(), GitError> {
        let start = start.canonicalize().unwrap_or_else(|_| start.to_owned());
        let is_folder = start.starts_with(common_dir);
        let by_name = common_dir
            .components()
            .any(|part| part.as_os_str() == ".git");
        if !is_folder || by_name {
            return Ok(());
        }
        let above = common_dir.ancestors().skip(1);
        // A clone can bring such folders inside each other, but none that is called `.git`: that one is asked.
        for around in above.filter(|folder| folder.join(".git").symlink_metadata().is_ok()) {
            if self.is_inside_files(around).await? {
                return Err(GitError::AmongFiles {
                    path: common_dir.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Tells whether a folder lies among the files of a repository.
    pub(super) async fn is_inside_files(&self, folder: &Path) -> Result<bool, GitError> {
        let asked = self
            .call(Place::Directory(folder), "rev-parse")
            .arg("--is-inside-work-tree")
            .run()
            .await?;
        Ok(asked.status.success() && asked.stdout == b"true\n")
    }

    /// Finds the main worktree of a repository, seen from any of its worktrees.
    async fn root_of(
        &self,
        place: Place<'_>,
        common_dir: &Path,
        worktree: Option<&Path>,
    ) -> Result<PathBuf, GitError> {
        let git_dir = self.path_question(place, "--git-dir").await?;
        if let Some(worktree) = worktree
            && git_dir == common_dir
        {
            return Ok(worktree.to_owned());
        }
        let main = Place::Repository(common_dir);
        let bare = self
            .call(main, "rev-parse")
            .arg("--is-bare-repository")
            .success()
            .await?;
        if bare.stdout == b"true\n" {
            return Ok(common_dir.to_owned());
        }
        // Submodules keep their git directory elsewhere and say where the files are.
        let configured = self
            .call(main, "config")
            .args(["--null", "--get", "core.worktree"])
            .answer()
            .await?;
        if let Some(mut configured) = configured {
            configured.stdout.pop();
            let path = common_dir.join(OsString::from_vec(configured.stdout));
            return Ok(path.canonicalize().unwrap_or(path));
        }
        Ok(usual_root(common_dir))
    }

    async fn path_question(&self, place: Place<'_>, question: &str) -> Result<PathBuf, GitError> {
        let answer = self
            .call(place, "rev-parse")
            .args(["--path-format=absolute", question])
            .success()
            .await?;
        Ok(path_of_line(&answer.stdout))
    }
}

/// Returns where the files of a git directory are, unless a setting (`core.bare`, `core.worktree`) says otherwise.
fn usual_root(common_dir: &Path) -> PathBuf {
    let is_inside_files = common_dir.file_name().is_some_and(|name| name == ".git");
    let around = common_dir.parent().filter(|_| is_inside_files);
    noted_root(common_dir).unwrap_or_else(|| around.unwrap_or(common_dir).to_owned())
}

/// Reads where the files of a git directory are, if they still are there.
fn noted_root(common_dir: &Path) -> Option<PathBuf> {
    let root = path_of(&file::read(&common_dir.join(NOTED_ROOT), MAX_LINK).ok()?);
    let linked = root.join(".git").canonicalize().ok()?;
    (linked == common_dir || linked_record(&root)? == common_dir).then_some(root)
}
