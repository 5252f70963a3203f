//! `claude-codex demo-agent`: a scripted planner, coder and reviewer that calls the real MCP servers.
//!
//! It reacts to what happens: the reviewer tries the program, and the coder fixes it only when feedback has arrived in its
//! terminal.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use shared::error::Error;
use shared::model::InstanceKind;

use super::client::{Client, broken};
use super::terminal::Terminal;
use crate::failure::Failure;
use crate::output::{DIM, GOOD, NAME};

const FIRST_TRY: &str = include_str!("sample/first_try.sh");
const FIRST_CASE: &str = include_str!("sample/first_case.sh");
const SECOND_TRY: &str = include_str!("sample/second_try.sh");
const SECOND_CASE: &str = include_str!("sample/second_case.sh");

/// Act as an agent of the demo
#[derive(Debug, Args)]
pub(crate) struct DemoAgentArgs {
    /// Milliseconds between two actions, for people who watch
    #[arg(long, default_value_t = 0)]
    pace: u64,
}

pub(crate) async fn demo_agent(args: &DemoAgentArgs) -> Result<(), Failure> {
    let variable = |name: &str| {
        std::env::var(name).map_err(|_| {
            broken(format!(
                "{name} is not set; only the demo starts this command"
            ))
        })
    };
    let role: InstanceKind = variable("CODEX_ROLE")?.parse().map_err(broken)?;
    let mut agent = Agent {
        terminal: Terminal::open()?,
        pace: Duration::from_millis(args.pace),
        server: Client::start(Path::new(&variable("CODEX_MCP_CONFIG")?))?,
    };
    match role {
        InstanceKind::Planning => agent.plan()?,
        InstanceKind::Coding => agent.code()?,
        InstanceKind::Review => agent.review()?,
    }
    Ok(())
}

struct Agent {
    terminal: Terminal,
    pace: Duration,
    server: Client,
}

impl Agent {
    /// Analyses the repository and creates two tasks, the second of which depends on the first.
    fn plan(&mut self) -> Result<(), Error> {
        let scope = json!({ "scope": "codebase", "depth": "shallow" });
        let analysis = self.call("analyze_repository", &scope)?;
        self.terminal
            .shows(analysis["message"].as_str().unwrap_or_default())?;
        let task = self.call(
            "create_task",
            &json!({
                "taskTitle": "Discount codes at the till",
                "taskDescription": "`sh till.sh --code SAVE10 PRICE...` takes a tenth off. Cover it in tests/cases.sh.",
                "priority": "high",
                "estimatedHours": 1,
            }),
        )?;
        self.call(
            "create_task",
            &json!({
                "taskTitle": "Print a receipt",
                "taskDescription": "One line for each price, then the discount and the sum.",
                "priority": "low",
                "dependsOn": [task["taskId"]],
            }),
        )?;
        self.terminal.says(GOOD, "Two tasks are planned.")
    }

    /// Does the task, requests a review, and addresses the feedback.
    fn code(&mut self) -> Result<(), Error> {
        self.write("till.sh", FIRST_TRY)?;
        self.append("tests/cases.sh", FIRST_CASE)?;
        self.test_and_commit("Discount codes at the till")?;
        self.ask_for_review("`--code SAVE10` takes a tenth off; one new case covers it.")?;
        loop {
            let message = self.terminal.next_message()?;
            let first_line = message.lines().next().unwrap_or_default();
            if first_line.contains("changes requested") {
                self.write("till.sh", SECOND_TRY)?;
                self.append("tests/cases.sh", SECOND_CASE)?;
                self.test_and_commit("Refuse unknown codes")?;
                self.ask_for_review("Unknown codes are refused now, and a case covers that.")?;
            }
        }
    }

    /// Runs the tests, then tries an untested case, whose result decides the verdict.
    fn review(&mut self) -> Result<(), Error> {
        let passed =
            self.run("git", &["log", "--oneline", "-3"])?.0 && self.run("sh", &["tests/run.sh"])?.0;
        let (accepted, printed) = self.run("sh", &["till.sh", "--code", "NOPE", "1000"])?;
        if passed && !accepted {
            self.call(
                "create_pr",
                &json!({
                    "title": "Discount codes at the till",
                    "description": "`--code SAVE10` takes a tenth off and unknown codes are refused. All cases pass.",
                }),
            )?;
        } else {
            let code = std::fs::read_to_string("till.sh").map_err(broken)?;
            let line = code.lines().position(|line| line.contains("discount=10"));
            self.call(
                "request_changes",
                &json!({
                    "feedback": "The tests pass, but any code at all gives the discount.",
                    "findings": [{
                        "file": "till.sh",
                        "line": line.map_or(1, |line| line + 1),
                        "severity": "blocking",
                        "message": format!(
                            "`sh till.sh --code NOPE 1000` prints {}; an unknown code should be refused, and a case should say so.",
                            printed.trim()
                        ),
                    }],
                }),
            )?;
        }
        // The session is ended once the verdict is recorded.
        self.terminal.next_message().map(drop)
    }

    fn ask_for_review(&mut self, description: &str) -> Result<(), Error> {
        self.call("request_review", &json!({ "description": description }))?;
        self.terminal.says(DIM, "Waiting for the reviewer.")
    }

    /// Prints what comes next, and pauses so that people can read it.
    fn begins(&self, what: &str) -> Result<(), Error> {
        self.terminal.says(NAME, what)?;
        std::thread::sleep(self.pace);
        Ok(())
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, Error> {
        self.begins(&format!("{tool} {arguments}"))?;
        let answer = self.server.call(tool, arguments)?;
        if let Some(message) = answer["message"].as_str() {
            self.terminal.shows(message)?;
        }
        Ok(answer)
    }

    fn test_and_commit(&self, message: &str) -> Result<(), Error> {
        for (program, args) in [
            ("sh", &["tests/run.sh"] as &[&str]),
            ("git", &["commit", "--quiet", "--all", "-m", message]),
        ] {
            let (done, printed) = self.run(program, args)?;
            if !done {
                return Err(broken(format!("{program} failed: {printed}")));
            }
        }
        Ok(())
    }

    /// Runs a program in the worktree. Returns whether it succeeded, and its output.
    fn run(&self, program: &str, args: &[&str]) -> Result<(bool, String), Error> {
        self.begins(&format!("{program} {}", args.join(" ")))?;
        let output = Command::new(program).args(args).output().map_err(broken)?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        for line in printed.lines() {
            self.terminal.shows(line)?;
        }
        Ok((output.status.success(), printed))
    }

    fn write(&self, file: &str, text: &str) -> Result<(), Error> {
        self.begins(&format!("write {file}"))?;
        std::fs::write(file, text).map_err(broken)
    }

    fn append(&self, file: &str, text: &str) -> Result<(), Error> {
        let before = std::fs::read_to_string(file).map_err(broken)?;
        self.write(file, &(before + text))
    }
}
