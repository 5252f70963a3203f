//! Cargo manifests and lock files.

use super::*;

const ROOT: &str = r#"[workspace]
members = ["a", "b"]
[workspace.package]
license = "MIT"
[workspace.dependencies]
serde = { version = "1.0", features = ["derive"] }
forgotten = "9"
listed = { path = "listed" }
proptest = "1"
"#;

const A: &str = r#"[package]
name = "a"
version = "0.1.0"
license.workspace = true

[dependencies]
serde.workspace = true
rand = "0.8"
hash = { package = "ahash", version = "0.8", optional = true }
b = { path = "../b" }
outside = { path = "../../elsewhere" }
patched = { git = "https://user:secret@example.com/patched.git", branch = "main" }
pinned = { git = "https://example.com/pinned", rev = "abc1234" }
any = "*"

[target.'cfg(windows)'.dependencies]
winapi = "0.3"

[dev-dependencies]
proptest = "1"

[build-dependencies]
cc = "1.0"
"#;

const B: &str = "[package]\nname = \"b\"\nversion = \"0.2.0\"\n[dependencies]\nrand = \"0.9\"\nserde = { workspace = true }\n";

const LOCK: &str = r#"version = 4
[[package]]
name = "a"
version = "0.1.0"
dependencies = ["any", "b", "cc", "outside", "patched", "pinned", "proptest", "rand 0.8.5", "serde"]
[[package]]
name = "b"
version = "0.2.0"
dependencies = ["rand 0.9.1", "serde"]
[[package]]
name = "rand"
version = "0.8.5"
source = "registry+https://github.com/rust-lang/crates.io-index"
[[package]]
name = "rand"
version = "0.9.1"
source = "registry+https://github.com/rust-lang/crates.io-index"
[[package]]
name = "serde"
version = "1.0.219"
source = "registry+https://github.com/rust-lang/crates.io-index"
"#;

fn repository() -> Repository {
    Repository::with(&[
        ("Cargo.toml", ROOT),
        ("a/Cargo.toml", A),
        ("b/Cargo.toml", B),
        ("Cargo.lock", LOCK),
    ])
}

#[test]
fn workspaces_kinds_and_lines() {
    let report = repository().report(Depth::Medium);
    assert_eq!(
        line(&report, "serde"),
        "serde 1.0 -> 1.0.219 Normal Registry a/Cargo.toml:7,b/Cargo.toml:6"
    );
    assert_eq!(
        line(&report, "ahash"),
        "ahash 0.8 -> - Optional Registry a/Cargo.toml:9"
    );
    assert_eq!(direct(&report, "ahash").alias.as_deref(), Some("hash"));
    assert_eq!(
        line(&report, "winapi"),
        "winapi 0.3 -> - Normal Registry a/Cargo.toml:17"
    );
    assert_eq!(
        direct(&report, "winapi").condition.as_deref(),
        Some("cfg(windows)")
    );
    assert_eq!(direct(&report, "proptest").kind, Kind::Dev);
    assert_eq!(direct(&report, "cc").kind, Kind::Build);
    assert_eq!(direct(&report, "b").location.as_deref(), Some("b"));
    assert_eq!(
        direct(&report, "patched").location.as_deref(),
        Some("https://example.com/patched.git#main")
    );
    let rand: Vec<_> = report
        .direct
        .iter()
        .filter(|each| each.name == "rand")
        .map(|each| each.locked.as_deref())
        .collect();
    assert_eq!(rand, [Some("0.8.5"), Some("0.9.1")]);
    assert_eq!(
        report
            .manifests
            .iter()
            .find(|each| each.path == "a/Cargo.toml")
            .unwrap()
            .licence
            .as_deref(),
        Some("MIT")
    );
    assert!(report.incomplete.is_empty(), "{:?}", report.incomplete);
    assert_eq!(report.ecosystems[0].locked, 3);
}

#[test]
fn duplicates_conflicts_and_loose_ends() {
    let report = repository().report(Depth::Shallow);
    let rand = duplicate(&report, "rand");
    assert!(rand.direct);
    let versions: Vec<(&str, &[String])> = rand
        .versions
        .iter()
        .map(|each| (each.version.as_str(), each.required_by.as_slice()))
        .collect();
    assert_eq!(
        versions,
        [
            ("0.8.5", &["a 0.1.0".to_owned()][..]),
            ("0.9.1", &["b 0.2.0".to_owned()][..])
        ]
    );
    let conflict = &report.conflicts[0];
    assert_eq!(
        (conflict.name.as_str(), conflict.disagreement),
        ("rand", Disagreement::Incompatible)
    );
    assert_eq!(
        reason(&report, "outside"),
        Some(LooseReason::PathOutsideRepository)
    );
    assert_eq!(reason(&report, "patched"), Some(LooseReason::GitFloating));
    assert_eq!(reason(&report, "pinned"), Some(LooseReason::GitPinned));
    assert_eq!(reason(&report, "any"), Some(LooseReason::AnyVersion));
    assert_eq!(reason(&report, "b"), None, "it changes with the rest");
    assert_eq!(reason(&report, "cc"), Some(LooseReason::NotLocked));
    assert_eq!(reason(&report, "serde"), None);
    assert!(
        locked(&report).is_empty(),
        "the list of locked packages starts at medium"
    );
}

#[test]
fn rust_usage_and_unused() {
    let repository = repository();
    repository.write(
        "a/src/lib.rs",
        "use serde::Serialize;\n// rand is not used here\nfn f() -> hash::AHasher { todo!() }\n",
    );
    repository.write("b/src/lib.rs", "pub fn g() { rand::random::<u8>(); }\n");
    let report = repository.report(Depth::Deep);
    let serde = report
        .usage
        .iter()
        .find(|each| each.name == "serde")
        .unwrap();
    assert_eq!(
        (serde.manifest.as_str(), serde.modules[0].folder.as_str()),
        ("a/Cargo.toml", "a/src")
    );
    assert_eq!(
        unused(&report),
        ["forgotten"],
        "macros expand to crates that no file names"
    );
}

#[test]
fn a_template_may_take_up_what_the_workspace_offers() {
    let repository = repository();
    repository.write(
        "templates/new/Cargo.toml.tpl",
        "[dependencies]\nforgotten.workspace = true\n",
    );
    assert!(unused(&repository.report(Depth::Deep)).is_empty());
}

#[test]
fn a_member_has_the_licence_of_the_workspace_only_if_it_says_so() {
    let report = repository().report(Depth::Shallow);
    let licences: Vec<_> = report
        .manifests
        .iter()
        .map(|each| (each.path.as_str(), each.licence.as_deref()))
        .collect();
    assert_eq!(
        licences,
        [
            ("Cargo.toml", None),
            ("a/Cargo.toml", Some("MIT")),
            ("b/Cargo.toml", None)
        ]
    );
}

#[test]
fn a_lock_file_decides_for_the_members_of_its_workspace_only() {
    let repository = repository();
    // cargo-fuzz names its package after the crate that it tests.
    repository.write(
        "a/fuzz/Cargo.toml",
        "[package]\nname = \"a\"\n[dependencies]\nserde = \"1\"\nlibfuzzer-sys = \"0.4\"\n[workspace]\n",
    );
    let report = repository.report(Depth::Shallow);
    let fuzz = report
        .manifests
        .iter()
        .find(|each| each.path == "a/fuzz/Cargo.toml");
    assert_eq!(fuzz.unwrap().lockfile, None);
    assert_eq!(reason(&report, "libfuzzer-sys"), None);
    // The lock file tells which of two versions a member has.
    let rand: Vec<_> = report
        .direct
        .iter()
        .filter(|each| each.name == "rand")
        .map(|each| (each.requirement.as_deref(), each.locked.as_deref()))
        .collect();
    assert_eq!(
        rand,
        [(Some("0.8"), Some("0.8.5")), (Some("0.9"), Some("0.9.1"))]
    );
}
