//! Registers servers in `.mcp.json`, keeping its other contents and formatting.

use std::path::Path;

use serde::Serialize;
use serde_json::ser::PrettyFormatter;
use serde_json::{Map, Serializer, Value, json};
use shared::error::{Code, Error};

use super::file_change::Left;

/// A server to register.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) command: String,
}

/// Returns the file's new text, or none if nothing has to change.
///
/// Of an existing entry only the command is updated: its arguments and environment are the user's.
pub(super) fn with_entries(
    path: &Path,
    present: Option<&str>,
    entries: &[Entry],
) -> Result<Option<String>, Error> {
    let blank = present.is_none_or(|text| text.trim().is_empty());
    let before: Value = if blank {
        Value::Null
    } else {
        serde_json::from_str(present.unwrap_or_default())
            .map_err(|error| unusable(path, &format!("is not valid JSON ({error})")))?
    };
    let mut after = if blank { json!({}) } else { before.clone() };
    let Some(root) = after.as_object_mut() else {
        return Err(unusable(path, "is not a JSON object"));
    };
    let servers = root
        .entry("mcpServers")
        .or_insert_with(|| Value::Object(Map::new()));
    let Some(servers) = servers.as_object_mut() else {
        return Err(unusable(path, "has a `mcpServers` that is not an object"));
    };
    for entry in entries {
        let command = Value::String(entry.command.clone());
        if let Some(known) = servers.get_mut(entry.name).and_then(Value::as_object_mut) {
            known.insert("command".to_owned(), command);
        } else {
            let fresh = json!({ "type": "stdio", "command": command, "args": [] });
            servers.insert(entry.name.to_owned(), fresh);
        }
    }
    if after == before {
        return Ok(None);
    }
    printed(&after, &indentation(present.unwrap_or_default())).map(Some)
}

/// Removes entries, and a file that has nothing else.
pub(super) fn without_entries(
    path: &Path,
    present: Option<&str>,
    names: &[&str],
) -> Result<Left, Error> {
    let Some(text) = present.filter(|text| !text.trim().is_empty()) else {
        return Ok(Left::Unchanged);
    };
    let before: Value = serde_json::from_str(text)
        .map_err(|error| unusable(path, &format!("is not valid JSON ({error})")))?;
    let mut after = before.clone();
    if let Some(servers) = after.get_mut("mcpServers").and_then(Value::as_object_mut) {
        for name in names {
            servers.shift_remove(*name);
        }
    }
    if after == before {
        return Ok(Left::Unchanged);
    }
    if after == json!({ "mcpServers": {} }) {
        return Ok(Left::Nothing);
    }
    printed(&after, &indentation(text)).map(Left::Text)
}

pub(super) fn unusable(path: &Path, problem: &str) -> Error {
    Error::new(
        Code::ConfigInvalid,
        format!("{} {problem} and was not changed", path.display()),
    )
    .hint("Repair it by hand or move it away; Claude Code cannot use it either.")
}

/// Returns the indentation of the file, taken from its first indented line.
pub(super) fn indentation(text: &str) -> String {
    let indented = text
        .lines()
        .find(|line| line.starts_with([' ', '\t']) && !line.trim().is_empty());
    match indented {
        Some(line) => line
            .chars()
            .take_while(|c| matches!(c, ' ' | '\t'))
            .collect(),
        None => "  ".to_owned(),
    }
}

pub(super) fn printed(value: &Value, indent: &str) -> Result<String, Error> {
    let mut bytes = Vec::new();
    let formatter = PrettyFormatter::with_indent(indent.as_bytes());
    value
        .serialize(&mut Serializer::with_formatter(&mut bytes, formatter))
        .map_err(|error| Error::new(Code::Internal, format!("cannot write JSON: {error}")))?;
    bytes.push(b'\n');
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<Entry> {
        ["codex-coding", "codex-review"]
            .map(|name| Entry {
                name,
                command: format!("/opt/{name}"),
            })
            .into()
    }

    fn with(present: Option<&str>) -> Result<Option<String>, Error> {
        with_entries(Path::new("/r/.mcp.json"), present, &entries())
    }

    #[test]
    fn what_is_there_stays_in_its_order_and_style() {
        let present = "{\n\t\"zebra\": 1,\n\t\"mcpServers\": {\n\t\t\"mine\": {\"command\": \"x\", \"env\": {\"B\": \"1\", \"A\": \"2\"}},\n\t\t\"codex-review\": {\"command\": \"old\", \"env\": {\"K\": \"v\"}}\n\t},\n\t\"apple\": 2\n}\n";
        let text = with(Some(present)).unwrap().unwrap();
        let expected = "{\n\t\"zebra\": 1,\n\t\"mcpServers\": {\n\t\t\"mine\": {\n\t\t\t\"command\": \"x\",\n\t\t\t\"env\": {\n\t\t\t\t\"B\": \"1\",\n\t\t\t\t\"A\": \"2\"\n\t\t\t}\n\t\t},\n\t\t\"codex-review\": {\n\t\t\t\"command\": \"/opt/codex-review\",\n\t\t\t\"env\": {\n\t\t\t\t\"K\": \"v\"\n\t\t\t}\n\t\t},\n\t\t\"codex-coding\": {\n\t\t\t\"type\": \"stdio\",\n\t\t\t\"command\": \"/opt/codex-coding\",\n\t\t\t\"args\": []\n\t\t}\n\t},\n\t\"apple\": 2\n}\n";
        assert_eq!(text, expected);
        assert_eq!(with(Some(&text)).unwrap(), None);
    }

    #[test]
    fn a_missing_and_an_empty_file_get_just_the_servers() {
        let fresh = with(None).unwrap().unwrap();
        assert_eq!(with(Some(" \n")).unwrap().unwrap(), fresh);
        assert_eq!(with(Some(&fresh)).unwrap(), None);
        assert!(fresh.starts_with("{\n  \"mcpServers\": {\n    \"codex-coding\""));
    }

    #[test]
    fn what_is_put_in_comes_out_again() {
        let without = |text: &str| {
            let names = ["codex-coding", "codex-review"];
            without_entries(Path::new("/r/.mcp.json"), Some(text), &names).unwrap()
        };
        assert_eq!(without(&with(None).unwrap().unwrap()), Left::Nothing);
        let theirs = "{\n  \"mcpServers\": {\n    \"mine\": {}\n  }\n}\n";
        assert_eq!(without(theirs), Left::Unchanged);
        let both = with(Some(theirs)).unwrap().unwrap();
        assert_eq!(without(&both), Left::Text(theirs.to_owned()));
    }

    #[test]
    fn what_is_broken_is_refused() {
        for present in ["{", "[]", "{\"mcpServers\": []}", "null"] {
            let error = with(Some(present)).unwrap_err();
            assert_eq!(error.code, Code::ConfigInvalid, "{present}");
        }
    }
}
