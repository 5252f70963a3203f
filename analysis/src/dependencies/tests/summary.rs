//! The summary of a dependency report within its token budget.

use std::fmt::Write as _;

use super::*;

fn many() -> Repository {
    let repository = Repository::with(&[]);
    let mut manifest = String::from("[package]\nname = \"x\"\n[dependencies]\n");
    for number in 0..6_000 {
        writeln!(manifest, "dep{number} = \"*\"").unwrap();
    }
    repository.write("Cargo.toml", &manifest);
    repository
}

#[test]
fn many_dependencies_fit_every_budget() {
    let report = many().report(Depth::Medium);
    assert_eq!(report.direct.len(), 6_000);
    for tokens in [2_000, 8_000, 20_000, 1_000_000] {
        let summary = summarise(&report, tokens);
        let size = serde_json::to_string(&summary).unwrap().len();
        assert!(
            size <= tokens.min(20_000) * 3,
            "{size} bytes for {tokens} tokens"
        );
        assert!(
            size * 10 >= tokens.min(20_000) * 3 * 6,
            "{size} bytes waste a budget of {tokens} tokens"
        );
        assert_eq!(summary.direct.total(), 6_000);
        assert_eq!(summary.loose.total(), 6_000);
        assert_eq!(summary.headline(), report.headline());
    }
}

/// Below depth deep an answer has what a manifest does not say; the complete report has the lists too.
#[test]
fn an_answer_does_not_repeat_the_manifests() {
    let repository = Repository::with(&[
        (
            "Cargo.toml",
            "[package]\nname = \"x\"\n[dependencies]\nserde = \"1\"\nnone = \"*\"\n",
        ),
        (
            "Cargo.lock",
            "version = 4\n[[package]]\nname = \"serde\"\nversion = \"1.0.219\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\n",
        ),
    ]);
    for depth in [Depth::Shallow, Depth::Medium] {
        let report = repository.report(depth);
        let summary = summarise(&report, 8_000);
        assert_eq!(report.direct.len(), 2);
        assert_eq!((summary.direct.len(), summary.direct.omitted), (0, 2));
        assert_eq!(summary.locked.len(), 0);
        assert_eq!(summary.loose, report.loose);
        assert_eq!(summary.headline(), report.headline());
    }
    let deep = repository.report(Depth::Deep);
    let summary = summarise(&deep, 8_000);
    assert_eq!(
        (&summary.direct, &summary.locked),
        (&deep.direct, &deep.locked)
    );
    let sent = serde_json::to_string(&summary.locked[0].packages[0]).unwrap();
    assert_eq!(
        sent,
        "{\"name\":\"serde\",\"version\":\"1.0.219\",\"direct\":true}"
    );
}

#[test]
fn long_inner_lists_are_cut_too() {
    let repository = Repository::with(&[]);
    for number in 0..600 {
        repository.write(
            &format!("m{number}/Cargo.toml"),
            format!(
                "[package]\nname = \"m{number}\"\n[dependencies]\nserde = \"{}\"\n",
                number % 2
            ),
        );
    }
    let summary = summarise(&repository.report(Depth::Shallow), 8_000);
    assert!(serde_json::to_string(&summary).unwrap().len() <= 24_000);
    assert_eq!(
        summary.conflicts[0].requirements[0].places.len()
            + summary.conflicts[0].requirements[0].more_places as usize,
        300
    );
}

#[test]
fn the_schema_describes_what_is_sent() {
    let schema = serde_json::to_value(schemars::schema_for!(DependencyReport)).unwrap();
    assert!(schema["properties"]["vendoredManifests"]["description"].is_string());
    let report = Repository::with(&[]).report(Depth::Shallow);
    assert_eq!(report.headline(), "no dependency manifests found");
    let sent = serde_json::to_value(&report).unwrap();
    assert_eq!(
        serde_json::from_value::<DependencyReport>(sent).unwrap(),
        report
    );
}
