//! What each server shows to whoever connects, in both protocol eras.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tests::{Client, Era, Server, TestEnv};

fn tools(server: Server, era: Era) -> Vec<Value> {
    let env = TestEnv::new();
    let mut client = Client::start(&env, server, era);
    let listed = client.request("tools/list", json!({})).unwrap();
    listed["tools"].as_array().unwrap().clone()
}

#[test]
fn every_tool_is_as_it_was_agreed() {
    for server in Server::ALL {
        for tool in tools(server, Era::Legacy) {
            let name = format!("{}__{}", server.name(), tool["name"].as_str().unwrap());
            insta::assert_snapshot!(name, serde_json::to_string_pretty(&tool).unwrap());
        }
    }
}

#[test]
fn the_tools_are_these_five_names() {
    let names = |server| -> Vec<String> {
        let of = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
        tools(server, Era::Legacy).iter().map(of).collect()
    };
    assert_eq!(names(Server::Coding), ["request_review", "create_pr"]);
    assert_eq!(names(Server::Review), ["request_changes", "create_pr"]);
    assert_eq!(
        names(Server::Planning),
        ["create_task", "analyze_repository"]
    );
}

#[test]
fn both_eras_see_the_same_tools() {
    for server in Server::ALL {
        assert_eq!(tools(server, Era::Legacy), tools(server, Era::Modern));
    }
}

#[test]
fn every_tool_and_field_is_described() {
    for server in Server::ALL {
        for tool in tools(server, Era::Modern) {
            assert!(!tool["title"].as_str().unwrap().is_empty(), "{tool}");
            assert!(
                tool["description"].as_str().unwrap().ends_with('.'),
                "{tool}"
            );
            let hints = tool["annotations"].as_object().unwrap();
            for hint in [
                "readOnlyHint",
                "destructiveHint",
                "idempotentHint",
                "openWorldHint",
            ] {
                assert!(hints[hint].is_boolean(), "{tool}");
            }
            assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
            // Claude Code cuts longer ones.
            assert!(tool["description"].as_str().unwrap().len() < 2_048);
            assert_eq!(tool["_meta"]["anthropic/alwaysLoad"], true, "{tool}");
            assert!(!tool.to_string().contains("\"format\":"), "{tool}");
            for schema in ["inputSchema", "outputSchema"] {
                assert_eq!(tool[schema]["type"], "object", "{tool}");
                described(&tool[schema], &format!("{}.{schema}", tool["name"]));
            }
        }
    }
}

/// An agent pays for the list of tools in every session, whether it calls one or not.
#[test]
fn the_list_of_tools_is_short() {
    for server in Server::ALL {
        let listed = json!(tools(server, Era::Legacy)).to_string();
        assert!(
            listed.len() < 10_000,
            "{}: {} bytes",
            server.name(),
            listed.len()
        );
    }
}

/// What the list of tools leaves out is described where it can be asked for.
#[test]
fn every_field_of_a_report_is_described() {
    let env = TestEnv::new();
    let mut client = Client::start(&env, Server::Planning, Era::Legacy);
    for scope in [
        "architecture",
        "issues",
        "codebase",
        "dependencies",
        "focus",
    ] {
        let schema = client.read(&format!("codex://schemas/{scope}")).unwrap();
        assert!(schema["properties"]["incomplete"].is_object(), "{schema}");
        described(&schema, scope);
    }
    let wrong = client.read("codex://schemas/everything").unwrap_err();
    assert!(wrong.to_string().contains("architecture"), "{wrong}");
}

/// Checks each property of a schema and of the definitions it refers to.
fn described(schema: &Value, place: &str) {
    let empty = serde_json::Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&empty);
    for (name, property) in properties {
        let text = property["description"].as_str().unwrap_or_default();
        assert!(!text.is_empty(), "{place}.{name} has no description");
    }
    for (name, definition) in schema["$defs"].as_object().unwrap_or(&empty) {
        described(definition, &format!("{place}.{name}"));
    }
}

#[test]
fn a_legacy_client_is_told_name_version_and_instructions() {
    for server in Server::ALL {
        let env = TestEnv::new();
        let mut client = Client::spawn(env.command(server.path()), Era::Legacy);
        let said = client.greet();
        assert_eq!(said["protocolVersion"], "2025-11-25");
        assert_eq!(said["serverInfo"]["name"], server.name());
        assert_eq!(said["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
        assert!(said["instructions"].as_str().unwrap().len() > 40);
        for capability in ["tools", "resources", "prompts"] {
            assert!(said["capabilities"][capability].is_object(), "{said}");
        }
    }
}

#[test]
fn a_modern_client_discovers_the_same_without_a_greeting() {
    for server in Server::ALL {
        let env = TestEnv::new();
        let mut client = Client::start(&env, server, Era::Modern);
        let said = client.request("server/discover", json!({})).unwrap();
        let versions: Vec<&str> = said["supportedVersions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|version| version.as_str().unwrap())
            .collect();
        assert!(versions.contains(&"2026-07-28"), "{said}");
        assert!(versions.contains(&"2025-11-25"), "{said}");
        assert!(said["instructions"].as_str().unwrap().len() > 40);
        assert!(said["capabilities"]["tools"].is_object());
    }
}

#[test]
fn resources_are_listed_and_read_in_both_eras() {
    for era in Era::BOTH {
        for server in Server::ALL {
            let env = TestEnv::new();
            let mut client = Client::start(&env, server, era);
            let listed = client.request("resources/list", json!({})).unwrap();
            let resources = listed["resources"].as_array().unwrap();
            assert!(!resources.is_empty());
            for resource in resources {
                assert!(!resource["description"].as_str().unwrap().is_empty());
                client.read(resource["uri"].as_str().unwrap()).unwrap();
            }
            let templates = client.request("resources/templates/list", json!({}));
            assert!(templates.unwrap()["resourceTemplates"].is_array());
            let missing = client.read("codex://nothing").unwrap_err();
            assert!(
                missing["message"]
                    .as_str()
                    .unwrap()
                    .contains("codex://nothing")
            );
        }
    }
}

#[test]
fn prompts_are_listed_and_filled_in_both_eras() {
    for era in Era::BOTH {
        for (server, name, argument) in [
            (Server::Coding, "code", "task"),
            (Server::Review, "review", "subject"),
            (Server::Planning, "plan", "goal"),
        ] {
            let env = TestEnv::new();
            let mut client = Client::start(&env, server, era);
            let listed = client.request("prompts/list", json!({})).unwrap();
            assert_eq!(listed["prompts"][0]["name"], name);
            assert_eq!(listed["prompts"][0]["arguments"][0]["name"], argument);
            let filled = json!({"name": name, "arguments": {argument: "Teach the cat to sing"}});
            let got = client.request("prompts/get", filled).unwrap();
            let text = got["messages"][0]["content"]["text"].as_str().unwrap();
            assert!(text.contains("Teach the cat to sing"), "{text}");
            assert!(!text.contains("{{"), "{text}");
            let lacking = client.request("prompts/get", json!({"name": name}));
            assert!(
                lacking.unwrap_err()["message"]
                    .as_str()
                    .unwrap()
                    .contains(argument)
            );
            client
                .request("prompts/get", json!({"name": "none"}))
                .unwrap_err();
        }
    }
}

#[test]
fn names_are_unique() {
    for server in Server::ALL {
        let tools = tools(server, Era::Legacy);
        let names: BTreeSet<&str> = tools.iter().map(|t| t["name"].as_str().unwrap()).collect();
        assert_eq!(names.len(), tools.len());
    }
}

/// Clients hold a failed call's structured content against the output schema too.
#[test]
fn the_output_schemas_have_room_for_errors() {
    for server in Server::ALL {
        for tool in tools(server, Era::Legacy) {
            let schema = &tool["outputSchema"];
            assert_eq!(schema["required"], Value::Null, "{tool}");
            assert_eq!(schema["additionalProperties"], Value::Null, "{tool}");
            let error = json!({"required": ["code", "message"]});
            assert!(
                schema["anyOf"].as_array().unwrap().contains(&error),
                "{tool}"
            );
            for field in ["code", "message", "hint", "details"] {
                assert!(schema["properties"][field].is_object(), "{field}: {tool}");
            }
        }
    }
}
