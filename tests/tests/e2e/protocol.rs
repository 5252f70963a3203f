//! The edges of the protocol: what is odd but allowed works, what is wrong is answered, and nobody waits in vain.

use serde_json::{Value, json};
use tests::{Client, Era, Server, TestEnv, binary, until};

fn good() -> Value {
    json!({"taskTitle": "One", "taskDescription": "Why", "priority": "low"})
}

fn start(env: &TestEnv, era: Era) -> Client {
    let mut client = Client::start(env, Server::Planning, era);
    // In the modern era this is the first word.
    client.request("tools/list", json!({})).unwrap();
    client
}

/// What every request of the era has among its parameters.
fn with_meta(era: Era, mut params: Value) -> Value {
    if era == Era::Modern {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": era.version(),
            "io.modelcontextprotocol/clientInfo": {"name": "test-client", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
    }
    params
}

fn create_task(era: Era, id: &Value) -> Value {
    let params = with_meta(era, json!({"name": "create_task", "arguments": good()}));
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

#[test]
fn ids_are_given_back_as_they_came() {
    for era in Era::BOTH {
        let env = TestEnv::new();
        let mut client = start(&env, era);
        for id in [json!("a"), json!(""), json!(0), json!(-7), json!(i64::MAX)] {
            client.send(&create_task(era, &id));
            let answer = client.receive();
            assert_eq!(answer["id"], id);
            assert_eq!(answer["result"]["isError"], false, "{answer}");
        }
    }
}

/// JSON-RPC: such a message gets an error without an id.
#[test]
fn ids_that_are_none_are_refused_and_nothing_is_done() {
    for era in Era::BOTH {
        let env = TestEnv::new();
        let mut client = start(&env, era);
        for id in [json!(null), json!(1.5), json!(true), json!([1]), json!({})] {
            client.send(&create_task(era, &id));
            let answer = client.receive();
            assert_eq!(answer["error"]["code"], -32600, "{id}: {answer}");
            assert!(answer["id"].is_null(), "{answer}");
        }
        assert_eq!(client.read("codex://tasks").unwrap()["total"], 0);
    }
}

/// JSON-RPC forbids it. The first answer ends both for rmcp, and the other call is cancelled or its answer dropped.
#[test]
fn two_calls_with_one_id_get_one_answer_and_it_goes_on() {
    for era in Era::BOTH {
        let env = TestEnv::new();
        let mut client = start(&env, era);
        for _ in 0..2 {
            client.send(&create_task(era, &json!("twice")));
        }
        assert_eq!(client.receive()["id"], "twice");
        assert!(!client.call("create_task", good()).is_error);
        assert_eq!(client.notifications, Vec::<Value>::new());
    }
}

#[test]
fn messages_of_the_wrong_shape_are_refused() {
    let env = TestEnv::new();
    let mut client = start(&env, Era::Legacy);
    for message in [
        json!({"id": 5, "method": "tools/list"}),
        json!({"jsonrpc": "1.0", "id": 5, "method": "tools/list"}),
        json!({"jsonrpc": "2.0", "id": 5}),
        json!({"jsonrpc": "2.0", "id": 5, "method": 3}),
        json!({"jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": [1]}),
        json!([{"jsonrpc": "2.0", "id": 5, "method": "tools/list"}]),
    ] {
        client.send(&message);
        assert_eq!(client.receive()["error"]["code"], -32600, "{message}");
    }
}

#[test]
fn missing_parameters_are_named_as_such() {
    for era in Era::BOTH {
        let env = TestEnv::new();
        let mut client = start(&env, era);
        for (method, params) in [
            ("tools/call", json!({})),
            ("tools/call", json!({"name": 5})),
            ("resources/read", json!({})),
            ("prompts/get", json!({})),
        ] {
            let error = client.request(method, params.clone()).unwrap_err();
            assert_eq!(error["code"], -32602, "{method} {params}: {error}");
        }
        let error = client.request("no/such/method", json!({})).unwrap_err();
        assert_eq!(error["code"], -32601, "{error}");
        let said = error["message"].as_str().unwrap();
        assert!(said.contains("no/such/method"), "{error}");
    }
}

#[test]
fn what_asks_for_no_answer_gets_none() {
    let env = TestEnv::new();
    let mut client = start(&env, Era::Legacy);
    for message in [
        json!({"jsonrpc": "2.0", "method": "no/such/notification"}),
        json!({"jsonrpc": "2.0", "id": 99, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 99, "error": {"code": 1, "message": "x"}}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 12345}}),
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}}),
    ] {
        client.send(&message);
    }
    assert!(!client.call("create_task", good()).is_error);
    assert_eq!(client.notifications, Vec::<Value>::new());
}

/// Requests that can't be parsed, with an id that can be found.
fn unreadable(era: Era) -> Vec<(&'static str, Vec<u8>)> {
    let call = |title: &[u8]| {
        let mark = "the-title";
        let arguments = json!({"taskTitle": mark, "taskDescription": "x", "priority": "low"});
        let params = with_meta(era, json!({"name": "create_task", "arguments": arguments}));
        // The id comes last, as in the TypeScript SDK.
        let message =
            json!({"jsonrpc": "2.0", "method": "tools/call", "params": params, "id": 700});
        let text = message.to_string();
        let (before, after) = text.split_once(&format!("\"{mark}\"")).unwrap();
        [before.as_bytes(), title, after.as_bytes(), b"\n"].concat()
    };
    let nested =
        |levels: usize| call(format!("{}{}", "[".repeat(levels), "]".repeat(levels)).as_bytes());
    vec![
        ("half a surrogate pair", call(br#""\ud83d""#)),
        ("invalid UTF-8", call(b"\"\xff\xfe\"")),
        (
            "a line of 17 MB",
            call(format!("\"{}\"", "x".repeat(17 << 20)).as_bytes()),
        ),
        ("200 levels", nested(200)),
        ("10,000 levels", nested(10_000)),
        ("no value", call(b"")),
    ]
}

#[test]
fn a_request_that_cannot_be_read_is_answered() {
    for era in Era::BOTH {
        let env = TestEnv::new();
        let mut client = start(&env, era);
        for (case, line) in unreadable(era) {
            client.send_raw(&line);
            let answer = client.receive();
            assert_eq!(answer["id"], 700, "{case}: {answer}");
            assert_eq!(answer["error"]["code"], -32700, "{case}: {answer}");
            assert!(answer.to_string().len() < 500, "{case}: {answer}");
        }
        assert!(!client.call("create_task", good()).is_error);
        assert_eq!(client.read("codex://tasks").unwrap()["total"], 1);
    }
}

#[test]
fn before_the_session_begins_it_is_passed_over() {
    for era in Era::BOTH {
        let env = TestEnv::new();
        let mut client = Client::spawn(env.command(Server::Planning.path()), era);
        for (_, line) in unreadable(era) {
            client.send_raw(&line);
        }
        client.greet();
        assert!(!client.call("create_task", good()).is_error);
    }
}

#[test]
fn long_lines_and_deep_ones_within_the_limits_are_read() {
    let env = TestEnv::new();
    let mut client = start(&env, Era::Legacy);
    let mut arguments = good();
    arguments["taskTitle"] = json!("x".repeat(15 << 20));
    let answer = client.call("create_task", arguments);
    assert_eq!(answer.code(), "INVALID_ARGUMENTS");
    let nested = (0..100).fold(json!(1), |inner, _| json!([inner]));
    let answer = client.call("create_task", json!({ "taskTitle": nested }));
    assert_eq!(answer.code(), "INVALID_ARGUMENTS");
}

#[test]
fn progress_goes_to_its_token_and_ends_with_the_answer() {
    for era in Era::BOTH {
        let env = TestEnv::new();
        let mut client = start(&env, era);
        for (round, token) in [json!("token"), json!(7)]
            .into_iter()
            .cycle()
            .take(20)
            .enumerate()
        {
            // A new commit each time, or the answer would be an old one.
            env.git(&["commit", "-q", "--allow-empty", "-m", &round.to_string()]);
            let arguments = json!({"scope": "architecture", "depth": "shallow"});
            let params = json!({"name": "analyze_repository", "arguments": arguments, "_meta": {"progressToken": token}});
            client.request("tools/call", params).unwrap();
            let told = std::mem::take(&mut client.notifications);
            assert!(!told.is_empty(), "{era:?}: no progress");
            let mut last = -1.0;
            for notification in told {
                assert_eq!(notification["method"], "notifications/progress");
                let params = &notification["params"];
                assert_eq!(params["progressToken"], token);
                let value = params["progress"].as_f64().unwrap();
                assert!(value > last, "{params} after {last}");
                last = value;
            }
            client.request("tools/list", json!({})).unwrap();
            assert_eq!(
                client.notifications,
                Vec::<Value>::new(),
                "{era:?}: after the answer"
            );
        }
    }
}

#[test]
fn without_a_token_there_is_no_progress() {
    let env = TestEnv::new();
    let mut client = start(&env, Era::Legacy);
    let arguments = json!({"scope": "architecture", "depth": "shallow"});
    assert!(!client.call("analyze_repository", arguments).is_error);
    assert_eq!(client.notifications, Vec::<Value>::new());
}

/// A call that never ends by itself does not outlive its client, and undoes what it began.
#[test]
fn the_end_of_input_cancels_what_does_not_end() {
    for era in Era::BOTH {
        let env = TestEnv::new();
        let sign = env.path("sign");
        let mut client = Client::spawn(env.command(binary("faulty_server")), era);
        client.greet();
        let arguments = json!({ "file": sign });
        let params = json!({"name": "undo", "arguments": arguments, "_meta": {"progressToken": 1}});
        client.begin("tools/call", params);
        until("the call begins", || sign.exists());
        client.close_input();
        assert_eq!(client.wait().code(), Some(0), "{}", client.stderr());
        assert_eq!(std::fs::read_to_string(&sign).unwrap(), "undone");
    }
}
