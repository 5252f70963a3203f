//! Prepares a launch: the agent's files, and what to execute in which environment.

use std::fs::{DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::claude::{self, Paths, absolute, utf8};
use super::environment::{Environment, clean};
use super::error::AgentError;
use super::handover::take_environment;
use super::hooks::HookName;
use super::launch_spec::{LaunchSpec, Program};
use super::permissions::rules;
use super::project_commands::recognise_commands;
use super::{other, prompt};
use crate::file;
use crate::model::SessionMode;

/// The hooks that delivery and status need. The tool hooks are for those who ask: they cost a process per call.
pub const DEFAULT_HOOKS: &[HookName] = &[
    HookName::SessionStart,
    HookName::UserPromptSubmit,
    HookName::Notification,
    HookName::Stop,
    HookName::StopFailure,
    HookName::SessionEnd,
];

/// What a launcher executes. It stands in a file, because a terminal's command line is short and public.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    pub argv: Vec<String>,
    /// Variables of ours, which win. The person's own are handed over apart ([`super::Handover`]): they
    /// have secrets among them, and the agent may read this file.
    pub environment: Environment,
    pub directory: PathBuf,
}

/// The files of an agent. All are private to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFiles {
    pub prompt: PathBuf,
    /// What a headless agent gets as standard input.
    pub input: PathBuf,
    pub mcp_config: PathBuf,
    pub launch: PathBuf,
    /// Claude Code only.
    pub settings: Option<PathBuf>,
    pub system: Option<PathBuf>,
}

/// A launch that is ready to be executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    pub argv: Vec<String>,
    pub environment: Environment,
    pub files: AgentFiles,
    /// What the terminal should show as its running command while the agent lives.
    pub expected_command: String,
}

/// Writes the agent's files and returns what to execute. Doing it again replaces them.
pub fn prepare(spec: &LaunchSpec<'_>) -> Result<Prepared, AgentError> {
    absolute(spec.worktree)?;
    absolute(spec.directory)?;
    make_private(spec.directory)?;
    let at = |name: &str| spec.directory.join(name);
    let (prompt_path, mcp_path, launch_path) = (at("prompt.md"), at("mcp.json"), at("launch.json"));
    let message = prompt::first_message(spec.role, spec.instance, spec.task);
    write(
        &prompt_path,
        &format!("{}\n\n{message}\n", spec.instructions.trim_end()),
    )?;
    write_json(&mcp_path, &claude::mcp_config(spec)?)?;

    let mut own = spec.own_environment.clone();
    own.extend([
        ("CODEX_INSTANCE_ID".to_owned(), spec.instance.to_owned()),
        ("CODEX_ROLE".to_owned(), spec.role.as_str().to_owned()),
        (
            "CODEX_PROMPT_FILE".to_owned(),
            utf8(&prompt_path)?.to_owned(),
        ),
        ("CODEX_MCP_CONFIG".to_owned(), utf8(&mcp_path)?.to_owned()),
    ]);
    // Another program gets its role and its task in one; Claude Code has a flag for the role.
    let mut input_path = prompt_path.clone();
    let (argv, settings, system) = match &spec.program {
        Program::Other { command } => (other::argv(command)?, None, None),
        Program::Claude(options) => {
            let (settings_path, system_path) = (at("settings.json"), at("system.md"));
            let is_root = rustix::process::geteuid().is_root();
            let commands = recognise_commands(spec.worktree);
            let rules = rules(
                spec.role,
                options.permissions,
                spec.worktree,
                spec.directory,
                &commands,
                is_root,
            )?;
            write_json(&settings_path, &claude::settings(spec, options, &rules)?)?;
            write(&system_path, spec.instructions)?;
            if spec.session_mode == SessionMode::Headless {
                input_path = at("message.md");
                write(&input_path, &message)?;
            }
            own.extend(claude::variables());
            let paths = Paths {
                prompt: utf8(&prompt_path)?,
                system: utf8(&system_path)?,
                mcp: utf8(&mcp_path)?,
                settings: utf8(&settings_path)?,
            };
            let argv = claude::argv(spec, options, &paths)?;
            (argv, Some(settings_path), Some(system_path))
        }
    };
    let launch = Launch {
        argv,
        environment: clean(&Environment::new(), &own),
        directory: spec.worktree.to_owned(),
    };
    write_json(&launch_path, &launch)?;
    Ok(Prepared {
        expected_command: expected_command(&launch.argv),
        argv: launch.argv,
        environment: launch.environment,
        files: AgentFiles {
            prompt: prompt_path,
            input: input_path,
            mcp_config: mcp_path,
            launch: launch_path,
            settings,
            system,
        },
    })
}

impl Launch {
    /// Reads a launch file, and takes the environment that goes with it, which can be taken once.
    pub fn take(path: &Path) -> Result<Self, AgentError> {
        let mut launch = Self::read(path)?;
        let mut environment = take_environment(path.parent().unwrap_or(path))?;
        environment.append(&mut launch.environment);
        launch.environment = environment;
        Ok(launch)
    }

    /// Reads a launch file back.
    pub fn read(path: &Path) -> Result<Self, AgentError> {
        let bytes = std::fs::read(path).map_err(|source| AgentError::Read {
            path: path.to_owned(),
            source,
        })?;
        serde_json::from_slice(&bytes).map_err(|source| AgentError::Corrupt {
            path: path.to_owned(),
            source,
        })
    }
}

fn expected_command(argv: &[String]) -> String {
    let program = argv.first().map(Path::new).and_then(Path::file_name);
    program
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

pub(super) fn make_private(directory: &Path) -> Result<(), AgentError> {
    let made = DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory);
    made.and_then(|()| std::fs::set_permissions(directory, Permissions::from_mode(0o700)))
        .map_err(|source| AgentError::Write {
            path: directory.to_owned(),
            source,
        })
}

pub(super) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), AgentError> {
    let text = serde_json::to_string_pretty(value).map_err(|source| AgentError::Write {
        path: path.to_owned(),
        source: source.into(),
    })?;
    write(path, &(text + "\n"))
}

/// Writes a new private file in place of an old one, so that nobody reads through an older handle or mode.
fn write(path: &Path, text: &str) -> Result<(), AgentError> {
    file::replace(path, text, Some(0o600)).map_err(|source| AgentError::Write {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::agent::{ClaudeOptions, PermissionOptions, Session};
    use crate::model::InstanceKind as Role;
    use serde_json::Value;

    struct Place {
        root: tempfile::TempDir,
        directory: PathBuf,
        worktree: PathBuf,
        own: Environment,
        choice: PermissionOptions,
    }

    impl Place {
        fn new() -> Self {
            let root = tempfile::tempdir().unwrap();
            let (directory, worktree) = (
                root.path().join("state/agents/a b"),
                root.path().join("worktree"),
            );
            std::fs::create_dir(&worktree).unwrap();
            let pairs = |pairs: &[(&str, &str)]| -> Environment {
                pairs
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                    .collect()
            };
            Self {
                root,
                directory,
                worktree,
                own: pairs(&[("CODEX_STATE_DIR", "/s")]),
                choice: PermissionOptions::default(),
            }
        }

        fn spec(&self) -> LaunchSpec<'_> {
            LaunchSpec {
                role: Role::Coding,
                instance: "work-1-a1",
                program: Program::Claude(self.claude()),
                session: Session::New(Uuid::nil()),
                session_mode: SessionMode::Interactive,
                directory: &self.directory,
                worktree: &self.worktree,
                instructions: "Be a coder.",
                task: "/do it",
                server: Path::new("/opt/mcp-coding"),
                server_environment: &self.own,
                hook_program: Path::new("/opt/claude codex"),
                own_environment: &self.own,
            }
        }

        fn claude(&self) -> ClaudeOptions<'_> {
            ClaudeOptions {
                program: Path::new("/opt/claude"),
                model: Some("opus"),
                strict_mcp: true,
                project_servers: false,
                permissions: &self.choice,
                hooks: DEFAULT_HOOKS,
            }
        }
    }

    fn json(path: &Path) -> Value {
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    }

    #[test]
    fn claude_gets_its_files_and_no_secret_in_its_arguments() {
        let place = Place::new();
        let prepared = prepare(&place.spec()).unwrap();
        let directory = place.directory.to_str().unwrap();
        let expected = [
            "/opt/claude",
            "--session-id",
            "00000000-0000-0000-0000-000000000000",
            "--mcp-config",
            &format!("{directory}/mcp.json"),
            "--settings",
            &format!("{directory}/settings.json"),
            "--append-system-prompt-file",
            &format!("{directory}/system.md"),
            "--strict-mcp-config",
            "--model",
            "opus",
            "--",
            "Your task as work-1-a1:\n\n/do it",
        ];
        assert_eq!(prepared.argv, expected);
        assert_eq!(prepared.expected_command, "claude");
        let launch = Launch::read(&prepared.files.launch).unwrap();
        assert_eq!(
            (&launch.argv, &launch.environment),
            (&prepared.argv, &prepared.environment)
        );
        assert_eq!(launch.directory, place.worktree);
        assert!(!launch.environment.contains_key("CLAUDECODE"));
        assert_eq!(launch.environment["CODEX_ROLE"], "coding");
        assert_eq!(launch.environment["CODEX_STATE_DIR"], "/s");
        // The person's own variables are in no file.
        assert!(!launch.environment.contains_key("PATH"));

        let server = &json(&prepared.files.mcp_config)["mcpServers"]["codex-coding"];
        assert_eq!(
            (&server["command"], &server["env"]["CODEX_STATE_DIR"]),
            (&"/opt/mcp-coding".into(), &"/s".into())
        );
        let settings = json(prepared.files.settings.as_ref().unwrap());
        assert_eq!(
            settings["hooks"]["Stop"][0]["hooks"][0]["command"],
            "'/opt/claude codex' hook Stop"
        );
        assert_eq!(settings["permissions"]["defaultMode"], "acceptEdits");
    }

    #[test]
    fn files_are_private_even_over_older_ones() {
        let place = Place::new();
        std::fs::create_dir_all(&place.directory).unwrap();
        std::fs::write(place.directory.join("launch.json"), "old").unwrap();
        prepare(&place.spec()).unwrap();
        prepare(&place.spec()).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&place.directory), 0o700);
        let names: Vec<_> = std::fs::read_dir(&place.directory)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        assert_eq!(names.len(), 5);
        assert!(names.iter().all(|path| mode(path) == 0o600), "{names:?}");
        assert_eq!(std::fs::read_dir(&place.worktree).unwrap().count(), 0);
        assert_eq!(std::fs::read_dir(place.root.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_long_task_is_read_from_its_file() {
        let place = Place::new();
        let task = "é".repeat(MAX_TEST_TASK);
        let prepared = prepare(&LaunchSpec {
            task: &task,
            ..place.spec()
        })
        .unwrap();
        let argument = prepared.argv.last().unwrap();
        assert!(
            argument.len() < 1000 && argument.contains(prepared.files.prompt.to_str().unwrap())
        );
        assert!(
            std::fs::read_to_string(&prepared.files.prompt)
                .unwrap()
                .contains(&task)
        );
    }

    const MAX_TEST_TASK: usize = super::claude::MAX_PROMPT_ARGUMENT / 2 + 1;

    #[test]
    fn a_session_is_resumed_without_a_new_task() {
        let place = Place::new();
        let spec = LaunchSpec {
            session: Session::Resume(Uuid::nil()),
            task: "",
            ..place.spec()
        };
        let argv = prepare(&spec).unwrap().argv;
        assert_eq!(argv[1], "--resume");
        assert!(!argv.contains(&"--".to_owned()));
    }

    #[test]
    fn another_program_gets_the_same_environment_and_no_settings() {
        let place = Place::new();
        let program = Program::Other {
            command: "/usr/bin/my-agent --task 'a b'",
        };
        let prepared = prepare(&LaunchSpec {
            program,
            ..place.spec()
        })
        .unwrap();
        assert_eq!(prepared.argv, ["/usr/bin/my-agent", "--task", "a b"]);
        assert_eq!(prepared.expected_command, "my-agent");
        assert_eq!(prepared.files.settings, None);
        assert_eq!(
            prepared.environment["CODEX_PROMPT_FILE"],
            prepared.files.prompt.to_str().unwrap()
        );
        let prompt = std::fs::read_to_string(&prepared.files.prompt).unwrap();
        assert!(prompt.starts_with("Be a coder.") && prompt.contains("/do it"));
    }

    #[test]
    fn a_relative_path_is_refused() {
        let place = Place::new();
        let spec = LaunchSpec {
            server: Path::new("mcp-coding"),
            ..place.spec()
        };
        assert!(matches!(
            prepare(&spec),
            Err(AgentError::NotAbsolute { .. })
        ));
    }
}
