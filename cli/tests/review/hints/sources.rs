//! Where the code names commands to a person (hints, advice, notes), and which test follows each of them, or why none does.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A command as the code has it, with `{}` for what is filled in; the test that follows it: one of `hints.rs`, which is checked
/// when that runs, or a file and its test; and the files that name it. Commands without an id are all run by one test.
const FOLLOWED: &[(&str, &str, &[&str])] = &[
    (
        "attach {}",
        "cli/tests/e2e/terminal.rs attach_shows_the_agent_and_leaves_it_at_work",
        &[
            "cli/src/commands/pr/review.rs",
            "cli/src/commands/send.rs",
            "shared/src/workflow/terminal/answer.rs",
        ],
    ),
    (
        "clean --discard {}",
        "cli/tests/e2e/watch.rs work_that_git_does_not_know_is_shown_and_said_how_to_save_or_discard",
        &["shared/src/workflow/attention.rs"],
    ),
    (
        "code --branch {} --base {} \"…\"",
        "cli/tests/tdd/conflict.rs a_new_agent_resolves_the_conflict_of_a_run",
        &[
            "shared/src/workflow/pull/resolve.rs",
            "shared/src/workflow/review/reviewed_work.rs",
        ],
    ),
    (
        "code --branch {} --base {} \"…\"",
        "pull_requests_that_cannot_be_merged",
        &["shared/src/workflow/pull/pull_agent.rs"],
    ),
    (
        "code --issue {} \"…\"",
        "an_agent_at_work",
        &["shared/src/workflow/forges/select_forge.rs"],
    ),
    (
        "code --task {}",
        "tasks_that_are_ready",
        &[
            "cli/src/commands/tasks/edit.rs",
            "mcp-planning/src/tools/create_task.rs",
        ],
    ),
    (
        "logs {}",
        "an_agent_at_work",
        &["cli/src/commands/attach.rs"],
    ),
    (
        "logs {} --follow",
        "cli/tests/e2e/terminal.rs events_and_logs_can_be_followed",
        &["shared/src/workflow/tdd/drive.rs"],
    ),
    (
        "pr close {}",
        "cli/tests/review/base_branches.rs a_base_without_common_history_holds_up_no_other_pull_request",
        &[
            "cli/src/commands/pr/show.rs",
            "shared/src/workflow/attention.rs",
            "shared/src/workflow/forges/base_problem.rs",
        ],
    ),
    (
        "pr close {}",
        "published_work_is_no_leftover",
        &["shared/src/workflow/lifecycle/clean.rs"],
    ),
    (
        "pr close {}",
        "cli/tests/review/sent_back.rs the_task_of_an_open_pull_request_is_not_given_to_another_agent",
        &["shared/src/workflow/lifecycle/discard.rs"],
    ),
    (
        "pr diff {}",
        "pull_requests_that_cannot_be_merged",
        &["shared/src/workflow/forges/publication.rs"],
    ),
    (
        "pr merge {}",
        "published_work_is_no_leftover",
        &["shared/src/workflow/lifecycle/clean.rs"],
    ),
    (
        "pr merge {}",
        "cli/tests/review/conflicting.rs both_are_merged_the_second_after_its_own_agent_resolved_the_conflict",
        &[
            "mcp-kit/src/pull_request.rs",
            "shared/src/workflow/pull/resolve.rs",
        ],
    ),
    (
        "pr merge {} --as-published",
        "pull_requests_that_cannot_be_merged",
        &["shared/src/workflow/pull/moved_branch.rs"],
    ),
    (
        "pr merge {} --method squash",
        "cli/tests/review/merging.rs as_one_commit",
        &["shared/src/workflow/forges/local.rs"],
    ),
    (
        "pr reopen {}",
        "merged_and_closed_work",
        &[
            "shared/src/error.rs",
            "shared/src/error/way_on.rs",
            "shared/src/workflow/forges/local.rs",
            "shared/src/workflow/pull/pull_agent.rs",
            "shared/src/workflow/review/reviewed_work.rs",
        ],
    ),
    (
        "pr request-changes {}",
        "cli/tests/review/sent_back.rs an_agent_that_keeps_running_is_told_at_once",
        &["cli/src/commands/pr/review.rs"],
    ),
    (
        "pr request-changes {} \"…\"",
        "published_work",
        &[
            "shared/src/workflow/lifecycle/continued_branch.rs",
            "shared/src/workflow/lifecycle/resume.rs",
        ],
    ),
    (
        "pr resolve {}",
        "pull_requests_that_cannot_be_merged",
        &["shared/src/workflow/forges/local.rs"],
    ),
    (
        "pr resolve {}",
        "cli/tests/review/conflicting.rs both_are_merged_the_second_after_its_own_agent_resolved_the_conflict",
        &[
            "cli/src/commands/pr/show.rs",
            "shared/src/error/forge.rs",
            "shared/src/workflow/attention.rs",
        ],
    ),
    (
        "pr show {}",
        "cli/tests/review/conflicting.rs a_person_resolves_it_and_what_nobody_approved_is_not_called_approved",
        &[
            "mcp-kit/src/pull_request.rs",
            "shared/src/workflow/forges/local.rs",
        ],
    ),
    (
        "pr update {}",
        "pull_requests_that_cannot_be_merged",
        &[
            "shared/src/workflow/forges/local.rs",
            "shared/src/workflow/pull/moved_branch.rs",
        ],
    ),
    (
        "pr update {}",
        "cli/tests/review/updating.rs a_moved_branch_is_noticed_and_its_commits_are_brought_in",
        &[
            "cli/src/commands/pr/show.rs",
            "cli/src/commands/sync.rs",
            "shared/src/workflow/attention.rs",
        ],
    ),
    (
        "pr update {}",
        "cli/tests/review/conflicting.rs a_person_resolves_it_and_what_nobody_approved_is_not_called_approved",
        &["shared/src/workflow/pull/resolve.rs"],
    ),
    (
        "resume {}",
        "agents_that_have_ended",
        &["shared/src/error/way_on.rs", "shared/src/workflow/board.rs"],
    ),
    (
        "resume {}",
        "a_branch_that_an_agent_has",
        &["shared/src/workflow/lifecycle/continued_branch.rs"],
    ),
    (
        "resume {}",
        "cli/tests/review/sent_back.rs a_published_agent_that_cannot_be_started_again_stays_published",
        &["shared/src/workflow/put_to_work.rs"],
    ),
    (
        "send {} --again {}",
        "cli/tests/review/delivery.rs what_shows_nothing_of_a_message_is_typed_at_once_and_unconfirmed",
        &["cli/src/commands/send.rs", "cli/src/commands/show.rs"],
    ),
    (
        "send {} \"…\"",
        "published_work",
        &[
            "shared/src/error/way_on.rs",
            "shared/src/workflow/lifecycle/resume.rs",
            "shared/src/workflow/review/reviewed_work.rs",
        ],
    ),
    (
        "send {} \"…\"",
        "a_branch_that_an_agent_has",
        &["shared/src/workflow/lifecycle/continued_branch.rs"],
    ),
    (
        "show {}",
        "an_agent_at_work",
        &["shared/src/error/way_on.rs", "shared/src/workflow/send.rs"],
    ),
    (
        "show {}",
        "a_reviewer_that_is_done",
        &[
            "shared/src/error.rs",
            "shared/src/workflow/review/reviewed_work.rs",
        ],
    ),
    (
        "stop {}",
        "an_agent_at_work",
        &["shared/src/workflow/lifecycle/clean.rs"],
    ),
    (
        "stop {}",
        "a_branch_that_an_agent_has",
        &["shared/src/workflow/lifecycle/continued_branch.rs"],
    ),
    (
        "stop {}",
        "cli/tests/e2e/tasks.rs a_task_that_an_agent_works_on_stays_until_the_agent_is_stopped",
        &["shared/src/workflow/plan/edit_task.rs"],
    ),
    (
        "stop {}",
        "cli/tests/tdd/stopping.rs stop_ends_the_run_and_its_agents",
        &[
            "shared/src/workflow/board.rs",
            "shared/src/workflow/tdd/drive.rs",
        ],
    ),
    (
        "stop --discard {}",
        "cli/tests/e2e/discarding.rs work_is_deleted_only_if_a_person_says_so",
        &["shared/src/workflow/lifecycle/discard.rs"],
    ),
    (
        "tasks{} --all",
        "tasks_that_are_ready",
        &["cli/src/commands/tasks/mod.rs"],
    ),
    (
        "tdd resume {}",
        "cli/tests/tdd/stopping.rs ctrl_c_leaves_a_run_that_can_be_resumed_and_says_how",
        &[
            "shared/src/error/way_on.rs",
            "shared/src/workflow/lifecycle/resume.rs",
            "shared/src/workflow/review/reviewed_work.rs",
            "shared/src/workflow/tdd/background.rs",
            "shared/src/workflow/tdd/drive.rs",
            "shared/src/workflow/tdd/rounds.rs",
        ],
    ),
    (
        "tdd show {}",
        "cli/tests/tdd/stopping.rs ctrl_c_leaves_a_run_that_can_be_resumed_and_says_how",
        &["shared/src/workflow/tdd/background.rs"],
    ),
];

/// Commands that no test follows as they are written, and why.
const EXEMPT: &[(&str, &str)] = &[
    ("COMMAND --help", "any command is meant"),
    ("code", "only names the command"),
    (
        "dashboard",
        "serves until it is ended; every test of the dashboard starts one",
    ),
    (
        "demo --keep",
        "takes minutes; cli/tests/review/demo.rs runs it",
    ),
    (
        "events --follow --json",
        "does not end; cli/tests/e2e/terminal.rs follows events",
    ),
    ("phase restore", "needs a phase; cli/tests/phases"),
    ("phase stop", "needs a phase; cli/tests/phases"),
    ("restore", "only names the command"),
    (
        "restore --empty",
        "replaces a broken database; shared/src/store/care_tests.rs",
    ),
    ("restore FILE", "the person chooses the backup"),
    ("resume work-42-a1", "an example in the help"),
    (
        "send ID --again MESSAGE",
        "a check that may mean many messages; the command before it lists them",
    ),
    ("show ID", "a check that may mean many agents"),
    ("tdd SPEC.md", "the person writes the specification"),
    ("tdd resume", "only names the command"),
    ("trust", "asks at a terminal; cli/tests/e2e/trust.rs"),
];

thread_local! {
    static RUN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Remembers that this test has run a command that a hint named.
pub(super) fn record(command: &str) {
    RUN.with_borrow_mut(|run| run.push(command.to_owned()));
}

/// Checks that a test has followed all that the table says of it.
pub(super) fn assert_followed(test: &str) {
    let run = RUN.take();
    let promised: Vec<_> = FOLLOWED.iter().filter(|(_, by, _)| *by == test).collect();
    assert!(!promised.is_empty(), "{test} is not in the table");
    for (command, ..) in promised {
        assert!(
            run.iter().any(|run| fits(run, command)),
            "{test} has not followed `{command}`: {run:?}"
        );
    }
}

/// Returns whether a command may come from this place in the code.
fn fits(command: &str, written: &str) -> bool {
    let mut rest = command;
    for (index, part) in written.split("{}").enumerate() {
        let Some(at) = rest.find(part).filter(|at| index > 0 || *at == 0) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.is_empty() || written.ends_with("{}")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs")
            && !path.ends_with("tests.rs")
        {
            found.push(path);
        }
    }
}

/// Returns the commands between backticks in the code, with `{}` for what is filled in, and the files that have them.
fn named() -> BTreeSet<(String, String)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(root()).unwrap() {
        let package = entry.unwrap().path().join("src");
        if package.is_dir() && !package.starts_with(root().join("tests")) {
            rust_files(&package, &mut files);
        }
    }
    let mut named = BTreeSet::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap();
        let name = file
            .strip_prefix(root())
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        let lines = text.lines().map(str::trim_start);
        for line in lines.filter(|line| !line.starts_with("//")) {
            let quoted = line.split('`').skip(1).step_by(2);
            for command in quoted.filter_map(|text| text.strip_prefix("claude-codex ")) {
                named.insert((unfilled(&command.replace("\\\"", "\"")), name.clone()));
            }
        }
    }
    named
}

/// Turns `show {id}` into `show {}`.
fn unfilled(command: &str) -> String {
    let mut parts = command.split('{');
    let mut unfilled = parts.next().unwrap().to_owned();
    for part in parts {
        unfilled += "{}";
        unfilled += part.split_once('}').unwrap().1;
    }
    unfilled
}

fn is_exempt(command: &str) -> bool {
    EXEMPT.iter().any(|(exempt, _)| *exempt == command)
}

/// Returns the commands in the code that need nothing filled in, and are followed.
pub(super) fn complete() -> BTreeSet<String> {
    let commands = named().into_iter().map(|(command, _)| command);
    commands
        .filter(|command| !command.contains("{}") && !is_exempt(command))
        .collect()
}

#[test]
fn every_command_that_the_code_names_is_followed_or_exempt() {
    let named = named();
    assert!(named.len() > 80, "{}", named.len());
    for (command, file) in &named {
        let is_followed = FOLLOWED
            .iter()
            .any(|(followed, _, files)| followed == command && files.contains(&file.as_str()));
        let is_listed = is_followed || is_exempt(command) || !command.contains("{}");
        assert!(
            is_listed,
            "no test follows `{command}` of {file}: follow it, and add it to FOLLOWED"
        );
        let placeholder = command
            .split(' ')
            .any(|word| !word.is_empty() && word.chars().all(|letter| letter.is_ascii_uppercase()));
        assert!(
            !placeholder || is_exempt(command),
            "`{command}` of {file} cannot be pasted: name what is meant"
        );
    }
    for (command, _, files) in FOLLOWED {
        for file in *files {
            assert!(
                named.contains(&((*command).to_owned(), (*file).to_owned())),
                "{file} does not name `{command}` any more"
            );
        }
    }
    for (command, _) in EXEMPT {
        assert!(
            named.iter().any(|(named, _)| named == command),
            "nothing names `{command}` any more"
        );
    }
}

#[test]
fn every_test_that_is_said_to_follow_a_command_exists() {
    for (command, test, _) in FOLLOWED {
        let (file, name) = test
            .split_once(' ')
            .unwrap_or(("cli/tests/review/hints.rs", test));
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        assert!(
            text.contains(&format!("#[test]\nfn {name}() {{")),
            "{file} has no test {name}, which follows `{command}`"
        );
    }
}

#[test]
fn what_is_filled_in_is_anything() {
    assert!(fits(
        "pr merge 2 --as-published",
        "pr merge {} --as-published"
    ));
    assert!(!fits(
        "pr merge 2 --as-published",
        "pr merge {} --method squash"
    ));
    assert!(!fits("tdd resume work-a1", "resume {}"));
    assert_eq!(
        unfilled("code --branch {} --base {base} \"…\""),
        "code --branch {} --base {} \"…\""
    );
}
