//! Looking at runs.

use shared::model::{InstanceId, TddRun, TddStatus, TddStep};
use shared::process;

use crate::failure::Failure;
use crate::output::{BAD, BOLD, DIM, GOOD, NAME, Output, WARNING, width};
use crate::session;
use crate::table::{Cell, Table};
use crate::text::{first_line, harmless, harmless_block};
use crate::time::{age, readable};

/// Of more runs than this only the newest are listed.
const MOST: u32 = 1_000;

pub(super) async fn list(output: Output) -> Result<(), Failure> {
    let context = session::open(output).await?;
    let runs = context.store.read(|r| r.tdd_runs(MOST)).await?;
    if output.is_json() {
        return output.document(&runs);
    }
    if runs.is_empty() {
        return output.print("There are no runs. `claude-codex tdd SPEC.md` begins one.\n");
    }
    let mut table = Table::new(&["ID", "STATUS", "ROUND", "AGE", "BRANCH", "SPEC"]);
    for run in &runs {
        let (word, style) = where_it_is(run);
        table.row(vec![
            Cell::styled(run.task_id.as_str(), NAME),
            Cell::styled(word, style),
            Cell::new(format!(
                "{} of {}",
                run.current_iteration, run.max_iterations
            )),
            Cell::new(age(&run.created_at)),
            Cell::new(&run.branch_name),
            Cell::styled(first_line(&run.original_spec), DIM),
        ]);
    }
    output.print(&table.render(width()))
}

pub(super) async fn show(id: &InstanceId, output: Output) -> Result<(), Failure> {
    let context = session::open(output).await?;
    let wanted = id.clone();
    let run = context.store.read(move |r| r.tdd_run(&wanted)).await?;
    if output.is_json() {
        return output.document(&run);
    }
    output.print(&described(&run))
}

/// Returns where a run is: a word for people, who want to know whether anybody drives it.
fn where_it_is(run: &TddRun) -> (String, anstyle::Style) {
    let driven = run.owner.as_ref().is_some_and(process::is_alive);
    match (run.status, driven) {
        (TddStatus::Running, true) => (run.step.to_string(), GOOD),
        (TddStatus::Running, false) => ("left: resume it".to_owned(), WARNING),
        (TddStatus::Completed, _) => (run.status.to_string(), BOLD),
        (TddStatus::Failed, _) => (run.status.to_string(), BAD),
    }
}

fn described(run: &TddRun) -> String {
    let (word, style) = where_it_is(run);
    let step = match run.step {
        TddStep::Coding => "the coder's turn",
        TddStep::Reviewing => "review",
    };
    let mut text = format!("{NAME}{}{NAME:#}  {style}{word}{style:#}\n", run.task_id);
    let rows = [
        ("spec", run.spec_path.to_string_lossy().into_owned()),
        (
            "branch",
            format!("{} from {}", run.branch_name, run.worktree_info.base_branch),
        ),
        (
            "worktree",
            run.worktree_info.path.to_string_lossy().into_owned(),
        ),
        (
            "round",
            format!(
                "{} of {}, {step}",
                run.current_iteration, run.max_iterations
            ),
        ),
        ("began", readable(&run.created_at)),
        ("changed", readable(&run.updated_at)),
        ("pull request", run.pr_url.clone().unwrap_or("-".to_owned())),
    ];
    for (label, value) in rows {
        text += &format!("  {DIM}{label:<12}{DIM:#}  {}\n", harmless(&value));
    }
    if let Some(error) = &run.error {
        text += &format!("\n{BAD}Failed{BAD:#}\n{}\n", harmless_block(error));
    }
    for (title, responses) in [
        ("Coder", &run.coder_responses),
        ("Reviewer", &run.reviewer_responses),
    ] {
        for (index, response) in responses.iter().enumerate() {
            text += &format!(
                "\n{BOLD}{title}, {} of {}{BOLD:#}\n{}\n",
                index + 1,
                responses.len(),
                harmless_block(response.trim_end())
            );
        }
    }
    text
}
