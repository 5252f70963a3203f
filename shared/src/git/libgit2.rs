//! libgit2 (git2): reads references and history in this process, without starting git.
//!
//! libgit2 answers only where the git program would say the same. Everything else is [`Unanswered`], and the caller asks the
//! program: a format that libgit2 does not read (reftable, SHA-256, any extension), a shallow or partial clone, a
//! worktree of another user (`safe.directory`), a missing object, several merge bases, any error.
//!
//! A repository is opened for each question, so that nothing is stale and no handle is shared between threads. It is opened by its
//! git directory: libgit2 then reads neither the environment nor grafts (it has no replacements), and searches nowhere.
//!
//! Configuration stays with the git program: libgit2 reads neither `GIT_CONFIG_*` nor every `includeIf`, and the address of a
//! remote decides where a token goes. So do blobs and lists of references for the analysis, which one `cat-file --batch` and
//! one `for-each-ref` answer for all files at once.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use git2::{ErrorCode, ObjectType};
use tokio::sync::{Semaphore, oneshot};

use super::command::{Git, Place};
use super::oid::Oid;
use super::paths::linked_record;

/// A named pipe among the files of a repository would block libgit2 for ever. The program, which is asked then, can be killed.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// How many threads may be in libgit2 at a time, those that a named pipe blocks included.
const MAX_THREADS: usize = 16;
/// libgit2 parses all of `packed-refs` for one reference, git searches in it.
const MAX_PACKED_REFS: u64 = 1 << 20;
/// How many symbolic references git follows.
const MAX_SYMBOLIC_DEPTH: usize = 5;

static THREADS: Semaphore = Semaphore::const_new(MAX_THREADS);

/// The git program has to answer.
#[derive(Debug)]
pub(super) struct Unanswered;

impl From<git2::Error> for Unanswered {
    fn from(_: git2::Error) -> Self {
        Self
    }
}

impl From<std::io::Error> for Unanswered {
    fn from(_: std::io::Error) -> Self {
        Self
    }
}

impl Git {
    /// Asks libgit2 about the repository at a place; `None` if the git program has to answer.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        place: Place<'_>,
        question: impl FnOnce(&git2::Repository) -> Result<T, Unanswered> + Send + 'static,
    ) -> Option<T> {
        if !self.uses_libgit2 {
            return None;
        }
        let git_dir = match place {
            Place::Repository(path) => path.to_owned(),
            Place::Worktree(path) => own_git_dir(path)?,
            Place::Directory(_) => return None,
        };
        let permit = THREADS.try_acquire().ok()?;
        let (sender, answer) = oneshot::channel();
        let work = move || {
            let _permit = permit;
            let answer = open(&git_dir).and_then(|repository| question(&repository));
            let _ = sender.send(answer.ok());
        };
        // Not on tokio's blocking pool: a runtime that ends waits for that.
        let thread = thread::Builder::new().name("libgit2".to_owned());
        thread.spawn(work).ok()?;
        tokio::time::timeout(ANSWER_TIMEOUT, answer)
            .await
            .ok()?
            .ok()?
    }
}

/// Returns the git directory of a worktree that belongs to this user, as do its `.git` and its git directory.
///
/// git reads those whatever `safe.directory` says; whether it reads others is for git to decide.
fn own_git_dir(worktree: &Path) -> Option<PathBuf> {
    let worktree = worktree.canonicalize().ok()?;
    let dot_git = worktree.join(".git");
    let kind = dot_git.symlink_metadata().ok()?.file_type();
    let git_dir = if kind.is_dir() {
        dot_git.clone()
    } else if kind.is_file() {
        linked_record(&worktree)?
    } else {
        return None;
    };
    let user = rustix::process::geteuid().as_raw();
    let is_own = |path: &PathBuf| path.symlink_metadata().is_ok_and(|meta| meta.uid() == user);
    let are_own = [worktree, dot_git, git_dir.clone()].iter().all(is_own);
    are_own.then_some(git_dir)
}

fn open(git_dir: &Path) -> Result<git2::Repository, Unanswered> {
    let repository = git2::Repository::open_bare(git_dir)?;
    let config = repository.config()?;
    let has_extensions = config.entries(Some(r"^extensions\."))?.next().is_some();
    let packed = repository.commondir().join("packed-refs").metadata();
    let is_large = packed.is_ok_and(|packed| packed.len() > MAX_PACKED_REFS);
    if has_extensions || is_large {
        return Err(Unanswered);
    }
    Ok(repository)
}

fn is_missing<T>(found: &Result<T, git2::Error>) -> bool {
    matches!(found, Err(error) if error.code() == ErrorCode::NotFound)
}

/// Returns the git directory and the common directory of a repository that has its files beside `.git`.
pub(super) fn directories(repository: &git2::Repository) -> Result<(PathBuf, PathBuf), Unanswered> {
    let config = repository.config()?;
    let is_bare = config.get_bool("core.bare");
    let is_bare = !is_missing(&is_bare) && is_bare?;
    if is_bare || !is_missing(&config.get_entry("core.worktree")) {
        return Err(Unanswered);
    }
    // git takes a folder with any other HEAD for no repository, and goes on with the one around it.
    repository.find_reference("HEAD")?;
    let common_dir = repository.commondir().canonicalize()?;
    Ok((repository.path().canonicalize()?, common_dir))
}

/// Follows a symbolic reference to the last name, as `git symbolic-ref` does; none if it is missing, or not symbolic.
pub(super) fn symbolic_target(
    repository: &git2::Repository,
    name: &str,
) -> Result<Option<String>, Unanswered> {
    let mut last = None;
    for _ in 0..MAX_SYMBOLIC_DEPTH {
        let name = last.as_deref().unwrap_or(name);
        // Old gits wrote symbolic references as symbolic links, which libgit2 reads through.
        if repository.path().join(name).is_symlink()
            || repository.commondir().join(name).is_symlink()
        {
            return Err(Unanswered);
        }
        let found = repository.find_reference(name);
        if is_missing(&found) {
            return Ok(last);
        }
        match found?.symbolic_target()? {
            Some(target) => last = Some(target.to_owned()),
            None => return Ok(last),
        }
    }
    Err(Unanswered)
}

/// Returns the commit that a reference leads to, if there is one.
pub(super) fn read_ref(
    repository: &git2::Repository,
    name: &str,
) -> Result<Option<Oid>, Unanswered> {
    let last = symbolic_target(repository, name)?;
    let found = repository.find_reference(last.as_deref().unwrap_or(name));
    if is_missing(&found) {
        return Ok(None);
    }
    // Not `Reference::peel`, which believes what `packed-refs` says of a tag's commit.
    commit_of(repository, found?.target().ok_or(Unanswered)?).map(Some)
}

/// Returns the commit that a full object id or the full name of a reference means.
pub(super) fn resolve(repository: &git2::Repository, revision: &str) -> Result<Oid, Unanswered> {
    if revision == "HEAD" || revision.starts_with("refs/") {
        return read_ref(repository, revision)?.ok_or(Unanswered);
    }
    let oid = Oid::parse(revision).ok_or(Unanswered)?;
    commit_of(repository, git2::Oid::from_str(oid.as_str())?)
}

/// Follows tags to a commit.
fn commit_of(repository: &git2::Repository, mut id: git2::Oid) -> Result<Oid, Unanswered> {
    let objects = repository.odb()?;
    loop {
        match objects.read(id)?.kind() {
            ObjectType::Commit => return Oid::parse(&id.to_string()).ok_or(Unanswered),
            ObjectType::Tag => id = repository.find_tag(id)?.target_id(),
            _ => return Err(Unanswered),
        }
    }
}

/// Returns the merge base of two commits, if they have any.
pub(super) fn merge_base(
    repository: &git2::Repository,
    one: &Oid,
    other: &Oid,
) -> Result<Option<Oid>, Unanswered> {
    refuse_shallow(repository)?;
    let one = git2::Oid::from_str(one.as_str())?;
    let found = repository.merge_bases(one, git2::Oid::from_str(other.as_str())?);
    if is_missing(&found) {
        return Ok(None);
    }
    match &found?[..] {
        [base] => Ok(Oid::parse(&base.to_string())),
        // git prefers one of several.
        _ => Err(Unanswered),
    }
}

/// Counts the commits of `head` that `base` lacks.
pub(super) fn count_ahead(
    repository: &git2::Repository,
    base: &Oid,
    head: &Oid,
) -> Result<usize, Unanswered> {
    refuse_shallow(repository)?;
    let mut walk = repository.revwalk()?;
    walk.push(git2::Oid::from_str(head.as_str())?)?;
    walk.hide(git2::Oid::from_str(base.as_str())?)?;
    walk.try_fold(0, |count, commit| Ok(commit.map(|_| count + 1)?))
}

/// libgit2 looks for the parents that a shallow clone lacks, and may find some.
fn refuse_shallow(repository: &git2::Repository) -> Result<(), Unanswered> {
    let shallow = repository.commondir().join("shallow");
    match shallow.symlink_metadata() {
        Ok(_) => Err(Unanswered),
        Err(_) => Ok(()),
    }
}
