//! Redacts secrets and terminal codes in text from git, hooks and remotes, and bounds it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::model::Secret;
use crate::model::hidden::drop_hidden;
use crate::model::secrets::{REDACTED, without_url_credentials};

/// How much of a child's output an error holds: enough for any message, not for a dump.
const MAX_SHOWN: usize = 4_000;

/// Returns the text without the secret, URL credentials and hidden characters, and bounded.
pub(super) fn shown(text: &str, secret: Option<&Secret>) -> String {
    let mut text = text.to_owned();
    for part in secret.map(parts).unwrap_or_default() {
        if part.len() >= 4 {
            text = text.replace(&part, REDACTED);
        }
    }
    let text = without_url_credentials(&text);
    let printable = drop_hidden(&text);
    let printable = printable.trim();
    if printable.len() <= MAX_SHOWN {
        return printable.to_owned();
    }
    // The end says why git gave up; the beginning is often a hook's chatter.
    let start = (printable.len() - MAX_SHOWN..printable.len())
        .find(|&index| printable.is_char_boundary(index))
        .unwrap_or(printable.len());
    format!("[…]{}", &printable[start..])
}

/// Returns the forms in which a secret header could show: whole, its value, the password in that.
///
/// A header is `Name: Scheme value`, and the value of the scheme Basic is `user:password` in base64.
fn parts(header: &Secret) -> Vec<String> {
    let whole = header.expose();
    let value = whole.split_whitespace().next_back().unwrap_or_default();
    let decoded = STANDARD.decode(value).unwrap_or_default();
    let decoded = String::from_utf8(decoded).unwrap_or_default();
    let password = decoded.split_once(':').map(|(_, password)| password);
    [Some(whole), Some(value), password]
        .into_iter()
        .flatten()
        .map(str::to_owned)
        .collect()
}

/// Returns an http(s) URL without user and password, any other URL as it is.
pub(super) fn url_without_credentials(url: &str) -> String {
    for scheme in ["https://", "http://"] {
        if let Some(rest) = url.strip_prefix(scheme) {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = authority.rsplit('@').next().unwrap_or(authority);
            return format!("{scheme}{host}{path}");
        }
    }
    url.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_credentials_do_not_show() {
        let secret = Secret::new("Authorization: Basic c2VjcmV0");
        let text = "fatal: https://me:pw@host/x said \u{1b}[31mc2VjcmV0\u{1b}[0m, Authorization: Basic c2VjcmV0";
        let shown = shown(text, Some(&secret));
        assert_eq!(
            shown,
            "fatal: https://[redacted]@host/x said [31m[redacted][0m, [redacted]"
        );
        assert_eq!(format!("{secret:?}"), "Secret([redacted])");
    }

    #[test]
    fn a_password_does_not_show_outside_its_header_either() {
        let secret = Secret::new("Authorization: Basic bWU6cGFzc3dvcmQ=");
        assert_eq!(shown("me, password!", Some(&secret)), "me, [redacted]!");
    }

    #[test]
    fn long_text_keeps_its_end() {
        let text = format!("{}the end", "ü".repeat(10_000));
        let shown = shown(&text, None);
        assert!(shown.len() < 4_100 && shown.ends_with("the end"));
    }

    #[test]
    fn urls_lose_only_what_is_secret() {
        assert_eq!(
            url_without_credentials("https://t@h/o/r@1"),
            "https://h/o/r@1"
        );
        assert_eq!(url_without_credentials("git@h:o/r"), "git@h:o/r");
    }
}
