//! Claude Code permission rules, per role and permission mode.

use std::path::Path;

use serde::Serialize;

use super::error::AgentError;
use super::project_commands::Command;
use crate::model::{InstanceKind as Role, PermissionMode};

/// The configuration of one role's permissions.
#[derive(Debug, Clone, Default)]
pub struct PermissionOptions {
    pub mode: PermissionMode,
    /// Lets a reviewer edit and commit (a failing test, say). A coder always may, a planner never.
    pub reviewer_edits: bool,
    /// More rules, as Claude Code writes them.
    pub allow: Vec<String>,
    pub deny: Vec<String>,
}

/// The `permissions` of a Claude Code settings file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rules {
    /// Always written: what Claude Code does without it changes between releases.
    #[serde(rename = "defaultMode")]
    pub default_mode: &'static str,
    pub allow: Vec<String>,
    pub deny: Vec<String>,
}

/// Git commands that change the agent's own worktree and branch. `push` is not among them: `create_pr`
/// pushes, and who pushes by hand asks a person.
///
/// Those that only look (`log`, `diff`, `grep` …) need no rule: Claude Code lets them pass by itself, and looks at
/// their arguments first. A rule would let `git grep --open-files-in-pager=PROGRAM` and `git diff --output=FILE` pass.
const GIT_WRITES: [&str; 15] = [
    "add",
    "apply",
    "branch",
    "checkout",
    "cherry-pick",
    "commit",
    "fetch",
    "merge",
    "mv",
    "rebase",
    "reset",
    "restore",
    "revert",
    "rm",
    "stash",
];

/// Refused even when a person's own settings allow all of git: it destroys work that others have.
const FORCED_PUSHES: [&str; 6] = [
    "Bash(git push --force*)",
    "Bash(git push -f*)",
    "Bash(git push * --force*)",
    "Bash(git push * -f*)",
    "Bash(git push * +*)",
    "Bash(git push*--mirror*)",
];

const EDITING_TOOLS: [&str; 3] = ["Edit", "Write", "NotebookEdit"];

/// Returns the rules for an agent in a worktree whose own files are in `files`.
pub fn rules(
    role: Role,
    options: &PermissionOptions,
    worktree: &Path,
    files: &Path,
    commands: &[Command],
    is_root: bool,
) -> Result<Rules, AgentError> {
    let edits = match role {
        Role::Coding => true,
        Role::Review => options.reviewer_edits,
        Role::Planning => false,
    };
    let mut allow = vec![
        format!("mcp__{}__*", role.registered_name()),
        // The prompt file lies outside the worktree, where reading would ask.
        format!("Read({})", everything_in(files)?),
    ];
    let practical = match options.mode {
        PermissionMode::Practical | PermissionMode::DontAsk => true,
        PermissionMode::Bypass => false,
    };
    if practical {
        if edits {
            allow.push(format!("Edit({})", everything_in(worktree)?));
            let git = GIT_WRITES.iter();
            allow.extend(git.map(|command| format!("Bash(git {command}:*)")));
        }
        if role != Role::Planning {
            allow.extend(commands.iter().map(rule));
        }
    }
    allow.extend(options.allow.iter().cloned());
    let mut deny: Vec<String> = FORCED_PUSHES.map(str::to_owned).into();
    if !edits {
        deny.extend(EDITING_TOOLS.map(str::to_owned));
    }
    deny.extend(options.deny.iter().cloned());
    Ok(Rules {
        default_mode: default_mode(options.mode, edits, is_root)?,
        allow,
        deny,
    })
}

fn default_mode(
    mode: PermissionMode,
    edits: bool,
    is_root: bool,
) -> Result<&'static str, AgentError> {
    Ok(match mode {
        // acceptEdits also lets file commands such as `rm` and `sed -i` pass, so not for readers.
        PermissionMode::Practical if edits => "acceptEdits",
        PermissionMode::Practical => "default",
        PermissionMode::DontAsk => "dontAsk",
        PermissionMode::Bypass if is_root => return Err(AgentError::BypassAsRoot),
        PermissionMode::Bypass => "bypassPermissions",
    })
}

fn rule(command: &Command) -> String {
    let arguments = if command.arguments { ":*" } else { "" };
    format!("Bash({}{arguments})", command.words)
}

/// A pattern for an absolute directory: one leading slash would mean "beside the settings file".
fn everything_in(directory: &Path) -> Result<String, AgentError> {
    let text = directory.to_str().ok_or_else(|| AgentError::NotUtf8 {
        path: directory.to_owned(),
    })?;
    if !directory.is_absolute() {
        return Err(AgentError::NotAbsolute {
            path: directory.to_owned(),
        });
    }
    Ok(format!("/{}/**", text.trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules_for(role: Role, options: &PermissionOptions) -> Rules {
        let commands = [
            Command {
                words: "cargo test".to_owned(),
                arguments: true,
            },
            Command {
                words: "npm ci".to_owned(),
                arguments: false,
            },
        ];
        rules(
            role,
            options,
            Path::new("/w t"),
            Path::new("/files"),
            &commands,
            false,
        )
        .unwrap()
    }

    fn has(rules: &[String], rule: &str) -> bool {
        rules.iter().any(|known| known == rule)
    }

    /// With any rule for git an agent that only reads could write files and run programs.
    fn names_git(rules: &Rules) -> bool {
        rules.allow.iter().any(|rule| rule.contains("git"))
    }

    #[test]
    fn a_coder_edits_commits_and_tests() {
        let rules = rules_for(Role::Coding, &PermissionOptions::default());
        assert_eq!(rules.default_mode, "acceptEdits");
        for rule in [
            "mcp__codex-coding__*",
            "Read(//files/**)",
            "Edit(//w t/**)",
            "Bash(git commit:*)",
            "Bash(cargo test:*)",
            "Bash(npm ci)",
        ] {
            assert!(has(&rules.allow, rule), "{rule}");
        }
        assert!(!rules.allow.iter().any(|rule| rule.contains("push")));
        assert!(has(&rules.deny, "Bash(git push --force*)") && !has(&rules.deny, "Edit"));
    }

    #[test]
    fn a_reviewer_reads_and_tests_and_edits_only_when_allowed() {
        let rules = rules_for(Role::Review, &PermissionOptions::default());
        assert_eq!(rules.default_mode, "default");
        assert!(has(&rules.allow, "Bash(cargo test:*)") && !names_git(&rules));
        assert!(has(&rules.deny, "Write") && has(&rules.deny, "Edit"));
        let editing = PermissionOptions {
            reviewer_edits: true,
            ..PermissionOptions::default()
        };
        let rules = rules_for(Role::Review, &editing);
        assert_eq!(rules.default_mode, "acceptEdits");
        assert!(has(&rules.allow, "Bash(git commit:*)") && !has(&rules.deny, "Write"));
    }

    #[test]
    fn a_planner_only_reads() {
        let editing = PermissionOptions {
            reviewer_edits: true,
            ..PermissionOptions::default()
        };
        let rules = rules_for(Role::Planning, &editing);
        assert_eq!(rules.default_mode, "default");
        assert!(has(&rules.deny, "Write") && !has(&rules.allow, "Bash(cargo test:*)"));
        assert!(!names_git(&rules));
    }

    #[test]
    fn bypass_adds_no_rules_but_the_own_server_and_files() {
        let options = PermissionOptions {
            mode: PermissionMode::Bypass,
            allow: vec!["WebSearch".to_owned()],
            ..PermissionOptions::default()
        };
        let rules = rules_for(Role::Coding, &options);
        assert_eq!(rules.default_mode, "bypassPermissions");
        assert_eq!(
            rules.allow,
            ["mcp__codex-coding__*", "Read(//files/**)", "WebSearch"]
        );
    }

    #[test]
    fn bypass_is_refused_to_root_alone() {
        assert!(matches!(
            default_mode(PermissionMode::Bypass, true, true),
            Err(AgentError::BypassAsRoot)
        ));
        assert_eq!(
            default_mode(PermissionMode::Bypass, true, false).unwrap(),
            "bypassPermissions"
        );
    }
}
