//! Loads what a person reviews: the diff of the reviewed commit, pending comments, and findings at their lines.

use std::collections::HashMap;

use shared::error::{Code, Error};
use shared::model::{DraftComment, Instance, Review};
use shared::workflow::{self, Context, ReviewedWork, WorkPart};

use super::board::excerpt;
use super::diff::{MAX_DIFF_BYTES, parse_diff};
use crate::app::App;
use crate::view::{
    CommitView, DiffQuery, DiffView, FileDiff, FindingView, NoteSource, NoteView, ReviewView,
    RoundView,
};

/// How many commits the findings may be about for their lines to be followed.
const MAX_FOLLOWED: usize = 12;
/// How much of a name or a subject is shown.
const MAX_LINE_CHARS: usize = 200;

/// Loads the diff of a coder's work, or of a part of it, and what was said about it.
pub(crate) async fn review(
    app: &App,
    context: &Context,
    coder: &Instance,
    query: DiffQuery,
) -> Result<(DiffView, ReviewView), Error> {
    let wanted = coder.id.clone();
    let (drafts, rounds) = app
        .context
        .store
        .read(move |r| Ok((r.draft_comments(&wanted)?, r.reviews(&wanted)?)))
        .await?;
    let part = part(&query, &rounds)?;
    let found = workflow::reviewed_work(context, coder, &part, MAX_DIFF_BYTES).await?;
    // Without a commit there is nothing to review, and only the worktree shows what is going on.
    let as_is = query.uncommitted || (found.commits.is_empty() && part == WorkPart::All);
    let work = if as_is {
        workflow::work_diff(context, coder, MAX_DIFF_BYTES).await?
    } else {
        found.work.clone()
    };
    let diff = parse_diff(work.base, work.head, &work.diff.text, work.diff.truncated);
    let commit = found.commit.as_str().to_owned();
    let shows_commit = !as_is && diff.head == commit;
    let notes = if shows_commit {
        notes(coder, &commit, &drafts, &rounds).await
    } else {
        Vec::new()
    };
    let view = view(app, coder, found, notes, query);
    let view = ReviewView {
        pending: u32::try_from(drafts.len()).unwrap_or(u32::MAX),
        commentable: shows_commit && view.can_request_changes,
        rounds: rounds.into_iter().map(round).collect(),
        ..view
    };
    Ok((diff, view))
}

fn view(
    app: &App,
    coder: &Instance,
    found: ReviewedWork,
    notes: Vec<NoteView>,
    shown: DiffQuery,
) -> ReviewView {
    let changes = workflow::check_send_back(coder).err();
    let approval = workflow::check_approve(coder).err();
    let is_empty = found.commits.is_empty();
    let read_only = app.options.read_only;
    let why_not = if read_only {
        Some("this dashboard is read-only".to_owned())
    } else if is_empty {
        Some("nothing is committed yet".to_owned())
    } else {
        changes.as_ref().map(ToString::to_string)
    };
    let commits = found.commits.into_iter().map(|commit| CommitView {
        id: commit.oid.as_str().to_owned(),
        subject: excerpt(&commit.subject, MAX_LINE_CHARS),
        author: excerpt(&commit.author, MAX_LINE_CHARS),
    });
    ReviewView {
        coder: coder.id.clone(),
        commit: found.commit.as_str().to_owned(),
        commentable: false,
        can_request_changes: !read_only && !is_empty && changes.is_none(),
        can_approve: !read_only && !is_empty && approval.is_none(),
        why_not,
        pending: 0,
        notes,
        rounds: Vec::new(),
        commits: commits.collect(),
        uncommitted: found.uncommitted as u64,
        published: None,
        shown,
    }
}

/// Returns one round.
pub(super) fn round(review: Review) -> RoundView {
    RoundView {
        round: review.round,
        verdict: review.verdict,
        coder: review.coding_instance_id,
        reviewer: review.review_instance_id,
        commit: review.commit_id,
        description: review.description,
        feedback: review.feedback,
        findings: review
            .findings
            .into_iter()
            .map(|finding| FindingView {
                file: finding.file,
                line: finding.line,
                severity: finding.severity,
                message: finding.message,
            })
            .collect(),
        requested_at: review.requested_at,
        decided_at: review.decided_at,
    }
}

/// Returns which part of the work is asked for.
fn part(query: &DiffQuery, rounds: &[Review]) -> Result<WorkPart, Error> {
    if let Some(commit) = &query.commit {
        return Ok(WorkPart::Commit(commit.to_ascii_lowercase()));
    }
    let Some(since) = &query.since else {
        return Ok(WorkPart::All);
    };
    let (by_person, number) = match since.strip_prefix("person-") {
        Some(number) => (true, number),
        None => (false, since.as_str()),
    };
    let found = rounds
        .iter()
        .rfind(|review| review.is_by_person() == by_person && review.round.to_string() == number);
    match found {
        Some(review) => Ok(WorkPart::Since(review.commit_id.clone())),
        None => Err(
            Error::new(Code::NotFound, format!("there is no round {since}"))
                .hint("The agent's page lists the rounds."),
        ),
    }
}

/// Places pending comments and findings at the lines that they are about, as they are in `commit`.
async fn notes(
    coder: &Instance,
    commit: &str,
    drafts: &[DraftComment],
    rounds: &[Review],
) -> Vec<NoteView> {
    let mut moves = Moves::default();
    let mut notes = Vec::new();
    for review in rounds {
        for finding in &review.findings {
            let place = match finding.line {
                Some(line) => {
                    moves
                        .follow(coder, &review.commit_id, commit, &finding.file, line)
                        .await
                }
                None => Place::unknown(&finding.file, None),
            };
            notes.push(NoteView {
                file: place.file,
                line: place.line,
                outdated: place.outdated,
                source: NoteSource::Finding {
                    round: review.round,
                    reviewer: review.review_instance_id.clone(),
                    severity: finding.severity,
                },
                message: finding.message.clone(),
            });
        }
    }
    for draft in drafts {
        let place = moves
            .follow(coder, &draft.commit_id, commit, &draft.file, draft.line)
            .await;
        notes.push(NoteView {
            file: place.file,
            line: place.line,
            outdated: place.outdated,
            source: NoteSource::Draft { id: draft.id },
            message: draft.body.clone(),
        });
    }
    notes
}

/// Where a line is now.
struct Place {
    file: String,
    line: Option<u32>,
    outdated: bool,
}

impl Place {
    fn unknown(file: &str, line: Option<u32>) -> Self {
        Self {
            file: file.to_owned(),
            line,
            outdated: line.is_some(),
        }
    }
}

/// What changed from earlier commits to the one that is shown, each compared once.
#[derive(Default)]
struct Moves(HashMap<String, Option<DiffView>>);

impl Moves {
    async fn follow(
        &mut self,
        coder: &Instance,
        from: &str,
        to: &str,
        file: &str,
        line: u32,
    ) -> Place {
        if from == to {
            return Place {
                file: file.to_owned(),
                line: Some(line),
                outdated: false,
            };
        }
        if !self.0.contains_key(from) && self.0.len() < MAX_FOLLOWED {
            // A commit that was replaced long ago may be gone.
            let found = workflow::diff_between(coder, from, to, MAX_DIFF_BYTES).await;
            let diff = found.ok().filter(|diff| !diff.truncated);
            let diff =
                diff.map(|diff| parse_diff(from.to_owned(), to.to_owned(), &diff.text, false));
            self.0
                .insert(from.to_owned(), diff.filter(|diff| !diff.truncated));
        }
        match self.0.get(from) {
            Some(Some(diff)) => moved(diff, file, line),
            Some(None) | None => Place::unknown(file, Some(line)),
        }
    }
}

/// Follows a line through a diff.
fn moved(diff: &DiffView, file: &str, line: u32) -> Place {
    let is_it = |known: &&FileDiff| known.old_path.as_deref().unwrap_or(&known.path) == file;
    let Some(changed) = diff.files.iter().find(is_it) else {
        return Place {
            file: file.to_owned(),
            line: Some(line),
            outdated: false,
        };
    };
    let mut offset = 0_i64;
    for hunk in &changed.hunks {
        let first = hunk.lines.iter().find_map(|shown| shown.old);
        if first.is_some_and(|first| first > line) {
            break;
        }
        if let Some(at) = hunk.lines.iter().position(|shown| shown.old == Some(line)) {
            let before = hunk.lines[..at].iter().rev().find_map(|shown| shown.new);
            let now = hunk.lines[at].new;
            return Place {
                file: changed.path.clone(),
                line: now.or(before).or(Some(line)),
                outdated: now.is_none(),
            };
        }
        for shown in &hunk.lines {
            offset += i64::from(shown.old.is_none()) - i64::from(shown.new.is_none());
        }
    }
    let now = u32::try_from(i64::from(line) + offset).ok();
    Place {
        file: changed.path.clone(),
        outdated: now.is_none(),
        line: now.or(Some(line)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_followed_through_a_change() {
        let diff = parse_diff(
            "a".to_owned(),
            "b".to_owned(),
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -3,4 +3,5 @@\n 3\n-4\n+four\n+and more\n 5\n 6\n\
             @@ -20,3 +21,2 @@\n 20\n-21\n 22\n\
             diff --git a/old b/new\nsimilarity index 90%\nrename from old\nrename to new\n",
            false,
        );
        let at = |file: &str, line| {
            let place = moved(&diff, file, line);
            (place.file, place.line, place.outdated)
        };
        let x = || "x".to_owned();
        assert_eq!(at("x", 1), (x(), Some(1), false));
        assert_eq!(at("x", 3), (x(), Some(3), false));
        assert_eq!(
            at("x", 4),
            (x(), Some(3), true),
            "changed: shown where it was"
        );
        assert_eq!(at("x", 5), (x(), Some(6), false));
        assert_eq!(at("x", 10), (x(), Some(11), false));
        assert_eq!(at("x", 21), (x(), Some(21), true));
        assert_eq!(at("x", 30), (x(), Some(30), false));
        assert_eq!(at("old", 7), ("new".to_owned(), Some(7), false));
        assert_eq!(at("other", 7), ("other".to_owned(), Some(7), false));
    }
}
