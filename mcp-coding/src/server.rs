//! The definition of the coding server: tools, resources, prompt, instructions.

use mcp_kit::{Definition, Prompt};
use shared::model::InstanceKind;

use crate::{resources, tools};

/// Returns the definition of this server.
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
            argument: ("task", "The work to do"),
            text: include_str!("prompt.md"),
        }],
    }
}
