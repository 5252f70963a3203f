//! Built-in profiles.

use std::path::Path;

use super::{Profile, ProfileName, TIME_LIMIT};

/// A built-in profile.
pub(super) struct Known {
    /// File extensions of the language, to choose between several project files in one folder.
    pub(super) endings: &'static [&'static str],
    main: &'static [&'static str],
    test: &'static [&'static str],
    config: &'static [&'static str],
    compile: &'static [&'static [&'static str]],
    tests: &'static [&'static [&'static str]],
}

const SCRIPTS: &[&str] = &[
    "ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs", "vue", "svelte",
];
const SCRIPT_TESTS: &[&str] = &[
    "**/*.{test,spec}.{ts,tsx,mts,cts,js,jsx,mjs,cjs}",
    "**/__tests__/**",
    "**/__mocks__/**",
    "**/__snapshots__/**",
    "{test,tests,spec,e2e}/**",
];
const SCRIPT_CONFIG: &[&str] = &[
    "**/package.json",
    "**/package-lock.json",
    "**/tsconfig*.json",
    "**/{vitest,vite,jest,eslint,prettier,babel,rollup,webpack,playwright,tsup}.config.{ts,mts,cts,js,mjs,cjs}",
    "**/.eslintrc*",
    "**/.prettierrc*",
    "**/vitest.workspace.*",
];
const JVM: &[&str] = &["java", "kt", "kts", "groovy", "scala"];
const JVM_TESTS: &[&str] = &["**/src/test/**", "**/src/{integrationTest,testFixtures}/**"];
const RUBY: &[&str] = &["rb", "rake"];
const RUBY_CONFIG: &[&str] = &[
    "**/Gemfile",
    "**/Gemfile.lock",
    "**/Rakefile",
    "**/*.gemspec",
    ".rspec",
];

#[expect(
    clippy::too_many_lines,
    reason = "a flat table: one profile after the other"
)]
pub(super) fn known(name: ProfileName) -> Known {
    match name {
        ProfileName::Cargo => Known {
            endings: &["rs"],
            main: &["src/**", "build.rs"],
            test: &[
                "tests/**",
                "benches/**",
                "**/tests.rs",
                "**/tests/**",
                "**/*_{test,tests}.rs",
                "**/test_*.rs",
                "**/*.snap",
            ],
            config: &[
                "**/Cargo.toml",
                "**/Cargo.lock",
                "**/rust-toolchain*",
                "**/.cargo/**",
            ],
            compile: &[&["cargo", "check", "--tests", "--quiet"]],
            tests: &[&["cargo", "test", "--quiet", "--no-fail-fast"]],
        },
        ProfileName::Vitest => Known {
            endings: SCRIPTS,
            main: &["src/**"],
            test: SCRIPT_TESTS,
            config: SCRIPT_CONFIG,
            compile: &[],
            tests: &[&["vitest", "run"]],
        },
        ProfileName::Jest => Known {
            endings: SCRIPTS,
            main: &["src/**"],
            test: SCRIPT_TESTS,
            config: SCRIPT_CONFIG,
            compile: &[],
            tests: &[&["jest"]],
        },
        ProfileName::Node => Known {
            endings: SCRIPTS,
            main: &["src/**"],
            test: SCRIPT_TESTS,
            config: SCRIPT_CONFIG,
            compile: &[&["node", "--check", "{file}"]],
            tests: &[&["node", "--test"]],
        },
        ProfileName::Pytest => Known {
            endings: &["py", "pyi", "pyx", "ipynb"],
            main: &["src/**"],
            test: &[
                "**/test_*.py",
                "**/*_test.py",
                "**/conftest.py",
                "{test,tests}/**",
                "**/tests/**",
            ],
            config: &[
                "**/pyproject.toml",
                "**/setup.{py,cfg}",
                "**/{pytest,tox,mypy}.ini",
                "**/requirements*.txt",
                "**/noxfile.py",
            ],
            compile: &[&["python3", "-m", "pytest", "--collect-only", "-q"]],
            tests: &[&["python3", "-m", "pytest", "-q"]],
        },
        ProfileName::Go => Known {
            endings: &["go"],
            main: &["**/*.go"],
            test: &["**/*_test.go", "**/testdata/**"],
            config: &["**/go.mod", "**/go.sum", "**/go.work"],
            compile: &[&["go", "vet", "./..."]],
            tests: &[&["go", "test", "./..."]],
        },
        ProfileName::Maven => Known {
            endings: JVM,
            main: &["**/src/main/**"],
            test: JVM_TESTS,
            config: &["**/pom.xml", ".mvn/**", "mvnw*"],
            compile: &[&["mvn", "-q", "-B", "test-compile"]],
            tests: &[&["mvn", "-B", "test"]],
        },
        ProfileName::Gradle => Known {
            endings: JVM,
            main: &["**/src/main/**"],
            test: JVM_TESTS,
            config: &["**/*.gradle", "**/*.gradle.kts", "gradle/**", "gradlew*"],
            compile: &[&["gradle", "--console=plain", "-q", "testClasses"]],
            tests: &[&["gradle", "--console=plain", "test"]],
        },
        ProfileName::Dotnet => Known {
            endings: &["cs", "fs", "vb"],
            main: &["src/**"],
            test: &[
                "{test,tests}/**",
                "**/*{Test,Tests,.Test,.Tests}/**",
                "**/*{Test,Tests}.{cs,fs,vb}",
            ],
            config: &[
                "**/*.{csproj,fsproj,vbproj,sln,slnx,props,targets}",
                "**/nuget.config",
            ],
            compile: &[&["dotnet", "build", "--nologo", "-v", "q"]],
            tests: &[&["dotnet", "test", "--nologo"]],
        },
        ProfileName::Rspec => Known {
            endings: RUBY,
            main: &["lib/**", "app/**"],
            test: &["spec/**", "**/*_spec.rb"],
            config: RUBY_CONFIG,
            compile: &[&["ruby", "-c", "{file}"]],
            tests: &[&["bundle", "exec", "rspec", "--no-color"]],
        },
        ProfileName::Minitest => Known {
            endings: RUBY,
            main: &["lib/**", "app/**"],
            test: &["test/**", "**/*_test.rb", "**/test_*.rb"],
            config: RUBY_CONFIG,
            compile: &[&["ruby", "-c", "{file}"]],
            tests: &[&["bundle", "exec", "rake", "test"]],
        },
        ProfileName::Phpunit => Known {
            endings: &["php"],
            main: &["src/**", "app/**"],
            test: &["{test,tests}/**", "**/*Test.php"],
            config: &[
                "**/composer.{json,lock}",
                "**/phpunit.xml*",
                "**/phpstan*.neon",
            ],
            compile: &[&["php", "-l", "{file}"]],
            tests: &[&["vendor/bin/phpunit", "--colors=never"]],
        },
        ProfileName::Mix => Known {
            endings: &["ex", "exs", "heex", "eex"],
            main: &["**/lib/**"],
            test: &["**/test/**", "**/*_test.exs"],
            config: &[
                "**/mix.exs",
                "**/mix.lock",
                "**/config/*.exs",
                ".formatter.exs",
            ],
            compile: &[&["mix", "compile"]],
            tests: &[&["mix", "test", "--no-color"]],
        },
        ProfileName::Cmake => Known {
            endings: &["c", "cc", "cpp", "cxx", "h", "hh", "hpp"],
            main: &["{src,include,lib}/**"],
            test: &[
                "{test,tests}/**",
                "**/*_test.{c,cc,cpp,cxx}",
                "**/test_*.{c,cc,cpp,cxx}",
            ],
            config: &["**/CMakeLists.txt", "**/*.cmake", "**/CMakePresets.json"],
            compile: &[
                &["cmake", "-S", ".", "-B", "build"],
                &["cmake", "--build", "build"],
            ],
            tests: &[&["ctest", "--test-dir", "build", "--output-on-failure"]],
        },
        ProfileName::Custom => Known {
            endings: &[],
            main: &[],
            test: &[],
            config: &[],
            compile: &[],
            tests: &[],
        },
    }
}

/// Makes a built-in profile for a project.
pub(super) fn built_in(name: ProfileName, root: &Path) -> Profile {
    let known = known(name);
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    let commands = |list: &[&[&str]]| list.iter().map(|words| texts(words)).collect();
    let mut profile = Profile {
        name,
        root: root.to_owned(),
        main: texts(known.main),
        test: texts(known.test),
        config: texts(known.config),
        docs: Vec::new(),
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
