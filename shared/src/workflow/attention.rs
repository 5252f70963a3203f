//! Attention: what a person must do about an agent now. One rule and its words for `list`, the board, REST and notifications.

use serde::{Serialize, Serializer};

use super::activity::{Activity, Rounds};
use crate::model::hidden::reveal_in_line;
use crate::model::{
    BaseProblem, Instance, InstanceId, InstanceKind, Kept, Mergeable, Origin, SessionMode, Status,
    counted,
};
use crate::store::{EndedTurn, PullStanding, stuck_event};

/// How long after the end of its turn an agent is taken to wait: a message may just be on its way to it.
const REST_SECONDS: f64 = 2.0;
/// How long an agent that has not said that its turn ended (it was interrupted, or the model failed) must be idle.
const SILENCE_SECONDS: f64 = 20.0;
/// How much of a longer text stands in a table, in characters.
const MAX_SHORT_CHARS: usize = 80;

/// What an agent needs from a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Attention {
    /// An answer to the dialog in its terminal.
    Answer { on: String },
    /// A decision: all review rounds are used, and it is idle.
    ReviewLimit {
        used: u32,
        most: u32,
        /// The last paragraph that it said.
        said: Option<String>,
    },
    /// An answer, or more to do: it has ended its turn with nothing outstanding.
    Idle {
        /// The last paragraph that it said.
        said: Option<String>,
    },
    /// To be resumed or given up: it ended before it took so many messages.
    OwedMessages { count: u32 },
    /// To be resumed or given up: it failed.
    Failed { why: Option<String> },
    /// A resolution: its pull request conflicts with the base.
    Conflict {
        number: u64,
        base: String,
        /// Whether its agent can be told to; that of a TDD run cannot.
        by_agent: bool,
    },
    /// To be resumed, or its pull request to be taken as it is: that was sent back, and it ended without an update.
    Unfinished { number: u64 },
    /// The base branch of its pull request, which is gone.
    BaseGone {
        number: u64,
        base: String,
        /// Where it was last.
        commit: Option<String>,
    },
    /// A decision: its pull request has no common history with the base any more.
    NoCommonHistory { number: u64, base: String },
    /// An update of its pull request, which lacks so many commits of its branch.
    Outdated { number: u64, commits: usize },
    /// A look at work that exists nowhere else.
    KeptWork {
        in_worktree: bool,
        note: Option<String>,
        /// For the commands that save or discard it.
        #[serde(skip)]
        id: InstanceId,
        #[serde(skip)]
        kept: Kept,
    },
}

impl Attention {
    /// Returns whether the agent waits for it. Commits on a branch can wait for ever; files in a worktree are in the way.
    pub fn is_urgent(&self) -> bool {
        !matches!(
            self,
            Self::KeptWork {
                in_worktree: false,
                ..
            }
        )
    }

    /// Returns what it waits for in a few words, for a table.
    pub fn short(&self) -> String {
        match self {
            Self::Answer { on } => excerpt(on),
            Self::ReviewLimit {
                said: Some(said), ..
            } => format!("review limit: {}", excerpt(said)),
            Self::ReviewLimit { said: None, .. } => "review limit".to_owned(),
            Self::Idle { said: Some(said) } => format!("idle: {}", excerpt(said)),
            Self::Idle { said: None } => "idle".to_owned(),
            Self::OwedMessages { count } => {
                format!("{} not taken", counted(*count, "message", "messages"))
            }
            Self::Failed { why: Some(why) } => format!("failed: {}", excerpt(why)),
            Self::Failed { why: None } => "failed".to_owned(),
            Self::Conflict { base, .. } => format!("conflicts with {}", reveal_in_line(base)),
            Self::BaseGone { base, .. } => format!("base {} is gone", reveal_in_line(base)),
            Self::NoCommonHistory { base, .. } => {
                format!("no common history with {}", reveal_in_line(base))
            }
            Self::Outdated { commits, .. } => {
                format!(
                    "lacks {} of its branch",
                    counted(*commits, "commit", "commits")
                )
            }
            Self::Unfinished { .. } => "sent back, not updated".to_owned(),
            Self::KeptWork { .. } => "unsaved work kept".to_owned(),
        }
    }

    /// Returns what the person should do, in one sentence.
    pub fn sentence(&self) -> String {
        match self {
            Self::Answer { on } => format!("Answer its {} in the terminal.", reveal_in_line(on)),
            Self::ReviewLimit { used, most, said } => {
                let said = said.as_ref().map_or_else(String::new, |said| {
                    format!(" It said: {}", reveal_in_line(said))
                });
                format!(
                    "Its review rounds are used up ({used} of {most}): publish its work as it is, send it a message, or stop it.{said}"
                )
            }
            Self::Idle { said: Some(said) } => {
                format!(
                    "It ended its turn and waits for you: {}",
                    reveal_in_line(said)
                )
            }
            Self::Idle { said: None } => {
                "It is idle and waits for you: send it a message, or stop it.".to_owned()
            }
            Self::OwedMessages { count } => format!(
                "It ended before it took {}: resume it, or give it up.",
                counted(*count, "message", "messages")
            ),
            Self::Failed { why: Some(why) } => {
                format!(
                    "It failed ({}): resume it, or clean it up.",
                    reveal_in_line(why)
                )
            }
            Self::Failed { why: None } => "It failed: resume it, or clean it up.".to_owned(),
            Self::Conflict {
                number, by_agent, ..
            } => {
                let how = if *by_agent {
                    format!("`claude-codex pr resolve {number}` has its agent resolve it")
                } else {
                    format!("merge that into its branch, then `claude-codex pr update {number}`")
                };
                format!("Its pull request {}: {how}.", self.short())
            }
            Self::BaseGone {
                number,
                base,
                commit,
            } => {
                let base = reveal_in_line(base);
                let how = match commit {
                    Some(commit) => format!("`git branch {base} {commit}` brings it back, and"),
                    None => "bring that back, or".to_owned(),
                };
                format!(
                    "The base branch {base} of its pull request is gone: {how} `claude-codex pr close {number}` closes the pull request."
                )
            }
            Self::NoCommonHistory { number, .. } => format!(
                "Its pull request has {}: `claude-codex pr close {number}` closes it, or bring the old base back.",
                self.short()
            ),
            Self::Outdated { number, .. } => format!(
                "Its pull request {}: `claude-codex pr update {number}` brings them in.",
                self.short()
            ),
            Self::Unfinished { number } => format!(
                "Its pull request {number} was sent back, and it ended without an update: resume it, clean it up, or merge or close the pull request."
            ),
            Self::KeptWork { note, id, kept, .. } => {
                let note = reveal_in_line(note.as_deref().unwrap_or("see its worktree"));
                let save = saving(kept).map_or_else(String::new, |save| format!("{save}, or "));
                format!(
                    "Save or discard its work, which exists nowhere else: {note}. To do so, {save}run `claude-codex clean --discard {id}`, which deletes it."
                )
            }
        }
    }
}

/// Returns what saves work, as a part of a sentence; none if that is not one step.
fn saving(kept: &Kept) -> Option<String> {
    match kept {
        Kept::UnsavedWork { worktree, work, .. } if work.files > 0 => {
            Some(format!("commit it in {}", reveal_in_line(worktree)))
        }
        Kept::UnsavedWork {
            branch: Some(branch),
            ..
        }
        | Kept::BranchCommits { branch, .. } => {
            Some(format!("merge or push {}", reveal_in_line(branch)))
        }
        _ => None,
    }
}

/// Returns the beginning of a text in one line, and shows that it was cut.
fn excerpt(text: &str) -> String {
    let line = reveal_in_line(text.trim());
    match line.char_indices().nth(MAX_SHORT_CHARS) {
        None => line,
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}

/// Serializes with the words, so that whoever reads the JSON need not know every kind.
#[expect(clippy::ref_option, reason = "serde calls it so")]
pub(super) fn with_words<S: Serializer>(
    attention: &Option<Attention>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Told<'a> {
        #[serde(flatten)]
        what: &'a Attention,
        urgent: bool,
        short: String,
        sentence: String,
    }
    let told = attention.as_ref().map(|what| Told {
        what,
        urgent: what.is_urgent(),
        short: what.short(),
        sentence: what.sentence(),
    });
    told.serialize(serializer)
}

/// What the rule looks at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts<'a> {
    pub instance: &'a Instance,
    pub activity: &'a Activity,
    pub rounds: Option<Rounds>,
    pub owed_messages: u32,
    /// It has failed, and no person has dealt with that since.
    pub is_open_failure: bool,
    /// A person has dealt with its end since.
    pub is_dismissed: bool,
    /// How its pull request stands, if that is open and was looked at.
    pub standing: Option<&'a PullStanding>,
    /// The turn that it has ended; none while one is under way.
    pub turn: Option<&'a EndedTurn>,
}

/// Returns what an agent needs from a person now.
pub(super) fn attention(facts: Facts<'_>) -> Option<Attention> {
    if let Activity::WaitingForPerson { on } = facts.activity {
        return Some(Attention::Answer { on: on.clone() });
    }
    let instance = facts.instance;
    let kept = instance.note.kept.as_ref();
    match instance.status {
        // Programs other than Claude Code do not say whether they are idle.
        Status::Running if matches!(facts.activity, Activity::Idle | Activity::Unknown) => facts
            .rounds
            .filter(|rounds| rounds.are_used_up())
            .map(|Rounds { used, most }| Attention::ReviewLimit {
                used,
                most,
                said: facts.turn.and_then(|turn| turn.said.clone()),
            })
            .or_else(|| idle(facts)),
        // It was to go on, and could not be started.
        Status::PrCreated if facts.owed_messages > 0 && instance.note.reason.is_some() => {
            Some(Attention::OwedMessages {
                count: facts.owed_messages,
            })
        }
        Status::Failed if facts.is_open_failure && facts.owed_messages > 0 => {
            Some(Attention::OwedMessages {
                count: facts.owed_messages,
            })
        }
        Status::Failed if facts.is_open_failure && is_missed(instance) => Some(Attention::Failed {
            why: instance.note.sentence(),
        }),
        // Also one that was stopped, or failed, while it worked on changes to its open pull request.
        status if !status.is_live() && is_stuck(facts) => facts
            .standing
            .and_then(|standing| stuck(instance, standing)),
        status if status.is_over() && kept.is_some_and(Kept::needs_attention) => {
            kept.map(|kept| Attention::KeptWork {
                in_worktree: instance.worktree_path.exists(),
                note: instance.note.sentence(),
                id: instance.id.clone(),
                kept: kept.clone(),
            })
        }
        // It was at work on changes to its open pull request.
        Status::Terminated if facts.standing.is_some() && !facts.is_dismissed => {
            match (facts.owed_messages, instance.pr_number) {
                (0, number) => number.map(|number| Attention::Unfinished { number }),
                (count, _) => Some(Attention::OwedMessages { count }),
            }
        }
        _ => None,
    }
}

fn is_stuck(facts: Facts<'_>) -> bool {
    facts.standing.is_some_and(PullStanding::is_stuck)
}

/// Returns what keeps a pull request from being merged.
fn stuck(instance: &Instance, standing: &PullStanding) -> Option<Attention> {
    let number = standing.number;
    let base = || instance.base_branch.clone();
    match standing.base_problem() {
        Some(BaseProblem::Gone) => {
            return Some(Attention::BaseGone {
                number,
                base: base(),
                commit: standing.base_commit.clone(),
            });
        }
        Some(BaseProblem::NoCommonHistory) => {
            return Some(Attention::NoCommonHistory {
                number,
                base: base(),
            });
        }
        None => {}
    }
    if standing.mergeable == Mergeable::Conflicting {
        return Some(Attention::Conflict {
            number,
            base: base(),
            by_agent: instance.session_mode == SessionMode::Interactive,
        });
    }
    let commits = standing.new_commits;
    (commits > 0).then_some(Attention::Outdated { number, commits })
}

/// Returns what tells a need apart from the last one of its kind. `since` changes with the state of the agent's session.
pub(super) fn event(facts: Facts<'_>, attention: &Attention, since: Option<&str>) -> String {
    let instance = facts.instance;
    let last = instance.last_activity;
    match attention {
        Attention::Answer { on } => match since {
            Some(since) => format!("answer {since}"),
            None => format!("answer {last} {on}"),
        },
        // A person may have sent it on, and it may have come to the limit again.
        Attention::ReviewLimit { used, .. } => match facts.turn {
            Some(turn) => format!("limit {used} {}", turn.at),
            None => format!("limit {used}"),
        },
        Attention::Idle { .. } => format!("idle {}", facts.turn.map_or(last, |turn| turn.at)),
        Attention::OwedMessages { .. }
        | Attention::Failed { .. }
        | Attention::Unfinished { .. } => {
            format!("failed {}", instance.status_since)
        }
        Attention::Conflict { number, .. }
        | Attention::BaseGone { number, .. }
        | Attention::NoCommonHistory { number, .. }
        | Attention::Outdated { number, .. } => {
            // The base may move often; the work that is stuck is the same.
            let head = facts.standing.map_or("", |standing| &standing.head_commit);
            stuck_event(*number, head)
        }
        Attention::KeptWork { .. } => format!("kept {}", instance.status_since),
    }
}

/// Tells whether a running agent waits at its prompt for a person, and returns what it said. Those that a person has started
/// are looked after in their own terminal, and headless ones by whoever runs them.
fn idle(facts: Facts<'_>) -> Option<Attention> {
    let instance = facts.instance;
    let is_ours = instance.origin == Origin::Launched
        && instance.session_mode == SessionMode::Interactive
        && instance.owner.is_none();
    if !is_ours || *facts.activity != Activity::Idle || facts.owed_messages > 0 {
        return None;
    }
    let rests = match facts.turn {
        Some(turn) => turn.at.seconds_ago() >= REST_SECONDS,
        None => instance.last_activity.seconds_ago() >= SILENCE_SECONDS,
    };
    rests.then(|| Attention::Idle {
        said: facts.turn.and_then(|turn| turn.said.clone()),
    })
}

/// Tells whether somebody waits for the work of a failed agent. The coder of a lost reviewer is told, and asks for another.
fn is_missed(instance: &Instance) -> bool {
    instance.origin == Origin::Launched && instance.kind != InstanceKind::Review
}

#[cfg(test)]
mod tests;
