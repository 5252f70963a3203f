//! `kill -9` around delivery: nothing is lost and nothing arrives twice.

use std::time::{Duration, Instant};

use shared::model::{InstanceId, MessageState, Status};

use crate::settled::arrivals;
use crate::support::{Place, kill, text};

const TIME: Duration = Duration::from_secs(20);

fn all_arrived(place: &Place, id: &InstanceId) {
    place.until("everything is taken", || {
        place
            .messages(id)
            .iter()
            .all(|message| message.state == MessageState::Taken)
    });
    let counts = arrivals(place, id);
    for message in place.messages(id) {
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
    let place = Place::new("idle", "idle");
    let coder = place.coder(&[]);
    let began = Instant::now();
    let mut round = 0;
    while began.elapsed() < TIME {
        let mut child = place.start(&["send", coder.as_str(), "-"], &format!("number {round}"));
        std::thread::sleep(moment(round));
        let _ = child.kill();
        child.wait().unwrap();
        round += 1;
    }
    all_arrived(&place, &coder);
    eprintln!(
        "sender: {round} rounds, {} messages",
        place.messages(&coder).len()
    );
}

#[test]
fn of_the_receivers_server() {
    let place = Place::new("idle", "idle");
    let coder = place.coder(&[]);
    let began = Instant::now();
    let mut round = 0;
    // An agent whose server is dead is delivered to by the sender; then it gets a new one.
    while began.elapsed() < TIME {
        let child = place.start(&["send", coder.as_str(), "-"], &format!("number {round}"));
        std::thread::sleep(moment(round));
        if let Some(server) = place.instance(&coder).server {
            kill(u64::from(server.pid));
        }
        let output = child.wait_with_output().unwrap();
        text(&output);
        place.restart_server(&coder);
        round += 1;
    }
    all_arrived(&place, &coder);
    assert_eq!(place.messages(&coder).len() as u64, round);
    eprintln!("server: {round} rounds");
}

#[test]
fn of_the_whole_tmux_server() {
    let place = Place::new("idle", "idle");
    let coder = place.coder(&[]);
    let began = Instant::now();
    let mut round = 0;
    let mut senders = Vec::new();
    while began.elapsed() < TIME {
        let child = place.start(&["send", coder.as_str(), "-"], &format!("number {round}"));
        std::thread::sleep(moment(round));
        let server = place.tmux(&["display-message", "-p", "#{pid}"]);
        kill(
            String::from_utf8_lossy(&server.stdout)
                .trim()
                .parse()
                .unwrap(),
        );
        senders.push(child);
        place.until("it is noticed", || {
            place.codex(&["list"]);
            !place.status(&coder).is_live() && place.instance(&coder).owner.is_none()
        });
        text(&place.codex(&["resume", coder.as_str()]));
        place.until("it is up", || place.status(&coder) == Status::Running);
        round += 1;
    }
    for mut sender in senders {
        sender.wait().unwrap();
    }
    all_arrived(&place, &coder);
    eprintln!(
        "tmux: {round} rounds, {} messages",
        place.messages(&coder).len()
    );
}
