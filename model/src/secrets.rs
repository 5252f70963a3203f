//! Secrets: the one table of patterns by which they are known, and their redaction.
//!
//! Values of secret environment variables are certain: they are removed from records, logs, errors and replies
//! ([`without_secrets`]). Records are also redacted by what a secret looks like ([`redact`]); replies are not, because an
//! agent needs a branch name or an address as it is.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde_json::Value;

/// Replaces every secret.
pub const REDACTED: &str = "[redacted]";
/// The longest text of one field in a record. The whole text is in the table that it belongs to.
const MAX_RECORDED_CHARS: usize = 2_000;
/// Shorter values of variables also occur in ordinary text.
const MIN_VALUE_LENGTH: usize = 8;
/// Shorter words with the prefix of a token are ordinary words.
const MIN_TOKEN_LENGTH: usize = 20;

/// A word in the name of a variable or a field that says that its value is a secret; `GITHUBTOKEN` ends with one.
const SECRET_WORDS: &[&str] = &[
    "token",
    "secret",
    "secrets",
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "authorization",
    "apikey",
    "credential",
    "credentials",
];
/// Words that make a secret of the word `key` after them.
const SECRET_KEYS: &[&str] = &[
    "api",
    "private",
    "access",
    "secret",
    "signing",
    "encryption",
];
/// Last words of names whose value says where the secret is.
const LOCATION_WORDS: &[&str] = &["file", "path", "dir"];
/// Prefixes of tokens that well-known services issue.
const TOKEN_PREFIXES: &[&str] = &[
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "sk-",
    "xoxb-",
    "xoxp-",
    "AKIA",
];

/// The secret values of this process's environment, longest first, because one may be part of another.
static SECRETS: OnceLock<Vec<String>> = OnceLock::new();

/// Remembers the secret values of the process's environment; only the first call counts.
pub fn remember(variables: &BTreeMap<String, String>) {
    let _ = SECRETS.set(secret_values(variables));
}

/// Returns a text without the secret values of this process's environment.
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    without(text, SECRETS.get().map_or(&[], Vec::as_slice))
}

/// Returns a value without the secret values of this process's environment, including the names of fields.
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

/// Returns a value as it may be recorded: without anything that looks like a secret, and with long texts cut.
pub fn redact(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(redact_text(text)),
        Value::Array(items) => items.iter().map(redact).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| {
                let kept = if is_secret_name(name) && !value.is_null() {
                    Value::String(REDACTED.to_owned())
                } else {
                    redact(value)
                };
                (without_secrets(name).into_owned(), kept)
            })
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Returns a text without anything that looks like a secret.
pub fn redacted(text: &str) -> String {
    without_tokens(&without_url_credentials(&without_secrets(text)))
}

fn redact_text(text: &str) -> String {
    // Redacted before it is cut: half a secret is not recognised.
    let mut clean = redacted(text);
    if let Some((end, _)) = clean.char_indices().nth(MAX_RECORDED_CHARS) {
        let more = clean[end..].chars().count();
        clean.truncate(end);
        clean.push_str(&format!("… ({more} more characters)"));
    }
    clean
}

/// Replaces the user and password of every URL in a text.
pub fn without_url_credentials(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(position) = rest.find("://") {
        let (before, after) = rest.split_at(position + 3);
        clean.push_str(before);
        let end = after
            .find(|c: char| c.is_whitespace() || matches!(c, '/' | '\'' | '"'))
            .unwrap_or(after.len());
        let (authority, tail) = after.split_at(end);
        match authority.rsplit_once('@') {
            Some((_, host)) => clean.extend([REDACTED, "@", host]),
            None => clean.push_str(authority),
        }
        rest = tail;
    }
    clean.push_str(rest);
    clean
}

fn without_tokens(text: &str) -> String {
    let ends_word = |c: char| !c.is_ascii_alphanumeric() && !"_-".contains(c);
    text.split_inclusive(ends_word)
        .flat_map(|part| {
            let (word, end) = part.split_at(part.trim_end_matches(ends_word).len());
            [if is_token(word) { REDACTED } else { word }, end]
        })
        .collect()
}

fn is_token(word: &str) -> bool {
    word.len() >= MIN_TOKEN_LENGTH && TOKEN_PREFIXES.iter().any(|prefix| word.starts_with(prefix))
}

fn secret_values(variables: &BTreeMap<String, String>) -> Vec<String> {
    let mut secrets: Vec<String> = variables
        .iter()
        // `POSTGRES_PASSWORD=postgres` hides nothing, and the word is in many texts.
        .filter(|(name, value)| {
            is_secret_name(name) && !name.to_lowercase().contains(&value.to_lowercase())
        })
        // A key of several lines may be quoted in part.
        .flat_map(|(_, value)| value.lines())
        .map(str::trim)
        .filter(|part| part.len() >= MIN_VALUE_LENGTH && !part.starts_with("-----"))
        .map(str::to_owned)
        .collect();
    secrets.sort_by(|one, other| other.len().cmp(&one.len()).then(one.cmp(other)));
    secrets.dedup();
    secrets
}

/// Tells whether the name of a variable (`DEPLOY_TOKEN`) or field (`githubToken`) says that its value is a secret.
fn is_secret_name(name: &str) -> bool {
    let words = words_of(name);
    let is_location = words
        .last()
        .is_some_and(|last| LOCATION_WORDS.contains(&last.as_str()));
    let is_secret = |word: &String| SECRET_WORDS.iter().any(|secret| word.ends_with(secret));
    let is_key = |pair: &[String]| pair[1] == "key" && SECRET_KEYS.contains(&pair[0].as_str());
    !is_location && (words.iter().any(is_secret) || words.windows(2).any(is_key))
}

/// Splits a name at underscores, hyphens and where camel case begins a word; in lower case.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for character in name.chars() {
        let separates = matches!(character, '_' | '-');
        if separates || (was_lower && character.is_uppercase()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| !separates) {
            word.extend(character.to_lowercase());
        }
        was_lower = character.is_lowercase();
    }
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn secrets(variables: &[(&str, &str)]) -> Vec<String> {
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        secret_values(&variables.collect())
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
            "githubToken",
            "apiKey",
            "MYAPIKEY",
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

    #[test]
    fn secrets_go_and_the_rest_stays() {
        let token = format!("ghp_{}", "a1".repeat(18));
        let value = json!({
            "title": format!("use {token}, please"),
            "githubToken": "anything at all",
            "nested": [{"url": "https://me:hunter2@example.com/x y@z"}],
            "harmless": "the sk-learn package, ghp_short, a@b",
            "hours": 2.5,
        });
        assert_eq!(
            redact(&value),
            json!({
                "title": "use [redacted], please",
                "githubToken": "[redacted]",
                "nested": [{"url": "https://[redacted]@example.com/x y@z"}],
                "harmless": "the sk-learn package, ghp_short, a@b",
                "hours": 2.5,
            })
        );
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let text = "é".repeat(MAX_RECORDED_CHARS + 5);
        let cut = redact_text(&text);
        assert!(cut.ends_with("… (5 more characters)"));
        assert_eq!(redact_text("short"), "short");
    }

    #[test]
    fn urls_lose_only_what_is_secret() {
        assert_eq!(
            without_url_credentials("a://b c://u@d, 'https://me:pw@host'"),
            "a://b c://[redacted]@d, 'https://[redacted]@host'"
        );
    }

    proptest::proptest! {
        #[test]
        fn no_token_survives_any_surroundings(before in ".{0,40}", after in "([^A-Za-z0-9_-].{0,40})?") {
            let token = format!("sk-ant-{}", "x1".repeat(20));
            let text = format!("{before} {token}{after}");
            proptest::prop_assert!(!redact_text(&text).contains(&token));
        }
    }
}
