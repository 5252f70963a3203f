//! What a careless or hostile client may send. The server answers, and goes on.

use serde_json::{Value, json};
use tests::{Client, Era, Server, TestEnv};

fn good() -> Value {
    json!({"taskTitle": "One", "taskDescription": "Why", "priority": "low"})
}

fn with(field: &str, value: Value) -> Value {
    let mut arguments = good();
    arguments[field] = value;
    arguments
}

fn without(field: &str) -> Value {
    let mut arguments = good();
    arguments.as_object_mut().unwrap().remove(field);
    arguments
}

/// What is wrong, the arguments, and what the message must name.
type Case = (&'static str, Value, &'static str);

/// Types and names that the schema does not have.
fn wrong_shapes() -> Vec<Case> {
    vec![
        (
            "title of another type",
            with("taskTitle", json!(7)),
            "expected a string",
        ),
        (
            "title null",
            with("taskTitle", json!(null)),
            "expected a string",
        ),
        (
            "title a list",
            with("taskTitle", json!(["x"])),
            "expected a string",
        ),
        ("title missing", without("taskTitle"), "taskTitle"),
        (
            "description missing",
            without("taskDescription"),
            "taskDescription",
        ),
        ("priority missing", without("priority"), "priority"),
        ("nothing at all", json!({}), "taskTitle"),
        ("unknown field", with("colour", json!("red")), "colour"),
        (
            "field in another case",
            with("tasktitle", json!("x")),
            "tasktitle",
        ),
        (
            "priority unknown",
            with("priority", json!("urgent")),
            "urgent",
        ),
        (
            "priority in capitals",
            with("priority", json!("HIGH")),
            "HIGH",
        ),
    ]
}

/// Texts that are empty, too long or have control characters.
fn wrong_texts() -> Vec<Case> {
    vec![
        ("title empty", with("taskTitle", json!("")), "taskTitle"),
        (
            "title of spaces",
            with("taskTitle", json!(" \t ")),
            "taskTitle",
        ),
        (
            "description empty",
            with("taskDescription", json!("")),
            "taskDescription",
        ),
        (
            "title of two lines",
            with("taskTitle", json!("a\nb")),
            "U+000A",
        ),
        ("title with NUL", with("taskTitle", json!("a\0b")), "U+0000"),
        (
            "title with escape",
            with("taskTitle", json!("a\u{1b}[2Jb")),
            "U+001B",
        ),
        (
            "title with C1 control",
            with("taskTitle", json!("a\u{9b}b")),
            "U+009B",
        ),
        (
            "description with NUL",
            with("taskDescription", json!("a\0")),
            "U+0000",
        ),
        (
            "description with escape",
            with("taskDescription", json!("\u{1b}]0;x\u{7}")),
            "U+001B",
        ),
        (
            "title too long",
            with("taskTitle", json!("é".repeat(201))),
            "201",
        ),
        (
            "description too long",
            with("taskDescription", json!("x".repeat(50_001))),
            "50001",
        ),
        (
            "description of 1 MB",
            with("taskDescription", json!("x".repeat(1 << 20))),
            "1048576",
        ),
        (
            "title of 1 MB",
            with("taskTitle", json!("x".repeat(1 << 20))),
            "1048576",
        ),
        (
            "priority of 1 MB",
            with("priority", json!("x".repeat(1 << 20))),
            "medium",
        ),
    ]
}

/// Numbers out of range and lists of something else.
fn wrong_numbers_and_lists() -> Vec<Case> {
    vec![
        (
            "no hours",
            with("estimatedHours", json!(0)),
            "estimatedHours",
        ),
        (
            "negative hours",
            with("estimatedHours", json!(-1)),
            "estimatedHours",
        ),
        (
            "endless hours",
            with("estimatedHours", json!(1e300)),
            "estimatedHours",
        ),
        (
            "hours as text",
            with("estimatedHours", json!("2")),
            "invalid type",
        ),
        (
            "dependencies as text",
            with("dependsOn", json!("x")),
            "invalid type",
        ),
        (
            "dependencies of numbers",
            with("dependsOn", json!([1])),
            "invalid type",
        ),
        (
            "too many dependencies",
            with("dependsOn", json!(vec!["x"; 101])),
            "dependsOn",
        ),
        (
            "issue as text",
            with("createIssue", json!("yes")),
            "invalid type",
        ),
    ]
}

/// Every way in which arguments can be wrong is a tool error that says which, and stores nothing.
#[test]
fn wrong_arguments_are_refused_one_by_one() {
    let cases = [wrong_shapes(), wrong_texts(), wrong_numbers_and_lists()].concat();
    for era in Era::BOTH {
        let env = TestEnv::new();
        let mut client = Client::start(&env, Server::Planning, era);
        for (case, arguments, named) in &cases {
            let answer = client.call("create_task", arguments.clone());
            assert_eq!(answer.code(), "INVALID_ARGUMENTS", "{case}: {answer:?}");
            let message = answer.value["message"].as_str().unwrap();
            assert!(message.contains(named), "{case}: {message}");
            assert!(message.len() < 2_000, "{case}: {} bytes", message.len());
        }
        assert!(!client.call("create_task", good()).is_error);
        assert_eq!(client.read("codex://tasks").unwrap()["total"], 1);
    }
}

#[test]
fn the_longest_allowed_texts_are_taken() {
    let env = TestEnv::new();
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    let longest = json!({
        "taskTitle": "é".repeat(200), "taskDescription": "日".repeat(50_000), "priority": "low",
    });
    let answer = client.call("create_task", longest);
    assert!(!answer.is_error, "{answer:?}");
}

#[test]
fn arguments_that_are_no_object_get_an_answer() {
    let env = TestEnv::new();
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    for arguments in [json!([1]), json!("x"), json!(7)] {
        let params = json!({"name": "create_task", "arguments": arguments});
        client.request("tools/call", params).unwrap_err();
    }
    let absent = client.request("tools/call", json!({"name": "create_task"}));
    assert_eq!(
        absent.unwrap()["structuredContent"]["code"],
        "INVALID_ARGUMENTS"
    );
    assert!(!client.call("create_task", good()).is_error);
}

#[test]
fn unknown_tools_and_methods_get_an_answer() {
    for era in Era::BOTH {
        let env = TestEnv::new();
        let mut client = Client::start(&env, Server::Planning, era);
        let error = client
            .request("tools/call", json!({"name": "create_pr", "arguments": {}}))
            .unwrap_err();
        assert!(error["message"].as_str().unwrap().contains("create_pr"));
        client.request("no/such/method", json!({})).unwrap_err();
        assert!(!client.call("create_task", good()).is_error);
    }
}

/// These lines can't be answered, for nobody knows their id; what follows them is.
#[test]
fn lines_that_are_no_message_are_passed_over() {
    let env = TestEnv::new();
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    let deep = "[".repeat(10_000);
    let lines: [&[u8]; 10] = [
        b"\n",
        b"not json\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":1\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":901,\"method\":\"tools/list\",\"params\":{\"x\":\"\xff\xfe\"}}\n",
        b"\xff\xfe\x00\x01\n",
        b"\0\0\0\n",
        b"[]\n",
        b"null\n",
        b"42\n",
        deep.as_bytes(),
    ];
    for line in lines {
        client.send_raw(line);
    }
    client.send_raw(b"\n");
    assert!(!client.call("create_task", good()).is_error);
}

#[test]
fn many_bad_lines_do_not_wear_it_out() {
    let env = TestEnv::new();
    let mut client = Client::start(&env, Server::Planning, Era::Modern);
    client.request("tools/list", json!({})).unwrap();
    for _ in 0..1_000 {
        client.send_raw(b"{\"jsonrpc\":\"2.0\",\"id\":\xc3\x28}\n");
    }
    assert!(!client.call("create_task", good()).is_error);
}

/// Text that looks like code in some language stays text.
#[test]
fn hostile_text_is_kept_as_it_is() {
    let env = TestEnv::new();
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    for text in [
        "'; DROP TABLE tasks; --",
        "$(touch pwned)",
        "#(touch pwned)",
        "{{argument}}",
        "/exit",
        "!id",
    ] {
        let answer = client.call("create_task", with("taskTitle", json!(text)));
        let id = answer.value["taskId"].as_str().unwrap();
        let task = client.read(&format!("codex://tasks/{id}")).unwrap();
        assert_eq!(task["title"], text);
    }
    assert!(!env.repository().join("pwned").exists());
    for uri in [
        "codex://tasks/",
        "codex://tasks/../x",
        "codex://tasks/%00",
        "codex://",
        "",
        "file:///etc/passwd",
    ] {
        client.read(uri).unwrap_err();
    }
}
