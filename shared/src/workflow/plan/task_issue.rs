//! The GitHub issue of a task. If it cannot be opened, the task stays.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::agent;
use crate::error::{Code, Error};
use crate::forge::{CreatedIssue, ForgeError, Github, NewIssue};
use crate::model::hidden::drop_hidden;
use crate::model::{InstanceId, Task};
use crate::workflow::forges::github::GithubForge;
use crate::workflow::pull_text;
use crate::workflow::{Context, Forge, Run, Step, forge};

/// One issue at a time in each process, so that `maxIssuesPerPlan` is kept to the last one.
static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// GitHub shows a new issue in its lists after a moment, and may still be at work on a request that was broken off.
const MAX_LOOKUPS: u32 = 2;
const LOOKUP_INTERVAL: Duration = Duration::from_secs(1);

/// What became of the second half of a task.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskIssue {
    NotWanted,
    Opened,
    /// There is nowhere to open one.
    LocalForge {
        why: String,
    },
    /// The task stands without it; calling again opens it.
    Missing(Error),
}

/// Opens the issue of a task and records it.
pub(crate) async fn open_issue(
    context: &Context,
    run: &Run,
    planner: &InstanceId,
    task: &mut Task,
) -> TaskIssue {
    match run
        .unless_cancelled(try_to_open(context, run, planner, task))
        .await
    {
        Ok(opened) => opened,
        Err(error) => TaskIssue::Missing(error),
    }
}

async fn try_to_open(
    context: &Context,
    run: &Run,
    planner: &InstanceId,
    task: &mut Task,
) -> Result<TaskIssue, Error> {
    let repository = context.repository()?;
    let settings = context.settings();
    let github = match forge(&context.environment, &settings.forge, repository).await? {
        Forge::Local { why, .. } => return Ok(TaskIssue::LocalForge { why }),
        Forge::Github { remote, token } => {
            GithubForge::open(context, repository, remote, &token).await?
        }
    };
    let new = NewIssue {
        title: pull_text::title(&task.title),
        body: body(&settings.planning.issue_template, task)?,
        labels: vec![format!("priority: {}", task.priority)],
        mark: format!("<!-- claude-codex: {} -->", task.id),
    };
    let _turn = TURN.lock().await;
    let (key, id, counted) = (
        Context::repository_key(repository.root()),
        task.id.clone(),
        planner.clone(),
    );
    let (now, opened, is_asked_for) = context
        .store
        .read(move |r| {
            let task = r.task(&key, &id)?;
            Ok((
                task,
                r.issues_opened_by(&counted)?,
                r.is_issue_asked_for(&id)?,
            ))
        })
        .await?;
    if now.issue_number.is_some() {
        // A call for the same task was faster.
        *task = now;
        return Ok(TaskIssue::Opened);
    }
    if is_asked_for {
        run.step(Step::FindingIssue)?;
        let found = look_for(github.client(context).await?, &new.mark).await;
        if let Some(issue) = github.remember_rate_limit(context, found).await? {
            return recorded(context, task, issue).await;
        }
    }
    let most = settings.planning.max_issues_per_plan;
    if opened >= most {
        return Err(Error::new(
            Code::IssueLimitReached,
            format!(
                "{planner} has opened {opened} issues, and planning.maxIssuesPerPlan is {most}"
            ),
        )
        .hint("A person may raise it, or open the issue by hand."));
    }
    run.step(Step::OpeningIssue)?;
    let client = github.client(context).await?;
    let id = task.id.clone();
    context
        .store
        .write(move |w| w.set_issue_asked_for(&id, true))
        .await?;
    let answer = client.create_issue(&new).await;
    if answer.as_ref().is_err_and(|error| !is_unclear(error)) {
        let id = task.id.clone();
        context
            .store
            .write(move |w| w.set_issue_asked_for(&id, false))
            .await?;
    }
    let issue = github.remember_rate_limit(context, answer).await?;
    recorded(context, task, issue).await
}

/// Tells whether GitHub may have made the issue although it did not say so.
fn is_unclear(error: &ForgeError) -> bool {
    matches!(error, ForgeError::Uncertain { .. })
}

/// Looks for an issue that an earlier call has asked for, until GitHub has surely put it into its lists.
async fn look_for(client: &Github, mark: &str) -> Result<Option<CreatedIssue>, ForgeError> {
    for _ in 0..MAX_LOOKUPS {
        if let Some(issue) = client.marked_issue(mark).await? {
            return Ok(Some(issue));
        }
        tokio::time::sleep(LOOKUP_INTERVAL).await;
    }
    client.marked_issue(mark).await
}

async fn recorded(
    context: &Context,
    task: &mut Task,
    issue: CreatedIssue,
) -> Result<TaskIssue, Error> {
    let (id, number, url) = (task.id.clone(), issue.number, issue.url.clone());
    context
        .store
        .write(move |w| w.set_task_issue(&id, number, &url))
        .await?;
    task.issue_number = Some(issue.number);
    task.issue_url = Some(issue.url);
    Ok(TaskIssue::Opened)
}

/// Fills in the template of the configuration.
fn body(template: &str, task: &Task) -> Result<String, Error> {
    let description = drop_hidden(&task.description);
    let estimate = match task.estimated_hours {
        Some(hours) => format!("{hours} h"),
        None => "none".to_owned(),
    };
    let values: BTreeMap<&str, &str> = BTreeMap::from([
        ("description", description.trim()),
        ("priority", task.priority.as_str()),
        ("estimate", estimate.as_str()),
    ]);
    agent::render("planning.issueTemplate", template, &values).map_err(|problem| {
        Error::new(Code::ConfigInvalid, problem.to_string()).hint(
            "Correct planning.issueTemplate: it may name {{description}}, {{priority}} and {{estimate}}.",
        )
    })
}
