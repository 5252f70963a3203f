//! Changes that git would not show: nested repositories, filters, replacements, links to the outside, a profile moved away.

use std::os::unix::fs::symlink;

use serde_json::json;
use shared::model::Phase;
use tests::phase_env::{PhaseEnv, SESSION};

const COMMIT: &str = "git -c user.name=a -c user.email=b commit -qm x";

#[test]
fn a_new_nested_repository_is_seen() {
    let env = PhaseEnv::scripted();
    env.begin(Phase::Tests);
    let line = format!(
        "mkdir -p src/inner && cd src/inner && git init -q && echo 'pub fn x() {{}}' > a.rs && git add . && {COMMIT}"
    );
    let told = env.bash(&line).unwrap_or_default();
    assert!(told.contains("src/inner/a.rs"), "{told}");
    assert!(!told.contains(".git/"), "{told}");
    assert!(env.codex(&["phase", "restore"]).status.success());
    assert_eq!(env.bash("true"), None);
    let line = format!("cd src && git init -q && git add . && {COMMIT}; echo x >> lib.rs");
    assert!(env.bash(&line).unwrap_or_default().contains("src/lib.rs"));
}

#[test]
fn a_nested_repository_from_before_is_left_alone() {
    let env = PhaseEnv::scripted();
    let inner = env.repository().join("src/inner");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(inner.join("a.rs"), "").unwrap();
    env.git(&["init", "-q", "src/inner"]);
    env.begin(Phase::Tests);
    assert_eq!(env.bash("echo x >> src/inner/a.rs"), None);
}

#[test]
fn a_clean_filter_or_a_replacement_hides_nothing() {
    for line in [
        "git show HEAD:src/lib.rs > ../orig; git config filter.f.clean 'cat ../orig'; echo 'src/lib.rs filter=f' > .git/info/attributes; echo 'pub fn cheat() {}' > src/lib.rs",
        "git show HEAD:src/lib.rs > ../orig; git config filter.f.process 'cat ../orig'; git config filter.f.clean 'cat ../orig'; echo '* filter=f' > .gitattributes; echo 'pub fn cheat() {}' > src/lib.rs",
        "echo 'pub fn cheat() {}' > src/lib.rs; n=$(git hash-object -w src/lib.rs); git replace $(git rev-parse HEAD:src/lib.rs) $n",
        "git config filter.known.clean 'cat ../orig'; git show HEAD:src/lib.rs > ../orig; echo 'pub fn cheat() {}' > src/lib.rs; echo 'src/lib.rs filter=known' > .git/info/attributes",
    ] {
        let env = PhaseEnv::scripted();
        env.git(&["config", "filter.known.clean", "cat"]);
        env.begin(Phase::Tests);
        let told = env.bash(line).unwrap_or_default();
        assert!(told.contains("src/lib.rs"), "{line}: {told}");
        assert!(env.codex(&["phase", "restore"]).status.success());
        assert!(!env.read("src/lib.rs").contains("cheat"));
    }
}

#[test]
fn a_filter_from_before_goes_on_working() {
    let env = PhaseEnv::scripted();
    env.git(&["config", "filter.upper.clean", "tr a-z A-Z"]);
    env.write(".gitattributes", "src/lib.rs filter=upper\n");
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "filtered"]);
    env.begin(Phase::Tests);
    assert_eq!(env.bash("touch src/lib.rs"), None);
    assert!(env.bash("echo x >> src/lib.rs").is_some());
}

#[test]
fn what_a_tracked_link_leads_to_outside_is_seen() {
    let env = PhaseEnv::scripted();
    let outside = env.path("out.rs");
    std::fs::write(&outside, "pub fn z() {}\n").unwrap();
    symlink("../../out.rs", env.repository().join("src/l.rs")).unwrap();
    env.commit_all("link");
    env.begin(Phase::Tests);
    assert!(env.write_denied("src/l.rs", "x").is_some());
    assert_eq!(env.bash("true"), None);
    let told = env.bash("echo cheat > ../out.rs").unwrap_or_default();
    assert!(told.contains("src/l.rs"), "{told}");
    assert!(env.codex(&["phase", "restore"]).status.success());
    assert_eq!(
        std::fs::read_to_string(&outside).unwrap(),
        "pub fn z() {}\n"
    );
    // Elsewhere is nobody's business.
    let other = json!({ "file_path": env.path("tools/x.rs"), "content": "x" });
    assert_eq!(env.denied("Write", &other), None);
}

#[test]
fn a_project_file_that_is_moved_away_takes_no_rule_along() {
    let env = PhaseEnv::with(&[
        (
            "Cargo.toml",
            "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        ),
        ("src/lib.rs", "pub fn a() {}\n"),
    ]);
    env.begin(Phase::Tests);
    env.bash("mv Cargo.toml C.bak");
    assert!(env.write_denied("src/lib.rs", "x").is_some());
    let told = env.bash("echo x >> src/lib.rs").unwrap_or_default();
    assert!(told.contains("src/lib.rs"), "{told}");
    // A session without phases is not held up.
    let other = json!({ "tool_name": "Write", "tool_input": { "file_path": env.repository().join("src/lib.rs"), "content": "x" } });
    let session = SESSION.replace('0', "1");
    assert!(env.hook_of(&session, "PreToolUse", &other).is_null());
}
