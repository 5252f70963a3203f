//! What is open on a repository, as its forge and the database know it.

use super::{Context, Forge, forge};
use crate::error::Error;
use crate::forge::{Github, Listed, OpenIssue};
use crate::model::{PullRequest, PullState, Task};

/// Most issues and pull requests that are read: more than anybody plans with.
const MOST_ISSUES: usize = 1_000;
const MOST_PULLS: usize = 300;
const MOST_TASKS: u64 = 5_000;

/// Where issues and pull requests came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenWorkSource {
    Github,
    Local,
    /// They could not be had.
    Unavailable {
        why: String,
    },
}

/// Something that was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    pub what: &'static str,
    pub why: String,
}

/// Everything that is open.
#[derive(Debug, Clone)]
pub struct OpenWork {
    pub source: OpenWorkSource,
    pub issues: Vec<OpenIssue>,
    pub pulls: Vec<PullRequest>,
    /// All tasks, also those that are done.
    pub tasks: Vec<Task>,
    pub missing: Vec<Missing>,
}

/// Reads the open issues and pull requests, and the tasks. A forge that does not answer is said, not an error.
pub async fn open_work(context: &Context) -> Result<OpenWork, Error> {
    let repository = Context::repository_key(context.repository()?.root());
    let page = context
        .store
        .read(move |r| r.tasks(&repository, 0, MOST_TASKS))
        .await?;
    let mut work = OpenWork {
        source: OpenWorkSource::Local,
        issues: Vec::new(),
        pulls: Vec::new(),
        tasks: page.tasks,
        missing: Vec::new(),
    };
    if page.next_offset.is_some() {
        work.miss(
            "tasks",
            format!("only {MOST_TASKS} of {} were read", page.total),
        );
    }
    let settings = &context.settings().forge;
    match forge(&context.environment, settings, context.repository()?).await {
        Ok(Forge::Github { remote, token }) => {
            let url = context.environment.get("GITHUB_API_URL");
            match Github::new(remote, url, &token) {
                Ok(github) => work.ask(&github).await,
                Err(error) => work.unavailable(error.to_string()),
            }
        }
        Ok(Forge::Local { why, lacks_token }) => {
            work.pulls = local_pulls(context).await?;
            if lacks_token {
                work.miss("issues and pull requests on GitHub", why);
            }
        }
        Err(error) => work.unavailable(error.message),
    }
    Ok(work)
}

async fn local_pulls(context: &Context) -> Result<Vec<PullRequest>, Error> {
    let repository = Context::repository_key(context.repository()?.root());
    let pulls = context
        .store
        .read(move |r| r.pull_requests(&repository, Some(PullState::Open), MOST_PULLS))
        .await?;
    Ok(pulls)
}

impl OpenWork {
    fn miss(&mut self, what: &'static str, why: impl Into<String>) {
        let why = why.into();
        self.missing.push(Missing { what, why });
    }

    fn unavailable(&mut self, why: String) {
        self.source = OpenWorkSource::Unavailable { why };
    }

    async fn ask(&mut self, github: &Github) {
        let (issues, pulls) = tokio::join!(
            github.issues(MOST_ISSUES),
            github.pulls(Some(PullState::Open), MOST_PULLS)
        );
        match (issues, pulls) {
            (Err(error), Err(_)) => self.unavailable(error.to_string()),
            (issues, pulls) => {
                self.source = OpenWorkSource::Github;
                self.issues = self.taken("issues", issues);
                self.pulls = self.taken("pull requests", pulls);
            }
        }
    }

    fn taken<T>(
        &mut self,
        what: &'static str,
        listed: Result<Listed<T>, crate::forge::ForgeError>,
    ) -> Vec<T> {
        match listed {
            Ok(listed) => {
                if listed.more {
                    self.miss(
                        what,
                        format!("only the newest {} were read", listed.items.len()),
                    );
                }
                listed.items
            }
            Err(error) => {
                self.miss(what, error.to_string());
                Vec::new()
            }
        }
    }
}
