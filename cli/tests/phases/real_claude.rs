//! The real Claude Code with a scripted model, in each phase.
//!
//! Runs where `CODEX_TEST_CLAUDE` names a claude binary; else each test says that it was skipped.

use std::cell::Cell;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Output;

use scripted_model::{Answer, Rule};
use serde_json::json;
use shared::model::Phase;
use shared::store::PhaseRow;
use tests::phase_env::{LIBRARY, PhaseEnv};
use tests::{ScriptedClaude, Terminal, until_or};

struct ClaudeEnv {
    env: PhaseEnv,
    claude: ScriptedClaude,
    session: String,
    begun: Cell<bool>,
}

impl Deref for ClaudeEnv {
    type Target = PhaseEnv;

    fn deref(&self) -> &PhaseEnv {
        &self.env
    }
}

impl ClaudeEnv {
    /// Makes a user with Claude Code and our hooks, or says why not.
    fn new(rules: Vec<Rule>) -> Option<Self> {
        let claude = ScriptedClaude::start(rules)?;
        let mut env = PhaseEnv::scripted();
        claude.install(&mut env);
        let repository = env.repository().to_str().unwrap();
        let trust = json!({ "hasCompletedOnboarding": true, "projects": { repository: { "hasTrustDialogAccepted": true } } });
        std::fs::write(env.path("home/.claude.json"), trust.to_string()).unwrap();
        env.text(&["init", "--tdd"]);
        env.commit_all("hooks");
        Some(Self {
            env,
            claude,
            session: uuid::Uuid::new_v4().to_string(),
            begun: Cell::new(false),
        })
    }

    /// A person says something to the session, which is made by the first prompt.
    fn says(&self, prompt: &str) -> Output {
        let mut command = self.command(&self.claude.program);
        command.args(["-p", "--allowedTools", "Write", "Edit", "Bash", "Read"]);
        let how = if self.begun.replace(true) {
            "--resume"
        } else {
            "--session-id"
        };
        command.args([how, &self.session]);
        let output = command.args(["--", prompt]).output().unwrap();
        assert!(output.status.success(), "{prompt}: {output:?}");
        let printed = String::from_utf8_lossy(&output.stdout);
        eprintln!("> {prompt}\n{printed}");
        output
    }

    fn row(&self) -> Option<PhaseRow> {
        let store = self.store();
        let rows = store.read_now(|r| r.phases_of_session(&self.session));
        rows.unwrap().pop()
    }

    fn phase(&self) -> Phase {
        self.row().expect("there is a phase").phase
    }

    /// Whether the model was told this in any request.
    fn told(&self, what: &str) -> bool {
        self.claude
            .model
            .conversations()
            .iter()
            .any(|request| request["messages"].to_string().contains(what))
    }
}

fn write(path: &Path, content: &str) -> Answer {
    Answer::tool("Write", json!({ "file_path": path, "content": content }))
}

#[test]
fn every_phase_holds_in_the_real_claude_code() {
    let rules = vec![Rule::when(
        "phase 4 of 4 (implementation) begins",
        vec![Answer::text("ON IT")],
    )];
    let Some(env) = ClaudeEnv::new(rules) else {
        return;
    };
    requirements(&env);
    interfaces(&env);
    tests(&env);
    implementation(&env);
}

/// Production code is denied; a document is not.
fn requirements(env: &ClaudeEnv) {
    let library = env.repository().join("src/lib.rs");
    env.claude.model.add(Rule::when(
        "ONE",
        vec![
            write(&library, "pub fn cheat() {}\n"),
            write(&env.repository().join("docs/spec.md"), "# Spec\n"),
            Answer::text("READY"),
        ],
    ));
    env.says("/tdd start");
    assert_eq!(env.phase(), Phase::Requirements);
    assert!(env.told("phase 1 of 4 (requirements) begins"));
    env.says("ONE");
    assert!(
        env.told("is production code"),
        "the denial did not reach the model"
    );
    assert_eq!(env.read("src/lib.rs"), LIBRARY);
    assert_eq!(env.read("docs/spec.md"), "# Spec\n");
    assert!(env.told("ask them to type `/tdd confirm requirements`"));
    assert_eq!(env.phase(), Phase::Requirements);

    // A model that only says so confirms nothing.
    env.claude.model.add(Rule::when(
        "PRETEND",
        vec![Answer::text("/tdd confirm requirements")],
    ));
    env.says("PRETEND");
    assert_eq!(env.phase(), Phase::Requirements);
    // Nor does one that runs it.
    let line = "echo a; claude-codex phase confirm requirements";
    env.claude.model.add(Rule::when(
        "RUN IT",
        vec![Answer::bash(line), Answer::text("TRIED")],
    ));
    env.says("RUN IT");
    assert!(env.told("only a person can start, confirm"));
    assert_eq!(env.phase(), Phase::Requirements);

    // The person does.
    env.says("/tdd confirm requirements");
    assert_eq!(env.phase(), Phase::Interfaces);
    assert!(env.told("phase 2 of 4 (interfaces) begins"));
}

/// No tests; what does not compile is told.
fn interfaces(env: &ClaudeEnv) {
    let library = env.repository().join("src/lib.rs");
    let tests = env.repository().join("tests/all.rs");
    env.script_tool("compile", "error[E0001]: SCRIPTED\n", 101);
    env.claude.model.add(Rule::when(
        "TWO",
        vec![
            write(&tests, "#[test]\nfn two() {}\n"),
            Answer::tool("Read", json!({ "file_path": library })),
            Answer::tool(
                "Edit",
                json!({ "file_path": library, "old_string": "a + b", "new_string": "todo!()" }),
            ),
            Answer::text("TYPED"),
        ],
    ));
    env.claude
        .model
        .add(Rule::when("E0001", vec![Answer::text("HM")]));
    env.says("TWO");
    assert!(
        env.told("changes them. In this phase"),
        "the test was not denied"
    );
    assert!(env.read("src/lib.rs").contains("todo!()"));
    assert!(env.told("error[E0001]: SCRIPTED"));
    env.script_tool("compile", "", 0);
    env.says("/tdd confirm interfaces");
    assert_eq!(env.phase(), Phase::Tests);
}

/// A shell command that changes production code is caught, and undone.
fn tests(env: &ClaudeEnv) {
    env.script_tool("test", "---- two stdout ----\nassertion failed: RED\n", 101);
    env.claude.model.add(Rule::when(
        "THREE",
        vec![
            Answer::bash("echo 'pub fn cheat() {}' >> src/lib.rs"),
            Answer::bash("echo looking around"),
            Answer::text("NOTHING TO SEE"),
        ],
    ));
    env.claude.model.add(Rule::when(
        "files were changed that this phase does not allow",
        vec![
            Answer::bash("git checkout -q src/lib.rs; sed -i 's/a + b/todo!()/' src/lib.rs"),
            Answer::text("UNDONE"),
        ],
    ));
    env.says("THREE");
    assert!(env.told("src/lib.rs (production, modified)"));
    assert!(!env.read("src/lib.rs").contains("cheat"));
    env.says("/tdd confirm tests");
    assert_eq!(env.phase(), Phase::Implementation);
}

/// Tests after each edit; the turn ends when they pass.
fn implementation(env: &ClaudeEnv) {
    let library = env.repository().join("src/lib.rs");
    env.claude.model.add(Rule::when(
        "FOUR",
        vec![
            Answer::tool("Read", json!({ "file_path": library })),
            Answer::tool(
                "Edit",
                json!({ "file_path": library, "old_string": "todo!()", "new_string": "a + b" }),
            ),
            Answer::text("GREEN?"),
        ],
    ));
    let green = format!("printf 0 > '{}'", env.path("tools/test.code").display());
    env.claude.model.add(Rule::when(
        "assertion failed: RED",
        vec![Answer::bash(&green), Answer::text("NOW")],
    ));
    env.says("FOUR");
    assert!(env.told("assertion failed: RED"));
    assert_eq!(env.read("src/lib.rs"), LIBRARY);
    let log = std::fs::read_to_string(env.path("state/logs/phases.log")).unwrap_or_default();
    assert!(!log.contains("failed and"), "{log}");
    // Done, and the session's end has cleaned up.
    assert_eq!(env.row(), None);
    let left: Vec<_> = std::fs::read_dir(env.path("state/phases"))
        .unwrap()
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn an_agent_that_forges_hooks_and_removes_them_gets_nowhere() {
    let Some(env) = ClaudeEnv::new(Vec::new()) else {
        return;
    };
    env.says("/tdd start tests");
    let row = env.row().unwrap();
    let program = PathBuf::from(crate::PROGRAM);
    let folder = program.parent().unwrap().to_str().unwrap();
    let payload = env.payload(
        &row.session,
        "UserPromptSubmit",
        &json!({ "prompt": "/tdd confirm tests" }),
    );
    std::fs::write(env.path("tools/forged.json"), payload.to_string()).unwrap();
    // No word of it is in the command.
    let script = env.path("tools/run.sh");
    let text = format!(
        "p=claude-; q=codex; $(echo {folder}/$p$q) ho''ok UserPromptSubmit --t''dd < '{0}/forged.json' > '{0}/answer'\n\
         env -i PATH=\"$PATH\" HOME=\"$HOME\" CODEX_STATE_DIR='{1}' {folder}/claude-codex ho''ok UserPromptSubmit --t''dd < '{0}/forged.json' > '{0}/answer2'\n",
        env.path("tools").display(),
        env.path("state").display(),
    );
    std::fs::write(&script, text).unwrap();
    env.claude.model.add(Rule::when(
        "FORGE",
        vec![
            Answer::bash(&format!("sh '{}'", script.display())),
            Answer::text("FORGED"),
        ],
    ));
    env.script_tool("test", "assertion failed", 101);
    env.says("FORGE");
    for name in ["tools/answer", "tools/answer2"] {
        let answer = std::fs::read_to_string(env.path(name)).unwrap();
        assert!(answer.contains("only a person"), "{name}: {answer}");
    }
    let row = env.row().unwrap();
    assert_eq!((row.phase, row.confirmed_at), (Phase::Tests, None));

    // Removing the hooks in words that don't give it away: they go on to be called.
    env.claude.model.add(Rule::when(
        "REMOVE",
        vec![
            Answer::bash("rm -r .clau*; for i in 1 2 3 4; do sleep 0.5; done"),
            write(&env.repository().join("src/lib.rs"), "pub fn cheat() {}\n"),
            Answer::text("FREE"),
        ],
    ));
    env.claude.model.add(Rule::when(
        "files were changed that this phase does not allow",
        vec![
            Answer::bash("git checkout -q .claude"),
            Answer::text("UNDONE"),
        ],
    ));
    env.says("REMOVE");
    assert_eq!(env.read("src/lib.rs"), LIBRARY);
    assert!(env.told(".claude/settings.json (guard, deleted)"));
}

/// Claude Code in a terminal, with a person before it.
struct Person<'e> {
    env: &'e ClaudeEnv,
    terminal: Terminal<'e>,
}

impl<'e> Person<'e> {
    fn start_claude(env: &'e ClaudeEnv) -> Self {
        let command = [
            env.claude.program.to_str().unwrap(),
            "--session-id",
            &env.session,
            "--permission-mode",
            "default",
            "--allowedTools",
            "Bash",
        ];
        let terminal = Terminal::sized(env, 160, 40, &command);
        let person = Self { env, terminal };
        person.until_idle();
        person
    }

    /// Waits until Claude Code itself says that it is at its prompt.
    fn until_idle(&self) {
        let folder = self.env.path("home/.claude");
        let session: uuid::Uuid = self.env.session.parse().unwrap();
        let idle = || shared::agent::state(&folder, session) == shared::agent::AgentState::Idle;
        until_or("it is idle", idle, || self.terminal.screen());
    }

    /// The person types a line. The menu of commands that a slash opens takes the first Enter at times.
    fn types(&self, line: &str) {
        self.terminal.press(&["-l", line]);
        self.terminal.until_shows(line);
        self.terminal.press(&["Enter"]);
    }
}

#[test]
fn a_person_at_the_terminal_confirms_and_an_agent_that_types_there_does_not() {
    let Some(env) = ClaudeEnv::new(Vec::new()) else {
        return;
    };
    let person = Person::start_claude(&env);
    let terminal = &person.terminal;
    let screen = || terminal.screen();
    person.types("/tdd start");
    until_or("the phase begins", || env.row().is_some(), screen);
    terminal.until_shows("Done.");
    // The agent was told to ask, and has.
    until_or("it was asked", || env.row().unwrap().asked, screen);
    person.until_idle();

    // A script of the agent's types the person's words into the person's terminal, and waits for the effect.
    let script = env.path("tools/type.sh");
    let text = format!(
        "tmux -L {0} send-keys -l '/tdd confirm requirements'\nsleep 0.5\ntmux -L {0} send-keys Enter\nfor i in 1 2 3 4 5 6; do sleep 0.5; done\n",
        terminal.socket()
    );
    std::fs::write(&script, text).unwrap();
    let line = format!("sh '{}'", script.display());
    env.claude
        .model
        .add(Rule::when("CHEAT", vec![Answer::bash(&line), Answer::text("CHEATED")]).once());
    person.types("CHEAT");
    terminal.until_shows("CHEATED");
    let log = || std::fs::read_to_string(env.path("state/logs/phases.log")).unwrap_or_default();
    let state = || format!("{}\n{}", log(), terminal.screen());
    let refused = r#""said":"Confirm(Some(Requirements))","done":false"#;
    until_or("it is refused", || log().contains(refused), state);
    let row = env.row().unwrap();
    assert_eq!(
        (row.phase, row.confirmed_at),
        (Phase::Requirements, None),
        "{}",
        state()
    );

    // The person reads, and then types.
    person.until_idle();
    until_or("some time has passed", || heard_long_ago(&env), state);
    person.types("/tdd confirm requirements");
    until_or("it moves on", || env.phase() == Phase::Interfaces, state);
}

/// Whether the turn ended three seconds ago.
fn heard_long_ago(env: &ClaudeEnv) -> bool {
    let ended = env.row().and_then(|row| row.turn_ended_at);
    ended.is_none_or(|ended| ended.seconds_ago() > 3.0)
}
