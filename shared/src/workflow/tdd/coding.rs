//! The coder's turns.

use uuid::Uuid;

use super::drive::launch_request;
use super::rounds::{Rounds, is_published};
use super::words::{storable, taken_up};
use super::{TddNews, turns};
use crate::agent::{self, Session};
use crate::error::{Code, Error};
use crate::model::{Instance, TddRole, TddRun, TddStep};
use crate::store::NextTurn;
use crate::workflow::agent_files::{self, Briefing};
use crate::workflow::connect::came_to_life;
use crate::workflow::launch::launch_as;
use crate::workflow::resume::take_up;

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
            Some(_) => {
                let begun = agent::stream_file(&records, tdd.turn).exists();
                let prompt = if begun {
                    taken_up(&tdd.prompt)
                } else {
                    tdd.prompt.clone()
                };
                let tdd = self.next_turn(&tdd, tdd.current_iteration, prompt).await?;
                (take_up(self.context, self.run, &self.id).await?, tdd)
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
            return Err(failed_turn("coder", &error));
        }
        let handoff =
            storable(&end.message).unwrap_or_else(|| "The coder left no handoff.".to_owned());
        (self.audience)(&TddNews::HandedOver { text: &handoff });
        let id = self.id.clone();
        self.context
            .store
            .write(move |w| {
                // An agent that never spoke to its server has now been heard of.
                came_to_life(w, &w.instance(&id)?)?;
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

    async fn ask(&self, coder: &Instance, tdd: &TddRun) -> Result<(), Error> {
        let session = coder
            .claude_session_id
            .as_deref()
            .and_then(|id| Uuid::parse_str(id).ok())
            .unwrap_or_else(Uuid::new_v4);
        let session = if agent_files::has_transcript(self.context, coder)? {
            Session::Resume(session)
        } else {
            Session::New(session)
        };
        let briefing = Briefing::default();
        turns::ask(
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

fn failed_turn(who: &str, error: &str) -> Error {
    Error::new(
        Code::AgentFailed,
        format!("the {who}'s turn failed: {error}"),
    )
}
