//! Measures the analysis against `tokei` and `git log --numstat` on one large tree, in one run.
//!
//! `cargo bench -p analysis [-- TREE]`: TREE is a git repository. Without it one is made of the sources in
//! the cargo registry, with a history of one commit for each crate and many small ones after.

#![expect(clippy::expect_used, reason = "a bench stops at the first failure")]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a bench prints what it measured"
)]

use std::collections::BTreeMap;
use std::fs;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use analysis::{
    AnalysisError, Budget, DEFAULT_TOKENS, Depth, IssuesInput, PackageCaches, Report, architecture,
    codebase, dependencies, fingerprint, issues, summarise,
};
use model::{OpenIssue, OpenWork, OpenWorkSource, Timestamp};

const ROUNDS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    if arguments.first().is_some_and(|first| first == "--child") {
        child(&arguments[1], Path::new(&arguments[2]));
        return;
    }
    if let Some(tree) = arguments.first() {
        compare(Path::new(tree));
        return;
    }
    let tree = made_tree();
    println!("A. one commit holds everything");
    compare(&imported(&tree));
    println!("B. one commit for each crate, then 5,000 small ones");
    compare(&tree);
    println!("C. 20,000 files of 3 KB; D. 80,000 files");
    compare(&many_files(&tree, 20_000));
    memory(&many_files(&tree, 80_000));
}

/// Makes a repository of small files, once.
fn many_files(tree: &Path, count: usize) -> PathBuf {
    let place = tree.with_file_name(format!("bench-{count}"));
    if place.join(".git/finished").exists() {
        return place;
    }
    let _ = fs::remove_dir_all(&place);
    for number in 0..count {
        let folder = place.join(format!("crates/c{}/src/m{}", number % 100, number % 1_000));
        fs::create_dir_all(&folder).expect("folder");
        let mut text = String::new();
        for line in 0..40 {
            text.push_str(&format!(
                "/// Does part {line}.\npub fn part_{line}_{number}(x: u8) -> u8 {{ x + {line} }}\n"
            ));
        }
        fs::write(folder.join(format!("f{number}.rs")), text).expect("file");
    }
    git(&place, &["init", "-q", "-b", "main"]);
    git(&place, &["add", "-A"]);
    let who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"];
    git(
        &place,
        &[&who[..], &["commit", "-q", "-m", "Import"]].concat(),
    );
    fs::write(place.join(".git/finished"), "").expect("mark");
    place
}

/// Measures everything on one tree.
fn compare(tree: &Path) {
    // To git every file of a fresh checkout may have changed, until it has looked once, as it has wherever people work.
    git(tree, &["update-index", "-q", "--refresh"]);
    let files = ignore::WalkBuilder::new(tree)
        .hidden(false)
        .build()
        .flatten()
        .filter(|entry| {
            entry.file_type().is_some_and(|kind| kind.is_file())
                && !entry.path().starts_with(tree.join(".git"))
        })
        .count();
    println!(
        "{files} files, {} processors; fastest wall time (processor time) of up to {ROUNDS} rounds",
        std::thread::available_parallelism().map_or(0, usize::from)
    );
    // A program that a person may have installed: as a dependency it would bring a template engine into every build.
    let count_lines = || {
        Command::new("tokei")
            .arg(tree)
            .stdout(Stdio::null())
            .status()
    };
    let tokei = count_lines().is_ok().then(|| best(count_lines));
    let git = best(|| {
        let mut child = Command::new("git")
            .arg("-C")
            .arg(tree)
            .args([
                "--no-pager",
                "log",
                "--numstat",
                "--no-renames",
                "-z",
                "--format=%H",
            ])
            .stdout(Stdio::piped())
            .spawn()
            .expect("git");
        let mut sink = std::io::sink();
        std::io::copy(child.stdout.as_mut().expect("stdout"), &mut sink).expect("read");
        child.wait().expect("wait");
    });
    if let Some(tokei) = &tokei {
        println!("  tokei                    {tokei}");
    }
    println!("  git log --numstat        {git}");
    let status = best(|| fingerprint(tree, &Budget::for_depth(Depth::Medium)));
    println!("  fingerprint (cache key)  {status}");
    for (name, run, depth) in runs() {
        let time = best(|| run(tree, depth));
        let over_tokei = tokei
            .as_ref()
            .map_or("-".to_owned(), |tokei| time.over(tokei));
        println!(
            "  {name:24} {time}   {over_tokei} × tokei   {} × git log",
            time.over(&git)
        );
    }
    memory(tree);
}

/// Runs each analysis in a process of its own and prints its peak memory.
fn memory(tree: &Path) {
    let own = std::env::current_exe().expect("own path");
    for (name, ..) in runs() {
        let output = Command::new(&own)
            .args(["--child", &name])
            .arg(tree)
            .output()
            .expect("child");
        print!("{}", String::from_utf8_lossy(&output.stdout));
    }
}

/// Checks the tree out with a history of a single commit.
fn imported(tree: &Path) -> PathBuf {
    let place = tree.with_file_name("bench-import");
    if !place.join(".git").exists() {
        let commit = Command::new("git")
            .arg("-C")
            .arg(tree)
            .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.com"])
            .args(["commit-tree", "-m", "Import", "HEAD^{tree}"])
            .output()
            .expect("commit-tree");
        let commit = String::from_utf8_lossy(&commit.stdout).trim().to_owned();
        git(
            tree,
            &[
                "worktree",
                "add",
                "-q",
                "--detach",
                &place.to_string_lossy(),
                &commit,
            ],
        );
    }
    place
}

type Run = fn(&Path, Depth) -> usize;

const SCOPES: [(&str, Run); 4] = [
    ("codebase", |tree, depth| {
        answered(codebase(tree, depth, &Budget::for_depth(depth)))
    }),
    ("architecture", |tree, depth| {
        answered(architecture(tree, depth, &Budget::for_depth(depth)))
    }),
    ("dependencies", |tree, depth| {
        answered(dependencies(
            tree,
            depth,
            &PackageCaches::default(),
            &Budget::for_depth(depth),
        ))
    }),
    ("issues", |tree, depth| {
        answered(issues(&open_work(tree), depth, &Budget::for_depth(depth)))
    }),
];

const DEPTHS: [Depth; 3] = [Depth::Shallow, Depth::Medium, Depth::Deep];

fn runs() -> impl Iterator<Item = (String, Run, Depth)> {
    SCOPES.into_iter().flat_map(|(name, run)| {
        DEPTHS.map(|depth| (format!("{name} {}", depth.name()), run, depth))
    })
}

/// Cuts a report as the tool does; returns the size of the answer.
fn answered<R: Report>(report: Result<R, AnalysisError>) -> usize {
    let mut report = report.expect("report");
    for part in report.incomplete().iter() {
        eprintln!("incomplete: {} ({})", part.what, part.why);
    }
    serde_json::to_vec(&summarise(&report, DEFAULT_TOKENS))
        .expect("json")
        .len()
}

/// As many issues as a busy project has.
fn open_work(tree: &Path) -> IssuesInput {
    let now = Timestamp::now();
    let issues = (0..500)
        .map(|number| OpenIssue {
            number,
            title: format!("Parser {} fails on input {number}", number % 37),
            body: format!("Calling `parse_{}` in lib.rs panics.", number % 91),
            labels: vec![format!("area-{}", number % 9)],
            author: Some("ann".to_owned()),
            created_at: now,
            updated_at: now,
            comments: 1,
            url: String::new(),
        })
        .collect();
    IssuesInput {
        root: tree.to_owned(),
        now,
        work: OpenWork {
            source: OpenWorkSource::Github,
            issues,
            ..OpenWork::default()
        },
    }
}

/// Runs one analysis alone and prints its peak memory and headline.
fn child(name: &str, tree: &Path) {
    let Some((_, run, depth)) = runs().find(|(own, ..)| own == name) else {
        return;
    };
    let bytes = run(tree, depth);
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap_or("?")
        .trim()
        .to_owned();
    println!("  {name:24} peak {peak}, summary {bytes} bytes");
}

/// How long something took.
struct Taken {
    wall: Duration,
    processor: Duration,
}

impl Taken {
    fn over(&self, other: &Self) -> String {
        let ratio = |one: Duration, other: Duration| one.as_secs_f64() / other.as_secs_f64();
        format!(
            "{:5.2} ({:.2} processor)",
            ratio(self.wall, other.wall),
            ratio(self.processor, other.processor)
        )
    }
}

impl std::fmt::Display for Taken {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1_000.0;
        write!(
            formatter,
            "{:7.0} ms ({:.0})",
            milliseconds(self.wall),
            milliseconds(self.processor)
        )
    }
}

/// Takes the fastest of some rounds; the first one warms the caches. Long runs are not repeated.
fn best<T>(mut run: impl FnMut() -> T) -> Taken {
    let mut best = Taken {
        wall: Duration::MAX,
        processor: Duration::MAX,
    };
    for _ in 0..ROUNDS {
        let (start, before) = (Instant::now(), processor_time());
        std::hint::black_box(run());
        best.wall = best.wall.min(start.elapsed());
        best.processor = best.processor.min(processor_time().saturating_sub(before));
        if start.elapsed() > Duration::from_secs(10) {
            break;
        }
    }
    best
}

/// Returns the processor time of this process and of its children that ended.
fn processor_time() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace();
    let ticks: u64 = fields
        .skip(11)
        .take(4)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    Duration::from_millis(ticks * 10)
}

/// Makes a repository of the registry's sources below the target directory, once.
fn made_tree() -> PathBuf {
    let home = std::env::var_os("CARGO_HOME").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").expect("HOME")).join(".cargo"),
        PathBuf::from,
    );
    let target = std::env::current_exe()
        .expect("own path")
        .ancestors()
        .nth(3)
        .expect("target")
        .to_owned();
    let tree = target.join("bench-tree");
    if tree.join(".git/finished").exists() {
        return tree;
    }
    let _ = fs::remove_dir_all(&tree);
    fs::create_dir_all(&tree).expect("tree");
    git(&tree, &["init", "-q", "-b", "main"]);
    let mut import = Command::new("git")
        .arg("-C")
        .arg(&tree)
        .args(["fast-import", "--quiet"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("fast-import");
    let mut out = BufWriter::new(import.stdin.take().expect("stdin"));
    let mut all: Vec<(String, PathBuf)> = Vec::new();
    let mut time = 1_600_000_000;
    for registry in fs::read_dir(home.join("registry/src"))
        .expect("registry")
        .flatten()
    {
        let mut crates: Vec<PathBuf> = fs::read_dir(registry.path())
            .expect("crates")
            .flatten()
            .map(|entry| entry.path())
            .collect();
        crates.sort();
        for one in crates {
            let name = one
                .file_name()
                .expect("name")
                .to_string_lossy()
                .into_owned();
            let mut files = Vec::new();
            for entry in ignore::WalkBuilder::new(&one)
                .standard_filters(false)
                .build()
                .flatten()
            {
                if entry.file_type().is_some_and(|kind| kind.is_file())
                    && entry.file_name() != ".gitignore"
                {
                    let inside = entry
                        .path()
                        .strip_prefix(&one)
                        .expect("inside")
                        .to_string_lossy()
                        .into_owned();
                    files.push((format!("{name}/{inside}"), entry.into_path()));
                }
            }
            time += 3_600;
            header(&mut out, time, &format!("Add {name}"));
            for (path, source) in &files {
                let bytes = fs::read(source).expect("source");
                change(&mut out, path, &bytes);
            }
            all.extend(
                files
                    .into_iter()
                    .filter(|(path, _)| path.strip_suffix(".rs").is_some()),
            );
        }
    }
    // Small commits that touch a few files each, as people make them.
    let mut state = 42u64;
    let mut random = move |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("fits") % below.max(1)
    };
    let mut changed: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
    for number in 0..5_000 {
        time += 600;
        header(&mut out, time, &format!("Change {number}"));
        for _ in 0..=random(4) {
            // Squaring makes some files change much more often than others.
            let place = random(all.len()) * random(all.len()) / all.len().max(1);
            let bytes = changed
                .entry(place)
                .or_insert_with(|| fs::read(&all[place].1).expect("source"));
            bytes.extend_from_slice(format!("// Change {number}.\n").as_bytes());
            change(&mut out, &all[place].0, bytes);
        }
    }
    drop(out);
    assert!(import.wait().expect("fast-import").success());
    git(&tree, &["repack", "-adq"]);
    git(&tree, &["reset", "-q", "--hard", "main"]);
    fs::write(tree.join(".git/finished"), "").expect("mark");
    tree
}

fn header(out: &mut impl std::io::Write, time: u64, message: &str) {
    let person = time / 600 % 7;
    writeln!(
        out,
        "commit refs/heads/main\ncommitter Person {person} <p{person}@example.com> {time} +0000\ndata {}\n{message}",
        message.len()
    )
    .expect("write");
}

fn change(out: &mut impl std::io::Write, path: &str, bytes: &[u8]) {
    writeln!(
        out,
        "M 100644 inline \"{}\"\ndata {}",
        path.replace('\\', "\\\\").replace('"', "\\\""),
        bytes.len()
    )
    .expect("write");
    out.write_all(bytes).expect("write");
    writeln!(out).expect("write");
}

fn git(tree: &Path, arguments: &[&str]) {
    assert!(
        Command::new("git")
            .arg("-C")
            .arg(tree)
            .args(arguments)
            .status()
            .expect("git")
            .success()
    );
}
