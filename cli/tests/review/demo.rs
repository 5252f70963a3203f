//! The demo is the whole loop on real parts, and leaves nothing behind.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tests::{binary, text};

fn demo(folder: &Path, more: &[&str]) -> Output {
    for name in ["home", "tmp", "tmux"] {
        std::fs::create_dir_all(folder.join(name)).unwrap();
    }
    Command::new(binary("claude-codex"))
        .arg("demo")
        .args(more)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", folder.join("home"))
        .env("TMPDIR", folder.join("tmp"))
        .env("TMUX_TMPDIR", folder.join("tmux"))
        // Of another repository and another user: none of it may reach the demo.
        .env("GIT_DIR", folder.join("nowhere"))
        .env("CODEX_STATE_DIR", folder.join("untouched"))
        .env("CODEX_AGENT_COMMAND", "false")
        .current_dir(folder)
        .output()
        .unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn it_ends_in_a_merge_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let printed = text(&demo(folder.path(), &["--json"]));
    let summary: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(summary["pullRequest"]["state"], "merged", "{summary}");
    let mut moments: Vec<&str> = summary["moments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|moment| moment["what"].as_str().unwrap())
        .collect();
    // The coder may act on feedback before anybody has seen that it has it.
    moments.retain(|moment| *moment != "feedback in the coder's terminal");
    assert_eq!(
        moments,
        [
            "repository analysed",
            "task planned",
            "task planned",
            "review asked for",
            "changes requested",
            "review asked for",
            "approved and published",
            "merged",
        ]
    );
    assert_eq!(names(&folder.path().join("tmp")), Vec::<String>::new());
    assert!(!folder.path().join("untouched").exists());
}

#[test]
fn it_tells_a_story_and_keeps_what_is_to_be_kept() {
    let folder = tempfile::tempdir().unwrap();
    let output = demo(folder.path(), &["--keep"]);
    let story = text(&output);
    for line in [
        "A planner analyses the repository",
        "claude-codex attach",
        "till.sh:6 `sh till.sh --code NOPE 1000` prints 900",
        "under_review → creating_pr",
        "Merged as ",
    ] {
        assert!(story.contains(line), "{line}: {story}");
    }
    let kept = names(&folder.path().join("tmp")).pop().unwrap();
    let repository = folder.path().join("tmp").join(kept).join("till");
    let tests = Command::new("sh")
        .arg(repository.join("tests/run.sh"))
        .output()
        .unwrap();
    assert!(text(&tests).contains("ok   an unknown code is refused"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("export CODEX_STATE_DIR="), "{said}");
    assert!(
        !repository
            .with_file_name(".codex-worktrees")
            .join("till")
            .join("work-discount-codes-at-the-a1")
            .exists()
    );
}
