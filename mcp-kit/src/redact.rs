//! Taking secrets out of what is recorded.

use serde_json::Value;

use shared::model::secrets::without_secrets;

/// Longest text kept of one field; the whole is in the table it belongs to.
const MAX_TEXT: usize = 2_000;
const REDACTED: &str = "[redacted]";

/// Names of fields whose value is a secret whatever it looks like.
const SECRET_FIELDS: &[&str] = &[
    "token",
    "secret",
    "password",
    "authorization",
    "apikey",
    "api_key",
];

/// What well-known secrets begin with.
const SECRET_PREFIXES: &[&str] = &[
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "sk-ant-",
    "sk-",
    "xoxb-",
    "xoxp-",
    "AKIA",
];
/// Shorter words with such a prefix are just words.
const SECRET_LENGTH: usize = 20;

/// Returns the value with secrets replaced and long texts cut.
pub(super) fn redact(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(redact_text(text)),
        Value::Array(items) => items.iter().map(redact).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| {
                let lower = name.to_lowercase();
                let secret = SECRET_FIELDS.iter().any(|field| lower.contains(field));
                let kept = if secret && !value.is_null() {
                    Value::String(REDACTED.to_owned())
                } else {
                    redact(value)
                };
                (name.clone(), kept)
            })
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn redact_text(text: &str) -> String {
    // Before it is cut: half a secret is not known as one.
    let text = &*without_secrets(text);
    let (kept, rest) = match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => text.split_at(end),
        None => (text, ""),
    };
    let mut clean = String::with_capacity(kept.len());
    let is_word = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
    let mut remaining = kept;
    while !remaining.is_empty() {
        let word_end = remaining.find(|c| !is_word(c)).unwrap_or(remaining.len());
        let (word, after) = remaining.split_at(word_end);
        clean.push_str(if is_secret(word) { REDACTED } else { word });
        let gap_end = after.find(is_word).unwrap_or(after.len());
        let (gap, next) = after.split_at(gap_end);
        clean.push_str(gap);
        remaining = next;
        if gap.ends_with("://") {
            remaining = skip_credentials(remaining, &mut clean);
        }
    }
    if !rest.is_empty() {
        let more = rest.chars().count();
        clean.extend(["… (", &more.to_string(), " more characters)"]);
    }
    clean
}

fn is_secret(word: &str) -> bool {
    word.len() >= SECRET_LENGTH
        && SECRET_PREFIXES
            .iter()
            .any(|prefix| word.starts_with(prefix))
}

/// Leaves out `user:password@` of an address.
fn skip_credentials<'a>(address: &'a str, clean: &mut String) -> &'a str {
    let authority_end = address
        .find(|c: char| c == '/' || c.is_whitespace())
        .unwrap_or(address.len());
    match address[..authority_end].rfind('@') {
        Some(at) => {
            clean.push_str(REDACTED);
            &address[at..]
        }
        None => address,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
        let text = "é".repeat(MAX_TEXT + 5);
        let cut = redact_text(&text);
        assert!(cut.ends_with("… (5 more characters)"));
        assert_eq!(redact_text("short"), "short");
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
