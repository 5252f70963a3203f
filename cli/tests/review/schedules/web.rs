//! A dashboard in which people click while everything else goes on.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;

use crate::support::{Place, program};

/// As long as a command may take.
const LONGEST: Duration = Duration::from_secs(100);

/// A running `claude-codex dashboard`; it goes with this value.
pub(super) struct Web {
    child: Child,
    address: String,
    token: String,
    clicks: Vec<JoinHandle<()>>,
}

impl Web {
    pub(super) fn start(place: &Place) -> Self {
        let mut child = place
            .command(&program())
            .args(["dashboard", "--port", "0", "--json"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let printed = child.stdout.take().unwrap();
        BufReader::new(printed).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        let text = |key: &str| said[key].as_str().unwrap().to_owned();
        Self {
            child,
            address: text("address"),
            token: text("token"),
            clicks: Vec::new(),
        }
    }

    /// Asks for something without waiting for the answer.
    pub(super) fn click(&mut self, path: &str) {
        let Self { address, token, .. } = self;
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: 2\r\n\r\n{{}}"
        );
        let address = address.clone();
        self.clicks.push(std::thread::spawn(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.set_read_timeout(Some(LONGEST)).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            // Refused is fine, and so is what the faults around it have made impossible. A panic is not.
            assert!(answer.starts_with("HTTP/1.1 "), "{request}\n{answer}");
            assert!(!answer.contains("panic"), "{request}\n{answer}");
        }));
    }

    /// Every click is answered.
    pub(super) fn settle(&mut self) {
        for click in self.clicks.drain(..) {
            click.join().expect("a click was not answered");
        }
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
