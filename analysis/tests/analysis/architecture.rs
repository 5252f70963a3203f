//! The architecture report on fixture repositories with known answers.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::Repo;
use analysis::report::architecture::{
    ArchitectureReport, CommandPurpose, Ecosystem, EntryKind, Role,
};
use analysis::{Budget, Depth, Report as _, architecture, summarise};

fn analysed(root: &Path, depth: Depth) -> ArchitectureReport {
    architecture(root, depth, &Budget::for_depth(depth)).unwrap()
}

/// Returns the imports between files as `from > to`.
fn edges(report: &ArchitectureReport) -> BTreeSet<String> {
    let graph = report.graph.as_ref().unwrap();
    graph
        .file_edges
        .items
        .iter()
        .map(|edge| format!("{} > {}", edge.from, edge.to))
        .collect()
}

fn set(edges: &[&str]) -> BTreeSet<String> {
    edges.iter().map(|&edge| edge.to_owned()).collect()
}

fn workspace() -> Repo {
    let repo = Repo::init();
    repo.write("README.md", "# Widget works\n\n![badge](x)\n\nMakes widgets of all sizes for everybody who needs them.\n")
        .write("Cargo.toml", "[workspace]\nmembers = [\"core\", \"apps/*\", \"tests\"]\nexclude = [\"apps/old\"]\n")
        .write("core/Cargo.toml", "[package]\nname = \"widget-core\"\nversion = \"0.1.0\"\ndescription = \"Widgets\"\n[dependencies]\nserde = \"1\"\n")
        .write("core/src/lib.rs", "//! Core.\nmod error;\npub mod store;\nmod shapes;\npub use error::Error;\npub use shapes::*;\n")
        .write("core/src/error.rs", "pub struct Error;\n")
        .write("core/src/shapes.rs", "use crate::Error;\npub struct Circle;\npub fn draw() -> Error { Error }\n")
        .write("core/src/store/mod.rs", "mod rows;\nuse self::rows::Row;\nuse super::error;\npub fn open() -> Row { let _: error::Error; Row }\n#[cfg(test)]\nmod tests { use super::*; use crate::shapes::Circle; }\n")
        .write("core/src/store/rows.rs", "// use crate::shapes::Circle;\npub struct Row;\nmod inner { use super::super::open; }\n")
        .write("apps/cli/Cargo.toml", "[package]\nname = \"widget\"\nversion = \"0.2.0\"\n[dependencies]\nwidget-core = { path = \"../../core\" }\n[[bin]]\nname = \"widget\"\npath = \"src/main.rs\"\n")
        .write("apps/cli/src/main.rs", "mod commands;\nuse widget_core::{Circle, store};\nfn main() { commands::run(); store::open(); }\n")
        .write("apps/cli/src/commands.rs", "pub fn run() { let e: widget_core::Error; }\n")
        .write("apps/old/Cargo.toml", "[package]\nname = \"old\"\n")
        .write("tests/Cargo.toml", "[package]\nname = \"widget-tests\"\n")
        .write("tests/tests/e2e.rs", "use widget_core::Error;\n")
        .write("Makefile", "test:\n\tcargo test --workspace\n")
        .write(".github/workflows/ci.yml", "jobs:\n  a:\n    steps:\n      - run: cargo clippy --all\n")
        .write("docs/architecture.md", "# How\n");
    repo
}

#[test]
fn shallow_tells_what_a_repository_is() {
    let repo = workspace();
    let report = analysed(repo.path(), Depth::Shallow);
    assert_eq!(report.identity.name, "Widget works");
    assert_eq!(
        report.identity.summary.as_deref(),
        Some("Makes widgets of all sizes for everybody who needs them.")
    );
    assert_eq!(report.identity.documents, ["docs/architecture.md"]);
    let packages: Vec<(&str, &str, bool)> = report
        .packages
        .items
        .iter()
        .map(|package| {
            (
                package.name.as_str(),
                package.path.as_str(),
                package.workspace_member,
            )
        })
        .collect();
    assert_eq!(
        packages,
        [
            ("(workspace)", ".", false),
            ("widget-core", "core", true),
            ("widget-tests", "tests", true),
            ("widget", "apps/cli", true),
            ("old", "apps/old", false),
        ]
    );
    assert_eq!(
        report.packages.items[3].internal_dependencies,
        ["widget-core"]
    );
    assert_eq!(report.packages.items[1].external_dependencies, Some(1));
    let entry = &report.entry_points.items[0];
    assert_eq!(
        (entry.name.as_str(), entry.kind, entry.path.as_str()),
        ("widget", EntryKind::Binary, "apps/cli/src/main.rs")
    );
    assert!(
        report
            .entry_points
            .items
            .iter()
            .any(|entry| entry.kind == EntryKind::Library && entry.path == "core/src/lib.rs")
    );
    let commands: Vec<(CommandPurpose, &str)> = report
        .commands
        .items
        .iter()
        .map(|command| (command.purpose, command.command.as_str()))
        .collect();
    assert!(commands.contains(&(CommandPurpose::Test, "make test")));
    assert!(commands.contains(&(CommandPurpose::Lint, "cargo clippy --all")));
    let role = |folder: &str| {
        report
            .folders
            .items
            .iter()
            .find(|entry| entry.folder == folder)
            .unwrap()
            .role
    };
    assert_eq!(
        (role("core"), role("docs"), role(".github")),
        (
            Role::Package,
            Role::Documentation,
            Role::ContinuousIntegration
        )
    );
    assert!(report.graph.is_none() && report.incomplete.is_empty());
}

#[test]
fn rust_imports_follow_modules_and_reexports() {
    let repo = workspace();
    let report = analysed(repo.path(), Depth::Medium);
    assert_eq!(
        edges(&report),
        set(&[
            "core/src/lib.rs > core/src/error.rs",
            "core/src/lib.rs > core/src/shapes.rs",
            "core/src/shapes.rs > core/src/error.rs",
            "core/src/store/mod.rs > core/src/store/rows.rs",
            "core/src/store/mod.rs > core/src/error.rs",
            "core/src/store/rows.rs > core/src/store/mod.rs",
            "apps/cli/src/main.rs > apps/cli/src/commands.rs",
            "apps/cli/src/main.rs > core/src/shapes.rs",
            "apps/cli/src/main.rs > core/src/store/mod.rs",
            "apps/cli/src/commands.rs > core/src/error.rs",
        ])
    );
    let graph = report.graph.as_ref().unwrap();
    assert_eq!(graph.unresolved, 0);
    assert_eq!(graph.file_cycles.items.len(), 1);
    assert_eq!(
        graph.file_cycles.items[0].members,
        ["core/src/store/mod.rs", "core/src/store/rows.rs"]
    );
    let layer = |name: &str| {
        let mut layers = graph.layers.items.iter();
        let layer = layers.find(|layer| layer.modules.iter().any(|area| area == name));
        layer.unwrap().layer
    };
    assert_eq!(layer("core/src/error"), 0);
    assert!(layer("apps/cli/src/main.rs") > layer("core/src/shapes"));
    let surface = report.public_surface.as_ref().unwrap();
    let shapes = surface
        .items
        .iter()
        .find(|surface| surface.module == "core/src/shapes")
        .unwrap();
    assert_eq!(
        (shapes.exported, shapes.names.join(" ").as_str()),
        (2, "Circle draw")
    );
    assert!(
        report
            .headline()
            .starts_with("Widget works: 5 packages, 1 binary"),
        "{}",
        report.headline()
    );
}

#[test]
fn typescript_imports_follow_paths_aliases_and_packages() {
    let repo = Repo::init();
    repo.write("package.json", "{\"name\": \"top\", \"workspaces\": [\"packages/*\"], \"scripts\": {\"test\": \"vitest run\"}}")
        .write("pnpm-lock.yaml", "")
        .write("packages/lib/package.json", "{\"name\": \"@x/lib\", \"main\": \"dist/index.js\"}")
        .write("packages/lib/src/index.ts", "export * from './a.js';\nexport { b } from './b';\n")
        .write("packages/lib/src/a.ts", "export const a = 1;\n")
        .write("packages/lib/src/b/index.tsx", "import type { T } from '../types';\nexport const b = 2;\n")
        .write("packages/lib/src/types.d.ts", "export type T = 1;\n")
        .write("packages/app/package.json", "{\"name\": \"app\", \"dependencies\": {\"@x/lib\": \"*\", \"react\": \"1\"}}")
        .write("packages/app/tsconfig.json", "{\n // aliases\n \"compilerOptions\": { \"paths\": { \"@/*\": [\"./src/*\"], }, }\n}")
        .write("packages/app/src/main.ts", "import { a } from '@x/lib';\nimport { u } from '@/util/u';\nimport react from 'react';\nconst lazy = () => import('./lazy');\nimport './gone';\n")
        .write("packages/app/src/util/u.ts", "import { a } from '@x/lib/src/a';\nexport function u() {}\n")
        .write("packages/app/src/lazy.js", "const u = require('./util/u');\n");
    let report = analysed(repo.path(), Depth::Medium);
    assert_eq!(
        edges(&report),
        set(&[
            "packages/lib/src/index.ts > packages/lib/src/a.ts",
            "packages/lib/src/index.ts > packages/lib/src/b/index.tsx",
            "packages/lib/src/b/index.tsx > packages/lib/src/types.d.ts",
            "packages/app/src/main.ts > packages/lib/src/index.ts",
            "packages/app/src/main.ts > packages/app/src/util/u.ts",
            "packages/app/src/main.ts > packages/app/src/lazy.js",
            "packages/app/src/util/u.ts > packages/lib/src/a.ts",
            "packages/app/src/lazy.js > packages/app/src/util/u.ts",
        ])
    );
    assert_eq!(report.graph.as_ref().unwrap().unresolved, 1);
    assert_eq!(
        report
            .packages
            .items
            .iter()
            .filter(|package| package.workspace_member)
            .count(),
        2
    );
    assert!(report.commands.items.iter().any(
        |command| command.command == "pnpm run test" && command.purpose == CommandPurpose::Test
    ));
}

#[test]
fn python_go_java_and_c_imports() {
    let repo = Repo::init();
    repo.write("py/pyproject.toml", "[project]\nname = \"tool\"\ndependencies = [\"requests>=2\"]\n[project.scripts]\ntool = \"tool.cli:main\"\n")
        .write("py/src/tool/__init__.py", "from .core import run\n")
        .write("py/src/tool/core.py", "import os, tool.util.text\nfrom tool import cli\n")
        .write("py/src/tool/cli.py", "from . import core\nfrom .util import text as t\nimport requests\ndef main(): pass\n")
        .write("py/src/tool/util/__init__.py", "")
        .write("py/src/tool/util/text.py", "from ..core import run\n")
        .write("go/go.mod", "module example.com/m\n\nrequire (\n\tgolang.org/x/net v1\n)\n")
        .write("go/cmd/serve/main.go", "package main\nimport (\n\t\"fmt\"\n\t\"example.com/m/pkg/store\"\n)\nfunc main() {}\n")
        .write("go/pkg/store/open.go", "package store\nfunc Open() {}\n")
        .write("go/pkg/store/store.go", "package store\nimport \"example.com/m/internal/log\"\ntype Store struct{}\n")
        .write("go/internal/log/log.go", "package log\n")
        .write("go/internal/log/log_test.go", "package log\nimport \"example.com/m/pkg/store\"\n")
        .write("java/pom.xml", "<project><artifactId>shop</artifactId></project>")
        .write("java/src/main/java/com/shop/Main.java", "package com.shop;\nimport com.shop.cart.Cart;\nimport static com.shop.cart.Cart.Item.of;\nimport java.util.List;\npublic class Main { public static void main(String[] a) { new Cart(); } }\n")
        .write("java/src/main/java/com/shop/cart/Cart.java", "package com.shop.cart;\nimport com.shop.model.*;\npublic class Cart { Price price; }\n")
        .write("java/src/main/java/com/shop/model/Price.java", "package com.shop.model;\npublic record Price(int a) {}\n")
        .write("c/CMakeLists.txt", "cmake_minimum_required(VERSION 3)\nproject(engine C)\n")
        .write("c/src/main.c", "#include <stdio.h>\n#include \"engine/run.h\"\n#include \"local.h\"\nint main(void) { return 0; }\n")
        .write("c/src/local.h", "#pragma once\n")
        .write("c/src/run.cpp", "#include <engine/run.h>\n#include <string.h>\n")
        .write("c/include/engine/run.h", "int run(int x);\n")
        .write("c/include/engine/string.h", "int len(void);\n");
    let report = analysed(repo.path(), Depth::Medium);
    assert_eq!(
        edges(&report),
        set(&[
            "py/src/tool/__init__.py > py/src/tool/core.py",
            "py/src/tool/core.py > py/src/tool/util/text.py",
            "py/src/tool/core.py > py/src/tool/cli.py",
            "py/src/tool/cli.py > py/src/tool/core.py",
            "py/src/tool/cli.py > py/src/tool/util/text.py",
            "py/src/tool/util/text.py > py/src/tool/core.py",
            "go/cmd/serve/main.go > go/pkg/store/store.go",
            "go/pkg/store/store.go > go/internal/log/log.go",
            "java/src/main/java/com/shop/Main.java > java/src/main/java/com/shop/cart/Cart.java",
            "java/src/main/java/com/shop/cart/Cart.java > java/src/main/java/com/shop/model/Price.java",
            "c/src/main.c > c/include/engine/run.h",
            "c/src/main.c > c/src/local.h",
            "c/src/run.cpp > c/include/engine/run.h",
        ])
    );
    let ecosystems: BTreeSet<Ecosystem> = report
        .packages
        .items
        .iter()
        .map(|package| package.ecosystem)
        .collect();
    assert_eq!(
        ecosystems,
        BTreeSet::from([
            Ecosystem::Python,
            Ecosystem::Go,
            Ecosystem::Maven,
            Ecosystem::CMake
        ])
    );
    let starts: BTreeSet<&str> = report
        .entry_points
        .items
        .iter()
        .map(|entry| entry.path.as_str())
        .collect();
    for path in [
        "py/src/tool/cli.py",
        "go/cmd/serve/main.go",
        "java/src/main/java/com/shop/Main.java",
        "c/src/main.c",
    ] {
        assert!(starts.contains(path), "{path}");
    }
    let cycles = &report.graph.as_ref().unwrap().file_cycles.items;
    assert_eq!(cycles.len(), 1);
    assert_eq!(cycles[0].size, 3);
}

#[test]
fn folders_and_entry_points_are_what_they_contain() {
    let repo = Repo::new();
    repo.write("go.mod", "module example.com/m\n")
        .write("main.go", "package main\nfunc main() {}\n")
        .write("media/types.go", "package media\n")
        .write(
            "platform-tests/src/test/java/ATest.java",
            "class ATest {}\n",
        )
        .write(".devcontainer/up.sh", "echo\n")
        .write(
            "LICENSE",
            "Starting in 2024 this follows two licences at once\n\nmore\n",
        )
        .write("app/package.json", "{\"name\": \"app\", \"private\": true}")
        .write("app/src/index.ts", "export const x = 1;\n")
        .write(
            "src/crc.c",
            "#ifdef CRC_TEST\nint main(void) {\n}\n#endif\n",
        );
    for number in 0..9 {
        let path = format!("examples/{number}/main.go");
        repo.write(&path, "package main\nfunc main() {}\n");
    }
    let report = analysed(repo.path(), Depth::Medium);
    let role = |folder: &str| {
        let found = report
            .folders
            .items
            .iter()
            .find(|entry| entry.folder == folder);
        found.unwrap().role
    };
    assert_eq!(
        (role("media"), role("platform-tests"), role(".devcontainer")),
        (Role::Source, Role::Tests, Role::Configuration)
    );
    assert_eq!(report.identity.license, None);
    let kinds: Vec<(EntryKind, &str)> = report
        .entry_points
        .items
        .iter()
        .map(|entry| (entry.kind, entry.path.as_str()))
        .take(2)
        .collect();
    assert_eq!(
        kinds,
        [
            (EntryKind::Binary, "main.go"),
            (EntryKind::Example, "examples/0/main.go")
        ]
    );
    let entries = &report.entry_points;
    assert_eq!((entries.items.len(), entries.omitted), (6, 4));
}

#[test]
fn conventions_have_counts_and_a_majority() {
    let repo = Repo::init();
    for number in 0..12 {
        let name = if number < 10 {
            format!("src/a{number}.test.ts")
        } else {
            format!("tests/b{number}.ts")
        };
        let call = if number == 0 { "it" } else { "test" };
        repo.write(&name, format!("{call}('a', () => {{}});\n"));
        repo.git(&["add", "-A"]);
        let subject = match number {
            0 => "Whatever".to_owned(),
            1 => "fix: only one is conventional".to_owned(),
            _ => format!("store/rows: change {number} (#{number})"),
        };
        repo.git(&["commit", "-q", "-m", &subject]);
    }
    let report = analysed(repo.path(), Depth::Medium);
    let found: Vec<(&str, u64, u64)> = report
        .conventions
        .as_ref()
        .unwrap()
        .items
        .iter()
        .map(|found| (found.what.as_str(), found.seen, found.of))
        .collect();
    assert_eq!(
        found,
        [
            ("commit subjects start with `area: `", 11, 12),
            (
                "commit subjects end with the number of a pull request or issue: `(#1)`",
                10,
                12
            ),
            ("test files are named `*.test.ts`", 10, 12),
            ("test files are beside the code", 10, 10),
            ("TypeScript tests are written with `test(`", 11, 12),
        ]
    );
}

#[test]
fn deep_finds_coupling_without_imports() {
    let repo = workspace();
    repo.commit("Ann", 1_600_000_000);
    for number in 0..6 {
        repo.write(
            "core/src/error.rs",
            format!("pub struct Error;\n// {number}\n"),
        )
        .write(
            "apps/cli/src/main.rs",
            format!("mod commands;\nfn main() {{ commands::run(); }}\n// {number}\n"),
        )
        .write(
            "core/src/shapes.rs",
            format!("use crate::Error;\npub fn draw() -> Error {{ Error }}\n// {number}\n"),
        )
        .commit("Bob", 1_600_100_000 + number);
    }
    let report = analysed(repo.path(), Depth::Deep);
    let coupling = report.change_coupling.as_ref().unwrap();
    let pairs: Vec<(&str, &str, u64)> = coupling
        .items
        .iter()
        .map(|pair| (pair.one.as_str(), pair.other.as_str(), pair.together))
        .collect();
    assert_eq!(
        pairs,
        [
            ("apps/cli/src/main.rs", "core/src/error.rs", 7),
            ("apps/cli/src/main.rs", "core/src/shapes.rs", 7),
        ]
    );
    let order: Vec<&str> = report
        .reading_order
        .as_ref()
        .unwrap()
        .items
        .iter()
        .map(|step| step.path.as_str())
        .collect();
    assert_eq!(
        order[..5],
        [
            "README.md",
            "docs/architecture.md",
            "Cargo.toml",
            "apps/cli/src/main.rs",
            "core/src/lib.rs"
        ]
    );
    let json = serde_json::to_vec(&summarise(&report, 1_500)).unwrap();
    assert!(json.len() <= 4_500, "{}", json.len());
    assert!(serde_json::from_slice::<ArchitectureReport>(&json).is_ok());
}

#[test]
fn the_graph_of_this_package_is_right() {
    let report = analysed(Path::new(env!("CARGO_MANIFEST_DIR")), Depth::Medium);
    let edges = edges(&report);
    let graph = report.graph.as_ref().unwrap();
    assert_eq!(graph.unresolved, 0);
    for edge in [
        "src/codebase/mod.rs > src/git.rs",
        "src/codebase/mod.rs > src/budget.rs",
        "src/history/numstat.rs > src/git.rs",
        "src/tree/scan.rs > src/tree/imports/mod.rs",
        "src/fingerprint.rs > src/git.rs",
    ] {
        assert!(edges.contains(edge), "{edge}");
    }
    for edge in [
        "src/git.rs > src/codebase/mod.rs",
        "src/tree/lexer.rs > src/git.rs",
        "src/budget.rs > src/git.rs",
    ] {
        assert!(!edges.contains(edge), "{edge}");
    }
}
