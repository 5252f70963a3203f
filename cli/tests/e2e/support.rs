//! Environments whose agents just live, and what a launch changes in them.

use tests::{Terminal, TestEnv};

use crate::PROGRAM;

/// An agent that says one word and lives on.
const AGENT: &str = "sh -c 'echo hello; exec sleep 600'";

/// Makes a repository, with a space in its name, whose agents just live.
pub(crate) fn env_with_agent() -> TestEnv {
    prepared(TestEnv::with_repository("a repository"))
}

/// Makes the same without a repository.
pub(crate) fn env_without_repository() -> TestEnv {
    prepared(TestEnv::without_repository())
}

fn prepared(mut env: TestEnv) -> TestEnv {
    env.stub_servers();
    env.set("CODEX_AGENT_COMMAND", AGENT);
    // None of them ever calls a tool: a launch would wait for the whole time. Tests of its wait set another.
    env.set("CODEX_AGENT_START_TIMEOUT_SECONDS", "0");
    env
}

/// Runs the command line in a terminal; the words are a shell's.
pub(crate) fn run_in_terminal<'e>(env: &'e TestEnv, words: &str) -> Terminal<'e> {
    Terminal::open(env, &[&format!("'{PROGRAM}' {words}")])
}

/// Returns worktrees, branches, sessions and files beside the repository: what a launch changes and its end restores.
pub(crate) fn traces(env: &TestEnv) -> [String; 4] {
    let mut beside: Vec<_> = std::fs::read_dir(env.root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "state")
        .collect();
    beside.sort();
    [
        env.git(&["worktree", "list", "--porcelain"]),
        env.git(&["branch", "--list"]),
        format!("{:?}", env.sessions()),
        beside.join(" "),
    ]
}
