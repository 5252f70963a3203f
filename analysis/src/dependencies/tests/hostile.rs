//! Hostile manifests: malformed, huge, deeply nested, links.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::os::unix::fs::symlink;
use std::sync::atomic::Ordering;

use proptest::prelude::*;

use super::super::facts::{LockFacts, ManifestFacts, ParseError};
use super::super::{bundler, cargo, composer, go, gradle, maven, npm, nuget, pypi};
use super::*;

type Parse<T> = fn(&str, &str) -> Result<T, ParseError>;

/// Feeds a text to every parser; the answers do not matter.
fn parse_everything(text: &str) {
    let budget = patient();
    let manifests: [Parse<ManifestFacts>; 9] = [
        cargo::manifest,
        npm::manifest,
        pypi::pyproject,
        pypi::pipfile,
        pypi::setup_cfg,
        go::manifest,
        composer::manifest,
        nuget::project,
        nuget::packages_config,
    ];
    for parse in manifests {
        let _ = parse("a/b", text);
    }
    let locks: [Parse<LockFacts>; 8] = [
        cargo::lock,
        npm::package_lock,
        npm::yarn_lock,
        pypi::lock,
        pypi::pipfile_lock,
        composer::lock,
        bundler::lock,
        nuget::lock,
    ];
    for parse in locks {
        let _ = parse("a/b", text);
    }
    let _ = npm::pnpm_lock("a/b", text, &budget);
    let _ = pypi::requirements("a/b", text);
    let _ = maven::pom("a/b", text);
    let _ = gradle::script("a/b", text, HashMap::new(), None);
    let _ = gradle::catalog("a/b", text);
    let _ = gradle::lock("a/b", text);
    let _ = bundler::gemfile("a/b", text);
    let _ = bundler::gemspec("a/b", text);
}

/// Pieces of real files in any order reach deeper than arbitrary bytes.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "[dependencies]\n",
        "[[package]]\n",
        "[project]\n",
        "[tool.poetry.dependencies]\n",
        "name = \"x\"\n",
        "version = \"1\"\n",
        "x = { git = \"https://a@b/c\" }\n",
        "dependencies = [\"a @ b\", \"c>=1;d\"]\n",
        "{",
        "}",
        "[",
        "]",
        "\"dependencies\":",
        "\"packages\":",
        "\"a\":",
        "\"1\"",
        ",",
        ":",
        "\n",
        "  ",
        "    ",
        "\t",
        "# yarn lockfile v1\n\n\n",
        "a@^1:\n",
        "  version \"1\"\n",
        "  dependencies:\n",
        "    b \"2\"\n",
        "__metadata:\n  version: 8\n",
        "\"a@npm:1\":\n",
        "  version: 1\n",
        "  peerDependenciesMeta:\n",
        "    x:\n",
        "      optional: true",
        "<project>",
        "</project>",
        "<dependencies>",
        "<dependency>",
        "<groupId>",
        "${",
        "<PackageReference Include=\"x\"/>",
        "<!DOCTYPE a [<!ENTITY b \"c\">]>",
        "&b;",
        "require (\n",
        "module x\n",
        "replace a => ../b\n",
        ")\n",
        "gem 'a', git: 'b'\n",
        "group :test do\n",
        "end\n",
        "GEM\n  specs:\n",
        "    a (1-x)\n",
        "implementation(\"a:b:c\")\n",
        "libs.a.b",
        "-r x\n",
        "-e .[a]\n",
        "git+https://a@b#egg=",
        "é",
        "\u{0}",
        "\\",
        "'",
        "\"\"\"",
        "//",
        "/*",
        "importers:\n  .:\n",
        "packages:\n",
        "  /a/1_b:\n",
        "  a@1(b):\n",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_parser_panics_on_arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        parse_everything(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn no_parser_panics_on_pieces_of_manifests(text in pieces()) {
        parse_everything(&text);
    }
}

#[test]
fn malformed_files_are_listed_and_the_rest_is_read() {
    let names = [
        "Cargo.toml",
        "Cargo.lock",
        "package.json",
        "package-lock.json",
        "pnpm-lock.yaml",
        "yarn.lock",
        "pyproject.toml",
        "poetry.lock",
        "go.mod",
        "pom.xml",
        "gradle/libs.versions.toml",
        "composer.json",
        "composer.lock",
        "Gemfile.lock",
        "a.csproj",
        "packages.lock.json",
    ];
    let repository = Repository::with(&[
        ("good/Cargo.toml", "[dependencies]\nserde = \"1\"\n"),
        ("binary/package.json", "x"),
    ]);
    repository.write("binary/package.json", [0xff, 0xfe, 0x00]);
    for name in names {
        repository.write(name, "{ <[not: valid = 'anything");
    }
    let report = repository.report(Depth::Deep);
    let listed: Vec<&str> = report
        .incomplete
        .iter()
        .map(|each| each.what.as_str())
        .collect();
    for name in names {
        assert!(listed.contains(&name), "{name} is not in {listed:?}");
    }
    assert!(listed.contains(&"binary/package.json"));
    assert_eq!(direct(&report, "serde").requirement.as_deref(), Some("1"));
}

#[test]
fn entity_and_alias_bombs_fizzle() {
    let mut entities = String::from("<!DOCTYPE p [<!ENTITY a0 \"aaaaaaaaaa\">");
    let mut aliases = String::from("a0: &a0 [x, x]\n");
    for level in 1..30 {
        write!(
            entities,
            "<!ENTITY a{level} \"{}\">",
            format!("&a{};", level - 1).repeat(10)
        )
        .unwrap();
        writeln!(
            aliases,
            "a{level}: &a{level} [{}]",
            vec![format!("*a{}", level - 1); 10].join(", ")
        )
        .unwrap();
    }
    let outside = "<!DOCTYPE p [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><project><artifactId>&x;</artifactId></project>";
    let repository = Repository::with(&[
        (
            "a/pom.xml",
            &format!("{entities}]><project>&a29;</project>"),
        ),
        ("b/pom.xml", outside),
        ("pnpm-lock.yaml", &aliases),
        ("deep/package.json", &"{\"a\":".repeat(100_000)),
        ("deep/pom.xml", &"<project>".repeat(100_000)),
        ("deep/Cargo.toml", &format!("a = {}", "[".repeat(100_000))),
        ("deep/pnpm-lock.yaml", &"[".repeat(100_000)),
    ]);
    let report = repository.report(Depth::Deep);
    assert!(!serde_json::to_string(&report).unwrap().contains("root:"));
    assert!(report.incomplete.len() >= 6, "{:?}", report.incomplete);
}

#[test]
fn nothing_outside_is_read() {
    let outside = Repository::with(&[
        ("requirements.txt", "secret==1\n"),
        ("package.json", r#"{"dependencies":{"secret":"1"}}"#),
    ]);
    let repository = Repository::with(&[(
        "a/requirements.txt",
        "-r ../link.txt\n-r ../folder/requirements.txt\n",
    )]);
    symlink(
        outside.folder.path().join("requirements.txt"),
        repository.folder.path().join("link.txt"),
    )
    .unwrap();
    symlink(
        outside.folder.path(),
        repository.folder.path().join("folder"),
    )
    .unwrap();
    symlink(
        repository.folder.path(),
        repository.folder.path().join("circle"),
    )
    .unwrap();
    symlink(
        outside.folder.path().join("package.json"),
        repository.folder.path().join("package.json"),
    )
    .unwrap();
    let report = repository.report(Depth::Deep);
    assert!(report.direct.is_empty(), "{:?}", report.direct);
    assert_eq!(report.incomplete.len(), 2);
}

#[test]
fn a_yarn_lock_may_end_anywhere() {
    let whole = "# yarn\n# x\n\n__metadata:\n  version: 8\n  cacheKey: 10c0\n\n\"a@npm:^1\":\n  version: 1.0.0\n  resolution: \"a@npm:1.0.0\"\n  peerDependencies:\n    b: \"*\"\n  peerDependenciesMeta:\n    b:\n      optional: true\n  dependenciesMeta:\n    b:\n      optional: true\n  checksum: x\n  languageName: node\n  linkType: hard\n";
    assert!(npm::yarn_lock("yarn.lock", whole).is_ok());
    for end in 0..whole.len() {
        let _ = npm::yarn_lock("yarn.lock", &whole[..end]);
        let _ = npm::yarn_lock("yarn.lock", &whole[..end].replace('\n', "\r\n"));
        let _ = npm::yarn_lock("yarn.lock", &whole[..end].replace('\n', "\r"));
    }
}

#[test]
fn huge_files_are_skipped_and_named() {
    let repository = Repository::with(&[]);
    repository.write("package.json", vec![b' '; 3 << 20]);
    let report = repository.report(Depth::Shallow);
    assert!(
        report.incomplete[0].why.contains("larger than"),
        "{:?}",
        report.incomplete
    );
}

#[test]
fn cancelling_ends_it_at_once() {
    let repository = Repository::with(&[]);
    for number in 0..800 {
        repository.write(
            &format!("d{}/f{number}.rs", number % 50),
            "use serde::Serialize;\n".repeat(200),
        );
    }
    repository.write("Cargo.toml", "[dependencies]\nserde = \"1\"\n");
    let mut budget = patient();
    let cancel = budget.cancel.clone();
    let cancelled_at = Arc::new(std::sync::Mutex::new(None));
    let noted = cancelled_at.clone();
    budget.progress = Arc::new(move |progress: crate::Progress| {
        if progress.step == "reading imports" {
            cancel.store(true, Ordering::Relaxed);
            *noted.lock().unwrap() = Some(Instant::now());
        }
    });
    let result = dependencies(
        repository.folder.path(),
        Depth::Deep,
        &PackageCaches::default(),
        &budget,
    );
    assert!(matches!(result, Err(AnalysisError::Cancelled)));
    assert!(cancelled_at.lock().unwrap().unwrap().elapsed() < Duration::from_millis(100));
}

#[test]
fn a_late_analysis_says_what_is_missing() {
    let repository = Repository::with(&[("Cargo.toml", "[dependencies]\nserde = \"1\"\n")]);
    let mut budget = patient();
    budget.deadline = Instant::now();
    let report = dependencies(
        repository.folder.path(),
        Depth::Deep,
        &PackageCaches::default(),
        &budget,
    )
    .unwrap();
    assert!(
        report
            .incomplete
            .iter()
            .any(|each| each.what == "the list of files"),
        "{:?}",
        report.incomplete
    );
}

#[test]
fn a_missing_folder_is_an_error() {
    let missing = tempfile::tempdir().unwrap().path().join("nothing");
    assert!(matches!(
        dependencies(
            &missing,
            Depth::Shallow,
            &PackageCaches::default(),
            &patient()
        ),
        Err(AnalysisError::Root { .. })
    ));
}
