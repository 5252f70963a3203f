//! Ids that people can read, as types that can't be mixed up.
//!
//! ```compile_fail
//! use shared::model::{InstanceId, TaskId};
//! fn stop(_: &InstanceId) {}
//! stop(&TaskId::random()); // a task is not an instance
//! ```

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The longest id. It is also a tmux session name and the last part of a branch and a folder name.
const MAX_LENGTH: usize = 80;
/// How much of a prompt goes into an id.
const SLUG_LENGTH: usize = 24;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not an id: ids have 1 to {MAX_LENGTH} characters out of a-z, A-Z, 0-9, `-` and `_`, and begin with a letter or digit"
)]
pub struct InvalidId(pub String);

macro_rules! id_type {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[derive(Serialize, Deserialize, schemars::JsonSchema)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                let well_formed = (1..=MAX_LENGTH).contains(&text.len())
                    && text
                        .bytes()
                        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
                    && text.as_bytes()[0].is_ascii_alphanumeric();
                if well_formed {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(InvalidId(text.chars().take(MAX_LENGTH).collect()))
                }
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;

            fn try_from(text: String) -> Result<Self, InvalidId> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.pad(&self.0)
            }
        }
    };
}

id_type!(
    /// An agent: `work-42-a1`, `work-fix-login-a2`, `review-42-a1-r2`, `plan-cache-a1`.
    InstanceId
);
id_type!(
    /// A planned task: `task-` and eight hex digits.
    TaskId
);
id_type!(
    /// A message owed to an agent: `m-` and twelve hex digits.
    MessageId
);

impl TaskId {
    /// Returns a new id; the store retries on the rare clash.
    pub fn random() -> Self {
        Self(format!(
            "task-{}",
            &Uuid::new_v4().simple().to_string()[..8]
        ))
    }
}

impl MessageId {
    /// Returns a new id, hard enough to guess that nobody else's text contains it by chance.
    pub fn random() -> Self {
        Self(format!("m-{}", &Uuid::new_v4().simple().to_string()[..12]))
    }
}

/// What an instance works on, as it appears in its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    Issue(u64),
    Text(String),
}

impl Subject {
    fn slug(&self) -> String {
        match self {
            Self::Issue(number) => number.to_string(),
            Self::Text(text) => slug(text),
        }
    }
}

impl InstanceId {
    /// Returns the id of the n-th coding agent on a subject.
    pub fn coding(subject: &Subject, attempt: u32) -> Self {
        Self(format!("work-{}-a{attempt}", subject.slug()))
    }

    /// Returns the id of the n-th planning agent on a subject.
    pub fn planning(subject: &Subject, attempt: u32) -> Self {
        Self(format!("plan-{}-a{attempt}", subject.slug()))
    }

    /// Returns the id of a coder's n-th reviewer.
    pub fn review(coder: &InstanceId, round: u32) -> Self {
        let subject = coder.0.strip_prefix("work-").unwrap_or(&coder.0);
        Self(format!("review-{subject}-r{round}"))
    }
}

/// Turns any text into a short id part: its first words, ASCII, lower case.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for word in text
        .split(|character: char| !character.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        let separator = usize::from(!slug.is_empty());
        if !slug.is_empty() && slug.len() + separator + word.len() > SLUG_LENGTH {
            break;
        }
        if separator == 1 {
            slug.push('-');
        }
        slug.extend(
            word.chars()
                .take(SLUG_LENGTH)
                .map(|character| character.to_ascii_lowercase()),
        );
    }
    if slug.is_empty() {
        slug.push_str("task");
    }
    slug
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_read_as_designed() {
        let coder = InstanceId::coding(&Subject::Issue(42), 1);
        assert_eq!(coder.as_str(), "work-42-a1");
        assert_eq!(InstanceId::review(&coder, 2).as_str(), "review-42-a1-r2");
        let planner = InstanceId::planning(&Subject::Text("Cache!".into()), 1);
        assert_eq!(planner.as_str(), "plan-cache-a1");
    }

    #[test]
    fn slugs_are_short_whole_words() {
        assert_eq!(
            slug("Fix the login page, which fails when $(rm -rf /)"),
            "fix-the-login-page-which"
        );
        assert_eq!(slug("日本語"), "task");
        assert_eq!(slug(&"x".repeat(500)).len(), SLUG_LENGTH);
    }

    proptest::proptest! {
        #[test]
        fn any_text_gives_a_valid_id(text in ".*", attempt in 1u32..) {
            let id = InstanceId::coding(&Subject::Text(text), attempt);
            proptest::prop_assert_eq!(id.as_str().parse::<InstanceId>(), Ok(id.clone()));
            let reviewer = InstanceId::review(&id, attempt);
            proptest::prop_assert_eq!(reviewer.as_str().parse::<InstanceId>(), Ok(reviewer.clone()));
        }

        #[test]
        fn hostile_ids_are_refused(text in "[^a-zA-Z0-9_-].*") {
            proptest::prop_assert!(text.parse::<InstanceId>().is_err());
        }
    }
}
