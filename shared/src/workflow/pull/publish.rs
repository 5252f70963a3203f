//! `create_pr`: publishes work as a pull request, called by its coder, or by its reviewer as approval.
//!
//! With either caller it is the coder whose status changes: to `creating_pr`, and from there to `pr_created` or back.
//! The next call finds what an interrupted one left half done, and completes it.

use std::time::Duration;

use super::fresh_standings::refresh_one_after;
use super::publish_moves::{Begun, begin_publish, record_published, revert_publish};
use crate::error::{Code, Error};
use crate::git::{FastForward, Oid, Repository};
use crate::model::pull_request::{MAX_DESCRIPTION_CHARS, MAX_TITLE_CHARS};
use crate::model::text::{check_block, check_line};
use crate::model::{
    Instance, InstanceId, InstanceKind, NewPullRequest, Review, Status, StatusEvent, Task, Verdict,
};
use crate::process;
use crate::workflow::forges::publication::{CreatePr, Work};
use crate::workflow::forges::pull_backend::PullBackend;
use crate::workflow::lifecycle::detached_process;
use crate::workflow::preconditions::{branch_of, check_clean, check_on_branch, check_publishable};
use crate::workflow::pull_text;
use crate::workflow::review_round::{hand_over_commits, undecided};
use crate::workflow::{Context, Run, Step, reconcile};

/// How often a call checks whether a concurrent one has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A pull request that stands.
#[derive(Debug, Clone)]
pub struct Published {
    pub number: u64,
    pub url: String,
    pub coder: Instance,
    pub outcome: PublishOutcome,
    /// Something the author should know beside that.
    pub note: Option<String>,
}

/// How it came to stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PublishOutcome {
    Created,
    /// It was open before and says the new things now.
    Updated,
    /// An earlier call of the same reviewer made it.
    Unchanged,
}

/// Publishes the work of a coder, in the name of itself or of its reviewer.
pub async fn create_pr(
    context: &Context,
    run: &Run,
    author: &InstanceId,
    request: CreatePr,
) -> Result<Published, Error> {
    check_line(&request.title, MAX_TITLE_CHARS)
        .map_err(|problem| Error::argument("title", problem))?;
    check_block(&request.description, MAX_DESCRIPTION_CHARS)
        .map_err(|problem| Error::argument("description", problem))?;
    run.step(Step::CheckingWork)?;
    loop {
        let attempt = Box::pin(attempt(context, run, author, &request));
        if let Some(published) = attempt.await? {
            return Ok(published);
        }
    }
}

/// Tries once; `None` if a concurrent call began to publish meanwhile.
async fn attempt(
    context: &Context,
    run: &Run,
    author: &InstanceId,
    request: &CreatePr,
) -> Result<Option<Published>, Error> {
    let found = run
        .unless_cancelled(after_other_calls(context, author))
        .await?;
    if let Some(standing) = approved_before(&found) {
        return Ok(Some(standing));
    }
    let Found {
        author,
        coder,
        review,
        reviews,
        task,
    } = found;
    let review = match author.kind {
        InstanceKind::Review => Some(undecided(review)?),
        InstanceKind::Coding | InstanceKind::Planning => None,
    };
    if coder.status != Status::PrCreated || review.is_some() {
        let by_reviewer = review.is_some();
        coder
            .status
            .next(coder.kind, StatusEvent::PublishBegins { by_reviewer })
            .map_err(|illegal| Error::illegal(&illegal, &coder))?;
    }
    let repository = Repository::discover(&coder.worktree_path).await?;
    let branch = branch_of(&repository, &coder).await?;
    let (commit, note) = match &review {
        None => {
            let commit = check_clean(&repository, &coder).await?;
            check_reviewed(&coder, &reviews, &commit)?;
            (commit, None)
        }
        Some(review) => approved_commit(context, &repository, &author, &coder, review).await?,
    };
    check_on_branch(&repository, &branch, &commit).await?;
    check_publishable(&repository, &coder, &commit).await?;
    let pulls = PullBackend::open(context, &repository).await?;
    let reviews = with_verdict(reviews, review.as_ref());
    let new = NewPullRequest {
        title: pull_text::title(&request.title),
        body: pull_text::body(&request.description, &coder, task.as_ref(), &reviews),
        head_branch: branch.clone(),
        base_branch: coder.base_branch.clone(),
        draft: request.draft,
    };
    let work = Work {
        coder,
        review,
        branch,
        commit,
    };

    let begun = begin_publish(context, run, &work).await?;
    if begun == Begun::Busy {
        return Ok(None);
    }
    let published = run
        .unless_cancelled(pulls.publish(context, run, &repository, &work, &new))
        .await;
    let (pull, created) = match published {
        Ok(published) => published,
        Err(error) => {
            if begun == Begun::Moved {
                revert_publish(context, run, &work.coder.id).await?;
            }
            return Err(error);
        }
    };
    let recorded = record_published(context, run, &author, &work, &pull, request).await;
    let (coder, session_ends) = match recorded {
        Ok(recorded) => recorded,
        Err(error) => {
            // Called again, it finds the pull request that stands.
            revert_publish(context, run, &work.coder.id).await?;
            return Err(error);
        }
    };
    for (id, ends) in [
        (&author.id, work.review.is_some()),
        (&coder.id, session_ends),
    ] {
        if ends && let Err(error) = detached_process::finish_after_turn(context, id).await {
            tracing::warn!(code = %error.code, %error, "{id} is put away by reconcile");
        }
    }
    refresh_one_after(context, &repository, &work, &pull).await;
    Ok(Some(Published {
        number: pull.number,
        url: pull.url,
        coder,
        outcome: if created {
            PublishOutcome::Created
        } else {
            PublishOutcome::Updated
        },
        note,
    }))
}

/// What the database says about a call.
struct Found {
    author: Instance,
    coder: Instance,
    review: Option<Review>,
    reviews: Vec<Review>,
    task: Option<Task>,
}

async fn find(context: &Context, author: &InstanceId) -> Result<Found, Error> {
    let author = author.clone();
    let found = context
        .store
        .read(move |r| {
            let author = r.instance(&author)?;
            let review = match author.kind {
                InstanceKind::Review => r.review_by(&author.id)?,
                InstanceKind::Coding | InstanceKind::Planning => None,
            };
            let coder = match &review {
                Some(review) => r.instance(&review.coding_instance_id)?,
                None => author.clone(),
            };
            let task = match &coder.task_id {
                Some(task) => Some(r.task(&coder.repository.to_string_lossy(), task)?),
                None => None,
            };
            Ok(Found {
                reviews: r.reviews(&coder.id)?,
                author,
                coder,
                review,
                task,
            })
        })
        .await?;
    Ok(found)
}

/// Reads the work to publish, once no other call is publishing it.
async fn after_other_calls(context: &Context, author: &InstanceId) -> Result<Found, Error> {
    loop {
        let found = find(context, author).await?;
        if found.coder.status != Status::CreatingPr {
            return Ok(found);
        }
        if found.coder.owner.as_ref().is_some_and(process::is_alive) {
            tokio::time::sleep(POLL_INTERVAL).await;
        } else {
            reconcile(context).await?;
        }
    }
}

/// Returns the pull request that an earlier call of the same reviewer has made.
fn approved_before(found: &Found) -> Option<Published> {
    let review = found.review.as_ref()?;
    let coder = &found.coder;
    if review.verdict != Verdict::Approved {
        return None;
    }
    Some(Published {
        number: coder.pr_number?,
        url: coder.pr_url.clone()?,
        coder: coder.clone(),
        outcome: PublishOutcome::Unchanged,
        note: None,
    })
}

/// With `requireReview`, refuses work that neither a reviewer nor a person has approved, as long as a reviewer still can.
///
/// When all rounds are used the coder may publish: the summary in the pull request says that the
/// last round asked for changes, and a person decides.
fn check_reviewed(coder: &Instance, reviews: &[Review], commit: &Oid) -> Result<(), Error> {
    let approved = reviews
        .iter()
        .rfind(|review| review.verdict != Verdict::Lost)
        .is_some_and(|last| last.verdict == Verdict::Approved && last.commit_id == commit.as_str());
    let used = reviews.iter().filter(|review| review.counts()).count();
    let used_up = used > 0 && used >= coder.max_reviews as usize;
    if !coder.require_review || approved || used_up {
        return Ok(());
    }
    let error = Error::new(
        Code::ReviewRequired,
        "this work must be reviewed before it is published",
    );
    Err(if coder.max_reviews == 0 {
        error.hint("review.maxReviewCycles is 0, so no agent can review it. End your turn: a person has to approve this commit.")
    } else {
        error
            .hint("Call request_review and end your turn; the reviewer publishes it if it is good.")
    })
}

/// Returns the commit that a reviewer approves, with commits of its own if they are to reach the coder.
///
/// Uncommitted files of the coder don't matter: they were not reviewed, are not published and stay.
async fn approved_commit(
    context: &Context,
    repository: &Repository,
    reviewer: &Instance,
    coder: &Instance,
    review: &Review,
) -> Result<(Oid, Option<String>), Error> {
    let seen = if reviewer.worktree_path.exists() {
        repository.head_commit(&reviewer.worktree_path).await?
    } else {
        repository.resolve(&review.commit_id).await?
    };
    let tip = repository.head_commit(&coder.worktree_path).await?;
    let unseen = repository.ahead_behind(seen.as_str(), tip.as_str()).await?;
    if unseen.ahead > 0 {
        return Err(outdated(repository, reviewer, coder, &seen, &tip).await);
    }
    let missing = repository
        .ahead_behind(tip.as_str(), &review.commit_id)
        .await?;
    if missing.ahead > 0 {
        return Err(Error::new(
            Code::ReviewOutdated,
            format!(
                "{} has taken back commits since it asked for this review",
                coder.id
            ),
        )
        .hint("What you have looked at is not what would be published. Call request_changes, and ask for the work to be completed and reviewed again."));
    }
    let note = hand_over_commits(context, reviewer, coder, review).await?;
    // The commit is fixed here: later commits of the coder are unreviewed and must not be published.
    let now = repository.head_commit(&coder.worktree_path).await?;
    if now == seen {
        return Ok((seen, None));
    }
    Ok((tip, note))
}

/// Brings the coder's later commits to the reviewer, and says that they are to be looked at first.
async fn outdated(
    repository: &Repository,
    reviewer: &Instance,
    coder: &Instance,
    seen: &Oid,
    tip: &Oid,
) -> Error {
    let error = Error::new(
        Code::ReviewOutdated,
        format!(
            "{} has made commits since it asked for this review",
            coder.id
        ),
    );
    // Done for the reviewer, whose permission rules may not allow it.
    let brought = repository.fast_forward(&reviewer.worktree_path, tip).await;
    let range = format!("{}..{}", seen.short(), tip.short());
    error.hint(match brought {
        Ok(FastForward::Done { .. } | FastForward::AlreadyThere) => format!(
            "Your worktree has them now. Look at them (`git log -p {range}`), then decide again: create_pr or request_changes."
        ),
        Ok(FastForward::NotFastForward) | Err(_) => format!(
            "They don't go together with what is in your worktree. Look at them (`git log -p {range}`), and call request_changes to have both brought together."
        ),
    })
}

/// Returns the rounds as they will be once this one is decided.
fn with_verdict(mut reviews: Vec<Review>, approved: Option<&Review>) -> Vec<Review> {
    for review in &mut reviews {
        if approved.is_some_and(|approved| approved.id == review.id) {
            review.verdict = Verdict::Approved;
        }
    }
    reviews
}
