//! The issue that stands for a task on GitHub. The task is kept whatever becomes of it.

use std::collections::BTreeMap;

use super::github_forge::GithubForge;
use super::{Context, Forge, Run, forge, pull_text};
use crate::agent;
use crate::error::{Code, Error};
use crate::forge::NewIssue;
use crate::model::hidden::drop_hidden;
use crate::model::{InstanceId, Task};

/// One issue at a time in each process, so that `maxIssuesPerPlan` is kept to the last one.
static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

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
pub(super) async fn open_issue(
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
    };
    let _turn = TURN.lock().await;
    let (key, id, counted) = (
        Context::repository_key(repository.root()),
        task.id.clone(),
        planner.clone(),
    );
    let (now, opened) = context
        .store
        .read(move |r| Ok((r.task(&key, &id)?, r.issues_opened_by(&counted)?)))
        .await?;
    if now.issue_number.is_some() {
        // A call for the same task was faster.
        *task = now;
        return Ok(TaskIssue::Opened);
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
    run.step("Opening the issue")?;
    let answer = github.client(context).await?.create_issue(&new).await;
    let issue = github.heard(context, answer).await?;
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
