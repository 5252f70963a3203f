//! Looking at terminals, being told when to look, and typing into them by hand.

use std::time::Instant;

use super::{Server, TIMEOUT, session_name, wait_file};
use crate::tmux::{InputOutcome, Key, PipeOwner, TmuxError};

#[tokio::test]
async fn a_look_has_colours_cursor_size_and_history() {
    let server = Server::new();
    let script =
        "seq 1 200; printf '\\033[1;32mgrün\\033[0m <b> 日'; printf '\\033[?25l'; exec sleep 600";
    server.start_script("a", script).await;
    server.wait_screen("a", "日").await;
    let view = server.tmux.look(&session_name("a"), 0).await.unwrap();
    assert_eq!((view.columns, view.rows), (200, 50));
    assert_eq!(view.text.lines().count(), 50);
    assert!(
        view.text.contains("\u{1b}[1m\u{1b}[32mgrün"),
        "{:?}",
        view.text
    );
    assert_eq!((view.cursor_x, view.cursor_y), (11, 49));
    assert!(!view.cursor_visible && !view.dead);
    assert_eq!(view.scrolled, 151);
    assert_eq!(view.pipe, PipeOwner::Nobody);
    let whole = server.tmux.look(&session_name("a"), 1_000).await.unwrap();
    assert_eq!(whole.text.lines().count(), 201);
    assert!(whole.text.starts_with("1\n2\n"));
    let gone = server.tmux.look(&session_name("b"), 0).await;
    assert!(matches!(gone, Err(TmuxError::SessionMissing { .. })));
}

#[tokio::test]
async fn output_is_signalled_to_one_owner_until_it_is_not_wanted() {
    let server = Server::new();
    server
        .start_script("a", "while read -r line; do echo \"got $line\"; done")
        .await;
    let name = session_name("a");
    let (first, second) = (server.path("it's; first"), server.path("second"));
    let owner = async || server.tmux.look(&name, 0).await.unwrap().pipe;
    server
        .tmux
        .signal_output(&name, &first, "1-2")
        .await
        .unwrap();
    assert_eq!(owner().await, PipeOwner::Named("1-2".to_owned()));
    server.tmux.type_text(&name, "one").await.unwrap();
    server.tmux.press_enter(&name, None).await.unwrap();
    let contains =
        |word: &'static str| move |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(word);
    wait_file(&first, contains("got one")).await;
    // Only the owner ends it.
    server.tmux.signal_no_more(&name, "3-4").await.unwrap();
    assert_eq!(owner().await, PipeOwner::Named("1-2".to_owned()));
    server
        .tmux
        .signal_output(&name, &second, "3-4")
        .await
        .unwrap();
    assert_eq!(owner().await, PipeOwner::Named("3-4".to_owned()));
    server.tmux.signal_no_more(&name, "3-4").await.unwrap();
    assert_eq!(owner().await, PipeOwner::Nobody);
    server
        .tmux
        .log_to(&name, &server.path("log"))
        .await
        .unwrap();
    assert_eq!(owner().await, PipeOwner::Stranger);
    let hostile = server.path("#(touch pwned)");
    let refused = server.tmux.signal_output(&name, &hostile, "1-2").await;
    assert!(matches!(refused, Err(TmuxError::UnsafeLogPath { .. })));
    let gone = server
        .tmux
        .signal_output(&session_name("b"), &second, "1-2")
        .await;
    assert!(matches!(gone, Err(TmuxError::SessionMissing { .. })));
}

/// A reader that has gone takes the pipe along with the next output; the terminal does not notice.
#[tokio::test]
async fn a_pipe_without_a_reader_goes_by_itself() {
    let server = Server::new();
    server
        .start_script("a", "while read -r line; do echo \"got $line\"; done")
        .await;
    let name = session_name("a");
    let fifo = server.path("fifo");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let reader = std::fs::File::options()
        .read(true)
        .write(true)
        .open(&fifo)
        .unwrap();
    server
        .tmux
        .signal_output(&name, &fifo, "1-2")
        .await
        .unwrap();
    // Whoever writes must have begun: else it waits for a reader for ever.
    server.tmux.type_text(&name, "first").await.unwrap();
    server.tmux.press_enter(&name, None).await.unwrap();
    server.wait_screen("a", "got first").await;
    let mut bytes = [0; 5];
    let mut reader = reader;
    std::io::Read::read_exact(&mut reader, &mut bytes).unwrap();
    drop(reader);
    let deadline = Instant::now() + TIMEOUT;
    for number in 0.. {
        let text = format!("line {number}");
        server.tmux.type_text(&name, &text).await.unwrap();
        server.tmux.press_enter(&name, None).await.unwrap();
        server.wait_screen("a", &format!("got {text}")).await;
        if server.tmux.look(&name, 0).await.unwrap().pipe == PipeOwner::Nobody {
            return;
        }
        assert!(Instant::now() < deadline, "the pipe is still there");
    }
}

#[tokio::test]
async fn typed_text_is_not_a_paste_and_reaches_only_the_agent() {
    let server = Server::new();
    let file = server.path("typed");
    // Asks for bracketed pastes, so that one would show.
    let script = format!(
        "stty raw -echo; printf '\\033[?2004hready'; exec cat > '{}'",
        file.display()
    );
    server.start_script("a", &script).await;
    server.wait_screen("a", "ready").await;
    let name = session_name("a");
    let text = "-l ; #(touch pwned) $(x) é日 ;";
    assert_eq!(
        server.tmux.type_text(&name, text).await.unwrap(),
        InputOutcome::Typed
    );
    for key in [
        Key::Backspace,
        Key::Delete,
        Key::BackTab,
        Key::PageUp,
        Key::Left,
        Key::CtrlD,
    ] {
        assert_eq!(
            server.tmux.press(&name, key, None).await.unwrap(),
            InputOutcome::Typed
        );
    }
    let mut expected = text.as_bytes().to_vec();
    expected.extend_from_slice(b"\x7f\x1b[3~\x1b[Z\x1b[5~\x1b[D\x04");
    let typed = wait_file(&file, |bytes| bytes.len() >= expected.len()).await;
    assert_eq!(
        String::from_utf8_lossy(&typed),
        String::from_utf8_lossy(&expected)
    );
    for hostile in ["two\nlines", "tab\t", "\x1b[A", "", "\r"] {
        assert!(
            server.tmux.type_text(&name, hostile).await.is_err(),
            "{hostile:?}"
        );
    }
    let missing = server
        .tmux
        .type_text(&session_name("b"), "x")
        .await
        .unwrap();
    assert_eq!(missing, InputOutcome::Missing);
    assert_eq!(server.buffers().await, "");
}

#[test]
fn every_key_has_a_name_that_tmux_knows() {
    use std::str::FromStr;
    for key in Key::ALL {
        assert_eq!(Key::from_str(key.as_str()).unwrap(), *key);
    }
}
