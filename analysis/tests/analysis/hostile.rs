//! Trees that want to break the analysis, and callers that give up.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::support::Repo;
use analysis::{AnalysisError, Budget, Depth, Progress, architecture, codebase};

const DEPTHS: [Depth; 3] = [Depth::Shallow, Depth::Medium, Depth::Deep];

#[test]
fn odd_files_are_skipped_and_counted() {
    let repo = Repo::init();
    repo.write("a.rs", "fn a() {}\n")
        .write("b.c", b"int a;\0\0")
        .write("c.png", "x")
        .write("d.unknown", "x");
    symlink(".", repo.join("loop")).unwrap();
    symlink("a.rs", repo.join("link.rs")).unwrap();
    symlink("/nowhere", repo.join("broken")).unwrap();
    fs::File::create(repo.join("huge.sql"))
        .unwrap()
        .set_len(17 << 20)
        .unwrap();
    let odd = repo.path().join(OsStr::from_bytes(b"bad\xff\n.py"));
    fs::write(&odd, "# TODO: odd\nx = 1\n").unwrap();
    repo.commit("Ann", 1_600_000_000);
    fs::write(&odd, "# TODO: odd\nx = 1\ny = 2\n").unwrap();
    repo.commit("Ann", 1_600_000_100);
    let fifo = std::process::Command::new("mkfifo")
        .arg(repo.join("pipe.rs"))
        .status()
        .unwrap();
    assert!(fifo.success());
    let nested = Repo::init();
    fs::rename(nested.path(), repo.join("nested")).unwrap();
    repo.write("nested/x.rs", "fn x() {}\n");
    let mut deep = repo.path().to_owned();
    for _ in 0..100 {
        deep.push("deep");
    }
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("end.go"), "package end\n").unwrap();
    for depth in DEPTHS {
        let report = codebase(repo.path(), depth, &Budget::for_depth(depth)).unwrap();
        assert!(report.incomplete.is_empty(), "{:?}", report.incomplete);
        assert_eq!(report.totals.files, 3);
        assert_eq!(
            (
                report.skipped.binary,
                report.skipped.huge,
                report.skipped.unknown
            ),
            (2, 1, 1)
        );
        assert_eq!((report.skipped.symlinks, report.skipped.unreadable), (3, 0));
        assert_eq!(report.skipped.nested_repositories.items, ["nested"]);
        assert!(
            report
                .largest_files
                .items
                .iter()
                .any(|file| file.path == "bad\\xff\\x0a.py")
        );
        if depth > Depth::Shallow {
            let hotspots = report.history.unwrap().hotspots.items;
            assert_eq!(hotspots[0].path, "bad\\xff\\x0a.py");
        }
        architecture(repo.path(), depth, &Budget::for_depth(depth)).unwrap();
    }
}

#[test]
fn without_git_the_history_is_incomplete() {
    let plain = Repo::new();
    plain
        .write("a.rs", "// TODO: x\nfn a() {}\n")
        .write(".gitignore", "b.rs\n")
        .write("b.rs", "fn b() {}\n");
    for depth in [Depth::Medium, Depth::Deep] {
        let report = codebase(plain.path(), depth, &Budget::for_depth(depth)).unwrap();
        assert_eq!(report.languages.items[0].size.files, 1);
        assert!(report.history.is_none());
        let history = report
            .incomplete
            .iter()
            .find(|part| part.what == "history")
            .unwrap();
        assert!(
            history.why.contains("not a git repository"),
            "{}",
            history.why
        );
        assert!(report.markers.unwrap().list.items[0].age.is_none());
    }
    let report = architecture(plain.path(), Depth::Deep, &Budget::for_depth(Depth::Deep)).unwrap();
    assert!(report.change_coupling.is_none());
    assert!(report.incomplete.iter().any(|part| part.what == "history"));
}

#[test]
fn an_empty_repository_gives_an_empty_report() {
    let repo = Repo::init();
    for depth in DEPTHS {
        let report = codebase(repo.path(), depth, &Budget::for_depth(depth)).unwrap();
        assert_eq!(report.totals.files, 0);
        assert!(report.incomplete.is_empty(), "{:?}", report.incomplete);
        let report = architecture(repo.path(), depth, &Budget::for_depth(depth)).unwrap();
        assert!(report.packages.items.is_empty() && report.incomplete.is_empty());
    }
}

#[test]
fn broken_manifests_do_no_harm() {
    let repo = Repo::init();
    repo.write("Cargo.toml", "[package\nname=")
        .write("a/package.json", "{\"name\": 3, \"scripts\": [], \"bin\": 7, \"workspaces\": {\"packages\": \"x\"}}")
        .write("b/pyproject.toml", "[project]\nname = 1\n")
        .write("c/Cargo.toml", "[package]\nname = \"c\"\n[lib]\npath = \"../../../../etc/passwd\"\n[[bin]]\nname = 1\n")
        .write("d/tsconfig.json", "{ // never closed")
        .write("e/pom.xml", "<artifactId></artifactId><module>")
        .write("x.ts", "import a from '../../../../etc/passwd';\nimport b from './x';\n")
        .write("y.py", "from ........ import x\n")
        .write("z.rs", "use {{{{::*}}};; mod ; pub mod\nuse a::{b,{c,{d::*}}, self}\n")
        .write("deep.rs", format!("fn f() {{ {}{} }}", "(".repeat(20_000), ")".repeat(20_000)))
        .write("uses.rs", format!("use a::{}", "{".repeat(100_000)))
        .write("open.rs", "r#\"").write("quote.rs", "'").write("tail.c", "R\"(")
        .write(".github/workflows/x.yml", "run: |\n\t\nrun:\n- run: \\\n");
    for depth in DEPTHS {
        architecture(repo.path(), depth, &Budget::for_depth(depth)).unwrap();
        codebase(repo.path(), depth, &Budget::for_depth(depth)).unwrap();
    }
}

#[test]
fn a_bad_root_is_an_error() {
    let repo = Repo::new();
    repo.write("file", "x");
    let budget = Budget::for_depth(Depth::Shallow);
    let missing = codebase(&repo.join("missing"), Depth::Shallow, &budget);
    assert!(matches!(missing, Err(AnalysisError::Root { .. })));
    let file = architecture(&repo.join("file"), Depth::Shallow, &budget);
    assert!(matches!(file, Err(AnalysisError::NotADirectory { .. })));
}

fn big() -> Repo {
    let repo = Repo::init();
    for folder in 0..60 {
        for file in 0..30 {
            let text = (0..60).fold(String::new(), |text, line| {
                text + &format!("// TODO: {line}\nfn f{folder}_{file}_{line}(x: u8) {{ if x > {line} {{ g(x); }} }}\n")
            });
            repo.write(&format!("src/m{folder}/f{file}.rs"), text);
        }
    }
    repo.write("Cargo.toml", "[package]\nname = \"big\"\n")
        .commit("Ann", 1_600_000_000);
    for number in 0..8i64 {
        repo.write(&format!("src/m{number}/f1.rs"), "fn a() {}\n")
            .commit("Bob", 1_600_000_000 + number);
    }
    repo
}

/// Runs an analysis and tells whether it was cancelled.
type Scope = fn(&Path, Depth, &Budget) -> bool;

/// Cancels after some time and returns how long the analysis went on.
fn cancelled(run: Scope, root: &Path, depth: Depth, after: Duration) -> Option<Duration> {
    let budget = Budget::for_depth(depth);
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let was_cancelled = run(root, depth, &budget);
            (was_cancelled, Instant::now())
        });
        // The moment of cancelling is what is varied, nothing is synchronised by it.
        std::thread::sleep(after);
        let start = Instant::now();
        budget.cancel.store(true, Ordering::Relaxed);
        let (was_cancelled, end) = worker.join().unwrap();
        was_cancelled.then(|| end.saturating_duration_since(start))
    })
}

#[test]
fn cancellation_is_quick() {
    let repo = big();
    let code: Scope = |root, depth, budget| {
        matches!(codebase(root, depth, budget), Err(AnalysisError::Cancelled))
    };
    let arch: Scope = |root, depth, budget| {
        matches!(
            architecture(root, depth, budget),
            Err(AnalysisError::Cancelled)
        )
    };
    let mut hits = 0;
    for depth in DEPTHS {
        for milliseconds in [0, 20, 120] {
            let after = Duration::from_millis(milliseconds);
            for scope in [code, arch] {
                // A busy machine may stall any thread; the analysis itself is quick if one try of three is.
                let mut tries = Vec::new();
                while tries.len() < 3 {
                    let Some(time) = cancelled(scope, repo.path(), depth, after) else {
                        break;
                    };
                    hits += usize::from(tries.is_empty());
                    tries.push(time);
                    if time < Duration::from_millis(100) {
                        break;
                    }
                }
                assert!(
                    tries
                        .last()
                        .is_none_or(|time| *time < Duration::from_millis(100)),
                    "{depth:?} after {milliseconds} ms: {tries:?}"
                );
            }
        }
    }
    assert!(hits >= 6, "{hits}");
}

#[test]
fn progress_grows_to_one() {
    let repo = Repo::init();
    repo.write("src/main.rs", "fn main() {}\n")
        .commit("Ann", 1_600_000_000);
    for depth in DEPTHS {
        let seen = Arc::new(Mutex::new(Vec::<Progress>::new()));
        let mut budget = Budget::for_depth(depth);
        let sink = Arc::clone(&seen);
        budget.progress = Arc::new(move |progress| sink.lock().unwrap().push(progress));
        codebase(repo.path(), depth, &budget).unwrap();
        let seen = seen.lock().unwrap();
        assert!(
            seen.len() >= if depth == Depth::Shallow { 2 } else { 4 },
            "{seen:?}"
        );
        assert!(
            seen.iter()
                .all(|progress| (0.0..=1.0).contains(&progress.fraction))
        );
        assert!(
            seen.is_sorted_by(|one, other| one.fraction <= other.fraction),
            "{seen:?}"
        );
        assert!((seen.last().unwrap().fraction - 1.0).abs() < f64::EPSILON);
    }
}

/// A client may print what a report says.
#[test]
fn manifests_bring_no_control_characters() {
    let repo = Repo::init();
    repo.write(
        "package.json",
        r#"{"name": "a\u001b[31m\u0000\u202eb", "version": "1\u009b2", "description": "x\u001b]0;y\u0007z", "license": "M\u001bIT",
            "scripts": {"test": "jest \u001b[2J"}}"#,
    )
    .write("Makefile", "test:\n\techo \u{1b}[2J\u{202e}\n")
    .write("index.js", "export const a = 1;\n");
    let report = architecture(
        repo.path(),
        Depth::Medium,
        &Budget::for_depth(Depth::Medium),
    )
    .unwrap();
    let text = serde_json::to_string(&report).unwrap();
    assert!(report.packages.items[0].name.starts_with('a'));
    for hidden in ["\\u00", "\u{202e}", "\u{9b}"] {
        assert!(!text.contains(hidden), "{hidden:?} in {text}");
    }
}

/// What takes a time that grows with the square of its size never ends.
#[test]
fn what_nests_deeply_or_never_closes_takes_no_longer() {
    let repo = Repo::init();
    let nested = |text: &str| text.repeat(20_000) + &"}".repeat(20_000);
    repo.write("Cargo.toml", "[package]\nname = \"n\"\n")
        .write("src/lib.rs", nested("pub mod a { use a::b; "))
        .write(
            "src/open.rs",
            "#[cfg(test)]\n".repeat(200_000) + "mod x {\n",
        )
        .write("src/x.ts", nested("namespace a { const b = 1; "))
        .write("src/y.js", nested("const f = () => { "));
    let budget = Budget::for_depth(Depth::Medium);
    architecture(repo.path(), Depth::Medium, &budget).unwrap();
    assert!(!budget.ran_out_of_time(), "architecture");
    let budget = Budget::for_depth(Depth::Medium);
    codebase(repo.path(), Depth::Medium, &budget).unwrap();
    assert!(!budget.ran_out_of_time(), "codebase");
}
