//! Unsaved work inside submodules, and inside repositories that were made in a folder of the worktree. They lie
//! in the git directory of the worktree (or in the worktree itself) and are deleted with it, so what
//! their own remotes lack exists nowhere else.
//!
//! Git LFS objects of a submodule are not counted: nothing on this machine says whether the remote
//! has them. Those of the repository itself are kept in its common directory and outlive worktrees.

use std::collections::BTreeSet;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use super::command::{Call, Place};
use super::discovery::Repository;
use super::error::GitError;
use super::history::parse_count;
use super::index::{Listing, concealed};
use super::operation::{Operation, operation_in};
use super::paths::{linked_record, path_of_line, recorded_link, resolved};
use super::status::{parse_status, refuse_unseen};

/// What agents write into a submodule's configuration must not run in our name.
const GUARDS: [&str; 14] = [
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "core.splitIndex=false",
    "-c",
    "core.trustctime=true",
    "-c",
    "core.checkStat=default",
    "-c",
    "protocol.allow=never",
];

/// What one submodule would lose with the worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmoduleWork {
    /// Where it is in the worktree, or its name in the git directory if it is checked out nowhere.
    pub path: PathBuf,
    pub uncommitted: usize,
    /// Commits and stashes that no remote-tracking branch leads to.
    pub commits: usize,
    /// What was begun in it and not finished; it may have put changes aside that nothing else leads to.
    pub operation: Option<Operation>,
    /// Worktrees of it that lie elsewhere, and are none without it.
    pub worktrees: Vec<PathBuf>,
}

impl Repository {
    /// Finds the submodules of a worktree, nested ones too, that have something to lose.
    pub(super) async fn submodule_work(
        &self,
        worktree: &Path,
        git_dir: &Path,
        listing: &Listing,
    ) -> Result<Vec<SubmoduleWork>, GitError> {
        let mut found = Vec::new();
        let root = resolved(worktree);
        let modules = git_dir.join("modules");
        let mut repositories = git_dirs_below(&modules);
        let mut named: Vec<(PathBuf, PathBuf)> = repositories
            .iter()
            .map(|path| {
                let name = path.strip_prefix(&modules).unwrap_or(path);
                (path.clone(), name.to_owned())
            })
            .collect();
        let mut places = [listing.links.as_slice(), &listing.repositories].concat();
        let mut checked = BTreeSet::new();
        let mut asked = 0;
        loop {
            for (git_dir, _) in &named[asked..] {
                let linked = linked_worktrees(git_dir).into_iter();
                let inside = linked
                    .filter_map(|(_, place)| Some(place.strip_prefix(&root).ok()?.to_owned()));
                places.extend(inside);
            }
            asked = named.len();
            let Some(path) = places.pop() else {
                break;
            };
            let folder = worktree.join(&path);
            let dot_git = folder.join(".git");
            // Not checked out; and a link that leads out of the worktree is not deleted with it.
            let real = folder.symlink_metadata().is_ok_and(|meta| meta.is_dir());
            if !real || dot_git.symlink_metadata().is_err() || !checked.insert(path.clone()) {
                continue;
            }
            let own = repository_of(&folder).filter(|own| own.starts_with(&root));
            if let Some(own) = own
                && repositories.insert(own.clone())
            {
                named.push((own.clone(), path.clone()));
                for nested in git_dirs_below(&own.join("modules")) {
                    named.push((nested, path.clone()));
                }
            }
            let inner = self.guarded(Place::Worktree(&folder), "ls-files");
            let inner = Listing::read(inner, &folder).await?;
            let marked = inner.conceals.then_some(git_dir);
            let uncommitted = self.uncommitted_in(&folder, marked).await?;
            if uncommitted > 0 {
                found.push(SubmoduleWork {
                    path: path.clone(),
                    uncommitted,
                    commits: 0,
                    operation: None,
                    worktrees: Vec::new(),
                });
            }
            let nested = inner.links.iter().chain(&inner.repositories);
            places.extend(nested.map(|inner| path.join(inner)));
        }
        for (git_dir, path) in named {
            let commits = self.commits_without_remote(&git_dir).await?;
            let linked = linked_worktrees(&git_dir);
            let records = linked.iter().map(|(record, _)| record);
            let operation = records.chain([&git_dir]).find_map(|own| operation_in(own));
            let places = linked.iter().map(|(_, place)| place);
            let elsewhere = places.filter(|place| !place.starts_with(&root));
            let worktrees: Vec<PathBuf> = elsewhere.cloned().collect();
            if commits > 0 || operation.is_some() || !worktrees.is_empty() {
                found.push(SubmoduleWork {
                    path,
                    uncommitted: 0,
                    commits,
                    operation,
                    worktrees,
                });
            }
        }
        Ok(found)
    }

    fn guarded<'a>(&'a self, place: Place<'a>, operation: &'static str) -> Call<'a> {
        self.git
            .call(place, operation)
            .settings(GUARDS)
            .env("GIT_NO_LAZY_FETCH", "1")
            // A submodule's configuration names its place, which is wrong while its worktree is set aside.
            .env("GIT_WORK_TREE", place.path())
    }

    /// Counts changed files; those that the index is told not to look at too, if there may be any: then
    /// `marked` is where an index without such marks can be made.
    async fn uncommitted_in(
        &self,
        submodule: &Path,
        marked: Option<&Path>,
    ) -> Result<usize, GitError> {
        let mut settings = Vec::new();
        for filter in self.own_filters(submodule).await? {
            for (key, value) in [("clean", ""), ("process", ""), ("required", "false")] {
                settings.push((format!("{filter}.{key}"), value));
            }
        }
        let call = |operation| {
            let settings = settings.iter().map(|(key, value)| (key.as_str(), *value));
            self.guarded(Place::Worktree(submodule), operation)
                .hidden_settings(settings)
        };
        let asked = call("status")
            .args(["--porcelain=v2", "-z", "--branch", "--no-ahead-behind"])
            // Nested ones are looked at by themselves.
            .args(["--ignore-submodules=dirty", "--untracked-files=normal"]);
        let status = asked.success().await?;
        refuse_unseen(&asked, &status)?;
        let status = parse_status(&status.stdout, 0)?;
        Ok(match marked {
            Some(git_dir) if status.total == 0 => concealed(call, git_dir).await?,
            Some(_) | None => status.total,
        })
    }

    /// Lists the filters that the submodule itself configures, as `filter.NAME`.
    async fn own_filters(&self, submodule: &Path) -> Result<BTreeSet<String>, GitError> {
        let answer = self
            .guarded(Place::Worktree(submodule), "config")
            .args(["--show-scope", "--null", "--name-only"])
            .args(["--get-regexp", r"^filter\."])
            .answer()
            .await?;
        let text = answer.map(|answer| answer.stdout_text());
        let text = text.unwrap_or_default();
        let mut fields = text.split('\0');
        let mut filters = BTreeSet::new();
        while let (Some(scope), Some(key)) = (fields.next(), fields.next()) {
            if matches!(scope, "local" | "worktree")
                && let Some((name, _)) = key.rsplit_once('.')
            {
                filters.insert(name.to_owned());
            }
        }
        Ok(filters)
    }

    /// Counts the commits, stashes included, that the repository did not get from a remote.
    async fn commits_without_remote(&self, git_dir: &Path) -> Result<usize, GitError> {
        let mut input = String::new();
        for oid in fetched(git_dir) {
            input.push('^');
            input.push_str(&oid);
            input.push('\n');
        }
        let counted = self
            .guarded(Place::Repository(git_dir), "rev-list")
            .args(["--count", "--ignore-missing"])
            .args(["--exclude=refs/remotes/*", "--all"])
            .args(["--stdin", "--not", "--remotes"])
            .input(input.as_bytes())
            .success()
            .await?;
        parse_count(&counted.stdout)
    }
}

/// Returns the commits that came from a remote without a remote-tracking branch: tags of the first
/// clone, which are packed then, and single commits that `git submodule update` asks for by id.
///
/// Once git has tidied up, tags that were made here are packed as well: those of commits that were made here don't count.
fn fetched(git_dir: &Path) -> Vec<String> {
    let read = |name| {
        let bytes = std::fs::read(git_dir.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let packed = read("packed-refs");
    let log = read("logs/HEAD");
    let made_here: BTreeSet<&str> = log
        .lines()
        .filter(|line| !line.contains("\tcheckout: ") && !line.contains("\tclone: "))
        .filter_map(|line| line.split(' ').nth(1))
        .collect();
    let mut lines = packed.lines().peekable();
    let tags = std::iter::from_fn(|| {
        let line = lines.next()?;
        // The commit of a tag that says something of its own.
        let commit = lines.next_if(|next| next.starts_with('^'));
        Some((line, commit.and_then(|line| line.strip_prefix('^'))))
    });
    let tags = tags.filter_map(|(line, commit)| {
        let (oid, name) = line.split_once(' ')?;
        let is_fetched = !made_here.contains(commit.unwrap_or(oid));
        (name.starts_with("refs/tags/") && is_fetched).then_some(oid)
    });
    let fetch_head = read("FETCH_HEAD");
    let by_id = fetch_head.lines().filter_map(|line| {
        let mut fields = line.split('\t');
        let (oid, source) = (fields.next()?, fields.nth(1)?);
        // `git fetch .` gets from the repository what it has.
        let from_itself = source == "." || source.ends_with(" of .");
        (!from_itself).then_some(oid)
    });
    tags.chain(by_id)
        .filter(|oid| oid.bytes().all(|byte| byte.is_ascii_hexdigit()) && oid.len() >= 40)
        .map(str::to_owned)
        .collect()
}

/// Returns the repository whose files a folder has, by its `.git`: a folder, or a file that names one.
fn repository_of(folder: &Path) -> Option<PathBuf> {
    let dot_git = folder.join(".git");
    if dot_git.is_dir() {
        return dot_git.canonicalize().ok();
    }
    let named = linked_record(folder)?;
    match std::fs::read(named.join("commondir")) {
        // It is a linked worktree.
        Ok(line) => named.join(path_of_line(&line)).canonicalize().ok(),
        Err(_) => Some(named),
    }
}

/// Lists the linked worktrees of a repository that are there: git's record of each, and its place.
fn linked_worktrees(git_dir: &Path) -> Vec<(PathBuf, PathBuf)> {
    let records = std::fs::read_dir(git_dir.join("worktrees"));
    let records = records.into_iter().flatten().flatten();
    let linked = records.filter_map(|entry| {
        let link = recorded_link(&entry.path()).filter(|link| link.exists())?;
        Some((entry.path(), link.parent()?.to_owned()))
    });
    linked.collect()
}

/// Finds the repositories in a `modules` folder; names may have slashes, and submodules submodules.
fn git_dirs_below(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let is_folder = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        for entry in entries.filter(is_folder) {
            let path = entry.path();
            if path.join("HEAD").exists() && path.join("objects").is_dir() {
                folders.push(path.join("modules"));
                found.insert(path);
            } else {
                folders.push(path);
            }
        }
    }
    found
}
