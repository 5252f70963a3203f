//! What comes from outside is read or refused, whatever it is. `scripts/fuzz` gives these more time.

use std::cell::RefCell;
use std::path::PathBuf;

use corpus_fuzz::fuzz;
use serde_json::json;
use shared::agent::Payload;
use shared::forge::parse_remote;
use tests::{Client, Era, Server, TestEnv, project_root};

fn corpus(name: &str) -> PathBuf {
    project_root().join("tests/corpus").join(name)
}

#[test]
fn hooks_tell_anything() {
    fuzz(&corpus("hook-json"), |bytes| {
        let _ = Payload::parse(bytes);
    });
}

#[test]
fn remotes_have_any_address() {
    fuzz(&corpus("remote-url"), |bytes| {
        if let Some(remote) = parse_remote(&String::from_utf8_lossy(bytes)) {
            assert!(!remote.host.starts_with('-') && !remote.owner.starts_with('-'));
            for part in [&remote.owner, &remote.repository] {
                // These become parts of addresses and arguments. A repository may well be called `.github`.
                assert!(
                    !matches!(part.as_str(), "" | "." | "..")
                        && !part.contains(['/', '\\', '?', '#', '@', ' ']),
                    "{part:?}"
                );
                assert!(!part.contains(char::is_control), "{part:?}");
            }
        }
    });
}

/// A server that is started anew where one has fallen.
struct Standing<'a> {
    env: &'a TestEnv,
    server: Server,
    client: Option<Client>,
    asked: u64,
}

impl Standing<'_> {
    fn takes(&mut self, line: &[u8]) {
        let mut client = self
            .client
            .take()
            .unwrap_or_else(|| Client::start(self.env, self.server, Era::Legacy));
        let mut line: Vec<u8> = line.iter().copied().filter(|byte| *byte != b'\n').collect();
        line.push(b'\n');
        client.send_raw(&line);
        // No request of the corpus has an id like this.
        self.asked += 1;
        let id = format!("still there {}", self.asked);
        client.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }));
        while client.receive()["id"] != id {}
        self.client = Some(client);
    }
}

fn a_server_stands(server: Server) {
    let env = TestEnv::without_repository();
    let standing = RefCell::new(Standing {
        env: &env,
        server,
        client: None,
        asked: 0,
    });
    fuzz(&corpus("request"), |line| standing.borrow_mut().takes(line));
}

#[test]
fn the_coding_server_is_told_anything() {
    a_server_stands(Server::Coding);
}

#[test]
fn the_review_server_is_told_anything() {
    a_server_stands(Server::Review);
}

#[test]
fn the_planning_server_is_told_anything() {
    a_server_stands(Server::Planning);
}
