//! `git push` of one commit to a branch, with the user's own credentials or with a token that is in no argument and no file.

use std::path::Path;

use super::command::{CHECKOUT_TIMEOUT, Call};
use super::discovery::Repository;
use super::error::{GitError, NameKind, RejectReason};
use super::names::{check_branch, check_remote};
use super::oid::Oid;
use super::scrub;
use crate::model::Secret;
use crate::model::hidden::first_hidden;
use crate::process::Finished;

#[derive(Debug, Clone)]
pub struct PushSpec {
    /// The name of a configured remote.
    pub remote: String,
    /// What the remote branch becomes, whatever the local branch has become meanwhile.
    pub commit: Oid,
    /// The branch on the remote; the local branch of that name, if there is one, gets it as upstream.
    pub branch: String,
    /// None: git finds credentials itself (helpers, SSH agent).
    pub auth: Option<Auth>,
}

impl PushSpec {
    fn refspec(&self) -> String {
        format!("{}:refs/heads/{}", self.commit, self.branch)
    }
}

/// A header that git sends to URLs that begin with `url`.
///
/// Hooks that git runs for the push can read it; nothing else can, and no file holds it.
#[derive(Debug, Clone)]
pub struct Auth {
    /// Such as `https://github.com/`.
    pub url: String,
    /// Such as `Authorization: Basic …`.
    pub header: Secret,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushOutcome {
    Created,
    Updated,
    UpToDate,
}

impl Repository {
    /// Pushes a commit to a branch; never by force.
    pub async fn push(&self, worktree: &Path, spec: &PushSpec) -> Result<PushOutcome, GitError> {
        check_remote(&spec.remote)?;
        check_branch(&spec.branch)?;
        if !self.remotes().await?.contains(&spec.remote) {
            return Err(GitError::RemoteNotFound {
                remote: spec.remote.clone(),
                detail: "it is not configured in this repository".to_owned(),
            });
        }
        // Whatever is configured: only what was checked is published. A mirror would be everything, and git
        // refuses to combine it with a commit.
        let no_mirror = format!("remote.{}.mirror=false", spec.remote);
        let submodules = self.submodules_at_push().await?;
        let mut call = self
            .call_in(worktree, "push")
            .settings(["-c", &no_mirror])
            .args(["--porcelain", "--no-follow-tags"])
            .arg(format!("--recurse-submodules={submodules}"))
            .writes()
            .time(CHECKOUT_TIMEOUT);
        if let Some(auth) = &spec.auth {
            call = with_auth(call, auth)?;
        }
        let call = call.arg("--").arg(&spec.remote).arg(spec.refspec());
        let finished = call.run().await?;
        let outcome = outcome(&call, &finished, spec)?;
        self.set_upstream(spec).await?;
        Ok(outcome)
    }

    /// Returns what a push does about commits of submodules that none of their remotes has.
    ///
    /// Who wants them pushed along wants at least no gitlink that leads nowhere. They are not pushed from here: nobody
    /// has checked them, and git can't do it for a commit without a name.
    async fn submodules_at_push(&self) -> Result<&'static str, GitError> {
        let wanted = match self.config_get("push.recurseSubmodules").await? {
            Some(value) => value != "no" && value != "false",
            None => self
                .config_get("submodule.recurse")
                .await?
                .is_some_and(|value| is_true(&value)),
        };
        Ok(if wanted { "check" } else { "no" })
    }

    /// Does what `push --set-upstream` does for a branch, which git does not do for a commit.
    ///
    /// A convenience for people: if another git has the configuration locked, it is left out.
    async fn set_upstream(&self, spec: &PushSpec) -> Result<(), GitError> {
        if !self.branch_exists(&spec.branch).await? {
            return Ok(());
        }
        let merge = format!("refs/heads/{}", spec.branch);
        for (key, value) in [("remote", spec.remote.as_str()), ("merge", merge.as_str())] {
            self.call("config")
                .arg(format!("branch.{}.{key}", spec.branch))
                .arg(value)
                .writes()
                .run()
                .await?;
        }
        Ok(())
    }
}

/// Hands the header over in the environment, which other users cannot read.
fn with_auth<'a>(call: Call<'a>, auth: &'a Auth) -> Result<Call<'a>, GitError> {
    let http = auth.url.starts_with("https://") || auth.url.starts_with("http://");
    if !http || auth.url.contains(['@', '\n', '\t']) || first_hidden(&auth.url).is_some() {
        return Err(GitError::InvalidName {
            kind: NameKind::Url,
            name: scrub::shown(&auth.url, Some(&auth.header)),
        });
    }
    let header = format!("http.{}.extraHeader", auth.url);
    // The empty values clear what is configured: two Authorization headers are one too many, and
    // a refused token must not make git ask, or forget, other credentials.
    let settings = [
        (header.as_str(), ""),
        (header.as_str(), auth.header.expose()),
        ("credential.helper", ""),
    ];
    Ok(call
        .hidden_settings(settings)
        .env("GIT_ASKPASS", "")
        .env("GIT_TRACE_REDACT", "1")
        .secret(Some(&auth.header)))
}

fn outcome(call: &Call<'_>, finished: &Finished, spec: &PushSpec) -> Result<PushOutcome, GitError> {
    let stderr = call.stderr(finished);
    let remote = spec.remote.clone();
    match parse_push(&finished.stdout, &spec.refspec()) {
        Some(Ok(outcome)) if finished.status.success() => return Ok(outcome),
        Some(Err(summary)) => {
            let secret = spec.auth.as_ref().map(|auth| &auth.header);
            let summary = scrub::shown(&summary, secret);
            return Err(GitError::PushRejected {
                reason: reason_of(&summary, &stderr),
                detail: format!("{summary}\n{stderr}").trim().to_owned(),
            });
        }
        Some(Ok(_)) | None => {}
    }
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| stderr.contains(phrase));
    let detail = stderr.clone();
    if let Some(paths) = submodules_without_remote(&stderr) {
        Err(GitError::PushRejected {
            reason: RejectReason::Submodule,
            detail: paths,
        })
    } else if says(&FORBIDDEN) {
        Err(GitError::PushForbidden { remote, detail })
    } else if says(&AUTHENTICATION) {
        Err(GitError::AuthenticationFailed { remote, detail })
    } else if says(&["Repository not found", "' not found", "does not exist"]) {
        Err(GitError::RemoteNotFound { remote, detail })
    } else if says(&UNREACHABLE) {
        Err(GitError::RemoteUnreachable { remote, detail })
    } else if says(&["failed to push some refs"]) {
        // Nothing was offered to the remote: the pre-push hook refused.
        Err(GitError::PushRejected {
            reason: RejectReason::Hook,
            detail,
        })
    } else {
        Err(call.failure(finished))
    }
}

/// Returns the paths, one a line, of the submodules with commits that none of their remotes has.
fn submodules_without_remote(stderr: &str) -> Option<String> {
    let (_, list) = stderr.split_once("not be found on any remote:\n")?;
    let paths = list.lines().map_while(|line| line.strip_prefix("  "));
    Some(paths.collect::<Vec<_>>().join("\n"))
}

/// Reads a boolean as git does, which has more words for yes than for anything else.
fn is_true(value: &str) -> bool {
    matches!(
        value.to_ascii_lowercase().as_str(),
        "true" | "yes" | "on" | "1"
    )
}

/// The account is known, but it may only read.
const FORBIDDEN: [&str; 3] = [
    "returned error: 403",
    "Permission to ",
    "Write access to repository not granted",
];

const AUTHENTICATION: [&str; 8] = [
    "Authentication failed",
    "could not read Username",
    "could not read Password",
    "terminal prompts disabled",
    "Permission denied (",
    "Host key verification failed",
    "returned error: 401",
    "Invalid username or",
];

const UNREACHABLE: [&str; 4] = [
    "unable to access",
    "Could not read from remote repository",
    "does not appear to be a git repository",
    "the remote end hung up unexpectedly",
];

fn reason_of(summary: &str, stderr: &str) -> RejectReason {
    let says = |phrases: &[&str]| {
        phrases
            .iter()
            .any(|phrase| summary.contains(phrase) || stderr.contains(phrase))
    };
    if says(&["protected branch", "Protected branch", "rule violations"]) {
        RejectReason::Protected
    } else if ["(non-fast-forward)", "(fetch first)", "(needs force)"]
        .iter()
        .any(|phrase| summary.contains(phrase))
    {
        RejectReason::NonFastForward
    } else if summary.contains("hook declined") {
        RejectReason::Hook
    } else {
        RejectReason::Other
    }
}

/// Reads `git push --porcelain` for one branch: what came of it, or the summary of a refusal.
///
/// Hooks print to the same place. `None` means that the push ended before git had anything to say about the branch.
pub fn parse_push(output: &[u8], refspec: &str) -> Option<Result<PushOutcome, String>> {
    let text = String::from_utf8_lossy(output);
    text.lines().find_map(|line| {
        let mut fields = line.split('\t');
        let (flag, references, summary) = (fields.next()?, fields.next()?, fields.next()?);
        if references != refspec {
            return None;
        }
        match flag {
            "*" => Some(Ok(PushOutcome::Created)),
            " " | "+" => Some(Ok(PushOutcome::Updated)),
            "=" => Some(Ok(PushOutcome::UpToDate)),
            "!" => Some(Err(summary.to_owned())),
            _ => None,
        }
    })
}
