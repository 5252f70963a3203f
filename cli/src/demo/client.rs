//! A minimal MCP client, with which a scripted agent calls the tools of its server.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::Deserialize;
use serde_json::{Value, json};
use shared::error::{Code, Error};

/// The parts of the `--mcp-config` file that matter here.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Config {
    mcp_servers: std::collections::BTreeMap<String, Server>,
}

#[derive(Debug, Deserialize)]
struct Server {
    command: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: std::collections::BTreeMap<String, String>,
}

/// A connection to a server process.
#[derive(Debug)]
pub(super) struct Client {
    /// Ends when its standard input is closed, which dropping this value does.
    _child: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    next: u64,
}

impl Client {
    /// Starts the first server that a configuration names.
    pub(super) fn start(config: &Path) -> Result<Self, Error> {
        let text = std::fs::read(config).map_err(broken)?;
        let config: Config = serde_json::from_slice(&text).map_err(broken)?;
        let Some((_, server)) = config.mcp_servers.into_iter().next() else {
            return Err(broken("the configuration names no server"));
        };
        let mut child = Command::new(server.command)
            .args(server.args)
            .envs(server.env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(broken)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(broken("the server has no input or output"));
        };
        let mut client = Self {
            _child: child,
            input,
            lines: BufReader::new(output).lines(),
            next: 0,
        };
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "claude-codex-demo", "version": env!("CARGO_PKG_VERSION") },
        });
        client.request("initialize", &hello)?;
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(client)
    }

    /// Calls a tool and returns its structured content. A tool error is returned as an error.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, Error> {
        let params = json!({ "name": tool, "arguments": arguments });
        let result = self.request("tools/call", &params)?;
        let content = result["structuredContent"].clone();
        if result["isError"] == true {
            return Err(broken(format!("{tool} was refused: {content}")));
        }
        Ok(content)
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value, Error> {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        for line in self.lines.by_ref() {
            let answer: Value = serde_json::from_str(&line.map_err(broken)?).map_err(broken)?;
            if answer["id"] == id {
                return match answer.get("result") {
                    Some(result) => Ok(result.clone()),
                    None => Err(broken(format!("{method} failed: {}", answer["error"]))),
                };
            }
        }
        Err(broken(format!("the server ended during {method}")))
    }

    fn send(&mut self, message: &Value) -> Result<(), Error> {
        writeln!(self.input, "{message}").map_err(broken)
    }
}

pub(super) fn broken(reason: impl std::fmt::Display) -> Error {
    Error::new(Code::AgentFailed, format!("{reason}"))
}
