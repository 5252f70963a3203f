//! Selects the forge of a repository: GitHub (remote and token) or local, with the reason.

use crate::config::{Environment, ForgeKind, ForgeSettings};
use crate::error::{Code, Error};
use crate::forge::{Github, GithubRemote, is_host_of_token, parse_remote};
use crate::git::Repository;
use crate::model::Secret;
use crate::process::{self, Limits};
use crate::workflow::{Context, Issue};

/// The forge of a repository.
#[derive(Debug, Clone)]
pub enum Forge {
    Github {
        remote: GithubRemote,
        token: Secret,
    },
    /// Nothing leaves this machine. With a token it would be GitHub if `lacks_token`.
    Local {
        why: String,
        lacks_token: bool,
    },
}

impl Forge {
    /// Says which forge it is, for people.
    pub fn describe(&self) -> String {
        match self {
            Self::Github { remote, .. } => format!(
                "GitHub: {}/{} on {}",
                remote.owner, remote.repository, remote.host
            ),
            Self::Local { why, .. } => format!("local: {why}"),
        }
    }
}

/// Decides by the settings, the remote's address and whether there is a token.
pub async fn forge(
    environment: &Environment,
    settings: &ForgeSettings,
    repository: &Repository,
) -> Result<Forge, Error> {
    if settings.kind == ForgeKind::Local {
        return Ok(Forge::Local {
            why: "forge.kind says so".to_owned(),
            lacks_token: false,
        });
    }
    let wanted = settings.kind == ForgeKind::Github;
    let local = |why: String, lacks_token: bool| {
        if wanted {
            Err(Error::new(Code::ForgeNotConfigured, format!("forge.kind is github, but {why}"))
                .hint("Set forge.remote to a GitHub remote and GITHUB_TOKEN to a token (for GitHub Enterprise also GITHUB_API_URL, such as https://HOST/api/v3), or forge.kind to local."))
        } else {
            Ok(Forge::Local { why, lacks_token })
        }
    };
    let url = repository.remote_url(&settings.remote).await?;
    let Some(url) = url else {
        return local(format!("there is no remote `{}`", settings.remote), false);
    };
    let Some(remote) = parse_remote(&url) else {
        let why = format!("the remote `{}` is not on GitHub", settings.remote);
        return local(why, false);
    };
    // Other hosts have the same form of address, and the token must not go to them: the repository
    // chooses its remote, and its settings may say `forge.kind = "github"`.
    if !is_host_of_token(&url, environment.get("GITHUB_API_URL")) {
        let why = format!(
            "{} is neither github.com nor the host of GITHUB_API_URL",
            remote.host
        );
        return local(why, false);
    }
    match token(environment, &remote.host).await {
        Some(token) => Ok(Forge::Github { remote, token }),
        None => local("there is no token".to_owned(), true),
    }
}

/// Finds a token: `GITHUB_TOKEN`, `GH_TOKEN`, or what the gh program has.
async fn token(environment: &Environment, host: &str) -> Option<Secret> {
    if let Some(token) = environment
        .get("GITHUB_TOKEN")
        .or(environment.get("GH_TOKEN"))
    {
        return Some(Secret::new(token));
    }
    let mut command = process::command("gh", ["auth", "token", "--hostname", host]);
    command
        .env_clear()
        .envs(environment.variables())
        .env("GH_PROMPT_DISABLED", "1");
    let limits = Limits {
        time: std::time::Duration::from_secs(5),
        output: 10_000,
    };
    let finished = process::run(&mut command, None, limits).await.ok()?;
    let text = finished.stdout_text();
    let token = text.trim();
    (finished.status.success() && !token.is_empty()).then(|| Secret::new(token))
}

/// Reads an issue from GitHub.
pub async fn read_issue(context: &Context, number: u64) -> Result<Issue, Error> {
    let settings = &context.settings().forge;
    match forge(&context.environment, settings, context.repository()?).await? {
        Forge::Github { remote, token } => {
            let url = context.environment.get("GITHUB_API_URL");
            let issue = Github::new(remote, url, &token)?.issue(number).await?;
            Ok(Issue {
                number: issue.number,
                title: issue.title,
                body: issue.body,
            })
        }
        Forge::Local { why, .. } => Err(Error::new(
            Code::ForgeNotConfigured,
            format!("issue {number} can't be read: the forge is local ({why})"),
        )
        .hint(format!(
            "Say what is to be done: `claude-codex code --issue {number} \"…\"`."
        ))),
    }
}
