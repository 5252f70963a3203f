//! Forged confirmations by processes that left the session's Claude Code behind, or that it started as a command.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdin, Stdio};

use serde_json::json;
use shared::model::Phase;
use tests::phase_env::PhaseEnv;

use crate::attacks::{CONFIRM, claude, hook_line, is_unconfirmed};

/// The session's Claude Code, which has started the phase and ended its turn. It lives until it is told to end.
struct Session {
    process: Child,
    input: Option<ChildStdin>,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Session {
    /// `command` is what the agent's command does during the turn, `then` what happens before the turn ends.
    fn with_turn(env: &PhaseEnv, command: &str, then: &str) -> Self {
        // Only the person's word is missing.
        env.script_tool("test", "---- a stdout ----\nassertion failed", 101);
        let program = claude(env);
        let begin = json!({ "prompt": "/tdd start tests" });
        let begin = hook_line(env, "UserPromptSubmit", &begin, "begin");
        let bash = json!({ "tool_name": "Bash", "tool_input": { "command": "./x.sh" } });
        let before = hook_line(env, "PreToolUse", &bash, "before");
        let after = hook_line(env, "PostToolUse", &bash, "after");
        let stop = hook_line(env, "Stop", &json!({}), "stop");
        let script = env.path("tools/own.sh");
        // The first end of a turn asks for the confirmation, the second one ends it.
        // Claude Code lists its process; only then can the commands below it be known.
        let sessions = env.path("home/.claude/sessions");
        std::fs::create_dir_all(&sessions).unwrap();
        let list = format!(
            "echo '{{\"pid\":'$$',\"sessionId\":\"{}\"}}' > '{}/'$$.json",
            tests::phase_env::SESSION,
            sessions.display()
        );
        let text = format!(
            "{list}\n{begin}\n{before}\n{command}\n{after}\n{then}\n{stop}\n{stop}\necho ENDED\nread line\ntrue\n"
        );
        std::fs::write(&script, text).unwrap();
        let mut process = env
            .command(&program)
            .arg(&script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = process.stdin.take();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut session = Self {
            process,
            input,
            lines,
        };
        while !session.lines.next().unwrap().unwrap().contains("ENDED") {}
        session
    }

    fn end(&mut self) {
        drop(self.input.take());
        self.process.wait().unwrap();
    }
}

/// The hook's call, and a rest after the turn like a person's.
fn confirm_line(env: &PhaseEnv) -> String {
    let prompt = json!({ "prompt": CONFIRM });
    hook_line(env, "UserPromptSubmit", &prompt, "say")
}

/// Lets the time pass in which a prompt counts as typed during the turn.
fn rest(env: &PhaseEnv) {
    let session = tests::phase_env::SESSION;
    let rested = env.store().write_now(|w| w.set_phase_turn(session, false));
    rested.unwrap();
}

fn says(env: &PhaseEnv, program: &str, arguments: &[&str]) -> String {
    rest(env);
    let output = env.command(program).args(arguments).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_process_that_left_its_parents_behind_confirms_nothing() {
    let env = PhaseEnv::scripted();
    let mut session = Session::with_turn(&env, "true", "true");
    let confirm = confirm_line(&env);
    let state = format!("CODEX_STATE_DIR={}", env.path("state").display());
    let path = format!("PATH={}", std::env::var("PATH").unwrap());
    let bare = ["-i", path.as_str(), state.as_str(), "HOME=/nonexistent"];
    let detached = |program: &str| {
        let mut words = bare.to_vec();
        words.extend(["setsid", "-w", program, "-c", confirm.as_str()]);
        says(&env, "env", &words)
    };
    let text = detached("sh");
    assert!(text.contains("only a person"), "{text}");
    assert!(is_unconfirmed(&env));
    // A Claude Code under another name.
    let renamed = env.path("tools/cloude");
    std::fs::copy(claude(&env), &renamed).unwrap();
    let text = detached(renamed.to_str().unwrap());
    assert!(text.contains("only a person"), "{text}");
    assert!(is_unconfirmed(&env));
    // Below the name, but another process.
    let text = detached(&claude(&env));
    assert!(text.contains("only a person"), "{text}");
    assert!(is_unconfirmed(&env));
    // Nor when the session's own has ended.
    session.end();
    let text = detached("sh");
    assert!(text.contains("only a person"), "{text}");
    assert!(is_unconfirmed(&env));
    // Its events don't count either.
    let stop = hook_line(&env, "Stop", &json!({}), "stop");
    says(&env, "sh", &["-c", &stop]);
    assert!(env.row().unwrap().turn_ended_at.is_none());
    // The resumed session's do.
    let script = env.path("tools/resumed.sh");
    std::fs::write(&script, format!("{confirm}\ntrue\n")).unwrap();
    says(&env, &claude(&env), &[script.to_str().unwrap()]);
    assert!(!is_unconfirmed(&env));
}

#[test]
fn what_a_command_left_running_below_claude_code_confirms_nothing() {
    let env = PhaseEnv::scripted();
    let (go, answer) = (env.path("tools/go"), env.path("tools/answer"));
    let text = format!(
        "until [ -e '{}' ]; do sleep 0.1; done\n{} > '{2}.new'\nmv '{2}.new' '{2}'\n",
        go.display(),
        confirm_line(&env),
        answer.display()
    );
    std::fs::write(env.path("tools/wait.sh"), text).unwrap();
    let command = format!("sh '{}' &", env.path("tools/wait.sh").display());
    let mut session = Session::with_turn(&env, &command, "true");
    // The grace after the turn has passed, as far as the clock of the turn says.
    let passed = || {
        let ended = env.row().unwrap().turn_ended_at;
        ended.is_some_and(|ended| ended.seconds_ago() > 2.5)
    };
    assert!(tests::comes_true(passed));
    std::fs::write(&go, "").unwrap();
    assert!(tests::comes_true(|| answer.exists()));
    let text = std::fs::read_to_string(&answer).unwrap();
    assert!(text.contains("during the agent's turn"), "{text}");
    assert!(is_unconfirmed(&env));
    session.end();
}

#[test]
fn a_command_that_becomes_a_hook_confirms_nothing() {
    // One in the background has ended for Claude Code as soon as it began.
    for (begin, end, then) in [("(", ")", "true"), ("(sleep 1; ", ") &", "wait")] {
        let env = PhaseEnv::scripted();
        let answer = env.path("tools/answer");
        let hook = format!("exec {} > '{}'", confirm_line(&env), answer.display());
        let mut session = Session::with_turn(&env, &format!("{begin}{hook}{end}"), then);
        let text = std::fs::read_to_string(&answer).unwrap();
        assert!(text.contains("only a person"), "{begin}: {text}");
        assert!(is_unconfirmed(&env));
        session.end();
    }
}

#[test]
fn a_terminal_that_a_detached_command_makes_confirms_nothing() {
    let env = PhaseEnv::scripted();
    env.begin(Phase::Tests);
    let answer = env.path("tools/answer");
    let line = format!("'{}' phase confirm tests", crate::PROGRAM);
    let script = format!(
        "until [ \"$(ps -o ppid= -p $$ | tr -d ' ')\" != \"$1\" ]; do sleep 0.1; done; cd '{}'; script -qec \"{line}\" /dev/null > '{1}.new' 2>&1 < /dev/null; mv '{1}.new' '{1}'",
        env.repository().display(),
        answer.display()
    );
    std::fs::write(env.path("tools/x.sh"), script).unwrap();
    // Its parent ends at once.
    let parent = format!(
        "setsid sh '{}' $$ > /dev/null 2>&1 &",
        env.path("tools/x.sh").display()
    );
    if env.command("script").arg("--version").output().is_err() {
        eprintln!("SKIPPED: `script` is not installed");
        return;
    }
    env.command("sh").args(["-c", &parent]).output().unwrap();
    assert!(tests::comes_true(|| answer.exists()));
    let text = std::fs::read_to_string(&answer).unwrap();
    assert!(text.contains("opened after the phases began"), "{text}");
    assert!(is_unconfirmed(&env));
}
