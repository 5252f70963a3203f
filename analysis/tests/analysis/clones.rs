//! Clones that bring pipes and programs, or lack objects: nothing hangs or runs, and what is there is told.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::Repo;
use analysis::report::codebase::{AgeBasis, CodebaseReport};
use analysis::{
    Archive, Budget, Depth, PackageCaches, architecture, codebase, dependencies, fingerprint,
};

const DAY: i64 = 86_400;
const START: i64 = 1_600_000_000;

fn pipe(path: &Path) {
    if fs::symlink_metadata(path).is_ok() {
        fs::remove_file(path).unwrap();
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

fn analysed(root: &Path) -> CodebaseReport {
    codebase(root, Depth::Deep, &Budget::for_depth(Depth::Deep)).unwrap()
}

fn why_history(report: &CodebaseReport) -> String {
    let parts = report.incomplete.items.iter();
    parts
        .filter(|part| part.what == "history")
        .map(|part| part.why.as_str())
        .collect::<Vec<_>>()
        .join("; ")
}

fn project() -> Repo {
    let repo = Repo::init();
    repo.write("Cargo.toml", "[package]\nname = \"p\"\n")
        .write("src/lib.rs", "// TODO: x\npub fn a() {}\n")
        .commit("Ann", START);
    repo.write("src/lib.rs", "// TODO: x\npub fn a() {}\nfn b() {}\n")
        .commit("Ann", START + DAY);
    repo
}

/// Whatever a repository has in place of a file, the answer comes at once, with the files that there are.
#[test]
fn pipes_and_devices_in_place_of_files_stop_nothing() {
    for name in [
        ".gitignore",
        ".gitattributes",
        ".mailmap",
        ".git-blame-ignore-revs",
        ".git/config",
        ".git/info/exclude",
        ".git/info/attributes",
        ".git/packed-refs",
        "src/.gitignore",
        "src/.gitattributes",
        "package.json",
        "CODEOWNERS",
        "README.md",
        "tsconfig.json",
    ] {
        let repo = project();
        pipe(&repo.join(name));
        let start = Instant::now();
        let budget = Budget::for_depth(Depth::Medium);
        fingerprint(repo.path(), &budget);
        let report = codebase(repo.path(), Depth::Medium, &budget).unwrap();
        assert_eq!(report.languages.items.len(), 2, "{name}");
        architecture(repo.path(), Depth::Medium, &budget).unwrap();
        let caches = PackageCaches::default();
        dependencies(repo.path(), Depth::Medium, &caches, &budget).unwrap();
        assert!(start.elapsed() < Duration::from_secs(12), "{name}");
        assert!(!budget.ran_out_of_time(), "{name}");
    }
    let repo = project();
    symlink("/dev/zero", repo.join(".git/info/attributes")).unwrap();
    let report = analysed(repo.path());
    assert!(why_history(&report).contains("info/attributes"));
}

#[test]
fn ignored_files_are_left_out_as_git_does() {
    let repo = project();
    repo.write(".gitignore", "*.py\n!keep.py\n/only/\ndir/*.rb\n")
        .write("sub/.gitignore", "!here.py\nx.rs\r\n")
        .write(".git/info/exclude", "excluded.go\n");
    for path in [
        "a.py",
        "keep.py",
        "only/a.rs",
        "sub/only/a.rs",
        "dir/a.rb",
        "sub/dir/a.rb",
        "sub/here.py",
        "sub/a.py",
        "sub/x.rs",
        "x.rs",
        "sub/excluded.go",
    ] {
        repo.write(path, "x\n");
    }
    let listed = repo.git(&["ls-files", "-co", "--exclude-standard"]);
    let mut wanted: Vec<&str> = listed
        .lines()
        .filter(|path| !path.ends_with(".gitignore") && *path != "Cargo.toml")
        .collect();
    wanted.sort_unstable();
    for root in [repo.path().to_owned(), repo.join("sub")] {
        let report = codebase(&root, Depth::Deep, &Budget::for_depth(Depth::Deep)).unwrap();
        let mut found: Vec<&str> = report
            .largest_files
            .items
            .iter()
            .map(|file| file.path.as_str())
            .collect();
        found.sort_unstable();
        if root == repo.path() {
            assert_eq!(found, wanted);
        } else {
            assert_eq!(found, ["dir/a.rb", "here.py", "only/a.rs"]);
        }
    }
}

#[test]
fn no_program_that_a_clone_configures_is_run() {
    let repo = project();
    repo.write(".gitattributes", "*.rs diff=evil filter=ev=il\n")
        .commit("Ann", START + 2 * DAY);
    let witness = repo.join(".git/witness");
    let program = repo.join(".git/run.sh");
    fs::write(
        &program,
        format!("#!/bin/sh\ntouch {}\ncat \"$1\" 2>&1\n", witness.display()),
    )
    .unwrap();
    Command::new("chmod")
        .arg("+x")
        .arg(&program)
        .status()
        .unwrap();
    let program = program.to_str().unwrap();
    for key in [
        "diff.evil.textconv",
        "diff.evil.command",
        "diff.external",
        "filter.ev=il.clean",
        "filter.ev=il.process",
        "core.fsmonitor",
        "core.pager",
        "gpg.program",
        "core.sshCommand",
    ] {
        repo.git(&["config", key, program]);
    }
    repo.git(&["config", "log.showSignature", "true"]);
    repo.write("src/lib.rs", "// TODO: x\npub fn a() {}\nfn c() {}\n");
    let budget = Budget::for_depth(Depth::Deep);
    fingerprint(repo.path(), &budget);
    let report = analysed(repo.path());
    let age = report.markers.unwrap().list.items[0].age.clone();
    assert_eq!(age.unwrap().basis, AgeBasis::Exact);
    architecture(repo.path(), Depth::Deep, &budget).unwrap();
    assert!(!witness.exists(), "a program of the clone was run");
}

/// Removes an object, as in a clone that is damaged or was made without it.
fn lose(repo: &Repo, name: &str) {
    let id = repo.git(&["rev-parse", name]);
    let (folder, file) = id.trim().split_at(2);
    fs::remove_file(repo.join(&format!(".git/objects/{folder}/{file}"))).unwrap();
}

fn ten_commits() -> Repo {
    let repo = Repo::init();
    let mut text = "fn start() {}\n".repeat(20);
    for number in 0..10 {
        text.push_str(&format!("fn f{number}() {{}}\n"));
        repo.write("a.rs", &text)
            .write("b.rs", format!("fn b{number}() {{}}\n"))
            .commit("Ann", START + number * DAY);
    }
    repo
}

#[test]
fn a_missing_object_takes_only_what_needs_it_from_the_history() {
    let whole = analysed(ten_commits().path()).history.unwrap();
    let of = |report: &CodebaseReport| {
        let spots = &report.history.as_ref().unwrap().hotspots.items;
        let spot = spots.iter().find(|spot| spot.path == "a.rs").unwrap();
        (spot.commits, spot.churn)
    };
    assert_eq!(whole.commits, 10);
    for (what, commits, churn) in [
        // Two commits need it; the lines of both are unknown.
        ("HEAD~5:a.rs", 10, 28),
        ("HEAD~5^{tree}", 8, 28),
    ] {
        let repo = ten_commits();
        lose(&repo, what);
        let report = analysed(repo.path());
        assert_eq!(of(&report), (commits, churn), "{what}");
        assert_eq!(report.history.as_ref().unwrap().commits, 10, "{what}");
        let why = why_history(&report);
        assert!(why.contains("by 2 commits are unknown"), "{why}");
    }
    let repo = ten_commits();
    lose(&repo, "HEAD~5");
    let report = analysed(repo.path());
    assert!(of(&report).0 >= 4);
    let why = why_history(&report);
    assert!(why.contains("commits were listed"), "{why}");
}

#[test]
fn what_is_missing_is_not_kept_in_the_cache() {
    let repo = ten_commits();
    let id = repo.git(&["rev-parse", "HEAD~5:a.rs"]);
    let (folder, file) = id.trim().split_at(2);
    let object = repo.join(&format!(".git/objects/{folder}/{file}"));
    let kept = repo.join(".git/kept");
    fs::rename(&object, &kept).unwrap();
    let state = tempfile::tempdir().unwrap();
    let budget = || Budget::for_depth(Depth::Medium).caching_in(state.path());
    let cut = codebase(repo.path(), Depth::Medium, &budget()).unwrap();
    assert!(!why_history(&cut).is_empty());
    fs::rename(&kept, &object).unwrap();
    let whole = codebase(repo.path(), Depth::Medium, &budget()).unwrap();
    assert_eq!(why_history(&whole), "");
    assert_eq!(whole.history, analysed(repo.path()).history);
}

#[test]
fn submodules_that_name_programs_hide_no_history() {
    let repo = ten_commits();
    repo.write(
        ".gitmodules",
        "[submodule \"s\"]\n\tpath = s\n\turl = x\n\tupdate = !touch pwned\n",
    );
    repo.git(&["add", "-A"]);
    let link = format!("160000,{},s", "1".repeat(40));
    repo.git(&["update-index", "--add", "--cacheinfo", &link]);
    repo.git(&["commit", "-q", "-m", "submodule"]);
    let report = analysed(repo.path());
    assert_eq!(report.history.as_ref().unwrap().commits, 11);
    assert_eq!(why_history(&report), "");
    let budget = Budget::for_depth(Depth::Medium);
    let first = fingerprint(repo.path(), &budget);
    assert_eq!(first, fingerprint(repo.path(), &budget));
    assert!(!first.starts_with("unknown"));
}

#[test]
fn ages_that_nobody_knows_are_not_told() {
    let repo = project();
    let folder = tempfile::tempdir().unwrap();
    let clone = folder.path().join("clone");
    let url = format!("file://{}", repo.path().display());
    repo.git(&["clone", "-q", "--depth=1", &url, clone.to_str().unwrap()]);
    fs::write(clone.join("new.rs"), "// TODO: y\n").unwrap();
    let markers = analysed(&clone).markers.unwrap().list.items;
    let age_of = |path: &str| {
        let marker = markers.iter().find(|marker| marker.path == path).unwrap();
        marker.age.clone()
    };
    assert_eq!(age_of("src/lib.rs"), None);
    assert_eq!(age_of("new.rs").unwrap().basis, AgeBasis::Uncommitted);
    repo.write(
        "src/lib.rs",
        "// TODO: x\npub fn a() {}\nfn b() {}\nfn c() {}\n",
    )
    .commit("Ann", START + 2 * DAY);
    repo.write(
        "src/lib.rs",
        "// TODO: x\npub fn a() {}\nfn b() {}\nfn d() {}\n",
    )
    .commit("Ann", START + 3 * DAY);
    let clone = folder.path().join("second");
    repo.git(&["clone", "-q", "--depth=3", &url, clone.to_str().unwrap()]);
    let marker = analysed(&clone).markers.unwrap().list.items.remove(0);
    assert_eq!(marker.age.unwrap().basis, AgeBasis::AtLeast);
}

#[test]
fn stored_reports_that_were_touched_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::in_state(folder.path());
    let (id, other) = ("codebase-deep-1", "codebase-deep-2");
    let file = |id: &str| folder.path().join(format!("analysis/{id}.json"));
    let stored = || {
        archive
            .store(id, &serde_json::json!({"commits": 10}))
            .unwrap();
    };
    let is_there = || archive.find::<serde_json::Value>(id).is_some();
    stored();
    archive
        .store(other, &serde_json::json!({"commits": 9}))
        .unwrap();
    assert!(is_there() && archive.page(id, 0).is_some());
    let text = fs::read_to_string(file(id)).unwrap();
    let spoilt: [&dyn Fn(); 5] = [
        &|| fs::write(file(id), text.replace("10", "99")).unwrap(),
        &|| fs::write(file(id), "").unwrap(),
        &|| pipe(&file(id)),
        &|| {
            fs::remove_file(file(id)).unwrap();
            symlink(file(other), file(id)).unwrap();
        },
        &|| {
            fs::remove_file(file(id)).unwrap();
            fs::copy(file(other), file(id)).unwrap();
        },
    ];
    for spoil in spoilt {
        stored();
        assert!(is_there());
        spoil();
        assert!(!is_there() && archive.page(id, 0).is_none() && archive.read(id).is_none());
    }
}
