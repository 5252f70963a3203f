//! A focus and the affected tests on fixture repositories with known answers.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::support::Repo;
use analysis::report::focus::{AffectedTest, Evidence, FocusReport, TestReason};
use analysis::{AnalysisError, Budget, Depth, Focus, Report as _, affected_tests, focus};

fn asked(
    repo: &Repo,
    path: Option<&str>,
    query: Option<&str>,
) -> Result<FocusReport, AnalysisError> {
    let wanted = Focus::new(path, query)?.unwrap();
    let depth = Depth::Medium;
    focus(repo.path(), &wanted, depth, &Budget::for_depth(depth))
}

fn paths(report: &FocusReport) -> Vec<&str> {
    report.files.iter().map(|file| file.path.as_str()).collect()
}

/// A shop in Python, with a history.
fn shop() -> Repo {
    let repo = Repo::init();
    repo.write("shop/client.py", "from shop.backoff import wait\n\ndef fetch(url):\n    # tries again when the server is busy\n    for attempt in range(3):\n        wait(attempt)\n")
        .write("shop/backoff.py", "MAX_RETRIES = 5\n\ndef wait(attempt):\n    '''Waits before the next retry.'''\n\ndef retryDelay(attempt):\n    return 2 ** attempt\n")
        .write("shop/cart.py", "class Cart:\n    def total(self):\n        return 0\n")
        .write("shop/tax.py", "def rate(country):\n    return 0.2\n")
        .write("shop/__init__.py", "")
        .write("tests/test_backoff.py", "from shop.backoff import wait\ndef test_wait(): wait(1)\n")
        .write("tests/test_client.py", "from shop.client import fetch\ndef test_fetch(): fetch('x')\n")
        .write("tests/test_cart.py", "from shop.cart import Cart\ndef test_cart(): Cart()\n")
        .write("tests/flow.py", "");
    commit(&repo, "Ann", 1, "Start the shop");
    for (number, author) in [(2, "Ben"), (3, "Ben"), (4, "renovate[bot]")] {
        repo.write(
            "shop/cart.py",
            format!("class Cart:\n    def total(self):\n        return {number}\n"),
        )
        .write(
            "shop/tax.py",
            format!("def rate(country):\n    return 0.{number}\n"),
        );
        commit(&repo, author, number, "Round the invoice as the law says");
    }
    repo
}

fn commit(repo: &Repo, author: &str, days_ago: i64, subject: &str) {
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let time = i64::try_from(now).unwrap() - (10 - days_ago) * 86_400;
    repo.git_as(author, time, &["add", "-A"]);
    repo.git_as(author, time, &["commit", "-q", "-m", subject]);
}

#[test]
fn a_question_finds_files_symbols_and_tests() {
    let report = asked(&shop(), None, Some("where are retries handled?")).unwrap();
    assert_eq!(paths(&report)[0], "shop/backoff.py", "{report:?}");
    assert!(paths(&report).contains(&"shop/client.py"));
    assert!(report.files[0].why.contains(&Evidence::Text));
    assert_eq!(report.symbols[0].name, "retryDelay");
    assert_eq!(
        (report.symbols[0].path.as_str(), report.symbols[0].line),
        ("shop/backoff.py", 6)
    );
    assert_eq!(report.tests[0].path, "tests/test_backoff.py");
    assert_eq!(report.parts[0].folder, "shop");
}

#[test]
fn subjects_of_commits_lead_to_files_that_lack_the_words() {
    let report = asked(&shop(), None, Some("invoice rounding")).unwrap();
    let first: Vec<&str> = paths(&report).into_iter().take(2).collect();
    assert!(
        first.contains(&"shop/cart.py") && first.contains(&"shop/tax.py"),
        "{report:?}"
    );
    assert_eq!(report.files[0].why[0], Evidence::Commits);
    assert_eq!(report.commits.total(), 3);
    assert_eq!(
        report.commits[0].subject,
        "Round the invoice as the law says"
    );
    let owners: Vec<(&str, u32)> = report
        .owners
        .iter()
        .map(|owner| (owner.name.as_str(), owner.commits))
        .collect();
    assert_eq!(owners[0], ("Ben", 2));
    assert!(owners.iter().all(|(name, _)| !name.contains("bot")));
}

#[test]
fn a_path_brings_its_surroundings() {
    let repo = shop();
    let report = asked(&repo, Some("shop/cart.py"), None).unwrap();
    assert_eq!(paths(&report), ["shop/cart.py"]);
    assert_eq!(
        (report.together[0].path.as_str(), report.together[0].commits),
        ("shop/tax.py", 3)
    );
    assert_eq!(report.tests[0].path, "tests/test_cart.py");
    assert_eq!(report.commits.total(), 4);
    let folder = asked(&repo, Some("./shop/"), None).unwrap();
    assert_eq!(folder.files.total(), 5);
    assert_eq!(folder.path.as_deref(), Some("shop"));
    let both = asked(&repo, Some("shop/client.py"), Some("retry")).unwrap();
    assert!(paths(&both).iter().all(|path| *path == "shop/client.py"));
}

#[test]
fn arguments_are_checked() {
    let long = "x".repeat(5_000);
    for (path, query) in [
        (Some("../elsewhere"), None),
        (Some("/etc/passwd"), None),
        (Some(long.as_str()), None),
        (None, Some(long.as_str())),
        (None, Some("?!")),
        (None, Some("where is it")),
    ] {
        assert!(
            matches!(Focus::new(path, query), Err(AnalysisError::Focus { .. })),
            "{path:?} {query:?}"
        );
    }
    assert_eq!(Focus::new(None, None).unwrap(), None);
    assert_eq!(Focus::new(Some("."), None).unwrap(), None);
    let missing = asked(&shop(), Some("shop/none.py"), None);
    assert!(matches!(missing, Err(AnalysisError::Focus { .. })));
}

fn reasons<'a>(tests: &'a [AffectedTest], path: &str) -> &'a [TestReason] {
    tests
        .iter()
        .find(|test| test.path == path)
        .map_or(&[], |test| &test.why)
}

fn affected(repo: &Repo, files: &[&str]) -> Vec<AffectedTest> {
    affected_tests(repo.path(), files, &Budget::for_depth(Depth::Medium))
        .unwrap()
        .items
}

#[test]
fn tests_are_affected_through_imports_names_and_common_changes() {
    let repo = shop();
    for number in 0..3 {
        repo.write(
            "shop/tax.py",
            format!("def rate(country):\n    return 1.{number}\n"),
        )
        .write("tests/flow.py", format!("# {number}\n"));
        commit(&repo, "Ann", 5 + number, "Adapt the flow");
    }
    let tests = affected(&repo, &["shop/backoff.py"]);
    assert_eq!(tests[0].path, "tests/test_backoff.py");
    assert_eq!(
        reasons(&tests, "tests/test_backoff.py"),
        [TestReason::Imports, TestReason::SameName]
    );
    assert_eq!(
        reasons(&tests, "tests/test_client.py"),
        [TestReason::ImportsIndirectly]
    );
    assert!(reasons(&tests, "tests/test_cart.py").is_empty());
    let tests = affected(&repo, &["shop/tax.py"]);
    assert_eq!(
        reasons(&tests, "tests/flow.py"),
        [TestReason::ChangesTogether]
    );
    assert!(affected(&repo, &["shop/gone.py"]).is_empty());
    assert!(affected(&repo, &[]).is_empty());
}

#[test]
fn go_packages_and_rust_files_have_their_tests_beside_and_inside() {
    let repo = Repo::init();
    repo.write("go.mod", "module example.com/a\n")
        .write("store/rows.go", "package store\nfunc Rows() {}\n")
        .write(
            "store/pages_test.go",
            "package store\nimport \"testing\"\nfunc TestPages(t *testing.T) {}\n",
        )
        .write("other/other_test.go", "package other\n")
        .write("Cargo.toml", "[package]\nname = \"a\"\n")
        .write(
            "src/lib.rs",
            "pub fn a() {}\n#[cfg(test)]\nmod tests { #[test] fn works() {} }\n",
        )
        .write("src/contest.ts", "export const a = 1;\n")
        .write("src/con.ts", "export const b = 1;\n");
    commit(&repo, "Ann", 1, "Start");
    let tests = affected(&repo, &["store/rows.go", "src/lib.rs", "src/con.ts"]);
    assert_eq!(
        reasons(&tests, "store/pages_test.go"),
        [TestReason::SamePackage]
    );
    assert_eq!(reasons(&tests, "src/lib.rs"), [TestReason::Inside]);
    assert_eq!(tests.len(), 2, "{tests:?}");
}

#[test]
fn a_folder_without_history_is_still_searched_and_cancellation_ends_it() {
    let repo = Repo::new();
    repo.write("a/retry.py", "def retry(): pass\n")
        .write("b.py", "x = 1\n");
    let report = asked(&repo, None, Some("retry")).unwrap();
    assert_eq!(paths(&report), ["a/retry.py"]);
    assert_eq!(report.incomplete[0].what, "history");
    let wanted = Focus::new(None, Some("retry")).unwrap().unwrap();
    let cancelled = Budget::new(
        Arc::new(AtomicBool::new(true)),
        Instant::now() + Duration::from_secs(9),
        Arc::new(|_| {}),
    );
    let stopped = focus(repo.path(), &wanted, Depth::Medium, &cancelled);
    assert!(matches!(stopped, Err(AnalysisError::Cancelled)));
}

#[test]
fn a_question_that_nothing_answers_finds_nothing() {
    let repo = shop();
    let report = asked(&repo, None, Some("quaternion eigenvalue")).unwrap();
    assert_eq!(paths(&report), [""; 0]);
    assert!(report.commits.is_empty() && report.owners.is_empty() && report.tests.is_empty());
    assert_eq!(
        report.headline(),
        "“quaternion eigenvalue”: nothing matches"
    );
    // No subject has the word: commits of the files that have it are told, others are not.
    let report = asked(&repo, None, Some("retryDelay")).unwrap();
    assert_eq!(report.commits.total(), 1);
}

/// What changed many files at once says little of each: the path and the definitions say more.
#[test]
fn wide_commits_do_not_outweigh_paths_and_definitions() {
    let repo = Repo::init();
    repo.write(
        "src/forge/github/retry.rs",
        "/// Waits, then tries again.\npub fn retry_after(seconds: u64) {}\npub struct RetryPolicy;\n",
    );
    commit(&repo, "Ann", 1, "forge: wait before the next request");
    let wide: Vec<String> = ["guard/mod", "app", "html", "reply", "webhook"]
        .iter()
        .map(|name| format!("web/{name}.rs"))
        .chain((0..30).map(|number| format!("web/page{number}.rs")))
        .collect();
    for (number, subject) in [
        (
            2,
            "web: store and verbs it stands on; guard, changes, pages' handlers",
        ),
        (3, "web: retry, handle and implement everything"),
    ] {
        for path in &wide {
            repo.write(path, format!("// retry {number}\npub fn page() {{}}\n"));
        }
        commit(&repo, "Ben", number, subject);
    }
    for query in [
        "where is retry handled",
        "where is handling of retries implemented?",
    ] {
        let report = asked(&repo, None, Some(query)).unwrap();
        assert_eq!(paths(&report)[0], "src/forge/github/retry.rs", "{query}");
    }
}
