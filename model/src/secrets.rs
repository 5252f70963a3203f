//! Secrets of the person's environment, known by the names of their variables: they stand in no record, log, error or answer.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde_json::Value;

const REDACTED: &str = "[redacted]";
/// Shorter values are found in ordinary words.
const SHORTEST: usize = 8;
/// A part of a variable's name, between underscores, that says that its value is a secret.
const NAMES: &[&str] = &[
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "APIKEY",
    "CREDENTIAL",
    "CREDENTIALS",
];
/// What comes before `KEY` in such a name.
const KEYS: &[&str] = &[
    "API",
    "PRIVATE",
    "ACCESS",
    "SECRET",
    "SIGNING",
    "ENCRYPTION",
];
/// Names that end so say where the secret is.
const PLACES: &[&str] = &["FILE", "PATH", "DIR"];

/// The secrets of this process, longest first: one may be part of another.
static SECRETS: OnceLock<Vec<String>> = OnceLock::new();

/// Keeps what must not be told.
pub fn remember(variables: &BTreeMap<String, String>) {
    // The environment of a process is read once; who makes another one for a test has the first.
    let _ = SECRETS.set(among(variables));
}

/// Returns a text without the secrets of this process's environment.
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    without(text, SECRETS.get().map_or(&[], Vec::as_slice))
}

/// Returns a value without the secrets of this process's environment, in names of fields too.
pub fn value_without_secrets(value: Value) -> Value {
    match value {
        Value::String(text) => match without_secrets(&text) {
            Cow::Owned(clean) => Value::String(clean),
            Cow::Borrowed(_) => Value::String(text),
        },
        Value::Array(items) => items.into_iter().map(value_without_secrets).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| {
                let name = without_secrets(&name).into_owned();
                (name, value_without_secrets(value))
            })
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

fn without<'t>(text: &'t str, secrets: &[String]) -> Cow<'t, str> {
    secrets.iter().fold(Cow::Borrowed(text), |text, secret| {
        if text.contains(secret) {
            Cow::Owned(text.replace(secret, REDACTED))
        } else {
            text
        }
    })
}

fn among(variables: &BTreeMap<String, String>) -> Vec<String> {
    let mut secrets: Vec<String> = variables
        .iter()
        .filter(|(name, value)| is_secret(name, value))
        // A key of several lines may be told in part.
        .flat_map(|(_, value)| value.lines())
        .map(str::trim)
        .filter(|part| part.len() >= SHORTEST && !part.starts_with("-----"))
        .map(str::to_owned)
        .collect();
    secrets.sort_by(|one, other| other.len().cmp(&one.len()).then(one.cmp(other)));
    secrets.dedup();
    secrets
}

fn is_secret(name: &str, value: &str) -> bool {
    let name = name.to_uppercase();
    // `POSTGRES_PASSWORD=postgres` hides nothing, and the word is in many texts.
    if value.len() < SHORTEST || name.contains(&value.to_uppercase()) {
        return false;
    }
    let parts: Vec<&str> = name.split('_').collect();
    let is_place = parts.last().is_some_and(|last| PLACES.contains(last));
    let is_key = |pair: &[&str]| pair[1] == "KEY" && KEYS.contains(&pair[0]);
    !is_place && (parts.iter().any(|part| NAMES.contains(part)) || parts.windows(2).any(is_key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(variables: &[(&str, &str)]) -> Vec<String> {
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        among(&variables.collect())
    }

    #[test]
    fn secrets_are_known_by_their_names() {
        for name in [
            "DEPLOY_TOKEN",
            "npm_token",
            "PASSWORD",
            "DB_PASSWORD_2",
            "CLIENT_SECRET",
            "STRIPE_API_KEY",
            "SSH_PRIVATE_KEY",
            "AWS_SECRET_ACCESS_KEY",
        ] {
            assert_eq!(
                secrets(&[(name, "hunter2-hunter2")]),
                ["hunter2-hunter2"],
                "{name}"
            );
        }
        for (name, value) in [
            ("MAX_OUTPUT_TOKENS", "32000000"),
            ("TOKEN_FILE", "/home/me/token"),
            ("KEYBOARD", "hunter2-hunter2"),
            ("SSH_KEY_PATH", "/home/me/.ssh"),
            ("PASSWORD", "short"),
            ("POSTGRES_PASSWORD", "postgres"),
        ] {
            assert!(secrets(&[(name, value)]).is_empty(), "{name}");
        }
    }

    #[test]
    fn no_part_of_a_secret_is_left() {
        let key = "-----BEGIN KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQ\n-----END KEY-----";
        let secrets = secrets(&[
            ("A_TOKEN", "abcdefgh"),
            ("B_TOKEN", "abcdefghijkl"),
            ("C_PRIVATE_KEY", key),
        ]);
        assert_eq!(
            without("abcdefghijkl, abcdefgh.", &secrets),
            "[redacted], [redacted]."
        );
        assert!(!without("two: kqhkiG9w0BAQ", &secrets).contains("kqhki"));
        assert!(!without(key, &secrets).contains("MIIE"));
        assert!(matches!(
            without("nothing here", &secrets),
            Cow::Borrowed(_)
        ));
    }
}
