//! The import graph: which file an import means, and which imports count for cycles and layers.

use crate::support::Repo;
use analysis::report::architecture::{ImportTime, ModuleGraph};
use analysis::{Budget, Depth, architecture, summarise};

fn graph(files: &[(&str, &str)]) -> ModuleGraph {
    let repo = Repo::init();
    for (path, text) in files {
        repo.write(path, text);
    }
    let report = architecture(
        repo.path(),
        Depth::Medium,
        &Budget::for_depth(Depth::Medium),
    );
    report.unwrap().graph.unwrap()
}

/// Returns the imports as `from > to`, with `~` for lazy ones and `:` for those of types.
fn edges(graph: &ModuleGraph) -> Vec<String> {
    let edges = graph.file_edges.items.iter();
    edges
        .map(|edge| {
            let sign = match edge.when {
                None => '>',
                Some(ImportTime::Lazy) => '~',
                Some(ImportTime::Type) => ':',
            };
            format!("{} {sign} {}", edge.from, edge.to)
        })
        .collect()
}

#[test]
fn python_imports_begin_on_the_path() {
    let graph = graph(&[
        ("pyproject.toml", "[project]\nname = \"app\"\n"),
        ("src/app/__init__.py", ""),
        // Neither the standard library nor `helpers` beside it.
        (
            "src/app/run.py",
            "import logging, types\nimport helpers\nimport app.helpers\nimport space.inner.deep\n",
        ),
        ("src/app/logging.py", "import logging\n"),
        ("src/app/types.py", ""),
        ("src/app/helpers.py", ""),
        ("src/space/inner/deep.py", ""),
        ("tools/json.py", ""),
        ("tools/shared.py", ""),
        ("tools/go.py", "import json\nimport shared\n"),
        ("other/use.py", "import shared\nimport json\n"),
    ]);
    assert_eq!(
        edges(&graph),
        [
            "src/app/run.py > src/app/helpers.py",
            "src/app/run.py > src/space/inner/deep.py",
            "tools/go.py > tools/shared.py",
        ]
    );
}

#[test]
fn types_and_lazy_imports_make_no_cycles() {
    let graph = graph(&[
        ("a/__init__.py", ""),
        ("a/one.py", "from a import two, three\n"),
        (
            "a/two.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a.one import K\n",
        ),
        ("a/three.py", "def f():\n    from a import one\n"),
        (
            "web/x.ts",
            "import { y } from './y';\nimport { z } from './z';\n",
        ),
        ("web/y.ts", "import type { X } from './x';\n"),
        ("web/z.ts", "export const late = () => import('./x');\n"),
    ]);
    assert_eq!(
        edges(&graph),
        [
            "a/one.py > a/three.py",
            "a/one.py > a/two.py",
            "a/three.py ~ a/one.py",
            "a/two.py : a/one.py",
            "web/x.ts > web/y.ts",
            "web/x.ts > web/z.ts",
            "web/y.ts : web/x.ts",
            "web/z.ts ~ web/x.ts",
        ]
    );
    assert_eq!((graph.file_imports, graph.later_imports), (4, 4));
    assert!(graph.cycles.items.is_empty() && graph.file_cycles.items.is_empty());
    let layer = |name: &str| {
        let mut layers = graph.layers.items.iter();
        let layer = layers.find(|layer| layer.modules.iter().any(|area| area == name));
        layer.unwrap().layer
    };
    assert_eq!((layer("a/one"), layer("a/two"), layer("web/x")), (1, 0, 1));
}

#[test]
fn typescript_aliases_extend_and_packages_export() {
    let graph = graph(&[
        (
            "package.json",
            "{\"name\": \"top\", \"workspaces\": [\"packages/*\"]}",
        ),
        (
            "tsconfig.base.json",
            "{\"compilerOptions\": {\"baseUrl\": \".\", \"paths\": {\"@kit/*/api\": [\"packages/*/src/api\"], \"exact\": [\"packages/app/src/exact.ts\"]}}}",
        ),
        (
            "packages/app/tsconfig.json",
            "{\"extends\": [\"../../tsconfig.base.json\"]}",
        ),
        (
            "packages/app/package.json",
            "{\"name\": \"app\", \"imports\": {\"#own/*\": \"./src/own/*.ts\"}}",
        ),
        (
            "packages/app/src/main.ts",
            "import a from '@kit/lib/api';\nimport e from 'exact';\nimport o from '#own/part';\nimport s from '@x/lib/sub';\nimport w from '@x/lib/wild/deep';\nimport l from '@x/lib';\nimport u from '..';\n",
        ),
        ("packages/app/src/exact.ts", ""),
        ("packages/app/src/own/part.ts", ""),
        ("packages/app/index.ts", ""),
        (
            "packages/lib/package.json",
            "{\"name\": \"@x/lib\", \"exports\": {\".\": {\"types\": \"./dist/esm/root.d.ts\", \"default\": \"./dist/esm/root.js\"}, \"./sub\": \"./dist/other.js\", \"./wild/*\": {\"import\": \"./src/wild/*.ts\"}}}",
        ),
        ("packages/lib/src/api.ts", ""),
        ("packages/lib/src/root.ts", ""),
        ("packages/lib/src/other.ts", ""),
        ("packages/lib/src/wild/deep.ts", ""),
    ]);
    let mut targets: Vec<String> = edges(&graph);
    for edge in &mut targets {
        *edge = edge
            .trim_start_matches("packages/app/src/main.ts > packages/")
            .to_owned();
    }
    assert_eq!(
        targets,
        [
            "app/index.ts",
            "app/src/exact.ts",
            "app/src/own/part.ts",
            "lib/src/api.ts",
            "lib/src/other.ts",
            "lib/src/root.ts",
            "lib/src/wild/deep.ts",
        ]
    );
    assert_eq!(graph.unresolved, 0);
}

#[test]
fn java_and_go_names_of_one_package_need_no_import() {
    let graph = graph(&[
        (
            "src/main/java/a/Use.java",
            "package a;\nimport b.Doc;\nimport b.Used;\nimport c.*;\n/** {@link Doc} */\nclass Use extends Beside { Used u; Star s; String t; b.Full f; }\n",
        ),
        (
            "src/main/java/a/Beside.java",
            "package a;\nclass Beside { enum String { A } }\n",
        ),
        (
            "src/main/java/a/Unused.java",
            "package a;\nclass Unused {}\n",
        ),
        (
            "src/main/java/b/Used.java",
            "package b;\npublic class Used {}\n",
        ),
        (
            "src/main/java/b/Full.java",
            "package b;\npublic class Full {}\n",
        ),
        (
            "src/main/java/b/Doc.java",
            "package b;\npublic class Doc {}\n",
        ),
        (
            "src/main/java/c/Star.java",
            "package c;\npublic class Star {}\n",
        ),
        (
            "src/main/java/c/Beside.java",
            "package c;\npublic class Beside {}\n",
        ),
        ("go.mod", "module m.org/m\n"),
        (
            "p/one.go",
            "package p\nimport other \"m.org/m/q\"\nfunc Run(local int) { helper(); other.Second(local) }\n",
        ),
        (
            "p/two.go",
            "package p\nvar local = 1\nfunc helper() { Run(1) }\n",
        ),
        ("p/three.go", "package p\nfunc Run2() {}\n"),
        ("q/q.go", "package q\nfunc First() {}\n"),
        ("q/second.go", "package q\nfunc Second(n int) {}\n"),
    ]);
    assert_eq!(
        edges(&graph),
        [
            "p/one.go > p/two.go",
            "p/one.go > q/second.go",
            "p/two.go > p/one.go",
            "src/main/java/a/Use.java > src/main/java/a/Beside.java",
            "src/main/java/a/Use.java > src/main/java/b/Full.java",
            "src/main/java/a/Use.java > src/main/java/b/Used.java",
            "src/main/java/a/Use.java > src/main/java/c/Star.java",
        ]
    );
    assert!(graph.file_cycles.items.is_empty());
}

#[test]
fn rust_tests_make_no_imports() {
    let graph = graph(&[
        ("Cargo.toml", "[package]\nname = \"x\"\n"),
        (
            "src/lib.rs",
            "mod a;\nmod b;\n#[cfg(test)]\nmod fixture;\n#[cfg(all(test, unix))]\nuse b::{B};\n",
        ),
        ("src/a.rs", "use crate::b::B;\npub struct A;\n"),
        (
            "src/b.rs",
            "#[cfg(test)]\nuse crate::a::A;\npub struct B;\n#[cfg(test)]\nuse crate::fixture::{F};\n",
        ),
        ("src/fixture.rs", "use crate::a::A;\npub struct F;\n"),
    ]);
    assert_eq!(edges(&graph), ["src/a.rs > src/b.rs"]);
}

#[test]
fn cycles_are_those_of_folders_and_packages_not_of_what_is_left_of_a_folder() {
    // Everything uses the small files of the top, and `run` there uses everything: no circle of folders.
    let mut files: Vec<(String, String)> = vec![
        (
            "src/lib.rs".to_owned(),
            "mod error; mod run; mod a; mod b;".to_owned(),
        ),
        ("src/error.rs".to_owned(), "pub struct E;".to_owned()),
        (
            "src/run.rs".to_owned(),
            "use crate::a::f0::F; use crate::b::f0::F as G;".to_owned(),
        ),
        (
            "Cargo.toml".to_owned(),
            "[package]\nname = \"x\"\n".to_owned(),
        ),
    ];
    for folder in ["a", "b"] {
        let mods: Vec<String> = (0..40).map(|n| format!("pub mod f{n};\n")).collect();
        let mods = mods.concat();
        files.push((format!("src/{folder}.rs"), mods));
        for n in 0..40 {
            // Each file uses the next and the first of its folder.
            let text = format!(
                "use crate::error::E; use super::f{}::F as N;\npub struct F;{}",
                (n + 1) % 40,
                "\n// weight".repeat(40)
            );
            files.push((format!("src/{folder}/f{n}.rs"), text));
        }
    }
    let of = |files: &[(String, String)]| {
        let files: Vec<(&str, &str)> = files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        graph(&files)
    };
    let found = of(&files);
    assert_eq!(found.cycles.items, []);
    assert_eq!(found.file_cycles.items.len(), 2);
    for module in &found.modules.items {
        assert!(!module.name.contains(['…', '(']), "{}", module.name);
    }
    // One import back makes a circle of the two folders, and of them alone.
    files.push((
        "src/a/more.rs".to_owned(),
        "use crate::b::f1::F;".to_owned(),
    ));
    files.push((
        "src/b/more.rs".to_owned(),
        "use crate::a::f1::F;".to_owned(),
    ));
    for folder in ["a", "b"] {
        let file = files
            .iter_mut()
            .find(|(path, _)| *path == format!("src/{folder}.rs"));
        file.unwrap().1.push_str("pub mod more;\n");
    }
    let found = of(&files);
    assert_eq!(found.cycles.items.len(), 1);
    assert_eq!(found.cycles.items[0].members, ["src/a", "src/b"]);
}

#[test]
fn java_packages_that_need_each_other_are_a_cycle() {
    let found = graph(&[
        (
            "src/main/java/com/x/A.java",
            "package com.x;\nimport com.x.sub.B;\npublic class A { B b; }\n",
        ),
        (
            "src/main/java/com/x/sub/B.java",
            "package com.x.sub;\nimport com.x.A;\npublic class B { A a; }\n",
        ),
        (
            "src/main/java/com/y/C.java",
            "package com.y;\nimport com.x.A;\npublic class C { A a; }\n",
        ),
    ]);
    assert_eq!(found.cycles.items.len(), 1);
    assert_eq!(
        found.cycles.items[0].members,
        ["src/main/java/com/x", "src/main/java/com/x/sub"]
    );
    let layers: Vec<(u64, Vec<String>)> = found
        .layers
        .items
        .iter()
        .map(|layer| (layer.layer, layer.modules.clone()))
        .collect();
    let names = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        layers,
        [
            (
                0,
                names(&["src/main/java/com/x", "src/main/java/com/x/sub"])
            ),
            (1, names(&["src/main/java/com/y"]))
        ]
    );
}

/// The layers of this repository are tested elsewhere, by its parsed sources; nothing here may say otherwise.
#[test]
fn this_repository_has_parts_that_a_reader_can_take_in_and_no_cycle() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap();
    let budget = Budget::for_depth(Depth::Deep);
    let report = architecture(root, Depth::Medium, &budget).unwrap();
    let found = report.graph.as_ref().unwrap();
    let count = found.modules.items.len();
    assert!((10..=40).contains(&count), "{:?}", found.modules);
    assert_eq!(found.cycles.items, []);
    assert!(found.layers.items.len() > 3);
    // What the headline counts is there.
    let short = summarise(&report, 4_000).graph.unwrap();
    assert_eq!(short.layers.omitted, 0);
}

#[test]
fn the_layers_have_each_program_and_library_of_a_folder() {
    let found = graph(&[
        ("Cargo.toml", "[package]\nname = \"x\"\n"),
        ("src/lib.rs", "pub mod a;\npub use a::A;\n"),
        ("src/main.rs", "use x::A;\nfn main() {}\n"),
        ("src/a.rs", "pub struct A;\n"),
    ]);
    let mut areas: Vec<&str> = found
        .layers
        .items
        .iter()
        .flat_map(|layer| layer.modules.iter().map(String::as_str))
        .collect();
    areas.sort_unstable();
    assert_eq!(areas, ["src/a", "src/lib.rs", "src/main.rs"]);
}

#[test]
fn a_summary_keeps_the_cycles_that_its_headline_counts() {
    let repo = Repo::init();
    for number in 0..150 {
        let text = format!(
            "from pack{}.m import thing_{number}\ndef thing_{number}(): pass\n",
            (number + 1) % 2 + number / 2 * 2
        );
        repo.write(&format!("pack{number}/__init__.py"), "")
            .write(&format!("pack{number}/m.py"), text);
    }
    let report = architecture(
        repo.path(),
        Depth::Medium,
        &Budget::for_depth(Depth::Medium),
    );
    let report = report.unwrap();
    let cycles = report.graph.as_ref().unwrap().cycles.total();
    assert_eq!(cycles, 75, "{:?}", report.graph.as_ref().unwrap().cycles);
    let short = summarise(&report, 8_000);
    assert!(short.symbols.unwrap().omitted > 0);
    assert_eq!(short.graph.unwrap().cycles.items.len(), 75);
}
