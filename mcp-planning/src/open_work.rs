//! Open work as the analysis wants it.

use std::path::Path;
use std::time::{Duration, SystemTime};

use analysis::{Incomplete, Issue, IssuesInput, Pull, Source, Task};
use mcp_kit::Call;
use shared::error::Error;
use shared::forge::OpenIssue;
use shared::model::{PullRequest, seconds_since_1970};
use shared::workflow::{self, Context, OpenWork, OpenWorkSource};

/// Asks forge and database.
pub(crate) async fn gather(
    call: &Call,
    context: &Context,
    root: &Path,
) -> Result<IssuesInput, Error> {
    let work = call
        .run()
        .unless_cancelled(workflow::open_work(context))
        .await?;
    Ok(input(root, work))
}

fn input(root: &Path, work: OpenWork) -> IssuesInput {
    IssuesInput {
        root: root.to_owned(),
        now: SystemTime::now(),
        open_issues: work.issues.into_iter().map(issue).collect(),
        pulls: work.pulls.into_iter().map(pull).collect(),
        tasks: work.tasks.into_iter().map(task).collect(),
        source: match work.source {
            OpenWorkSource::Github => Source::Github,
            OpenWorkSource::Local => Source::Local,
            OpenWorkSource::Unavailable { why } => Source::Unavailable { why },
        },
        missing: work
            .missing
            .iter()
            .map(|missing| Incomplete::new(missing.what, &missing.why))
            .collect(),
    }
}

fn issue(issue: OpenIssue) -> Issue {
    Issue {
        number: issue.number,
        title: issue.title,
        body: issue.body,
        labels: issue.labels,
        author: issue.author.unwrap_or_default(),
        created_at: time(&issue.created_at),
        updated_at: time(&issue.updated_at),
        comments: u32::try_from(issue.comments).unwrap_or(u32::MAX),
        url: issue.url,
    }
}

fn pull(pull: PullRequest) -> Pull {
    Pull {
        number: pull.number,
        title: pull.title,
        body: pull.body,
        labels: Vec::new(),
        author: String::new(),
        created_at: time(&pull.created_at),
        updated_at: time(&pull.updated_at),
        comments: 0,
        url: pull.url,
        branch: pull.head_branch,
        draft: pull.draft,
    }
}

fn task(task: shared::model::Task) -> Task {
    Task {
        id: task.id.to_string(),
        title: task.title,
        description: task.description,
        status: task.status,
        priority: task.priority,
        estimated_hours: task.estimated_hours,
        depends_on: task.depends_on.iter().map(ToString::to_string).collect(),
        issue_number: task.issue_number,
    }
}

/// A time that can't be read counts as now: nothing is called old by mistake.
fn time(text: &str) -> SystemTime {
    seconds_since_1970(text)
        .and_then(|seconds| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds)))
        .unwrap_or_else(SystemTime::now)
}
