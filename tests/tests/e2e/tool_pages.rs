//! docs/tools: one page for each tool, as the servers themselves describe it.
//!
//! `UPDATE_DOCS=1 cargo test -p tests --test e2e tool_pages` writes them anew.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};
use tests::{Client, Era, Server, TestEnv, project_root};

#[test]
fn every_tool_has_its_page() {
    let folder = project_root().join("docs/tools");
    let pages = pages();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(&folder).unwrap();
        for (name, page) in &pages {
            std::fs::write(folder.join(format!("{name}.md")), page).unwrap();
        }
    }
    let written: BTreeMap<String, String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    assert_eq!(
        written.keys().collect::<Vec<_>>(),
        pages.keys().collect::<Vec<_>>()
    );
    for (name, page) in &pages {
        assert_eq!(
            &written[name], page,
            "docs/tools/{name}.md is not what the server says; UPDATE_DOCS=1 writes it anew"
        );
    }
}

/// Returns all pages by the name of their tool. A tool of two servers has one page.
fn pages() -> BTreeMap<String, String> {
    let mut offered: BTreeMap<String, Vec<(Server, Value)>> = BTreeMap::new();
    for server in Server::ALL {
        let env = TestEnv::new();
        let mut client = Client::start(&env, server, Era::Legacy);
        let listed = client.request("tools/list", json!({})).unwrap();
        for tool in listed["tools"].as_array().unwrap() {
            let name = tool["name"].as_str().unwrap().to_owned();
            offered
                .entry(name)
                .or_default()
                .push((server, tool.clone()));
        }
    }
    offered
        .into_iter()
        .map(|(name, tools)| {
            let page = page(&name, &tools);
            (name, page)
        })
        .collect()
}

fn page(name: &str, tools: &[(Server, Value)]) -> String {
    let mut text = format!("# {name}\n\n");
    for (server, tool) in tools {
        let description = tool["description"].as_str().unwrap();
        let _ = writeln!(text, "**{}**: {}\n", server.name(), one_line(description));
    }
    let tool = &tools[0].1;
    let hints = &tool["annotations"];
    let is = |name: &str| hints[name] == true;
    let _ = writeln!(
        text,
        "{}, {}, {}.\n",
        if is("readOnlyHint") {
            "Changes nothing"
        } else {
            "Changes things"
        },
        if is("idempotentHint") {
            "safe to call again"
        } else {
            "each call does more"
        },
        if is("openWorldHint") {
            "may use the network"
        } else {
            "stays on this machine"
        },
    );
    text += "## What it takes\n\n";
    text += &fields(&tool["inputSchema"], None);
    text += "\n## What it answers\n\n";
    let schema = &tool["outputSchema"];
    text += &fields(schema, Some(&schema["anyOf"][0]["required"]));
    text += "\nIf it fails, `code` and `message` say why, `hint` what to do about it, and `details` have data.\n";
    text
}

/// One row for each field.
fn fields(schema: &Value, required: Option<&Value>) -> String {
    let required = required.unwrap_or(&schema["required"]);
    let mut text = "| field | type | needed | meaning |\n|---|---|---|---|\n".to_owned();
    for (name, field) in schema["properties"].as_object().unwrap() {
        if matches!(name.as_str(), "code" | "hint" | "details") {
            continue;
        }
        let resolved = resolve(schema, field);
        let description = field["description"]
            .as_str()
            .or(resolved["description"].as_str());
        let needed = required
            .as_array()
            .is_some_and(|required| required.contains(&json!(name)));
        let _ = writeln!(
            text,
            "| `{name}` | {} | {} | {} |",
            kind(schema, field),
            if needed { "yes" } else { "" },
            one_line(description.unwrap_or_default()),
        );
    }
    text
}

fn resolve<'a>(schema: &'a Value, field: &'a Value) -> &'a Value {
    let reference = field["$ref"]
        .as_str()
        .or(field["anyOf"][0]["$ref"].as_str());
    match reference.and_then(|path| path.strip_prefix('#')) {
        Some(path) => schema.pointer(path).unwrap(),
        None => field,
    }
}

fn kind(schema: &Value, field: &Value) -> String {
    let field = resolve(schema, field);
    let words: Vec<&str> = match (&field["enum"], &field["oneOf"]) {
        (Value::Array(words), _) => words.iter().filter_map(Value::as_str).collect(),
        (_, Value::Array(variants)) => variants
            .iter()
            .filter_map(|variant| variant["const"].as_str())
            .collect(),
        _ => Vec::new(),
    };
    if !words.is_empty() {
        return words.join(", ");
    }
    let kind = match &field["type"] {
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => kinds
            .iter()
            .filter_map(Value::as_str)
            .find(|kind| *kind != "null")
            .unwrap_or_default()
            .to_owned(),
        _ => "object".to_owned(),
    };
    match kind.as_str() {
        "array" => format!("list of {}", kind_of_items(schema, field)),
        "string" => match field["maxLength"].as_u64() {
            Some(most) => format!("text, at most {most}"),
            None => "text".to_owned(),
        },
        other => other.to_owned(),
    }
}

fn kind_of_items(schema: &Value, field: &Value) -> String {
    let items = resolve(schema, &field["items"]);
    match items["properties"].as_object() {
        Some(properties) => {
            let names: Vec<_> = properties.keys().map(|name| format!("`{name}`")).collect();
            format!("{{{}}}", names.join(", "))
        }
        None => kind(schema, &field["items"]),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('|', "\\|")
}
