//! `kill -9` around delivery: nothing is lost and nothing arrives twice.

use std::time::{Duration, Instant};

use shared::model::{InstanceId, MessageState, Status};
use tests::{AgentEnv, kill, text};

use crate::settled::arrivals;

const TIME: Duration = Duration::from_secs(20);

fn all_arrived(env: &AgentEnv, id: &InstanceId) {
    env.until("everything is taken", || {
        env.messages(id)
            .iter()
            .all(|message| message.state == MessageState::Taken)
    });
    let counts = arrivals(env, id);
    for message in env.messages(id) {
        let name = message.id.to_string();
        let got = counts.keys().filter(|(_, known)| *known == name).count();
        assert!(got >= 1, "{} was lost", message.id);
    }
    let doubled: Vec<_> = counts.iter().filter(|(_, count)| **count > 1).collect();
    assert!(doubled.is_empty(), "{doubled:?}");
}

/// A different moment each time, over the whole of a delivery.
fn moment(round: u64) -> Duration {
    Duration::from_millis(round * 37 % 400)
}

#[test]
fn of_the_sender() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    let began = Instant::now();
    let mut round = 0;
    while began.elapsed() < TIME {
        let mut child = env.start(&["send", coder.as_str(), "-"], &format!("number {round}"));
        std::thread::sleep(moment(round));
        let _ = child.kill();
        child.wait().unwrap();
        round += 1;
    }
    all_arrived(&env, &coder);
    eprintln!(
        "sender: {round} rounds, {} messages",
        env.messages(&coder).len()
    );
}

#[test]
fn of_the_receivers_server() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    let began = Instant::now();
    let mut round = 0;
    // An agent whose server is dead is delivered to by the sender; then it gets a new one.
    while began.elapsed() < TIME {
        let child = env.start(&["send", coder.as_str(), "-"], &format!("number {round}"));
        std::thread::sleep(moment(round));
        if let Some(server) = env.instance(&coder).server {
            kill(u64::from(server.pid));
        }
        let output = child.wait_with_output().unwrap();
        text(&output);
        env.restart_server(&coder);
        round += 1;
    }
    all_arrived(&env, &coder);
    assert_eq!(env.messages(&coder).len() as u64, round);
    eprintln!("server: {round} rounds");
}

#[test]
fn of_the_whole_tmux_server() {
    let env = AgentEnv::new("idle", "idle");
    let coder = env.coder(&[]);
    let began = Instant::now();
    let mut round = 0;
    let mut senders = Vec::new();
    while began.elapsed() < TIME {
        let child = env.start(&["send", coder.as_str(), "-"], &format!("number {round}"));
        std::thread::sleep(moment(round));
        let server = env.tmux(&["display-message", "-p", "#{pid}"]);
        kill(
            String::from_utf8_lossy(&server.stdout)
                .trim()
                .parse()
                .unwrap(),
        );
        senders.push(child);
        env.until("it is noticed", || {
            env.codex(&["list"]);
            !env.status(&coder).is_live() && env.instance(&coder).owner.is_none()
        });
        env.text(&["resume", coder.as_str()]);
        env.until("it is up", || env.status(&coder) == Status::Running);
        round += 1;
    }
    for mut sender in senders {
        sender.wait().unwrap();
    }
    all_arrived(&env, &coder);
    eprintln!(
        "tmux: {round} rounds, {} messages",
        env.messages(&coder).len()
    );
}
