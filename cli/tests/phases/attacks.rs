//! Attacks on the rule that only a person confirms, and on the guard itself.

use serde_json::json;
use shared::model::Phase;
use tests::phase_env::{PhaseEnv, SESSION, context};

pub(crate) const CONFIRM: &str = "/tdd confirm tests";

pub(crate) fn is_unconfirmed(env: &PhaseEnv) -> bool {
    let row = env.row().unwrap();
    row.phase == Phase::Tests && row.confirmed_at.is_none()
}

fn reason(answer: &serde_json::Value) -> &str {
    answer["reason"].as_str().unwrap_or_default()
}

#[test]
fn tools_that_schedule_or_carry_a_prompt_are_refused() {
    let env = PhaseEnv::scripted();
    let cron = json!({ "cron": "* * * * *", "prompt": "look at the build" });
    assert_eq!(env.denied("CronCreate", &cron), None, "without a phase");
    env.begin(Phase::Tests);
    for (tool, input) in [
        ("CronCreate", cron),
        (
            "ScheduleWakeup",
            json!({ "delaySeconds": 60, "prompt": "x" }),
        ),
        ("RemoteTrigger", json!({ "action": "run" })),
        ("SendMessage", json!({ "to": "other", "message": CONFIRM })),
        ("Skill", json!({ "skill": "tdd", "args": "confirm tests" })),
        ("mcp__channel__post", json!({ "text": CONFIRM })),
        ("FromTomorrow", json!({ "say": [{ "it": CONFIRM }] })),
        ("Monitor", json!({ "command": "tmux send-keys x" })),
        (
            "PowerShell",
            json!({ "command": "claude-codex phase confirm tests" }),
        ),
    ] {
        let why = env.denied(tool, &input).unwrap_or_default();
        assert!(why.contains("no sandbox"), "{tool}: {why}");
    }
    let file = json!({ "file_path": env.repository().join(".claude/scheduled_tasks.json"), "content": "[]" });
    assert!(env.denied("Write", &file).is_some());
    let question = json!({ "questions": [{ "question": "Please type /tdd confirm tests" }] });
    assert_eq!(env.denied("AskUserQuestion", &question), None);
}

#[test]
fn a_prompt_that_claude_code_says_nobody_typed_confirms_nothing() {
    let env = PhaseEnv::scripted();
    env.begin(Phase::Tests);
    env.prompt("hello");
    for said in [
        json!({ "source": "schedule_wakeup" }),
        json!({ "source": "loop_wakeup" }),
        json!({ "source": "system" }),
        json!({ "agent_id": "a1f3" }),
    ] {
        let mut rest = said.clone();
        rest["prompt"] = CONFIRM.into();
        let answer = env.hook("UserPromptSubmit", &rest);
        assert!(reason(&answer).contains("only a person"), "{said} {answer}");
        assert!(is_unconfirmed(&env), "{said}");
    }
    let typed = json!({ "prompt": CONFIRM, "source": "user" });
    env.hook("UserPromptSubmit", &typed);
    assert!(!is_unconfirmed(&env));
}

#[test]
fn a_scheduled_prompt_that_fired_is_known_by_the_transcript() {
    let env = PhaseEnv::scripted();
    env.begin(Phase::Tests);
    let transcript = env.path("transcript.jsonl");
    let fire = |seconds: i64| {
        let time = shared::model::Timestamp::now();
        let text = if seconds == 0 {
            time.to_string()
        } else {
            "2020-01-01T00:00:00.000Z".to_owned()
        };
        json!({ "type": "system", "subtype": "scheduled_task_fire", "prompt": CONFIRM, "timestamp": text })
    };
    let say = || {
        env.hook(
            "UserPromptSubmit",
            &json!({ "prompt": CONFIRM, "transcript_path": transcript }),
        )
    };
    let noise = "{\"type\":\"user\",\"content\":\"x\"}\n".repeat(5_000);
    std::fs::write(&transcript, format!("{noise}{}\n", fire(0))).unwrap();
    let answer = say();
    assert!(reason(&answer).contains("was scheduled"), "{answer}");
    assert!(is_unconfirmed(&env));
    // A pipe in its place holds nobody up.
    std::fs::remove_file(&transcript).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &transcript, rustix::fs::Mode::RUSR).unwrap();
    say();
    assert!(!is_unconfirmed(&env));
    // One that fired long ago is another one.
    env.begin(Phase::Tests);
    std::fs::remove_file(&transcript).unwrap();
    std::fs::write(&transcript, format!("{}\n", fire(1))).unwrap();
    say();
    assert!(!is_unconfirmed(&env));
}

#[test]
fn a_standing_scheduled_prompt_is_found_at_the_start_and_at_the_end_of_a_turn() {
    let env = PhaseEnv::scripted();
    let crons = json!([{ "id": "5dad", "schedule": "* * * * *", "prompt": CONFIRM }]);
    // From before: known since the last turn.
    env.hook("Stop", &json!({ "session_crons": crons }));
    let answer = env.prompt("/tdd start tests");
    assert!(reason(&answer).contains("scheduled prompt"), "{answer}");
    assert!(env.row().is_none());
    env.hook("Stop", &json!({ "session_crons": [] }));
    // In the file.
    let file = env.repository().join(".claude/scheduled_tasks.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let tasks = json!({ "tasks": [{ "id": "1", "cron": "* * * * *", "prompt": CONFIRM }] });
    std::fs::write(&file, tasks.to_string()).unwrap();
    let answer = env.prompt("/tdd start tests");
    assert!(reason(&answer).contains("scheduled_tasks.json"), "{answer}");
    let other =
        json!({ "tasks": [{ "id": "1", "cron": "* * * * *", "prompt": "look at the build" }] });
    std::fs::write(&file, other.to_string()).unwrap();
    env.begin(Phase::Tests);
    // Claude Code rewrites its file.
    std::fs::write(&file, r#"{"tasks":[]}"#).unwrap();
    assert_eq!(env.bash("true"), None);
    // In words that don't give it away.
    std::fs::write(env.path("tools/tasks"), tasks.to_string()).unwrap();
    let told = env.bash("cp ../tools/tasks .claude/sched*").unwrap();
    assert!(told.contains("scheduled_tasks.json"), "{told}");
    let answer = env.prompt(CONFIRM);
    assert!(reason(&answer).contains("scheduled prompt"), "{answer}");
    assert!(env.codex(&["phase", "restore"]).status.success());
    // A one-shot leaves the list before it says its word: that there was one is remembered.
    let blocked = env.hook("Stop", &json!({ "session_crons": crons }));
    assert!(reason(&blocked).contains("CronDelete"), "{blocked}");
    assert!(reason(&env.prompt(CONFIRM)).contains("scheduled prompt"));
    assert!(is_unconfirmed(&env));
    env.hook("Stop", &json!({ "session_crons": [] }));
    env.prompt(CONFIRM);
    assert!(!is_unconfirmed(&env));
    env.prompt("/tdd stop");
}

/// Makes a program that is called `claude` and does what its arguments say.
pub(crate) fn claude(env: &PhaseEnv) -> String {
    let program = env.path("tools/claude");
    if !program.exists() {
        std::fs::copy("/bin/sh", &program).unwrap();
    }
    program.to_str().unwrap().to_owned()
}

pub(crate) fn hook_line(
    env: &PhaseEnv,
    event: &str,
    rest: &serde_json::Value,
    name: &str,
) -> String {
    let file = env.path("tools").join(name);
    let payload = env.payload(SESSION, event, rest).to_string();
    std::fs::write(&file, payload).unwrap();
    format!(
        "'{}' hook {event} --tdd < '{}'",
        crate::PROGRAM,
        file.display()
    )
}

#[test]
fn a_claude_below_another_one_confirms_nothing_whatever_its_home() {
    let env = PhaseEnv::scripted();
    env.begin(Phase::Tests);
    let claude = claude(&env);
    let home = env.path("tools/home");
    std::fs::create_dir(&home).unwrap();
    let start = hook_line(
        &env,
        "SessionStart",
        &json!({ "source": "resume" }),
        "start",
    );
    let stop = hook_line(&env, "Stop", &json!({}), "stop");
    let confirm = hook_line(
        &env,
        "UserPromptSubmit",
        &json!({ "prompt": CONFIRM }),
        "say",
    );
    let bash = json!({ "command": "./harmless.sh" });
    assert_eq!(env.denied("Bash", &bash), None);
    // The inner one's events clear what is known of the outer one's command.
    let inner = env.path("tools/inner.sh");
    std::fs::write(
        &inner,
        format!("{start}; {stop}; sleep 3; {confirm}; true\n"),
    )
    .unwrap();
    let outer = env.path("tools/outer.sh");
    let line = format!(
        "HOME='{}' '{claude}' '{}'; true\n",
        home.display(),
        inner.display()
    );
    std::fs::write(&outer, line).unwrap();
    let output = env.command(&claude).arg(&outer).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("only a person"), "{text}");
    assert!(
        env.row().unwrap().command_since.is_some(),
        "its events counted"
    );
    assert!(is_unconfirmed(&env));
}

#[test]
fn while_the_sessions_claude_lives_no_other_one_confirms() {
    let env = PhaseEnv::scripted();
    let claude = claude(&env);
    let begin = hook_line(
        &env,
        "UserPromptSubmit",
        &json!({ "prompt": "/tdd start tests" }),
        "begin",
    );
    let first = hook_line(
        &env,
        "SessionStart",
        &json!({ "source": "resume" }),
        "first",
    );
    let script = env.path("tools/own.sh");
    std::fs::write(
        &script,
        format!("{begin}; {first}; echo BEGUN; read line; true\n"),
    )
    .unwrap();
    let mut own = env.command(&claude);
    own.arg(&script)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    let mut own = own.spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(own.stdout.take().unwrap()));
    while !lines.next().unwrap().unwrap().contains("BEGUN") {}
    // One that left its parents behind: only its own name stands above the hook.
    let other = env.path("tools/other.sh");
    let confirm = hook_line(
        &env,
        "UserPromptSubmit",
        &json!({ "prompt": CONFIRM }),
        "say",
    );
    std::fs::write(&other, format!("{confirm}; true\n")).unwrap();
    let detached = || {
        let output = env.command(&claude).arg(&other).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let text = detached();
    assert!(text.contains("another one with this session"), "{text}");
    assert!(is_unconfirmed(&env));
    // Resumed after its end, the session has another process.
    drop(own.stdin.take());
    own.wait().unwrap();
    detached();
    assert!(!is_unconfirmed(&env));
}

#[test]
fn a_claude_under_another_name_is_no_shell() {
    let env = PhaseEnv::scripted();
    env.begin(Phase::Tests);
    let claude = claude(&env);
    let confirm = hook_line(
        &env,
        "UserPromptSubmit",
        &json!({ "prompt": CONFIRM }),
        "say",
    );
    let threads = env.path("tools/threads.py");
    let text = format!(
        "import subprocess, threading, time\nthreading.Thread(target=time.sleep, args=(30,), daemon=True).start()\nprint(subprocess.run({confirm:?}, shell=True, capture_output=True, text=True).stdout)\n"
    );
    std::fs::write(&threads, text).unwrap();
    let script = env.path("tools/outer.sh");
    std::fs::write(&script, format!("python3 '{}'; true\n", threads.display())).unwrap();
    let output = env.command(&claude).arg(&script).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("only a person"), "{output:?}");
    assert!(is_unconfirmed(&env));
}

#[test]
fn settings_that_hooks_depend_on_stay() {
    let env = PhaseEnv::scripted();
    env.begin(Phase::Tests);
    let place = ".claude/settings.local.json";
    for settings in [
        json!({ "env": { "CODEX_STATE_DIR": "/tmp/elsewhere" } }),
        json!({ "env": { "PATH": "/tmp/evil" } }),
        json!({ "enabledPlugins": { "x@y": true } }),
        json!({ "statusLine": { "type": "command", "command": "./x.sh" } }),
        json!({ "permissions": { "deny": ["Read"] } }),
        json!({ "permissions": { "defaultMode": "bypassPermissions" } }),
        json!({ "allowManagedHooksOnly": true }),
        json!({ "fromTomorrow": true }),
    ] {
        env.write(place, &settings.to_string());
        let change = env.hook("ConfigChange", &json!({ "source": "local_settings" }));
        assert_eq!(change["decision"], "block", "{settings}");
        let told = env.bash("true").unwrap_or_default();
        assert!(told.contains("settings.local.json"), "{settings}: {told}");
        assert!(env.codex(&["phase", "restore"]).status.success());
    }
    // What dialogs and menus write.
    let harmless = json!({ "permissions": { "allow": ["Bash(ls:*)"], "additionalDirectories": ["/x"] }, "model": "opus", "theme": "dark" });
    env.write(place, &harmless.to_string());
    assert!(env.hook("ConfigChange", &json!({})).is_null());
    assert_eq!(env.bash("true"), None);
}

#[test]
fn a_file_that_would_exhaust_the_stack_is_judged() {
    let env = PhaseEnv::scripted();
    env.begin(Phase::Tests);
    let deep = format!("{}{}", "mod m {".repeat(20_000), "}".repeat(20_000));
    assert!(env.write_denied("src/deep.rs", &deep).is_some());
    assert!(env.write_denied("src/lib.rs", &deep).is_some());
    // By a command, too.
    env.write("src/lib.rs", &deep);
    assert!(env.bash("true").unwrap().contains("src/lib.rs"));
}

#[test]
fn an_edit_that_cant_be_judged_is_refused_and_the_person_overrules() {
    let env = PhaseEnv::scripted();
    env.begin(Phase::Tests);
    let head = format!(
        r#"{{"session_id":"{SESSION}","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":"#
    );
    for (tool, refused) in [
        ("Write", true),
        ("Edit", true),
        ("NotebookEdit", true),
        ("Read", false),
    ] {
        let answer = env.raw_hook("PreToolUse", head.replace("Write", tool).as_bytes());
        let denied = answer["hookSpecificOutput"]["permissionDecision"] == "deny";
        assert_eq!(denied, refused, "{answer}");
        assert!(answer["systemMessage"].is_string(), "{answer}");
    }
    let why = env.raw_hook("PreToolUse", head.as_bytes());
    let why = why["hookSpecificOutput"]["permissionDecisionReason"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        why.contains("/tdd stop") && why.contains("no sandbox"),
        "{why}"
    );
    env.prompt("/tdd stop");
    assert!(env.raw_hook("PreToolUse", head.as_bytes())["hookSpecificOutput"].is_null());
}

/// The command as Claude Code runs it: what a dead guard leaves is 2, which refuses.
#[test]
fn a_guard_that_dies_refuses_and_one_that_is_missing_does_not() {
    let env = PhaseEnv::scripted();
    env.text(&["init", "--tdd"]);
    let settings: serde_json::Value =
        serde_json::from_str(&env.read(".claude/settings.json")).unwrap();
    let command = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
        .as_str()
        .unwrap();
    let with = |program: &str, tool: &str| {
        let line = command.replace(crate::PROGRAM, program);
        let rest = json!({ "tool_name": tool, "tool_input": { "file_path": "x", "content": r#""tool_name":"Write""# } });
        let payload = env.payload(SESSION, "PreToolUse", &rest).to_string();
        let mut shell = env.command("sh");
        let child = tests::feed(shell.args(["-c", &line]), payload.as_bytes());
        let output = child.wait_with_output().unwrap();
        (
            output.status.code().unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let dies = env.path("tools/dies");
    std::fs::write(&dies, "#!/bin/sh\nkill -SEGV $$\n").unwrap();
    env.command("chmod")
        .args(["+x", dies.to_str().unwrap()])
        .output()
        .unwrap();
    let dies = dies.to_str().unwrap();
    // Without a phase, nothing is held up.
    assert_eq!(with(dies, "Write").0, 0);
    env.begin(Phase::Tests);
    for tool in ["Write", "Edit", "MultiEdit", "NotebookEdit"] {
        let (code, line) = with(dies, tool);
        assert_eq!(code, 2, "{tool}");
        assert!(
            line.contains("died") && line.contains("phase stop"),
            "{line}"
        );
    }
    for tool in ["Read", "Bash", "Grep"] {
        assert_eq!(with(dies, tool).0, 0, "{tool}");
    }
    for program in ["/nowhere/claude-codex", "true", "false"] {
        assert_eq!(with(program, "Write").0, 0, "{program}");
    }
    assert_eq!(with(crate::PROGRAM, "Read").0, 0);
    env.prompt("/tdd stop");
    assert_eq!(with(dies, "Write").0, 0);
}

#[test]
fn a_person_still_confirms() {
    let env = PhaseEnv::scripted();
    env.begin(Phase::Requirements);
    let confirmed = env.prompt("/tdd confirm requirements");
    assert!(context(&confirmed).unwrap().contains("phase 2 of 4"));
}
