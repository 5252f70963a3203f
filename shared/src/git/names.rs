//! Names that git gives meaning to: branches, references, revisions, remotes, configuration keys.
//!
//! Everything that reaches git's command line as a name passes through here first.

use super::error::{GitError, NameKind};
use crate::model::hidden::first_hidden;

/// Checks a branch name by the rules of git-check-ref-format(1).
pub fn check_branch(name: &str) -> Result<(), GitError> {
    let valid = name != "HEAD" && name != "@" && !name.starts_with('-') && is_ref_path(name);
    valid_or(valid, NameKind::Branch, name)
}

/// Checks a full reference name such as `refs/codex/work-42-a1`.
pub fn check_reference(name: &str) -> Result<(), GitError> {
    let valid = name
        .strip_prefix("refs/")
        .is_some_and(|rest| rest.contains('/') && is_ref_path(rest));
    valid_or(valid, NameKind::Reference, name)
}

/// Checks that a revision cannot be taken for an option and is one line of text.
pub fn check_revision(revision: &str) -> Result<(), GitError> {
    let valid = !revision.is_empty() && !revision.starts_with('-') && is_plain_line(revision);
    valid_or(valid, NameKind::Revision, revision)
}

/// Checks the name of a configured remote (not a URL).
pub fn check_remote(name: &str) -> Result<(), GitError> {
    let valid = !name.starts_with('-') && is_ref_path(name);
    valid_or(valid, NameKind::Remote, name)
}

/// Checks the shape of a configuration key, `section.name` or `section.sub.section.name`.
pub fn check_config_key(key: &str) -> Result<(), GitError> {
    let shape = key.split_once('.').zip(key.rsplit_once('.'));
    let word = |text: &str| {
        text.starts_with(|first: char| first.is_ascii_alphabetic())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let valid = shape.is_some_and(|((section, _), (_, name))| word(section) && word(name))
        && is_plain_line(key);
    valid_or(valid, NameKind::ConfigKey, key)
}

fn valid_or(valid: bool, kind: NameKind, name: &str) -> Result<(), GitError> {
    if valid {
        return Ok(());
    }
    Err(GitError::InvalidName {
        kind,
        name: name.escape_debug().take(200).collect(),
    })
}

/// Tells whether a text is what it looks like: one line, and nothing hidden in it.
fn is_plain_line(text: &str) -> bool {
    first_hidden(text).is_none() && !text.contains(['\n', '\t'])
}

fn is_ref_path(name: &str) -> bool {
    let forbidden = [' ', '~', '^', ':', '?', '*', '[', '\\', '/'];
    is_plain_line(name)
        && !name.is_empty()
        && name.len() <= 240
        && !name.ends_with('.')
        && !name.contains("..")
        && !name.contains("@{")
        && name.split('/').all(|part| {
            !part.is_empty()
                && !part.starts_with('.')
                && !part.to_ascii_lowercase().ends_with(".lock")
                && !part.contains(forbidden)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_no_hidden_characters() {
        for hidden in ['\u{e0041}', '\u{200b}', '\u{202e}', '\u{2028}', '\u{3164}'] {
            let name = format!("ma{hidden}in");
            assert!(check_branch(&name).is_err(), "{name:?}");
            assert!(check_reference(&format!("refs/codex/{name}")).is_err());
            assert!(check_revision(&name).is_err());
            assert!(check_remote(&name).is_err());
        }
        assert!(check_branch("fix-❤\u{fe0f}").is_ok());
    }

    #[test]
    fn branches_follow_the_rules_of_git() {
        for name in ["main", "codex/work-42-a1", "größe", "a#b", "a'b", "x@y"] {
            assert!(check_branch(name).is_ok(), "{name}");
        }
        for name in [
            "", "-D", "HEAD", "@", "a..b", "a b", "/a", "a/", "a//b", ".a", "a/.b", "a.lock", "a.",
            "a~1", "a^", "a:b", "a?", "a*", "a[", "a\\b", "a@{b", "a\nb", "a\u{7f}",
        ] {
            assert!(check_branch(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn references_need_two_levels_and_the_prefix() {
        assert!(check_reference("refs/codex/a").is_ok());
        for name in [
            "refs/a",
            "heads/a",
            "refs/heads/",
            "refs/../a",
            "--refs/heads/a",
        ] {
            assert!(check_reference(name).is_err(), "{name}");
        }
    }

    #[test]
    fn revisions_and_keys_are_not_options() {
        assert!(check_revision("HEAD~3").is_ok());
        assert!(check_revision("--all").is_err());
        assert!(check_revision("a\nb").is_err());
        assert!(check_config_key("user.name").is_ok());
        assert!(check_config_key("branch.a b.c.merge").is_ok());
        assert!(check_config_key("--global.x").is_err());
        assert!(check_config_key("user").is_err());
    }
}
