//! An agent that tries to get around its phase.

use serde_json::json;
use shared::model::Phase;

use crate::support::{LIBRARY, PROGRAM, Place, SESSION};

#[test]
fn one_a_shell_command_is_found_out_and_undone() {
    let place = Place::scripted();
    place.begin(Phase::Tests);
    assert_eq!(place.bash("cargo --version; git status"), None);
    let told = place
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
    assert!(place.blocked(false).contains("src/lib.rs"));
    assert!(place.blocked(true).contains("src/lib.rs"));
    place.prompt("/tdd confirm tests");
    assert!(place.blocked(true).contains("src/lib.rs"));
    assert_eq!(place.phase(), Phase::Tests);
    place.git(&["commit", "-q", "-am", "hidden in a commit"]);
    assert!(place.blocked(true).contains("src/lib.rs"));
    // The agent may undo it: by our command, which keeps what it had written, or by hand.
    let restored = place.codex(&["phase", "restore", "--json"]);
    let restored: serde_json::Value = serde_json::from_slice(&restored.stdout).unwrap();
    let kept = std::path::PathBuf::from(restored["kept"].as_str().unwrap());
    assert!(
        std::fs::read_to_string(kept.join("src/lib.rs"))
            .unwrap()
            .contains("cheat")
    );
    assert_eq!(place.read("src/lib.rs"), LIBRARY);
    assert!(!place.repo().join("src/extra.rs").exists());
    assert!(place.bash("echo y > src/extra.rs").is_some());
    assert_eq!(place.bash("rm src/extra.rs"), None);
    place.says("test", "assertion failed", 101);
    assert!(place.blocked(true).contains("phase 4 of 4"));
}

#[test]
fn one_a_command_that_fails_or_hides_is_found_out_as_well() {
    let place = Place::scripted();
    place.begin(Phase::Tests);
    assert!(
        place
            .bash("echo x > src/a.rs; false")
            .unwrap()
            .contains("src/a.rs")
    );
    std::fs::remove_file(place.repo().join("src/a.rs")).unwrap();
    let hidden = place
        .bash("echo src/h.rs >> .git/info/exclude; echo x > src/h.rs")
        .unwrap();
    assert!(hidden.contains("src/h.rs"), "{hidden}");
    std::fs::remove_file(place.repo().join("src/h.rs")).unwrap();
    let hidden = place
        .bash("echo 'gen/' >> .gitignore; mkdir gen; echo x > gen/h.rs")
        .unwrap();
    assert!(hidden.contains("gen/h.rs"), "{hidden}");
    std::fs::remove_dir_all(place.repo().join("gen")).unwrap();
    // What a build leaves behind is nobody's change.
    assert_eq!(
        place.bash("echo 'target/' >> .gitignore; mkdir -p target; echo x > target/x.rs"),
        None
    );
    // Written in the background, after its command had ended: the end of the turn finds it.
    place.write("src/late.rs", "x");
    assert!(place.blocked(false).contains("src/late.rs"));
    let moved = place.bash("git mv src/lib.rs tests/lib.rs").unwrap();
    assert!(
        moved.contains("src/lib.rs (production, deleted)"),
        "{moved}"
    );
}

#[test]
fn one_tests_inside_source_files_may_change_by_a_command_too() {
    let place = Place::scripted();
    place.begin(Phase::Tests);
    assert_eq!(
        place.bash("sed -i 's/add(1, 1), 2/add(2, 2), 4/' src/lib.rs"),
        None
    );
    assert!(place.read("src/lib.rs").contains("add(2, 2)"));
    assert!(place.bash("sed -i 's/a + b/a * b/' src/lib.rs").is_some());
    place.begin(Phase::Interfaces);
    assert!(
        place
            .bash("sed -i 's/add(2, 2), 4/add(3, 3), 6/' src/lib.rs")
            .is_some()
    );
}

#[test]
fn two_the_model_cant_confirm_for_the_person() {
    let place = Place::scripted();
    place.begin(Phase::Tests);
    let unconfirmed = || place.row().unwrap().confirmed_at.is_none();
    // As a command.
    for line in [
        "claude-codex phase confirm tests",
        "env -u CLAUDECODE claude-codex phase confirm tests",
        "tmux send-keys -t %0 '/tdd confirm tests' Enter",
        "echo '{}' | claude-codex hook UserPromptSubmit --tdd",
    ] {
        assert!(place.bash(line).unwrap().starts_with("DENIED"), "{line}");
    }
    // Through a script that no word gives away: there is no terminal, and then Claude Code is above.
    let direct = place.codex(&["phase", "confirm", "tests", "--json"]);
    assert_eq!(direct.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&direct.stderr).contains("only a person"),
        "{direct:?}"
    );
    let line = format!("{PROGRAM} phase confirm tests");
    if let Ok(typed) = place
        .command("script")
        .env("CLAUDECODE", "1")
        .args(["-qec", &line, "/dev/null"])
        .output()
    {
        assert!(!typed.status.success(), "{typed:?}");
    }
    assert!(unconfirmed());
    // A forged hook carries the mark of Claude Code's tools, or its parents do.
    let payload = place.payload(
        SESSION,
        "UserPromptSubmit",
        &json!({ "prompt": "/tdd confirm tests" }),
    );
    for words in [
        vec!["env", "AI_AGENT=claude-code_2_agent", PROGRAM],
        vec!["env", "-u", "AI_AGENT", PROGRAM],
    ] {
        let file = place.path("tools/payload");
        std::fs::write(&file, payload.to_string()).unwrap();
        let line = format!(
            "{} hook UserPromptSubmit --tdd < '{}'; true",
            words.join(" "),
            file.display()
        );
        let output = place
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
        place.denied("Bash", &json!({ "command": "./harmless.sh" })),
        None
    );
    let answer = place.prompt("/tdd confirm tests");
    assert!(
        answer["reason"]
            .as_str()
            .unwrap()
            .contains("a command of the agent's was running"),
        "{answer}"
    );
    assert!(unconfirmed());
    place.hook(
        "PostToolUse",
        &json!({ "tool_name": "Bash", "tool_input": { "command": "./harmless.sh" } }),
    );
    // Typed while its command ran, and heard when the turn was over.
    place.says("test", "assertion failed", 101);
    place.blocked(false);
    assert!(place.stop(true)["decision"].is_null());
    let answer = place.prompt_at_once("/tdd confirm tests");
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
        assert!(place.prompt(said).is_null());
    }
    assert!(unconfirmed());
    place.prompt("/tdd confirm tests");
    assert!(!unconfirmed(), "the person can't confirm either");
}

#[test]
fn three_the_hooks_stay() {
    let place = Place::scripted();
    let installed = place.codex(&["init", "--tdd"]);
    assert!(installed.status.success(), "{installed:?}");
    place.begin(Phase::Tests);
    let settings = place.read(".claude/settings.json");
    for line in [
        "rm .claude/settings.json",
        "cd .claude && echo '{}' > settings.json",
        "echo '{\"disableAllHooks\":true}' > .claude/settings.local.json",
        "rm .claude/commands/tdd.md",
    ] {
        assert!(place.bash(line).unwrap().starts_with("DENIED"), "{line}");
    }
    // In words that don't give it away: found afterwards, not taken up by Claude Code, and put back.
    let told = place.bash("rm -r .clau*").unwrap();
    assert!(
        told.contains(".claude/settings.json (guard, deleted)"),
        "{told}"
    );
    let change = place.hook("ConfigChange", &json!({ "source": "project_settings", "file_path": place.repo().join(".claude/settings.json") }));
    assert_eq!(change["decision"], "block", "{change}");
    assert!(place.blocked(false).contains(".claude/settings.json"));
    assert!(place.codex(&["phase", "restore"]).status.success());
    assert_eq!(place.read(".claude/settings.json"), settings);
    // A dialog that a person answered writes here as well; that is none of our business.
    place.write(
        ".claude/settings.local.json",
        r#"{"permissions":{"allow":["Bash(ls:*)"]}}"#,
    );
    assert!(place.hook("ConfigChange", &json!({})).is_null());
    assert_eq!(place.bash("true"), None);
    place.write(".claude/settings.local.json", r#"{"disableAllHooks":true}"#);
    assert!(place.bash("true").unwrap().contains("settings.local.json"));
}

#[test]
fn four_the_rules_stay() {
    let place = Place::scripted();
    place.begin(Phase::Tests);
    let weak = r#"{"profile":"cargo","test":["**"]}"#;
    assert!(place.write_denied(".claude-codex/tdd.json", weak).is_some());
    assert!(
        place
            .bash(&format!("echo '{weak}' > .claude-codex/tdd.json"))
            .unwrap()
            .starts_with("DENIED")
    );
    let told = place
        .bash("cd .claude-codex; for f in *.js*; do echo '{}' > $f; done")
        .unwrap();
    assert!(told.contains(".claude-codex/tdd.json"), "{told}");
    place.git(&["checkout", "-q", ".claude-codex/tdd.json"]);
    assert_eq!(place.bash("true"), None);
    let home = place.path("home/.claude/tdd-override.json");
    let given = json!({ "file_path": home, "content": weak });
    assert!(place.denied("Write", &given).is_some());
    std::fs::create_dir_all(home.parent().unwrap()).unwrap();
    std::fs::write(&home, weak).unwrap();
    assert!(place.bash("true").unwrap().contains("tdd-override.json"));
    std::fs::remove_file(&home).unwrap();
    // The database.
    let database = place.path("state/codex.db");
    let line = format!(
        "sqlite3 {} 'update tdd_phases set phase = 4'",
        database.display()
    );
    assert!(place.bash(&line).unwrap().starts_with("DENIED"));
    assert!(
        place
            .denied("Write", &json!({ "file_path": database, "content": "" }))
            .is_some()
    );
}

#[test]
fn five_another_worktree_a_link_or_a_new_start_dont_help() {
    let place = Place::scripted();
    place.git(&["worktree", "add", "-q", "../other", "-b", "other"]);
    place.begin(Phase::Tests);
    assert!(place.write_denied("../other/src/lib.rs", "x").is_some());
    let told = place
        .bash("ln -s src/lib.rs notes.md && echo cheat >> notes.md")
        .unwrap();
    assert!(told.contains("src/lib.rs"), "{told}");
    assert!(place.codex(&["phase", "restore"]).status.success());
    // Written elsewhere and brought in by git.
    let told = place.bash("cd ../other && echo cheat > src/lib.rs && git commit -qam x && cd ../repo && git merge -q other").unwrap();
    assert!(told.contains("src/lib.rs"), "{told}");
    // Another phase: only a person begins it.
    assert!(
        place
            .bash("claude-codex phase start implementation")
            .unwrap()
            .starts_with("DENIED")
    );
    let direct = place.codex(&["phase", "start", "implementation", "--session", SESSION]);
    assert!(!direct.status.success());
    assert!(!place.codex(&["phase", "accept"]).status.success());
    assert!(!place.codex(&["phase", "stop"]).status.success());
    assert_eq!(place.phase(), Phase::Tests);
    // The person may take the files as they are.
    let answer = place.prompt("/tdd accept");
    assert!(
        answer["reason"].as_str().unwrap().contains("taken"),
        "{answer}"
    );
    assert_eq!(place.bash("true"), None);
}

/// A clone can have a link in place of the profile; to read a pipe waits for ever, and a device has no end.
#[test]
fn a_profile_that_is_no_file_holds_nobody_up() {
    let place = Place::with(&[("Cargo.toml", "[package]\nname = \"sample\"\n")]);
    let pipe = place.path("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
    std::fs::create_dir(place.repo().join(".claude-codex")).unwrap();
    let profile = place.repo().join(".claude-codex/tdd.json");
    for target in [pipe.as_path(), std::path::Path::new("/dev/zero")] {
        let _ = std::fs::remove_file(&profile);
        std::os::unix::fs::symlink(target, &profile).unwrap();
        let told = place.prompt("/tdd start tests").to_string();
        assert!(told.contains("leads out of the repository"), "{told}");
        assert!(place.row().is_none());
    }
    // The same when it comes after the beginning.
    std::fs::remove_file(&profile).unwrap();
    place.begin(Phase::Tests);
    std::os::unix::fs::symlink(&pipe, &profile).unwrap();
    assert!(place.codex(&["phase", "status"]).status.code().is_some());
    place.stop(false);
}
