//! Pull requests of one repository.

use std::collections::HashMap;

use shared::error::Error;
use shared::model::pull_request::is_local_url;
use shared::model::{InstanceId, MergeMethod, PullRequest, PullState};
use shared::workflow::{self, Context};

use super::agent::DIFF_BYTES;
use super::diff::parse_diff;
use crate::app::App;
use crate::view::{PullCard, PullFilter, PullView, PullsView};

const MOST: usize = 100;

pub(crate) async fn pulls(app: &App, filter: PullFilter) -> Result<PullsView, Error> {
    let version = app.changes.version();
    let repositories = app.repositories().await?;
    let repository = app.choose(&repositories, filter.repository.as_deref())?;
    let mut view = PullsView {
        repositories,
        forge: String::new(),
        pulls: Vec::new(),
        problem: None,
        version,
        repository: repository.clone(),
        filter,
    };
    let Some(repository) = repository else {
        return Ok(view);
    };
    // A forge that does not answer is said on the page; it does not take the page away.
    match list(app, &repository, view.filter.state).await {
        Ok((forge, pulls)) => (view.forge, view.pulls) = (forge, pulls),
        Err(error) => view.problem = Some(error),
    }
    Ok(view)
}

async fn list(
    app: &App,
    repository: &str,
    state: Option<PullState>,
) -> Result<(String, Vec<PullCard>), Error> {
    let context = app.context.in_repository(repository.as_ref()).await?;
    let settings = &context.settings().forge;
    let forge = workflow::forge(&context.environment, settings, context.repository()?).await?;
    let pulls = workflow::pulls(&context, state, MOST).await?;
    let urls = pulls.iter().map(|pull| pull.url.clone()).collect();
    let agents = agents(app, repository, urls).await?;
    let cards = pulls
        .into_iter()
        .map(|pull| card(pull, repository, &agents));
    Ok((forge.describe(), cards.collect()))
}

async fn agents(
    app: &App,
    repository: &str,
    urls: Vec<String>,
) -> Result<HashMap<String, InstanceId>, Error> {
    let key = repository.to_owned();
    let found = app.context.store.read(move |r| r.pull_agents(&key, &urls));
    Ok(found.await?)
}

fn card(pull: PullRequest, repository: &str, agents: &HashMap<String, InstanceId>) -> PullCard {
    PullCard {
        local: is_local_url(&pull.url),
        instance: agents.get(&pull.url).cloned(),
        repository: repository.to_owned(),
        pull,
    }
}

/// Returns a pull request with the agent that made it.
pub(crate) async fn pull_card(
    app: &App,
    context: &Context,
    pull: PullRequest,
) -> Result<PullCard, Error> {
    let repository = Context::repository_key(context.repository()?.root());
    let agents = agents(app, &repository, vec![pull.url.clone()]).await?;
    Ok(card(pull, &repository, &agents))
}

pub(crate) async fn pull(
    app: &App,
    repository: Option<&str>,
    number: u64,
) -> Result<PullView, Error> {
    let version = app.changes.version();
    let context = app.context_in(repository).await?;
    let pull = workflow::pull(&context, number).await?;
    let text = workflow::pull_diff(&context, number, DIFF_BYTES).await?;
    let cut = text.ends_with(" bytes]\n") && text.contains("\n[… cut: ");
    let diff = parse_diff(
        pull.base_branch.clone(),
        pull.head_branch.clone(),
        &text,
        cut,
    );
    let open = pull.state == PullState::Open;
    Ok(PullView {
        card: pull_card(app, &context, pull).await?,
        diff,
        can_change: open && !app.options.read_only,
        methods: MergeMethod::ALL.to_vec(),
        version,
    })
}
