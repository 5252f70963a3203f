//! Sanitises text of a repository for reports: one line, no hidden characters, bounded.

use model::hidden::drop_hidden;

/// Returns the text on one line, without hidden characters, at most `limit` bytes long.
pub(crate) fn harmless(text: &str, limit: usize) -> String {
    let mut result = String::with_capacity(text.len().min(limit));
    let mut pending_space = false;
    for character in drop_hidden(text).chars() {
        if character.is_whitespace() {
            pending_space = !result.is_empty();
            continue;
        }
        let needed = character.len_utf8() + usize::from(pending_space);
        if result.len() + needed + '…'.len_utf8() > limit {
            result.push('…');
            return result;
        }
        if std::mem::take(&mut pending_space) {
            result.push(' ');
        }
        result.push(character);
    }
    result
}

/// Cuts text to at most `limit` bytes at a character boundary, marking the cut with `…`.
pub(crate) fn shortened(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let mut end = limit.saturating_sub('…'.len_utf8());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

/// Returns an address without user name, password, query and fragment: they may hold a secret.
pub(crate) fn without_credentials(address: &str) -> String {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = address.split_once("://") else {
        return address.to_owned();
    };
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_becomes_harmless() {
        assert_eq!(harmless("a\n\x1b[31m  b\u{202e}c ", 50), "a [31m bc");
        assert_eq!(harmless("éééééé", 8), "éé…");
        assert_eq!(harmless("  ", 8), "");
        assert_eq!(
            harmless("a\u{ad}b\u{e0101}c 👩\u{200d}💻", 50),
            "abc 👩\u{200d}💻"
        );
    }

    #[test]
    fn shortens_at_character_boundaries() {
        assert_eq!(shortened("short", 10), "short");
        assert_eq!(shortened("ééééééé", 8), "éé…");
    }

    #[test]
    fn secrets_leave_addresses() {
        assert_eq!(
            without_credentials("https://me:ghp_secret@github.com/a/b.git?token=x#main"),
            "https://github.com/a/b.git"
        );
        assert_eq!(
            without_credentials("git@github.com:a/b"),
            "git@github.com:a/b"
        );
        assert_eq!(without_credentials("ssh://git@host/a@b"), "ssh://host/a@b");
    }
}
