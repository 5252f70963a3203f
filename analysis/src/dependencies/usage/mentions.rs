//! Tools are run, not imported: scripts, settings and pipelines name them.

use std::collections::HashMap;
use std::rc::Rc;

use super::super::facts::ManifestFacts;
use crate::paths::{folder_of, name_of};
use crate::tree::file_list::FileList;

/// Largest file of settings that is searched, and how much is searched of one folder.
const FILE_LIMIT: u64 = 256 << 10;
const FOLDER_LIMIT: usize = 1 << 20;

/// Programs whose names differ from their packages.
const PROGRAMS: [(&str, &str); 14] = [
    ("typescript", "tsc"),
    ("@angular/cli", "ng"),
    ("@angular/compiler-cli", "ng"),
    ("@babel/cli", "babel"),
    ("@biomejs/biome", "biome"),
    ("@nestjs/cli", "nest"),
    ("@playwright/test", "playwright"),
    ("@swc/cli", "swc"),
    ("@vue/cli-service", "vue-cli-service"),
    ("npm-run-all", "run-s"),
    ("webpack-cli", "webpack"),
    ("react-scripts", "react-scripts"),
    ("pytest-cov", "--cov"),
    ("pytest-xdist", "-n"),
];

/// Beginnings that settings leave out: the plugin `import` is the package `eslint-plugin-import`.
const PREFIXES: [&str; 7] = [
    "eslint-plugin-",
    "eslint-config-",
    "@babel/plugin-",
    "@babel/preset-",
    "babel-plugin-",
    "prettier-plugin-",
    "stylelint-config-",
];

/// Folders beside a manifest in which scripts and settings lie.
const BESIDE: [&str; 6] = ["scripts", "bin", "config", ".storybook", "docs", "ci"];

/// The scripts and settings of a repository, read when they are first asked for.
pub(super) struct Mentions<'a> {
    listing: &'a FileList,
    files: HashMap<&'a str, Vec<&'a str>>,
    texts: HashMap<String, Rc<str>>,
}

impl<'a> Mentions<'a> {
    pub(super) fn of(listing: &'a FileList) -> Self {
        let mut files: HashMap<&str, Vec<&str>> = HashMap::new();
        for path in listing
            .files
            .iter()
            .filter(|path| names_tools(name_of(path)))
        {
            files.entry(folder_of(path)).or_default().push(path);
        }
        Self {
            listing,
            files,
            texts: HashMap::new(),
        }
    }

    /// Collects what lies around a manifest and at the top of the repository.
    pub(super) fn around(&mut self, manifest: &ManifestFacts) -> Nearby {
        let folder = manifest.folder();
        let mut folders = vec![
            folder.to_owned(),
            String::new(),
            ".github/workflows".to_owned(),
        ];
        folders.extend(BESIDE.map(|name| {
            format!("{folder}/{name}")
                .trim_start_matches('/')
                .to_owned()
        }));
        folders.sort_unstable();
        folders.dedup();
        let mut texts: Vec<Rc<str>> = folders.iter().map(|folder| self.text_of(folder)).collect();
        texts.push(manifest.mentions.as_str().into());
        Nearby { texts }
    }

    fn text_of(&mut self, folder: &str) -> Rc<str> {
        if let Some(text) = self.texts.get(folder) {
            return text.clone();
        }
        let mut text = String::new();
        for path in self.files.get(folder).into_iter().flatten() {
            if text.len() < FOLDER_LIMIT {
                text.push('\n');
                text.push_str(&self.listing.text(path, FILE_LIMIT).unwrap_or_default());
            }
        }
        let text: Rc<str> = text.into();
        self.texts.insert(folder.to_owned(), text.clone());
        text
    }
}

/// Text in which the tools of one manifest may be named.
pub(super) struct Nearby {
    texts: Vec<Rc<str>>,
}

impl Nearby {
    /// Tells whether a package is named, by its own name, its program or its short name.
    pub(super) fn name(&self, package: &str) -> bool {
        let program = PROGRAMS
            .iter()
            .find(|(name, _)| *name == package)
            .map(|(_, program)| *program);
        let short = PREFIXES
            .iter()
            .find_map(|prefix| package.strip_prefix(prefix));
        let last = package
            .strip_prefix('@')
            .and_then(|rest| rest.split_once('/'))
            .map(|(_, name)| name);
        let names = [Some(package), program, short, last];
        let mut names = names.into_iter().flatten();
        names.any(|name| self.texts.iter().any(|text| holds(text, name)))
    }
}

/// Tells whether a text holds a name as a word of its own.
fn holds(text: &str, name: &str) -> bool {
    let bytes = text.as_bytes();
    let is_part = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'-')
    };
    memchr::memmem::find_iter(bytes, name.as_bytes()).any(|at| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        !is_part(before) && !is_part(bytes.get(at + name.len()))
    })
}

/// Tells whether a file may name tools; manifests and lock files name everything.
fn names_tools(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let declares = lower.contains("lock")
        || lower == "package.json"
        || lower == "pyproject.toml"
        || lower == "pipfile"
        || lower == "setup.cfg"
        || lower.contains("requirements");
    let ending = lower.rsplit_once('.').map_or("", |(_, ending)| ending);
    let settings = lower.starts_with('.')
        || lower.contains("config")
        || lower.contains("rc.")
        || lower.contains("file");
    !declares
        && (settings
            || matches!(
                ending,
                "json" | "yml" | "yaml" | "toml" | "cfg" | "ini" | "sh" | "mk" | "html"
            ))
}
