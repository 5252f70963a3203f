//! Measures whether the reports name the files that the next commits touch, against most-churned and random files.
//!
//! `cargo bench -p analysis --bench recall -- REPOSITORY…`: local repositories with history; they are cloned, not
//! touched. Two questions to each: which share of the production files that 100 commits touched do the medium answers
//! of the commit before them name, all four scopes, in a fixed order (symbols, hotspots, then the rest as printed)?
//! And with a commit's subject as `query`, asked at its parent, which share of its production files comes first?

#![expect(clippy::expect_used, reason = "a bench stops at the first failure")]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a bench prints what it measured"
)]

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::process::Command;

use analysis::{
    Budget, DEFAULT_TOKENS, Depth, Focus, IssuesInput, PackageCaches, architecture, codebase,
    dependencies, focus, issues, summarise,
};
use model::{OpenWork, Timestamp};
use serde_json::Value;

const COMMITS: usize = 100;
const NAMED: [usize; 3] = [20, 50, 100];
const FIRST: [usize; 3] = [5, 10, 20];

/// Rounds of drawing files at random.
const DRAWS: u64 = 50;

/// A commit that touches more says in its subject no more about each file than that.
const MAX_TOUCHED: usize = 20;

const ENDINGS: &str = "rs py go java js jsx ts tsx mjs c h cc cpp hpp rb php kt swift cs scala vue svelte sh lua ex dart m";

fn main() {
    let repositories: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    if repositories.is_empty() {
        eprintln!("recall: name one or more local repositories with history");
        return;
    }
    println!(
        "| repository | files that come first | at 20 | at 50 | at 100 |\n|---|---|---|---|---|"
    );
    let mut queries = Vec::new();
    for repository in &repositories {
        let clone = tempfile::tempdir().expect("a folder");
        let root = clone.path();
        git(
            root,
            &["clone", "-q", "--shared", "--no-checkout", repository, "."],
        );
        let path = Path::new(repository);
        let name = path
            .components()
            .rev()
            .map(|part| part.as_os_str().to_string_lossy().into_owned())
            .find(|part| !matches!(part.as_str(), "repo" | ".git" | "."))
            .unwrap_or_default();
        untargeted(root, &name);
        queries.extend(targeted(root, &name));
    }
    println!(
        "\n| repository | commits | files that come first | at 5 | at 10 | at 20 |\n|---|---|---|---|---|---|"
    );
    println!("{}", queries.join("\n"));
}

/// Asks for everything at an older commit.
fn untargeted(root: &Path, name: &str) {
    let head = git(root, &["rev-parse", "HEAD"]);
    let base = git(root, &["rev-parse", &format!("HEAD~{COMMITS}")]);
    checkout(root, &base);
    let present = production(root);
    let range = format!("{base}..{head}");
    let touched: HashSet<String> = touches(root, &range, usize::MAX)
        .into_iter()
        .filter(|path| present.contains_key(path))
        .collect();
    let row = |what: &str, shares: [f64; 3]| {
        let [one, two, three] = shares.map(|share| format!("{:.0} %", share * 100.0));
        println!("| {name} | {what} | {one} | {two} | {three} |");
    };
    let named = named_files(root, &present);
    row(
        "medium answers",
        NAMED.map(|most| recall(&named, &touched, most)),
    );
    for (what, commits) in [
        ("most changed, all commits", usize::MAX),
        ("most changed, last 500 commits", 500),
    ] {
        let churned = churned(root, &base, commits, &present);
        row(what, NAMED.map(|most| recall(&churned, &touched, most)));
    }
    row(
        "random by size",
        NAMED.map(|most| random(&present, &touched, most)),
    );
    eprintln!(
        "{name}: {} production files, {} touched, {} named",
        present.len(),
        touched.len(),
        named.len()
    );
}

/// Asks with the subject of each commit, at its parent.
fn targeted(root: &Path, name: &str) -> Vec<String> {
    let newest = "-n100";
    let commits = git(
        root,
        &[
            "log",
            "--no-merges",
            newest,
            "--format=%H%x09%s",
            "origin/HEAD",
            "--",
        ],
    );
    let mut sums: BTreeMap<usize, ([f64; 3], &str)> = BTreeMap::new();
    let mut asked = 0.0;
    for line in commits.lines() {
        let Some((commit, subject)) = line.split_once('\t') else {
            continue;
        };
        let parent = format!("{commit}^");
        let all = touches(root, commit, 1);
        if all.is_empty() || !has(root, &parent) {
            continue;
        }
        checkout(root, &parent);
        let present = production(root);
        let touched: HashSet<String> = all
            .into_iter()
            .filter(|path| present.contains_key(path))
            .collect();
        let Ok(Some(question)) = Focus::new(None, Some(subject.get(..400).unwrap_or(subject)))
        else {
            continue;
        };
        if touched.is_empty() || touched.len() > MAX_TOUCHED {
            continue;
        }
        let budget = Budget::for_depth(Depth::Medium);
        let report = focus(root, &question, Depth::Medium, &budget).expect("a report");
        let files: Vec<String> = report
            .files
            .items
            .into_iter()
            .map(|file| file.path)
            .collect();
        let churned = churned(root, "HEAD", 500, &present);
        let mut add = |number, what, shares: [f64; 3]| {
            let (sum, _) = sums.entry(number).or_insert(([0.0; 3], what));
            for (sum, share) in sum.iter_mut().zip(shares) {
                *sum += share;
            }
        };
        add(
            0,
            "query = subject",
            FIRST.map(|most| recall(&files, &touched, most)),
        );
        add(
            1,
            "most changed, last 500 commits",
            FIRST.map(|most| recall(&churned, &touched, most)),
        );
        add(
            2,
            "random by size",
            FIRST.map(|most| random(&present, &touched, most)),
        );
        asked += 1.0;
        if std::env::var_os("RECALL_MISSES").is_some() && recall(&files, &touched, 20) < 0.5 {
            eprintln!(
                "{subject}\n  touched {touched:?}\n  found {:?}",
                &files[..files.len().min(5)]
            );
        }
    }
    sums.into_values()
        .map(|(sum, what)| {
            let [one, two, three] = sum.map(|sum| format!("{:.0} %", sum * 100.0 / asked));
            format!("| {name} | {asked} | {what} | {one} | {two} | {three} |")
        })
        .collect()
}

/// Returns the production files that the medium answers name, as an agent reads them.
fn named_files(root: &Path, present: &HashMap<String, u64>) -> Vec<String> {
    let depth = Depth::Medium;
    let budget = || Budget::for_depth(depth);
    let value = |report: serde_json::Result<Value>| report.expect("JSON");
    let short = DEFAULT_TOKENS - 300;
    let built = architecture(root, depth, &budget()).expect("architecture");
    let code = codebase(root, depth, &budget()).expect("codebase");
    let input = IssuesInput {
        root: root.to_owned(),
        now: Timestamp::now(),
        work: OpenWork::default(),
    };
    let work = issues(&input, depth, &budget()).expect("issues");
    let needs =
        dependencies(root, depth, &PackageCaches::default(), &budget()).expect("dependencies");
    let built = value(serde_json::to_value(summarise(&built, short)));
    let code = value(serde_json::to_value(summarise(&code, short)));
    let work = value(serde_json::to_value(summarise(&work, short)));
    let needs = value(serde_json::to_value(summarise(&needs, short)));
    let mut named = Vec::new();
    let first = [&built["symbols"], &code["history"]["hotspots"]];
    for report in first.into_iter().chain([&built, &code, &work, &needs]) {
        collect(report, present, &mut named);
    }
    named
}

fn collect(value: &Value, present: &HashMap<String, u64>, named: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            if present.contains_key(text) && !named.contains(text) {
                named.push(text.clone());
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, present, named)),
        Value::Object(fields) => fields
            .values()
            .for_each(|field| collect(field, present, named)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of files")]
fn recall(named: &[String], touched: &HashSet<String>, most: usize) -> f64 {
    let hits = named
        .iter()
        .take(most)
        .filter(|path| touched.contains(*path))
        .count();
    hits as f64 / touched.len().max(1) as f64
}

/// Draws files without putting them back, large ones likelier; the mean of many draws with fixed seeds.
#[expect(clippy::cast_precision_loss, reason = "sizes and counts")]
fn random(present: &HashMap<String, u64>, touched: &HashSet<String>, most: usize) -> f64 {
    let mut files: Vec<(&String, u64)> = present.iter().map(|(path, size)| (path, *size)).collect();
    files.sort();
    let mut sum = 0.0;
    for seed in 1..=DRAWS {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut keyed: Vec<(f64, &String)> = files
            .iter()
            .map(|(path, size)| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let chance = ((state >> 11) as f64 / (1u64 << 53) as f64).max(1e-12);
                (chance.ln() / (*size as f64 + 1.0), *path)
            })
            .collect();
        keyed.sort_by(|one, other| other.0.total_cmp(&one.0));
        let drawn: Vec<String> = keyed
            .into_iter()
            .take(most)
            .map(|(_, path)| path.clone())
            .collect();
        sum += recall(&drawn, touched, most);
    }
    sum / DRAWS as f64
}

/// Returns the files by the number of commits that changed them, most first.
fn churned(root: &Path, at: &str, commits: usize, present: &HashMap<String, u64>) -> Vec<String> {
    let mut counts: HashMap<String, u64> = HashMap::new();
    let most = format!("-n{}", commits.min(1_000_000));
    let listed = git(
        root,
        &[
            "log",
            "--no-merges",
            "--no-renames",
            "--name-only",
            "--format=",
            &most,
            at,
            "--",
        ],
    );
    for path in listed.lines().filter(|path| present.contains_key(*path)) {
        *counts.entry(path.to_owned()).or_default() += 1;
    }
    let mut files: Vec<(u64, String)> = counts
        .into_iter()
        .map(|(path, count)| (count, path))
        .collect();
    files.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    files.into_iter().map(|(_, path)| path).collect()
}

/// Returns the paths that commits touch.
fn touches(root: &Path, range: &str, most: usize) -> HashSet<String> {
    let most = format!("-n{}", most.min(1_000_000));
    let listed = git(
        root,
        &[
            "log",
            "--no-merges",
            "--no-renames",
            "--name-only",
            "--format=",
            &most,
            range,
            "--",
        ],
    );
    listed.lines().map(str::to_owned).collect()
}

/// Returns the production files of the commit that is checked out, with their sizes.
fn production(root: &Path) -> HashMap<String, u64> {
    let listed = git(root, &["ls-tree", "-r", "--long", "HEAD"]);
    listed
        .lines()
        .filter_map(|line| {
            let (about, path) = line.split_once('\t')?;
            let size = about.split_whitespace().last()?.parse().ok()?;
            is_production(path).then(|| (path.to_owned(), size))
        })
        .collect()
}

fn is_production(path: &str) -> bool {
    let lower = path.to_lowercase();
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let other = [
        "test",
        "spec",
        "example",
        "fixture",
        "vendor",
        "third_party",
        "node_modules",
        "docs",
        "bench",
        "deps",
    ];
    ENDINGS.split(' ').any(|code| code == ending)
        && !lower.split('/').any(|part| {
            other
                .iter()
                .any(|word| part == *word || part == format!("{word}s"))
        })
        && !name.starts_with("test")
        && ![
            "_test.",
            ".test.",
            ".spec.",
            "_spec.",
            "tests.",
            "test.java",
        ]
        .iter()
        .any(|mark| name.contains(mark))
}

fn has(root: &Path, commit: &str) -> bool {
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(root)
        .args(["rev-parse", "-q", "--verify", commit]);
    command.output().is_ok_and(|output| output.status.success())
}

fn checkout(root: &Path, commit: &str) {
    git(
        root,
        &[
            "-c",
            "advice.detachedHead=false",
            "checkout",
            "-q",
            "-f",
            commit,
        ],
    );
}

fn git(root: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(["-c", "core.quotePath=false"])
        .args(arguments)
        .output()
        .expect("git");
    assert!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout)
        .trim_end()
        .to_owned()
}
