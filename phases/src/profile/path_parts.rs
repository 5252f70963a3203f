//! Path parts: folders, stem, ending and language of a file, as the rules for names see it.

use super::language::Language;

/// Endings that are production code unless something makes them tests.
const SOURCES: [&str; 94] = [
    "asm", "astro", "axaml", "bash", "c", "cc", "cjs", "clj", "cljc", "cljs", "cpp", "cr", "cs",
    "cshtml", "css", "cts", "cu", "cxx", "d", "dart", "eex", "ejs", "el", "elm", "erb", "erl",
    "ex", "exs", "fish", "fs", "fsi", "fsx", "glsl", "go", "gql", "graphql", "groovy", "h", "haml",
    "hbs", "heex", "hh", "hpp", "hrl", "hs", "html", "hxx", "inl", "ipynb", "java", "jl", "js",
    "jsx", "kt", "kts", "leex", "less", "lua", "m", "mjs", "ml", "mli", "mm", "mts", "nim", "php",
    "phtml", "pl", "pm", "proto", "ps1", "pug", "py", "pyi", "pyx", "r", "rb", "rs", "s", "sass",
    "scala", "scss", "sh", "slim", "sql", "svelte", "swift", "ts", "tsx", "twig", "vb", "vue",
    "xaml", "zig",
];

pub(super) fn is_source(ending: &str) -> bool {
    SOURCES.contains(&ending)
}

/// A path in parts, relative to the worktree.
pub(super) struct Name<'p> {
    /// The folders, the outermost first.
    pub(super) folders: Vec<&'p str>,
    pub(super) file: &'p str,
    /// The file's name without its ending.
    pub(super) stem: &'p str,
    /// In lower case.
    pub(super) ending: String,
    pub(super) language: Language,
}

impl<'p> Name<'p> {
    pub(super) fn of(path: &'p str, project: Language) -> Self {
        let mut folders: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let file = folders.pop().unwrap_or_default();
        let (stem, ending) = match file.rsplit_once('.') {
            Some((stem, ending)) if !stem.is_empty() => (stem, ending.to_ascii_lowercase()),
            _ => (file, String::new()),
        };
        let language = Language::of_ending(&ending).unwrap_or(project);
        Self {
            folders,
            file,
            stem,
            ending,
            language,
        }
    }

    /// Returns whether some folder on the way has one of these names.
    pub(super) fn is_below(&self, names: &[&str]) -> bool {
        self.folders.iter().any(|folder| names.contains(folder))
    }

    /// Returns whether the outermost folder has one of these names.
    pub(super) fn begins_in(&self, names: &[&str]) -> bool {
        self.folders
            .first()
            .is_some_and(|first| names.contains(first))
    }
}
