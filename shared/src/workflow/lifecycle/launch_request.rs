//! Launch requests: validated, and completed from the issue or task they name. The same for every interface.

use serde_json::json;

use crate::error::{Code, Error};
use crate::model::hidden::drop_hidden;
use crate::model::{InstanceKind, SessionMode, Task, TaskId, TaskStatus};
use crate::workflow::{Context, Issue, read_issue};

/// The longest prompt, in bytes: more than a model reads.
pub const MAX_PROMPT_BYTES: usize = 1 << 20;
/// The most review rounds that can be asked for.
pub const MAX_REVIEWS: u32 = 100;

/// The prompt of a planner that was given none.
const DEFAULT_PLAN: &str =
    "Look at this repository as a whole and plan the work that should come next.";

/// The agent that a user asks for.
#[derive(Debug, Clone)]
pub struct LaunchRequest {
    pub kind: InstanceKind,
    /// Optional for planners, and where an issue or a task describes the work.
    pub prompt: Option<String>,
    pub issue: Option<u64>,
    pub task: Option<TaskId>,
    /// Branch, tag or commit to start from; by default whatever is checked out where the command runs.
    pub base: Option<String>,
    pub branch: Option<String>,
    pub require_review: bool,
    pub max_reviews: Option<u32>,
}

impl LaunchRequest {
    /// Returns a request with defaults for one kind of agent.
    pub fn new(kind: InstanceKind) -> Self {
        Self {
            kind,
            prompt: None,
            issue: None,
            task: None,
            base: None,
            branch: None,
            require_review: false,
            max_reviews: None,
        }
    }
}

/// A valid request, with the text of its issue or task.
#[derive(Debug, Clone)]
pub(crate) struct ResolvedLaunch {
    pub(crate) kind: InstanceKind,
    pub(crate) session_mode: SessionMode,
    pub(crate) prompt: String,
    pub(crate) issue: Option<Issue>,
    pub(crate) task: Option<TaskId>,
    pub(crate) base: Option<String>,
    pub(crate) branch: Option<String>,
    /// `None` leaves it to the settings.
    pub(crate) require_review: Option<bool>,
    pub(crate) max_reviews: Option<u32>,
}

/// Validates a request and reads the issue or task it names.
pub(crate) async fn resolve(
    context: &Context,
    request: LaunchRequest,
) -> Result<ResolvedLaunch, Error> {
    if let Some(prompt) = &request.prompt {
        check_prompt(prompt)?;
    }
    check_numbers(&request)?;
    let is_plan = match request.kind {
        InstanceKind::Planning => true,
        InstanceKind::Coding => false,
        InstanceKind::Review => {
            return Err(Error::argument(
                "kind",
                "cannot be launched directly; request_review starts reviewers",
            ));
        }
    };
    if is_plan {
        refuse_for_plan(&request)?;
    } else if request.prompt.is_none() && request.issue.is_none() && request.task.is_none() {
        return Err(Error::new(Code::InvalidArguments, "there is nothing to do")
            .hint("Describe the task: claude-codex code \"Fix the login page\"."));
    }
    let issue = match (request.issue, &request.prompt) {
        (None, _) => None,
        (Some(number), Some(prompt)) => Some(Issue {
            number,
            title: first_line(prompt),
            body: prompt.clone(),
        }),
        (Some(number), None) => Some(read_issue(context, number).await?),
    };
    let prompt = match (&request.task, &issue, request.prompt) {
        (Some(id), _, more) => task_prompt(&ready_task(context, id).await?, more.as_deref()),
        (None, _, Some(prompt)) => prompt,
        (None, Some(issue), None) => issue_prompt(issue),
        (None, None, None) => DEFAULT_PLAN.to_owned(),
    };
    Ok(ResolvedLaunch {
        kind: request.kind,
        session_mode: SessionMode::Interactive,
        prompt: drop_hidden(&prompt),
        issue,
        task: request.task,
        base: request.base,
        branch: request.branch,
        require_review: request.require_review.then_some(true),
        max_reviews: request.max_reviews,
    })
}

/// Checks that a prompt is neither empty nor too long.
fn check_prompt(prompt: &str) -> Result<(), Error> {
    if prompt.trim().is_empty() {
        return Err(Error::argument("prompt", "is empty"));
    }
    if prompt.len() > MAX_PROMPT_BYTES {
        return Err(Error::argument(
            "prompt",
            format!("has more than {MAX_PROMPT_BYTES} bytes"),
        ));
    }
    Ok(())
}

fn check_numbers(request: &LaunchRequest) -> Result<(), Error> {
    if request.issue == Some(0) {
        return Err(Error::argument("issue", "is a number from 1"));
    }
    if request.issue.is_some() && request.task.is_some() {
        return Err(Error::argument(
            "issue",
            "can't be given together with a task",
        ));
    }
    if request
        .max_reviews
        .is_some_and(|most| !(1..=MAX_REVIEWS).contains(&most))
    {
        return Err(Error::argument(
            "maxReviews",
            format!("is a number from 1 to {MAX_REVIEWS}"),
        ));
    }
    Ok(())
}

/// Rejects options that do not apply to planners, which have no branch, reviews or task.
fn refuse_for_plan(request: &LaunchRequest) -> Result<(), Error> {
    let given = [
        ("issue", request.issue.is_some()),
        ("task", request.task.is_some()),
        ("base", request.base.is_some()),
        ("branch", request.branch.is_some()),
        ("requireReview", request.require_review),
        ("maxReviews", request.max_reviews.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((name, _)) => Err(Error::argument(name, "does not apply to a planner")),
        None => Ok(()),
    }
}

/// Returns a task that is ready, or an error that names the tasks it waits for.
async fn ready_task(context: &Context, id: &TaskId) -> Result<Task, Error> {
    let repository = Context::repository_key(context.repository()?.root());
    let id = id.clone();
    let (task, open) = context
        .store
        .read(move |r| {
            let task = r.task(&repository, &id)?;
            let dependencies = task.depends_on.iter().map(|id| r.task(&repository, id));
            let dependencies = dependencies.collect::<Result<Vec<_>, _>>()?;
            let open: Vec<_> = dependencies
                .into_iter()
                .filter(|task| task.status != TaskStatus::Done)
                .collect();
            Ok((task, open))
        })
        .await?;
    if task.ready {
        return Ok(task);
    }
    let id = &task.id;
    let error = if task.status == TaskStatus::Open {
        let names: Vec<_> = open
            .iter()
            .map(|task| format!("{} ({}, {})", task.id, first_line(&task.title), task.status))
            .collect();
        Error::new(
            Code::TaskNotReady,
            format!("{id} waits for {}", names.join(", ")),
        )
        .hint("`claude-codex tasks --ready` lists what can begin now.")
    } else {
        Error::new(Code::TaskNotReady, format!("{id} is {}", task.status))
            .hint("`claude-codex tasks` lists the tasks and where they are.")
    };
    let waiting: Vec<_> = open.iter().map(|task| &task.id).collect();
    Err(error.details(json!({ "status": task.status, "waitingFor": waiting })))
}

fn issue_prompt(issue: &Issue) -> String {
    format!("Issue #{}: {}\n\n{}", issue.number, issue.title, issue.body)
}

fn task_prompt(task: &Task, more: Option<&str>) -> String {
    let mut prompt = format!("{}\n\n{}", task.title, task.description);
    if let Some(more) = more {
        prompt.push_str("\n\n");
        prompt.push_str(more);
    }
    prompt
}

/// Returns the first line that is not blank.
fn first_line(text: &str) -> String {
    let text = drop_hidden(text);
    let line = text.lines().find(|line| !line.trim().is_empty());
    line.unwrap_or_default().trim().replace('\t', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_neither_empty_nor_too_long() {
        assert!(check_prompt("do it").is_ok());
        let error = check_prompt("  \n").unwrap_err();
        assert_eq!(error.code, Code::InvalidArguments);
        assert!(check_prompt(&"x".repeat(MAX_PROMPT_BYTES + 1)).is_err());
    }

    #[test]
    fn numbers_have_bounds_and_a_planner_takes_none() {
        let request = |change: fn(&mut LaunchRequest)| {
            let mut request = LaunchRequest::new(InstanceKind::Coding);
            change(&mut request);
            request
        };
        assert!(check_numbers(&request(|_| ())).is_ok());
        assert!(check_numbers(&request(|request| request.max_reviews = Some(100))).is_ok());
        for wrong in [
            request(|request| request.issue = Some(0)),
            request(|request| request.max_reviews = Some(0)),
            request(|request| request.max_reviews = Some(101)),
            request(|request| {
                request.issue = Some(1);
                request.task = Some(TaskId::random());
            }),
        ] {
            assert!(check_numbers(&wrong).is_err(), "{wrong:?}");
        }
        assert!(refuse_for_plan(&request(|_| ())).is_ok());
        assert!(
            refuse_for_plan(&request(|request| request.branch = Some("b".to_owned()))).is_err()
        );
        assert!(refuse_for_plan(&request(|request| request.require_review = true)).is_err());
    }
}
