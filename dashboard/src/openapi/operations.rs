//! The operations of the `OpenAPI` document, one entry per route and method.

use schemars::{Schema, json_schema};
use serde_json::{Value, json};

use shared::model::Task;

use super::{Schemas, given, taken};
use crate::api::{
    AnswerReply, AnswerRequest, ChangeRequest, ControlReply, ControlRequest, Health, KeysRequest,
    LaunchReply, MAX_HISTORY, MergeRequest, MessageRequest, MoveRequest, PublishReply,
    PublishRequest, ReviewRequest, SentReply, StopReply, TaskRequest,
};
use crate::view::{
    ActivityView, AgentDiffView, AgentView, AnalysisList, AnalysisView, BoardView, Card,
    EventsView, LaunchForm, PullCard, PullView, PullsView, TasksView, TerminalView,
};
use crate::webhook::WebhookReply;

type Make = fn(&mut Schemas) -> Schema;

pub(super) struct Operation {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Option<Body>,
    pub(super) answers: Vec<(u16, Answer)>,
    pub(super) safety: Safety,
}

pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) place: &'static str,
    pub(super) description: &'static str,
    pub(super) schema: Value,
}

pub(super) struct Body {
    pub(super) schema: Make,
    pub(super) required: bool,
}

pub(super) enum Answer {
    Json(&'static str, Make),
    Text(&'static str, &'static str),
    Nothing(&'static str),
}

/// Whether an operation needs the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Safety {
    /// No: it reveals nothing, or is signed.
    Open,
    Token,
}

impl Operation {
    pub(super) fn get(path: &'static str, name: &'static str, summary: &'static str) -> Self {
        Self::new("get", path, name, summary)
    }

    pub(super) fn post(path: &'static str, name: &'static str, summary: &'static str) -> Self {
        Self::new("post", path, name, summary)
    }

    fn patch(path: &'static str, name: &'static str, summary: &'static str) -> Self {
        Self::new("patch", path, name, summary)
    }

    pub(super) fn delete(path: &'static str, name: &'static str, summary: &'static str) -> Self {
        Self::new("delete", path, name, summary)
    }

    fn new(
        method: &'static str,
        path: &'static str,
        name: &'static str,
        summary: &'static str,
    ) -> Self {
        Self {
            method,
            path,
            name,
            summary,
            parameters: Vec::new(),
            body: None,
            answers: Vec::new(),
            safety: Safety::Token,
        }
    }

    pub(super) fn answers(mut self, status: u16, what: &'static str, schema: Make) -> Self {
        self.answers.push((status, Answer::Json(what, schema)));
        self
    }

    fn says(mut self, what: &'static str, kind: &'static str) -> Self {
        self.answers.push((200, Answer::Text(what, kind)));
        self
    }

    fn does(mut self, what: &'static str) -> Self {
        self.answers.push((204, Answer::Nothing(what)));
        self
    }

    pub(super) fn takes(mut self, schema: Make, required: bool) -> Self {
        self.body = Some(Body { schema, required });
        self
    }

    fn asks(mut self, name: &'static str, description: &'static str, schema: Value) -> Self {
        self.parameters.push(Parameter {
            name,
            place: "query",
            description,
            schema,
        });
        self
    }

    fn header(mut self, name: &'static str, description: &'static str) -> Self {
        self.parameters.push(Parameter {
            name,
            place: "header",
            description,
            schema: json!({ "type": "string", "maxLength": 200 }),
        });
        self
    }

    pub(super) fn of_repository(self) -> Self {
        self.asks(
            "repository",
            "Path of the repository; by default the one that the dashboard was started in.",
            json!({ "type": "string" }),
        )
    }

    fn of_part(self) -> Self {
        let since = json!({ "type": "string", "pattern": "^(person-)?[0-9]{1,9}$" });
        let commit = json!({ "type": "string", "pattern": "^[0-9a-fA-F]{7,64}$" });
        self.asks(
            "since",
            "Only what changed since a round: its number, or `person-1` for a round of a person.",
            since,
        )
        .asks("commit", "Only one commit of the work.", commit)
        .asks(
            "uncommitted",
            "The worktree as it is, with what is not committed.",
            json!({ "type": "boolean" }),
        )
    }

    fn by_lease(self) -> Self {
        self.header("x-codex-lease", "The lease on the terminal.")
    }

    fn for_all(mut self) -> Self {
        self.safety = Safety::Open;
        self
    }
}

fn of_agents(operation: Operation) -> Operation {
    let kinds = json!({ "type": "string", "enum": ["coding", "review", "planning"] });
    operation
        .asks(
            "repository",
            "Only agents of this repository.",
            json!({ "type": "string" }),
        )
        .asks("kind", "Only agents of this kind.", kinds)
}

pub(super) fn all() -> Vec<Operation> {
    let mut all = about_itself();
    all.extend(looking());
    all.extend(lists());
    all.extend(acting_on_tasks());
    all.extend(acting());
    all.extend(acting_on_pulls());
    all
}

fn about_itself() -> Vec<Operation> {
    let get = Operation::get;
    vec![
        get("/healthz", "health", "Checks the health of the dashboard")
            .answers(200, "The dashboard works.", given::<Health>)
            .for_all(),
        get("/metrics", "metrics", "Returns Prometheus metrics").says(
            "Metrics in the text format.",
            "text/plain; version=0.0.4; charset=utf-8",
        ),
        get("/api/openapi.json", "describe", "Returns this description").answers(
            200,
            "OpenAPI 3.1.",
            |_| json_schema!({ "type": "object" }),
        ),
        get(
            "/api/changes",
            "changes",
            "Streams a number that goes up with every change",
        )
        .says(
            "Server-sent events: `hello`, then `change`, each with `{\"version\": N}`.",
            "text/event-stream",
        ),
    ]
}

fn looking() -> Vec<Operation> {
    let get = Operation::get;
    let history = json!({ "type": "integer", "minimum": 0, "maximum": MAX_HISTORY });
    vec![
        of_agents(get(
            "/api/board",
            "board",
            "Returns all agents, in columns by what they need",
        ))
        .answers(200, "The board.", given::<BoardView>),
        of_agents(get(
            "/api/instances",
            "instances",
            "Lists agents, the oldest first",
        ))
        .answers(200, "Agents.", given::<Vec<Card>>),
        get(
            "/api/instances/{id}",
            "instance",
            "Returns one agent with its timeline, messages and reviews",
        )
        .answers(200, "The agent.", given::<AgentView>),
        get(
            "/api/instances/{id}/diff",
            "diff",
            "Returns what an agent has changed",
        )
        .of_part()
        .answers(200, "Files, hunks and lines.", given::<AgentDiffView>),
        get(
            "/api/instances/{id}/activity",
            "activity",
            "Returns what an agent was told, said, ran and changed",
        )
        .asks(
            "after",
            "The cursor of the page before; without it, the last items.",
            json!({ "type": "string", "maxLength": 1_000 }),
        )
        .asks(
            "limit",
            "How many items, about.",
            json!({ "type": "integer", "minimum": 1, "maximum": 1_000, "default": 200 }),
        )
        .answers(
            200,
            "A page of activity, oldest first.",
            given::<ActivityView>,
        ),
        get(
            "/api/instances/{id}/screen",
            "screen",
            "Returns what an agent's terminal shows",
        )
        .asks(
            "history",
            "How many lines of scrollback to include.",
            history,
        )
        .answers(200, "The screen.", given::<TerminalView>),
        get(
            "/api/instances/{id}/terminal",
            "terminal",
            "Streams what an agent's terminal shows",
        )
        .says(
            "Server-sent events: `screen` with changed rows, `gone` at the end.",
            "text/event-stream",
        ),
    ]
}

fn lists() -> Vec<Operation> {
    let get = Operation::get;
    let states = json!({ "type": "string", "enum": ["open", "closed", "merged"] });
    let id = json!({ "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$" });
    let number = json!({ "type": "integer", "minimum": 0, "maximum": i64::MAX });
    let offset = json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX });
    vec![
        get(
            "/api/tasks",
            "tasks",
            "Lists the tasks of a repository, those that can begin first",
        )
        .of_repository()
        .asks("offset", "How many of the first to leave out.", offset)
        .answers(200, "A page of tasks.", given::<TasksView>),
        get(
            "/api/pulls",
            "pulls",
            "Lists the pull requests of a repository, the newest first",
        )
        .of_repository()
        .asks("state", "Only those in this state.", states)
        .answers(200, "Pull requests.", given::<PullsView>),
        get(
            "/api/pulls/{number}",
            "pull",
            "Returns one pull request with what it changes",
        )
        .of_repository()
        .of_part()
        .answers(200, "The pull request.", given::<PullView>),
        get(
            "/api/events",
            "events",
            "Lists what happened, the newest first",
        )
        .asks("instance", "Only to this agent.", id)
        .asks("name", "Only of this name.", json!({ "type": "string" }))
        .asks("errors", "Only failures.", json!({ "type": "boolean" }))
        .asks("before", "Only what happened before this event.", number)
        .answers(200, "A page of events.", given::<EventsView>),
        get(
            "/api/analysis",
            "analyses",
            "Lists the stored reports, the newest first",
        )
        .answers(200, "Reports.", given::<AnalysisList>),
        get("/api/analysis/{id}", "analysis", "Returns one report").answers(
            200,
            "The report.",
            given::<AnalysisView>,
        ),
    ]
}

fn acting_on_tasks() -> Vec<Operation> {
    let (post, patch) = (Operation::post, Operation::patch);
    vec![
        post("/api/tasks", "addTask", "Plans a task")
            .takes(taken::<TaskRequest>, true)
            .answers(201, "It is planned.", given::<Task>),
        patch("/api/tasks/{id}", "editTask", "Changes a task")
            .takes(taken::<TaskRequest>, true)
            .answers(200, "It is changed.", given::<Task>),
        post("/api/tasks/{id}", "postTask", "Changes a task, for forms")
            .takes(taken::<TaskRequest>, true)
            .answers(200, "It is changed.", given::<Task>),
        post("/api/tasks/{id}/close", "closeTask", "Marks a task as done")
            .takes(taken::<MoveRequest>, false)
            .answers(200, "It is done.", given::<Task>),
        post(
            "/api/tasks/{id}/reopen",
            "reopenTask",
            "Opens a done or cancelled task again",
        )
        .takes(taken::<MoveRequest>, false)
        .answers(200, "It is open.", given::<Task>),
        post("/api/tasks/{id}/cancel", "cancelTask", "Gives a task up")
            .takes(taken::<MoveRequest>, false)
            .answers(200, "It is cancelled.", given::<Task>),
    ]
}

fn acting() -> Vec<Operation> {
    let (post, delete) = (Operation::post, Operation::delete);
    vec![
        post("/api/instances", "launch", "Launches an agent")
            .takes(taken::<LaunchForm>, true)
            .answers(201, "It is at work.", given::<LaunchReply>),
        delete(
            "/api/instances/{id}",
            "end",
            "Ends an agent; unsaved work is kept",
        )
        .answers(200, "It has ended.", given::<StopReply>),
        post(
            "/api/instances/{id}/messages",
            "message",
            "Sends an agent a message",
        )
        .takes(taken::<MessageRequest>, true)
        .answers(200, "It has it, or will get it.", given::<SentReply>),
        post(
            "/api/instances/{id}/answer",
            "answer",
            "Answers the dialog that an agent waits on",
        )
        .takes(taken::<AnswerRequest>, true)
        .answers(200, "It is answered.", given::<AnswerReply>),
        post(
            "/api/instances/{id}/review",
            "review",
            "Starts a reviewer on an agent's work",
        )
        .takes(taken::<ReviewRequest>, false)
        .answers(200, "The reviewer.", given::<Card>),
        post(
            "/api/instances/{id}/stop",
            "stop",
            "Ends an agent; unsaved work is kept",
        )
        .answers(200, "It has ended.", given::<StopReply>),
        post(
            "/api/instances/{id}/resume",
            "resume",
            "Brings a failed or stopped agent back",
        )
        .answers(200, "It is back.", given::<Card>),
        post(
            "/api/instances/{id}/pull",
            "publish",
            "Opens a pull request of an agent's work",
        )
        .takes(taken::<PublishRequest>, true)
        .answers(200, "It is open.", given::<PublishReply>),
        post(
            "/api/instances/{id}/control",
            "takeControl",
            "Takes control of a terminal, or keeps it",
        )
        .by_lease()
        .takes(taken::<ControlRequest>, false)
        .answers(200, "You have it.", given::<ControlReply>),
        delete(
            "/api/instances/{id}/control",
            "releaseControl",
            "Gives control of a terminal back",
        )
        .by_lease()
        .does("You don't have it."),
        post("/api/instances/{id}/keys", "keys", "Types into a terminal")
            .by_lease()
            .takes(taken::<KeysRequest>, true)
            .does("The terminal has it."),
        post("/webhooks/github", "webhook", "Takes a webhook of GitHub's")
            .header("x-hub-signature-256", "HMAC-SHA256 of the body.")
            .header("x-github-event", "What it is about.")
            .header("x-github-delivery", "Its own id.")
            .takes(|_| json_schema!({ "type": "object" }), true)
            .answers(200, "It changes nothing.", given::<WebhookReply>)
            .answers(202, "It will be followed.", given::<WebhookReply>)
            .for_all(),
    ]
}

fn acting_on_pulls() -> Vec<Operation> {
    let post = Operation::post;
    vec![
        post(
            "/api/pulls/{number}/merge",
            "merge",
            "Merges a pull request",
        )
        .takes(taken::<MergeRequest>, false)
        .answers(200, "It is merged.", given::<PullCard>),
        post(
            "/api/pulls/{number}/close",
            "close",
            "Closes a pull request",
        )
        .takes(taken::<ChangeRequest>, false)
        .answers(200, "It is closed.", given::<PullCard>),
        post(
            "/api/pulls/{number}/update",
            "update",
            "Brings a pull request up to its branch",
        )
        .takes(taken::<ChangeRequest>, false)
        .answers(200, "It has every commit of its branch.", given::<PullCard>),
        post(
            "/api/pulls/{number}/resolve",
            "resolve",
            "Sends the agent of a conflicting pull request back to resolve the conflict",
        )
        .takes(taken::<ChangeRequest>, false)
        .answers(200, "The agent is told.", given::<PullCard>),
        post(
            "/api/pulls/{number}/reopen",
            "reopen",
            "Opens a closed pull request again",
        )
        .takes(taken::<ChangeRequest>, false)
        .answers(200, "It is open.", given::<PullCard>),
    ]
}
