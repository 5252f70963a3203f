//! The import graph of the report on architecture: modules, edges, cycles, layers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Listing;

/// Which module imports which, folded from the imports between files.
///
/// Imports in Rust, TypeScript, JavaScript, Python, Go, Java, C and C++ are resolved to files of this
/// repository. Tests, generated and vendored files are left out, and so is a Rust `mod x;`: it says where a
/// module is, not that it is used. Java classes and Go files of one package are linked where one names what the
/// other declares. Imports that only macros make are not seen.
///
/// Edges between modules, cycles and layers come from imports that happen when code loads. Imports within a
/// function and those of types alone are listed with the files only. Cycles and layers are those of whole folders
/// (in Go and Java, packages) and single files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModuleGraph {
    /// Source files with their imports read.
    pub files: u64,
    /// Imports between two files of this repository, of those that happen when code loads.
    pub file_imports: u64,
    /// Pairs of files that only a lazy import or one of types alone links.
    #[serde(default)]
    pub later_imports: u64,
    /// Imports that look local but lead to no file.
    pub unresolved: u64,
    /// Modules, those that most others depend on first.
    pub modules: Listing<Module>,
    /// Which module imports which, the strongest first.
    pub edges: Listing<ModuleEdge>,
    /// Groups of folders, side by side in one folder, that depend on each other in a circle, the largest first. A file
    /// beside them, or the package that a folder's own files are, may be in it.
    pub cycles: Listing<Cycle>,
    /// The same for single files.
    pub file_cycles: Listing<Cycle>,
    /// Folders and single files by height: layer 0 imports nothing, each other layer only lower ones (a cycle shares one
    /// layer).
    pub layers: Listing<Layer>,
    /// Files that most others import.
    pub central_files: Listing<CentralFile>,
    /// All imports between files, sorted; what the rest is folded from.
    pub file_edges: Listing<FileEdge>,
}

/// What a module is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ModuleKind {
    /// All that is in a folder.
    Folder,
    /// One file, or files that differ in the ending alone.
    File,
    /// What is in a folder and in no other module.
    Rest,
}

/// One module: a folder, a heavy file, or the rest of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Module {
    /// Its path; of a file, without the ending.
    pub name: String,
    /// What it is.
    pub kind: ModuleKind,
    /// How many files.
    pub files: u64,
    /// How many modules import this one.
    pub imported_by: u64,
    /// How many modules this one imports.
    pub imports: u64,
}

/// A dependency between modules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModuleEdge {
    /// The module that imports.
    pub from: String,
    /// The module that is imported.
    pub to: String,
    /// Number of imports between files.
    pub imports: u64,
}

/// Things that depend on each other in a circle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cycle {
    /// How many are in it.
    pub size: u64,
    /// The members, at most thirty.
    pub members: Vec<String>,
    /// One shortest way round, first and last the same.
    pub example: Vec<String>,
}

/// Folders and files of the same height.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Layer {
    /// Counted from the bottom: 0 depends on nothing here.
    pub layer: u64,
    /// Their paths, that of a file without the ending unless it stands for its folder.
    pub modules: Vec<String>,
}

/// A file that many others import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CentralFile {
    /// Path from the top of the repository.
    pub path: String,
    /// How many files import it.
    pub imported_by: u64,
}

/// One file imports another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileEdge {
    /// The file that imports.
    pub from: String,
    /// The file that is imported.
    pub to: String,
    /// Set when the import does not happen at loading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<ImportTime>,
}

/// When an import happens that does not happen at loading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ImportTime {
    /// Within a function, or `import()`.
    Lazy,
    /// Never: `TYPE_CHECKING`, `import type`, stubs.
    Type,
}
