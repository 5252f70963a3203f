//! The report of the scope `codebase`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use model::counted;

use super::headline::grouped;
use super::history::HistoryReport;
use super::{Cut, Incomplete, Listing, Report};
use crate::Depth;

/// What the code of a repository is made of and where its risks are.
///
/// Files that git ignores are not counted, nested repositories (submodules) not entered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CodebaseReport {
    /// How thorough this analysis was.
    pub depth: Depth,
    /// All text files of a known language that people of this repository write: neither generated nor vendored.
    pub totals: Size,
    /// The same by language, the largest first.
    pub languages: Listing<LanguageSize>,
    /// The same by top-level folder (`.` for files at the top), the largest first.
    pub folders: Listing<FolderSize>,
    /// Test code against production code; programming languages only.
    pub tests: TestShare,
    /// The files with most code lines, not counting data and prose.
    pub largest_files: Listing<FileSize>,
    /// Files that programs write: lock files, minified scripts, files with a mark such as `@generated`.
    pub generated: SetApart,
    /// Files that people elsewhere write: in `vendor`, `node_modules` and the like, by `linguist-vendored`, in folders of
    /// `deps` with a licence of their own; from medium depth on also trees under a foreign licence that one commit brought.
    pub vendored: SetApart,
    /// What was seen but not counted.
    pub skipped: Skipped,
    /// Who changed what, from the git history. From medium depth on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<HistoryReport>,
    /// TODO, FIXME, HACK and XXX in comments. From medium depth on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub markers: Option<MarkersReport>,
    /// Functions measured one by one. Deep only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complexity: Option<ComplexityReport>,
    /// Code that occurs more than once. Deep only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplication: Option<DuplicationReport>,
    /// Parts that are missing or cut short, and why. Empty when everything was done.
    #[serde(default, skip_serializing_if = "Listing::has_nothing")]
    pub incomplete: Listing<Incomplete>,
}

/// Lines by what they hold. A line with code and a comment is code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lines {
    /// Lines with code.
    pub code: u64,
    /// Comments; for prose such as Markdown all lines that are not blank.
    pub comment: u64,
    /// Lines with nothing.
    pub blank: u64,
}

/// Number of files and their lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Size {
    /// How many files.
    pub files: u64,
    /// Their lines.
    pub lines: Lines,
}

/// The size of one language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LanguageSize {
    /// Name of the language.
    pub language: String,
    /// Whether it is for programs or markup, not for data or prose.
    #[serde(default)]
    pub is_code: bool,
    #[serde(flatten)]
    pub size: Size,
}

/// The size of one top-level folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FolderSize {
    /// Path from the top of the repository.
    pub folder: String,
    #[serde(flatten)]
    pub size: Size,
    /// Code lines of tests among them.
    pub test_code: u64,
    /// The language with most code lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub main_language: Option<String>,
}

/// Test code against production code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestShare {
    /// Files that are tests as a whole, by their path (in Rust, where the name alone says it, also by what is in them).
    pub test_files: u64,
    /// Files that are neither tests nor examples nor documentation.
    pub production_files: u64,
    /// Code lines in test files and in `#[cfg(test)]` items.
    pub test_code: u64,
    /// Code lines of those files, without such items.
    pub production_code: u64,
    /// Lines of test code for each line of production code.
    pub ratio: f64,
}

/// One large file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileSize {
    /// Path from the top of the repository.
    pub path: String,
    /// Name of the language.
    pub language: String,
    /// Code lines.
    pub code: u64,
    /// All lines.
    pub lines: u64,
}

/// Files kept apart from the code that people of this repository write.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetApart {
    #[serde(flatten)]
    pub size: Size,
    /// Where they are: folders with the most lines first.
    pub places: Listing<Place>,
}

/// A folder and how many such files it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// Path from the top of the repository.
    pub folder: String,
    /// How many files.
    pub files: u64,
    /// How many lines.
    pub lines: u64,
}

/// What was seen but not counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Skipped {
    /// Images and files that hold no text.
    pub binary: u64,
    /// Files above 16 MiB.
    pub huge: u64,
    /// Files of no known language.
    pub unknown: u64,
    /// Files and folders that could not be read.
    pub unreadable: u64,
    /// Symbolic links, which are never followed.
    pub symlinks: u64,
    /// Repositories inside this one, submodules among them; not entered.
    pub nested_repositories: Listing<String>,
}

/// Work that comments leave to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarkersReport {
    /// How many TODOs.
    pub todo: u64,
    /// How many FIXMEs.
    pub fixme: u64,
    /// How many HACKs.
    pub hack: u64,
    /// How many XXXs.
    pub xxx: u64,
    /// FIXME, HACK and XXX before TODO; within each the oldest first.
    pub list: Listing<Marker>,
}

/// The word that marks work left to do.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum MarkerKind {
    Fixme,
    Hack,
    Xxx,
    Todo,
}

/// One marker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Marker {
    /// The word.
    pub kind: MarkerKind,
    /// Path from the top of the repository.
    pub path: String,
    /// Line, counted from 1.
    pub line: u64,
    /// The text as written.
    pub text: String,
    /// How old the line is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age: Option<Age>,
    /// How many other places have the same text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more_places: Option<u64>,
}

/// How old a line is.
///
/// `git blame` tells it exactly but costs much, so only a bounded number of files is asked (those with most
/// markers first). For the others the last change of the file is a bound: the line is at least that old.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Age {
    /// Age in days.
    pub days: u64,
    /// What the age rests on.
    pub basis: AgeBasis,
}

/// How an age is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AgeBasis {
    /// The commit that last touched the line, by `git blame`.
    Exact,
    /// The file has not changed since, so the line is at least this old.
    AtLeast,
    /// The line is not committed yet.
    Uncommitted,
}

/// Functions measured one by one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComplexityReport {
    /// Functions with a body, in Rust, TypeScript, JavaScript, Python, Go, Java, C and C++; tests left out.
    pub functions: u64,
    /// Files that were parsed.
    pub files: u64,
    /// How many functions are how complex (cyclomatic: 1 + branches).
    pub distribution: Vec<ComplexityBand>,
    /// Lines of the function in the middle.
    pub median_lines: u64,
    /// The ten percent longest functions have at least so many lines.
    pub long_lines: u64,
    /// The most complex functions first.
    pub top: Listing<FunctionMeasure>,
}

/// Functions of a range of complexity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComplexityBand {
    /// Least complexity in this band.
    pub from: u64,
    /// The last complexity of the band; none for the highest band.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
    /// How many functions.
    pub functions: u64,
}

/// One function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FunctionMeasure {
    /// Path from the top of the repository.
    pub path: String,
    /// Line, counted from 1.
    pub line: u64,
    /// Its name.
    pub name: String,
    /// 1 + the number of branches, loops, match or case arms beyond the first, and short-circuit operators.
    pub cyclomatic: u64,
    /// How many lines.
    pub lines: u64,
    /// Deepest nesting of branches and loops.
    pub nesting: u64,
}

/// Code that occurs more than once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuplicationReport {
    /// Code lines that occur elsewhere too, each counted once for each place; tests left out.
    pub duplicated_lines: u64,
    /// Share of the code lines that were compared.
    pub percent: f64,
    /// The largest copies first. Lines are compared without white space and comments; eight or more in a row count.
    pub clones: Listing<CodeClone>,
}

/// A stretch of code and its copies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CodeClone {
    /// Code lines of one copy.
    pub lines: u64,
    /// Where it occurs, at most five places.
    pub places: Vec<CloneSpot>,
    /// In how many places it occurs.
    pub occurrences: u64,
}

/// One place of a copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CloneSpot {
    /// Path from the top of the repository.
    pub path: String,
    /// Its first line.
    pub first_line: u64,
    /// Its last line.
    pub last_line: u64,
}

/// The share of the code from which a language is worth a mention: one part in so many.
const MOSTLY: u64 = 10;

impl Report for CodebaseReport {
    fn headline(&self) -> String {
        let in_code = || self.languages.iter().filter(|entry| entry.is_code);
        let code: u64 = in_code().map(|entry| entry.size.lines.code).sum();
        let mut parts = vec![format!(
            "{} files, {} lines of code{}",
            grouped(self.totals.files),
            grouped(code),
            if code < self.totals.lines.code {
                " without data files"
            } else {
                ""
            }
        )];
        let languages: Vec<&str> = in_code()
            .filter(|entry| entry.size.lines.code * MOSTLY > code)
            .take(3)
            .map(|entry| entry.language.as_str())
            .collect();
        if !languages.is_empty() {
            parts.push(format!("mostly {}", languages.join(", ")));
        }
        parts.push(format!(
            "{:.2} test lines per production line",
            self.tests.ratio
        ));
        if let Some(history) = &self.history {
            parts.push(history.extent());
            if let Some(hotspot) = history.hotspots.items.first() {
                parts.push(format!("hottest file {}", hotspot.path));
            }
        }
        if let Some(markers) = &self.markers {
            parts.push(counted(
                markers.todo + markers.fixme + markers.hack + markers.xxx,
                "marker of open work",
                "markers of open work",
            ));
        }
        if let Some(function) = self
            .complexity
            .as_ref()
            .and_then(|complexity| complexity.top.items.first())
        {
            parts.push(format!(
                "most complex function {} ({})",
                function.name, function.cyclomatic
            ));
        }
        if !self.incomplete.is_empty() {
            parts.push(format!("{} parts incomplete", self.incomplete.total()));
        }
        parts.join("; ")
    }

    fn incomplete(&mut self) -> &mut Listing<Incomplete> {
        &mut self.incomplete
    }

    fn lists(&mut self) -> Vec<(&mut dyn Cut, u32)> {
        let mut lists: Vec<(&mut dyn Cut, u32)> = vec![
            (&mut self.incomplete, 3),
            (&mut self.languages, 2),
            (&mut self.folders, 3),
            (&mut self.largest_files, 2),
            (&mut self.generated.places, 1),
            (&mut self.vendored.places, 1),
            (&mut self.skipped.nested_repositories, 1),
        ];
        if let Some(history) = &mut self.history {
            lists.push((&mut history.hotspots, 5));
            lists.push((&mut history.test_hotspots, 1));
            lists.push((&mut history.owners, 3));
        }
        if let Some(markers) = &mut self.markers {
            lists.push((&mut markers.list, 4));
        }
        if let Some(complexity) = &mut self.complexity {
            lists.push((&mut complexity.top, 5));
        }
        if let Some(duplication) = &mut self.duplication {
            lists.push((&mut duplication.clones, 3));
        }
        lists
    }
}
