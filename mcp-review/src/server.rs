//! The review server as a whole.

use mcp_kit::{Definition, Prompt};
use shared::model::InstanceKind;

use crate::{resources, tools};

/// Returns what this server offers.
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
            description: "Instructions for a review agent, with what it is to judge",
            argument: ("subject", "What is to be reviewed"),
            text: include_str!("prompt.md"),
        }],
    }
}
