//! Delivery into terminals that a person has rearranged, and into panes that have a past.

use shared::model::{InstanceId, MessageState, WaitReason};
use tests::{AgentEnv, text};

use crate::delivery::{claude, sent};

/// An agent of each kind, with the place it lives in.
fn agents() -> [(AgentEnv, InstanceId); 2] {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    [(env, coder), claude()]
}

/// Runs a tmux command as a person would; `ID` is the agent's session.
fn tmux(env: &AgentEnv, id: &InstanceId, command: &str) -> String {
    let session = format!("={id}");
    let words: Vec<String> = command
        .split(' ')
        .map(|word| word.replace("ID", &session))
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    text(&env.tmux(&words))
}

#[test]
fn an_agent_is_found_wherever_a_person_has_moved_its_pane() {
    for (env, coder) in agents() {
        for (number, moved) in [
            "split-window -b -d -t ID:0.0 sleep 1000",
            "new-window -d -t ID: sleep 1000",
            "swap-window -d -s ID:0 -t ID:1",
            "set-option -g pane-base-index 1",
            "set-option -g base-index 1",
            "move-window -r -t ID:",
        ]
        .into_iter()
        .enumerate()
        {
            tmux(&env, &coder, moved);
            let sent = sent(&env, &coder, "wherever you are");
            assert_eq!(sent["delivered"], true, "{moved}: {sent}");
            assert_eq!(env.received(&coder).len(), number + 1, "{moved}");
        }
        // New agents begin under the person's settings, too.
        let second = env.coder(&["--branch", "second"]);
        assert_eq!(sent(&env, &second, "and you?")["delivered"], true);
    }
}

#[test]
fn a_pane_whose_input_is_shut_off_is_waited_for() {
    for (env, coder) in agents() {
        tmux(&env, &coder, "select-pane -d -t ID:0.0");
        let sent = sent(&env, &coder, "once you listen");
        assert_eq!(sent["waitingFor"], "person_typing", "{sent}");
        assert_eq!(env.messages(&coder)[0].attempts, 0);
        tmux(&env, &coder, "select-pane -e -t ID:0.0");
        env.until("it is taken", || {
            env.messages(&coder)[0].state == MessageState::Taken
        });
        assert_eq!(env.received(&coder).len(), 1);
    }
}

#[test]
fn enter_does_not_run_what_stands_in_a_pane_that_is_typed_into_together() {
    for (env, coder) in agents() {
        let harm = env.path("script/harm");
        tmux(&env, &coder, "split-window -d -t ID:0.0 sh");
        let command = format!("touch {}", harm.display());
        text(&env.tmux(&["send-keys", "-l", "-t", &format!("={coder}:0.1"), &command]));
        tmux(&env, &coder, "set-option -w -t ID:0 synchronize-panes on");
        let sent = sent(&env, &coder, "for the agent only");
        assert_eq!(sent["waitingFor"], "person_typing", "{sent}");
        tmux(&env, &coder, "set-option -w -t ID:0 synchronize-panes off");
        env.until("it is taken", || {
            env.messages(&coder)[0].state == MessageState::Taken
        });
        assert!(!harm.exists(), "Enter ran a person's command");
    }
}

#[test]
fn a_pane_that_is_ahead_of_the_database_is_caught_up_with() {
    // After a database was restored, or in a person's pane where another session had messages before.
    for (env, coder) in agents() {
        assert_eq!(sent(&env, &coder, "first")["delivered"], true);
        tmux(
            &env,
            &coder,
            "set-option -p -t ID:0.0 @claude_codex_epoch 900",
        );
        tmux(
            &env,
            &coder,
            "set-option -p -t ID:0.0 @claude_codex_input 2:entered",
        );
        let second = sent(&env, &coder, "second");
        assert_eq!(second["delivered"], true, "{second}");
        assert_eq!(env.received(&coder).len(), 2);
        let waits: Vec<Option<WaitReason>> = env
            .messages(&coder)
            .iter()
            .map(|message| message.waiting_for)
            .collect();
        assert_eq!(waits, [None, None]);
    }
}
