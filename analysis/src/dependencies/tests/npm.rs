//! npm, yarn and pnpm.

use super::*;

const ROOT: &str = r#"{
  "name": "root",
  "version": "1.0.0",
  "license": "Apache-2.0",
  "scripts": { "build": "tsc -p .", "lint": "eslint ." },
  "dependencies": {
    "react": "^18.2.0",
    "lodash": "*",
    "forked": "github:someone/forked#v1.2.3",
    "tarball": "https://example.com/t.tgz?token=secret",
    "renamed": "npm:original@^3.0.0"
  },
  "devDependencies": {
    "typescript": "~5.4.0",
    "eslint": "^9.0.0",
    "@types/react": "^18.0.0",
    "dusty": "1.0.0"
  },
  "peerDependencies": { "vue": ">=3" },
  "optionalDependencies": { "fsevents": "^2.3.0" }
}"#;

const MEMBER: &str = r#"{ "name": "member", "dependencies": { "react": "^17.0.0", "root": "workspace:*", "local": "file:../local" } }"#;

const LOCK_V3: &str = r#"{
  "lockfileVersion": 3,
  "packages": {
    "": { "name": "root" },
    "node_modules/react": { "version": "18.3.1", "license": "MIT", "dependencies": { "loose-envify": "^1.1.0" } },
    "node_modules/loose-envify": { "version": "1.4.0", "license": "MIT", "dependencies": { "js-tokens": "^4" } },
    "node_modules/js-tokens": { "version": "4.0.0", "license": "ISC" },
    "node_modules/member": { "resolved": "packages/member", "link": true },
    "packages/member/node_modules/react": { "version": "17.0.2", "license": "MIT" },
    "node_modules/lodash": { "version": "4.17.21" },
    "node_modules/renamed": { "name": "original", "version": "3.1.0" },
    "node_modules/typescript": { "version": "5.4.5", "license": "Apache-2.0", "dev": true }
  }
}"#;

#[test]
fn package_json_with_a_lock_of_version_3() {
    let repository = Repository::with(&[
        ("package.json", ROOT),
        ("packages/member/package.json", MEMBER),
        ("package-lock.json", LOCK_V3),
    ]);
    let report = repository.report(Depth::Medium);
    let react: Vec<_> = report
        .direct
        .iter()
        .filter(|each| each.name == "react")
        .map(|each| {
            (
                each.requirement.as_deref().unwrap(),
                each.locked.as_deref().unwrap(),
            )
        })
        .collect();
    assert_eq!(react, [("^17.0.0", "17.0.2"), ("^18.2.0", "18.3.1")]);
    assert_eq!(
        line(&report, "typescript"),
        "typescript ~5.4.0 -> 5.4.5 Dev Registry package.json:14"
    );
    assert_eq!(
        line(&report, "original"),
        "original ^3.0.0 -> 3.1.0 Normal Registry package.json:11"
    );
    assert_eq!(direct(&report, "vue").kind, Kind::Peer);
    assert_eq!(direct(&report, "fsevents").kind, Kind::Optional);
    assert_eq!(direct(&report, "root").origin, Origin::Workspace);
    assert_eq!(
        direct(&report, "local").location.as_deref(),
        Some("packages/local")
    );
    assert_eq!(
        direct(&report, "tarball").location.as_deref(),
        Some("https://example.com/t.tgz")
    );
    assert_eq!(reason(&report, "forked"), Some(LooseReason::GitPinned));
    assert_eq!(reason(&report, "lodash"), None, "the lock file decides");
    assert_eq!(reason(&report, "eslint"), Some(LooseReason::NotLocked));
    assert_eq!(reason(&report, "vue"), None);
    assert_eq!(report.conflicts[0].name, "react");
    assert_eq!(duplicate(&report, "react").versions.len(), 2);
    let mit = report
        .licences
        .iter()
        .find(|each| each.licence == "MIT")
        .unwrap();
    assert_eq!(mit.packages, 3);
    assert_eq!(report.licence_unknown, 2);
    assert!(!serde_json::to_string(&report).unwrap().contains("secret"));
}

#[test]
fn lock_of_version_1() {
    let lock = r#"{ "lockfileVersion": 1, "dependencies": {
        "a": { "version": "1.0.0", "requires": { "b": "^2.0.0" }, "dependencies": { "b": { "version": "2.5.0" } } },
        "b": { "version": "1.1.0" } } }"#;
    let repository = Repository::with(&[
        ("package.json", r#"{"dependencies":{"a":"1","b":"^1"}}"#),
        ("package-lock.json", lock),
    ]);
    let report = repository.report(Depth::Shallow);
    assert_eq!(direct(&report, "b").locked.as_deref(), Some("1.1.0"));
    let b = duplicate(&report, "b");
    assert_eq!(b.versions[1].required_by, ["a 1.0.0"]);
}

#[test]
fn pnpm_lock_of_version_9_with_catalog() {
    let lock = "lockfileVersion: '9.0'\nimporters:\n  .:\n    dependencies:\n      vite:\n        specifier: 'catalog:'\n        version: 5.4.0(@types/node@20.0.0)\n  packages/app:\n    devDependencies:\n      esbuild:\n        specifier: ^0.20.0\n        version: 0.20.2\npackages:\n  vite@5.4.0:\n    resolution: {integrity: sha512-x}\n  esbuild@0.20.2:\n    resolution: {integrity: sha512-x}\n  esbuild@0.21.5:\n    resolution: {integrity: sha512-x}\n  '@types/node@20.0.0':\n    resolution: {integrity: sha512-x}\nsnapshots:\n  vite@5.4.0(@types/node@20.0.0):\n    dependencies:\n      esbuild: 0.21.5\n";
    let repository = Repository::with(&[
        ("package.json", r#"{"dependencies":{"vite":"catalog:"}}"#),
        (
            "packages/app/package.json",
            r#"{"devDependencies":{"esbuild":"^0.20.0"}}"#,
        ),
        (
            "pnpm-workspace.yaml",
            "packages: ['packages/*']\ncatalog:\n  vite: ^5.4.0\n",
        ),
        ("pnpm-lock.yaml", lock),
    ]);
    let report = repository.report(Depth::Medium);
    assert!(report.incomplete.is_empty(), "{:?}", report.incomplete);
    assert_eq!(
        line(&report, "vite"),
        "vite ^5.4.0 -> 5.4.0 Normal Registry package.json:1"
    );
    assert_eq!(direct(&report, "esbuild").locked.as_deref(), Some("0.20.2"));
    assert_eq!(
        duplicate(&report, "esbuild").versions[1].required_by,
        ["vite 5.4.0"]
    );
    assert!(
        locked(&report)
            .into_iter()
            .any(|each| each.name == "@types/node" && each.version == "20.0.0")
    );
}

#[test]
fn pnpm_locks_of_older_versions() {
    for (lock, what) in [
        (
            "lockfileVersion: 5.4\nspecifiers:\n  react: ^18\ndependencies:\n  react: 18.2.0\npackages:\n  /react/18.2.0:\n    resolution: {integrity: x}\n  /react-dom/18.2.0_react@18.2.0:\n    resolution: {integrity: x}\n",
            "5",
        ),
        (
            "lockfileVersion: '6.0'\ndependencies:\n  react:\n    specifier: ^18\n    version: 18.2.0\npackages:\n  /react@18.2.0:\n    resolution: {integrity: x}\n  /react-dom@18.2.0(react@18.2.0):\n    resolution: {integrity: x}\n",
            "6",
        ),
    ] {
        let repository = Repository::with(&[
            ("package.json", r#"{"dependencies":{"react":"^18"}}"#),
            ("pnpm-lock.yaml", lock),
        ]);
        let report = repository.report(Depth::Medium);
        let locked: Vec<String> = locked(&report)
            .into_iter()
            .map(|each| format!("{} {}", each.name, each.version))
            .collect();
        assert_eq!(
            locked,
            ["react 18.2.0", "react-dom 18.2.0"],
            "version {what}"
        );
        assert_eq!(direct(&report, "react").locked.as_deref(), Some("18.2.0"));
    }
}

#[test]
fn yarn_locks_of_both_generations() {
    let classic = "# THIS IS AN AUTOGENERATED FILE. DO NOT EDIT THIS FILE DIRECTLY.\n# yarn lockfile v1\n\n\nms@2.0.0:\n  version \"2.0.0\"\n  resolved \"https://registry.yarnpkg.com/ms/-/ms-2.0.0.tgz#x\"\n\nms@^2.1.1:\n  version \"2.1.3\"\n  resolved \"https://registry.yarnpkg.com/ms/-/ms-2.1.3.tgz#x\"\n\ndebug@^2.6.0:\n  version \"2.6.9\"\n  resolved \"https://registry.yarnpkg.com/debug/-/debug-2.6.9.tgz#x\"\n  dependencies:\n    ms \"2.0.0\"\n";
    let berry = "# This file is generated by running \"yarn install\" inside your project.\n# Manual changes might be lost - proceed with caution!\n\n__metadata:\n  version: 8\n  cacheKey: 10c0\n\n\"debug@npm:^2.6.0\":\n  version: 2.6.9\n  resolution: \"debug@npm:2.6.9\"\n  dependencies:\n    ms: \"npm:2.0.0\"\n  checksum: 10c0/x\n  languageName: node\n  linkType: hard\n\n\"ms@npm:2.0.0\":\n  version: 2.0.0\n  resolution: \"ms@npm:2.0.0\"\n  checksum: 10c0/x\n  languageName: node\n  linkType: hard\n\n\"ms@npm:^2.1.1\":\n  version: 2.1.3\n  resolution: \"ms@npm:2.1.3\"\n  checksum: 10c0/x\n  languageName: node\n  linkType: hard\n";
    let renamed = "\n\"other@npm:@some/original@1.0.0\":\n  version \"1.0.0\"\n  resolved \"https://registry.yarnpkg.com/x.tgz#x\"\n";
    let renamed_later = "\n\"other@npm:@some/original@1.0.0\":\n  version: 1.0.0\n  resolution: \"@some/original@npm:1.0.0\"\n  checksum: 10c0/x\n  languageName: node\n  linkType: hard\n";
    for lock in [
        format!("{classic}{renamed}"),
        format!("{berry}{renamed_later}"),
    ] {
        let repository = Repository::with(&[
            (
                "package.json",
                r#"{"dependencies":{"debug":"^2.6.0","ms":"^2.1.1","other":"npm:@some/original@1.0.0"}}"#,
            ),
            ("yarn.lock", &lock),
        ]);
        let report = repository.report(Depth::Shallow);
        assert!(report.incomplete.is_empty(), "{:?}", report.incomplete);
        assert_eq!(direct(&report, "ms").locked.as_deref(), Some("2.1.3"));
        assert_eq!(
            line(&report, "@some/original"),
            "@some/original 1.0.0 -> 1.0.0 Normal Registry package.json:1"
        );
        assert!(report.loose.is_empty(), "{:?}", report.loose);
        assert_eq!(
            duplicate(&report, "ms").versions[0].required_by,
            ["debug 2.6.9"]
        );
    }
}

#[test]
fn javascript_usage() {
    let repository = Repository::with(&[
        ("package.json", ROOT),
        ("packages/member/package.json", MEMBER),
    ]);
    repository.write(
        "src/app.tsx",
        "import React from 'react';\nimport x from \"renamed/sub\";\n",
    );
    repository.write(
        "packages/member/index.js",
        "const r = require('react'); const f = require('forked');\n",
    );
    let report = repository.report(Depth::Deep);
    let react = |manifest: &str| {
        report
            .usage
            .iter()
            .find(|each| each.name == "react" && each.manifest == manifest)
            .unwrap()
            .files
    };
    assert_eq!(
        (react("package.json"), react("packages/member/package.json")),
        (1, 1)
    );
    assert!(
        unused(&report).is_empty(),
        "tools load packages that nothing names"
    );
}

#[test]
fn packages_of_the_repository_are_no_direct_dependencies() {
    let lock = "lockfileVersion: '9.0'\nimporters:\n  .: {}\n  app:\n    dependencies:\n      '@own/lib':\n        specifier: npm:@own/lib\n        version: link:../lib\n      '@own/copied':\n        specifier: file:../copied\n        version: file:copied\n      short:\n        specifier: npm:@some/original@1.0.0\n        version: '@some/original@1.0.0(peer@2.0.0)'\npackages:\n  '@own/copied@file:copied': {}\n  '@some/original@1.0.0': {}\n";
    let report = Repository::with(&[
        (
            "app/package.json",
            r#"{"dependencies":{"@own/lib":"npm:@own/lib","@own/copied":"file:../copied","short":"npm:@some/original@1.0.0"}}"#,
        ),
        (
            "lib/package.json",
            r#"{"name":"@own/lib","dependencies":{"ms":"^2"}}"#,
        ),
        ("package.json", "{}"),
        ("pnpm-lock.yaml", lock),
    ])
    .report(Depth::Medium);
    let own = direct(&report, "@own/lib");
    assert_eq!(
        (own.origin, own.locked.as_deref()),
        (Origin::Workspace, None)
    );
    assert_eq!(
        direct(&report, "@some/original").locked.as_deref(),
        Some("1.0.0")
    );
    assert_eq!(report.headline(), "npm (2 direct, 1 locked)");
}
