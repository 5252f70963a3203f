//! The coding step of a TDD run: launch or resume the coder, ask for its turn, take its handoff.

use std::time::Duration;

use uuid::Uuid;

use super::TddNews;
use super::drive::launch_request;
use super::prompts::{storable, taken_up};
use super::rounds::{Rounds, is_published};
use crate::agent::{self, AgentState, Session};
use crate::error::{Code, Error};
use crate::model::{Instance, TddRole, TddRun, TddStep};
use crate::store::NextTurn;
use crate::workflow::identity::connect::mark_running;
use crate::workflow::instance::agent_files;
use crate::workflow::instance::agent_files::Briefing;
use crate::workflow::instance::headless::ask_for_turn;
use crate::workflow::lifecycle::launch::launch_as;
use crate::workflow::lifecycle::resume::resume_any;

/// How long an agent whose terminal is gone may take to end.
const EXIT_GRACE: Duration = Duration::from_secs(5);

impl Rounds<'_> {
    /// Sees to it that the coder takes the turn that the run is at, and takes its handoff.
    pub(super) async fn coding(&self, tdd: TddRun) -> Result<(), Error> {
        let records = self.context.turn_records(&self.id);
        let folder = self.context.agent_folder(&self.id);
        let handed_over =
            agent::turn_end(&records, tdd.turn)?.is_some_and(|end| end.error.is_none());
        let (coder, tdd) = match self.coder().await? {
            None => self.launch(tdd).await?,
            Some(coder) if is_published(coder.status) => {
                return self.step(TddStep::Reviewing).await;
            }
            Some(coder) if coder.status.is_live() || handed_over => (coder, tdd),
            Some(coder) => {
                self.until_gone(&coder).await?;
                let begun = agent::stream_file(&records, tdd.turn).exists();
                let prompt = if begun {
                    taken_up(&tdd.prompt)
                } else {
                    tdd.prompt.clone()
                };
                let tdd = self.next_turn(&tdd, tdd.current_iteration, prompt).await?;
                (resume_any(self.context, self.run, &self.id).await?, tdd)
            }
        };
        (self.audience)(&TddNews::Turn {
            role: TddRole::Coder,
            agent: &self.id,
            iteration: tdd.current_iteration,
            of: tdd.max_iterations,
        });
        let known = agent::is_asked_for(&folder, tdd.turn)
            || agent::turn_end(&records, tdd.turn)?.is_some();
        if !known {
            self.ask(&coder, &tdd).await?;
        }
        let end = self.turn_of(&self.id, TddRole::Coder, tdd.turn).await?;
        if let Some(error) = end.error {
            return Err(failed_turn(&error));
        }
        let handoff =
            storable(&end.message).unwrap_or_else(|| "The coder left no handoff.".to_owned());
        (self.audience)(&TddNews::HandedOver { text: &handoff });
        let id = self.id.clone();
        self.context
            .store
            .write(move |w| {
                // An agent that never spoke to its server has now been heard of.
                mark_running(w, &w.instance(&id)?)?;
                w.insert_tdd_response(&id, TddRole::Coder, &handoff)?;
                w.set_tdd_step(&id, TddStep::Reviewing)
            })
            .await?;
        Ok(())
    }

    pub(super) async fn coder(&self) -> Result<Option<Instance>, Error> {
        let id = self.id.clone();
        let coder = self.context.store.read(move |r| {
            Ok(if r.instance_exists(&id)? {
                Some(r.instance(&id)?)
            } else {
                None
            })
        });
        Ok(coder.await?)
    }

    async fn launch(&self, tdd: TddRun) -> Result<(Instance, TddRun), Error> {
        // A launch that was undone may have left the records of a turn.
        let tdd = self
            .next_turn(&tdd, tdd.current_iteration, tdd.prompt.clone())
            .await?;
        let request = launch_request(
            &tdd.original_spec,
            &tdd.branch_name,
            Some(tdd.worktree_info.base_branch.clone()),
            tdd.max_iterations,
        );
        let coder = launch_as(self.context, self.run, request, Some(self.id.clone())).await?;
        Ok((coder, tdd))
    }

    /// Records a turn that the coder is to take, under a number that was never used.
    pub(super) async fn next_turn(
        &self,
        tdd: &TddRun,
        iteration: u32,
        prompt: String,
    ) -> Result<TddRun, Error> {
        let next = NextTurn {
            iteration,
            turn: self.unused_turn(),
            prompt,
        };
        let id = tdd.task_id.clone();
        self.context
            .store
            .write(move |w| w.begin_tdd_turn(&id, &next))
            .await?;
        self.load().await
    }

    pub(super) fn unused_turn(&self) -> u32 {
        let records = self.context.turn_records(&self.id);
        agent::last_turn(&self.context.agent_folder(&self.id), &records) + 1
    }

    /// Waits, but not for ever, until the process of a turn that was broken off is gone: it may
    /// still write to the conversation that is to be taken up.
    async fn until_gone(&self, coder: &Instance) -> Result<(), Error> {
        let Some(session) = session_of(coder) else {
            return Ok(());
        };
        let folder = self.context.claude_folder()?;
        let deadline = tokio::time::Instant::now() + EXIT_GRACE;
        let mut reconciled = tokio::time::Instant::now();
        while agent::state(&folder, session) != AgentState::Gone
            && tokio::time::Instant::now() < deadline
        {
            self.pause(&mut reconciled).await?;
        }
        Ok(())
    }

    /// Asks for the coder's turn: in the conversation that it has, or in a new one.
    async fn ask(&self, coder: &Instance, tdd: &TddRun) -> Result<(), Error> {
        let session = match session_of(coder) {
            Some(session) if agent_files::has_transcript(self.context, coder)? => {
                Session::Resume(session)
            }
            Some(_) => {
                // The old name may be taken by now, though nothing was said under it.
                let session = Uuid::new_v4();
                let id = coder.id.clone();
                self.context
                    .store
                    .write(move |w| w.set_claude_session(&id, &session.to_string()))
                    .await?;
                Session::New(session)
            }
            None => Session::New(Uuid::new_v4()),
        };
        let briefing = Briefing::default();
        ask_for_turn(
            self.context,
            &self.repository,
            coder,
            tdd,
            session,
            &briefing,
        )
        .await
    }
}

fn session_of(coder: &Instance) -> Option<Uuid> {
    Uuid::parse_str(coder.claude_session_id.as_deref()?).ok()
}

fn failed_turn(error: &str) -> Error {
    let error = storable(error).unwrap_or_else(|| "nobody said why".to_owned());
    Error::new(
        Code::AgentFailed,
        format!("the coder's turn failed: {error}"),
    )
}
