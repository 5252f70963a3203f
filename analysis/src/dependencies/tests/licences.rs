//! Licences from the local caches of package managers.

use super::*;

/// Returns the licences of the locked packages, with caches in a folder of their own.
fn licences(repository: &Repository, caches: &Repository) -> Vec<String> {
    let at = |path: &str| Some(caches.folder.path().join(path));
    let found = PackageCaches {
        cargo: at("cargo"),
        go: at("go"),
        python: at("python").into_iter().collect(),
        maven: at("m2"),
        gradle: at("gradle"),
    };
    let root = repository.folder.path();
    let report = dependencies(root, Depth::Medium, &found, &patient()).unwrap();
    let mut known: Vec<String> = locked(&report)
        .into_iter()
        .filter_map(|each| Some(format!("{} {}", each.name, each.licence.as_ref()?)))
        .collect();
    known.sort();
    known
}

const CARGO_LOCK: &str = "version = 4\n[[package]]\nname = \"serde\"\nversion = \"1.0.219\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\n[[package]]\nname = \"other\"\nversion = \"1.0.0\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\n";

#[test]
fn crates_have_theirs_in_the_registry() {
    let repository =
        Repository::with(&[("Cargo.toml", "[workspace]\n"), ("Cargo.lock", CARGO_LOCK)]);
    let manifest = "[package]\nname = \"serde\"\nlicense = \"MIT OR Apache-2.0\"\n";
    let caches = Repository::with(&[
        ("cargo/index.crates.io-1/serde-1.0.219/Cargo.toml", manifest),
        // Another version tells nothing.
        ("cargo/index.crates.io-1/other-2.0.0/Cargo.toml", manifest),
    ]);
    assert_eq!(licences(&repository, &caches), ["serde MIT OR Apache-2.0"]);
}

#[test]
fn packages_of_node_have_theirs_in_node_modules() {
    let package = |name: &str, version: &str, licence: &str| {
        format!(r#"{{"name":"{name}","version":"{version}",{licence}}}"#)
    };
    let lock = "lockfileVersion: '9.0'\nimporters:\n  .: {}\npackages:\n  ms@2.1.3: {}\n  '@a/b@1.0.0': {}\n  old@1.0.0: {}\n  stale@1.0.0: {}\n";
    let repository = Repository::with(&[
        ("package.json", "{}"),
        ("pnpm-lock.yaml", lock),
        (".gitignore", "node_modules\n"),
        (
            "node_modules/.pnpm/ms@2.1.3/node_modules/ms/package.json",
            &package("ms", "2.1.3", r#""license":"MIT""#),
        ),
        (
            "node_modules/.pnpm/@a+b@1.0.0_peer@2.0.0/node_modules/@a/b/package.json",
            &package("@a/b", "1.0.0", r#""license":{"type":"ISC"}"#),
        ),
        (
            "node_modules/old/package.json",
            &package(
                "old",
                "1.0.0",
                r#""licenses":[{"type":"MIT"},{"type":"GPL-2.0"}]"#,
            ),
        ),
        (
            "node_modules/stale/package.json",
            &package("stale", "0.9.0", r#""license":"MIT""#),
        ),
    ]);
    assert_eq!(
        licences(&repository, &Repository::with(&[])),
        ["@a/b ISC", "ms MIT", "old MIT OR GPL-2.0"]
    );
}

#[test]
fn distributions_have_theirs_in_site_packages() {
    let lock = "[[package]]\nname = \"My.Lib\"\nversion = \"1.0\"\n[[package]]\nname = \"requests\"\nversion = \"2.32.3\"\n[[package]]\nname = \"whole\"\nversion = \"1\"\n";
    let repository = Repository::with(&[
        ("pyproject.toml", "[tool.poetry]\nname = \"p\"\n"),
        ("poetry.lock", lock),
        (
            ".venv/lib/python3.12/site-packages/requests-2.32.3.dist-info/METADATA",
            "Name: requests\nLicense: Apache-2.0\n\nLicense: not this\n",
        ),
    ]);
    let caches = Repository::with(&[
        (
            "python/my_lib-1.0.dist-info/METADATA",
            "Name: My.Lib\nLicense: UNKNOWN\nClassifier: License :: OSI Approved :: MIT License\n",
        ),
        (
            "python/whole-1.dist-info/METADATA",
            &format!("License: {}\n", "text ".repeat(100)),
        ),
    ]);
    assert_eq!(
        licences(&repository, &caches),
        ["my-lib MIT License", "requests Apache-2.0"]
    );
}

#[test]
fn modules_of_go_have_theirs_in_the_module_cache() {
    let repository = Repository::with(&[(
        "go.mod",
        "module x\nrequire (\n\tgithub.com/BurntSushi/toml v1.4.0\n\ta.com/gone v1.0.0\n\ta.com/old v1.0.0\n)\nreplace a.com/old => a.com/fork v1.1.0\n",
    )]);
    let mit = "Permission is hereby granted, free of charge, to any person obtaining a copy.\nThis permission notice shall be included.";
    let caches = Repository::with(&[
        ("go/github.com/!burnt!sushi/toml@v1.4.0/COPYING", mit),
        ("go/a.com/old@v1.0.0/LICENSE", mit),
        (
            "go/a.com/fork@v1.1.0/LICENSE",
            "Apache License\nVersion 2.0",
        ),
    ]);
    assert_eq!(
        licences(&repository, &caches),
        ["a.com/fork Apache-2.0", "github.com/BurntSushi/toml MIT"]
    );
}

#[test]
fn artifacts_have_theirs_from_a_parent() {
    let lock = "a.b:lib:1.0=compileClasspath\nc.d:app:2.0=compileClasspath\n";
    let repository = Repository::with(&[
        (
            "build.gradle",
            "dependencies {\n    implementation 'a.b:lib:1.0'\n}\n",
        ),
        ("gradle.lockfile", lock),
    ]);
    let parent = "<project><licenses><license><name>EPL-2.0</name></license></licenses></project>";
    let caches = Repository::with(&[
        (
            "m2/a/b/lib/1.0/lib-1.0.pom",
            "<project><parent><groupId>a.b</groupId><artifactId>parent</artifactId><version>7</version></parent></project>",
        ),
        ("m2/a/b/parent/7/parent-7.pom", parent),
        ("gradle/c.d/app/2.0/0a1b/app-2.0.pom", parent),
    ]);
    assert_eq!(
        licences(&repository, &caches),
        ["a.b:lib EPL-2.0", "c.d:app EPL-2.0"]
    );
}

#[test]
fn names_and_links_lead_nowhere_else() {
    let lock = CARGO_LOCK.replace("\"serde\"", "\"../outside/serde\"");
    let manifest = "[package]\nname = \"../outside/serde\"\nlicense = \"STOLEN\"\n";
    let repository = Repository::with(&[
        ("Cargo.toml", "[workspace]\n"),
        ("Cargo.lock", &lock),
        ("package.json", "{}"),
        (
            "package-lock.json",
            r#"{"lockfileVersion":3,"packages":{"node_modules/ms":{"version":"2.1.3"}}}"#,
        ),
    ]);
    let caches = Repository::with(&[
        ("cargo/outside/serde-1.0.219/Cargo.toml", manifest),
        ("cargo/index.crates.io-1/x", ""),
        (
            "elsewhere/ms/package.json",
            r#"{"name":"ms","version":"2.1.3","license":"STOLEN"}"#,
        ),
    ]);
    std::os::unix::fs::symlink(
        caches.folder.path().join("elsewhere"),
        repository.folder.path().join("node_modules"),
    )
    .unwrap();
    assert!(licences(&repository, &caches).is_empty());
}
