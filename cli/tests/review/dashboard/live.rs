//! What the board and the agents' pages tell while a real loop goes from start to merge.

use std::time::Duration;

use serde_json::{Value, json};
use shared::model::{Note, Priority, Status};
use shared::store::NewTask;
use tests::AgentEnv;
use tests::dashboard::Dashboard;

/// Returns the card of an agent and the column that it is in.
fn card(dashboard: &Dashboard, id: &str) -> Option<(String, Value)> {
    let board = dashboard.get("/api/board").good();
    for column in board["columns"].as_array().unwrap() {
        let cards = column["cards"].as_array().unwrap();
        if let Some(card) = cards.iter().find(|card| card["id"] == id) {
            return Some((column["key"].as_str().unwrap().to_owned(), card.clone()));
        }
    }
    None
}

#[test]
fn the_board_follows_a_loop_from_start_to_merge() {
    let env = AgentEnv::new("idle", "idle");
    let dashboard = Dashboard::start(&env, &[]);
    let coder = env.coder(&["--max-reviews", "2"]);
    let id = coder.as_str();
    let is_in = |column: &str| card(&dashboard, id).is_some_and(|(key, _)| key == column);
    assert!(is_in("working"));
    assert_eq!(card(&dashboard, id).unwrap().1["title"], "Do the work");

    env.commit(&coder, "first try");
    let asked = env.call(
        &coder,
        "request_review",
        &json!({ "description": "Look at this." }),
    );
    assert_eq!(asked["error"], false, "{asked}");
    env.until("the coder is in review", || is_in("review"));
    let (_, shown) = card(&dashboard, id).unwrap();
    let reviewer = shown["reviewer"].as_str().unwrap().to_owned();
    assert_eq!(shown["round"], json!({ "used": 1, "most": 2 }));
    assert_eq!(shown["lastEvent"]["name"], "request_review", "{shown}");
    let (column, of_reviewer) = card(&dashboard, &reviewer).unwrap();
    assert_eq!(
        (column.as_str(), &of_reviewer["parent"]),
        ("review", &json!(id))
    );

    let reviewer: shared::model::InstanceId = reviewer.parse().unwrap();
    env.until("the reviewer is up", || {
        env.status(&reviewer) == Status::Running
    });
    let findings = json!([{ "file": "work.txt", "line": 1, "severity": "blocking", "message": "<b>wrong</b>" }]);
    env.call(
        &reviewer,
        "request_changes",
        &json!({ "feedback": "Not yet.", "findings": findings }),
    );
    env.until("the coder has the feedback", || is_in("working"));
    let agent = dashboard.get(&format!("/api/instances/{id}")).good();
    assert_eq!(agent["rounds"][0]["verdict"], "changes_requested");
    assert_eq!(agent["rounds"][0]["findings"][0]["message"], "<b>wrong</b>");
    assert_eq!(agent["messages"][0]["kind"], "feedback");
    let page = dashboard.raw(
        "GET",
        &format!("/agents/{id}"),
        &[("authorization", &format!("Bearer {}", dashboard.token))],
        "",
    );
    assert_eq!(page.status, 200);
    assert!(
        !page.body.contains("<b>wrong</b>"),
        "text of agents is escaped"
    );
    assert!(page.body.contains("&lt;b&gt;wrong&lt;/b&gt;"));

    let diff = dashboard.get(&format!("/api/instances/{id}/diff")).good();
    assert_eq!(diff["diff"]["files"][0]["path"], "work.txt", "{diff}");

    env.create_pr(&coder, "The work");
    env.until("it is published", || is_in("published"));
    let pulls = dashboard.get("/api/pulls?state=open").good();
    assert_eq!(pulls["pulls"][0]["instance"], id, "{pulls}");
    let pull = dashboard.get("/api/pulls/1").good();
    assert_eq!(pull["diff"]["files"][0]["path"], "work.txt");
    let merged = dashboard
        .post("/api/pulls/1/merge", &json!({ "method": "squash" }))
        .good();
    assert_eq!(merged["state"], "merged");
    assert!(is_in("ended"));
    assert_eq!(env.status(&coder), Status::PrMerged);
    let events = dashboard.get("/api/events?name=pr%20merge").good();
    assert_eq!(events["events"][0]["server"], "dashboard", "{events}");
    assert_eq!(events["events"][0]["instance"], id);
}

#[test]
fn a_change_is_announced_within_a_quarter_of_a_second() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    let dashboard = Dashboard::start(&env, &[]);
    let mut changes = dashboard.stream("/api/changes");
    let (name, hello) = changes.next().unwrap();
    assert_eq!(name, "hello");
    let began = hello["version"].as_u64().unwrap();
    // The first look at what agents do is a change by itself.
    let (first, _) = changes.until("the first look", |name, _| name == "change");
    let mut version = first["version"].as_u64().unwrap();
    assert!(version > began);
    let mut quickest = Duration::MAX;
    for round in 0..5 {
        let store = env.store();
        let (id, note) = (coder.clone(), format!("note {round}"));
        store
            .write_now(|w| w.set_note(&id, &Note::because(note.as_str())))
            .unwrap();
        let (change, took) = changes.until("a change", |name, data| {
            let newer = data["version"].as_u64().unwrap() > version;
            name == "change" && newer
        });
        version = change["version"].as_u64().unwrap();
        quickest = quickest.min(took);
        let agent = dashboard.get(&format!("/api/instances/{coder}")).good();
        assert_eq!(agent["note"], note.as_str());
    }
    // On a machine with other work each may be late, but not all.
    assert!(quickest < Duration::from_millis(250), "{quickest:?}");
}

#[test]
fn an_agent_that_dies_is_found_while_somebody_looks() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    let dashboard = Dashboard::start(&env, &[]);
    let mut changes = dashboard.stream("/api/changes");
    assert_eq!(changes.next().unwrap().0, "hello");
    env.tmux(&["kill-session", "-t", &format!("={coder}")]);
    env.until("it is known to have failed", || {
        env.status(&coder) == Status::Failed
    });
    changes.until("that is announced", |name, _| name == "change");
    env.until("the board shows it", || {
        card(&dashboard, coder.as_str()).is_some_and(|(key, _)| key == "waiting")
    });
}

#[test]
fn lists_are_filtered_and_paged() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    let dashboard = Dashboard::start(&env, &[]);
    let none = dashboard.get("/api/instances?kind=planning").good();
    assert_eq!(none, json!([]));
    let all = dashboard.get("/api/instances?kind=coding").good();
    assert_eq!(all[0]["id"], coder.as_str());
    let store = env.store();
    store
        .write_now(|w| {
            for number in 0..150 {
                let mut event = shared::store::NewEvent::system(&coder, "probe", Vec::new());
                event.error_code = (number % 10 == 0).then(|| "PROBE".to_owned());
                w.insert_event(&event)?;
            }
            Ok(())
        })
        .unwrap();
    let path = format!("/api/events?instance={coder}&name=probe");
    let first = dashboard.get(&path).good();
    assert_eq!(first["events"].as_array().unwrap().len(), 100);
    let before = &first["nextBefore"];
    let second = dashboard.get(&format!("{path}&before={before}")).good();
    assert_eq!(second["events"].as_array().unwrap().len(), 50);
    assert!(second["nextBefore"].is_null());
    let errors = dashboard.get("/api/events?errors=true&name=probe").good();
    assert_eq!(errors["events"].as_array().unwrap().len(), 15);
    let wrong = dashboard.get("/api/events?before=soon");
    assert_eq!(
        (wrong.status, wrong.code().as_str()),
        (400, "INVALID_ARGUMENTS")
    );
    let metrics = dashboard.get("/metrics").body;
    assert!(
        metrics.contains("codex_instances{status=\"running\"} 1"),
        "{metrics}"
    );
    let counted = "codex_call_duration_seconds_count{source=\"system\",server=\"claude-codex\",name=\"probe\",outcome=\"ok\"} 135";
    assert!(metrics.contains(counted), "{metrics}");
    // Asked again, nothing is counted twice.
    assert!(dashboard.get("/metrics").body.contains(counted));
    for line in metrics.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(name.starts_with("codex_"), "{line}");
        assert!(value.parse::<f64>().is_ok(), "{line}");
    }
}

#[test]
fn what_is_ignored_of_a_clone_is_said_where_one_looks() {
    let env = AgentEnv::new("idle", "idle");
    std::fs::create_dir_all(env.path("repo/.claude-codex/prompts")).unwrap();
    std::fs::write(
        env.path("repo/.claude-codex/config.toml"),
        "[agent]\nallow = [\"Bash(<script>)\"]\n",
    )
    .unwrap();
    let name = "repo/.claude-codex/prompts/<script>.md";
    std::fs::write(env.path(name), "Obey").unwrap();
    let dashboard = Dashboard::start(&env, &[]);
    let coder = env.coder(&[]);
    let board = dashboard.get("/api/board").good();
    let ignored = board["ignored"].as_array().unwrap();
    assert_eq!(ignored.len(), 1, "{board}");
    assert_eq!(ignored[0]["repository"], env.path("repo").to_str().unwrap());
    let notice = ignored[0]["notice"].as_str().unwrap();
    assert!(
        notice.contains("agent.allow") && notice.contains("claude-codex trust"),
        "{notice}"
    );
    let agent = dashboard.get(&format!("/api/instances/{coder}")).good();
    assert_eq!(agent["ignored"], ignored[0]);
    let cookie = dashboard.cookie();
    for page in ["/".to_owned(), format!("/agents/{coder}")] {
        let shown = dashboard.raw("GET", &page, &[("cookie", &cookie)], "");
        assert!(shown.body.contains("agent.allow"), "{page}: {}", shown.body);
        assert!(!shown.body.contains("<script>"), "{page}");
    }
    env.text(&["trust", "--yes"]);
    let board = dashboard.get("/api/board").good();
    assert_eq!(board["ignored"], json!([]));
}

#[test]
fn tasks_come_in_pages() {
    let env = AgentEnv::new("idle", "idle");
    let repository = env.git(&["rev-parse", "--show-toplevel"]).trim().to_owned();
    let filled = env.store().write_now(|w| {
        for number in 0..150 {
            w.insert_task(&NewTask {
                repository: repository.clone(),
                title: format!("Title {number}"),
                description: "Do it".to_owned(),
                priority: Priority::Low,
                estimated_hours: None,
                depends_on: Vec::new(),
                created_by: None,
            })?;
        }
        Ok(())
    });
    filled.unwrap();
    let dashboard = Dashboard::start(&env, &[]);
    let first = dashboard.get("/api/tasks").good();
    let many = |page: &Value| page["tasks"].as_array().unwrap().len();
    assert_eq!(
        (
            many(&first),
            &first["total"],
            &first["ready"],
            &first["nextOffset"]
        ),
        (100, &json!(150), &json!(150), &json!(100))
    );
    let second = dashboard.get("/api/tasks?offset=100").good();
    assert_eq!((many(&second), &second["nextOffset"]), (50, &Value::Null));
    let beyond = dashboard.get("/api/tasks?offset=1000").good();
    assert_eq!((many(&beyond), &beyond["nextOffset"]), (0, &Value::Null));
    let wrong = dashboard.get("/api/tasks?offset=-1");
    assert_eq!(
        (wrong.status, wrong.code().as_str()),
        (400, "INVALID_ARGUMENTS")
    );
    let page = dashboard.get("/tasks").body;
    assert!(page.contains("offset=100") && page.contains("150 tasks, 150 ready"));
    assert!(dashboard.get("/tasks?offset=100").body.contains("offset=0"));
}
