//! `claude-codex tdd list` and `tdd show`

use shared::model::{InstanceId, TddRun, TddStatus, TddStep};
use shared::process;
use shared::workflow;

use crate::command_context;
use crate::failure::Failure;
use crate::output::{BAD, BOLD, DIM, GOOD, NAME, Output, WARNING, width};
use crate::table::{Cell, Table};
use crate::text::{first_line, harmless, harmless_block};

/// Only the newest runs are listed.
const MAX_RUNS: u32 = 1_000;

pub(super) async fn list(output: Output) -> Result<(), Failure> {
    let context = command_context::open(output).await?;
    let runs = context.store.read(|r| r.tdd_runs(MAX_RUNS)).await?;
    if output.is_json() {
        return output.document(&runs);
    }
    if runs.is_empty() {
        return output.print("There are no runs. `claude-codex tdd SPEC.md` starts one.\n");
    }
    let mut table = Table::new(&["ID", "STATUS", "ROUND", "AGE", "BRANCH", "SPEC"]);
    for run in &runs {
        let (word, style) = shown_status(run);
        table.row(vec![
            Cell::styled(run.task_id.as_str(), NAME),
            Cell::styled(word, style),
            Cell::new(format!(
                "{} of {}",
                run.current_iteration, run.max_iterations
            )),
            Cell::new(run.created_at.age()),
            Cell::new(&run.branch_name),
            Cell::styled(first_line(&run.original_spec), DIM),
        ]);
    }
    output.print(&table.render(width()))
}

pub(super) async fn show(id: &InstanceId, output: Output) -> Result<(), Failure> {
    let context = command_context::open(output).await?;
    let wanted = workflow::find_tdd_run(&context, id).await?;
    let run = context.store.read(move |r| r.tdd_run(&wanted)).await?;
    if output.is_json() {
        return output.document(&run);
    }
    output.print(&described(&run))
}

/// Returns the status of a run for people: also whether a process still drives it.
fn shown_status(run: &TddRun) -> (String, anstyle::Style) {
    let driven = run.owner.as_ref().is_some_and(process::is_alive);
    match (run.status, driven) {
        (TddStatus::Running, true) => (run.step.to_string(), GOOD),
        (TddStatus::Running, false) => ("interrupted: resume it".to_owned(), WARNING),
        (TddStatus::Completed, _) => (run.status.to_string(), BOLD),
        (TddStatus::Failed, _) => (run.status.to_string(), BAD),
    }
}

fn described(run: &TddRun) -> String {
    let (word, style) = shown_status(run);
    let step = match run.step {
        TddStep::Coding => "coding",
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
        ("started", run.created_at.readable()),
        ("changed", run.updated_at.readable()),
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
