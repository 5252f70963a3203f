//! The coding server as a whole.

use mcp_kit::{Definition, Prompt};
use shared::model::InstanceKind;

use crate::{resources, tools};

/// Returns what this server offers.
pub fn definition() -> Definition {
    Definition {
        kind: InstanceKind::Coding,
        version: env!("CARGO_PKG_VERSION"),
        title: "Claude Codex: coding",
        instructions: include_str!("instructions.md"),
        tools: tools::all(),
        resources: resources::all(),
        prompts: vec![Prompt {
            name: "code",
            title: "Work on a task",
            description: "Instructions for a coding agent, with its task",
            argument: ("task", "What is to be done"),
            text: include_str!("prompt.md"),
        }],
    }
}
