//! `go.mod` and `go.sum`.

use super::*;

const MOD: &str = "module example.com/app\n\ngo 1.22\n\nrequire github.com/pkg/errors v0.9.1\n\nrequire (\n\tgolang.org/x/sync v0.7.0\n\tgithub.com/used/tool v1.0.0\n\tgithub.com/local/thing v1.2.3\n\tgithub.com/deep/one v1.0.0 // indirect\n)\n\nreplace github.com/local/thing => ./thing\n\ntool github.com/used/tool/cmd/x\n\nrequire (\n\tgithub.com/yaml/yaml v1.0.0 // indirect\n\tgithub.com/yaml/yaml/v2 v2.1.0 // indirect\n)\n";

// Checksums of versions that the build did not choose, and of modules of which only the go.mod was read.
const SUM: &str = "github.com/pkg/errors v0.9.0 h1:a=\ngithub.com/pkg/errors v0.9.1 h1:a=\ngithub.com/test/of/another v1.0.0 h1:e=\ngithub.com/only/mod v1.0.0/go.mod h1:e=\n";

fn repository() -> Repository {
    Repository::with(&[
        ("go.mod", MOD),
        ("go.sum", SUM),
        (
            "main.go",
            "package main\n\nimport (\n\t\"fmt\"\n\t\"golang.org/x/sync/errgroup\"\n\t\"github.com/local/thing\"\n)\n",
        ),
    ])
}

#[test]
fn modules_replacements_and_usage() {
    let report = repository().report(Depth::Deep);
    assert_eq!(
        line(&report, "github.com/pkg/errors"),
        "github.com/pkg/errors v0.9.1 -> v0.9.1 Normal Registry go.mod:5"
    );
    assert!(report.direct.iter().all(|each| each.kind != Kind::Indirect));
    assert_eq!(
        direct(&report, "github.com/local/thing")
            .location
            .as_deref(),
        Some("thing")
    );
    let locked: Vec<&str> = locked(&report)
        .into_iter()
        .map(|each| each.name.as_str())
        .collect();
    assert_eq!(locked.len(), 6, "{locked:?}");
    assert_eq!(duplicate(&report, "github.com/yaml/yaml").versions.len(), 2);
    // Neither what is indirect nor the folder of the repository is a direct dependency.
    assert_eq!(
        report.headline(),
        "Go (3 direct, 6 locked); 1 locked in several versions; 1 unused"
    );
    assert_eq!(unused(&report), ["github.com/pkg/errors"]);
}

/// What one module asks for is in another there for the sake of others.
#[test]
fn direct_is_judged_for_each_module() {
    let repository = Repository::with(&[
        (
            "go.mod",
            "module example.com/app\n\nrequire golang.org/x/text v0.1.0\n",
        ),
        (
            "gcs/go.mod",
            "module example.com/app/gcs\n\nrequire (\n\tgolang.org/x/text v0.1.0 // indirect\n\tgolang.org/x/oauth2 v0.2.0\n)\n",
        ),
    ]);
    let report = repository.report(Depth::Medium);
    let mut found: Vec<(String, bool)> = Vec::new();
    for file in report.locked.iter() {
        let packages = file.packages.iter();
        found.extend(packages.map(|each| {
            let name = format!("{} {}", file.lockfile, each.name);
            (name, each.direct)
        }));
    }
    let expected = [
        ("go.mod golang.org/x/text", true),
        ("gcs/go.mod golang.org/x/oauth2", true),
        ("gcs/go.mod golang.org/x/text", false),
    ];
    assert_eq!(
        found,
        expected.map(|(name, direct)| (name.to_owned(), direct))
    );
    assert_eq!(report.direct.len(), 2);
}

#[test]
fn what_any_file_names_is_not_called_unused() {
    for (path, text) in [
        (
            "Makefile",
            "tools:\n\tgo install github.com/pkg/errors/cmd/x\n",
        ),
        (
            "a_test.go",
            "package main\nimport \"github.com/pkg/errors\"\n",
        ),
        ("docs/guide.md", "see github.com/pkg/errors\n"),
        // The imports of what is generated and not committed are not seen.
        (".gitignore", "*.pb.go\n"),
    ] {
        let repository = repository();
        repository.write(path, text);
        let report = repository.report(Depth::Deep);
        assert!(unused(&report).is_empty(), "{path}");
    }
}

#[test]
fn a_search_that_misses_something_proves_nothing() {
    let large = repository();
    large.write("data.json", vec![b' '; (16 << 20) + 1]);
    assert!(unused(&large.report(Depth::Deep)).is_empty());
    let nested = repository();
    nested.write("submodule/.git", "gitdir: elsewhere\n");
    assert!(unused(&nested.report(Depth::Deep)).is_empty());
}
