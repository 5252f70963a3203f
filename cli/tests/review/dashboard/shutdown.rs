//! Ends that harm nobody, and beginnings that are refused.

use std::io::Read;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use shared::model::Status;
use tests::AgentEnv;
use tests::dashboard::Dashboard;

#[test]
fn it_ends_at_once_with_streams_open_and_comes_back_with_the_same_token() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    for signal in [Signal::INT, Signal::TERM] {
        let mut dashboard = Dashboard::start(&env, &[]);
        let cookie = dashboard.cookie();
        let mut changes = dashboard.stream("/api/changes");
        let mut terminal = dashboard.stream(&format!("/api/instances/{coder}/terminal"));
        assert!(changes.next().is_some() && terminal.next().is_some());
        let began = Instant::now();
        dashboard.signal(signal);
        let status = dashboard.child.wait().unwrap();
        assert_eq!(status.code(), Some(0), "{signal:?}");
        assert!(
            began.elapsed() < Duration::from_secs(10),
            "{:?}",
            began.elapsed()
        );
        while changes.next().is_some() {}
        while terminal.next().is_some() {}
        let mut said = String::new();
        let stderr = dashboard.child.stderr.as_mut().unwrap();
        stderr.read_to_string(&mut said).unwrap();
        assert_eq!(said, "");
        let left = std::fs::read_dir(env.path("state/terminals"));
        assert_eq!(left.map_or(0, Iterator::count), 0);
        let again = Dashboard::start(&env, &[]);
        assert_eq!(again.token, dashboard.token);
        // The port is part of the cookie's name; its value is the same.
        let (_, value) = cookie.split_once('=').unwrap();
        assert!(again.cookie().ends_with(value));
    }
    assert_eq!(env.status(&coder), Status::Running);
    assert!(env.has_session(&coder));
}

#[test]
fn a_dashboard_that_is_killed_leaves_agents_alone_and_the_next_one_watches_again() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    let path = format!("/api/instances/{coder}/terminal");
    let target = format!("={coder}:0.0");
    let first = Dashboard::start(&env, &[]);
    let mut stream = first.stream(&path);
    assert!(stream.next().is_some());
    let piped = || {
        let shown = env.tmux(&[
            "display-message",
            "-p",
            "-t",
            &target,
            "#{pane_pipe} #{@claude_codex_pipe}",
        ]);
        String::from_utf8(shown.stdout).unwrap().trim().to_owned()
    };
    env.until("tmux tells", || piped().starts_with('1'));
    let told = piped();
    drop(first);
    let second = Dashboard::start(&env, &[]);
    let mut stream = second.stream(&path);
    assert!(stream.next().is_some());
    env.until("tmux tells the other one", || {
        let now = piped();
        now.starts_with('1') && now != told
    });
    env.tmux(&["send-keys", "-t", &target, "again", "Enter"]);
    stream.until("what is typed", |_, data| {
        data.to_string().contains("again")
    });
    assert_eq!(env.status(&coder), Status::Running);
}

#[test]
fn a_port_in_use_and_an_open_address_are_refused() {
    let env = AgentEnv::new("idle", "idle");
    let dashboard = Dashboard::start(&env, &[]);
    let port = dashboard.address.rsplit_once(':').unwrap().1.to_owned();
    let code = env.refused(&["dashboard", "--port", &port]);
    assert_eq!(code, "ADDRESS_IN_USE");
    for host in ["0.0.0.0", "::", "192.0.2.1"] {
        let code = env.refused(&["dashboard", "--port", "0", "--host", host]);
        assert_eq!(code, "INVALID_ARGUMENTS", "{host}");
    }
    let local = Dashboard::start(&env, &["--host", "127.0.0.2"]);
    assert!(local.address.starts_with("127.0.0.2:"));
    assert_eq!(local.get("/api/board").status, 200);
}
