//! Every page, with hostile text wherever text can be.

use serde_json::json;
use shared::error::{Code, Error};
use shared::model::{
    ActivityItem, ActivityKind, ContextUse, Ending, EventSource, InstanceKind, MergeMethod,
    Mergeable, MessageKind, MessageState, Priority, PullRequest, PullState, Severity, Status,
    StatusChange, Task, TaskStatus, Timestamp, Tokens, Usage, Verdict, WaitReason,
};
use shared::workflow::{Activity, Rounds, Standing};

use super::super::*;
use super::analysis_samples::analysis_view;
use super::review_samples::review_view;
use crate::load::parse_diff;
use crate::view::*;

pub(super) const HOSTILE: &str =
    "<script>window.pwned=1</script><img src=x onerror=\"window.pwned=1\">'\"&";

pub(super) fn time() -> Timestamp {
    "2026-07-28T12:34:56.789Z".parse().unwrap()
}

pub(super) fn frame() -> Frame {
    Frame {
        section: Section::Board,
        csrf: "token".to_owned(),
        read_only: false,
        fragment: false,
        url: "/".to_owned(),
        version: 7,
        counts: Some(Counts {
            waiting: 1,
            ..Counts::default()
        }),
        done: None,
    }
}

pub(super) fn hostile() -> String {
    HOSTILE.to_owned()
}

pub(super) fn card() -> Card {
    Card {
        id: "work-42-a1".parse().unwrap(),
        kind: InstanceKind::Coding,
        status: Status::UnderReview,
        activity: Activity::WaitingForPerson { on: hostile() },
        column: ColumnKey::Waiting,
        task: Some(TaskRef {
            id: "task-0123abcd".parse().unwrap(),
            title: hostile(),
        }),
        issue_number: Some(42),
        title: hostile(),
        repository: format!("/home/{HOSTILE}"),
        branch: Some(hostile()),
        size: Some(SizeView {
            commit: hostile(),
            additions: 12,
            deletions: 3,
        }),
        approval: Some(ApprovalOf::OlderCommit),
        verdict: Some(Verdict::Approved),
        round: Some(Rounds { used: 2, most: 3 }),
        created_at: time(),
        status_since: time(),
        last_event: Some(LastEvent {
            name: hostile(),
            at: time(),
            failed: true,
        }),
        parent: None,
        reviewer: Some("review-42-a1-r2".parse().unwrap()),
        need: Some(hostile()),
        dialog: Some(DialogView {
            question: hostile(),
            detail: vec![hostile()],
            choices: vec![ChoiceView {
                number: 1,
                label: hostile(),
            }],
            fingerprint: hostile(),
        }),
        owed: 1,
        pr_url: Some(format!("javascript:{HOSTILE}")),
        pr_number: Some(3),
        usage: Some(usage()),
    }
}

/// Models are named by transcripts, which agents can write.
fn usage() -> Usage {
    Usage {
        models: vec![hostile()],
        tokens: Tokens {
            input: 1_200,
            output: 300,
            ..Tokens::default()
        },
        cost_usd: None,
        unpriced_models: vec![hostile()],
        context: Some(ContextUse {
            tokens: 1_500,
            window: None,
            percent: None,
        }),
    }
}

fn ignored() -> IgnoredSettings {
    IgnoredSettings {
        repository: hostile(),
        notice: hostile(),
    }
}

pub(super) fn board_view() -> BoardView {
    BoardView {
        columns: ColumnKey::ALL
            .into_iter()
            .map(|key| Column {
                key,
                title: key.title().to_owned(),
                cards: if key == ColumnKey::Waiting {
                    vec![card()]
                } else {
                    Vec::new()
                },
                more: 0,
            })
            .collect(),
        counts: Counts {
            waiting: 1,
            ..Counts::default()
        },
        repositories: vec![hostile(), "/home/me/shop".to_owned()],
        ignored: vec![ignored()],
        filter: BoardFilter::default(),
        version: 7,
        read_only: false,
    }
}

fn entry() -> TimelineEntry {
    TimelineEntry {
        id: 5,
        at: time(),
        source: EventSource::Tool,
        server: hostile(),
        name: hostile(),
        error_code: Some(hostile()),
        changes: vec![StatusChange {
            instance: "work-42-a1".parse().unwrap(),
            from: Some(Status::Running),
            to: Status::WaitingReview,
        }],
        duration_ms: 12.5,
        parameters: json!({ HOSTILE: HOSTILE, "list": [HOSTILE] }),
        result: Some(json!(HOSTILE)),
    }
}

fn control() -> ControlView {
    ControlView {
        available: true,
        why_not: None,
        controller: Some(Controller {
            name: hostile(),
            until: time(),
        }),
    }
}

fn agent_view() -> AgentView {
    let action = |key| Action {
        key,
        allowed: true,
        why_not: None,
    };
    AgentView {
        card: card(),
        worktree: hostile(),
        has_worktree: true,
        base_branch: hostile(),
        prompt: hostile(),
        note: Some(hostile()),
        ending: Some(Ending {
            exit_status: Some(3),
            signal: None,
            screen: hostile(),
            at: time(),
        }),
        ignored: Some(ignored()),
        timeline: vec![entry()],
        activity: ActivityView {
            items: vec![ActivityItem {
                kind: ActivityKind::Said,
                at: None,
                text: HOSTILE.to_owned(),
            }],
            cursor: Some(HOSTILE.to_owned()),
            more: false,
        },
        messages: vec![MessageView {
            id: "m-0123456789ab".parse().unwrap(),
            kind: MessageKind::Note,
            state: MessageState::Owed,
            from: hostile(),
            excerpt: hostile(),
            at: time(),
            typed_at: None,
            taken_at: None,
            taken_by: None,
            waiting_for: Some(WaitReason::Draft),
        }],
        rounds: vec![RoundView {
            round: 1,
            verdict: Verdict::ChangesRequested,
            coder: "work-42-a1".parse().unwrap(),
            reviewer: Some("review-42-a1-r1".parse().unwrap()),
            commit: hostile(),
            description: hostile(),
            feedback: Some(hostile()),
            findings: vec![FindingView {
                file: hostile(),
                line: Some(3),
                severity: Severity::Blocking,
                message: hostile(),
            }],
            requested_at: time(),
            decided_at: None,
        }],
        attach_command: Some(hostile()),
        actions: vec![
            action(ActionKey::Message),
            action(ActionKey::Review),
            action(ActionKey::Stop),
            action(ActionKey::Discard),
            action(ActionKey::Resume),
            action(ActionKey::Pull),
        ],
        control: control(),
        version: 7,
    }
}

pub(super) fn diff_view() -> DiffView {
    let patch = format!(
        "diff --git a/x.rs b/x.rs\n--- a/x.rs\n+++ b/x.rs\n@@ -1,2 +1,2 @@ {HOSTILE}\n-let a = \"{HOSTILE}\"; \u{202e}\n+let b = \"{HOSTILE}\"; // {HOSTILE}\n {HOSTILE}\n"
    );
    parse_diff(hostile(), hostile(), &patch, true)
}

fn task(id: &str, depends_on: &[&str]) -> TaskView {
    TaskView {
        task: Task {
            id: id.parse().unwrap(),
            title: hostile(),
            description: hostile(),
            priority: Priority::High,
            estimated_hours: Some(1.5),
            status: TaskStatus::Open,
            ready: depends_on.is_empty(),
            depends_on: depends_on.iter().map(|id| id.parse().unwrap()).collect(),
            created_by: None,
            issue_number: Some(4),
            issue_url: Some(format!("javascript:{HOSTILE}")),
            created_at: time(),
            updated_at: time(),
        },
        blocks: Vec::new(),
        agents: vec!["work-42-a1".parse().unwrap()],
        level: 0,
        usage: Some(usage()),
    }
}

fn pull_card() -> PullCard {
    PullCard {
        pull: PullRequest {
            number: 3,
            url: format!("javascript:{HOSTILE}"),
            title: hostile(),
            body: hostile(),
            state: PullState::Open,
            draft: false,
            head_branch: hostile(),
            base_branch: hostile(),
            head_commit: hostile(),
            merge_commit: None,
            created_at: time(),
            updated_at: time(),
            merged_at: None,
            mergeable: None,
        },
        repository: hostile(),
        local: false,
        instance: Some("work-42-a1".parse().unwrap()),
        usage: Some(usage()),
        standing: Some(Standing {
            mergeable: Mergeable::Conflicting,
            obstacle: None,
            base_commit: None,
            conflicts: vec![hostile()],
            behind: Some(2),
            new_commits: 1,
            approval: None,
            needs_approval: true,
        }),
    }
}

fn problem_sample() -> Error {
    Error::new(Code::Internal, HOSTILE).hint(HOSTILE)
}

fn events_view() -> EventsView {
    EventsView {
        events: vec![EventView {
            instance: None,
            entry: entry(),
        }],
        filter: EventFilter {
            name: Some(hostile()),
            ..EventFilter::default()
        },
        next_before: Some(4),
        version: 7,
    }
}

fn launch_view() -> LaunchView {
    LaunchView {
        repositories: vec![hostile()],
        repository: Some(hostile()),
        branches: vec![hostile()],
        ready_tasks: vec![TaskRef {
            id: "task-00000001".parse().unwrap(),
            title: hostile(),
        }],
        default_max_reviews: 3,
        default_require_review: true,
        form: LaunchForm {
            prompt: Some(hostile()),
            branch: Some(hostile()),
            ..LaunchForm::default()
        },
        problem: Some(problem_sample()),
    }
}

fn terminal_view() -> TerminalView {
    TerminalView {
        id: "work-42-a1".to_owned(),
        rows: crate::screen::rows_html(&format!("{HOSTILE}\n\u{1b}[31m{HOSTILE}")),
        scrolled: 1,
        columns: 80,
        height: 1,
        cursor: Cursor {
            x: 0,
            y: 0,
            visible: true,
        },
        title: hostile(),
        alive: true,
        control: control(),
    }
}

/// Every page, with hostile text wherever text can be.
pub(super) fn pages(frame: &Frame) -> Vec<(&'static str, String)> {
    let tasks_view = TasksView {
        repositories: vec![hostile()],
        repository: Some(hostile()),
        tasks: vec![
            task("task-00000001", &[]),
            task("task-00000002", &["task-00000001"]),
        ],
        total: 2_000,
        ready: 1,
        next_offset: Some(100),
        filter: TaskFilter {
            repository: Some(hostile()),
            offset: 100,
        },
        version: 7,
        read_only: false,
    };
    let pulls_view = PullsView {
        repositories: vec![hostile()],
        repository: Some(hostile()),
        forge: hostile(),
        pulls: vec![pull_card()],
        filter: PullFilter::default(),
        problem: Some(problem_sample()),
        version: 7,
    };
    let one = PullView {
        card: pull_card(),
        diff: diff_view(),
        review: Some(review_view(DiffLayout::Unified)),
        can_change: true,
        resolve_hint: Some(HOSTILE.to_owned()),
        methods: vec![MergeMethod::Merge, MergeMethod::Squash],
        version: 7,
    };
    let list = AnalysisList {
        reports: vec![analysis_view("codebase").summary],
    };
    let diff = AgentDiffView {
        card: card(),
        diff: diff_view(),
        review: Some(review_view(DiffLayout::Split)),
    };
    vec![
        ("board", board(&board_view(), frame).into_string()),
        ("agent", agent(&agent_view(), frame).into_string()),
        ("agent_diff", agent_diff(&diff, frame).into_string()),
        ("terminal", terminal(&terminal_view(), frame).into_string()),
        ("tasks", tasks(&tasks_view, frame).into_string()),
        ("pulls", pulls(&pulls_view, frame).into_string()),
        ("pull", pull(&one, frame).into_string()),
        ("analyses", analyses(&list, frame).into_string()),
        (
            "codebase",
            analysis(&analysis_view("codebase"), frame).into_string(),
        ),
        (
            "architecture",
            analysis(&analysis_view("architecture"), frame).into_string(),
        ),
        (
            "issues",
            analysis(&analysis_view("issues"), frame).into_string(),
        ),
        ("events", events(&events_view(), frame).into_string()),
        ("launch", launch(&launch_view(), frame).into_string()),
        ("problem", problem(&problem_sample(), frame).into_string()),
        ("locked", locked().into_string()),
    ]
}
