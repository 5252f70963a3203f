//! The map of symbols on fixture repositories with known answers.

use std::fmt::Write as _;

use crate::support::Repo;
use analysis::report::symbols::{SymbolFile, SymbolKind};
use analysis::{Budget, Depth, architecture, summarise};

fn map(repo: &Repo, depth: Depth) -> Vec<SymbolFile> {
    let report = architecture(repo.path(), depth, &Budget::for_depth(depth)).unwrap();
    let mut incomplete = report.incomplete.items.iter();
    assert!(incomplete.all(|part| part.what == "graph"));
    report.symbols.unwrap().items
}

/// Returns the symbols of a file as `kind name line`, by line.
fn of(map: &[SymbolFile], path: &str) -> Vec<String> {
    let file = map.iter().find(|file| file.path == path);
    let mut symbols = file.map_or_else(Vec::new, |file| file.symbols.clone());
    symbols.sort_by_key(|symbol| symbol.line);
    symbols
        .iter()
        .map(|symbol| format!("{:?} {} {}", symbol.kind, symbol.name, symbol.line))
        .collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn each_language_with_a_grammar_is_parsed() {
    let repo = Repo::init();
    repo.write(
        "a.rs",
        "pub struct Point;\nimpl Point {\n    pub fn norm(&self) { fn inner() {} }\n}\ntrait Shape { fn area(&self); }\nmacro_rules! twice { () => {} }\nconst MAX: u8 = 1;\n#[cfg(test)]\nmod tests { fn helper() {} }\n",
    )
    .write(
        "a.py",
        "class Point:\n    @property\n    def norm(self):\n        def inner(): pass\n\nasync def load(): pass\nif True:\n    def either(): pass\n",
    )
    .write(
        "a.go",
        "package a\ntype Point struct{}\ntype (\n\tShape interface{ Area() }\n)\nfunc (p *Point) Norm() {}\nfunc load() {}\n",
    )
    .write(
        "A.java",
        "public class A {\n  enum Kind { ONE }\n  public int norm() { return 1; }\n}\ninterface Shape { int area(); }\n",
    )
    .write(
        "a.ts",
        "export interface Shape {}\nexport type Id = string;\nexport const load = async () => 1;\nconst local = 2;\nexport const LIMIT = 2;\nclass Point { norm() {} }\nfunction go() { const inner = () => 1; }\n",
    )
    .write("a.jsx", "export default function App() {}\n")
    .write(
        "a.c",
        "struct point { int x; };\ntypedef struct point point_t;\nstruct point *find(struct point *p) { return p; }\nstatic int hidden(void) { return 0; }\n#define TWICE(x) ((x) * 2)\n",
    )
    .write(
        "a.cpp",
        "namespace geo {\nclass Point { public: int norm() { return 1; } };\ntemplate <class T> T twice(T t) { return t; }\n}\nint geo::Point::area() { return 2; }\n",
    )
    .commit("Ann", 1_700_000_000);
    let map = map(&repo, Depth::Medium);
    let expected: [(&str, &[&str]); 8] = [
        (
            "a.rs",
            &[
                "Type Point 1",
                "Function norm 3",
                "Type Shape 5",
                "Function area 5",
                "Macro twice 6",
                "Constant MAX 7",
            ],
        ),
        (
            "a.py",
            &[
                "Type Point 1",
                "Function norm 3",
                "Function load 6",
                "Function either 8",
            ],
        ),
        (
            "a.go",
            &[
                "Type Point 2",
                "Type Shape 4",
                "Function Norm 6",
                "Function load 7",
            ],
        ),
        (
            "A.java",
            &["Type A 1", "Type Kind 2", "Function norm 3", "Type Shape 5"],
        ),
        (
            "a.ts",
            &[
                "Type Shape 1",
                "Type Id 2",
                "Function load 3",
                "Constant LIMIT 5",
                "Type Point 6",
                "Function norm 6",
                "Function go 7",
            ],
        ),
        ("a.jsx", &["Function App 1"]),
        (
            "a.c",
            &[
                "Type point 1",
                "Type point_t 2",
                "Function find 3",
                "Function hidden 4",
                "Macro TWICE 5",
            ],
        ),
        (
            "a.cpp",
            &[
                "Type Point 2",
                "Function norm 2",
                "Function twice 3",
                "Function geo::Point::area 5",
            ],
        ),
    ];
    for (path, symbols) in expected {
        assert_eq!(of(&map, path), symbols, "{path}");
    }
}

#[test]
fn other_languages_are_read_by_lines_without_their_comments_and_strings() {
    let repo = Repo::init();
    repo.write("a.rb", "# class Fake\nmodule Geo\n  class Point\n    def self.of; end\n    def norm?; end\n  end\nend\n")
        .write("a.php", "<?php\n/* class Fake */\nfinal class Point {\n  public static function of() {}\n}\n$s = 'function fake()';\n")
        .write("a.kt", "data class Point(val x: Int)\nfun <T> List<T>.second(): T = this[1]\n// fun fake() {}\n")
        .write("a.swift", "public struct Point {\n  func norm() -> Int { 1 }\n}\n")
        .write("a.cs", "public sealed class Point {\n  public static int Norm(int x) { return x; }\n}\n")
        .write("a.sh", "build() {\n  echo done\n}\nfunction clean {\n  :\n}\n")
        .write("a.sql", "-- CREATE TABLE fake (x);\nCREATE TABLE IF NOT EXISTS \"users\" (id int);\ncreate table public.orders (id int);\n")
        .commit("Ann", 1_700_000_000);
    let map = map(&repo, Depth::Medium);
    let expected: [(&str, &[&str]); 7] = [
        (
            "a.rb",
            &[
                "Type Geo 2",
                "Type Point 3",
                "Function of 4",
                "Function norm? 5",
            ],
        ),
        ("a.php", &["Type Point 3", "Function of 4"]),
        ("a.kt", &["Type Point 1", "Function second 2"]),
        ("a.swift", &["Type Point 1", "Function norm 2"]),
        ("a.cs", &["Type Point 1", "Function Norm 2"]),
        ("a.sh", &["Function build 1", "Function clean 4"]),
        ("a.sql", &["Table users 2", "Table public.orders 3"]),
    ];
    for (path, symbols) in expected {
        assert_eq!(of(&map, path), symbols, "{path}");
    }
}

#[test]
fn routes_commands_and_tables_are_symbols() {
    let repo = Repo::init();
    repo.write("app.py", "@app.get(\"/users\")\ndef users(): pass\n\n# @app.get(\"/fake\")\ncache.get(\"/not/a/route\")\n\nclass User(Base):\n    __tablename__ = \"users\"\n\nsub.add_parser(\"serve\")\n")
        .write("server.js", "app.post('/orders', create);\nfetch.get('/elsewhere');\n")
        .write("main.go", "package main\nfunc main() {\n\tmux.HandleFunc(\"GET /health\", ok)\n\tcmd := &cobra.Command{\n\t\tUse: \"sync\",\n\t}\n}\n")
        .write("src/lib.rs", "pub fn router() -> Router { Router::new().route(\"/ping\", get(ping)) }\n")
        .commit("Ann", 1_700_000_000);
    let map = map(&repo, Depth::Medium);
    let mut offers: Vec<String> = map
        .iter()
        .flat_map(|file| of(&map, &file.path))
        .filter(|symbol| !symbol.starts_with("Function") && !symbol.starts_with("Type"))
        .collect();
    offers.sort();
    assert_eq!(
        offers,
        [
            "Command serve 10",
            "Command sync 5",
            "Route /ping 1",
            "Route GET /health 3",
            "Route GET /users 1",
            "Route POST /orders 1",
            "Table users 8",
        ]
    );
}

#[test]
fn what_many_use_comes_first_and_tests_are_left_out() {
    let repo = Repo::init();
    repo.write(
        "lib/engine.py",
        "class Engine: pass\n\ndef unused_part(): pass\n",
    )
    .write("lib/alone.py", "def lonely(): pass\n")
    .write(
        "tests/test_engine.py",
        "from lib.engine import Engine\ndef test_engine(): Engine()\n",
    );
    for number in 0..6 {
        repo.write(
            &format!("lib/user_{number}.py"),
            format!("from lib.engine import Engine\ndef run_{number}(): return Engine()\n"),
        );
    }
    repo.commit("Ann", 1_700_000_000);
    let map = map(&repo, Depth::Medium);
    assert_eq!(map[0].path, "lib/engine.py");
    let first = &map[0].symbols[0];
    assert_eq!(
        (first.name.as_str(), first.kind),
        ("Engine", SymbolKind::Type)
    );
    assert!(map.iter().all(|file| !file.path.starts_with("tests/")));
    assert!(
        architecture(
            repo.path(),
            Depth::Shallow,
            &Budget::for_depth(Depth::Shallow)
        )
        .unwrap()
        .symbols
        .is_none()
    );
}

#[test]
fn the_map_gives_way_to_the_budget_and_says_what_it_left_out() {
    let repo = Repo::init();
    let mut text = String::new();
    for number in 0..40 {
        let _ = writeln!(text, "def part_{number}(): pass");
    }
    for number in 0..300 {
        repo.write(&format!("lib/file_{number}.py"), &text);
    }
    repo.commit("Ann", 1_700_000_000);
    let depth = Depth::Medium;
    let whole = architecture(repo.path(), depth, &Budget::for_depth(depth)).unwrap();
    let symbols = whole.symbols.clone().unwrap();
    assert_eq!(symbols.items.len(), 300);
    assert_eq!((symbols[0].symbols.len(), symbols[0].omitted), (12, 28));
    let short = summarise(&whole, 2_000).symbols.unwrap();
    assert!(!short.items.is_empty() && short.items.len() < 300);
    assert_eq!(short.total(), 300);
    assert_eq!(short[0].symbols.len() + short[0].omitted as usize, 40);
}
