//! Prompt templates of each role, their placeholders, and the first message.

use super::error::AgentError;
use crate::model::InstanceKind as Role;
use crate::model::closed_enum;
use crate::model::hidden::drop_hidden;

const CODING: &str = include_str!("../../prompts/coding.md");
const REVIEW: &str = include_str!("../../prompts/review.md");
const PLANNING: &str = include_str!("../../prompts/planning.md");
const TDD_CODER: &str = include_str!("../../prompts/tdd-coder.md");
const TDD_REVIEWER: &str = include_str!("../../prompts/tdd-reviewer.md");

closed_enum!(
    /// The templates there are, by the names of their files.
    Template, "prompt template" {
        Coding = "coding",
        Review = "review",
        Planning = "planning",
        TddCoder = "tdd-coder",
        TddReviewer = "tdd-reviewer",
    }
);

impl From<Role> for Template {
    fn from(role: Role) -> Self {
        match role {
            Role::Coding => Self::Coding,
            Role::Review => Self::Review,
            Role::Planning => Self::Planning,
        }
    }
}

/// What a template may name. One list for all roles, so that a template can be moved between them.
pub const PLACEHOLDERS: [&str; 10] = [
    "instance",
    "branch",
    "base",
    "base_commit",
    "worktree",
    "server",
    "round",
    "max_rounds",
    "round_note",
    "earlier_findings",
];

/// Values for placeholders, by name.
pub type Values<'a> = std::collections::BTreeMap<&'a str, &'a str>;

/// Returns a template: the repository's own text if there is one, else the built-in.
pub fn template(which: impl Into<Template>, own: Option<&str>) -> String {
    if let Some(text) = own {
        return text.to_owned();
    }
    let built_in = match which.into() {
        Template::Coding => CODING,
        Template::Review => REVIEW,
        Template::Planning => PLANNING,
        Template::TddCoder => TDD_CODER,
        Template::TddReviewer => TDD_REVIEWER,
    };
    built_in.to_owned()
}

/// Fills in a template; values are never looked at for placeholders again, and nothing hidden is left.
///
/// A placeholder without a value is an error that names it: an agent must not read `{{base}}`.
pub fn render(name: &str, template: &str, values: &Values<'_>) -> Result<String, AgentError> {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (placeholder, behind) =
            after
                .split_once("}}")
                .ok_or_else(|| AgentError::OpenPlaceholder {
                    template: name.to_owned(),
                })?;
        let value =
            values
                .get(placeholder.trim())
                .ok_or_else(|| AgentError::UnknownPlaceholder {
                    template: name.to_owned(),
                    name: placeholder.trim().to_owned(),
                })?;
        text.push_str(before);
        text.push_str(value);
        rest = behind;
    }
    text.push_str(rest);
    Ok(drop_hidden(&text))
}

/// Returns the first message: a fixed first line, then the task without hidden characters.
///
/// The line keeps a task that starts with `/` or `-` from being a command or a flag.
pub fn first_message(role: Role, instance: &str, task: &str) -> String {
    let what = match role {
        Role::Coding => "Your task",
        Role::Review => "The review asked of you",
        Role::Planning => "What to plan",
    };
    format!("{what} as {instance}:\n\n{}", drop_hidden(task))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_inserted_literally() {
        let values = Values::from([("base", "{{branch}} $1 {{"), ("branch", "b")]);
        let text = render("t", "from {{base}} to {{ branch }}.", &values).unwrap();
        assert_eq!(text, "from {{branch}} $1 {{ to b.");
    }

    #[test]
    fn an_unknown_placeholder_is_named() {
        let error = render("coding", "a {{bse}} b", &Values::new()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the prompt template coding has the unknown placeholder {{bse}}"
        );
        let error = render("coding", "a {{base", &Values::new()).unwrap_err();
        assert!(matches!(error, AgentError::OpenPlaceholder { .. }));
    }

    #[test]
    fn built_in_templates_use_known_placeholders_only() {
        let values: Values<'_> = PLACEHOLDERS.iter().map(|name| (*name, "value")).collect();
        for &which in Template::ALL {
            let template = template(which, None);
            let text = render(which.as_str(), &template, &values).unwrap();
            assert!(!text.contains("{{"), "{text}");
        }
    }

    #[test]
    fn a_repository_template_replaces_the_built_in_one() {
        assert_eq!(template(Role::Review, Some("Mine")), "Mine");
        assert_eq!(template(Role::Coding, None), CODING);
    }

    #[test]
    fn the_first_message_never_starts_with_the_task() {
        for task in ["/exit", "-p", "!rm", "\u{1b}[201~\r!x", "\0"] {
            let message = first_message(Role::Coding, "work-1-a1", task);
            assert!(message.starts_with("Your task as work-1-a1:\n\n"));
            assert!(!message.contains(['\u{1b}', '\r', '\0']));
        }
    }

    #[test]
    fn hidden_characters_reach_no_agent() {
        let message = first_message(Role::Coding, "work-1-a1", "Fix\u{e0041}\u{200b} it");
        assert!(message.ends_with("\n\nFix it"));
        // Neither from a repository's own template nor from the name of a branch.
        let values = Values::from([("branch", "a\u{202e}b")]);
        let text = render("t", "On\u{e0041} {{branch}}\u{feff}.", &values).unwrap();
        assert_eq!(text, "On ab.");
    }
}
