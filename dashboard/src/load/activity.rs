//! Loads an agent's activity, page by page.

use shared::error::Error;
use shared::model::{Instance, InstanceId};
use shared::workflow;

use crate::app::App;
use crate::view::{ActivityQuery, ActivityView};

/// How many items an answer has if nobody says it.
const DEFAULT_ITEMS: usize = 200;
/// The most that a request may ask for.
pub(crate) const MAX_ITEMS: usize = 1_000;
/// How many the agent's page shows.
pub(super) const ITEMS_ON_PAGE: usize = 60;

pub(crate) async fn activity(
    app: &App,
    id: &InstanceId,
    query: &ActivityQuery,
) -> Result<ActivityView, Error> {
    let instance = app.instance(id).await?;
    let limit = query.limit.unwrap_or(DEFAULT_ITEMS);
    if !(1..=MAX_ITEMS).contains(&limit) {
        let problem = format!("must be between 1 and {MAX_ITEMS}");
        return Err(Error::argument("limit", problem));
    }
    activity_of(app, &instance, query.after.as_deref(), limit).await
}

pub(super) async fn activity_of(
    app: &App,
    instance: &Instance,
    after: Option<&str>,
    limit: usize,
) -> Result<ActivityView, Error> {
    let after = after.map(str::parse).transpose();
    let after = after.map_err(|problem| Error::argument("after", format!("{problem}")))?;
    let page = workflow::activity(&app.context, instance, after.as_ref(), limit).await?;
    Ok(
        page.map_or_else(ActivityView::default, |page| ActivityView {
            items: page.items,
            cursor: Some(page.cursor.to_string()),
            more: page.more,
        }),
    )
}
