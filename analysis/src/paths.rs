//! Paths as printable text: unambiguous, and never outside the repository.

use std::fmt::Write as _;

use model::hidden::{Piece, first_hidden, pieces};

/// Returns the name as text in which two different names never look the same.
///
/// Bytes that are not UTF-8 and hidden characters show as `\xNN`, a backslash as `\\`.
pub(crate) fn printable(name: &[u8]) -> String {
    let plain = name
        .iter()
        .all(|&byte| byte >= 0x20 && byte != b'\\' && byte != 0x7f);
    if plain
        && let Ok(text) = std::str::from_utf8(name)
        && first_hidden(text).is_none()
    {
        return text.to_owned();
    }
    let mut text = String::with_capacity(name.len() + 8);
    for chunk in name.utf8_chunks() {
        for piece in pieces(chunk.valid()) {
            match piece {
                Piece::Visible(part) => {
                    let part = part.replace('\\', "\\\\");
                    text.push_str(&part.replace('\n', "\\x0a").replace('\t', "\\x09"));
                }
                Piece::Hidden(character) => {
                    let mut buffer = [0; 4];
                    push_hex(&mut text, character.encode_utf8(&mut buffer).as_bytes());
                }
            }
        }
        push_hex(&mut text, chunk.invalid());
    }
    text
}

fn push_hex(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "\\x{byte:02x}");
    }
}

/// Returns the folder part of a path (`""` for a file at the top).
pub(crate) fn folder_of(path: &str) -> &str {
    path.rfind('/').map_or("", |at| &path[..at])
}

/// Returns the last component of a path.
pub(crate) fn name_of(path: &str) -> &str {
    path.rfind('/').map_or(path, |at| &path[at + 1..])
}

/// Returns the first component of a path (`"."` for a file at the top).
pub(crate) fn top_folder_of(path: &str) -> &str {
    path.find('/').map_or(".", |at| &path[..at])
}

/// Returns whether a path lies in a folder (`""` holds everything).
pub(crate) fn is_under(path: &str, folder: &str) -> bool {
    folder.is_empty()
        || path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/'))
}

/// Joins a folder and a relative path; `None` if that leaves the repository or is absolute.
pub(crate) fn joined(folder: &str, relative: &str) -> Option<String> {
    if relative.starts_with('/') || relative.contains('\0') {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_distinguishable() {
        assert_eq!(printable(b"src/main.rs"), "src/main.rs");
        assert_eq!(printable("é.txt".as_bytes()), "é.txt");
        assert_eq!(printable(b"a\xff"), "a\\xff");
        assert_eq!(printable(b"a\\xff"), "a\\\\xff");
        assert_eq!(printable(b"a\x1b[31m"), "a\\x1b[31m");
        assert_eq!(printable(b"a\nb"), "a\\x0ab");
        assert_eq!(printable("a\u{200b}b".as_bytes()), "a\\xe2\\x80\\x8bb");
    }

    #[test]
    fn joining_never_leaves_the_root() {
        assert_eq!(joined("a/b", "../c.txt").as_deref(), Some("a/c.txt"));
        assert_eq!(joined("", "./x"), Some("x".to_owned()));
        assert_eq!(joined("a", "../../etc/passwd"), None);
        assert_eq!(joined("a", "/etc/passwd"), None);
    }
}
