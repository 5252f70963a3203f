//! The scenario of the demo: runs its steps and draws the live board below the narration.

use std::time::{Duration, Instant};

use serde_json::json;
use shared::error::{Code, Error};
use shared::model::{Instance, InstanceId, InstanceKind, MergeMethod, PullRequest, Status, Task};
use shared::workflow::{self, Activity, Context, LaunchRequest, MergeTerms, NewCommits, Run};

use super::narrator::Narrator;
use super::sandbox::{Players, Sandbox};
use crate::board_table::board_table;
use crate::command_context::EventRecord;
use crate::failure::Failure;
use crate::live_region::LiveRegion;
use crate::output::{BOLD, DIM, Output, width};

/// How often new events are printed.
const POLL_INTERVAL: Duration = Duration::from_millis(60);
/// How often reconcile looks for ended agents.
const RECONCILE_INTERVAL: Duration = Duration::from_millis(300);
/// The limit of a step with scripted agents, far more than a slow machine needs.
const STEP_TIMEOUT: Duration = Duration::from_mins(1);
/// The limit of a step with Claude Code.
const CLAUDE_STEP_TIMEOUT: Duration = Duration::from_mins(30);

pub(super) struct Scenario<'c> {
    context: &'c Context,
    output: Output,
    board: Option<LiveRegion>,
    pub(super) narrator: Narrator,
    looked: Instant,
}

impl<'c> Scenario<'c> {
    pub(super) fn new(context: &'c Context, output: Output) -> Self {
        Self {
            context,
            output,
            board: LiveRegion::is_possible(output).then(LiveRegion::default),
            narrator: Narrator::new(),
            looked: Instant::now(),
        }
    }

    /// Runs the scenario and returns the merged pull request.
    pub(super) async fn play(
        &mut self,
        sandbox: &Sandbox,
        players: Players,
    ) -> Result<PullRequest, Failure> {
        self.write(&format!(
            "Sample repository: {}\nTo watch from another terminal:\n  {DIM}{}{DIM:#}\n  \
             {BOLD}claude-codex dashboard{BOLD:#}   {BOLD}claude-codex list --watch{BOLD:#}   {BOLD}claude-codex attach ID{BOLD:#}\n\n",
            sandbox.repository().display(),
            sandbox.exports(),
        ))
        .await?;
        self.say("A planner analyses the repository and plans the work")
            .await?;
        let plan = LaunchRequest {
            prompt: Some(
                "The till of a small shop: plan discount codes (`--code SAVE10` takes a tenth off), then a receipt. \
                 Look with analyze_repository first, then make one task for each with create_task."
                    .to_owned(),
            ),
            ..LaunchRequest::new(InstanceKind::Planning)
        };
        let planner = self.launch("plan", plan).await?;
        let task = self.planned(&planner, players).await?;

        self.say("A coder takes the first task; a reviewer reviews it")
            .await?;
        let code = LaunchRequest {
            task: Some(task.id),
            require_review: true,
            ..LaunchRequest::new(InstanceKind::Coding)
        };
        let coder = self.launch("code", code).await?;
        let number = self.published(&coder, players).await?;

        self.say("You merge the pull request").await?;
        let record = EventRecord::begin("pr merge", json!({ "number": number }));
        let run = Run::unattended();
        let terms = MergeTerms {
            method: MergeMethod::Merge,
            new_commits: NewCommits::Refuse,
            commit: None,
        };
        let merged = workflow::merge_pull(self.context, &run, number, &terms).await;
        let summary = |merged: &workflow::ChangedPull| json!({ "state": merged.pull.state });
        record
            .end(
                self.context,
                &run,
                Some(&coder),
                &merged,
                summary,
                self.output,
            )
            .await;
        self.go_on().await?;
        Ok(merged?.pull)
    }

    async fn launch(
        &mut self,
        command: &'static str,
        request: LaunchRequest,
    ) -> Result<InstanceId, Failure> {
        let record = EventRecord::begin(command, json!({}));
        let run = Run::unattended();
        let launched = workflow::launch(self.context, &run, request).await;
        let id = launched.as_ref().ok().map(|instance| instance.id.clone());
        let summary = |instance: &Instance| json!({ "instanceId": instance.id });
        record
            .end(
                self.context,
                &run,
                id.as_ref(),
                &launched,
                summary,
                self.output,
            )
            .await;
        self.go_on().await?;
        Ok(launched?.id)
    }

    /// Waits until a task is ready and the planner has ended; returns the task.
    async fn planned(&mut self, planner: &InstanceId, players: Players) -> Result<Task, Failure> {
        let deadline = deadline(players);
        loop {
            self.go_on().await?;
            let (instance, tasks) = {
                let repository = Context::repository_key(self.context.repository()?.root());
                let planner = planner.clone();
                self.context
                    .store
                    .read(move |r| {
                        Ok((
                            r.instance(&planner)?,
                            r.tasks_by_place(&repository, true, 0, 10)?,
                        ))
                    })
                    .await?
            };
            // The task that was planned first.
            let first = tasks.tasks.into_iter().min_by(|one, other| {
                (&one.created_at, &one.id).cmp(&(&other.created_at, &other.id))
            });
            if let Some(task) = first {
                if !instance.status.is_live() {
                    return Ok(task);
                }
                if players == Players::Claude && self.is_idle(planner).await? {
                    workflow::stop(self.context, &Run::unattended(), planner).await?;
                    return Ok(task);
                }
            } else if !instance.status.is_live() {
                return Err(gave_up(&instance, "planned nothing").into());
            }
            wait(deadline, &instance).await?;
        }
    }

    /// Waits until the coder's work is published; returns the number of the pull request.
    async fn published(&mut self, coder: &InstanceId, players: Players) -> Result<u64, Failure> {
        let deadline = deadline(players);
        loop {
            self.go_on().await?;
            let id = coder.clone();
            let instance = self.context.store.read(move |r| r.instance(&id)).await?;
            match (instance.status, instance.pr_number) {
                (Status::PrCreated, Some(number)) if instance.owner.is_none() => return Ok(number),
                (Status::Failed | Status::Terminated, _) => {
                    return Err(gave_up(&instance, "published nothing").into());
                }
                _ => wait(deadline, &instance).await?,
            }
        }
    }

    async fn is_idle(&self, id: &InstanceId) -> Result<bool, Error> {
        let rows = workflow::board(self.context, false).await?;
        let row = rows.into_iter().find(|row| row.instance.id == *id);
        Ok(row.is_some_and(|row| row.activity == Activity::Idle))
    }

    async fn say(&mut self, text: &str) -> Result<(), Failure> {
        let said = self.narrator.say(text);
        self.write(&said).await
    }

    /// Prints new events, and reconciles from time to time.
    async fn go_on(&mut self) -> Result<(), Failure> {
        if self.looked.elapsed() > RECONCILE_INTERVAL {
            self.looked = Instant::now();
            workflow::reconcile(self.context).await?;
        }
        let last = self.narrator.last();
        let events = self
            .context
            .store
            .read(move |r| r.events_after(None, last, 100))
            .await?;
        let told: String = events
            .iter()
            .map(|event| self.narrator.tell(event))
            .collect();
        if !told.is_empty() || self.board.is_some() {
            self.write(&told).await?;
        }
        Ok(())
    }

    /// Prints text above the board and redraws it; without a terminal, only prints the text.
    async fn write(&mut self, text: &str) -> Result<(), Failure> {
        if self.output.is_json() {
            return Ok(());
        }
        let Some(board) = &mut self.board else {
            return self.output.print(text);
        };
        let rows = workflow::board(self.context, true).await?;
        let mut lines = vec![String::new()];
        lines.extend(board_table(&rows).lines(width()));
        board.draw(self.output, text, lines)
    }
}

fn deadline(players: Players) -> Instant {
    let patience = match players {
        Players::Scripted => STEP_TIMEOUT,
        Players::Claude => CLAUDE_STEP_TIMEOUT,
    };
    Instant::now() + patience
}

async fn wait(deadline: Instant, instance: &Instance) -> Result<(), Error> {
    if Instant::now() > deadline {
        return Err(gave_up(instance, "took too long"));
    }
    tokio::time::sleep(POLL_INTERVAL).await;
    Ok(())
}

fn gave_up(instance: &Instance, what: &str) -> Error {
    let note = instance.note.sentence();
    let note = note.as_deref().unwrap_or("for an unknown reason");
    Error::new(
        Code::AgentFailed,
        format!("{} {what}: it is {}, {note}", instance.id, instance.status),
    )
    .hint("`claude-codex demo --keep` keeps everything for inspection; `claude-codex doctor` checks for causes.")
}
