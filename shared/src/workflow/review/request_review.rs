//! `request_review`: launches a reviewer on the coder's commit and opens a round.

use std::time::Duration;

use serde_json::json;
use uuid::Uuid;

use crate::error::{Code, Error};
use crate::git::Repository;
use crate::model::hidden::drop_hidden;
use crate::model::review::MAX_REVIEW_DESCRIPTION_CHARS;
use crate::model::text::check_block;
use crate::model::{
    Instance, InstanceId, InstanceKind, LaunchStep, Origin, Review, Status, StatusEvent, Verdict,
};
use crate::process;
use crate::store::{NewInstance, NewReview};
use crate::workflow::ended_agent::ended;
use crate::workflow::instance::agent_files;
use crate::workflow::instance::agent_files::Briefing;
use crate::workflow::instance::facts::worktree_folder;
use crate::workflow::lifecycle::launch::build;
use crate::workflow::lifecycle::undo::undo;
use crate::workflow::preconditions::{check_clean, check_reviewable, review_base};
use crate::workflow::reconcile;
use crate::workflow::{Context, Run, Step, agent_messages};

/// Files and commits that a reviewer's first message names.
const MAX_LISTED: usize = 40;

/// How long a reviewer that is just being put away is waited for: it takes milliseconds.
const MAX_SETTLING_POLLS: u32 = 100;
const SETTLING_INTERVAL: Duration = Duration::from_millis(50);

/// A review that is under way.
#[derive(Debug, Clone)]
pub struct RunningReview {
    pub reviewer: Instance,
    pub round: u32,
    pub max_rounds: u32,
    /// Whether it was under way before.
    pub already: bool,
}

/// Starts a reviewer on the committed work of a coder.
pub async fn request_review(
    context: &Context,
    run: &Run,
    coder: &InstanceId,
    description: &str,
) -> Result<RunningReview, Error> {
    let description = &check_block(description, MAX_REVIEW_DESCRIPTION_CHARS)
        .map_err(|problem| Error::argument("description", problem))?;
    run.step(Step::CheckingWork)?;
    let (mut coder, mut reviews) = coder_and_reviews(context, coder).await?;
    let context = &context.of(&coder.repository).await?;
    if is_pending(&reviews) {
        // A reviewer that has died unnoticed must not be the answer.
        reconcile(context).await?;
        (coder, reviews) = coder_and_reviews(context, &coder.id).await?;
        for _ in 0..MAX_SETTLING_POLLS {
            if !is_being_put_away(context, &reviews).await? {
                break;
            }
            tokio::time::sleep(SETTLING_INTERVAL).await;
            (coder, reviews) = coder_and_reviews(context, &coder.id).await?;
        }
    }
    if let Some(running) = already_running(context, &coder, &reviews).await? {
        return Ok(running);
    }
    if !coder.status.is_live() {
        return Err(ended(&coder));
    }
    let counted = reviews.iter().filter(|review| review.counts()).count();
    let round = u32::try_from(counted).unwrap_or(u32::MAX) + 1;
    if round > coder.max_reviews {
        return Err(limit_reached(&coder));
    }
    let repository = Repository::discover(&coder.worktree_path).await?;
    let commit = check_clean(&repository, &coder).await?;
    check_reviewable(&repository, &coder, &commit).await?;
    let commit = commit.as_str().to_owned();
    agent_files::check(context, InstanceKind::Review).await?;
    context.tmux.check().await?;

    let prompt = subject(&repository, &coder, &commit, description).await?;
    let briefing = briefing(&reviews, round, coder.max_reviews);
    let earlier = reviews.iter().filter(|review| !review.is_by_person());
    let number = u32::try_from(earlier.count()).unwrap_or(u32::MAX) + 1;
    let new = reviewer(context, &repository, &coder, commit.clone(), prompt, number);
    let review = NewReview {
        coder: coder.id.clone(),
        reviewer: new.id.clone(),
        round,
        commit,
        description: description.to_owned(),
    };
    let head = repository.head(&coder.worktree_path).await?;
    // A person may have changed branches since the session was taken in.
    let branch = head.branch().filter(|_| coder.origin == Origin::Adopted);
    let branch = branch.map(str::to_owned);
    let reviewer = match open_round(context, run, new, review, branch).await {
        Ok(reviewer) => reviewer,
        Err(error) => {
            // Another call may have opened the round a moment ago; then its reviewer is the answer.
            let (coder, reviews) = coder_and_reviews(context, &coder.id).await?;
            let running = already_running(context, &coder, &reviews).await?;
            return running.ok_or(error);
        }
    };
    let built = Box::pin(build(context, run, &repository, &reviewer, &briefing)).await;
    if let Err(error) = built {
        take_back(context, run, &coder.id, &reviewer.id).await?;
        return Err(error);
    }
    Ok(RunningReview {
        reviewer,
        round,
        max_rounds: coder.max_reviews,
        already: false,
    })
}

async fn coder_and_reviews(
    context: &Context,
    coder: &InstanceId,
) -> Result<(Instance, Vec<Review>), Error> {
    let coder = coder.clone();
    let found = context
        .store
        .read(move |r| Ok((r.instance(&coder)?, r.reviews(&coder)?)))
        .await?;
    Ok(found)
}

fn is_pending(reviews: &[Review]) -> bool {
    reviews
        .iter()
        .any(|review| review.verdict == Verdict::Pending)
}

/// Tells whether another process has found the reviewer dead and is about to say so.
async fn is_being_put_away(context: &Context, reviews: &[Review]) -> Result<bool, Error> {
    let pending = reviews
        .iter()
        .find(|review| review.verdict == Verdict::Pending);
    let Some(id) = pending.and_then(|review| review.review_instance_id.clone()) else {
        return Ok(false);
    };
    let reviewer = context.store.read(move |r| r.instance(&id)).await?;
    Ok(reviewer.launch_step == LaunchStep::Ready
        && reviewer.owner.as_ref().is_some_and(process::is_alive))
}

async fn already_running(
    context: &Context,
    coder: &Instance,
    reviews: &[Review],
) -> Result<Option<RunningReview>, Error> {
    let Some(pending) = reviews
        .iter()
        .find(|review| review.verdict == Verdict::Pending)
    else {
        return Ok(None);
    };
    let Some(id) = pending.review_instance_id.clone() else {
        return Ok(None);
    };
    let reviewer = context.store.read(move |r| r.instance(&id)).await?;
    Ok(Some(RunningReview {
        reviewer,
        round: pending.round,
        max_rounds: coder.max_reviews,
        already: true,
    }))
}

fn limit_reached(coder: &Instance) -> Error {
    Error::new(
        Code::ReviewLimitReached,
        format!("all {} review rounds of {} are used", coder.max_reviews, coder.id),
    )
    .hint("Call create_pr and say in its description what is still open, or end your turn: a person decides.")
    .details(json!({ "maxReviewCycles": coder.max_reviews }))
}

/// The reviewer's first message: what was asked, what the coder says, what changed.
async fn subject(
    repository: &Repository,
    coder: &Instance,
    commit: &str,
    description: &str,
) -> Result<String, Error> {
    let base = review_base(coder);
    // Whatever the name comes to mean: a tag of that name would show the reviewer less than is published.
    let from = repository.resolve(base).await?;
    let stat = repository.diff_stat(from.as_str(), commit).await?;
    let commits = repository
        .commits_between(from.as_str(), commit, MAX_LISTED)
        .await?;
    let mut text = String::new();
    if !coder.prompt.is_empty() {
        text += &format!("The task of {} was:\n\n{}\n\n", coder.id, coder.prompt);
    }
    text += &format!("The coder says:\n\n{description}\n\n");
    text += &format!("Commits since {base}:\n");
    for commit in &commits {
        text += &format!("- {} {}\n", commit.oid.short(), commit.subject);
    }
    text += &format!("\nFiles changed ({}):\n", stat.files.len());
    for file in stat.files.iter().take(MAX_LISTED) {
        text += &format!("- {}\n", file.path.to_string_lossy());
    }
    if stat.files.len() > MAX_LISTED {
        text += &format!("- and {} more\n", stat.files.len() - MAX_LISTED);
    }
    text += &format!(
        "\nSee all of it with `git diff {from}...HEAD`. Decide with exactly one call: request_changes or create_pr."
    );
    Ok(text)
}

fn briefing(earlier: &[Review], round: u32, max_rounds: u32) -> Briefing {
    let last = earlier
        .iter()
        .rfind(|review| review.verdict != Verdict::Lost);
    let findings = match last {
        None => "There are none: this is the first round.".to_owned(),
        Some(last) => {
            let feedback = last.feedback.as_deref().unwrap_or_default();
            let findings = agent_messages::list(&last.findings);
            let from = if last.is_by_person() {
                "From the person who runs all of you; see that it is done".to_owned()
            } else {
                format!("From round {}", last.round)
            };
            drop_hidden(&format!("{from}:\n{feedback}\n{findings}"))
        }
    };
    let note = if round >= max_rounds {
        "It is the last one: what you send back now, the coder can't show you again."
    } else if round > 1 {
        "Raise only what blocks."
    } else {
        ""
    };
    Briefing {
        round: round.to_string(),
        max_rounds: max_rounds.to_string(),
        round_note: note.to_owned(),
        earlier_findings: findings,
    }
}

fn reviewer(
    context: &Context,
    repository: &Repository,
    coder: &Instance,
    commit: String,
    prompt: String,
    number: u32,
) -> NewInstance {
    let id = InstanceId::review(&coder.id, number);
    let claude = context.settings().agent.command.is_empty();
    NewInstance {
        kind: InstanceKind::Review,
        origin: Origin::Launched,
        session_mode: coder.session_mode,
        repository: Context::repository_key(repository.root()),
        worktree_path: worktree_folder(context, repository).join(id.as_str()),
        branch_name: None,
        base_branch: review_base(coder).to_owned(),
        base_commit: Some(commit),
        tmux_session: Some(id.to_string()),
        tmux_pane: None,
        claude_session_id: claude.then(|| Uuid::new_v4().to_string()),
        issue_number: None,
        task_id: None,
        parent_instance_id: Some(coder.id.clone()),
        prompt,
        require_review: false,
        max_reviews: 0,
        launch_step: LaunchStep::Row,
        owner: Some(process::this_process()),
        id,
    }
}

/// Opens the round: reviewer, review and the coder's new status in one transaction.
async fn open_round(
    context: &Context,
    run: &Run,
    new: NewInstance,
    review: NewReview,
    branch: Option<String>,
) -> Result<Instance, Error> {
    let (reviewer, change) = context
        .store
        .write(move |w| {
            // A reviewer is part of its coder's work: it does not count against the limit.
            let reviewer = w.insert_instance(&new, None)?;
            w.insert_review(&review)?;
            if branch.is_some() {
                w.set_branch(&review.coder, branch.as_deref())?;
            }
            let change = w.transition(&review.coder, StatusEvent::ReviewRequested)?;
            Ok((reviewer, change))
        })
        .await?;
    run.changed(change);
    Ok(reviewer)
}

/// Undoes a round whose reviewer could not be started: the coder is back at work.
async fn take_back(
    context: &Context,
    run: &Run,
    coder: &InstanceId,
    reviewer: &InstanceId,
) -> Result<(), Error> {
    let coder = coder.clone();
    let change = context
        .store
        .write(move |w| match w.instance(&coder)?.status {
            Status::WaitingReview | Status::UnderReview => {
                w.transition(&coder, StatusEvent::ReviewerLost).map(Some)
            }
            _ => Ok(None),
        })
        .await?;
    if let Some(change) = change {
        run.changed(change);
    }
    undo(context, reviewer).await
}
