//! Input: what arrives, and where nothing may arrive.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Server, session_name, wait_file};
use crate::tmux::{InputOutcome, Key, Life, ProgramName, TmuxError};

/// Starts a program that takes bracketed pastes and records each byte it is sent.
async fn start_recorder(server: &Server, name: &str) -> PathBuf {
    let file = server.path(&format!("{name}.bytes"));
    let script = "stty raw -echo; printf '\\033[?2004hready'; exec cat > \"$0\"";
    server
        .start(name, &["sh", "-c", script, file.to_str().unwrap()])
        .await;
    server.wait_screen(name, "ready").await;
    server.wait_pane(name, |pane| pane.command == "cat").await;
    file
}

async fn arrives(file: &Path, expected: &[u8]) {
    let bytes = wait_file(file, |bytes| bytes.len() >= expected.len()).await;
    assert!(bytes == expected, "{:?}", String::from_utf8_lossy(&bytes));
}

fn bracketed(text: &str) -> Vec<u8> {
    format!("\u{1b}[200~{text}\u{1b}[201~").into_bytes()
}

#[tokio::test]
async fn a_paste_is_bracketed_and_enter_follows() {
    let server = Server::new();
    let file = start_recorder(&server, "a").await;
    let name = session_name("a");
    let text = "-b ; #{pane_id} #(touch pwned) $(touch pwned)\n\ttwo 'lines' é🦀 \\;";
    assert_eq!(
        server.tmux.paste(&name, text, None).await.unwrap(),
        InputOutcome::Typed
    );
    assert_eq!(
        server.tmux.press_enter(&name, None).await.unwrap(),
        InputOutcome::Typed
    );
    let mut expected = bracketed(text);
    expected.push(b'\r');
    arrives(&file, &expected).await;
    for key in [
        Key::Escape,
        Key::CtrlC,
        Key::CtrlU,
        Key::Tab,
        Key::Up,
        Key::Down,
    ] {
        assert_eq!(
            server.tmux.press(&name, key, None).await.unwrap(),
            InputOutcome::Typed
        );
    }
    expected.extend_from_slice(b"\x1b\x03\x15\t\x1b[A\x1b[B");
    arrives(&file, &expected).await;
    assert_eq!(server.buffers().await, "");
}

#[tokio::test]
async fn large_pastes_arrive_byte_for_byte() {
    let server = Server::new();
    let file = start_recorder(&server, "a").await;
    let mut expected = Vec::new();
    for size in [16 * 1024, 100 * 1024, 1024 * 1024] {
        let text: String = (0..)
            .map(|n| format!("{n} é line\n"))
            .take(size / 12)
            .collect();
        let outcome = server
            .tmux
            .paste(&session_name("a"), &text, None)
            .await
            .unwrap();
        assert_eq!(outcome, InputOutcome::Typed);
        expected.extend(bracketed(&text));
        arrives(&file, &expected).await;
    }
    assert_eq!(server.buffers().await, "");
}

#[tokio::test]
async fn pastes_from_many_callers_stay_whole() {
    let server = Server::new();
    let file = start_recorder(&server, "a").await;
    let texts: Vec<String> = (0..10).map(|n| format!("{n}").repeat(5000)).collect();
    let tasks: Vec<_> = texts
        .iter()
        .cloned()
        .map(|text| {
            let tmux = server.tmux.clone();
            tokio::spawn(async move { tmux.paste(&session_name("a"), &text, None).await })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap().unwrap(), InputOutcome::Typed);
    }
    let bytes = wait_file(&file, |bytes| bytes.len() >= 10 * 5012).await;
    let bytes = String::from_utf8(bytes).unwrap();
    assert!(
        texts
            .iter()
            .all(|text| bytes.contains(&format!("\u{1b}[200~{text}\u{1b}[201~")))
    );
}

#[tokio::test]
async fn a_dead_pane_takes_nothing_and_the_server_lives() {
    let server = Server::new();
    server.start("other", &["sleep", "600"]).await;
    server.start_script("dead", "exit 3").await;
    server
        .wait_pane("dead", |pane| pane.life != Life::Running)
        .await;
    let (pid, dead) = (server.server_pid().await, session_name("dead"));
    let cat = ProgramName::new("cat").unwrap();
    for expected in [None, Some(&cat)] {
        assert_eq!(
            server.tmux.paste(&dead, "text", expected).await.unwrap(),
            InputOutcome::Dead
        );
        assert_eq!(
            server.tmux.press_enter(&dead, expected).await.unwrap(),
            InputOutcome::Dead
        );
    }
    assert_eq!(server.server_pid().await, pid);
    assert_eq!(server.buffers().await, "");
}

#[tokio::test]
async fn a_pane_that_dies_meanwhile_leaves_server_and_buffers_alone() {
    let server = Server::new();
    server.start("other", &["sleep", "600"]).await;
    let pid = server.server_pid().await;
    for round in 0..15 {
        let name = format!("r{round}");
        server
            .start_script(&name, &format!("sleep 0.0{round:02}"))
            .await;
        let name = session_name(&name);
        while server.tmux.paste(&name, "text\n", None).await.unwrap() == InputOutcome::Typed {}
        server.tmux.kill(&name).await.unwrap();
    }
    assert_eq!(server.server_pid().await, pid);
    assert_eq!(server.buffers().await, "");
}

#[tokio::test]
async fn a_missing_session_takes_nothing_and_leaves_no_buffer() {
    let server = Server::new();
    let (missing, enter) = (session_name("work-1"), Key::Enter);
    // Without a server first, then with one whose session has a longer name.
    for _ in 0..2 {
        assert_eq!(
            server.tmux.paste(&missing, "text", None).await.unwrap(),
            InputOutcome::Missing
        );
        assert_eq!(
            server.tmux.press(&missing, enter, None).await.unwrap(),
            InputOutcome::Missing
        );
        if server.tmux.list().await.unwrap().is_empty() {
            start_recorder(&server, "work-10").await;
        }
    }
    assert_eq!(server.buffers().await, "");
    assert_eq!(std::fs::read(server.path("work-10.bytes")).unwrap(), b"");
}

#[tokio::test]
async fn every_mode_is_left_before_typing() {
    let server = Server::new();
    let file = start_recorder(&server, "a").await;
    let mut expected = Vec::new();
    for mode in ["copy-mode", "choose-tree", "clock-mode"] {
        server.raw(mode, &["-t", "=a:"]).await;
        assert!(server.pane("a").await.in_mode);
        server
            .tmux
            .paste(&session_name("a"), mode, None)
            .await
            .unwrap();
        expected.extend(bracketed(mode));
        server.raw(mode, &["-t", "=a:"]).await;
        server
            .tmux
            .press_enter(&session_name("a"), None)
            .await
            .unwrap();
        expected.push(b'\r');
        arrives(&file, &expected).await;
        assert!(!server.pane("a").await.in_mode);
    }
}

#[tokio::test]
async fn another_program_takes_nothing() {
    let server = Server::new();
    let file = start_recorder(&server, "a").await;
    let name = session_name("a");
    let program = |name: &str| ProgramName::new(name).unwrap();
    let other = InputOutcome::OtherProgram {
        command: "cat".to_owned(),
    };
    for wrong in ["claude", "ca", "catt", "c.t"] {
        let wrong = program(wrong);
        assert_eq!(
            server.tmux.paste(&name, "no", Some(&wrong)).await.unwrap(),
            other
        );
        assert_eq!(
            server.tmux.press_enter(&name, Some(&wrong)).await.unwrap(),
            other
        );
    }
    let outcome = server
        .tmux
        .paste(&name, "yes", Some(&program("cat")))
        .await
        .unwrap();
    assert_eq!(outcome, InputOutcome::Typed);
    arrives(&file, &bracketed("yes")).await;
    assert_eq!(server.buffers().await, "");
    assert!(ProgramName::new("cat,1}#(touch x)").is_err());
}

#[tokio::test]
async fn only_the_agents_pane_is_typed_into() {
    let server = Server::new();
    let file = start_recorder(&server, "a").await;
    let name = session_name("a");
    // A person's own pane and window are active now.
    server
        .raw("split-window", &["-t", "=a:", "cat > mine"])
        .await;
    server.raw("new-window", &["-t", "=a:", "cat > mine"]).await;
    assert_eq!(
        server.tmux.paste(&name, "text", None).await.unwrap(),
        InputOutcome::Typed
    );
    arrives(&file, &bracketed("text")).await;
    // The agent's pane gone, the person's takes its place.
    server.raw("kill-pane", &["-t", "=a:0.0"]).await;
    assert_eq!(
        server.tmux.paste(&name, "text", None).await.unwrap(),
        InputOutcome::Missing
    );
    assert_eq!(
        server.tmux.press_enter(&name, None).await.unwrap(),
        InputOutcome::Missing
    );
    assert_eq!(server.buffers().await, "");
}

#[tokio::test]
async fn what_took_the_agents_place_in_its_pane_is_not_typed_at() {
    let server = Server::new();
    start_recorder(&server, "a").await;
    let name = session_name("a");
    server
        .raw("respawn-pane", &["-k", "-t", "=a:", "sh", "-i"])
        .await;
    assert_eq!(
        server.tmux.paste(&name, "touch PWNED", None).await.unwrap(),
        InputOutcome::Missing
    );
    assert_eq!(
        server.tmux.press_enter(&name, None).await.unwrap(),
        InputOutcome::Missing
    );
    assert_eq!(server.tmux.pane(&name).await.unwrap(), None);
    assert_eq!(server.buffers().await, "");
}

#[tokio::test]
async fn unsafe_text_is_refused() {
    let server = Server::new();
    let file = start_recorder(&server, "a").await;
    let name = session_name("a");
    let refused = server.tmux.paste(&name, "a\u{1b}[201~\r!id", None).await;
    let expected = |error| {
        matches!(
            error,
            TmuxError::UnsafeText {
                character: '\u{1b}',
                offset: 1
            }
        )
    };
    assert!(expected(refused.unwrap_err()));
    server.tmux.paste(&name, "fine", None).await.unwrap();
    arrives(&file, &bracketed("fine")).await;
}

#[tokio::test]
async fn a_cancelled_paste_still_arrives_whole_and_leaves_no_buffer() {
    let server = Server::new();
    let file = start_recorder(&server, "a").await;
    let (name, text) = (session_name("a"), "x".repeat(50_000));
    for step in 0..60 {
        let paste = server.tmux.paste(&name, &text, None);
        let _ = tokio::time::timeout(Duration::from_micros(step * 150), paste).await;
    }
    arrives(&file, &bracketed(&text).repeat(60)).await;
    assert_eq!(server.buffers().await, "");
}
