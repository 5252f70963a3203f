//! Finds the repository that a path belongs to.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::command::{Call, Git, Place};
use super::error::GitError;
use super::remove_worktree::linked_record;
use super::worktree::LONGEST_LINK;
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
    /// How long to wait for the lock, if not as long as usual.
    pub(super) patience: Option<Duration>,
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

    /// Writes into a git directory that is kept elsewhere where the files are: git does not, and a linked worktree leads
    /// to the git directory alone.
    pub(super) fn note_root(&self) -> Result<(), GitError> {
        use std::os::unix::ffi::OsStrExt;
        if self.root == self.common_dir || self.root.join(".git") == self.common_dir {
            return Ok(());
        }
        let path = self.common_dir.join(NOTED_ROOT);
        std::fs::write(&path, self.root.as_os_str().as_bytes()).map_err(|source| GitError::Io {
            action: "write",
            path,
            source,
        })
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
        Ok(Repository {
            git: self.clone(),
            common_dir,
            root,
            worktree,
            patience: None,
        })
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
        if let Some(root) = noted_root(common_dir) {
            return Ok(root);
        }
        if common_dir.file_name().is_some_and(|name| name == ".git") {
            return Ok(common_dir.parent().unwrap_or(common_dir).to_owned());
        }
        Ok(common_dir.to_owned())
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

/// Reads where the files of a git directory are, if they still are there.
fn noted_root(common_dir: &Path) -> Option<PathBuf> {
    let root = path_of(&file::read(&common_dir.join(NOTED_ROOT), LONGEST_LINK).ok()?);
    let linked = root.join(".git").canonicalize().ok()?;
    (linked == common_dir || linked_record(&root)? == common_dir).then_some(root)
}

/// Reads a path that git printed with one line break after it.
pub(super) fn path_of_line(line: &[u8]) -> PathBuf {
    let bytes = line.strip_suffix(b"\n").unwrap_or(line);
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

/// Reads a path that git printed between NUL bytes.
pub(super) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}
