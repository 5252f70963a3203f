//! Line comments of a person: kept as drafts until they are sent as one round.

use super::request_changes::without_hidden;
use super::reviewed_work::{checked, coder_to_review, reviewed_commit};
use crate::error::Error;
use crate::git::Repository;
use crate::model::review::{MAX_FINDING_CHARS, MAX_FINDINGS};
use crate::model::{DraftComment, Finding, InstanceId, Severity, counted};
use crate::store::NewDraftComment;
use crate::workflow::{Context, Run, Step};

/// A comment on one line of an agent's work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewComment {
    /// Path of the file, relative to the repository.
    pub file: String,
    /// Counted from 1.
    pub line: u32,
    pub body: String,
    /// The commit that the person has seen; by default the one that the work has now.
    pub commit: Option<String>,
}

/// Stores a comment, which nobody is told before it is sent; returns all that are pending, this one last.
pub async fn comment(
    context: &Context,
    run: &Run,
    coder: &InstanceId,
    new: NewComment,
) -> Result<Vec<DraftComment>, Error> {
    let body = checked("text", &new.body, MAX_FINDING_CHARS)?;
    if body.is_empty() {
        return Err(Error::argument("text", "is empty"));
    }
    let found = without_hidden(&Finding {
        file: new.file,
        line: Some(new.line),
        severity: Severity::Major,
        message: body,
    });
    run.step(Step::CheckingLine)?;
    let coder = coder_to_review(context, coder).await?;
    let repository = Repository::at(&coder.repository).await?;
    let commit = match &new.commit {
        Some(seen) if seen.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            repository.resolve(seen).await?
        }
        Some(_) => return Err(Error::argument("commit", "is not the id of a commit")),
        None => reviewed_commit(context, &coder).await?,
    };
    let file = &found.file;
    let lines = repository.lines_of_file(&commit, file).await?;
    let Some(lines) = lines else {
        return Err(Error::argument(
            "file",
            format!("names no text file of commit {}: {file}", commit.short()),
        )
        .hint("Give its path from the top of the repository, as the diff does."));
    };
    if new.line == 0 || new.line as usize > lines {
        let many = counted(lines, "line", "lines");
        return Err(Error::argument(
            "line",
            format!(
                "must be a line of {file}, which has {many} in commit {}, not {}",
                commit.short(),
                new.line
            ),
        ));
    }
    let new = NewDraftComment {
        instance: coder.id.clone(),
        commit: commit.as_str().to_owned(),
        file: found.file,
        line: new.line,
        body: found.message,
    };
    let pending = context
        .store
        .write(move |w| {
            if w.draft_comments(&new.instance)?.len() >= MAX_FINDINGS {
                return Ok(None);
            }
            w.insert_draft_comment(&new).map(Some)
        })
        .await?;
    pending.ok_or_else(|| {
        Error::argument("text", format!("{MAX_FINDINGS} comments are pending"))
            .hint("Send them, or remove some.")
    })
}

/// Returns the pending comments on an agent's work, oldest first.
pub async fn draft_comments(
    context: &Context,
    coder: &InstanceId,
) -> Result<Vec<DraftComment>, Error> {
    let wanted = coder.clone();
    let pending = context.store.read(move |r| {
        r.instance(&wanted)?;
        r.draft_comments(&wanted)
    });
    Ok(pending.await?)
}

/// Removes a pending comment and returns the others.
pub async fn remove_comment(
    context: &Context,
    coder: &InstanceId,
    id: i64,
) -> Result<Vec<DraftComment>, Error> {
    let wanted = coder.clone();
    let left = context
        .store
        .write(move |w| {
            let removed = w.delete_draft_comment(&wanted, id)?;
            Ok(removed.then_some(w.draft_comments(&wanted)?))
        })
        .await?;
    left.ok_or_else(|| Error::argument("remove", format!("names no pending comment: {id}")))
}
