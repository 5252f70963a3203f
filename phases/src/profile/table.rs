//! Built-in profiles.

use std::path::Path;

use super::{Profile, ProfileName, TIME_LIMIT};

/// A built-in profile.
pub(super) struct Known {
    /// File extensions of the language, to choose between several project files in one folder.
    pub(super) endings: &'static [&'static str],
    compile: &'static [&'static [&'static str]],
    tests: &'static [&'static [&'static str]],
}

const SCRIPTS: &[&str] = &[
    "ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs", "vue", "svelte",
];
const JVM: &[&str] = &["java", "kt", "kts", "groovy", "scala"];
const RUBY: &[&str] = &["rb", "rake"];

pub(super) fn known(name: ProfileName) -> Known {
    match name {
        ProfileName::Cargo => Known {
            endings: &["rs"],
            compile: &[&["cargo", "check", "--tests", "--quiet"]],
            tests: &[&["cargo", "test", "--quiet", "--no-fail-fast"]],
        },
        ProfileName::Vitest => Known {
            endings: SCRIPTS,
            compile: &[],
            tests: &[&["vitest", "run"]],
        },
        ProfileName::Jest => Known {
            endings: SCRIPTS,
            compile: &[],
            tests: &[&["jest"]],
        },
        ProfileName::Node => Known {
            endings: SCRIPTS,
            compile: &[&["node", "--check", "{file}"]],
            tests: &[&["node", "--test"]],
        },
        ProfileName::Pytest => Known {
            endings: &["py", "pyi", "pyx", "ipynb"],
            compile: &[&["python3", "-m", "pytest", "--collect-only", "-q"]],
            tests: &[&["python3", "-m", "pytest", "-q"]],
        },
        ProfileName::Go => Known {
            endings: &["go"],
            compile: &[&["go", "vet", "./..."]],
            tests: &[&["go", "test", "./..."]],
        },
        ProfileName::Maven => Known {
            endings: JVM,
            compile: &[&["mvn", "-q", "-B", "test-compile"]],
            tests: &[&["mvn", "-B", "test"]],
        },
        ProfileName::Gradle => Known {
            endings: JVM,
            compile: &[&["gradle", "--console=plain", "-q", "testClasses"]],
            tests: &[&["gradle", "--console=plain", "test"]],
        },
        ProfileName::Dotnet => Known {
            endings: &["cs", "fs", "vb"],
            compile: &[&["dotnet", "build", "--nologo", "-v", "q"]],
            tests: &[&["dotnet", "test", "--nologo"]],
        },
        ProfileName::Rspec => Known {
            endings: RUBY,
            compile: &[&["ruby", "-c", "{file}"]],
            tests: &[&["bundle", "exec", "rspec", "--no-color"]],
        },
        ProfileName::Minitest => Known {
            endings: RUBY,
            compile: &[&["ruby", "-c", "{file}"]],
            tests: &[&["bundle", "exec", "rake", "test"]],
        },
        ProfileName::Phpunit => Known {
            endings: &["php"],
            compile: &[&["php", "-l", "{file}"]],
            tests: &[&["vendor/bin/phpunit", "--colors=never"]],
        },
        ProfileName::Mix => Known {
            endings: &["ex", "exs", "heex", "eex"],
            compile: &[&["mix", "compile"]],
            tests: &[&["mix", "test", "--no-color"]],
        },
        ProfileName::Cmake => Known {
            endings: &["c", "cc", "cpp", "cxx", "h", "hh", "hpp"],
            compile: &[
                &["cmake", "-S", ".", "-B", "build"],
                &["cmake", "--build", "build"],
            ],
            tests: &[&["ctest", "--test-dir", "build", "--output-on-failure"]],
        },
        ProfileName::Custom => Known {
            endings: &[],
            compile: &[],
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
    for words in profile.compile.iter_mut().chain(&mut profile.tests) {
        if let Some(program) = words.first_mut()
            && program == from
        {
            to.clone_into(program);
        }
    }
}
