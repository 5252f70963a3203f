//! Compares the line counts with those of `tokei` on a real tree: the sources of this package's dependencies.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::scan::{Reading, scan};
use crate::{Control, Depth};

/// Languages that the two must agree on, if the tree has enough of them to prove something.
const MAJOR: [&str; 11] = [
    "C",
    "C Header",
    "C++",
    "Go",
    "JSON",
    "Java",
    "JavaScript",
    "Python",
    "Rust",
    "TOML",
    "TypeScript",
];
const ENOUGH: u64 = 1_000;

/// As many bytes of each language are compared: enough to be sure, few enough to be quick.
const SAMPLE: u64 = 1_000_000;

/// No package may decide the outcome alone: a comparison is worth as much as its variety.
const OF_ONE_PACKAGE: u64 = 100_000;

#[derive(Debug, Default)]
struct Both {
    files: u64,
    bytes: u64,
    of_package: u64,
    ours: [u64; 3],
    theirs: [u64; 3],
}

/// Asks cargo where the sources of the dependencies are.
fn dependencies() -> Vec<PathBuf> {
    let version = Command::new(env!("CARGO")).arg("-vV").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap();
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--offline",
            "--filter-platform",
            host,
            "--manifest-path",
        ])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|package| package["source"].is_string())
        .map(|package| {
            Path::new(package["manifest_path"].as_str().unwrap())
                .parent()
                .unwrap()
                .to_owned()
        })
        .collect()
}

#[test]
fn line_counts_agree_within_one_percent() {
    let config = tokei::Config::default();
    let mut languages: BTreeMap<String, Both> = BTreeMap::new();
    // Every fourth has enough of everything.
    for root in dependencies().into_iter().step_by(4) {
        let control = Control::for_depth(Depth::Deep);
        for both in languages.values_mut() {
            both.of_package = 0;
        }
        let tree = scan(&root, Reading::Lines, &control, (0.0, 1.0)).unwrap();
        for file in &tree.files {
            let Some(language) = file.language() else {
                continue;
            };
            let both = languages.entry(language.name().to_owned()).or_default();
            if !MAJOR.contains(&language.name())
                || both.bytes + file.size > SAMPLE
                || both.of_package + file.size > OF_ONE_PACKAGE
            {
                continue;
            }
            // Regular expressions full of quotes, which tokei takes for strings.
            if file.path == "grammar.js" {
                continue;
            }
            let path = file.location(&root);
            let Some(kind) = tokei::LanguageType::from_path(&path, &config) else {
                continue;
            };
            if kind.name() != language.name() {
                continue;
            }
            let Ok(report) = kind.parse(path, &config) else {
                continue;
            };
            // Markdown in doc comments is comment to us; tokei counts it as a language of its own.
            let embedded: usize = report
                .stats
                .blobs
                .values()
                .map(|blob| blob.summarise().lines())
                .sum();
            both.files += 1;
            both.bytes += file.size;
            both.of_package += file.size;
            let theirs = [
                report.stats.code,
                report.stats.comments + embedded,
                report.stats.blanks,
            ];
            let ours = [file.lines.code, file.lines.comment, file.lines.blank];
            for kind in 0..3 {
                both.ours[kind] += ours[kind];
                both.theirs[kind] += u64::try_from(theirs[kind]).unwrap();
            }
        }
    }
    let mut wrong = Vec::new();
    for (language, both) in &languages {
        let total: u64 = both.theirs.iter().sum();
        let far = |kind: usize| both.ours[kind].abs_diff(both.theirs[kind]) * 100 > total;
        if total >= ENOUGH && (0..3).any(far) {
            wrong.push(format!("{language}: {both:?}"));
        }
    }
    assert!(
        languages["Rust"].files > 50,
        "the comparison needs a real tree"
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
}
