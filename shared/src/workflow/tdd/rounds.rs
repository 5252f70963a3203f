//! Rounds of a TDD run: a coding step, then a reviewing step, until the work is published.

use std::time::Duration;

use super::turns::Stream;
use super::{Audience, TddNews};
use crate::agent::{self, TurnEnd};
use crate::error::{Code, Error};
use crate::git::Repository;
use crate::model::{InstanceId, Status, TddRole, TddRun, TddStep};
use crate::workflow::{Context, Run, reconcile};

const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How often it is looked whether the agents still live.
const RECONCILE_INTERVAL: Duration = Duration::from_secs(2);

pub(super) enum Outcome {
    Published { url: String },
    LimitReached { feedback: String },
}

/// One run, as long as this process drives it.
pub(super) struct Rounds<'a> {
    pub(super) context: &'a Context,
    pub(super) run: &'a Run,
    pub(super) repository: Repository,
    pub(super) id: InstanceId,
    pub(super) audience: Audience<'a>,
}

impl Rounds<'_> {
    /// Plays the rounds from wherever the run is.
    pub(super) async fn play(&self) -> Result<Outcome, Error> {
        loop {
            let tdd = self.load().await?;
            match tdd.step {
                TddStep::Coding => Box::pin(self.coding(tdd)).await?,
                TddStep::Reviewing => {
                    if let Some(outcome) = Box::pin(self.reviewing(tdd)).await? {
                        return Ok(outcome);
                    }
                }
            }
        }
    }

    pub(super) async fn load(&self) -> Result<TddRun, Error> {
        let id = self.id.clone();
        Ok(self.context.store.read(move |r| r.tdd_run(&id)).await?)
    }

    pub(super) async fn step(&self, step: TddStep) -> Result<(), Error> {
        let id = self.id.clone();
        self.context
            .store
            .write(move |w| w.set_tdd_step(&id, step))
            .await?;
        Ok(())
    }

    /// Follows an agent's turn to its end.
    pub(super) async fn turn_of(
        &self,
        agent: &InstanceId,
        role: TddRole,
        number: u32,
    ) -> Result<TurnEnd, Error> {
        let records = self.context.turn_records(agent);
        let mut stream = Stream::of(self.context, agent, number);
        let mut reconciled = tokio::time::Instant::now();
        loop {
            // Looked for first: what was printed before the end is read after it was seen.
            let end = agent::turn_end(&records, number)?;
            self.tell(role, &mut stream)?;
            if let Some(end) = end {
                return Ok(end);
            }
            self.is_alive(agent, role).await?;
            self.pause(&mut reconciled).await?;
        }
    }

    pub(super) fn tell(&self, role: TddRole, stream: &mut Stream) -> Result<(), Error> {
        for event in &stream.read()? {
            (self.audience)(&TddNews::Did { role, event });
        }
        Ok(())
    }

    pub(super) async fn is_alive(&self, agent: &InstanceId, role: TddRole) -> Result<(), Error> {
        let wanted = agent.clone();
        let instance = self
            .context
            .store
            .read(move |r| r.instance(&wanted))
            .await?;
        if instance.status.is_live() || is_published(instance.status) {
            return Ok(());
        }
        let why = instance
            .note
            .sentence()
            .map_or(String::new(), |note| format!(": {note}"));
        let what = match instance.status {
            Status::Terminated => "was stopped",
            _ => "has died",
        };
        Err(Error::new(
            Code::AgentEnded,
            format!("the {role} {agent} {what} in the middle of its turn{why}"),
        )
        .hint(format!(
            "`claude-codex tdd resume {}` takes the run up again.",
            self.id
        )))
    }

    pub(super) async fn pause(&self, reconciled: &mut tokio::time::Instant) -> Result<(), Error> {
        if reconciled.elapsed() >= RECONCILE_INTERVAL {
            if let Err(error) = reconcile(self.context).await {
                tracing::warn!(code = %error.code, %error, "cannot reconcile");
            }
            *reconciled = tokio::time::Instant::now();
        }
        self.run
            .unless_cancelled(async {
                tokio::time::sleep(POLL_INTERVAL).await;
                Ok(())
            })
            .await
    }
}

pub(super) fn is_published(status: Status) -> bool {
    matches!(
        status,
        Status::PrCreated | Status::PrMerged | Status::PrClosed
    )
}
