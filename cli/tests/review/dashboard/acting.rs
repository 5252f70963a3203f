//! What is done by clicking: launch, message, review, stop, resume, publish, close.

use serde_json::json;
use shared::model::{InstanceId, Status, TaskStatus};
use tests::AgentEnv;
use tests::dashboard::Dashboard;

#[test]
fn an_agent_is_launched_reviewed_published_and_closed_by_clicking() {
    let env = AgentEnv::new("idle", "idle");
    let dashboard = Dashboard::start(&env, &[]);
    let launched = dashboard.post(
        "/api/instances",
        &json!({ "prompt": "Do <i>it</i>", "maxReviews": 1 }),
    );
    assert_eq!(launched.status, 201, "{launched:?}");
    let id: InstanceId = launched.json()["id"].as_str().unwrap().parse().unwrap();
    env.until("it is up", || env.status(&id) == Status::Running);
    let path = |what: &str| format!("/api/instances/{id}/{what}");

    let sent = dashboard
        .post(&path("messages"), &json!({ "text": "Hello" }))
        .good();
    assert_eq!(sent["delivered"], true, "{sent}");
    env.commit(&id, "work");
    let reviewer = dashboard.post(&path("review"), &json!({})).good();
    assert_eq!(reviewer["kind"], "review");
    let again = dashboard
        .post(&path("review"), &json!({ "description": "x" }))
        .good();
    assert_eq!(again["id"], reviewer["id"], "the same review");
    let reviewer: InstanceId = reviewer["id"].as_str().unwrap().parse().unwrap();
    assert_eq!(
        dashboard
            .post(&path("pull"), &json!({ "title": "t", "description": "d" }))
            .code(),
        "ILLEGAL_STATE"
    );
    let stopped = dashboard
        .post(&format!("/api/instances/{reviewer}/stop"), &json!({}))
        .good();
    assert_eq!(stopped["card"]["status"], "terminated");
    env.until("the coder works again", || {
        env.status(&id) == Status::Running
    });

    let pull = dashboard
        .post(
            &path("pull"),
            &json!({ "title": "The work", "description": "All of it." }),
        )
        .good();
    assert_eq!(pull["prNumber"], 1);
    assert_eq!(env.status(&id), Status::PrCreated);
    let closed = dashboard.post("/api/pulls/1/close", &json!({})).good();
    assert_eq!(closed["state"], "closed");
    assert_eq!(env.status(&id), Status::PrClosed);
    let twice = dashboard.post("/api/pulls/1/merge", &json!({}));
    assert_eq!(
        (twice.status, twice.code().as_str()),
        (409, "PULL_REQUEST_NOT_OPEN")
    );
    let names: Vec<_> = ["code", "send", "review", "stop", "pr create", "pr close"]
        .iter()
        .filter(|name| {
            !env.recorded(name)
                .iter()
                .any(|event| event.server == "dashboard")
        })
        .collect();
    assert!(names.is_empty(), "not recorded: {names:?}");
}

#[test]
fn the_form_is_refused_as_the_command_line_refuses() {
    let env = AgentEnv::new("idle", "idle");
    let dashboard = Dashboard::start(&env, &[]);
    for (form, code) in [
        (json!({}), "INVALID_ARGUMENTS"),
        (json!({ "prompt": "  " }), "INVALID_ARGUMENTS"),
        (
            json!({ "prompt": "x", "maxReviews": 101 }),
            "INVALID_ARGUMENTS",
        ),
        (json!({ "prompt": "x", "issue": 0 }), "INVALID_ARGUMENTS"),
        (
            json!({ "prompt": "x", "issue": 1, "task": "task-1" }),
            "INVALID_ARGUMENTS",
        ),
        (json!({ "task": "task-12345678" }), "TASK_NOT_FOUND"),
        (json!({ "task": "../x" }), "INVALID_ARGUMENTS"),
        (
            json!({ "prompt": "x", "branch": "a..b" }),
            "INVALID_ARGUMENTS",
        ),
        (json!({ "prompt": "x", "branch": "main" }), "BRANCH_EXISTS"),
        (
            json!({ "prompt": "x", "base": "nowhere" }),
            "BRANCH_NOT_FOUND",
        ),
        (
            json!({ "prompt": "x", "repository": "/etc" }),
            "REPOSITORY_NOT_FOUND",
        ),
        (
            json!({ "kind": "plan", "branch": "b" }),
            "INVALID_ARGUMENTS",
        ),
        (
            json!({ "kind": "plan", "base": "main" }),
            "INVALID_ARGUMENTS",
        ),
        (json!({ "issue": 7 }), "FORGE_NOT_CONFIGURED"),
    ] {
        let answer = dashboard.post("/api/instances", &form);
        assert_eq!(answer.code(), code, "{form}: {answer:?}");
    }
    assert_eq!(dashboard.get("/api/instances").good(), json!([]));

    // Without a script the form comes back, with what was filled in.
    let cookie = dashboard.cookie();
    let csrf = dashboard.csrf(&cookie);
    let headers = [
        ("cookie", cookie.as_str()),
        ("content-type", "application/x-www-form-urlencoded"),
        ("accept", "text/html"),
    ];
    let body = format!("csrf={csrf}&kind=code&prompt=Keep+these+words&base=nowhere&issue=");
    let page = dashboard.raw("POST", "/api/instances", &headers, &body);
    assert_eq!(page.status, 404, "{page:?}");
    assert!(page.body.contains("Keep these words") && page.body.contains("nowhere"));

    // A planner has no base: what was filled in before it was chosen is hidden, and not used.
    let form = dashboard.raw("GET", "/launch", &headers[..1], "").body;
    for (field, classes) in [
        ("Base branch", "only-code not-tdd"),
        ("Work on branch", "only-code"),
    ] {
        let label = format!("<label class=\"{classes}\">{field}");
        assert!(form.contains(&label), "{form}");
    }
    assert!(
        form.contains("<details class=\"more-options not-plan\""),
        "{form}"
    );
    let body =
        format!("csrf={csrf}&kind=plan&prompt=&issue=7&branch=&base=main&requireReview=true");
    let launched = dashboard.raw("POST", "/api/instances", &headers, &body);
    assert_eq!(launched.status, 303, "{launched:?}");
    let page = launched.header("location").unwrap();
    assert!(
        page.starts_with("/agents/plan-") && page.ends_with("?done=launched"),
        "{page}"
    );
    assert_eq!(dashboard.raw("GET", page, &headers[..1], "").status, 200);
}

#[test]
fn a_task_is_begun_and_a_stopped_agent_brought_back() {
    let env = AgentEnv::new("idle", "idle");
    let planner = env.json(&["plan", "Plan it"]);
    let planner: InstanceId = planner["id"].as_str().unwrap().parse().unwrap();
    env.until("the planner is up", || {
        env.status(&planner) == Status::Running
    });
    let task = |title: &str, before: &[&str]| {
        let arguments = json!({ "taskTitle": title, "taskDescription": "It.", "priority": "high", "dependsOn": before });
        let made = env.call(&planner, "create_task", &arguments);
        made["result"]["taskId"].as_str().unwrap().to_owned()
    };
    let first = task("First <task>", &[]);
    let second = task("Second", &[&first]);
    let dashboard = Dashboard::start(&env, &[]);
    let tasks = dashboard.get("/api/tasks").good();
    let tasks = tasks["tasks"].as_array().unwrap();
    assert_eq!(
        (&tasks[0]["id"], &tasks[0]["ready"], &tasks[0]["level"]),
        (&json!(first), &json!(true), &json!(0))
    );
    assert_eq!(tasks[0]["blocks"], json!([second]));
    assert_eq!(tasks[1]["level"], 1);
    let waits = dashboard.post("/api/instances", &json!({ "task": second }));
    assert_eq!(
        (waits.status, waits.code().as_str()),
        (409, "TASK_NOT_READY")
    );

    let agent = dashboard
        .post("/api/instances", &json!({ "task": first }))
        .good();
    assert_eq!(agent["task"]["title"], "First <task>");
    let id: InstanceId = agent["id"].as_str().unwrap().parse().unwrap();
    env.until("it is up", || env.status(&id) == Status::Running);
    let path = |what: &str| format!("/api/instances/{id}/{what}");
    assert_eq!(
        dashboard.post(&path("resume"), &json!({})).code(),
        "ILLEGAL_STATE"
    );
    dashboard.post(&path("stop"), &json!({})).good();
    let late = dashboard.post(&path("messages"), &json!({ "text": "x" }));
    assert_eq!((late.status, late.code().as_str()), (409, "AGENT_ENDED"));
    let back = dashboard.post(&path("resume"), &json!({})).good();
    assert_eq!(back["column"], "working");
    env.until("it is up again", || env.status(&id) == Status::Running);
    let repository = env.path("repo").to_string_lossy().into_owned();
    let first: shared::model::TaskId = first.parse().unwrap();
    let task = env
        .store()
        .read_now(|r| r.task(&repository, &first))
        .unwrap();
    assert_eq!(task.status, TaskStatus::InProgress);
}
