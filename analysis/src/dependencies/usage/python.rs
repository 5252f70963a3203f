//! Distributions in Python code.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use super::super::pypi::normalised;
use super::Import;
use super::masking::{Style, code_only};
use super::rust::words;
use crate::report::dependencies::Confidence;

static IMPORT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?m)^[ \t]*(?:from[ \t]+([A-Za-z_][\w.]*)[ \t]+import\b|import[ \t]+([A-Za-z_][^\n;]*))",
    )
    .ok()
});

/// Distributions whose modules have another name.
const KNOWN: [(&str, &[&str]); 46] = [
    ("attrs", &["attr", "attrs"]),
    ("beautifulsoup4", &["bs4"]),
    ("djangorestframework", &["rest_framework"]),
    ("dnspython", &["dns"]),
    ("gitpython", &["git"]),
    ("google-api-python-client", &["googleapiclient"]),
    ("google-auth", &["google.auth"]),
    ("grpcio", &["grpc"]),
    ("grpcio-tools", &["grpc_tools"]),
    ("ipython", &["IPython"]),
    ("jinja2", &["jinja2"]),
    ("markdown-it-py", &["markdown_it"]),
    ("msgpack-python", &["msgpack"]),
    ("mysqlclient", &["MySQLdb"]),
    ("opencv-contrib-python", &["cv2"]),
    ("opencv-python", &["cv2"]),
    ("opencv-python-headless", &["cv2"]),
    ("paho-mqtt", &["paho"]),
    ("pillow", &["PIL"]),
    ("protobuf", &["google.protobuf"]),
    ("psycopg2-binary", &["psycopg2"]),
    ("py-cpuinfo", &["cpuinfo"]),
    ("pycryptodome", &["Crypto"]),
    ("pyjwt", &["jwt"]),
    ("pymupdf", &["fitz", "pymupdf"]),
    ("pynacl", &["nacl"]),
    ("pyopenssl", &["OpenSSL"]),
    ("pyqt5", &["PyQt5"]),
    ("pyqt6", &["PyQt6"]),
    ("pyserial", &["serial"]),
    ("pysocks", &["socks"]),
    ("python-dateutil", &["dateutil"]),
    ("python-docx", &["docx"]),
    ("python-dotenv", &["dotenv"]),
    ("python-jose", &["jose"]),
    ("python-levenshtein", &["Levenshtein"]),
    ("python-multipart", &["multipart", "python_multipart"]),
    ("python-slugify", &["slugify"]),
    ("pywin32", &["win32api", "win32con", "pythoncom"]),
    ("pyyaml", &["yaml"]),
    ("pyzmq", &["zmq"]),
    ("scikit-image", &["skimage"]),
    ("scikit-learn", &["sklearn"]),
    ("setuptools", &["setuptools", "pkg_resources"]),
    ("typing-extensions", &["typing_extensions"]),
    ("websocket-client", &["websocket"]),
];

/// Returns the modules that a distribution may hold.
pub(super) fn names_of(distribution: &str) -> Vec<(String, Confidence)> {
    let name = normalised(distribution);
    if let Some(modules) = known(&name) {
        return modules
            .iter()
            .map(|&module| (module.to_owned(), Confidence::High))
            .collect();
    }
    let module = name.replace('-', "_");
    let mut names = vec![(module.clone(), Confidence::High)];
    if name.contains('-') {
        // Parts of a namespace: google-cloud-storage is google.cloud.storage.
        names.push((name.replace('-', "."), Confidence::Medium));
    }
    let guesses = [
        module.strip_prefix("python_"),
        module.strip_suffix("_python"),
        module.strip_prefix("py"),
        module.strip_suffix("_py"),
        module.strip_prefix("django_"),
        module.strip_prefix("flask_"),
        module.strip_suffix("_binary"),
    ];
    names.extend(
        guesses
            .into_iter()
            .flatten()
            .filter(|guess| guess.len() > 1)
            .map(|guess| (guess.to_owned(), Confidence::Low)),
    );
    names
}

/// Tells whether the modules of a distribution are known for sure.
pub(super) fn is_known(distribution: &str) -> bool {
    known(&normalised(distribution)).is_some()
}

fn known(name: &str) -> Option<&'static [&'static str]> {
    let at = KNOWN
        .binary_search_by(|(known, _)| (*known).cmp(name))
        .ok()?;
    KNOWN.get(at).map(|(_, modules)| *modules)
}

/// Finds `import` and `from … import`; other mentions of a module are weak.
pub(super) fn imports(text: &str, known: &HashSet<String>) -> Vec<Import> {
    let code = code_only(text, Style::Python);
    let mut found: HashSet<String> = HashSet::new();
    for import in IMPORT.iter().flat_map(|regex| regex.captures_iter(&code)) {
        let (from, list) = (import.get(1), import.get(2));
        if let Some(module) = from {
            found.extend(module_of(module.as_str(), known));
            // `from google.cloud import storage` names the part after the word import.
            let rest = code[import.get(0).map_or(0, |whole| whole.end())..]
                .lines()
                .next()
                .unwrap_or_default();
            for name in rest
                .split(',')
                .filter_map(|name| name.split_whitespace().next())
            {
                let part = format!("{}.{}", module.as_str(), name.trim_matches(['(', ')']));
                found.extend(known.get(&part).cloned());
            }
        }
        for name in list.map_or("", |list| list.as_str()).split(',') {
            let module = name.split_whitespace().next().unwrap_or_default();
            found.extend(module_of(module, known));
        }
    }
    let weak: HashSet<&str> = words(text)
        .map(|(_, word)| word)
        .filter(|word| known.contains(*word) && !found.contains(*word))
        .collect();
    let weak: Vec<Import> = weak
        .into_iter()
        .map(|name| Import {
            name: name.to_owned(),
            weak: true,
        })
        .collect();
    let strong = found.into_iter().map(|name| Import { name, weak: false });
    strong.chain(weak).collect()
}

/// Returns the longest known module that holds the imported one, in the case it is written.
fn module_of(module: &str, known: &HashSet<String>) -> Option<String> {
    let mut module = module;
    loop {
        if known.contains(module) {
            return Some(module.to_owned());
        }
        let lower = module.to_lowercase();
        if known.contains(&lower) {
            return Some(lower);
        }
        module = &module[..module.rfind('.')?];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(KNOWN.is_sorted_by_key(|(name, _)| *name));
        assert_eq!(names_of("PyYAML"), [("yaml".to_owned(), Confidence::High)]);
    }

    #[test]
    fn every_way_to_import() {
        let text = "import os, yaml as y\nfrom google.cloud import storage\n  from bs4.element import Tag\nx = 'rest_framework'\n# import jwt\n";
        let known: HashSet<String> = [
            "yaml",
            "google.cloud.storage",
            "bs4",
            "rest_framework",
            "requests",
        ]
        .map(str::to_owned)
        .into();
        let mut found = imports(text, &known);
        found.sort();
        let names: Vec<(&str, bool)> = found
            .iter()
            .map(|import| (import.name.as_str(), import.weak))
            .collect();
        assert_eq!(
            names,
            [
                ("bs4", false),
                ("google.cloud.storage", false),
                ("rest_framework", true),
                ("yaml", false)
            ]
        );
    }
}
