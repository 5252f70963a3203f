//! `analyze_repository` over stdio: every scope and depth, the cache, the complete report, progress, cancelling.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::time::{Duration, Instant};

use scripted_github::{Issue, ScriptedGithub, TOKEN};
use serde_json::{Value, json};
use tests::{Client, Era, Server, TestEnv, WAIT_TIMEOUT};

const SCOPES: [&str; 4] = ["architecture", "codebase", "dependencies", "issues"];
const DEPTHS: [&str; 3] = ["shallow", "medium", "deep"];

/// Bytes of an answer: 8,000 tokens of three bytes, as JSON has them.
const BUDGET: usize = 24_000;

pub(crate) fn planner(env: &TestEnv) -> Client {
    Client::start(env, Server::Planning, Era::Legacy)
}

fn write(root: &Path, path: &str, text: impl AsRef<[u8]>) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn commit(env: &TestEnv) {
    env.git(&["add", "-A"]);
    env.git(&["commit", "-q", "-m", "change"]);
}

/// A repository with something to say for every scope.
pub(crate) fn project() -> TestEnv {
    let env = TestEnv::new();
    let root = env.repository();
    write(root, "README.md", "# Greeter\n\nGreets people.\n");
    write(
        root,
        "Cargo.toml",
        "[workspace]\nmembers = [\"core\", \"app\"]\n[workspace.dependencies]\nunused = \"2\"\n",
    );
    write(
        root,
        "core/Cargo.toml",
        "[package]\nname = \"core\"\nversion = \"0.1.0\"\n[dependencies]\nserde = \"1\"\nperhaps = \"2\"\n",
    );
    write(
        root,
        "core/src/lib.rs",
        "use serde::Serialize;\n// TODO: say it in other languages\npub fn greet(name: &str) -> String {\n    if name.is_empty() { String::new() } else { format!(\"Hello, {name}\") }\n}\n",
    );
    write(
        root,
        "app/Cargo.toml",
        "[package]\nname = \"app\"\nversion = \"0.1.0\"\n[dependencies]\ncore = { path = \"../core\" }\nserde = \"=0.9\"\n",
    );
    write(
        root,
        "app/src/main.rs",
        "fn main() {\n    core::greet(\"you\");\n}\n",
    );
    write(
        root,
        "web/package.json",
        r#"{"name": "web", "scripts": {"test": "jest"}, "dependencies": {"react": "*"}}"#,
    );
    write(root, "web/index.ts", "export const a = 1;\n");
    commit(&env);
    env
}

/// A repository that takes a while to look at closely, with lists longer than an answer.
fn large() -> TestEnv {
    let env = TestEnv::new();
    let root = env.repository();
    for number in 0..600 {
        let mut text = format!("use crate::m{}::f;\n", (number + 7) % 40);
        for line in 0..20 {
            text.push_str(&format!(
                "// FIXME: case {line} of {number} is wrong\npub fn f{line}_{number}(x: u8) -> u8 {{ if x > {line} {{ x }} else {{ 0 }} }}\n"
            ));
        }
        write(root, &format!("src/m{}/f{number}.rs", number % 40), text);
    }
    write(
        root,
        "Cargo.toml",
        "[package]\nname = \"large\"\nversion = \"1.0.0\"\n",
    );
    commit(&env);
    env
}

pub(crate) fn arguments(scope: &str, depth: &str) -> Value {
    json!({"scope": scope, "depth": depth})
}

fn analysed(client: &mut Client, scope: &str, depth: &str) -> Value {
    let answer = client.call("analyze_repository", arguments(scope, depth));
    assert!(!answer.is_error, "{scope} {depth}: {answer:?}");
    assert_eq!(answer.text, answer.value["message"].as_str().unwrap());
    assert_eq!(answer.text.lines().count(), 1);
    answer.value
}

/// Reads the complete report page by page.
fn complete(client: &mut Client, resource: &str) -> Value {
    let (mut text, mut next) = (String::new(), Some(resource.to_owned()));
    while let Some(address) = next {
        let page = client.read(&address).unwrap();
        assert_eq!(page["offset"], text.len());
        let part = page["text"].as_str().unwrap();
        assert!(part.len() <= BUDGET, "a page of {} bytes", part.len());
        text.push_str(part);
        next = page["next"].as_str().map(str::to_owned);
        assert_eq!(next.is_none(), page["total"] == text.len());
    }
    serde_json::from_str(&text).unwrap()
}

/// Returns the lists of a report with their names: how many entries they hold and leave out.
fn totals(report: &Value, found: &mut Vec<(String, u64)>, name: &str) {
    let Some(fields) = report.as_object() else {
        return;
    };
    if let (Some(items), Some(omitted)) = (report["items"].as_array(), report["omitted"].as_u64()) {
        found.push((name.to_owned(), items.len() as u64 + omitted));
        return;
    }
    // What is incomplete stands at the top of an answer.
    for (field, value) in fields.iter().filter(|(field, _)| *field != "incomplete") {
        totals(value, found, &format!("{name}.{field}"));
    }
}

#[test]
fn every_scope_and_depth_answers_as_its_schema_says() {
    let env = project();
    let mut client = planner(&env);
    let tools = client.request("tools/list", json!({})).unwrap();
    let schema = &tools["tools"][1]["outputSchema"];
    let schema = jsonschema::validator_for(schema).unwrap();
    for scope in SCOPES {
        let fields = client.read(&format!("codex://schemas/{scope}")).unwrap();
        let fields = jsonschema::validator_for(&fields).unwrap();
        for depth in DEPTHS {
            let first = analysed(&mut client, scope, depth);
            let faults: Vec<String> = schema.iter_errors(&first).map(|e| e.to_string()).collect();
            assert!(faults.is_empty(), "{scope} {depth}: {faults:?}\n{first}");
            let faults: Vec<String> = fields
                .iter_errors(&first[scope])
                .map(|e| e.to_string())
                .collect();
            assert!(faults.is_empty(), "{scope} {depth}: {faults:?}\n{first}");
            assert!(first.to_string().len() <= BUDGET);
            assert_eq!(
                (&first["scope"], &first["depth"]),
                (&json!(scope), &json!(depth))
            );
            assert_eq!(first["cached"], false, "{scope} {depth}");
            assert_eq!(first["incomplete"], Value::Null, "{scope} {depth}");
            for other in SCOPES {
                assert_eq!(first[other].is_object(), other == scope);
            }

            let mut second = analysed(&mut client, scope, depth);
            assert_eq!(second["cached"], true, "{scope} {depth}");
            second["cached"] = json!(false);
            assert_eq!(second, first);

            let resource = first["resource"].as_str().unwrap();
            let mut report = complete(&mut client, resource);
            if scope == "dependencies" && depth != "deep" {
                // What repeats the manifests is in the complete report alone.
                for list in ["direct", "locked"] {
                    let left_out = report[list]["items"].as_array().unwrap().len();
                    report[list] = json!({"items": [], "omitted": left_out});
                }
            }
            assert_eq!(report, first[scope]);
        }
    }
}

#[test]
fn the_answers_name_the_right_things() {
    let env = project();
    let mut client = planner(&env);
    let architecture = &analysed(&mut client, "architecture", "deep")["architecture"];
    assert_eq!(architecture["identity"]["name"], "Greeter");
    let text = architecture.to_string();
    for named in ["app/src/main.rs", "core/src/lib.rs", "web/package.json"] {
        assert!(text.contains(named), "{named} in {text}");
    }
    let dependencies = &analysed(&mut client, "dependencies", "deep")["dependencies"];
    assert_eq!(dependencies["conflicts"]["items"][0]["name"], "serde");
    let unused = dependencies["unused"]["items"].as_array().unwrap();
    let names: Vec<&Value> = unused.iter().map(|unused| &unused["name"]).collect();
    // What a manifest asks for may be used in a way that no file tells.
    assert_eq!(names, [&json!("unused")]);
    let codebase = &analysed(&mut client, "codebase", "medium")["codebase"];
    assert_eq!(
        codebase["markers"]["list"]["items"][0]["path"],
        "core/src/lib.rs"
    );
    client.call(
        "create_task",
        json!({"taskTitle": "First", "taskDescription": "Do it.", "priority": "high"}),
    );
    let issues = &analysed(&mut client, "issues", "medium")["issues"];
    assert_eq!(issues["source"], "local");
    assert_eq!(issues["ready"]["items"][0]["title"], "First");
    assert_eq!(issues["todos"]["items"][0]["line"], 2);
}

#[test]
fn a_change_makes_a_new_analysis() {
    let env = project();
    let mut client = planner(&env);
    let before = analysed(&mut client, "codebase", "shallow");
    write(env.repository(), "core/src/new.rs", "fn new() {}\n");
    let uncommitted = analysed(&mut client, "codebase", "shallow");
    assert_eq!(uncommitted["cached"], false);
    assert_ne!(uncommitted["analysisId"], before["analysisId"]);
    commit(&env);
    assert_eq!(
        analysed(&mut client, "codebase", "shallow")["cached"],
        false
    );
    // The other server finds what this one has found out.
    let mut other = Client::start(&env, Server::Planning, Era::Modern);
    assert_eq!(analysed(&mut other, "codebase", "shallow")["cached"], true);

    assert_eq!(analysed(&mut client, "issues", "shallow")["cached"], false);
    assert_eq!(analysed(&mut client, "issues", "shallow")["cached"], true);
    let task = json!({"taskTitle": "One", "taskDescription": "Why", "priority": "low"});
    client.call("create_task", task);
    assert_eq!(analysed(&mut client, "issues", "shallow")["cached"], false);
    env.git(&["branch", "idea"]);
    assert_eq!(analysed(&mut client, "issues", "shallow")["cached"], false);
}

#[test]
fn a_large_repository_fits_and_the_rest_can_be_read() {
    let env = large();
    let mut client = planner(&env);
    for (scope, depth) in [
        ("codebase", "medium"),
        ("architecture", "medium"),
        ("issues", "medium"),
    ] {
        let answer = analysed(&mut client, scope, depth);
        let size = answer.to_string().len();
        assert!(
            (BUDGET / 4..=BUDGET).contains(&size),
            "{scope}: {size} bytes"
        );
        let whole = complete(&mut client, answer["resource"].as_str().unwrap());
        let (mut short, mut long) = (Vec::new(), Vec::new());
        totals(&answer[scope], &mut short, scope);
        totals(&whole, &mut long, scope);
        assert_eq!(short, long);
        assert!(whole.to_string().len() >= answer[scope].to_string().len());
        assert_eq!(analysed(&mut client, scope, depth)["cached"], true);
    }
    let place = env.state().join("analysis");
    assert_eq!(
        fs::metadata(&place).unwrap().permissions().mode() & 0o777,
        0o700
    );
    for entry in fs::read_dir(&place).unwrap() {
        let mode = entry.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    for wrong in ["codex://analysis/none", "codex://analysis/../codex.db"] {
        let error = client.read(wrong).unwrap_err();
        assert_eq!(error["data"]["code"], "ANALYSIS_NOT_FOUND", "{error}");
    }
}

#[test]
fn progress_grows_to_a_hundred_percent() {
    let env = project();
    let mut client = planner(&env);
    client
        .request(
            "tools/call",
            json!({
                "name": "analyze_repository",
                "arguments": arguments("codebase", "deep"),
                "_meta": {"progressToken": "p"},
            }),
        )
        .unwrap();
    let told: Vec<f64> = client
        .notifications
        .iter()
        .filter(|told| told["method"] == "notifications/progress")
        .map(|told| {
            assert_eq!(told["params"]["total"], 100.0);
            assert!(told["params"]["message"].is_string());
            told["params"]["progress"].as_f64().unwrap()
        })
        .collect();
    assert!(told.len() >= 4, "{told:?}");
    assert!(told.is_sorted_by(|one, other| one < other), "{told:?}");
    assert!(*told.last().unwrap() <= 100.0);
}

#[test]
fn a_cancelled_analysis_ends_at_once() {
    let env = large();
    let mut client = planner(&env);
    // The record says how long the call took; cancelling comes as soon as the analysis is known to run.
    let id = client.begin(
        "tools/call",
        json!({
            "name": "analyze_repository",
            "arguments": arguments("codebase", "deep"),
            "_meta": {"progressToken": "p"},
        }),
    );
    let running = client.receive();
    assert_eq!(running["method"], "notifications/progress", "{running}");
    let cancelled = Instant::now();
    client.send(&json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": id},
    }));
    let event = loop {
        let events = env.store().read_now(|r| r.latest_events(None, 10)).unwrap();
        if let Some(event) = events.into_iter().next() {
            break event;
        }
        assert!(cancelled.elapsed() < WAIT_TIMEOUT, "nothing was recorded");
        std::thread::sleep(Duration::from_millis(2));
    };
    let took = cancelled.elapsed();
    assert_eq!(event.error_code.as_deref(), Some("CANCELLED"));
    // 100 ms is promised; a machine with other things to do gets more.
    assert!(took < Duration::from_secs(1), "{took:?}");
    // The server goes on as if nothing had been.
    assert_eq!(
        analysed(&mut client, "dependencies", "shallow")["cached"],
        false
    );
}

#[test]
fn a_hostile_repository_does_no_harm() {
    let env = TestEnv::new();
    let root = env.repository();
    write(root, "src/main.rs", "fn main() {}\n");
    symlink("..", root.join("src/loop")).unwrap();
    symlink("/etc", root.join("etc")).unwrap();
    write(root, "picture.png", b"\x89PNG\0\0\0");
    write(root, "data.rs", b"fn a() {}\0\0\0");
    fs::File::create(root.join("huge.rs"))
        .unwrap()
        .set_len(1 << 30)
        .unwrap();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.rs");
    fs::write(root.join(name), "fn cafe() {}\n").unwrap();
    write(root, "ev\u{202e}il\x1b[31m.rs", "fn evil() {}\n");
    write(root, "Cargo.toml", "[package\nname = ");
    write(root, "package.json", "{".repeat(100_000));
    let status = std::process::Command::new("mkfifo")
        .arg(root.join("pipe.rs"))
        .status();
    assert!(status.unwrap().success());
    let inner = root.join("inner");
    fs::create_dir(&inner).unwrap();
    env.git(&["-C", inner.to_str().unwrap(), "init", "-q"]);
    write(&inner, "x.rs", "fn x() {}\n");
    env.git(&["add", "src", "picture.png"]);
    env.git(&["commit", "-q", "-m", "some"]);

    let mut client = planner(&env);
    for scope in SCOPES {
        for depth in DEPTHS {
            let answer = analysed(&mut client, scope, depth);
            assert!(answer.to_string().len() <= BUDGET);
            assert!(!answer.to_string().contains("root:"), "{answer}");
        }
    }
    let codebase = &analysed(&mut client, "codebase", "shallow")["codebase"];
    let skipped = &codebase["skipped"];
    assert_eq!(skipped["symlinks"], 2, "{skipped}");
    assert_eq!(skipped["huge"], 1);
    assert_eq!(skipped["binary"], 2);
    assert_eq!(skipped["nestedRepositories"]["items"], json!(["inner"]));
    let largest = codebase["largestFiles"].to_string();
    assert!(largest.contains("caf\\\\xe9.rs"), "{largest}");
}

#[test]
fn outside_of_a_worktree_it_says_so() {
    let env = TestEnv::without_repository();
    let mut client = planner(&env);
    let answer = client.call("analyze_repository", arguments("codebase", "shallow"));
    assert_eq!(answer.code(), "NOT_A_REPOSITORY");

    let env = TestEnv::new();
    let mut bare = TestEnv::without_repository();
    let place = bare.root().join("bare.git");
    env.git(&["clone", "-q", "--bare", ".", place.to_str().unwrap()]);
    bare.enter(&place);
    let answer = planner(&bare).call("analyze_repository", arguments("codebase", "shallow"));
    assert_eq!(answer.code(), "NOT_A_REPOSITORY");
}

#[test]
fn a_full_disk_costs_only_the_complete_report() {
    let env = project();
    fs::create_dir_all(env.state()).unwrap();
    fs::write(env.state().join("analysis"), "in the way").unwrap();
    let mut client = planner(&env);
    let answer = analysed(&mut client, "codebase", "shallow");
    assert!(answer["codebase"].is_object());
    assert_eq!(answer["resource"], Value::Null);
    assert_eq!(
        answer["incomplete"]["items"][0]["what"],
        "the complete report"
    );
}

#[tokio::test]
async fn issues_come_from_github() {
    let github = ScriptedGithub::start().await.unwrap();
    let now = "2026-11-10T12:00:00Z".to_owned();
    for number in 1..=120 {
        let issue = Issue {
            title: format!("Greeting {number} in src/greet.rs is wrong"),
            body: "It should be polite.".to_owned(),
            labels: vec!["bug".to_owned()],
            open: true,
            created_at: now.clone(),
            updated_at: now.clone(),
        };
        github.state().issues.insert(number, issue);
    }
    let mut env = project();
    env.git(&[
        "remote",
        "add",
        "origin",
        "https://github.com/octo/hello.git",
    ]);
    write(env.repository(), "src/greet.rs", "fn greet() {}\n");
    env.set("GITHUB_API_URL", github.url());
    env.set("GITHUB_TOKEN", TOKEN);
    let (answer, refused) = tokio::task::spawn_blocking(move || {
        let mut client = planner(&env);
        let answer = analysed(&mut client, "issues", "deep");
        assert_eq!(analysed(&mut client, "issues", "deep")["cached"], true);
        env.set("GITHUB_TOKEN", "wrong");
        (answer, analysed(&mut planner(&env), "issues", "shallow"))
    })
    .await
    .unwrap();
    let issues = &answer["issues"];
    assert_eq!(
        (&issues["source"], &issues["issues"]),
        (&json!("github"), &json!(120))
    );
    assert_eq!(issues["labels"]["items"][0]["label"], "bug");
    assert_eq!(
        issues["pointers"]["items"][0]["files"][0]["path"],
        "src/greet.rs"
    );
    assert!(!answer.to_string().contains(TOKEN));
    assert_eq!(refused["issues"]["source"], "unavailable");
    assert_eq!(
        refused["incomplete"]["items"][0]["what"],
        "issues and pull requests"
    );
}
