//! Login of Claude Code: whether there is a key, a token or an account, without using or returning any of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::file;

/// Variables with which Claude Code needs no login.
const VARIABLES: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
];
/// The largest settings file that is looked into.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// What Claude Code would log in with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Login {
    /// This variable is set.
    Variable(&'static str),
    /// Its login is in this file.
    File(PathBuf),
    /// Nothing was found, which is not proof: the login may be in the keychain of the system.
    Unknown,
}

/// The fields that show a login. Only whether they are there is read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fields {
    oauth_account: Option<IgnoredAny>,
    primary_api_key: Option<IgnoredAny>,
    api_key_helper: Option<IgnoredAny>,
}

/// Looks for a login: in variables, in Claude Code's folder, and in its `.claude.json`.
pub fn login(variables: &BTreeMap<String, String>, folder: &Path, config_file: &Path) -> Login {
    let is_set = |name: &&str| variables.get(*name).is_some_and(|value| !value.is_empty());
    if let Some(name) = VARIABLES.iter().find(|name| is_set(name)) {
        return Login::Variable(name);
    }
    let credentials = folder.join(".credentials.json");
    if credentials.metadata().is_ok_and(|found| found.len() > 2) {
        return Login::File(credentials);
    }
    let files = [config_file.to_owned(), folder.join("settings.json")];
    let found = files.into_iter().find(|path| names_login(path));
    found.map_or(Login::Unknown, Login::File)
}

fn names_login(path: &Path) -> bool {
    let text = file::read(path, MAX_FILE_BYTES).unwrap_or_default();
    serde_json::from_slice::<Fields>(&text).is_ok_and(|fields| {
        fields.oauth_account.is_some()
            || fields.primary_api_key.is_some()
            || fields.api_key_helper.is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_a_variable_or_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join(".claude.json");
        let none = BTreeMap::new();
        let look = |variables: &BTreeMap<String, String>| login(variables, folder.path(), &config);
        assert_eq!(look(&none), Login::Unknown);
        std::fs::write(&config, r#"{"oauthAccount": null, "projects": {}}"#).unwrap();
        assert_eq!(look(&none), Login::Unknown);
        std::fs::write(&config, r#"{"oauthAccount": {"emailAddress": "a@b.c"}}"#).unwrap();
        assert_eq!(look(&none), Login::File(config.clone()));
        let credentials = folder.path().join(".credentials.json");
        std::fs::write(&credentials, r#"{"claudeAiOauth": {}}"#).unwrap();
        assert_eq!(look(&none), Login::File(credentials));
        let key =
            |value: &str| BTreeMap::from([("ANTHROPIC_API_KEY".to_owned(), value.to_owned())]);
        assert_eq!(look(&key("x")), Login::Variable("ANTHROPIC_API_KEY"));
        assert_ne!(look(&key("")), Login::Variable("ANTHROPIC_API_KEY"));
    }
}
