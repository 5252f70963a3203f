//! Actions of `list --watch`: what a key does with the selected agent.

use std::process::Command;

use anstyle::Style;
use serde_json::json;
use shared::error::Error;
use shared::model::{InstanceId, MergeMethod};
use shared::workflow::{self, ChangedPull, Sent};

use super::screen::Screen;
use super::{Mode, Question, Request, Watch};
use crate::command_context::EventRecord;
use crate::commands::pr::styled_diff;
use crate::commands::started::standing;
use crate::commands::{logs, resume, send, show, stop};
use crate::failure::Failure;
use crate::output::{DIM, GOOD, Output};
use crate::progress::Progress;
use crate::text::{first_line, harmless_block};

/// How much the pager shows of a diff, and of what an agent did.
const MAX_DIFF_BYTES: usize = 2 << 20;
const MAX_LOG_LINES: u32 = 1_000;
/// More than a screen has.
const PEEK_LINES: u32 = 200;

const HELP: &str = "\
↑ ↓ j k        select an agent; PgUp PgDn Home End
w              select the next one that waits for you
Enter          attach to its terminal (Ctrl-B d comes back)
p              peek: what its terminal shows, and a line to reply
m              send it a message
v              show its status, reviews, messages and latest events
d              show what it has changed
l              show what it said, ran and did
M              merge its pull request
r              resume it
s              stop it
?              this help
q              quit";

/// Returns the help.
pub(super) fn help() -> Mode {
    pager("Keys of claude-codex list --watch", HELP)
}

fn pager(title: impl Into<String>, text: &str) -> Mode {
    Mode::Pager {
        title: title.into(),
        text: text.lines().map(str::to_owned).collect(),
        top: 0,
    }
}

/// The end is what a person looks for; drawing limits it.
fn at_the_end(mut mode: Mode) -> Mode {
    if let Mode::Pager { top, .. } = &mut mode {
        *top = usize::MAX / 2;
    }
    mode
}

impl Watch<'_> {
    /// Does what was asked for. A failure is said in the footer.
    pub(super) async fn act(&mut self, request: Request, screen: &Screen) -> Result<(), Failure> {
        let doing = match &request {
            Request::Send(id, _) => Some(format!("Sending it to {id} …")),
            Request::Resume(id) => Some(format!("Resuming {id} …")),
            Request::Confirmed(Question::Stop(id)) => Some(format!("Stopping {id} …")),
            Request::Confirmed(Question::Merge(_, number)) => Some(format!("Merging #{number} …")),
            _ => None,
        };
        if let Some(doing) = doing {
            self.view.notice = Some((doing, DIM));
            screen.draw(&mut self.view, &self.rows)?;
        }
        match self.done(request).await {
            Ok(Some((text, style))) => self.view.notice = Some((first_line(&text), style)),
            Ok(None) => {}
            Err(Failure::Error(error)) => {
                let hint = error.hint.as_deref().unwrap_or_default();
                self.view.warn(format!("{}\n{hint}", error.message));
            }
            Err(failure) => return Err(failure),
        }
        Ok(())
    }

    async fn done(&mut self, request: Request) -> Result<Option<(String, Style)>, Failure> {
        let context = self.context;
        // Progress would be drawn over the frame.
        let quiet = Output::new(true);
        Ok(match request {
            Request::Peek(id) => {
                let instance = self.instance(&id).await?;
                if logs::terminal(context, &instance, PEEK_LINES)
                    .await?
                    .is_some()
                {
                    let peek = self.peek(&id).await?;
                    self.view.mode = Mode::Compose {
                        id,
                        peek: Some(peek),
                        text: String::new(),
                    };
                    return Ok(None);
                }
                let Some(shown) = logs::screen(context, &instance, PEEK_LINES).await? else {
                    return Ok(Some((format!("{id} has no terminal"), DIM)));
                };
                self.view.mode = at_the_end(pager(format!("{id}: {}", shown.title), &shown.text));
                None
            }
            Request::Show(id) => {
                self.view.mode = pager(format!("Agent {id}"), &show::text(context, &id).await?);
                None
            }
            Request::Diff(id) => {
                let instance = self.instance(&id).await?;
                let work = workflow::work_diff(context, &instance, MAX_DIFF_BYTES).await?;
                if work.diff.text.is_empty() {
                    return Ok(Some((format!("{id} has not changed anything"), DIM)));
                }
                let mut text = styled_diff(&work.diff.text);
                if work.diff.truncated {
                    text.push_str("… the rest is left out\n");
                }
                self.view.mode = pager(format!("Changes of {id} since {}", work.base), &text);
                None
            }
            Request::Logs(id) => {
                let text = logs::text(context, &id, MAX_LOG_LINES).await?;
                self.view.mode = at_the_end(pager(format!("Log of {id}"), &text));
                None
            }
            Request::Send(id, text) => {
                let (run, _) = Progress::start(quiet);
                let record = EventRecord::begin("send", json!({ "id": id }));
                let result = workflow::send(context, &run, &id, &text).await;
                let summary = |sent: &Sent| json!(sent);
                record
                    .end(context, &run, Some(&id), &result, summary, quiet)
                    .await;
                Some((send::outcome(&id, &result?), GOOD))
            }
            Request::Resume(id) => {
                let instance = resume::resume_recorded(context, &id, quiet).await?;
                Some((format!("{id} {}", standing(&instance)), GOOD))
            }
            Request::Confirmed(Question::Stop(id)) => {
                let stopped = stop::stop_recorded(context, &id, quiet).await?;
                let kept = stopped.kept.map(|kept| format!("; {kept}"));
                let text = format!(
                    "{id} is {}{}",
                    stopped.instance.status,
                    kept.unwrap_or_default()
                );
                Some((text, GOOD))
            }
            Request::Confirmed(Question::Merge(id, number)) => {
                let changed = self.merge(&id, number).await?;
                let (state, base) = (changed.pull.state, changed.pull.base_branch);
                Some((format!("#{number} is {state} into {base}"), GOOD))
            }
            Request::Attach(_) | Request::Quit => None,
        })
    }

    /// Merges the pull request of an agent, in the agent's own repository.
    async fn merge(&self, id: &InstanceId, number: u64) -> Result<ChangedPull, Error> {
        let quiet = Output::new(true);
        let instance = self.instance(id).await?;
        let context = self.context.in_repository(&instance.repository).await?;
        let method = MergeMethod::Merge;
        let (run, _) = Progress::start(quiet);
        let record = EventRecord::begin("pr merge", json!({ "number": number, "method": method }));
        let terms = workflow::MergeTerms {
            method,
            new_commits: workflow::NewCommits::Refuse,
            commit: None,
        };
        let result = workflow::merge_pull(&context, &run, number, &terms).await;
        let summary = |changed: &ChangedPull| json!({ "state": changed.pull.state });
        record
            .end(&context, &run, Some(id), &result, summary, quiet)
            .await;
        result
    }

    async fn peek(&self, id: &InstanceId) -> Result<Vec<String>, Error> {
        let instance = self.instance(id).await?;
        let shown = workflow::tail(self.context, &instance, PEEK_LINES).await?;
        Ok(harmless_block(&shown).lines().map(str::to_owned).collect())
    }

    /// Reads again what the terminal shows while a person looks at it. If it is gone, the last picture stays.
    pub(super) async fn refresh_peek(&mut self) {
        let Mode::Compose {
            id, peek: Some(_), ..
        } = &self.view.mode
        else {
            return;
        };
        let fresh = self.peek(&id.clone()).await;
        if let (Ok(fresh), Mode::Compose { peek, .. }) = (fresh, &mut self.view.mode) {
            *peek = Some(fresh);
        }
    }

    /// Tells whether there is a terminal to attach to; if not, says what there is. tmux would say so only on the screen below.
    pub(super) async fn has_terminal(&mut self, id: &InstanceId) -> Result<bool, Failure> {
        let instance = self.instance(id).await?;
        // What is said of one that runs in a session of its own is another thing.
        if instance.tmux_session.is_none() {
            return Ok(true);
        }
        match logs::terminal(self.context, &instance, 1).await {
            Ok(Some(_)) => Ok(true),
            Ok(None) => {
                self.view.warn(format!(
                    "{id} has ended: r resumes it, l shows what it left"
                ));
                Ok(false)
            }
            Err(Failure::Error(error)) => {
                self.view.warn(error.message);
                Ok(false)
            }
            Err(failure) => Err(failure),
        }
    }

    /// Attaches to the agent until the person detaches.
    pub(super) async fn attach(&mut self, id: &InstanceId) -> Result<(), Failure> {
        let instance = self.instance(id).await?;
        let problem = match workflow::attach_argv(self.context, &instance) {
            Err(error) => Some(error.message),
            Ok(command) => command.split_first().and_then(|(program, arguments)| {
                let left = Command::new(program).args(arguments).status();
                left.err()
                    .map(|error| format!("cannot start tmux: {error}"))
            }),
        };
        if let Some(problem) = problem {
            self.view.warn(problem);
        }
        Ok(())
    }
}
