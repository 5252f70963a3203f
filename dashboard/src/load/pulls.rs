//! Loads the pull requests of one repository.

use std::collections::HashMap;

use shared::error::Error;
use shared::model::pull_request::is_local_url;
use shared::model::{InstanceId, MergeMethod, PullRequest, PullState, Usage};
use shared::workflow::{self, Context, Run};

use super::diff::{MAX_DIFF_BYTES, parse_diff};
use super::review::review;
use crate::app::App;
use crate::view::{DiffQuery, DiffView, PullCard, PullFilter, PullView, PullsView, ReviewView};

const MAX_PULLS: usize = 100;

pub(crate) async fn pulls(app: &App, filter: PullFilter) -> Result<PullsView, Error> {
    let version = app.change_feed.version();
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
    // A forge that does not answer is an error on the page, not instead of it.
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
    let pulls = workflow::pulls(&context, state, MAX_PULLS).await?;
    let urls: Vec<String> = pulls.iter().map(|pull| pull.url.clone()).collect();
    let agents = agents(app, repository, urls.clone()).await?;
    let usage = workflow::pull_usage(&context, urls).await?;
    let standings = workflow::standings(&context, &pulls).await?;
    let cards = pulls
        .into_iter()
        .zip(standings)
        .map(|(pull, standing)| PullCard {
            standing,
            ..card(pull, repository, &agents, &usage)
        });
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

fn card(
    pull: PullRequest,
    repository: &str,
    agents: &HashMap<String, InstanceId>,
    usage: &HashMap<String, Usage>,
) -> PullCard {
    PullCard {
        local: is_local_url(&pull.url),
        instance: agents.get(&pull.url).cloned(),
        usage: usage.get(&pull.url).cloned(),
        standing: None,
        repository: repository.to_owned(),
        pull,
    }
}

/// Loads the agent that made a pull request.
pub(crate) async fn pull_card(
    app: &App,
    context: &Context,
    pull: PullRequest,
) -> Result<PullCard, Error> {
    let repository = Context::repository_key(context.repository()?.root());
    let agents = agents(app, &repository, vec![pull.url.clone()]).await?;
    let usage = workflow::pull_usage(context, vec![pull.url.clone()]).await?;
    let standings = workflow::standings(context, std::slice::from_ref(&pull)).await?;
    Ok(PullCard {
        standing: standings.into_iter().next().flatten(),
        ..card(pull, &repository, &agents, &usage)
    })
}

pub(crate) async fn pull(app: &App, number: u64, query: DiffQuery) -> Result<PullView, Error> {
    let version = app.change_feed.version();
    let context = app.context_in(query.repository.as_deref()).await?;
    let pull = workflow::pull(&context, number).await?;
    let (diff, review) = match reviewed(app, &context, &pull, query).await? {
        Some((diff, review)) => (diff, Some(review)),
        None => (of_forge(&context, &pull).await?, None),
    };
    let open = pull.state == PullState::Open;
    let has_agent = workflow::can_resolve(&context, &pull).await?;
    Ok(PullView {
        resolve_hint: (!has_agent).then(|| workflow::resolve_by_new_agent(&pull)),
        card: pull_card(app, &context, pull).await?,
        diff,
        review,
        can_change: open && !app.options.read_only,
        methods: MergeMethod::ALL.to_vec(),
        version,
    })
}

/// Loads an open pull request as the work of its agent, if it has one here.
async fn reviewed(
    app: &App,
    context: &Context,
    pull: &PullRequest,
    query: DiffQuery,
) -> Result<Option<(DiffView, ReviewView)>, Error> {
    if pull.state != PullState::Open {
        return Ok(None);
    }
    let run = Run::unattended();
    let Ok(coder) = workflow::coder_of_pull(context, &run, pull.number).await else {
        return Ok(None);
    };
    let is_part = query.since.is_some() || query.commit.is_some();
    match review(app, context, &coder, query).await {
        Ok((diff, mut view)) => {
            let published = (view.commit != pull.head_commit).then(|| pull.head_commit.clone());
            view.published = published;
            Ok(Some((diff, view)))
        }
        Err(error) if is_part => Err(error),
        // Its commits may be on GitHub alone.
        Err(_) => Ok(None),
    }
}

/// Loads what the forge says that a pull request changes.
async fn of_forge(context: &Context, pull: &PullRequest) -> Result<DiffView, Error> {
    let number = pull.number;
    let text = workflow::pull_diff(context, number, MAX_DIFF_BYTES).await?;
    let cut = text.ends_with(" bytes]\n") && text.contains("\n[… cut: ");
    Ok(parse_diff(
        pull.base_branch.clone(),
        pull.head_branch.clone(),
        &text,
        cut,
    ))
}
