//! The server: a daemon of its own, found or started whatever the moment.

use std::ffi::OsString;

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, getsid};

use super::{Server, session_name};
use crate::tmux::{MINIMUM_VERSION, SocketName, Tmux, TmuxError};

#[tokio::test]
async fn the_server_is_a_daemon_that_holds_nothing_of_ours() {
    let server = Server::new();
    let leaked = server.path("leaked");
    // Without CLOEXEC, as a shell's `exec 9>file` would leave it.
    let _held = rustix::fs::open(&leaked, OFlags::CREATE | OFlags::WRONLY, Mode::RUSR).unwrap();
    server.start("a", &["sleep", "600"]).await;
    let pid = server.server_pid().await;
    let sid = getsid(Pid::from_raw(pid)).unwrap();
    assert_eq!(sid.as_raw_nonzero().get(), pid);
    assert_eq!(
        std::fs::read_link(format!("/proc/{pid}/cwd"))
            .unwrap()
            .to_str(),
        Some("/")
    );
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    let targets: Vec<_> = descriptors
        .filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok())
        .collect();
    assert!(
        targets.len() > 3 && !targets.contains(&leaked),
        "{targets:?}"
    );
    for standard in 0..=2 {
        let target = std::fs::read_link(format!("/proc/{pid}/fd/{standard}")).unwrap();
        assert_eq!(target.to_str(), Some("/dev/null"));
    }
}

#[tokio::test]
async fn the_users_configuration_is_not_read() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(
        home.path().join(".tmux.conf"),
        "set -g base-index 7\nset -g @seen yes\n",
    )
    .unwrap();
    let path = ("PATH".into(), std::env::var_os("PATH").unwrap());
    let server = Server::with_environment(vec![path, ("HOME".into(), home.path().into())]);
    server.start("a", &["sleep", "600"]).await;
    assert_eq!(server.raw("show-options", &["-gqv", "@seen"]).await, "");
    assert_eq!(
        server.raw("show-options", &["-gv", "remain-on-exit"]).await,
        "on"
    );
    assert_eq!(
        server.raw("show-options", &["-gv", "history-limit"]).await,
        "20000"
    );
    assert_eq!(
        server.raw("show-options", &["-gv", "status-left"]).await,
        "#{session_name}"
    );
    assert_eq!(
        server
            .raw(
                "display-message",
                &["-p", "-t", "=a:", "#{window_width}x#{window_height}"]
            )
            .await,
        "200x50"
    );
    assert_eq!(
        server
            .raw("show-options", &["-g", "update-environment"])
            .await,
        "update-environment"
    );
    // A mistake in the configuration fails here.
    let config = server.tmux.config_file.to_str().unwrap();
    server.raw("source-file", &[config]).await;
}

#[tokio::test]
async fn no_server_means_no_sessions() {
    let server = Server::new();
    let name = session_name("a");
    assert_eq!(server.tmux.list().await.unwrap(), []);
    assert!(!server.tmux.has(&name).await.unwrap());
    assert!(!server.tmux.kill(&name).await.unwrap());
    assert!(!server.tmux.kill_server().await.unwrap());
    assert!(server.tmux.pane(&name).await.unwrap().is_none());
    assert_eq!(server.tmux.clients(&name).await.unwrap().count, 0);
    let capture = server
        .tmux
        .capture(&name, crate::tmux::Lines::Visible, false)
        .await;
    assert!(matches!(capture, Err(TmuxError::SessionMissing { .. })));
    assert!(matches!(
        server.tmux.cursor(&name).await,
        Err(TmuxError::SessionMissing { .. })
    ));
}

#[tokio::test]
async fn a_session_starts_right_after_the_server_was_killed() {
    let server = Server::new();
    for round in 0..25 {
        let name = format!("round-{round}");
        server.start(&name, &["sleep", "600"]).await;
        assert!(server.tmux.has(&session_name(&name)).await.unwrap());
        // Both ways for a server to end: told to, and for want of sessions.
        if round % 2 == 0 {
            assert!(server.tmux.kill_server().await.unwrap());
        } else {
            assert!(server.tmux.kill(&session_name(&name)).await.unwrap());
        }
    }
}

#[tokio::test]
async fn twenty_sessions_start_at_once_without_a_server() {
    let server = Server::new();
    let tasks: Vec<_> = (0..20)
        .map(|index| {
            let tmux = server.tmux.clone();
            let session = server.session(&format!("s{index}"), &["sleep", "600"]);
            tokio::spawn(async move { tmux.create(&session).await })
        })
        .collect();
    let mut panes = Vec::new();
    for task in tasks {
        panes.push(task.await.unwrap().unwrap().pane_id);
    }
    let listed = server.tmux.list().await.unwrap();
    assert_eq!(listed.len(), 20);
    assert!(
        listed
            .iter()
            .all(|pane| pane.is_agent && panes.contains(&pane.pane_id))
    );
}

#[tokio::test]
async fn tmux_is_checked() {
    let server = Server::new();
    assert!(server.tmux.version().await.unwrap().unwrap() >= MINIMUM_VERSION);
    server.tmux.check().await.unwrap();
    let with = |program: &str| {
        let path: OsString = std::env::var_os("PATH").unwrap();
        Tmux::new(
            SocketName::new("unused").unwrap(),
            server.path("conf"),
            program.into(),
            vec![("PATH".into(), path)],
        )
    };
    let absent = with("no-such-tmux").check().await;
    assert!(
        matches!(absent, Err(TmuxError::NotInstalled { program }) if program == "no-such-tmux")
    );
    assert!(matches!(
        with("true").check().await,
        Err(TmuxError::UnexpectedOutput { .. })
    ));
    let old = server.path("old-tmux");
    std::os::unix::fs::symlink("/bin/echo", &old).unwrap();
    assert!(with(old.to_str().unwrap()).check().await.is_err());
}
