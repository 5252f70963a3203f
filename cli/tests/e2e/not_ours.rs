//! What lies in a worktree or stands in an agent's session and is somebody else's.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use shared::model::ProcessMark;
use shared::process::{is_alive, is_running, is_seen};
use tests::{TestEnv, until};

use crate::PROGRAM;
use crate::support::env_with_agent;

/// Runs a command of ours where a folder is also to be found at another place; none where the system does not allow that.
fn mounted(env: &TestEnv, [from, to]: [&str; 2], words: &[&str]) -> Option<std::process::Output> {
    let unshare = || {
        let mut command = env.command("unshare");
        command.args(["--map-root-user", "--mount"]);
        command
    };
    if !unshare()
        .arg("true")
        .output()
        .is_ok_and(|output| output.status.success())
    {
        eprintln!("SKIPPED: nothing can be mounted here");
        return None;
    }
    let script = "mount --bind \"$1\" \"$2\" && shift 2 && exec \"$@\"";
    let mut command = unshare();
    command.args(["sh", "-c", script, "sh", from, to, PROGRAM]);
    Some(command.args(words).output().unwrap())
}

#[test]
fn what_is_mounted_in_a_worktree_is_not_deleted_with_it() {
    let env = env_with_agent();
    let instance = env.json(&["code", "Fix the login"]);
    let id = instance["id"].as_str().unwrap();
    let worktree = std::path::Path::new(instance["worktreePath"].as_str().unwrap());
    std::fs::write(env.repository().join(".git/info/exclude"), "data/\n").unwrap();
    let (data, share) = (worktree.join("data"), env.path("share"));
    std::fs::create_dir(&data).unwrap();
    std::fs::create_dir(&share).unwrap();
    std::fs::write(share.join("only-copy"), "precious").unwrap();
    let places = [share.to_str().unwrap(), data.to_str().unwrap()];
    let Some(stopped) = mounted(&env, places, &["stop", id]) else {
        return;
    };
    assert!(stopped.status.success(), "{stopped:?}");
    assert!(share.join("only-copy").exists(), "{stopped:?}");
    let said = String::from_utf8_lossy(&stopped.stderr) + String::from_utf8_lossy(&stopped.stdout);
    assert!(said.contains("kept a mount at data"), "{said}");
    let cleaned = mounted(&env, places, &["clean"]).unwrap();
    assert!(cleaned.status.success(), "{cleaned:?}");
    assert!(worktree.exists() && share.join("only-copy").exists());
    // Where nothing is mounted any more it goes.
    env.text(&["clean"]);
    assert!(!worktree.exists() && share.join("only-copy").exists());
}

/// Through a session of their own a person has the agent's windows beside theirs (`new-session -t`, `link-window`).
#[test]
fn windows_that_a_person_shares_with_an_agents_session_outlive_it() {
    let env = env_with_agent();
    let instance = env.json(&["code", "Fix the login"]);
    let id = instance["id"].as_str().unwrap();
    let make = |words: &[&str]| {
        let made = env.tmux(&[words, &["-P", "-F", "#{pane_pid}", "sleep", "600"]].concat());
        assert!(made.status.success(), "{made:?}");
        String::from_utf8(made.stdout).unwrap().trim().to_owned()
    };
    let linked = make(&["new-session", "-d", "-s", "theirs"]);
    let link = ["link-window", "-s", "theirs:0", "-t", &format!("{id}:9")];
    assert!(env.tmux(&link).status.success());
    let agent = || {
        let format = ["list-panes", "-t", &format!("={id}:0"), "-F", "#{pane_pid}"];
        String::from_utf8(env.tmux(&format).stdout).unwrap()
    };
    let agent = agent().trim().to_owned();
    let group = ["new-session", "-d", "-s", "looking", "-t", id];
    assert!(env.tmux(&group).status.success());
    let opened = make(&["new-window", "-d", "-t", "looking:"]);
    env.text(&["stop", id]);
    until("the agent has ended", || !tests::is_alive(&agent));
    assert!(
        tests::is_alive(&linked),
        "a window of theirs that they linked"
    );
    assert!(tests::is_alive(&opened), "a window that they opened");
    assert_eq!(env.sessions(), ["looking", "theirs"]);
}

/// A command on the machine that takes an agent in a container for dead ends it, and removes its worktree.
#[test]
fn a_process_in_a_container_lives_until_it_ends() {
    let script = "echo $$; readlink /proc/self/ns/pid; cat /proc/$$/stat; exec sleep 600";
    let mut container = Command::new("unshare")
        .args(["--map-root-user", "--pid", "--fork", "--kill-child"])
        .args(["--mount-proc", "sh", "-c", script])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let said = BufReader::new(container.stdout.take().unwrap()).lines();
    let said: Vec<String> = said.take(3).map(Result::unwrap).collect();
    let [number, space, stat] = &said[..] else {
        eprintln!("SKIPPED: no container can be made here");
        container.wait().unwrap();
        return;
    };
    let space = space.trim_start_matches("pid:[").trim_end_matches(']');
    let ticks = stat
        .rsplit_once(") ")
        .unwrap()
        .1
        .split(' ')
        .nth(19)
        .unwrap();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let mark = ProcessMark {
        pid: number.parse().unwrap(),
        started: format!("{ticks}-{}-{space}", boot.trim()),
    };
    assert!(is_alive(&mark) && is_running(&mark) && !is_seen(&mark));
    let another = ProcessMark {
        pid: mark.pid + 1,
        ..mark.clone()
    };
    assert!(!is_alive(&another));
    container.kill().unwrap();
    container.wait().unwrap();
    until("it has ended", || !is_alive(&mark));
}
