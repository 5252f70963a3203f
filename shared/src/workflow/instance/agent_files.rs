//! Files that an agent is started with (prompt, settings, MCP configuration), and Claude Code's trust in its worktree.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::agent::{
    self, ClaudeOptions, DEFAULT_HOOKS, Environment, LaunchSpec, PermissionOptions, Prepared,
    Program, Session, Template, Values,
};
use crate::config::Trust;
use crate::error::{Code, Error};
use crate::git::{AS_COMMITTED, Repository};
use crate::model::{Instance, InstanceId, InstanceKind};
use crate::workflow::Context;

/// Facts of the round in a reviewer's prompt.
#[derive(Debug, Clone, Default)]
pub(crate) struct Briefing {
    pub(crate) round: String,
    pub(crate) max_rounds: String,
    pub(crate) round_note: String,
    pub(crate) earlier_findings: String,
}

/// Finds out early whether there is a program to start, before anything is made.
pub(crate) async fn check(context: &Context, kind: InstanceKind) -> Result<(), Error> {
    context.own_program(kind.server_name())?;
    context.own_program("claude-codex")?;
    let other = &context.settings().agent.command;
    if other.is_empty() {
        let cache_file = context.state_dir().join("claude-version.json");
        agent::check_version(&find_claude(context)?, &cache_file).await?;
        check_trust(context, context.repository()?)?;
    } else {
        let search = context.environment.get("PATH").unwrap_or_default();
        agent::check_command(other, search.as_ref())?;
    }
    Ok(())
}

/// Refuses a repository that the person has not trusted, here or in Claude Code.
///
/// Claude Code asks before it runs the hooks and servers that a folder's own settings name. Nobody sits
/// at an agent's terminal, so the question is answered beforehand, but only with the person's answer.
fn check_trust(context: &Context, repository: &Repository) -> Result<(), Error> {
    let root = repository.root();
    if Trust::load(&context.environment)?.is_given(root)
        || agent::is_trusted(&context.claude_file()?, root)
    {
        return Ok(());
    }
    Err(Error::new(
        Code::RepositoryUntrusted,
        format!(
            "{} is not trusted: Claude Code would run what the repository's own settings and hooks say",
            root.display()
        ),
    )
    .hint(format!(
        "If you trust who wrote it, run `claude-codex trust` in {}.",
        root.display()
    )))
}

fn find_claude(context: &Context) -> Result<PathBuf, Error> {
    let configured = &context.settings().agent.claude;
    let configured = (!configured.is_empty()).then(|| Path::new(configured));
    let search = context.environment.get("PATH").unwrap_or_default();
    Ok(agent::find_claude(configured, search.as_ref())?)
}

/// Writes the files and answers the trust dialog ahead; returns the file to execute.
pub(crate) async fn write(
    context: &Context,
    repository: &Repository,
    instance: &Instance,
    session: Session,
    briefing: &Briefing,
) -> Result<PathBuf, Error> {
    let role = Role {
        template: instance.kind.into(),
        task: match session {
            Session::New(_) => instance.prompt.as_str(),
            // It knows its task; the conversation goes on where it was.
            Session::Resume(_) => "",
        },
    };
    let prepared = prepare(context, repository, instance, session, briefing, &role).await?;
    Ok(prepared.files.launch)
}

/// What an agent is to be.
pub(crate) struct Role<'a> {
    pub(crate) template: Template,
    /// Its first message; empty: none.
    pub(crate) task: &'a str,
}

/// Writes the files and answers the trust dialog ahead.
pub(crate) async fn prepare(
    context: &Context,
    repository: &Repository,
    instance: &Instance,
    session: Session,
    briefing: &Briefing,
    role: &Role<'_>,
) -> Result<Prepared, Error> {
    let settings = &context.settings().agent;
    let folder = context.agent_folder(&instance.id);
    let own = format!("{}.md", role.template.as_str());
    let own = context.config.prompts.get(&own).map(String::as_str);
    let template = agent::template(role.template, own);
    let worktree = instance.worktree_path.to_string_lossy();
    let branch = instance.branch_name.as_deref().unwrap_or("(detached)");
    // What a reviewer compares with: a tag of the same name would show it something else.
    let base = &instance.base_branch;
    let base_commit = repository.resolve(base).await;
    let base_commit = base_commit.map_or_else(|_| base.clone(), |commit| commit.to_string());
    let values = Values::from([
        ("instance", instance.id.as_str()),
        ("branch", branch),
        ("base", base),
        ("base_commit", &base_commit),
        ("worktree", &worktree),
        ("server", instance.kind.registered_name()),
        ("round", &briefing.round),
        ("max_rounds", &briefing.max_rounds),
        ("round_note", &briefing.round_note),
        ("earlier_findings", &briefing.earlier_findings),
    ]);
    let instructions = agent::render(role.template.as_str(), &template, &values)?;

    let forwarded = context.environment.forwarded_variables()?;
    let mut server_environment = forwarded.clone();
    server_environment.insert("CODEX_INSTANCE_ID".to_owned(), instance.id.to_string());
    let permissions = PermissionOptions {
        mode: match instance.kind {
            InstanceKind::Coding => settings.coding_permissions,
            InstanceKind::Review => settings.review_permissions,
            InstanceKind::Planning => settings.planning_permissions,
        },
        reviewer_edits: context.settings().review.may_edit,
        allow: settings.allow.clone(),
        deny: settings.deny.clone(),
    };
    let claude = if settings.command.is_empty() {
        Some(find_claude(context)?)
    } else {
        None
    };
    let program = match &claude {
        Some(path) => Program::Claude(ClaudeOptions {
            program: path,
            model: (!settings.model.is_empty()).then_some(settings.model.as_str()),
            strict_mcp: false,
            project_servers: false,
            permissions: &permissions,
            hooks: DEFAULT_HOOKS,
        }),
        None => Program::Other {
            command: &settings.command,
        },
    };
    let prepared = agent::prepare(&LaunchSpec {
        role: instance.kind,
        instance: instance.id.as_str(),
        program,
        session,
        session_mode: instance.session_mode,
        directory: &folder,
        worktree: &instance.worktree_path,
        instructions: &instructions,
        task: role.task,
        server: &context.own_program(instance.kind.server_name())?,
        server_environment: &server_environment,
        hook_program: &context.own_program("claude-codex")?,
        own_environment: &own_environment(instance.kind, &forwarded),
    })?;
    if claude.is_some() {
        check_trust(context, repository)?;
        agent::trust(
            &context.claude_file()?,
            &instance.worktree_path,
            Some(repository.root()),
        )
        .await?;
    }
    Ok(prepared)
}

/// Returns the variables that an agent gets beyond those of its launcher. A reviewer sees commits as they will be pushed.
fn own_environment(kind: InstanceKind, forwarded: &Environment) -> Environment {
    let mut own = forwarded.clone();
    if kind == InstanceKind::Review {
        own.extend(AS_COMMITTED.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
    own
}

/// Removes the files of an agent; gone already is fine.
pub(crate) fn remove(context: &Context, id: &InstanceId) -> Result<(), Error> {
    let folder = context.agent_folder(id);
    match std::fs::remove_dir_all(&folder) {
        Ok(()) => Ok(()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(())
        }
        Err(source) => Err(agent::AgentError::Write {
            path: folder,
            source,
        }
        .into()),
    }
}

/// Takes the trust in a worktree back, if Claude Code is what was launched.
pub(crate) async fn forget_trust(context: &Context, instance: &Instance) -> Result<(), Error> {
    if instance.claude_session_id.is_some() {
        agent::forget(&context.claude_file()?, &instance.worktree_path).await?;
    }
    Ok(())
}

/// Tells whether Claude Code has a conversation of this instance to go on with.
pub(crate) fn has_transcript(context: &Context, instance: &Instance) -> Result<bool, Error> {
    let session = instance
        .claude_session_id
        .as_deref()
        .and_then(|id| id.parse().ok());
    let Some(session) = session else {
        return Ok(false);
    };
    let folder = context.claude_folder()?;
    Ok(agent::transcript_path(&folder, &instance.worktree_path, session).exists())
}
