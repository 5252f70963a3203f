//! The examples work as they stand.

use std::fs;

use serde_json::Value;
use shared::config::{Config, Environment, Settings};
use tests::{Client, Era, Server, TestEnv, project_root};

#[test]
fn the_example_configuration_is_taken_and_shows_the_defaults() {
    let mut env = TestEnv::new();
    // Its own are none of the defaults.
    env.unset("CODEX_TMUX_SOCKET");
    env.unset("CODEX_AGENT_START_TIMEOUT_SECONDS");
    let file = env.repository().join(shared::config::REPOSITORY_FILE);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::copy(project_root().join("examples/config.toml"), &file).unwrap();
    let environment = Environment::new(env.variables().clone(), env.repository().to_owned());
    let repository = env.repository();
    let config = Config::load(&environment, Some(repository), &[]).unwrap();
    assert_eq!(config.settings, Settings::default());
    for value in &config.values {
        assert!(
            value.origin.ends_with("config.toml"),
            "examples/config.toml does not show `{}`",
            value.key
        );
    }
}

#[test]
fn the_example_registration_names_all_three_servers() {
    let text = fs::read_to_string(project_root().join("examples/mcp.json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let servers = file["mcpServers"].as_object().unwrap();
    assert_eq!(servers.len(), 3);
    for server in Server::ALL {
        let entry = servers
            .values()
            .find(|entry| entry["command"] == server.name())
            .unwrap();
        assert_eq!(entry["type"], "stdio");
        // What it starts is there and answers.
        let env = TestEnv::new();
        let mut command = env.command(server.path());
        for argument in entry["args"].as_array().unwrap() {
            command.arg(argument.as_str().unwrap());
        }
        Client::spawn(command, Era::Legacy).greet();
    }
}
