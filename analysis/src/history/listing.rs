//! Lists the commits with `git log`, the newest first, and finds those that must not be counted.

use std::collections::HashSet;
use std::path::Path;

use super::authors::{Author, Identities};
use super::{Commit, MAX_COMMITS};
use crate::Budget;
use crate::git::{self, GitFailure, Stream};
use crate::open;

/// Largest file of revisions that is read.
const MAX_REVISIONS_SIZE: u64 = 1 << 20;

/// The commits of a repository.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub(super) commits: Vec<Commit>,
    /// Ids of the commits; none for those that are not compared with a parent: merges and the end of a shallow clone.
    pub(super) ids: Vec<Option<String>>,
    pub(super) authors: Vec<Author>,
    pub(super) is_shallow: bool,
    /// Why older commits are not listed.
    pub(super) cut: Option<String>,
}

/// Lists the commits, newest first, until the time is up.
pub(super) fn list(root: &Path, budget: &Budget) -> Result<Listed, GitFailure> {
    let ends = shallow_ends(root, budget)?;
    let ignored = ignored_revisions(root);
    let most = format!("--max-count={MAX_COMMITS}");
    let command = git::command(
        root,
        &[
            "log",
            "-z",
            "--use-mailmap",
            "--no-show-signature",
            "--format=%H%x09%at%x09%P%x09%aE%x09%aN",
            &most,
            "HEAD",
            "--",
        ],
    );
    let mut stream = Stream::start(command, None)?;
    let mut listed = Listed {
        is_shallow: !ends.is_empty(),
        ..Listed::default()
    };
    let mut identities = Identities::default();
    let mut buffer = Vec::with_capacity(1 << 17);
    let whole = loop {
        match stream.read(&mut buffer, budget) {
            Ok(more) => {
                // The last record has no end of its own.
                if !more && !buffer.is_empty() {
                    buffer.push(0);
                }
                let mut start = 0;
                for end in memchr::memchr_iter(0, &buffer) {
                    listed.take(&buffer[start..end], &mut identities, &ends, &ignored)?;
                    start = end + 1;
                }
                buffer.drain(..start);
                if !more {
                    break true;
                }
            }
            Err(GitFailure::Stopped) if !listed.commits.is_empty() => break false,
            Err(failure) => return Err(failure),
        }
    };
    if whole {
        match stream.finish() {
            // What was listed is there, and the newest.
            Err(failure @ GitFailure::Failed { .. }) if !listed.commits.is_empty() => {
                let read = listed.commits.len();
                listed.cut = Some(format!("{failure}: the newest {read} commits were listed"));
            }
            ended => ended?,
        }
    } else {
        listed.cut = Some("the time limit was reached while the commits were listed".to_owned());
    }
    if listed.commits.len() == MAX_COMMITS {
        listed.cut = Some(format!("only the newest {MAX_COMMITS} commits were read"));
    }
    let (authors, author_of) = identities.merge();
    for commit in &mut listed.commits {
        commit.author = author_of[commit.author as usize];
    }
    listed.authors = authors;
    Ok(listed)
}

impl Listed {
    fn take(
        &mut self,
        record: &[u8],
        identities: &mut Identities,
        ends: &HashSet<String>,
        ignored: &HashSet<String>,
    ) -> Result<(), GitFailure> {
        let mut fields = record.splitn(5, |&byte| byte == b'\t');
        let (Some(id), Some(time), Some(parents), Some(mail), Some(name)) = (
            fields.next(),
            fields.next(),
            fields.next(),
            fields.next(),
            fields.next(),
        ) else {
            return Err(GitFailure::Unexpected);
        };
        let id = String::from_utf8_lossy(id).into_owned();
        let time = std::str::from_utf8(time)
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(0);
        self.commits.push(Commit {
            author: identities.number(mail, name)?,
            time,
            is_ignored: ignored.contains(&id),
        });
        let is_compared = !parents.contains(&b' ') && !ends.contains(&id);
        self.ids.push(is_compared.then_some(id));
        Ok(())
    }
}

/// Returns the commits whose parents a shallow clone left out: compared with nothing they would add every file.
fn shallow_ends(root: &Path, budget: &Budget) -> Result<HashSet<String>, GitFailure> {
    let place = git::output(
        root,
        &[
            "rev-parse",
            "--path-format=absolute",
            "--git-path",
            "shallow",
        ],
        budget,
    )?;
    let place = git::path_of(&place);
    // There is no such file unless the clone is shallow.
    let mut text = Vec::new();
    let _ = open::read(&place, MAX_REVISIONS_SIZE, &mut text);
    let text = String::from_utf8_lossy(&text);
    Ok(text.lines().map(|line| line.trim().to_owned()).collect())
}

/// Returns the commits that `.git-blame-ignore-revs` names: they reformat what others wrote.
fn ignored_revisions(root: &Path) -> HashSet<String> {
    let mut text = Vec::new();
    match open::read(
        &root.join(".git-blame-ignore-revs"),
        MAX_REVISIONS_SIZE,
        &mut text,
    ) {
        Ok(size) if size <= MAX_REVISIONS_SIZE => {}
        Ok(_) | Err(_) => return HashSet::new(),
    }
    String::from_utf8_lossy(&text)
        .lines()
        .filter_map(|line| line.split('#').next()?.split_whitespace().next())
        .map(str::to_ascii_lowercase)
        .collect()
}
