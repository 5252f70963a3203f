//! The course of the demo, and the live board below its story.

use std::time::{Duration, Instant};

use serde_json::json;
use shared::error::{Code, Error};
use shared::model::{Instance, InstanceId, InstanceKind, MergeMethod, PullRequest, Status, Task};
use shared::workflow::{self, Activity, Context, LaunchRequest, Run};

use super::narrator::Narrator;
use super::place::{Place, Players};
use crate::commands::list::table;
use crate::failure::Failure;
use crate::live::LiveLines;
use crate::output::{BOLD, DIM, Output, width};
use crate::session::Record;

/// How often the story goes on.
const TICK: Duration = Duration::from_millis(60);
/// How often ended agents are looked for.
const LOOK: Duration = Duration::from_millis(300);
/// Far more than a step takes on a slow machine.
const PATIENCE: Duration = Duration::from_mins(1);
/// What a model may take for the same.
const PATIENCE_WITH_CLAUDE: Duration = Duration::from_mins(30);

pub(super) struct Show<'c> {
    context: &'c Context,
    output: Output,
    board: Option<LiveLines>,
    pub(super) narrator: Narrator,
    looked: Instant,
}

impl<'c> Show<'c> {
    pub(super) fn new(context: &'c Context, output: Output) -> Self {
        Self {
            context,
            output,
            board: LiveLines::are_possible(output).then(LiveLines::default),
            narrator: Narrator::new(),
            looked: Instant::now(),
        }
    }

    /// Plays it all; returns the merged pull request.
    pub(super) async fn play(
        &mut self,
        place: &Place,
        players: Players,
    ) -> Result<PullRequest, Failure> {
        self.write(&format!(
            "A repository of its own: {}\nTo watch from another terminal:\n  {DIM}{}{DIM:#}\n  \
             {BOLD}claude-codex dashboard{BOLD:#}   {BOLD}claude-codex list --watch{BOLD:#}   {BOLD}claude-codex attach ID{BOLD:#}\n\n",
            place.repository().display(),
            place.exports(),
        ))
        .await?;
        self.say("A planner looks at the repository and plans the work")
            .await?;
        let planner = self
            .launch(
                "plan",
                InstanceKind::Planning,
                "The till of a small shop: plan discount codes (`--code SAVE10` takes a tenth off), then a receipt. \
                 Look with analyze_repository first, then make one task for each with create_task.",
                None,
            )
            .await?;
        let task = self.planned(&planner, players).await?;

        self.say("A coder takes the first task; a reviewer judges it")
            .await?;
        let prompt = format!("{}\n\n{}", task.title, task.description);
        let coder = self
            .launch("code", InstanceKind::Coding, &prompt, Some(&task))
            .await?;
        let number = self.published(&coder, players).await?;

        self.say("You merge the pull request").await?;
        let record = Record::begin("pr merge", json!({ "number": number }));
        let run = Run::unattended();
        let merged = workflow::merge_pull(self.context, &run, number, MergeMethod::Merge).await;
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
        kind: InstanceKind,
        prompt: &str,
        task: Option<&Task>,
    ) -> Result<InstanceId, Failure> {
        let request = LaunchRequest {
            kind,
            prompt: prompt.to_owned(),
            issue: None,
            task: task.map(|task| task.id.clone()),
            base: None,
            branch: None,
            require_review: Some(kind == InstanceKind::Coding),
            max_reviews: None,
        };
        let record = Record::begin(command, json!({}));
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

    /// Waits until there is a task to begin and its planner has ended; returns the task.
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
            // The first that was planned.
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

    /// Tells what has happened since, and notices who has ended.
    async fn go_on(&mut self) -> Result<(), Failure> {
        if self.looked.elapsed() > LOOK {
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

    /// Writes text above the board, and draws that again; where there is no terminal, only the text.
    async fn write(&mut self, text: &str) -> Result<(), Failure> {
        if self.output.is_json() {
            return Ok(());
        }
        let Some(board) = &mut self.board else {
            return self.output.print(text);
        };
        let rows = workflow::board(self.context, true).await?;
        let mut lines = vec![String::new()];
        lines.extend(table(&rows).lines(width()));
        board.draw(self.output, text, lines)
    }
}

fn deadline(players: Players) -> Instant {
    let patience = match players {
        Players::Scripted => PATIENCE,
        Players::Claude => PATIENCE_WITH_CLAUDE,
    };
    Instant::now() + patience
}

async fn wait(deadline: Instant, instance: &Instance) -> Result<(), Error> {
    if Instant::now() > deadline {
        return Err(gave_up(instance, "took too long"));
    }
    tokio::time::sleep(TICK).await;
    Ok(())
}

fn gave_up(instance: &Instance, what: &str) -> Error {
    let note = instance.note.as_deref().unwrap_or("nobody says why");
    Error::new(
        Code::AgentFailed,
        format!("{} {what}: it is {}, {note}", instance.id, instance.status),
    )
    .hint("`claude-codex demo --keep` leaves all as it is; `claude-codex doctor` looks for causes.")
}
