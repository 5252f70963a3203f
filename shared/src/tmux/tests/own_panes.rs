//! A pane of a person's own is typed into only while the expected program has it.

use super::*;
use crate::tmux::{Claim, InputOutcome, OwnPane, ProgramName};

/// The pane as the program in it would know it, by what tmux has told it.
pub(super) async fn own(server: &Server, pane: &Pane) -> OwnPane {
    let script = Script::new("display-message").args(["-p", "#{socket_path},#{pid},0"]);
    let told = server.tmux.run(&script, None).await.unwrap();
    let told = told.found().unwrap().unwrap();
    OwnPane::of(&server.tmux, told.trim_end(), &pane.pane_id.to_string()).unwrap()
}

fn program(name: &str) -> ProgramName {
    ProgramName::new(name).unwrap()
}

#[tokio::test]
async fn text_reaches_the_program_that_was_meant() {
    let server = Server::new();
    let pane = server.start_cat("mine").await;
    let own = own(&server, &pane).await;
    let state = own.state().await.unwrap().unwrap();
    assert_eq!((state.command.as_str(), state.in_mode), ("cat", false));
    let cat = own.fenced(Some(&program("cat")), 1);
    assert_eq!(cat.claim().await.unwrap(), Claim::Claimed { last: None });
    let typed = cat.paste(&["hello ", "there"]).await.unwrap();
    assert_eq!(typed, InputOutcome::Typed);
    server.wait_screen("mine", "hello there").await;
    let typed = cat.press_enter("hello there").await.unwrap();
    assert_eq!(typed, InputOutcome::Typed);
    server.wait_screen("mine", "hello there\nhello there").await;
    assert!(own.capture().await.unwrap().contains("hello there"));
    assert_eq!(own.last_activity().await.unwrap(), None);
}

#[tokio::test]
async fn nothing_is_typed_for_another_program_or_a_reader_or_the_dead() {
    let server = Server::new();
    let pane = server.start_cat("mine").await;
    let own = own(&server, &pane).await;
    let refused = |outcome: InputOutcome| assert_ne!(outcome, InputOutcome::Typed);
    let cat = own.fenced(Some(&program("cat")), 1);
    assert_eq!(cat.claim().await.unwrap(), Claim::Claimed { last: None });
    for other in [Some(&program("claude")), None] {
        let other = own.fenced(other, 2);
        assert_eq!(other.claim().await.unwrap(), Claim::Unavailable);
        refused(other.paste(&["WRONG"]).await.unwrap());
        refused(other.press_enter_blindly().await.unwrap());
    }
    let scroll = Script::new("copy-mode").args(["-t", &pane.pane_id.to_string()]);
    server.tmux.run(&scroll, None).await.unwrap();
    assert!(own.state().await.unwrap().unwrap().in_mode);
    refused(cat.paste(&["WRONG"]).await.unwrap());
    let leave = Script::new("copy-mode").args(["-q", "-t", &pane.pane_id.to_string()]);
    server.tmux.run(&leave, None).await.unwrap();
    let screen = own.capture().await.unwrap();
    assert!(!screen.contains("WRONG"), "{screen}");
    server.start_cat("other").await;
    server.tmux.kill(&session_name("mine")).await.unwrap();
    assert_eq!(own.state().await.unwrap(), None);
    refused(cat.paste(&["WRONG"]).await.unwrap());
    // No buffer is left behind.
    assert_eq!(server.buffers().await, "");
}
