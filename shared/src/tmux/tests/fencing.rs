//! Only the newest epoch types, and the pane remembers what was done under it.

use super::*;
use crate::tmux::{Claim, Fenced, InputOutcome, InputStage, LastInput, PaneId};

fn epoch(server: &Server, number: u64) -> Fenced {
    epoch_of(server, "a", 0, number)
}

/// The first pane of a server is `%0`, the second `%1`.
fn epoch_of(server: &Server, session: &str, pane: u32, number: u64) -> Fenced {
    let session = session_name(session);
    server.tmux.fenced(&session, PaneId(pane), None, number)
}

fn claimed(last: Option<(u64, InputStage)>) -> Claim {
    Claim::Claimed {
        last: last.map(|(epoch, stage)| LastInput { epoch, stage }),
    }
}

#[tokio::test]
async fn an_older_epoch_does_nothing() {
    let server = Server::new();
    server.start_cat("a").await;
    let (old, new) = (epoch(&server, 9), epoch(&server, 10));
    assert_eq!(old.claim().await.unwrap(), claimed(None));
    assert_eq!(old.paste(&["one"]).await.unwrap(), InputOutcome::Typed);
    let last = Some((9, InputStage::Pasted));
    assert_eq!(new.claim().await.unwrap(), claimed(last));
    assert_eq!(old.paste(&["WRONG"]).await.unwrap(), InputOutcome::Outdated);
    assert_eq!(
        old.press_enter_blindly().await.unwrap(),
        InputOutcome::Outdated
    );
    assert_eq!(old.erase_line().await.unwrap(), InputOutcome::Outdated);
    let (outcome, _) = old.submit("WRONG").await.unwrap();
    assert_eq!(outcome, InputOutcome::Outdated);
    assert_eq!(old.claim().await.unwrap(), Claim::Outdated { newest: 10 });
    assert_eq!(
        new.claim().await.unwrap(),
        claimed(last),
        "nothing was done since"
    );
    assert_eq!(new.press_enter("one").await.unwrap(), InputOutcome::Typed);
    server.wait_screen("a", "one\none").await;
    let last = Some((10, InputStage::Entered));
    assert_eq!(epoch(&server, 11).claim().await.unwrap(), claimed(last));
    let shown = new.view().await.unwrap().unwrap();
    assert!(!shown.text.contains("WRONG"), "{shown:?}");
    assert_eq!(server.buffers().await, "");
}

#[tokio::test]
async fn without_a_claim_nothing_is_typed() {
    let server = Server::new();
    server.start_cat("a").await;
    let pane = epoch(&server, 1);
    assert_ne!(pane.paste(&["WRONG"]).await.unwrap(), InputOutcome::Typed);
    assert_eq!(server.buffers().await, "");
}

#[tokio::test]
async fn enter_needs_the_text_on_the_screen() {
    let server = Server::new();
    server.start_cat("a").await;
    let pane = epoch(&server, 1);
    pane.claim().await.unwrap();
    pane.paste(&["[x m-1] ", "é text; with 'quotes'"])
        .await
        .unwrap();
    server
        .wait_screen("a", "[x m-1] é text; with 'quotes'")
        .await;
    assert_ne!(pane.press_enter("m-2").await.unwrap(), InputOutcome::Typed);
    let view = pane.view().await.unwrap().unwrap();
    assert_eq!(
        view.before_cursor.as_deref(),
        Some("[x m-1] é text; with 'quotes'")
    );
    assert_eq!(pane.press_enter("m-1").await.unwrap(), InputOutcome::Typed);
}

#[tokio::test]
async fn a_submission_shows_what_was_there_before_enter() {
    let server = Server::new();
    // One that answers each line at once, and one that never does.
    server.start_cat("a").await;
    server.start("b", &["sleep", "1000"]).await;
    for (number, session, text, draft) in [
        (0, "a", "one line", "one line"),
        (1, "b", "two\nlines", "lines"),
    ] {
        let pane = epoch_of(&server, session, number, 3);
        pane.claim().await.unwrap();
        let (outcome, before) = pane.submit(text).await.unwrap();
        assert_eq!(outcome, InputOutcome::Typed);
        assert_eq!(before.unwrap().before_cursor.as_deref(), Some(draft));
    }
    server.wait_screen("a", "one line\none line").await;
}

#[tokio::test]
async fn a_pane_that_a_person_holds_is_not_typed_into() {
    let server = Server::new();
    server.start_cat("a").await;
    let pane = epoch(&server, 1);
    assert_eq!(pane.claim().await.unwrap(), claimed(None));
    for (hold, release) in [
        (
            &["select-pane", "-d", "-t", "=a:"][..],
            &["select-pane", "-e", "-t", "=a:"][..],
        ),
        (
            &["set-option", "-w", "-t", "=a:", "synchronize-panes", "on"],
            &["set-option", "-w", "-t", "=a:", "synchronize-panes", "off"],
        ),
    ] {
        run(&server, hold).await;
        assert!(server.pane("a").await.is_held, "{hold:?}");
        assert_eq!(pane.claim().await.unwrap(), Claim::Unavailable, "{hold:?}");
        for outcome in [
            pane.paste(&["WRONG"]).await.unwrap(),
            pane.press_enter_blindly().await.unwrap(),
            pane.submit("WRONG").await.unwrap().0,
        ] {
            assert_ne!(outcome, InputOutcome::Typed, "{hold:?}");
        }
        run(&server, release).await;
        assert!(!server.pane("a").await.is_held, "{hold:?}");
    }
    assert_eq!(pane.paste(&["right"]).await.unwrap(), InputOutcome::Typed);
    let shown = server.wait_screen("a", "right").await;
    assert!(!shown.contains("WRONG"), "{shown}");
}

/// Runs a tmux command as a person would.
async fn run(server: &Server, words: &[&str]) {
    let program = std::process::Command::new("tmux")
        .args(["-L", server.socket()])
        .args(words)
        .env_remove("TMUX_TMPDIR")
        .output()
        .unwrap();
    assert!(program.status.success(), "{words:?}: {program:?}");
}
