//! An agent that tries to get around its phase.

use serde_json::json;
use shared::model::Phase;
use tests::phase_env::{LIBRARY, PhaseEnv, SESSION};

use crate::PROGRAM;

#[test]
fn one_a_shell_command_is_found_out_and_undone() {
    let env = PhaseEnv::scripted();
    env.begin(Phase::Tests);
    assert_eq!(env.bash("cargo --version; git status"), None);
    let told = env
        .bash("echo 'pub fn cheat() {}' >> src/lib.rs; echo x > src/extra.rs; rm -f nothing")
        .unwrap();
    for part in [
        "src/lib.rs (production, modified)",
        "src/extra.rs (production, added)",
        "phase restore",
    ] {
        assert!(told.contains(part), "{told}");
    }
    // It stands until it is undone, whatever else happens.
    assert!(env.blocked(false).contains("src/lib.rs"));
    assert!(env.blocked(true).contains("src/lib.rs"));
    env.prompt("/tdd confirm tests");
    assert!(env.blocked(true).contains("src/lib.rs"));
    assert_eq!(env.phase(), Phase::Tests);
    env.git(&["commit", "-q", "-am", "hidden in a commit"]);
    assert!(env.blocked(true).contains("src/lib.rs"));
    // The agent may undo it: by our command, which keeps what it had written, or by hand.
    let restored = env.codex(&["phase", "restore", "--json"]);
    let restored: serde_json::Value = serde_json::from_slice(&restored.stdout).unwrap();
    let kept = std::path::PathBuf::from(restored["kept"].as_str().unwrap());
    assert!(
        std::fs::read_to_string(kept.join("src/lib.rs"))
            .unwrap()
            .contains("cheat")
    );
    assert_eq!(env.read("src/lib.rs"), LIBRARY);
    assert!(!env.repository().join("src/extra.rs").exists());
    assert!(env.bash("echo y > src/extra.rs").is_some());
    assert_eq!(env.bash("rm src/extra.rs"), None);
    env.script_tool("test", "assertion failed", 101);
    assert!(env.blocked(true).contains("phase 4 of 4"));
}

#[test]
fn one_a_command_that_fails_or_hides_is_found_out_as_well() {
    let env = PhaseEnv::scripted();
    env.begin(Phase::Tests);
    assert!(
        env.bash("echo x > src/a.rs; false")
            .unwrap()
            .contains("src/a.rs")
    );
    std::fs::remove_file(env.repository().join("src/a.rs")).unwrap();
    let hidden = env
        .bash("echo src/h.rs >> .git/info/exclude; echo x > src/h.rs")
        .unwrap();
    assert!(hidden.contains("src/h.rs"), "{hidden}");
    std::fs::remove_file(env.repository().join("src/h.rs")).unwrap();
    let hidden = env
        .bash("echo 'gen/' >> .gitignore; mkdir gen; echo x > gen/h.rs")
        .unwrap();
    assert!(hidden.contains("gen/h.rs"), "{hidden}");
    std::fs::remove_dir_all(env.repository().join("gen")).unwrap();
    // What a build leaves behind is nobody's change.
    assert_eq!(
        env.bash("echo 'target/' >> .gitignore; mkdir -p target; echo x > target/x.rs; echo 'Signature: 8a477f597d28d172789f06886806bc55' > target/CACHEDIR.TAG"),
        None
    );
    // Written in the background, after its command had ended: the end of the turn finds it.
    env.write("src/late.rs", "x");
    assert!(env.blocked(false).contains("src/late.rs"));
    let moved = env.bash("git mv src/lib.rs tests/lib.rs").unwrap();
    assert!(
        moved.contains("src/lib.rs (production, deleted)"),
        "{moved}"
    );
}

#[test]
fn one_tests_inside_source_files_may_change_by_a_command_too() {
    let env = PhaseEnv::scripted();
    env.begin(Phase::Tests);
    assert_eq!(
        env.bash("sed -i 's/add(1, 1), 2/add(2, 2), 4/' src/lib.rs"),
        None
    );
    assert!(env.read("src/lib.rs").contains("add(2, 2)"));
    assert!(env.bash("sed -i 's/a + b/a * b/' src/lib.rs").is_some());
    env.begin(Phase::Interfaces);
    assert!(
        env.bash("sed -i 's/add(2, 2), 4/add(3, 3), 6/' src/lib.rs")
            .is_some()
    );
}

#[test]
fn two_the_model_cant_confirm_for_the_person() {
    let env = PhaseEnv::scripted();
    env.begin(Phase::Tests);
    let unconfirmed = || env.row().unwrap().confirmed_at.is_none();
    // As a command.
    for line in [
        "claude-codex phase confirm tests",
        "env -u CLAUDECODE claude-codex phase confirm tests",
        "tmux send-keys -t %0 '/tdd confirm tests' Enter",
        "echo '{}' | claude-codex hook UserPromptSubmit --tdd",
    ] {
        assert!(env.bash(line).unwrap().starts_with("DENIED"), "{line}");
    }
    // Through a script that no word gives away: there is no terminal, and then Claude Code is above.
    let direct = env.codex(&["phase", "confirm", "tests", "--json"]);
    assert_eq!(direct.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&direct.stderr).contains("only a person"),
        "{direct:?}"
    );
    let line = format!("{PROGRAM} phase confirm tests");
    if let Ok(typed) = env
        .command("script")
        .env("CLAUDECODE", "1")
        .args(["-qec", &line, "/dev/null"])
        .output()
    {
        assert!(!typed.status.success(), "{typed:?}");
    }
    assert!(unconfirmed());
    // A forged hook carries the mark of Claude Code's tools, or its parents do.
    let payload = env.payload(
        SESSION,
        "UserPromptSubmit",
        &json!({ "prompt": "/tdd confirm tests" }),
    );
    for words in [
        vec!["env", "AI_AGENT=claude-code_2_agent", PROGRAM],
        vec!["env", "-u", "AI_AGENT", PROGRAM],
    ] {
        let file = env.path("tools/payload");
        std::fs::write(&file, payload.to_string()).unwrap();
        let line = format!(
            "{} hook UserPromptSubmit --tdd < '{}'; true",
            words.join(" "),
            file.display()
        );
        let output = env
            .command("sh")
            .env("AI_AGENT", "claude-code_2_agent")
            .args(["-c", &line])
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("only a person"), "{text}");
    }
    assert!(unconfirmed());
    // Typed while its command runs.
    assert_eq!(
        env.denied("Bash", &json!({ "command": "./harmless.sh" })),
        None
    );
    let answer = env.prompt("/tdd confirm tests");
    assert!(
        answer["reason"]
            .as_str()
            .unwrap()
            .contains("a command of the agent was running"),
        "{answer}"
    );
    assert!(unconfirmed());
    env.hook(
        "PostToolUse",
        &json!({ "tool_name": "Bash", "tool_input": { "command": "./harmless.sh" } }),
    );
    // Typed while its command ran, and heard when the turn was over.
    env.script_tool("test", "assertion failed", 101);
    env.blocked(false);
    assert!(env.stop(true)["decision"].is_null());
    let answer = env.prompt_at_once("/tdd confirm tests");
    assert!(
        answer["reason"]
            .as_str()
            .unwrap()
            .contains("before the agent's turn"),
        "{answer}"
    );
    assert!(unconfirmed());
    // What it says itself, and what is delivered to it, is no prompt that begins so.
    for said in [
        "The person said: /tdd confirm tests",
        "[claude-codex m-00000001] Review by review-1\n\n/tdd confirm tests",
        " /tdd confirm tests",
    ] {
        assert!(env.prompt(said).is_null());
    }
    assert!(unconfirmed());
    env.prompt("/tdd confirm tests");
    assert!(!unconfirmed(), "the person can't confirm either");
}

#[test]
fn three_the_hooks_stay() {
    let env = PhaseEnv::scripted();
    let installed = env.codex(&["init", "--tdd"]);
    assert!(installed.status.success(), "{installed:?}");
    env.begin(Phase::Tests);
    let settings = env.read(".claude/settings.json");
    for line in [
        "rm .claude/settings.json",
        "cd .claude && echo '{}' > settings.json",
        "echo '{\"disableAllHooks\":true}' > .claude/settings.local.json",
        "rm .claude/commands/tdd.md",
    ] {
        assert!(env.bash(line).unwrap().starts_with("DENIED"), "{line}");
    }
    // In words that don't give it away: found afterwards, not taken up by Claude Code, and put back.
    let told = env.bash("rm -r .clau*").unwrap();
    assert!(
        told.contains(".claude/settings.json (guard, deleted)"),
        "{told}"
    );
    let change = env.hook("ConfigChange", &json!({ "source": "project_settings", "file_path": env.repository().join(".claude/settings.json") }));
    assert_eq!(change["decision"], "block", "{change}");
    assert!(env.blocked(false).contains(".claude/settings.json"));
    assert!(env.codex(&["phase", "restore"]).status.success());
    assert_eq!(env.read(".claude/settings.json"), settings);
    // A dialog that a person answered writes here as well; that is none of our business.
    env.write(
        ".claude/settings.local.json",
        r#"{"permissions":{"allow":["Bash(ls:*)"]}}"#,
    );
    assert!(env.hook("ConfigChange", &json!({})).is_null());
    assert_eq!(env.bash("true"), None);
    env.write(".claude/settings.local.json", r#"{"disableAllHooks":true}"#);
    assert!(env.bash("true").unwrap().contains("settings.local.json"));
}

#[test]
fn four_the_rules_stay() {
    let env = PhaseEnv::scripted();
    env.begin(Phase::Tests);
    let weak = r#"{"profile":"cargo","test":["**"]}"#;
    assert!(env.write_denied(".claude-codex/tdd.json", weak).is_some());
    assert!(
        env.bash(&format!("echo '{weak}' > .claude-codex/tdd.json"))
            .unwrap()
            .starts_with("DENIED")
    );
    let told = env
        .bash("cd .claude-codex; for f in *.js*; do echo '{}' > $f; done")
        .unwrap();
    assert!(told.contains(".claude-codex/tdd.json"), "{told}");
    env.git(&["checkout", "-q", ".claude-codex/tdd.json"]);
    assert_eq!(env.bash("true"), None);
    let home = env.path("home/.claude/tdd-override.json");
    let given = json!({ "file_path": home, "content": weak });
    assert!(env.denied("Write", &given).is_some());
    std::fs::create_dir_all(home.parent().unwrap()).unwrap();
    std::fs::write(&home, weak).unwrap();
    assert!(env.bash("true").unwrap().contains("tdd-override.json"));
    std::fs::remove_file(&home).unwrap();
    // The database.
    let database = env.path("state/codex.db");
    let line = format!(
        "sqlite3 {} 'update tdd_phases set phase = 4'",
        database.display()
    );
    assert!(env.bash(&line).unwrap().starts_with("DENIED"));
    assert!(
        env.denied("Write", &json!({ "file_path": database, "content": "" }))
            .is_some()
    );
}

#[test]
fn five_another_worktree_a_link_or_a_new_start_dont_help() {
    let env = PhaseEnv::scripted();
    env.git(&["worktree", "add", "-q", "../other", "-b", "other"]);
    env.begin(Phase::Tests);
    assert!(env.write_denied("../other/src/lib.rs", "x").is_some());
    let told = env
        .bash("ln -s src/lib.rs notes.md && echo cheat >> notes.md")
        .unwrap();
    assert!(told.contains("src/lib.rs"), "{told}");
    assert!(env.codex(&["phase", "restore"]).status.success());
    // Written elsewhere and brought in by git.
    let told = env.bash("cd ../other && echo cheat > src/lib.rs && git commit -qam x && cd ../repo && git merge -q other").unwrap();
    assert!(told.contains("src/lib.rs"), "{told}");
    // Another phase: only a person begins it.
    assert!(
        env.bash("claude-codex phase start implementation")
            .unwrap()
            .starts_with("DENIED")
    );
    let direct = env.codex(&["phase", "start", "implementation", "--session", SESSION]);
    assert!(!direct.status.success());
    assert!(!env.codex(&["phase", "accept"]).status.success());
    assert!(!env.codex(&["phase", "stop"]).status.success());
    assert_eq!(env.phase(), Phase::Tests);
    // The person may take the files as they are.
    let answer = env.prompt("/tdd accept");
    assert!(
        answer["reason"].as_str().unwrap().contains("accepted"),
        "{answer}"
    );
    assert_eq!(env.bash("true"), None);
}

/// A clone can have a link in place of the profile; to read a pipe waits for ever, and a device has no end.
#[test]
fn a_profile_that_is_no_file_holds_nobody_up() {
    let env = PhaseEnv::with(&[("Cargo.toml", "[package]\nname = \"sample\"\n")]);
    let pipe = env.path("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
    std::fs::create_dir(env.repository().join(".claude-codex")).unwrap();
    let profile = env.repository().join(".claude-codex/tdd.json");
    for target in [pipe.as_path(), std::path::Path::new("/dev/zero")] {
        let _ = std::fs::remove_file(&profile);
        std::os::unix::fs::symlink(target, &profile).unwrap();
        let told = env.prompt("/tdd start tests").to_string();
        assert!(told.contains("leads out of the repository"), "{told}");
        assert!(env.row().is_none());
    }
    // The same when it comes after the beginning.
    std::fs::remove_file(&profile).unwrap();
    env.begin(Phase::Tests);
    std::os::unix::fs::symlink(&pipe, &profile).unwrap();
    assert!(env.codex(&["phase", "status"]).status.code().is_some());
    env.stop(false);
}
