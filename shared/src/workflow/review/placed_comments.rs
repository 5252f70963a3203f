//! Pending line comments as findings of the commit that they are sent about: lines that have moved since are followed.

use std::collections::HashMap;

use crate::git::{MovedLine, Oid, Repository};
use crate::model::{DraftComment, Finding, InstanceId};
use crate::store::{StoreError, Writer};

/// How much of a commit's id names it in a text.
const SHORT: usize = 10;

/// Comments by their ids.
#[derive(Debug)]
pub(super) struct PlacedComments(HashMap<i64, Finding>);

impl PlacedComments {
    /// Finds the lines of pending comments in a commit.
    pub(super) async fn at(
        repository: &Repository,
        commit: &Oid,
        pending: Vec<DraftComment>,
    ) -> Self {
        let mut placed = HashMap::new();
        for comment in pending {
            let id = comment.id;
            placed.insert(id, place(repository, commit, comment).await);
        }
        Self(placed)
    }

    /// Takes the comments that are pending now, as part of sending them.
    pub(super) fn take(
        &self,
        writer: &Writer<'_>,
        coder: &InstanceId,
    ) -> Result<Vec<Finding>, StoreError> {
        let pending = writer.take_draft_comments(coder)?;
        let placed = pending.into_iter().map(|comment| {
            let known = self.0.get(&comment.id).cloned();
            // One that was stored a moment ago.
            known.unwrap_or_else(|| as_it_was(comment, "may have moved since"))
        });
        Ok(placed.collect())
    }
}

async fn place(repository: &Repository, commit: &Oid, comment: DraftComment) -> Finding {
    if comment.commit_id == commit.as_str() {
        return comment.into();
    }
    let moved = repository
        .moved_line(
            &comment.commit_id,
            commit.as_str(),
            &comment.file,
            comment.line,
        )
        .await;
    match moved {
        Ok(MovedLine::At { file, line }) => Finding {
            file,
            line: Some(line),
            ..Finding::from(comment)
        },
        Ok(MovedLine::Changed) => as_it_was(comment, "has changed since"),
        // The commit may be gone.
        Err(error) => {
            tracing::warn!(%error, "cannot follow the line of a comment");
            as_it_was(comment, "may have moved since")
        }
    }
}

/// Names the line as the person saw it: which one it is now, if any, is not known.
fn as_it_was(comment: DraftComment, since: &str) -> Finding {
    let line = comment.line;
    let commit: String = comment.commit_id.chars().take(SHORT).collect();
    let finding = Finding::from(comment);
    Finding {
        line: None,
        message: format!(
            "{}\n(About line {line} as it was in commit {commit}; it {since}.)",
            finding.message
        ),
        ..finding
    }
}
