//! An MCP client that sends exactly the given messages, in either protocol era.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::binaries::Server;
use crate::environment::TestEnv;
use crate::waiting::WAIT_TIMEOUT;

/// Which way of speaking MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// 2025-11-25: a session that begins with `initialize`.
    Legacy,
    /// 2026-07-28: no `initialize`; each request says what it needs in `_meta`.
    Modern,
}

impl Era {
    pub const BOTH: [Self; 2] = [Self::Legacy, Self::Modern];

    pub const fn version(self) -> &'static str {
        match self {
            Self::Legacy => "2025-11-25",
            Self::Modern => "2026-07-28",
        }
    }
}

/// What a tool answered.
#[derive(Debug)]
pub struct Answer {
    pub is_error: bool,
    /// The structured content.
    pub value: Value,
    pub text: String,
}

impl Answer {
    /// Returns the error's code; a success has none.
    pub fn code(&self) -> &str {
        let code = self.value["code"].as_str().filter(|_| self.is_error);
        code.unwrap_or("(no error)")
    }
}

/// A server process and the conversation with it. It is ended when dropped.
#[derive(Debug)]
pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    stderr: Arc<Mutex<String>>,
    era: Era,
    next_id: u64,
    /// What came while another answer was awaited: notifications, in order.
    pub notifications: Vec<Value>,
}

impl Client {
    /// Starts a server and, in the legacy era, greets it.
    pub fn start(env: &TestEnv, server: Server, era: Era) -> Self {
        let mut client = Self::spawn(env.command(server.path()), era);
        client.greet();
        client
    }

    /// Starts a command and says nothing to it yet.
    pub fn spawn(mut command: Command, era: Era) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
        let stdout = child.stdout.take().expect("it is piped");
        let mut errors = child.stderr.take().expect("it is piped");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            let mut line = Vec::new();
            while reader
                .read_until(b'\n', &mut line)
                .is_ok_and(|read| read > 0)
            {
                if sender.send(std::mem::take(&mut line)).is_err() {
                    break;
                }
            }
        });
        let stderr = Arc::new(Mutex::new(String::new()));
        let collected = Arc::clone(&stderr);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = errors.read(&mut bytes) {
                let text = String::from_utf8_lossy(&bytes[..read]);
                let mut all = collected.lock().unwrap_or_else(PoisonError::into_inner);
                all.push_str(&text);
            }
        });
        Self {
            stdin: child.stdin.take(),
            child,
            lines,
            stderr,
            era,
            next_id: 0,
            notifications: Vec::new(),
        }
    }

    /// Begins the session, where the era has one. Returns what the server said about itself.
    pub fn greet(&mut self) -> Value {
        match self.era {
            Era::Legacy => {
                let hello = json!({
                    "protocolVersion": self.era.version(),
                    "capabilities": {},
                    "clientInfo": {"name": "test-client", "version": "1"},
                });
                let said = self.request("initialize", hello).expect("it greets back");
                self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
                said
            }
            Era::Modern => Value::Null,
        }
    }

    pub fn era(&self) -> Era {
        self.era
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns what the server wrote to standard error so far.
    pub fn stderr(&self) -> String {
        let text = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        text.clone()
    }

    /// Asks and waits for the answer: the result, or the protocol error.
    pub fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.begin(method, params);
        self.answer_to(id)
    }

    /// Asks without waiting, and returns the id to wait for.
    pub fn begin(&mut self, method: &str, mut params: Value) -> u64 {
        self.next_id += 1;
        if self.era == Era::Modern {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!(self.era.version());
            meta["io.modelcontextprotocol/clientInfo"] =
                json!({"name": "test-client", "version": "1"});
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Waits for the answer to a request. Answers may come in any order.
    pub fn answer_to(&mut self, id: u64) -> Result<Value, Value> {
        loop {
            let message = self.receive();
            if message.get("id") == Some(&json!(id)) {
                return match message.get("result") {
                    Some(result) => Ok(result.clone()),
                    None => Err(message["error"].clone()),
                };
            }
            self.notifications.push(message);
        }
    }

    /// Calls a tool; a protocol error fails the test.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Answer {
        let mut params = json!({ "name": tool });
        params["arguments"] = arguments;
        let result = self.request("tools/call", params);
        answer(&result.unwrap_or_else(|error| panic!("{tool} gave a protocol error: {error}")))
    }

    /// Reads a resource and parses the JSON in it.
    pub fn read(&mut self, uri: &str) -> Result<Value, Value> {
        let result = self.request("resources/read", json!({"uri": uri}))?;
        let text = result["contents"][0]["text"].as_str().expect("a text");
        Ok(serde_json::from_str(text).expect("resources are JSON"))
    }

    pub fn send(&mut self, message: &Value) {
        self.send_raw(format!("{message}\n").as_bytes());
    }

    /// Sends bytes as they are.
    pub fn send_raw(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("standard input is open");
        stdin
            .write_all(bytes)
            .and_then(|()| stdin.flush())
            .unwrap_or_else(|error| {
                panic!("the server does not listen: {error}\n{}", self.stderr())
            });
    }

    /// Waits for one message. Anything on standard output that is not one fails the test.
    pub fn receive(&mut self) -> Value {
        let line = match self.lines.recv_timeout(WAIT_TIMEOUT) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => {
                panic!("no answer in {WAIT_TIMEOUT:?}; stderr:\n{}", self.stderr())
            }
            Err(RecvTimeoutError::Disconnected) => panic!(
                "the server has gone ({:?}); stderr:\n{}",
                self.child.try_wait(),
                self.stderr()
            ),
        };
        let message: Value = serde_json::from_slice(&line).unwrap_or_else(|error| {
            panic!(
                "standard output carried {error}: {}",
                String::from_utf8_lossy(&line)
            )
        });
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        message
    }

    pub fn close_input(&mut self) {
        self.stdin = None;
    }

    /// Waits for the process to end by itself.
    pub fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + WAIT_TIMEOUT;
        loop {
            if let Some(status) = self.child.try_wait().expect("it is our child") {
                return status;
            }
            assert!(
                Instant::now() < deadline,
                "it still runs after {WAIT_TIMEOUT:?}"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Takes a tool's result apart.
fn answer(result: &Value) -> Answer {
    Answer {
        is_error: result["isError"].as_bool().unwrap_or(false),
        text: result["content"][0]["text"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        value: result["structuredContent"].clone(),
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Ends nothing that has ended already; there is nobody left to tell of a failure.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
