//! Screens: what is captured and logged.

use std::os::unix::fs::PermissionsExt;

use super::{Server, session_name, wait_file};
use crate::tmux::{Cursor, Lines, TmuxError};

#[tokio::test]
async fn the_screen_and_its_history_are_read() {
    let server = Server::new();
    server
        .start_script(
            "a",
            "seq 1 300; printf '\\033[31mrot\\033[0m é end'; exec sleep 600",
        )
        .await;
    let name = session_name("a");
    let visible = server.wait_screen("a", "rot é end").await;
    assert!(!visible.lines().any(|line| line == "100"));
    let history = server
        .tmux
        .capture(&name, Lines::History(1000), false)
        .await
        .unwrap();
    assert_eq!(
        history
            .lines()
            .take(300)
            .filter(|line| line.parse::<u32>().is_ok())
            .count(),
        300
    );
    let few = server
        .tmux
        .capture(&name, Lines::History(10), false)
        .await
        .unwrap();
    assert_eq!(few.lines().count(), 60);
    let coloured = server
        .tmux
        .capture(&name, Lines::Visible, true)
        .await
        .unwrap();
    assert!(coloured.contains("\u{1b}[31mrot") && !visible.contains('\u{1b}'));
    let cursor = server.tmux.cursor(&name).await.unwrap();
    assert_eq!(cursor, Cursor { column: 9, row: 49 });
}

#[tokio::test]
async fn what_the_terminal_shows_is_logged() {
    let server = Server::new();
    server
        .start_script("a", "while read -r line; do echo \"got $line\"; done")
        .await;
    let name = session_name("a");
    let first = server.path("it's $(touch pwned) `touch pwned`; é \"log\"");
    let second = server.path("second");
    let contains =
        |word: &'static str| move |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(word);
    // Twice to the same file: still one log.
    server.tmux.log_to(&name, &first).await.unwrap();
    server.tmux.log_to(&name, &first).await.unwrap();
    server.tmux.paste(&name, "one", None).await.unwrap();
    server.tmux.press_enter(&name, None).await.unwrap();
    let logged = wait_file(&first, contains("got one")).await;
    assert_eq!(
        String::from_utf8_lossy(&logged).matches("got one").count(),
        1
    );
    assert_eq!(
        std::fs::metadata(&first).unwrap().permissions().mode() & 0o777,
        0o600
    );
    server.tmux.log_to(&name, &second).await.unwrap();
    server.tmux.paste(&name, "two", None).await.unwrap();
    server.tmux.press_enter(&name, None).await.unwrap();
    wait_file(&second, contains("got two")).await;
    assert!(!std::fs::read_to_string(&first).unwrap().contains("two"));
    let hostile = server.path("#(touch pwned)");
    assert!(matches!(
        server.tmux.log_to(&name, &hostile).await,
        Err(TmuxError::UnsafeLogPath { .. })
    ));
    let gone = server.tmux.log_to(&session_name("gone"), &second).await;
    assert!(matches!(gone, Err(TmuxError::SessionMissing { .. })));
    assert!(!server.path("pwned").exists() && !std::path::Path::new("/pwned").exists());
}
