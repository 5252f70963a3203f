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
    assert_eq!(report.vendored_manifests, 1);
    let roles: Vec<Role> = report.manifests.iter().map(|each| each.role).collect();
    assert_eq!(roles, [Role::Product, Role::Example, Role::Fixture]);
}
