//! The definition of the planning server.

use mcp_kit::{Definition, Prompt};
use shared::model::InstanceKind;

use crate::{resources, tools};

/// Returns what this server offers.
pub fn definition() -> Definition {
    Definition {
        kind: InstanceKind::Planning,
        version: env!("CARGO_PKG_VERSION"),
        title: "Claude Codex: planning",
        instructions: include_str!("instructions.md"),
        tools: tools::all(),
        resources: resources::all(),
        prompts: vec![Prompt {
            name: "plan",
            title: "Plan work",
            description: "Instructions for a planning agent, with its goal",
            argument: ("goal", "What is to be achieved"),
            text: include_str!("prompt.md"),
        }],
    }
}
