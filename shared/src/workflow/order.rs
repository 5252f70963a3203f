//! What a person asks for, checked and completed into a launch: the same from every interface.

use serde_json::json;

use super::{Context, Issue, LaunchRequest, read_issue};
use crate::error::{Code, Error};
use crate::model::hidden::drop_hidden;
use crate::model::{InstanceKind, Task, TaskId, TaskStatus};

/// The longest prompt, in bytes: more than a model reads.
pub const MOST_PROMPT_BYTES: usize = 1 << 20;
/// The most review rounds that can be asked for.
pub const MOST_REVIEWS: u32 = 100;

/// What a planner is asked when nobody says more.
const DEFAULT_PLAN: &str =
    "Look at this repository as a whole and plan the work that should come next.";

/// An agent as a person asks for it.
#[derive(Debug, Clone)]
pub struct Order {
    pub kind: InstanceKind,
    /// Not needed where an issue or a task says what is to be done, or for a planner.
    pub prompt: Option<String>,
    pub issue: Option<u64>,
    pub task: Option<TaskId>,
    pub base: Option<String>,
    pub branch: Option<String>,
    pub require_review: bool,
    pub max_reviews: Option<u32>,
}

impl Order {
    /// Begins an order for one kind of agent.
    pub fn of(kind: InstanceKind) -> Self {
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

/// Checks an order and finds out what it leaves to an issue or a task.
pub async fn prepare(context: &Context, order: Order) -> Result<LaunchRequest, Error> {
    if let Some(prompt) = &order.prompt {
        check_prompt(prompt)?;
    }
    check_numbers(&order)?;
    let is_plan = match order.kind {
        InstanceKind::Planning => true,
        InstanceKind::Coding => false,
        InstanceKind::Review => {
            return Err(Error::argument(
                "kind",
                "is started by request_review, not by itself",
            ));
        }
    };
    if is_plan {
        refuse_for_plan(&order)?;
    } else if order.prompt.is_none() && order.issue.is_none() && order.task.is_none() {
        return Err(Error::new(Code::InvalidArguments, "there is nothing to do")
            .hint("Say what is to be done: claude-codex code \"Fix the login page\"."));
    }
    let issue = match (order.issue, &order.prompt) {
        (None, _) => None,
        (Some(number), Some(prompt)) => Some(Issue {
            number,
            title: first_line(prompt),
            body: prompt.clone(),
        }),
        (Some(number), None) => Some(read_issue(context, number).await?),
    };
    let prompt = match (&order.task, &issue, order.prompt) {
        (Some(id), _, more) => task_prompt(&ready_task(context, id).await?, more.as_deref()),
        (None, _, Some(prompt)) => prompt,
        (None, Some(issue), None) => issue_prompt(issue),
        (None, None, None) => DEFAULT_PLAN.to_owned(),
    };
    Ok(LaunchRequest {
        kind: order.kind,
        prompt: drop_hidden(&prompt),
        issue,
        task: order.task,
        base: order.base,
        branch: order.branch,
        require_review: order.require_review.then_some(true),
        max_reviews: order.max_reviews,
    })
}

/// Checks that a prompt says something, and not too much.
pub fn check_prompt(prompt: &str) -> Result<(), Error> {
    if prompt.trim().is_empty() {
        return Err(Error::argument("PROMPT", "is empty"));
    }
    if prompt.len() > MOST_PROMPT_BYTES {
        return Err(Error::argument(
            "PROMPT",
            format!("has more than {MOST_PROMPT_BYTES} bytes"),
        ));
    }
    Ok(())
}

fn check_numbers(order: &Order) -> Result<(), Error> {
    if order.issue == Some(0) {
        return Err(Error::argument("issue", "is a number from 1"));
    }
    if order.issue.is_some() && order.task.is_some() {
        return Err(Error::argument(
            "issue",
            "can't be given together with a task",
        ));
    }
    if order
        .max_reviews
        .is_some_and(|most| !(1..=MOST_REVIEWS).contains(&most))
    {
        return Err(Error::argument(
            "maxReviews",
            format!("is a number from 1 to {MOST_REVIEWS}"),
        ));
    }
    Ok(())
}

/// A planner has no branch, no reviews and no task of its own.
fn refuse_for_plan(order: &Order) -> Result<(), Error> {
    let given = [
        ("issue", order.issue.is_some()),
        ("task", order.task.is_some()),
        ("base", order.base.is_some()),
        ("branch", order.branch.is_some()),
        ("requireReview", order.require_review),
        ("maxReviews", order.max_reviews.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((name, _)) => Err(Error::argument(name, "means nothing to a planner")),
        None => Ok(()),
    }
}

/// Returns a task that can begin, or says what it waits for.
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

/// Returns the first line that says something.
fn first_line(text: &str) -> String {
    let text = drop_hidden(text);
    let line = text.lines().find(|line| !line.trim().is_empty());
    line.unwrap_or_default().trim().replace('\t', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_says_something() {
        assert!(check_prompt("do it").is_ok());
        let error = check_prompt("  \n").unwrap_err();
        assert_eq!(error.code, Code::InvalidArguments);
        assert!(check_prompt(&"x".repeat(MOST_PROMPT_BYTES + 1)).is_err());
    }

    #[test]
    fn numbers_have_bounds_and_a_planner_takes_none() {
        let order = |change: fn(&mut Order)| {
            let mut order = Order::of(InstanceKind::Coding);
            change(&mut order);
            order
        };
        assert!(check_numbers(&order(|_| ())).is_ok());
        assert!(check_numbers(&order(|order| order.max_reviews = Some(100))).is_ok());
        for wrong in [
            order(|order| order.issue = Some(0)),
            order(|order| order.max_reviews = Some(0)),
            order(|order| order.max_reviews = Some(101)),
            order(|order| {
                order.issue = Some(1);
                order.task = Some(TaskId::random());
            }),
        ] {
            assert!(check_numbers(&wrong).is_err(), "{wrong:?}");
        }
        assert!(refuse_for_plan(&order(|_| ())).is_ok());
        assert!(refuse_for_plan(&order(|order| order.branch = Some("b".to_owned()))).is_err());
        assert!(refuse_for_plan(&order(|order| order.require_review = true)).is_err());
    }
}
