//! Built-in profiles.

use std::path::Path;

use super::{Profile, ProfileName, TIME_LIMIT};

/// A built-in profile.
pub(super) struct Known {
    /// File extensions of the language, to choose between several project files in one folder.
    pub(super) endings: &'static [&'static str],
    compile: &'static [&'static [&'static str]],
    /// The same without tests, where that differs.
    production: Option<&'static [&'static [&'static str]]>,
    tests: &'static [&'static [&'static str]],
}

const SCRIPTS: &[&str] = &[
    "ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs", "vue", "svelte",
];
/// Compiles the files that it is given, and writes nothing.
const BYTE_COMPILE: &str = "import sys\nfor name in sys.argv[1:]:\n    with open(name, 'rb') as file:\n        compile(file.read(), name, 'exec')";
const JVM: &[&str] = &["java", "kt", "kts", "groovy", "scala"];
const RUBY: &[&str] = &["rb", "rake"];

#[expect(
    clippy::too_many_lines,
    reason = "a flat table: one profile after the other"
)]
pub(super) fn known(name: ProfileName) -> Known {
    match name {
        ProfileName::Cargo => Known {
            endings: &["rs"],
            compile: &[&["cargo", "check", "--tests", "--quiet"]],
            production: Some(&[&["cargo", "check", "--quiet"]]),
            tests: &[&["cargo", "test", "--quiet", "--no-fail-fast"]],
        },
        ProfileName::Vitest => Known {
            endings: SCRIPTS,
            compile: &[],
            production: None,
            tests: &[&[
                "vitest",
                "run",
                "--reporter=default",
                "--reporter=json",
                "--outputFile.json={report}",
            ]],
        },
        ProfileName::Jest => Known {
            endings: SCRIPTS,
            compile: &[],
            production: None,
            tests: &[&["jest", "--json", "--outputFile={report}"]],
        },
        ProfileName::Node => Known {
            endings: SCRIPTS,
            compile: &[&["node", "--check", "{file}"]],
            production: None,
            tests: &[&["node", "--test", "--test-reporter=tap"]],
        },
        ProfileName::Pytest => Known {
            endings: &["py", "pyi", "pyx", "ipynb"],
            compile: &[&["python3", "-m", "pytest", "--collect-only", "-q"]],
            production: Some(&[&["python3", "-c", BYTE_COMPILE, "{files}"]]),
            tests: &[&["python3", "-m", "pytest", "-q", "--junitxml={report}"]],
        },
        ProfileName::Go => Known {
            endings: &["go"],
            compile: &[&["go", "vet", "./..."]],
            production: Some(&[&["go", "build", "-o", "/dev/null", "./..."]]),
            tests: &[&["go", "test", "-json", "./..."]],
        },
        ProfileName::Maven => Known {
            endings: JVM,
            compile: &[&["mvn", "-q", "-B", "test-compile"]],
            production: Some(&[&["mvn", "-q", "-B", "compile"]]),
            tests: &[&["mvn", "-B", "test"]],
        },
        ProfileName::Gradle => Known {
            endings: JVM,
            compile: &[&["gradle", "--console=plain", "-q", "testClasses"]],
            production: Some(&[&["gradle", "--console=plain", "-q", "classes"]]),
            tests: &[&["gradle", "--console=plain", "test"]],
        },
        ProfileName::Dotnet => Known {
            endings: &["cs", "fs", "vb"],
            compile: &[&["dotnet", "build", "--nologo", "-v", "q"]],
            production: None,
            tests: &[&["dotnet", "test", "--nologo"]],
        },
        ProfileName::Rspec => Known {
            endings: RUBY,
            compile: &[&["ruby", "-c", "{file}"]],
            production: None,
            tests: &[&["bundle", "exec", "rspec", "--no-color"]],
        },
        ProfileName::Minitest => Known {
            endings: RUBY,
            compile: &[&["ruby", "-c", "{file}"]],
            production: None,
            tests: &[&["bundle", "exec", "rake", "test"]],
        },
        ProfileName::Phpunit => Known {
            endings: &["php"],
            compile: &[&["php", "-l", "{file}"]],
            production: None,
            tests: &[&["vendor/bin/phpunit", "--colors=never"]],
        },
        ProfileName::Mix => Known {
            endings: &["ex", "exs", "heex", "eex"],
            compile: &[&["mix", "compile"]],
            production: None,
            tests: &[&["mix", "test", "--no-color"]],
        },
        ProfileName::Cmake => Known {
            endings: &["c", "cc", "cpp", "cxx", "h", "hh", "hpp"],
            compile: &[
                &["cmake", "-S", ".", "-B", "build"],
                &["cmake", "--build", "build"],
            ],
            production: None,
            tests: &[&["ctest", "--test-dir", "build", "--output-on-failure"]],
        },
        ProfileName::Custom => Known {
            endings: &[],
            compile: &[],
            production: None,
            tests: &[],
        },
    }
}

/// Makes a built-in profile for a project.
pub(super) fn built_in(name: ProfileName, root: &Path, worktree: &Path) -> Profile {
    let known = known(name);
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    let commands = |list: &[&[&str]]| list.iter().map(|words| texts(words)).collect();
    let mut profile = Profile {
        name,
        root: root.to_owned(),
        worktree: worktree.to_owned(),
        main: None,
        test: None,
        config: None,
        docs: None,
        compile: commands(known.compile),
        compile_production: commands(known.production.unwrap_or(known.compile)),
        tests: commands(known.tests),
        tests_inside: name == ProfileName::Cargo,
        time_limit: TIME_LIMIT,
    };
    adapt(&mut profile);
    profile
}

/// Uses the tools that the project brings along.
fn adapt(profile: &mut Profile) {
    let has = |name: &str| profile.root.join(name).exists();
    let (from, to) = match profile.name {
        ProfileName::Maven if has("mvnw") => ("mvn", "./mvnw"),
        ProfileName::Gradle if has("gradlew") => ("gradle", "./gradlew"),
        ProfileName::Pytest if has(".venv/bin/python") => ("python3", ".venv/bin/python"),
        ProfileName::Pytest if has("venv/bin/python") => ("python3", "venv/bin/python"),
        ProfileName::Vitest | ProfileName::Jest | ProfileName::Node => {
            super::node::adapt(profile);
            return;
        }
        ProfileName::Cargo
        | ProfileName::Pytest
        | ProfileName::Go
        | ProfileName::Maven
        | ProfileName::Gradle
        | ProfileName::Dotnet
        | ProfileName::Rspec
        | ProfileName::Minitest
        | ProfileName::Phpunit
        | ProfileName::Mix
        | ProfileName::Cmake
        | ProfileName::Custom => return,
    };
    let production = &mut profile.compile_production;
    for words in profile
        .compile
        .iter_mut()
        .chain(production)
        .chain(&mut profile.tests)
    {
        if let Some(program) = words.first_mut()
            && program == from
        {
            to.clone_into(program);
        }
    }
}
