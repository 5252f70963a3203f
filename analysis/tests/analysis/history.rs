//! The history part of the codebase report: cache, renames, identities, partial histories.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::Repo;
use analysis::report::codebase::CodebaseReport;
use analysis::report::history::HistoryReport;
use analysis::{Budget, Depth, Report as _, codebase};

const DAY: i64 = 86_400;
const START: i64 = 1_600_000_000;

fn analysed(root: &Path, budget: &Budget) -> CodebaseReport {
    codebase(root, Depth::Medium, budget).unwrap()
}

fn history(root: &Path) -> HistoryReport {
    let report = analysed(root, &Budget::for_depth(Depth::Medium));
    report.history.unwrap()
}

fn cached(repo: &Repo, folder: &Path) -> CodebaseReport {
    let budget = Budget::for_depth(Depth::Medium).caching_in(folder);
    analysed(repo.path(), &budget)
}

/// Ten commits on one file, moved half way.
fn moved() -> Repo {
    let repo = Repo::init();
    let mut text = "fn start() {}\n".repeat(20);
    for number in 0..10 {
        text.push_str(&format!("fn f{number}() {{}}\n"));
        let path = if number < 5 { "old/a.rs" } else { "new/b.rs" };
        if number == 5 {
            fs::create_dir(repo.join("new")).unwrap();
            repo.git(&["mv", "old/a.rs", "new/b.rs"]);
        }
        repo.write(path, &text).commit("Ann", START + number * DAY);
    }
    repo
}

#[test]
fn a_moved_file_keeps_its_history() {
    let repo = moved();
    repo.write("old/a.rs", "fn other() {}\n")
        .commit("Bob", START + 20 * DAY);
    repo.write("old/a.rs", "fn another() {}\n")
        .commit("Bob", START + 21 * DAY);
    let hotspots = history(repo.path()).hotspots;
    let found: Vec<_> = hotspots
        .iter()
        .map(|it| (it.path.as_str(), it.commits, it.churn))
        .collect();
    assert_eq!(found, [("new/b.rs", 10, 30), ("old/a.rs", 2, 3)]);
}

#[test]
fn the_cache_gives_the_same_answer_and_takes_only_new_commits() {
    let repo = moved();
    repo.write("bulk/x.rs", "fn x() {}\n");
    for number in 0..40 {
        repo.write(&format!("bulk/{number}.rs"), "fn y() {}\n");
    }
    repo.commit("Bob", START + 11 * DAY);
    let state = tempfile::tempdir().unwrap();
    let folder = state.path().join("cache");
    let plain = history(repo.path());
    assert_eq!(cached(&repo, &folder).history.unwrap(), plain);
    let file = fs::read_dir(&folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let written = fs::metadata(&file).unwrap().modified().unwrap();
    assert_eq!(cached(&repo, &folder).history.unwrap(), plain);
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), written);
    // What is cached is not read again: without its blobs git could not count it.
    repo.write("new/c.rs", "fn c() {}\n")
        .commit("Ann", START + 30 * DAY);
    let blob = repo.git(&["rev-parse", "HEAD~5:new/b.rs"]);
    let (start, rest) = blob.trim().split_at(2);
    fs::remove_file(repo.join(&format!(".git/objects/{start}/{rest}"))).unwrap();
    let report = cached(&repo, &folder);
    assert!(report.incomplete.is_empty(), "{:?}", report.incomplete);
    assert_eq!(report.history.unwrap().commits, 12);
    let uncached = analysed(repo.path(), &Budget::for_depth(Depth::Medium));
    let why = &uncached.incomplete[0].why;
    assert!(why.contains("objects are missing"), "{why}");
    // Whatever is in the file, the answer is right.
    repo.git(&["checkout", "-q", "HEAD", "--", "."]);
    fs::write(&file, "nonsense").unwrap();
    let repo = moved();
    assert_eq!(
        cached(&repo, &folder).history.unwrap(),
        history(repo.path())
    );
}

#[test]
fn worktrees_share_the_cache() {
    let repo = moved();
    let state = tempfile::tempdir().unwrap();
    cached(&repo, state.path());
    let other = state.path().join("tree");
    repo.git(&["worktree", "add", "-q", other.to_str().unwrap(), "HEAD~1"]);
    let budget = Budget::for_depth(Depth::Medium).caching_in(state.path());
    assert_eq!(analysed(&other, &budget).history.unwrap().commits, 9);
    let files = fs::read_dir(state.path()).unwrap();
    let caches = files.filter(|it| it.as_ref().unwrap().path().extension().is_some());
    assert_eq!(caches.count(), 1);
}

/// However short the time is, repeated questions reach the end, and what they say until then is right.
#[test]
fn a_cut_history_is_told_and_the_next_question_goes_on() {
    let repo = Repo::init();
    let mut stream = String::new();
    for number in 0..12_000 {
        let time = START + number * 600;
        stream.push_str(&format!(
            "commit refs/heads/main\ncommitter Ann <ann@x.com> {time} +0000\ndata 1\nc\nM 100644 inline f{}.rs\ndata <<EOF\nfn f{number}() {{}}\nEOF\n",
            number % 50
        ));
    }
    repo.write("stream", &stream);
    let import = "git fast-import --quiet <stream && rm stream && git reset -q --hard main";
    let shell = std::process::Command::new("sh")
        .args(["-c", import])
        .current_dir(repo.path())
        .status();
    assert!(shell.unwrap().success());
    let state = tempfile::tempdir().unwrap();
    let (mut cut, mut reached) = (0, 0);
    let mut time = Duration::from_millis(250);
    loop {
        let mut budget = Budget::for_depth(Depth::Medium).caching_in(state.path());
        budget.deadline = Instant::now() + time;
        let report = analysed(repo.path(), &budget);
        let Some(history) = &report.history else {
            // The time was too short for a start.
            time *= 2;
            continue;
        };
        assert!(history.commits >= reached, "{} {reached}", history.commits);
        reached = history.commits;
        if reached == 12_000 {
            break;
        }
        cut += 1;
        assert_eq!(history.of_commits, Some(12_000));
        let told = report.incomplete.iter().find(|it| it.what == "history");
        let told = &told.unwrap().why;
        assert!(
            told.contains(&format!("newest {reached} of 12000")),
            "{told}"
        );
        assert!(told.contains(&history.first), "{told}");
        assert!(report.headline().contains("of 12,000 commits, since"));
    }
    assert!(cut > 0, "the first question already reached the end");
}

#[test]
fn bots_and_reformatting_own_nothing() {
    let repo = Repo::init();
    for lines in [5, 10] {
        repo.write("src/a.rs", "fn a() {}\n".repeat(lines))
            .commit("Ann Lee", START);
    }
    repo.write("src/a.rs", "fn  a()  {}\n".repeat(10))
        .commit("Bob Ray", START + DAY);
    let id = repo.git(&["rev-parse", "HEAD"]);
    repo.write("src/a.rs", "fn b() {}\n".repeat(90))
        .commit("dependabot[bot]", START + 2 * DAY);
    repo.write(".git-blame-ignore-revs", format!("# style\n{id}"))
        .commit("Ann Lee", START + 3 * DAY);
    let history = history(repo.path());
    let folder = &history.owners.items[0];
    assert_eq!(
        (folder.folder.as_str(), folder.authors, folder.churn),
        ("src", 1, 10)
    );
    assert_eq!(folder.owners[0].name, "Ann Lee");
    assert_eq!((history.authors, history.bus_factor), (2, Some(1)));
    let hotspot = &history.hotspots.items[0];
    assert_eq!((hotspot.commits, hotspot.authors), (3, 1));
}

#[test]
fn identities_are_merged() {
    let repo = Repo::init();
    let commit = |number: i64, name: &str, mail: &str| {
        repo.write("src/a.rs", format!("fn a{number}() {{}}\n"));
        repo.git(&["add", "-A"]);
        let author = format!("--author={name} <{mail}>");
        repo.git_as(
            "Cy",
            START + number * DAY,
            &["commit", "-q", "-m", "c", &author],
        );
    };
    commit(0, "Ann Lee", "ann@work.com");
    commit(1, "Ann Lee", "ann@home.org");
    commit(2, "annie", "ann@home.org");
    commit(3, "Bob Ray", "bob@x.com");
    commit(4, "B. R.", "bobby@y.com");
    repo.write(".mailmap", "Bob Ray <bob@x.com> <bobby@y.com>\n");
    let history = history(repo.path());
    let owners = &history.owners.items[0].owners;
    let names: Vec<&str> = owners.iter().map(|owner| owner.name.as_str()).collect();
    assert_eq!(names, ["Ann Lee", "Bob Ray"]);
    assert_eq!(history.authors, 2);
}

#[test]
fn the_last_year_weighs_most() {
    let repo = Repo::init();
    repo.write("src/a.rs", "fn a() {}\n".repeat(100))
        .write("src/b.rs", "fn b() {}\n".repeat(20))
        .commit("Ann", START);
    repo.write("src/a.rs", "fn aa() {}\n".repeat(100))
        .commit("Ann", START + DAY);
    for lines in [50, 100] {
        repo.write("src/b.rs", "fn bb() {}\n".repeat(lines))
            .commit("Bob", START + 5 * 366 * DAY);
    }
    let history = history(repo.path());
    let owners = &history.owners.items[0].owners;
    assert_eq!(owners[0].name, "Bob");
    assert_eq!(owners[0].last_change, "2025-09-17");
    assert_eq!(history.hotspots.items[0].path, "src/b.rs");
    // Ann: 100 + 20 + 200 lines, four years beyond the full one; Bob: 120.
    assert!((owners[0].percent - 85.7).abs() < 0.5, "{owners:?}");
}

#[test]
fn a_shallow_clone_says_so_and_names_no_owners() {
    let repo = moved();
    let place = tempfile::tempdir().unwrap();
    let clone = place.path().join("clone");
    let source = format!("file://{}", repo.path().display());
    repo.git(&[
        "clone",
        "-q",
        "--depth",
        "3",
        &source,
        clone.to_str().unwrap(),
    ]);
    let report = analysed(&clone, &Budget::for_depth(Depth::Medium));
    let history = report.history.as_ref().unwrap();
    assert!(history.is_shallow);
    assert_eq!((history.commits, history.bus_factor), (3, None));
    // The commit at its end does not count as the one that wrote everything.
    assert_eq!((history.added, history.owners.total()), (2, 0));
    assert!(
        report
            .incomplete
            .iter()
            .any(|it| it.why.contains("shallow"))
    );
    assert!(
        report.headline().contains("shallow clone"),
        "{}",
        report.headline()
    );
}

#[test]
fn tests_have_hotspots_of_their_own() {
    let repo = Repo::init();
    for number in 1..5 {
        let text = "fn f() {}\n".repeat(number);
        repo.write("src/a.rs", &text)
            .write("tests/a.rs", text.repeat(9))
            .commit("Ann", START + i64::try_from(number).unwrap() * DAY);
    }
    let history = history(repo.path());
    let paths = |list: &[analysis::report::history::Hotspot]| -> Vec<String> {
        list.iter().map(|it| it.path.clone()).collect()
    };
    assert_eq!(paths(&history.hotspots), ["src/a.rs"]);
    assert_eq!(paths(&history.test_hotspots), ["tests/a.rs"]);
}

#[test]
fn owners_come_back_and_are_one_person() {
    let repo = Repo::init();
    let change = |number: i64, lines: usize, name: &str, mail: &str| {
        repo.write("src/a.rs", format!("fn a{number}() {{}}\n").repeat(lines));
        repo.git(&["add", "-A"]);
        let author = format!("{name} <{mail}>");
        let date = format!("{} +0000", START + number * DAY);
        let output = std::process::Command::new("git")
            .arg("-C")
            .arg(repo.path())
            .args(["-c", "user.name=x", "-c", "user.email=x@y.z"])
            .args(["commit", "-q", "-m", "change", "--author", &author])
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_DATE", &date)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    change(1, 10, "Inger", "inger@work.com");
    change(2, 20, "Once", "once@x.com");
    change(3, 12, "Inger", "7+Inger@users.noreply.github.com");
    change(4, 14, "Inger", "inger@home.org");
    let history = history(repo.path());
    assert_eq!(history.authors, 2);
    let owners: Vec<(&str, &str)> = history.owners.items[0]
        .owners
        .iter()
        .map(|owner| (owner.name.as_str(), owner.last_change.as_str()))
        .collect();
    // 1,600,000,000 is the 13th of September 2020.
    assert_eq!(owners, [("Inger", "2020-09-17")]);
}

#[test]
fn examples_documentation_and_manifests_are_no_hotspots() {
    let repo = Repo::init();
    for number in 0..3 {
        for path in [
            "pom.xml",
            "docs/conf.py",
            "examples/demo.py",
            "src/app.py",
            "src/more.py",
        ] {
            repo.write(path, format!("x = {number}\n").repeat(5));
        }
        repo.commit("Ann", START + number * DAY);
    }
    let report = analysed(repo.path(), &Budget::for_depth(Depth::Medium));
    let history = report.history.unwrap();
    let mut paths: Vec<&str> = history
        .hotspots
        .items
        .iter()
        .map(|hotspot| hotspot.path.as_str())
        .collect();
    paths.sort_unstable();
    assert_eq!(paths, ["src/app.py", "src/more.py"]);
    assert_eq!(report.tests.production_files, 2);
}
