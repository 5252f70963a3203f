//! Where a server may be started.

use serde_json::json;
use tests::{Answer, Client, Era, Server, TestEnv};

fn act(client: &mut Client) -> Answer {
    client.call(
        "create_task",
        json!({"taskTitle": "One", "taskDescription": "Why", "priority": "low"}),
    )
}

#[test]
fn outside_a_repository_the_answer_says_so() {
    let env = TestEnv::without_repository();
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    let answer = act(&mut client);
    assert_eq!(answer.code(), "NOT_A_REPOSITORY");
    assert!(answer.value["hint"].as_str().unwrap().contains("git init"));
    assert!(answer.text.contains("NOT_A_REPOSITORY"));
    let error = client.read("codex://tasks").unwrap_err();
    assert_eq!(error["data"]["code"], "NOT_A_REPOSITORY");
}

#[test]
fn a_bare_repository_has_no_place_to_work() {
    let mut env = TestEnv::without_repository();
    let bare = env.path("bare.git");
    env.git(&["init", "-q", "--bare", bare.to_str().unwrap()]);
    env.enter(&bare);
    let mut client = Client::start(&env, Server::Planning, Era::Modern);
    let answer = act(&mut client);
    assert_eq!(answer.code(), "NOT_A_REPOSITORY");
    assert!(answer.value["message"].as_str().unwrap().contains("bare"));
}

#[test]
fn a_repository_without_a_commit_can_be_planned_for() {
    let mut env = TestEnv::without_repository();
    env.enter(env.repository().to_owned());
    env.git(&["init", "-q", "-b", "main"]);
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    let answer = act(&mut client);
    assert!(!answer.is_error, "{answer:?}");
}

#[test]
fn a_detached_head_is_a_place_too() {
    let env = TestEnv::new();
    env.git(&["checkout", "-q", "--detach"]);
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    assert!(!act(&mut client).is_error);
    let instances = env.store().read_now(|r| r.instances(false)).unwrap();
    assert_eq!(instances[0].branch_name, None);
}

#[test]
fn a_mistake_in_the_configuration_is_named_and_can_be_corrected() {
    let env = TestEnv::new();
    let file = env.repository().join(".claude-codex/config.toml");
    std::fs::create_dir(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "[planning]\ncreateIssue = false\n").unwrap();
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    let answer = act(&mut client);
    assert_eq!(answer.code(), "CONFIG_INVALID");
    assert!(
        answer.value["hint"]
            .as_str()
            .unwrap()
            .contains("planning.createIssues")
    );
    std::fs::write(&file, "[planning]\ncreateIssues = false\n").unwrap();
    assert!(!act(&mut client).is_error);
}

#[test]
fn an_instance_that_does_not_exist_cannot_be_acted_for() {
    let mut env = TestEnv::new();
    env.set("CODEX_INSTANCE_ID", "plan-nothing-a1");
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    let answer = act(&mut client);
    assert_eq!(answer.code(), "INSTANCE_NOT_FOUND", "{answer:?}");
    env.set("CODEX_INSTANCE_ID", "#(touch /tmp/x)");
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    assert_eq!(act(&mut client).code(), "INVALID_ARGUMENTS");
}
