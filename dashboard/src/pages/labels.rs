//! Labels: words and colours for statuses, verdicts, priorities and events.

use maud::{Markup, html};
pub(super) use shared::model::counted;
use shared::model::{InstanceKind, MessageState, Priority, PullState, Status, TaskStatus, Verdict};
use shared::workflow::Activity;

use super::icons::icon;

/// A small coloured label.
pub(super) fn pill(tone: &str, text: &str) -> Markup {
    html! { span.pill .(tone) { (text) } }
}

pub(super) const fn status_word(status: Status) -> &'static str {
    match status {
        Status::Started => "starting",
        Status::Running => "running",
        Status::WaitingReview => "waiting for review",
        Status::UnderReview => "under review",
        Status::FeedbackReceived => "feedback on its way",
        Status::CreatingPr => "publishing",
        Status::PrCreated => "pull request open",
        Status::PrMerged => "merged",
        Status::PrClosed => "closed",
        Status::Completed => "completed",
        Status::Failed => "failed",
        Status::Terminated => "stopped",
    }
}

pub(super) const fn status_tone(status: Status) -> &'static str {
    match status {
        Status::Started | Status::Running | Status::FeedbackReceived => "working",
        Status::WaitingReview | Status::UnderReview => "review",
        Status::CreatingPr | Status::PrCreated => "published",
        Status::PrMerged | Status::Completed => "done",
        Status::PrClosed | Status::Terminated => "ended",
        Status::Failed => "danger",
    }
}

pub(super) fn status(status: Status) -> Markup {
    pill(status_tone(status), status_word(status))
}

pub(super) const fn kind_icon(kind: InstanceKind) -> &'static str {
    match kind {
        InstanceKind::Coding => "coding",
        InstanceKind::Review => "review",
        InstanceKind::Planning => "planning",
    }
}

pub(super) const fn kind_word(kind: InstanceKind) -> &'static str {
    match kind {
        InstanceKind::Coding => "Coder",
        InstanceKind::Review => "Reviewer",
        InstanceKind::Planning => "Planner",
    }
}

pub(super) fn kind(kind: InstanceKind) -> Markup {
    html! {
        span.kind title=(kind_word(kind)) { (icon(kind_icon(kind))) span.sr { (kind_word(kind)) } }
    }
}

/// What an agent is doing, with a dot that is animated while it is busy.
pub(super) fn activity(activity: &Activity) -> Markup {
    let (tone, word) = match activity {
        Activity::Idle => ("idle", "idle".to_owned()),
        Activity::Busy => ("busy", "busy".to_owned()),
        Activity::WaitingForPerson { on } => ("asks", format!("asks: {on}")),
        Activity::Gone => ("gone", "process gone".to_owned()),
        Activity::TerminalUnreachable => ("gone", "its terminal can't be reached".to_owned()),
        // The status says enough.
        Activity::Unknown | Activity::Ended => return html! {},
    };
    html! { span.activity .(tone) { (word) } }
}

pub(super) fn verdict(verdict: Verdict) -> Markup {
    match verdict {
        Verdict::Pending => pill("review", "under way"),
        Verdict::ChangesRequested => pill("waiting", "changes requested"),
        Verdict::Approved => pill("published", "approved"),
        Verdict::Lost => pill("ended", "lost, not counted"),
    }
}

pub(super) fn message_state(state: MessageState) -> Markup {
    match state {
        MessageState::Owed => pill("waiting", "owed"),
        MessageState::Typed => pill("working", "typed"),
        MessageState::Taken => pill("published", "taken"),
        MessageState::Unconfirmed => pill("waiting", "unconfirmed"),
        MessageState::Dropped => pill("ended", "dropped"),
    }
}

pub(super) fn pull_state(state: PullState, draft: bool) -> Markup {
    match state {
        PullState::Open if draft => pill("ended", "draft"),
        PullState::Open => pill("published", "open"),
        PullState::Merged => pill("done", "merged"),
        PullState::Closed => pill("danger", "closed"),
    }
}

pub(super) fn priority(priority: Priority) -> Markup {
    let tone = match priority {
        Priority::High => "high",
        Priority::Medium => "medium",
        Priority::Low => "low",
    };
    html! { span.priority .(tone) { (priority.as_str()) } }
}

/// Word and colour of a task. Open tasks are either ready or blocked.
pub(super) const fn task_word(status: TaskStatus, ready: bool) -> (&'static str, &'static str) {
    match status {
        TaskStatus::Open if ready => ("ready", "ready"),
        TaskStatus::Open => ("blocked", "blocked"),
        TaskStatus::InProgress => ("in progress", "working"),
        TaskStatus::Done => ("done", "done"),
        TaskStatus::Cancelled => ("cancelled", "ended"),
    }
}

/// The name of an event in words: `request_review` as `request review`.
pub(super) fn event_word(name: &str) -> String {
    name.replace('_', " ")
}

/// What an agent did last, or failed to do, in words; none for events that say nothing to a person.
pub(super) fn did_word(name: &str, failed: bool) -> Option<&'static str> {
    let (did, failed_to) = match name {
        "request_review" => ("asked for a review", "could not ask for a review"),
        "request_changes" => ("requested changes", "could not request changes"),
        "create_pr" | "pr create" => ("published its work", "could not publish its work"),
        "create_task" => ("planned a task", "could not store a task"),
        "analyze_repository" => (
            "analysed the repository",
            "could not analyse the repository",
        ),
        "code" | "plan" | "tdd" => ("was launched", "could not be launched"),
        "review" => ("a person asked for a review", "a review could not start"),
        "send" => ("got a message", "could not get a message"),
        "resume" => ("was resumed", "could not be resumed"),
        "stop" => ("was stopped", "could not be stopped"),
        "UserPromptSubmit" => ("took a prompt", "could not take a prompt"),
        "Stop" => ("ended its turn", "could not end its turn"),
        "SessionStart" => ("started its session", "could not start its session"),
        _ => return None,
    };
    Some(if failed { failed_to } else { did })
}
