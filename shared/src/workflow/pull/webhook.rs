//! GitHub webhooks about pull requests: deduplicated, then handled like `sync`.

use std::path::Path;

use super::sync::{Synced, follow_pull};
use crate::error::Error;
use crate::model::{PullRequest, PullState, Timestamp};
use crate::workflow::{Context, Run};

/// What a webhook says about a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullNews {
    pub number: u64,
    /// Its address for people, which agents' rows have too.
    pub url: String,
    pub state: PullState,
}

/// Remembers that a webhook came; false if it came before.
pub async fn record_webhook(context: &Context, delivery: &str) -> Result<bool, Error> {
    let delivery = delivery.to_owned();
    Ok(context
        .store
        .write(move |w| w.record_webhook(&delivery))
        .await?)
}

/// Moves the agents of a pull request, in whichever repository they are.
pub async fn follow_news(
    context: &Context,
    run: &Run,
    news: &PullNews,
) -> Result<Vec<Synced>, Error> {
    let url = news.url.clone();
    let repositories = context
        .store
        .read(move |r| r.repositories_of_pull(&url))
        .await?;
    // Only number, address and state are looked at.
    let pull = PullRequest {
        number: news.number,
        url: news.url.clone(),
        title: String::new(),
        body: String::new(),
        state: news.state,
        draft: false,
        head_branch: String::new(),
        base_branch: String::new(),
        head_commit: String::new(),
        merge_commit: None,
        created_at: Timestamp::now(),
        updated_at: Timestamp::now(),
        merged_at: None,
        mergeable: None,
    };
    let mut moved = Vec::new();
    for repository in repositories {
        let there = context.in_repository(Path::new(&repository)).await?;
        moved.extend(follow_pull(&there, run, &pull).await?);
    }
    Ok(moved)
}
