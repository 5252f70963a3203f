//! Open issues, pull requests and tasks of a repository, from its forge and the database.

use crate::config::ForgeKind;
use crate::error::Error;
use crate::forge::{ForgeError, Github, Listed};
use crate::model::{Missing, OpenWork, OpenWorkSource, PullRequest, PullState};
use crate::workflow::{Context, Forge, forge};

/// Most issues and pull requests that are read: more than anybody plans with.
const MAX_ISSUES: usize = 1_000;
const MAX_PULLS: usize = 300;
const MAX_TASKS: u64 = 5_000;

/// Reads the open issues and pull requests, and the tasks. A forge that does not answer is said, not an error.
pub async fn open_work(context: &Context) -> Result<OpenWork, Error> {
    let repository = Context::repository_key(context.repository()?.root());
    let page = context
        .store
        .read(move |r| r.tasks(&repository, 0, MAX_TASKS))
        .await?;
    let mut work = OpenWork {
        tasks: page.tasks,
        ..OpenWork::default()
    };
    if page.next_offset.is_some() {
        let why = format!("only {MAX_TASKS} of {} were read", page.total);
        work.missing.push(Missing { what: "tasks", why });
    }
    let settings = &context.settings().forge;
    match forge(&context.environment, settings, context.repository()?).await {
        Ok(Forge::Github { remote, token }) => {
            let url = context.environment.get("GITHUB_API_URL");
            match Github::new(remote, url, &token) {
                Ok(github) => ask(&mut work, &github).await,
                Err(error) => work.source = unavailable(error.to_string()),
            }
        }
        Ok(Forge::Local { why, lacks_token }) => {
            work.pulls = local_pulls(context).await?;
            let has_remote = settings.kind != ForgeKind::Local
                && context
                    .repository()?
                    .remote_url(&settings.remote)
                    .await?
                    .is_some();
            let what = match (lacks_token, has_remote) {
                (true, _) => Some("issues and pull requests on GitHub"),
                (false, true) => Some("issues and pull requests of the remote"),
                (false, false) => None,
            };
            work.missing.extend(what.map(|what| Missing { what, why }));
        }
        Err(error) => work.source = unavailable(error.message),
    }
    Ok(work)
}

async fn local_pulls(context: &Context) -> Result<Vec<PullRequest>, Error> {
    let repository = Context::repository_key(context.repository()?.root());
    let pulls = context
        .store
        .read(move |r| r.pull_requests(&repository, Some(PullState::Open), MAX_PULLS))
        .await?;
    Ok(pulls)
}

fn unavailable(why: String) -> OpenWorkSource {
    OpenWorkSource::Unavailable { why }
}

async fn ask(work: &mut OpenWork, github: &Github) {
    let (issues, pulls) = tokio::join!(
        github.issues(MAX_ISSUES),
        github.pulls(Some(PullState::Open), MAX_PULLS)
    );
    match (issues, pulls) {
        (Err(error), Err(_)) => work.source = unavailable(error.to_string()),
        (issues, pulls) => {
            work.source = OpenWorkSource::Github;
            work.issues = read_items("issues", issues, &mut work.missing);
            work.pulls = read_items("pull requests", pulls, &mut work.missing);
        }
    }
}

fn read_items<T>(
    what: &'static str,
    listed: Result<Listed<T>, ForgeError>,
    missing: &mut Vec<Missing>,
) -> Vec<T> {
    let (items, why) = match listed {
        Ok(listed) if listed.more => {
            let why = format!("only the newest {} were read", listed.items.len());
            (listed.items, why)
        }
        Ok(listed) => return listed.items,
        Err(error) => (Vec::new(), error.to_string()),
    };
    missing.push(Missing { what, why });
    items
}
