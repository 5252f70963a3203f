//! The definition of the review server: tools, resources, prompt, instructions.

use mcp_kit::{Definition, Prompt};
use shared::model::InstanceKind;

use crate::{resources, tools};

/// Returns the definition of this server.
pub fn definition() -> Definition {
    Definition {
        kind: InstanceKind::Review,
        version: env!("CARGO_PKG_VERSION"),
        title: "Claude Codex: review",
        instructions: include_str!("instructions.md"),
        tools: tools::all(),
        resources: resources::all(),
        prompts: vec![Prompt {
            name: "review",
            title: "Review a branch",
            description: "Instructions for a review agent, with the change to review",
            argument: ("subject", "The change to review"),
            text: include_str!("prompt.md"),
        }],
    }
}
