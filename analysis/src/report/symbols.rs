//! Symbols in reports: definitions with file and line.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shorten;

/// What a symbol is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum SymbolKind {
    Type,
    Function,
    Macro,
    Constant,
    /// A path that a server answers.
    Route,
    /// A word of a command line.
    Command,
    /// A table of a database.
    Table,
}

impl SymbolKind {
    /// Returns whether it is offered to those outside the code, so that no code need refer to it.
    pub(crate) fn is_offer(self) -> bool {
        matches!(self, Self::Route | Self::Command | Self::Table)
    }
}

/// One definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Symbol {
    /// Its name; of a route its method, if the code says it, and path.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// The line of the definition.
    pub line: u32,
}

/// The definitions of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SymbolFile {
    /// Path from the top of the repository.
    pub path: String,
    /// Its definitions, those that others use most first.
    pub symbols: Vec<Symbol>,
    /// How many of its definitions are left out here.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl SymbolFile {
    /// Keeps the first definitions.
    pub(crate) fn shorten(&mut self, most: usize) {
        self.omitted += shorten(&mut self.symbols, most);
    }
}
