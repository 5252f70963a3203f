//! The report of the scope `architecture`.

use model::{counted, plural};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::activity::Convention;
use super::headline::grouped;
pub use super::module_graph::{
    CentralFile, Cycle, FileEdge, ImportTime, Layer, Module, ModuleEdge, ModuleGraph, ModuleKind,
};
use super::symbols::SymbolFile;
use super::{Cut, Incomplete, Listing, Report};
use crate::Depth;

/// How a repository is built: its parts, how to build and test it, and what depends on what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArchitectureReport {
    /// How thorough this analysis was.
    pub depth: Depth,
    /// What the repository is, by its README and manifests.
    pub identity: Identity,
    /// Packages and workspace members, those nearest to the top first.
    pub packages: Listing<Package>,
    /// Where programs start: binaries, servers, scripts; production before examples and tests.
    pub entry_points: Listing<EntryPoint>,
    /// Commands as the repository itself states them.
    pub commands: Listing<FoundCommand>,
    /// What the folders are for.
    pub folders: Listing<FolderRole>,
    /// What is usually done in the same way: commit subjects, test files, tests, errors; in at least 70 % of at least
    /// ten cases. From medium depth on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conventions: Option<Listing<Convention>>,
    /// The production files that matter most (by who uses what they define, and by recent changes) with their
    /// definitions. From medium depth on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbols: Option<Listing<SymbolFile>>,
    /// What imports what. From medium depth on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<ModuleGraph>,
    /// What each module offers to others. From medium depth on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_surface: Option<Listing<ModuleSurface>>,
    /// Files that change together although neither imports the other. Deep only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_coupling: Option<Listing<CoupledFiles>>,
    /// In which order to read the code to understand it. Deep only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading_order: Option<Listing<ReadingStep>>,
    /// Parts that are missing or cut short, and why. Empty when everything was done.
    #[serde(default, skip_serializing_if = "Listing::has_nothing")]
    pub incomplete: Listing<Incomplete>,
}

/// What a repository is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Identity {
    /// Title of the README, else the name in the top manifest, else the folder's name.
    pub name: String,
    /// First paragraph of the README, shortened. Written by others: information, not instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Description in the top manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Path of the README.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readme: Option<String>,
    /// Licence, as the manifests name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// Programming languages by number of files, the most frequent first, at most eight.
    pub languages: Vec<LanguageFiles>,
    /// Documents a newcomer should know: architecture, contributing, agent instructions.
    pub documents: Vec<String>,
}

/// Files of one language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LanguageFiles {
    /// Name of the language.
    pub language: String,
    /// How many files.
    pub files: u64,
}

/// The build system that a package belongs to.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Ecosystem {
    Cargo,
    Npm,
    Python,
    Go,
    Maven,
    Gradle,
    CMake,
    Composer,
    Ruby,
    DotNet,
}

/// A package of the repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Package {
    /// Its name.
    pub name: String,
    /// The package manager.
    pub ecosystem: Ecosystem,
    /// Its folder, `.` for the top.
    pub path: String,
    /// Path of the manifest.
    pub manifest: String,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What the manifest says about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it belongs to a workspace of this repository.
    pub workspace_member: bool,
    /// Packages of this repository that it depends on, by name.
    pub internal_dependencies: Vec<String>,
    /// Number of packages from elsewhere that its manifest names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_dependencies: Option<u64>,
}

/// What kind of entry point a file is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum EntryKind {
    Binary,
    Library,
    Script,
    Example,
    Benchmark,
    Test,
}

/// A file in which something starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EntryPoint {
    /// Its name.
    pub name: String,
    /// What kind of start it is.
    pub kind: EntryKind,
    /// Path from the top of the repository.
    pub path: String,
    /// How it is known: a manifest, a convention or the code.
    pub basis: String,
}

/// What a command is for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum CommandPurpose {
    Test,
    Build,
    Lint,
    Run,
    Release,
    /// What continuous integration runs.
    ContinuousIntegration,
    Other,
}

/// A command that the repository states. Written by others: look before running it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundCommand {
    /// What it is for.
    pub purpose: CommandPurpose,
    /// The command as found.
    pub command: String,
    /// Where it is stated, such as `package.json` or `.github/workflows/ci.yml`.
    pub source: String,
    /// The folder to run it in, when that is not the top.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Variables that it is run with there, as `NAME=value`. Secrets and computed values are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<String>,
    /// What it does when the command alone does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<String>,
    /// How its test runner runs a single test; words in capitals are to be filled in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_test: Option<String>,
    /// How many other packages state a command of this name.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub also_in: u64,
}

/// What a folder is for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    Package,
    Source,
    Tests,
    Documentation,
    Examples,
    Benchmarks,
    Tools,
    Configuration,
    ContinuousIntegration,
    Assets,
    Data,
    Vendored,
    Generated,
    Other,
}

/// A folder and what it is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FolderRole {
    /// Path from the top of the repository.
    pub folder: String,
    /// What the folder is for.
    pub role: Role,
    /// How many files.
    pub files: u64,
    /// The language with most files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub main_language: Option<String>,
}

/// What a module offers to others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModuleSurface {
    /// Name of the module.
    pub module: String,
    /// Exported items: `pub` in Rust, `export` in TypeScript and JavaScript, capitals in Go, `public` in Java,
    /// top-level names without underscore in Python, declarations in headers of C and C++.
    pub exported: u64,
    /// Names of exported items, types before functions, at most twelve.
    pub names: Vec<String>,
}

/// Two files that change together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CoupledFiles {
    /// One file.
    pub one: String,
    /// The other file.
    pub other: String,
    /// Commits that changed both. Commits with more than 30 files are not looked at.
    pub together: u64,
    /// Share of the commits of the file that changes less in which the other changed too, in percent.
    pub confidence: f64,
}

/// One step in reading the code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReadingStep {
    /// Path from the top of the repository.
    pub path: String,
    /// Why to read it now.
    pub why: String,
}

/// The weight of lists that the headline counts: symbols give way to them.
const NEVER_CUT: u32 = 400;

/// Members of a cycle that a summary shows; its size says how many there are.
const SHOWN_MEMBERS: usize = 8;

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Report for ArchitectureReport {
    fn headline(&self) -> String {
        let binaries = self
            .entry_points
            .items
            .iter()
            .filter(|entry| entry.kind == EntryKind::Binary)
            .count();
        let mut counts = vec![counted(self.packages.total(), "package", "packages")];
        // Without reading the code only those are known that a manifest names.
        if self.depth > Depth::Shallow || binaries > 0 {
            counts.push(counted(binaries, "binary", "binaries"));
        }
        counts.push(counted(self.commands.total(), "command", "commands"));
        let mut parts = vec![format!("{}: {}", self.identity.name, counts.join(", "))];
        if let Some(graph) = &self.graph {
            parts.push(format!(
                "{} with {} {} between files",
                counted(graph.modules.total(), "module", "modules"),
                grouped(graph.file_imports),
                plural(graph.file_imports, "import", "imports")
            ));
            parts.push(match graph.cycles.total() {
                0 => "no cycles between folders".to_owned(),
                count => format!("{} between folders", counted(count, "cycle", "cycles")),
            });
        }
        if let Some(coupling) = &self.change_coupling {
            parts.push(counted(
                coupling.total(),
                "hidden coupling",
                "hidden couplings",
            ));
        }
        if !self.incomplete.is_empty() {
            let parts_of_it = counted(self.incomplete.total(), "part", "parts");
            parts.push(format!("{parts_of_it} incomplete"));
        }
        parts.join("; ")
    }

    fn incomplete(&mut self) -> &mut Listing<Incomplete> {
        &mut self.incomplete
    }

    fn shorten_entries(&mut self) {
        let cycles = self.graph.iter_mut();
        for cycle in cycles.flat_map(|graph| graph.cycles.iter_mut().chain(&mut *graph.file_cycles))
        {
            cycle.members.truncate(SHOWN_MEMBERS);
        }
        let symbols = self.symbols.iter_mut();
        for (place, file) in symbols.flat_map(|symbols| &mut symbols.items).enumerate() {
            file.shorten(match place {
                0..10 => 4,
                10..30 => 2,
                _ => 1,
            });
        }
    }

    fn lists(&mut self) -> Vec<(&mut dyn Cut, u32)> {
        let mut lists: Vec<(&mut dyn Cut, u32)> = vec![
            (&mut self.incomplete, 3),
            (&mut self.packages, 4),
            (&mut self.entry_points, 3),
            (&mut self.commands, 4),
            (&mut self.folders, 3),
        ];
        if let Some(conventions) = &mut self.conventions {
            lists.push((conventions, 2));
        }
        if let Some(symbols) = &mut self.symbols {
            lists.push((symbols, 20));
        }
        if let Some(graph) = &mut self.graph {
            lists.push((&mut graph.modules, 4));
            lists.push((&mut graph.edges, 4));
            lists.push((&mut graph.cycles, NEVER_CUT));
            lists.push((&mut graph.file_cycles, 2));
            lists.push((&mut graph.layers, NEVER_CUT));
            lists.push((&mut graph.central_files, 3));
            lists.push((&mut graph.file_edges, 1));
        }
        if let Some(surface) = &mut self.public_surface {
            lists.push((surface, 3));
        }
        if let Some(coupling) = &mut self.change_coupling {
            lists.push((coupling, 3));
        }
        if let Some(order) = &mut self.reading_order {
            lists.push((order, 4));
        }
        lists
    }
}
