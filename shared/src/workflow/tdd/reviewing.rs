//! The reviewing step of a TDD run: launch a reviewer, and turn its last message into a verdict.

use std::time::Duration;

use super::TddNews;
use super::prompts::{not_reviewable, sent_back, storable};
use super::rounds::{Outcome, Rounds, is_published};
use super::turns::Stream;
use crate::agent;
use crate::error::{Code, Error};
use crate::model::{
    Instance, InstanceId, MessageId, MessageKind, MessageState, PullState, Review, Status,
    StatusEvent, TakenBy, TddRole, TddRun, Verdict,
};
use crate::store::NextTurn;
use crate::workflow::delivery::proof::is_in_conversation;
use crate::workflow::forges::pull_backend::PullBackend;
use crate::workflow::identity::connect::mark_running;
use crate::workflow::lifecycle::finish::finish_with_reviewer;
use crate::workflow::lifecycle::resume::resume_any;
use crate::workflow::{agent_messages, request_changes, request_review};

/// How often a coder may hand over what can't be reviewed before the run fails.
const MAX_ATTEMPTS: u32 = 2;
/// How long a reviewer that has given its verdict is listened to.
const LAST_TURN_GRACE: Duration = Duration::from_secs(3);

impl Rounds<'_> {
    /// Has the handoff judged, and acts on the verdict; nothing while the run goes on.
    pub(super) async fn reviewing(&self, tdd: TddRun) -> Result<Option<Outcome>, Error> {
        let id = self.id.clone();
        let (coder, reviews) = self
            .context
            .store
            .read(move |r| Ok((r.instance(&id)?, r.reviews(&id)?)))
            .await?;
        let of_round = reviews
            .into_iter()
            .rfind(|review| review.round == tdd.current_iteration && review.counts());
        if is_published(coder.status) {
            return self.published(&coder, of_round.as_ref()).await.map(Some);
        }
        let Some(review) = of_round else {
            return self.ask_for_review(&tdd, coder).await;
        };
        match review.verdict {
            Verdict::Pending => self.judged(&tdd, &coder, &review).await,
            Verdict::ChangesRequested => self.sent_back(&tdd, &review).await,
            Verdict::Approved | Verdict::Lost => {
                self.published(&coder, Some(&review)).await.map(Some)
            }
        }
    }

    /// Starts a reviewer. A handoff that cannot be reviewed goes back to the coder, once.
    async fn ask_for_review(
        &self,
        tdd: &TddRun,
        coder: Instance,
    ) -> Result<Option<Outcome>, Error> {
        let coder = if coder.status.is_live() {
            coder
        } else {
            resume_any(self.context, self.run, &self.id).await?
        };
        let id = coder.id.clone();
        self.context
            .store
            .write(move |w| mark_running(w, &w.instance(&id)?))
            .await?;
        let handoff = tdd.coder_responses.last().map_or("", String::as_str);
        match request_review(self.context, self.run, &self.id, handoff).await {
            Ok(_) => Ok(None),
            Err(error)
                if matches!(error.code, Code::WorktreeDirty | Code::NothingToReview)
                    && tdd.turns_of_iteration < MAX_ATTEMPTS =>
            {
                let why = match &error.hint {
                    Some(hint) => format!("{}. {hint}", error.message),
                    None => error.message,
                };
                (self.audience)(&TddNews::NotReviewable { why: &why });
                let prompt = not_reviewable(&tdd.prompt, &why);
                self.next_turn(tdd, tdd.current_iteration, prompt).await?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Waits for the verdict of a reviewer. One that ends its turn without has said it in its last message.
    async fn judged(
        &self,
        tdd: &TddRun,
        coder: &Instance,
        review: &Review,
    ) -> Result<Option<Outcome>, Error> {
        let Some(reviewer) = &review.review_instance_id else {
            return Ok(None);
        };
        (self.audience)(&TddNews::Turn {
            role: TddRole::Reviewer,
            agent: reviewer,
            iteration: tdd.current_iteration,
            of: tdd.max_iterations,
        });
        let records = self.context.turn_records(reviewer);
        let turn = agent::last_turn(&self.context.agent_folder(reviewer), &records);
        let mut stream = Stream::of(self.context, reviewer, turn);
        let mut reconciled = tokio::time::Instant::now();
        let end = loop {
            let end = agent::turn_end(&records, turn)?;
            self.tell(TddRole::Reviewer, &mut stream)?;
            let wanted = reviewer.clone();
            let now = self
                .context
                .store
                .read(move |r| r.review_by(&wanted))
                .await?;
            match now.map(|review| review.verdict) {
                Some(Verdict::Pending) => {}
                Some(Verdict::ChangesRequested | Verdict::Approved) => {
                    self.last_words(reviewer, turn, &mut stream).await?;
                    return Ok(None);
                }
                Some(Verdict::Lost) | None => {
                    self.is_alive(&self.id, TddRole::Coder).await?;
                    self.is_alive(reviewer, TddRole::Reviewer).await?;
                    return Err(no_verdict(reviewer, "it was lost"));
                }
            }
            if let Some(end) = end {
                break end;
            }
            self.pause(&mut reconciled).await?;
        };
        let pulls = PullBackend::open(self.context, &self.repository).await?;
        let branch = &tdd.branch_name;
        let opened = pulls
            .open_of(self.context, &self.repository, branch)
            .await?;
        if let Some(pull) = opened {
            // Opened by other means than its tool.
            let why = "its work is published".to_owned();
            finish_with_reviewer(self.context, &coder.id, StatusEvent::Terminated, why).await?;
            return Ok(Some(Outcome::Published { url: pull.url }));
        }
        if let (None, Some(feedback)) = (&end.error, storable(&end.message)) {
            let wanted = reviewer.clone();
            self.context
                .store
                .write(move |w| mark_running(w, &w.instance(&wanted)?))
                .await?;
            request_changes(self.context, self.run, reviewer, &feedback, Vec::new()).await?;
            return Ok(None);
        }
        let why = match &end.error {
            Some(error) => format!("its turn failed: {}", storable(error).unwrap_or_default()),
            None => "it called neither create_pr nor request_changes, and said nothing".to_owned(),
        };
        finish_with_reviewer(self.context, reviewer, StatusEvent::Failed, why.clone()).await?;
        Err(no_verdict(reviewer, &why))
    }

    /// Tells what a reviewer still says and does after its verdict, if that is soon.
    async fn last_words(
        &self,
        reviewer: &InstanceId,
        turn: u32,
        stream: &mut Stream,
    ) -> Result<(), Error> {
        let records = self.context.turn_records(reviewer);
        let deadline = tokio::time::Instant::now() + LAST_TURN_GRACE;
        let mut reconciled = tokio::time::Instant::now();
        while agent::turn_end(&records, turn)?.is_none() && tokio::time::Instant::now() < deadline {
            self.tell(TddRole::Reviewer, stream)?;
            self.pause(&mut reconciled).await?;
        }
        self.tell(TddRole::Reviewer, stream)
    }

    /// Begins the next round with the feedback, unless this was the last.
    async fn sent_back(&self, tdd: &TddRun, review: &Review) -> Result<Option<Outcome>, Error> {
        let mut feedback = review.feedback.clone().unwrap_or_default();
        if !review.findings.is_empty() {
            feedback += &format!("\n\nFindings:\n{}", agent_messages::list(&review.findings));
        }
        (self.audience)(&TddNews::SentBack {
            feedback: &feedback,
        });
        let last = tdd.current_iteration >= tdd.max_iterations;
        let turn = self.unused_turn();
        let unproven_receipts = self.unproven_receipts().await?;
        let (id, tdd, said) = (self.id.clone(), tdd.clone(), feedback.clone());
        self.context
            .store
            .write(move |w| {
                w.insert_tdd_response(&id, TddRole::Reviewer, &said)?;
                if last {
                    return Ok(());
                }
                let mut told = Vec::new();
                for message in w.messages(&id)? {
                    let open = message.state.is_open();
                    if unproven_receipts.contains(&message.id) {
                        w.taken(&message.id, TakenBy::StopHook)?;
                    } else if open && w.taken(&message.id, TakenBy::PromptHook)? {
                        match message.kind {
                            MessageKind::Feedback | MessageKind::Note => told.push(message.body),
                            MessageKind::ReviewLost | MessageKind::LimitReached => {}
                        }
                    }
                }
                if told.is_empty() {
                    told.push(said);
                }
                if w.instance(&id)?.status == Status::FeedbackReceived {
                    w.transition(&id, StatusEvent::FeedbackTaken)?;
                }
                let iteration = tdd.current_iteration + 1;
                let spec = &tdd.original_spec;
                w.begin_tdd_turn(
                    &id,
                    &NextTurn {
                        iteration,
                        turn,
                        prompt: sent_back(spec, iteration, tdd.max_iterations, &told),
                    },
                )
            })
            .await?;
        Ok(last.then_some(Outcome::LimitReached { feedback }))
    }

    /// Returns the messages that the coder has got at the end of a turn, but nobody has seen it.
    async fn unproven_receipts(&self) -> Result<Vec<MessageId>, Error> {
        let id = self.id.clone();
        let (coder, messages) = self
            .context
            .store
            .read(move |r| Ok((r.instance(&id)?, r.messages(&id)?)))
            .await?;
        let mut unproven_receipts = Vec::new();
        for message in messages {
            if message.state == MessageState::Typed
                && is_in_conversation(self.context, &coder, &message).await?
            {
                unproven_receipts.push(message.id);
            }
        }
        Ok(unproven_receipts)
    }

    /// Looks on the forge for the pull request that is said to stand.
    async fn published(&self, coder: &Instance, review: Option<&Review>) -> Result<Outcome, Error> {
        let pulls = PullBackend::open(self.context, &self.repository).await?;
        let pull = match (coder.pr_number, &coder.branch_name) {
            (Some(number), _) => Some(pulls.get(self.context, &self.repository, number).await?),
            (None, Some(branch)) => {
                pulls
                    .open_of(self.context, &self.repository, branch)
                    .await?
            }
            (None, None) => None,
        };
        let Some(pull) = pull.filter(|pull| pull.state != PullState::Closed) else {
            return Err(Error::new(
                Code::PullRequestNotFound,
                format!("the work of {} is said to be published, but it has no open pull request", self.id),
            )
            .hint("It was closed meanwhile, or the forge is another one now: `claude-codex pr list --state all` shows those that there are."));
        };
        let approval = review.and_then(|review| review.feedback.clone());
        let said = approval.unwrap_or_else(|| format!("Published as {}.", pull.url));
        let id = self.id.clone();
        self.context
            .store
            .write(move |w| w.insert_tdd_response(&id, TddRole::Reviewer, &said))
            .await?;
        Ok(Outcome::Published { url: pull.url })
    }
}

fn no_verdict(reviewer: &InstanceId, why: &str) -> Error {
    Error::new(
        Code::AgentFailed,
        format!("the reviewer {reviewer} gave neither a pull request nor feedback: {why}"),
    )
}
