//! Names, versions, members and commands that manifests state in more than one place, and words that only look like marks.

use crate::support::Repo;
use analysis::report::architecture::{
    ArchitectureReport, CommandPurpose, EntryKind, Package, Role,
};
use analysis::{Budget, Depth, Report as _, architecture, codebase};

fn analysed(repo: &Repo) -> ArchitectureReport {
    let depth = Depth::Shallow;
    architecture(repo.path(), depth, &Budget::for_depth(depth)).unwrap()
}

fn package<'a>(report: &'a ArchitectureReport, name: &str) -> &'a Package {
    let mut packages = report.packages.items.iter();
    packages.find(|package| package.name == name).unwrap()
}

#[test]
fn a_module_of_maven_has_its_own_version_or_its_parents() {
    let repo = Repo::new();
    let parent = "<parent><artifactId>all</artifactId><version>1.5</version></parent>";
    let other = "<artifactId>junit</artifactId><version>4.13</version>";
    let dependency = format!("<dependencies><dependency>{other}</dependency></dependencies>");
    let plugin = format!("<build><plugins><plugin>{other}{dependency}</plugin></plugins></build>");
    let pom = |text: &str| format!("<?xml version='1.0'?><project>{text}</project>");
    repo.write("pom.xml", pom("<modules><module>a</module><module>b</module></modules><artifactId>all</artifactId><version>1.5</version>"))
        .write("a/pom.xml", pom(&format!("{dependency}{parent}<artifactId>a</artifactId>{plugin}")))
        .write("b/pom.xml", pom(&format!("{plugin}{parent}<artifactId>b</artifactId><version>2.0</version>")))
        .write("c/pom.xml", pom(&format!("{plugin}{dependency}<artifactId>c</artifactId><version>${{revision}}</version>")));
    let report = analysed(&repo);
    let facts = |name: &str| {
        let package = package(&report, name);
        (
            package.version.as_deref(),
            package.external_dependencies.unwrap(),
            package.workspace_member,
        )
    };
    assert_eq!(facts("a"), (Some("1.5"), 1, true));
    assert_eq!(facts("b"), (Some("2.0"), 0, true));
    assert_eq!(facts("c"), (None, 1, false));
}

#[test]
fn the_top_of_a_workspace_and_what_go_uses_are_members() {
    let repo = Repo::new();
    repo.write("package.json", r#"{"name": "top"}"#)
        .write(
            "pnpm-workspace.yaml",
            "packages:\n  - 'x' # the x\nallowBuilds:\n  y: true\n",
        )
        .write("x/package.json", r#"{"name": "x"}"#)
        .write("go/go.mod", "module example.com/go\n")
        .write("go2/go.mod", "module example.com/go2\n")
        .write("go.work", "go 1.24\n\nuse (\n\t./go2\n)\n")
        .write("rs/Cargo.toml", "[package]\nname = \"rs\"\n[workspace]\n")
        .write(
            "php/composer.json",
            r#"{"name": "a/b", "require": {"php": "8", "ext-json": "*", "c/d": "1"}}"#,
        );
    let report = analysed(&repo);
    for (name, member) in [
        ("top", true),
        ("x", true),
        ("rs", true),
        ("example.com/go2", true),
        ("example.com/go", false),
    ] {
        assert_eq!(package(&report, name).workspace_member, member, "{name}");
    }
    assert_eq!(package(&report, "a/b").external_dependencies, Some(1));
}

#[test]
fn scripts_are_for_what_their_first_word_says_and_one_test_runs_as_it_stands() {
    let repo = Repo::new();
    repo.write("pnpm-lock.yaml", "")
        .write("jest.build.js", "")
        .write("e2e/playwright.config.ts", "")
        .write(
            "package.json",
            r#"{"name": "a", "scripts": {
            "build:e2e": "pnpm --filter site build",
            "test": "jest",
            "test:build": "jest --config jest.build.js",
            "test:e2e": "playwright test -c e2e/playwright.config.ts",
            "test:dev": "E2E_MODE=dev playwright test -c e2e/playwright.config.ts --ui",
            "lint": "oxlint .",
            "clean:test": "rm -r out"}}"#,
        )
        .write(".github/workflows/ci.yml", "jobs:\n  a:\n    steps:\n      - run: |\n          pnpm build:e2e\n          pnpm test\n          pnpm lint\n");
    let commands = analysed(&repo).commands.items;
    let of = |command: &str| {
        let mut all = commands.iter();
        let found = all.find(|found| found.command == command).unwrap();
        (found.purpose, found.one_test.as_deref())
    };
    assert_eq!(of("pnpm run build:e2e"), (CommandPurpose::Build, None));
    let jest = Some("pnpm exec jest PATH -t 'TEST NAME'");
    assert_eq!(of("pnpm run test"), (CommandPurpose::Test, jest));
    let jest = Some("pnpm exec jest --config jest.build.js PATH -t 'TEST NAME'");
    assert_eq!(of("pnpm run test:build"), (CommandPurpose::Test, jest));
    let e2e = Some("pnpm exec playwright test -c e2e/playwright.config.ts PATH -g 'TEST NAME'");
    assert_eq!(of("pnpm run test:e2e"), (CommandPurpose::Test, e2e));
    assert_eq!(of("pnpm run lint").0, CommandPurpose::Lint);
    assert_ne!(of("pnpm run clean:test").0, CommandPurpose::Test);
}

#[test]
fn a_name_comes_from_the_manifest_the_remote_or_a_telling_heading() {
    let named = |files: &[(&str, &str)], remote: Option<&str>| {
        let repo = Repo::init();
        for (path, text) in files {
            repo.write(path, text);
        }
        if let Some(remote) = remote {
            repo.git(&["remote", "add", "origin", remote]);
        }
        analysed(&repo).identity.name
    };
    let heading = (
        "README.md",
        "## Introduction\n\nText that says what it is.\n",
    );
    let manifest = ("package.json", r#"{"name": "swr"}"#);
    assert_eq!(named(&[heading, manifest], None), "swr");
    let module = ("go.mod", "module github.com/x/tool/v2\n");
    assert_eq!(named(&[heading, module], None), "tool");
    let remote = Some("git@github.com:x/thing.git");
    assert_eq!(named(&[heading], remote), "thing");
    let parent = (
        "pom.xml",
        "<project><artifactId>thing-parent</artifactId></project>",
    );
    assert_eq!(
        named(&[heading, parent], Some("https://x.org/y/thing/")),
        "thing"
    );
    assert_eq!(named(&[heading, parent], None), "thing-parent");
    let telling = ("README.md", "# Widget works\n\nText.\n");
    assert_eq!(named(&[telling], None), "Widget works");
}

#[test]
fn a_manifest_that_is_too_large_is_told() {
    let repo = Repo::new();
    let text = format!(r#"{{"name": "a", "x": "{}"}}"#, "y".repeat(3 << 20));
    repo.write("package.json", text).write("a.js", "let a;\n");
    let report = analysed(&repo);
    assert_eq!(report.packages.total(), 0);
    assert_eq!(report.incomplete.items[0].what, "package.json");
    assert!(report.headline().ends_with("1 part incomplete"));
}

#[test]
fn rules_of_proguard_are_no_qmake() {
    let repo = Repo::new();
    repo.write("proguard.pro", "# Keep\n-keep class a.B { *; }\n")
        .write("app.pro", "TEMPLATE = app\nSOURCES += a.cpp\n")
        .write("lib.pri", "SOURCES += b.cpp\n");
    let depth = Depth::Medium;
    let report = codebase(repo.path(), depth, &Budget::for_depth(depth)).unwrap();
    let languages = report.languages.items.iter();
    let found: Vec<_> = languages
        .map(|it| (it.language.as_str(), it.size.files))
        .collect();
    assert_eq!(found, [("QMake", 2)]);
}

#[test]
fn programs_are_listed_once_and_those_of_tests_are_none() {
    let repo = Repo::new();
    repo.write("Cargo.toml", "[workspace]\nmembers = [\"cli\", \"server\", \"tests\"]\n")
        .write(
            "cli/Cargo.toml",
            "[package]\nname = \"cli\"\n[[bin]]\nname = \"cli\"\npath = \"src/main.rs\"\n[[bin]]\nname = \"server\"\npath = \"../server/src/main.rs\"\n",
        )
        .write("cli/src/main.rs", "fn main() {}\n")
        .write("server/Cargo.toml", "[package]\nname = \"server\"\nautobins = false\n")
        .write("server/src/main.rs", "fn main() {}\n")
        .write("tests/Cargo.toml", "[package]\nname = \"tests\"\n")
        .write("tests/src/lib.rs", "")
        .write("tests/src/bin/fake_server.rs", "fn main() {}\n");
    let report = architecture(
        repo.path(),
        Depth::Medium,
        &Budget::for_depth(Depth::Medium),
    );
    let report = report.unwrap();
    let programs: Vec<(&str, &str)> = report
        .entry_points
        .items
        .iter()
        .filter(|entry| entry.kind == EntryKind::Binary)
        .map(|entry| (entry.name.as_str(), entry.path.as_str()))
        .collect();
    assert_eq!(
        programs,
        [("cli", "cli/src/main.rs"), ("server", "server/src/main.rs")]
    );
    assert!(
        report.headline().contains("2 binaries"),
        "{}",
        report.headline()
    );
}

#[test]
fn folders_are_what_most_of_their_code_is() {
    let repo = Repo::new();
    repo.write("go.mod", "module x\n")
        .write("zipfs/fs.go", "package zipfs\n")
        .write("zipfs/file.go", "package zipfs\n")
        .write("zipfs/fs_test.go", "package zipfs\n")
        .write("checks/a_test.go", "package checks\n")
        .write("plugin/skills/a/SKILL.md", "# A\n")
        .write("plugin/skills/b/SKILL.md", "# B\n")
        .write("plugin/plugin.json", "{}\n")
        .write("ext/LICENSE.md", "x\n")
        .write("ext/logo.ai", "x\n")
        .write("ext/logo.psd", "x\n")
        .write("notes/a.md", "# A\n");
    for number in 0..4 {
        repo.write(&format!("zipfs/testdata/{number}.txt"), "x\n");
    }
    let report = architecture(
        repo.path(),
        Depth::Shallow,
        &Budget::for_depth(Depth::Shallow),
    );
    let report = report.unwrap();
    let role = |folder: &str| {
        let mut folders = report.folders.items.iter();
        folders.find(|it| it.folder == folder).unwrap().role
    };
    assert_eq!(
        ["zipfs", "checks", "plugin", "notes", "ext"].map(role),
        [
            Role::Source,
            Role::Tests,
            Role::Other,
            Role::Documentation,
            Role::Other
        ]
    );
}

#[test]
fn what_nobody_can_use_is_no_public_surface() {
    let repo = Repo::new();
    repo.write("go.mod", "module x\n")
        .write("mem/mem.go", "package mem\nfunc Open() {}\n")
        .write("internal/common/c.go", "package common\nfunc Hidden() {}\n")
        .write("tool/Cargo.toml", "[package]\nname = \"tool\"\n")
        .write(
            "tool/src/main.rs",
            "mod parts;\npub fn run() {}\nfn main() {}\n",
        )
        .write("tool/src/parts.rs", "pub fn part() {}\n")
        .write("kit/Cargo.toml", "[package]\nname = \"kit\"\n")
        .write("kit/src/lib.rs", "pub fn kit() {}\n")
        .write("kit/src/main.rs", "pub fn program() {}\nfn main() {}\n");
    let report = architecture(
        repo.path(),
        Depth::Medium,
        &Budget::for_depth(Depth::Medium),
    );
    let surface = report.unwrap().public_surface.unwrap();
    let mut names: Vec<String> = surface.items.into_iter().flat_map(|it| it.names).collect();
    names.sort();
    assert_eq!(names, ["Open", "kit"]);
}

#[test]
fn a_name_that_ends_in_test_is_none_without_a_test() {
    let repo = Repo::new();
    repo.write("src/one_test.rs", "//! `#[test]`\npub fn one_test() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {}\n}\n")
        .write("src/real_test.rs", "#[test]\nfn a() {}\n")
        .write("src/lib.rs", "pub mod one_test;\n#[cfg(test)]\nmod real_test;\n");
    let report = codebase(
        repo.path(),
        Depth::Shallow,
        &Budget::for_depth(Depth::Shallow),
    )
    .unwrap();
    assert_eq!(
        (report.tests.test_files, report.tests.production_files),
        (1, 2)
    );
}

#[test]
fn headlines_name_what_most_of_the_code_is_and_count_every_marker() {
    let repo = Repo::init();
    repo.write("src/a.rs", "fn a() {}\n".repeat(100))
        .write("x.py", "x = 1\n")
        .write("x.sh", "x\n");
    for number in 0..3 {
        repo.write(
            &format!("src/m{number}.rs"),
            "// TODO: the same words everywhere\nfn m() {}\n",
        );
    }
    repo.commit("Ann", 1_700_000_000);
    let report = codebase(
        repo.path(),
        Depth::Medium,
        &Budget::for_depth(Depth::Medium),
    )
    .unwrap();
    let headline = report.headline();
    assert!(headline.contains("; mostly Rust; "), "{headline}");
    assert!(headline.contains("3 markers of open work"), "{headline}");
    assert_eq!(report.markers.unwrap().list.items.len(), 1);
}
