//! The real Claude Code with a scripted model, in each phase.
//!
//! Runs where `CODEX_TEST_CLAUDE` names a claude binary; else each test says that it was skipped.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};

use scripted_model::{Answer, Model, Rule};
use serde_json::json;
use shared::model::Phase;
use shared::store::PhaseRow;

use crate::support::{LIBRARY, Place};

struct Lab {
    place: Place,
    model: Model,
    claude: PathBuf,
    session: String,
    begun: Cell<bool>,
}

impl Lab {
    /// Makes a user with Claude Code and our hooks, or says why not.
    fn new(rules: Vec<Rule>) -> Option<Self> {
        let Some(claude) = std::env::var_os("CODEX_TEST_CLAUDE").map(PathBuf::from) else {
            eprintln!("SKIPPED: CODEX_TEST_CLAUDE does not name a claude binary");
            return None;
        };
        let model = start(rules);
        let mut place = Place::scripted();
        place.set("ANTHROPIC_BASE_URL", &model.url());
        place.set("ANTHROPIC_AUTH_TOKEN", "dummy-token");
        for name in [
            "DISABLE_TELEMETRY",
            "DISABLE_ERROR_REPORTING",
            "DISABLE_AUTOUPDATER",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        ] {
            place.set(name, "1");
        }
        let trust = json!({ "hasCompletedOnboarding": true, "projects": { place.repo().to_str().unwrap(): { "hasTrustDialogAccepted": true } } });
        std::fs::write(place.path("home/.claude.json"), trust.to_string()).unwrap();
        let installed = place.codex(&["init", "--tdd"]);
        assert!(installed.status.success(), "{installed:?}");
        place.git(&["add", "-A"]);
        place.git(&["commit", "-q", "-m", "hooks"]);
        Some(Self {
            place,
            model,
            claude,
            session: uuid::Uuid::new_v4().to_string(),
            begun: Cell::new(false),
        })
    }

    /// A person says something to the session, which is made by the first prompt.
    fn says(&self, prompt: &str) -> Output {
        let mut command = self.place.command(&self.claude);
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
        let store = self.place.store();
        let rows = store.read_now(|r| r.phases_of_session(&self.session));
        rows.unwrap().pop()
    }

    fn phase(&self) -> Phase {
        self.row().expect("there is a phase").phase
    }

    /// Whether the model was told this in any request.
    fn told(&self, what: &str) -> bool {
        self.model
            .conversations()
            .iter()
            .any(|request| request["messages"].to_string().contains(what))
    }
}

/// Runs the model on a thread of its own.
fn start(rules: Vec<Rule>) -> Model {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let model = Model::start(rules, None, 0).await.unwrap();
            sender.send(model).ok().unwrap();
            std::future::pending::<()>().await;
        });
    });
    receiver.recv().unwrap()
}

fn bash(command: &str) -> Answer {
    Answer::tool("Bash", json!({ "command": command, "description": "d" }))
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
    let Some(lab) = Lab::new(rules) else { return };
    requirements(&lab);
    interfaces(&lab);
    tests(&lab);
    implementation(&lab);
}

/// Production code is denied; a document is not.
fn requirements(lab: &Lab) {
    let library = lab.place.repo().join("src/lib.rs");
    lab.model.add(Rule::when(
        "ONE",
        vec![
            write(&library, "pub fn cheat() {}\n"),
            write(&lab.place.repo().join("docs/spec.md"), "# Spec\n"),
            Answer::text("READY"),
        ],
    ));
    lab.says("/tdd start");
    assert_eq!(lab.phase(), Phase::Requirements);
    assert!(lab.told("phase 1 of 4 (requirements) begins"));
    lab.says("ONE");
    assert!(
        lab.told("is production code"),
        "the denial did not reach the model"
    );
    assert_eq!(lab.place.read("src/lib.rs"), LIBRARY);
    assert_eq!(lab.place.read("docs/spec.md"), "# Spec\n");
    assert!(lab.told("ask them to type `/tdd confirm requirements`"));
    assert_eq!(lab.phase(), Phase::Requirements);

    // A model that only says so confirms nothing.
    lab.model.add(Rule::when(
        "PRETEND",
        vec![Answer::text("/tdd confirm requirements")],
    ));
    lab.says("PRETEND");
    assert_eq!(lab.phase(), Phase::Requirements);
    // Nor does one that runs it.
    let line = "echo a; claude-codex phase confirm requirements";
    lab.model.add(Rule::when(
        "RUN IT",
        vec![bash(line), Answer::text("TRIED")],
    ));
    lab.says("RUN IT");
    assert!(lab.told("only a person can start, confirm"));
    assert_eq!(lab.phase(), Phase::Requirements);

    // The person does.
    lab.says("/tdd confirm requirements");
    assert_eq!(lab.phase(), Phase::Interfaces);
    assert!(lab.told("phase 2 of 4 (interfaces) begins"));
}

/// No tests; what does not compile is told.
fn interfaces(lab: &Lab) {
    let library = lab.place.repo().join("src/lib.rs");
    let tests = lab.place.repo().join("tests/all.rs");
    lab.place.says("compile", "error[E0001]: SCRIPTED\n", 101);
    lab.model.add(Rule::when(
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
    lab.model.add(Rule::when("E0001", vec![Answer::text("HM")]));
    lab.says("TWO");
    assert!(
        lab.told("changes them. In this phase"),
        "the test was not denied"
    );
    assert!(lab.place.read("src/lib.rs").contains("todo!()"));
    assert!(lab.told("error[E0001]: SCRIPTED"));
    lab.place.says("compile", "", 0);
    lab.says("/tdd confirm interfaces");
    assert_eq!(lab.phase(), Phase::Tests);
}

/// A shell command that changes production code is caught, and undone.
fn tests(lab: &Lab) {
    lab.place
        .says("test", "---- two stdout ----\nassertion failed: RED\n", 101);
    lab.model.add(Rule::when(
        "THREE",
        vec![
            bash("echo 'pub fn cheat() {}' >> src/lib.rs"),
            bash("echo looking around"),
            Answer::text("NOTHING TO SEE"),
        ],
    ));
    lab.model.add(Rule::when(
        "files were changed that this phase does not allow",
        vec![
            bash("git checkout -q src/lib.rs; sed -i 's/a + b/todo!()/' src/lib.rs"),
            Answer::text("UNDONE"),
        ],
    ));
    lab.says("THREE");
    assert!(lab.told("src/lib.rs (production, modified)"));
    assert!(!lab.place.read("src/lib.rs").contains("cheat"));
    lab.says("/tdd confirm tests");
    assert_eq!(lab.phase(), Phase::Implementation);
}

/// Tests after each edit; the turn ends when they pass.
fn implementation(lab: &Lab) {
    let library = lab.place.repo().join("src/lib.rs");
    lab.model.add(Rule::when(
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
    let green = format!(
        "printf 0 > '{}'",
        lab.place.path("tools/test.code").display()
    );
    lab.model.add(Rule::when(
        "assertion failed: RED",
        vec![bash(&green), Answer::text("NOW")],
    ));
    lab.says("FOUR");
    assert!(lab.told("assertion failed: RED"));
    assert_eq!(lab.place.read("src/lib.rs"), LIBRARY);
    let log = std::fs::read_to_string(lab.place.path("state/logs/phases.log")).unwrap_or_default();
    assert!(!log.contains("failed and"), "{log}");
    // Done, and the session's end has cleaned up.
    assert_eq!(lab.row(), None);
    let left: Vec<_> = std::fs::read_dir(lab.place.path("state/phases"))
        .unwrap()
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn an_agent_that_forges_hooks_and_removes_them_gets_nowhere() {
    let Some(lab) = Lab::new(Vec::new()) else {
        return;
    };
    lab.says("/tdd start tests");
    let row = lab.row().unwrap();
    let program = PathBuf::from(crate::support::PROGRAM);
    let folder = program.parent().unwrap().to_str().unwrap();
    let payload = lab.place.payload(
        &row.session,
        "UserPromptSubmit",
        &json!({ "prompt": "/tdd confirm tests" }),
    );
    std::fs::write(lab.place.path("tools/forged.json"), payload.to_string()).unwrap();
    // No word of it is in the command.
    let script = lab.place.path("tools/run.sh");
    let text = format!(
        "p=claude-; q=codex; $(echo {folder}/$p$q) ho''ok UserPromptSubmit --t''dd < '{0}/forged.json' > '{0}/answer'\n\
         env -i PATH=\"$PATH\" HOME=\"$HOME\" CODEX_STATE_DIR='{1}' {folder}/claude-codex ho''ok UserPromptSubmit --t''dd < '{0}/forged.json' > '{0}/answer2'\n",
        lab.place.path("tools").display(),
        lab.place.path("state").display(),
    );
    std::fs::write(&script, text).unwrap();
    lab.model.add(Rule::when(
        "FORGE",
        vec![
            bash(&format!("sh '{}'", script.display())),
            Answer::text("FORGED"),
        ],
    ));
    lab.place.says("test", "assertion failed", 101);
    lab.says("FORGE");
    for name in ["tools/answer", "tools/answer2"] {
        let answer = std::fs::read_to_string(lab.place.path(name)).unwrap();
        assert!(answer.contains("only a person"), "{name}: {answer}");
    }
    let row = lab.row().unwrap();
    assert_eq!((row.phase, row.confirmed_at), (Phase::Tests, None));

    // Removing the hooks in words that don't give it away: they go on to be called.
    lab.model.add(Rule::when(
        "REMOVE",
        vec![
            bash("rm -r .clau*; for i in 1 2 3 4; do sleep 0.5; done"),
            write(&lab.place.repo().join("src/lib.rs"), "pub fn cheat() {}\n"),
            Answer::text("FREE"),
        ],
    ));
    lab.model.add(Rule::when(
        "files were changed that this phase does not allow",
        vec![bash("git checkout -q .claude"), Answer::text("UNDONE")],
    ));
    lab.says("REMOVE");
    assert_eq!(lab.place.read("src/lib.rs"), LIBRARY);
    assert!(lab.told(".claude/settings.json (guard, deleted)"));
}

/// Claude Code in a terminal, with a person before it.
struct Terminal<'l> {
    lab: &'l Lab,
    socket: String,
}

impl<'l> Terminal<'l> {
    fn open(lab: &'l Lab) -> Self {
        let terminal = Self {
            lab,
            socket: format!("codex-phases-{}", uuid::Uuid::new_v4().simple()),
        };
        let words = [
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            "160",
            "-y",
            "40",
            "--",
            lab.claude.to_str().unwrap(),
            "--session-id",
            &lab.session,
            "--permission-mode",
            "default",
            "--allowedTools",
            "Bash",
        ];
        let begun = terminal.tmux(&words);
        assert!(begun.status.success(), "{begun:?}");
        terminal.is_idle();
        terminal
    }

    fn tmux(&self, words: &[&str]) -> Output {
        let mut command = self.lab.place.command("tmux");
        command.env("TERM", "xterm-256color");
        command.args(["-L", &self.socket]).args(words);
        command.output().unwrap()
    }

    fn screen(&self) -> String {
        let output = self.tmux(&["capture-pane", "-p"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Waits until Claude Code itself says that it is at its prompt.
    fn is_idle(&self) {
        let folder = self.lab.place.path("home/.claude");
        let session: uuid::Uuid = self.lab.session.parse().unwrap();
        let idle = || shared::agent::state(&folder, session) == shared::agent::AgentState::Idle;
        until("it is idle", idle, || self.screen());
    }

    fn shows(&self, what: &str) {
        until(what, || self.screen().contains(what), || self.screen());
    }

    /// The person types a line. The menu of commands that a slash opens takes the first Enter at times.
    fn types(&self, line: &str) {
        self.tmux(&["send-keys", "-l", line]);
        self.shows(line);
        self.tmux(&["send-keys", "Enter"]);
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
        let user = rustix::process::geteuid().as_raw();
        let _ = std::fs::remove_file(format!("/tmp/tmux-{user}/{}", self.socket));
    }
}

fn until(what: &str, mut holds: impl FnMut() -> bool, state: impl Fn() -> String) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !holds() {
        assert!(
            Instant::now() < deadline,
            "waited in vain until {what}:\n{}",
            state()
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_person_at_the_terminal_confirms_and_an_agent_that_types_there_does_not() {
    let Some(lab) = Lab::new(Vec::new()) else {
        return;
    };
    let terminal = Terminal::open(&lab);
    let screen = || terminal.screen();
    terminal.types("/tdd start");
    until("the phase begins", || lab.row().is_some(), screen);
    terminal.shows("Done.");
    // The agent was told to ask, and has.
    until("it was asked", || lab.row().unwrap().asked, screen);
    terminal.is_idle();

    // A script of the agent's types the person's words into the person's terminal, and waits for the effect.
    let script = lab.place.path("tools/type.sh");
    let text = format!(
        "tmux -L {0} send-keys -l '/tdd confirm requirements'\nsleep 0.5\ntmux -L {0} send-keys Enter\nfor i in 1 2 3 4 5 6; do sleep 0.5; done\n",
        terminal.socket
    );
    std::fs::write(&script, text).unwrap();
    let line = format!("sh '{}'", script.display());
    lab.model
        .add(Rule::when("CHEAT", vec![bash(&line), Answer::text("CHEATED")]).once());
    terminal.types("CHEAT");
    terminal.shows("CHEATED");
    let log =
        || std::fs::read_to_string(lab.place.path("state/logs/phases.log")).unwrap_or_default();
    let state = || format!("{}\n{}", log(), terminal.screen());
    let refused = r#""said":"Confirm(Requirements)","done":false"#;
    until("it is refused", || log().contains(refused), state);
    let row = lab.row().unwrap();
    assert_eq!(
        (row.phase, row.confirmed_at),
        (Phase::Requirements, None),
        "{}",
        state()
    );

    // The person reads, and then types.
    terminal.is_idle();
    until("some time has passed", || heard_long_ago(&lab), state);
    terminal.types("/tdd confirm requirements");
    until("it moves on", || lab.phase() == Phase::Interfaces, state);
}

/// Whether the turn ended three seconds ago.
fn heard_long_ago(lab: &Lab) -> bool {
    let ended = lab.row().and_then(|row| row.turn_ended_at);
    let ended = ended.and_then(|time| shared::model::seconds_since_1970(&time));
    let now = std::time::SystemTime::now();
    let now = now.duration_since(std::time::UNIX_EPOCH).unwrap();
    ended.is_none_or(|ended| now.as_secs() > ended + 3)
}
