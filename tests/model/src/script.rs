//! Rules: which request gets which answers.

use std::collections::HashMap;
use std::time::Duration;

use regex::Regex;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::request::{answered_calls, last_user_text, system_text};

/// When to answer, and with what. Every condition that is given must hold; none given: always.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rule {
    /// The last user message or tool result contains this.
    pub contains: Option<String>,
    /// The last user message or tool result matches this.
    #[serde(with = "pattern")]
    pub matches: Option<Regex>,
    /// The system prompt contains this (tells roles apart).
    pub system: Option<String>,
    /// How often the rule fires; absent: without end.
    pub times: Option<u32>,
    /// Given one after the other: each next one when the tools of the one before have answered.
    pub answers: Vec<Answer>,
}

impl Rule {
    /// Makes a rule for messages that contain the text.
    pub fn when(text: &str, answers: Vec<Answer>) -> Self {
        Self {
            contains: Some(text.to_owned()),
            answers,
            ..Self::default()
        }
    }

    /// Limits the rule to one firing.
    #[must_use]
    pub fn once(mut self) -> Self {
        self.times = Some(1);
        self
    }

    fn fits(&self, last: &str, system: &str) -> bool {
        self.times != Some(0)
            && !self.answers.is_empty()
            && self
                .contains
                .as_ref()
                .is_none_or(|text| last.contains(text))
            && self
                .matches
                .as_ref()
                .is_none_or(|regex| regex.is_match(last))
            && self
                .system
                .as_ref()
                .is_none_or(|text| system.contains(text))
    }
}

/// One assistant message, or a failure in its place.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Answer {
    pub blocks: Vec<Block>,
    /// Pause before every piece of the stream.
    pub delay_ms: u64,
    pub failure: Option<Failure>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Block {
    Text(String),
    Tool { name: String, input: Value },
}

/// An HTTP error, such as 529 `overloaded_error`.
#[derive(Debug, Clone, Deserialize)]
pub struct Failure {
    pub status: u16,
    pub kind: String,
    pub message: String,
}

impl Answer {
    pub fn text(text: &str) -> Self {
        Self {
            blocks: vec![Block::Text(text.to_owned())],
            ..Self::default()
        }
    }

    pub fn tool(name: &str, input: Value) -> Self {
        Self {
            blocks: vec![Block::Tool {
                name: name.to_owned(),
                input,
            }],
            ..Self::default()
        }
    }

    /// Makes a call of Claude Code's shell tool.
    pub fn bash(command: &str) -> Self {
        let input = json!({ "command": command, "description": "d" });
        Self::tool("Bash", input)
    }

    /// Sets the pause before every piece of the stream.
    #[must_use]
    pub fn slow(mut self, delay_ms: u64) -> Self {
        self.delay_ms = delay_ms;
        self
    }

    pub fn delay(&self) -> Duration {
        Duration::from_millis(self.delay_ms)
    }

    pub fn calls_tools(&self) -> bool {
        self.blocks
            .iter()
            .any(|block| matches!(block, Block::Tool { .. }))
    }
}

/// An answer with its number, from which the ids of its calls are made.
pub struct Reply {
    pub answer: Answer,
    pub serial: u64,
}

impl Reply {
    /// Returns every block with the id that its call has.
    pub fn blocks(&self) -> impl Iterator<Item = (&Block, String)> {
        let serial = self.serial;
        self.answer
            .blocks
            .iter()
            .enumerate()
            .map(move |(index, block)| (block, format!("toolu_{serial}_{index}")))
    }
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self { answer, serial: 0 }
    }
}

/// The rules, and who is in the middle of one.
#[derive(Debug, Default)]
pub struct Script {
    rules: Vec<Rule>,
    /// What follows once a call has answered. By call id, so that agents don't mix.
    follow_ups: HashMap<String, Vec<Answer>>,
    serial: u64,
}

impl Script {
    pub fn new(rules: Vec<Rule>) -> Self {
        Self {
            rules,
            ..Self::default()
        }
    }

    pub fn add(&mut self, rule: Rule) {
        self.rules.push(rule);
    }

    /// Picks the answer: what follows an answered call, else the first rule that fits, else "Done.".
    pub fn answer(&mut self, request: &Value) -> Reply {
        self.serial += 1;
        let mut answers = self
            .follow_up(request)
            .unwrap_or_else(|| self.fire(request));
        let answer = if answers.is_empty() {
            Answer::text("Done.")
        } else {
            answers.remove(0)
        };
        let reply = Reply {
            answer,
            serial: self.serial,
        };
        if !answers.is_empty()
            && let Some((_, id)) = reply
                .blocks()
                .find(|(block, _)| matches!(block, Block::Tool { .. }))
        {
            self.follow_ups.insert(id, answers);
        }
        reply
    }

    fn follow_up(&mut self, request: &Value) -> Option<Vec<Answer>> {
        answered_calls(request)
            .into_iter()
            .find_map(|id| self.follow_ups.remove(id))
    }

    fn fire(&mut self, request: &Value) -> Vec<Answer> {
        let (last, system) = (last_user_text(request), system_text(request));
        let Some(rule) = self.rules.iter_mut().find(|rule| rule.fits(&last, &system)) else {
            return Vec::new();
        };
        rule.times = rule.times.map(|times| times - 1);
        rule.answers.clone()
    }
}

/// A regular expression as a JSON string.
mod pattern {
    use regex::Regex;
    use serde::{Deserialize, Deserializer, de::Error};

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Regex>, D::Error> {
        Option::<String>::deserialize(from)?
            .map(|text| Regex::new(&text))
            .transpose()
            .map_err(D::Error::custom)
    }
}
