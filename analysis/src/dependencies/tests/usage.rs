//! Which folders use a dependency.

use super::*;

#[test]
fn languages_that_are_not_read_are_named() {
    let report =
        Repository::with(&[("composer.json", r#"{"require":{"a/b":"1"}}"#)]).report(Depth::Deep);
    assert_eq!(report.incomplete[0].what, "usage of Composer dependencies");
    assert!(report.unused.is_empty());
}

#[test]
fn roles_and_vendored_code() {
    let manifest = "[package]\nname = \"x\"\n[dependencies]\nserde = \"1\"\n";
    let report = Repository::with(&[
        ("Cargo.toml", manifest),
        ("examples/one/Cargo.toml", manifest),
        (
            "tests/fixtures/two/Cargo.toml",
            "[dependencies]\nfixture = \"1\"\n",
        ),
        (
            "vendor/three/Cargo.toml",
            "[dependencies]\nvendored = \"1\"\n",
        ),
        (
            "node_modules/four/package.json",
            r#"{"dependencies":{"four":"1"}}"#,
        ),
    ])
    .report(Depth::Shallow);
    assert_eq!(report.direct.len(), 1, "{:?}", report.direct);
    assert_eq!(report.direct[0].places.len(), 1, "examples stand apart");
    assert_eq!(report.vendored_manifests, 1);
    let roles: Vec<Role> = report.manifests.iter().map(|each| each.role).collect();
    assert_eq!(roles, [Role::Product, Role::Example, Role::Fixture]);
    let counts = &report.ecosystems[0];
    assert_eq!((counts.manifests, counts.apart), (1, 2));
}

#[test]
fn templates_and_what_tests_work_on_are_not_the_product() {
    let with = |name: &str| format!(r#"{{"name":"{name}","dependencies":{{"of-{name}":"1"}}}}"#);
    let repository = Repository::with(&[
        ("package.json", &with("root")),
        ("lib/site_template/package.json", &with("template")),
        ("create/template-vue/package.json", &with("vue")),
        ("tests/apps/one/package.json", &with("app")),
        ("e2e/package.json", &with("e2e")),
        ("src/__tests__/pkg/package.json", &with("pkg")),
        (
            "pnpm-lock.yaml",
            "lockfileVersion: '9.0'\nimporters:\n  .: {}\n  src/__tests__/pkg: {}\n",
        ),
        ("Cargo.toml", "[workspace]\n"),
        (
            "tests/runner/core/Cargo.toml",
            "[package]\nname = \"core\"\n[dependencies]\nof-core = \"1\"\n",
        ),
        (
            "tests/ui/bad/Cargo.toml",
            "[package]\nname = \"bad\"\n[dependencies]\nof-bad = \"1\"\n",
        ),
        (
            "Cargo.lock",
            "version = 4\n[[package]]\nname = \"core\"\nversion = \"0.1.0\"\ndependencies = [\"of-core\"]\n",
        ),
    ]);
    let report = repository.report(Depth::Shallow);
    let names: Vec<&str> = report
        .direct
        .iter()
        .map(|each| each.name.as_str())
        .collect();
    assert_eq!(
        names,
        ["of-core", "of-e2e", "of-root"],
        "a member of the workspace is built with the product"
    );
}

#[test]
fn in_a_repository_of_examples_they_are_the_product() {
    let report = Repository::with(&[("examples/go.mod", "module x\nrequire a.com/b v1.0.0\n")])
        .report(Depth::Shallow);
    assert_eq!(report.headline(), "Go (1 direct, 1 locked)");
}
