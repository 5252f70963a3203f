//! How to run one test, by the test runner: `cargo test NAME`, `pytest PATH::NAME`, `go test -run`.

use super::place::{Place, text_in};
use super::programs::Known;
use super::shell::Simple;
use crate::paths::name_of;
use crate::report::architecture::CommandPurpose;

/// Returns the command that runs one test with the runner of a test command; capitals are to be filled in.
pub(super) fn one_test(command: &Simple, known: Known, place: Place<'_>) -> Option<String> {
    if known.purpose != CommandPurpose::Test || command.unusable || !command.variables.is_empty() {
        return None;
    }
    let words = &command.words;
    let program = words.get(known.program)?;
    let rest = &words[known.program + 1..];
    let has = |word: &str| rest.iter().any(|other| other == word);
    let runs = match name_of(program) {
        "cargo" => {
            // Its options choose what is compiled; they stay.
            let options = rest.split(|word| word == "--").next()?;
            let is_run = match options
                .iter()
                .map(String::as_str)
                .find(|word| !word.starts_with(['-', '+']))?
            {
                "test" | "t" => true,
                "nextest" => options.iter().any(|word| word == "run"),
                _ => false,
            };
            (is_run && !has("--doc"))
                .then(|| format!("{program} {} TEST_NAME", quoted(&without_filters(options))))?
        }
        "go" => {
            let tags: Vec<String> = rest
                .iter()
                .filter(|word| word.starts_with("-tags"))
                .cloned()
                .collect();
            let tags = if tags.is_empty() || has("-tags") {
                String::new()
            } else {
                format!(" {}", quoted(&tags))
            };
            format!("go test{tags} ./PACKAGE -run '^TEST_NAME$'")
        }
        "pytest" | "py.test" => format!("{program} {} PATH::TEST_NAME", settings(rest, true)),
        "unittest" => "unittest MODULE.CLASS.TEST_NAME".to_owned(),
        "vitest" => format!("vitest run {} PATH -t 'TEST NAME'", settings(rest, true)),
        "jest" => format!("jest {} PATH -t 'TEST NAME'", settings(rest, true)),
        "mocha" => format!("mocha {} PATH -g 'TEST NAME'", settings(rest, false)),
        "playwright" => format!(
            "playwright test {} PATH -g 'TEST NAME'",
            settings(rest, true)
        ),
        "node" if has("--test") => "node --test --test-name-pattern='TEST NAME' PATH".to_owned(),
        "gradle" | "gradlew" => {
            // `check` and `build` take no filter; the task `test` does.
            let task = rest
                .iter()
                .find(|task| task.rsplit(':').next() == Some("test"))?;
            format!("{program} {task} --tests 'CLASS.METHOD'")
        }
        "mvn" | "mvnw" => maven(program, rest, place),
        "ctest" => {
            let kept = without(rest, &["-R", "--tests-regex", "-L", "--label-regex"]);
            format!("{program} {} -R TEST_NAME", quoted(&kept))
        }
        "rspec" => "rspec PATH:LINE".to_owned(),
        "phpunit" => format!("{program} {} --filter TEST_NAME", settings(rest, true)),
        "dotnet" => "dotnet test --filter 'FullyQualifiedName~TEST_NAME'".to_owned(),
        "mix" => "mix test PATH:LINE".to_owned(),
        "swift" => "swift test --filter TEST_NAME".to_owned(),
        "deno" => "deno test --filter 'TEST NAME' PATH".to_owned(),
        _ => return None,
    };
    let prefix = &words[..known.program];
    let keeps_prefix = !prefix
        .iter()
        .any(|word| matches!(word.as_str(), "c8" | "nyc"));
    Some(if prefix.is_empty() || !keeps_prefix {
        runs.replace("  ", " ")
    } else {
        format!("{} {runs}", quoted(prefix)).replace("  ", " ")
    })
}

/// Options of `cargo test` and nextest whose value is a word of its own.
const CARGO_VALUES: &[&str] = &[
    "-p",
    "--package",
    "--exclude",
    "--bin",
    "--test",
    "--example",
    "--bench",
    "-F",
    "--features",
    "-j",
    "--jobs",
    "--profile",
    "--cargo-profile",
    "-P",
    "--target",
    "--target-dir",
    "--manifest-path",
    "--color",
    "--config",
    "-Z",
    "--message-format",
    "--test-threads",
    "--run-ignored",
    "--retries",
    "-C",
];

/// Drops what already chooses tests: a second filter would run the tests of both.
fn without_filters(options: &[String]) -> Vec<String> {
    let options = without(
        options,
        &[
            "-E",
            "--filterset",
            "--filter-expr",
            "--partition",
            "--skip",
        ],
    );
    let mut kept: Vec<String> = Vec::new();
    let mut is_value = false;
    let mut subcommands = 0;
    for word in options {
        let is_option = word.starts_with(['-', '+']);
        // `test`, or `nextest run`.
        let is_subcommand = !is_option && !is_value && {
            subcommands += 1;
            subcommands == 1 || (subcommands == 2 && word == "run")
        };
        let keeps = is_option || is_value || is_subcommand;
        is_value = CARGO_VALUES.contains(&word.as_str());
        if keeps {
            kept.push(word);
        }
    }
    kept
}

/// Drops options together with their values.
fn without(words: &[String], options: &[&str]) -> Vec<String> {
    let mut words = words.iter();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
        if !options.contains(&name) {
            kept.push(word.clone());
        } else if name == word {
            words.next();
        }
    }
    kept
}

/// Where several modules are tested, those without the test must not fail for that.
fn maven(program: &str, rest: &[String], place: Place<'_>) -> String {
    let mut chosen: Vec<String> = Vec::new();
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        if matches!(
            word.as_str(),
            "-pl" | "--projects" | "-f" | "--file" | "-P" | "--activate-profiles"
        ) {
            chosen.push(word.clone());
            chosen.extend(words.next().cloned());
        }
    }
    let is_one = chosen
        .iter()
        .skip_while(|word| !matches!(word.as_str(), "-pl" | "--projects"))
        .nth(1)
        .is_some_and(|modules| !modules.contains([',', '!']));
    let has_file = chosen
        .iter()
        .any(|word| matches!(word.as_str(), "-f" | "--file"));
    let has_modules = has_file
        || text_in(place, "pom.xml").is_some_and(|manifest| manifest.contains("<modules>"));
    let alone = is_one
        && !rest
            .iter()
            .any(|word| matches!(word.as_str(), "-am" | "--also-make"));
    let lenient = if has_modules && !alone {
        " -Dsurefire.failIfNoSpecifiedTests=false"
    } else {
        ""
    };
    format!(
        "{program} {} test -Dtest='CLASS#METHOD'{lenient}",
        quoted(&chosen)
    )
}

/// Returns the options that choose a file of settings, without which the runner finds other tests or none.
fn settings(rest: &[String], short: bool) -> String {
    let mut kept: Vec<String> = Vec::new();
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let (name, value) = word
            .split_once('=')
            .map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
        let is_short = short && name == "-c";
        if !is_short && !matches!(name, "--config" | "--configuration" | "--config-file") {
            continue;
        }
        kept.push(word.clone());
        if value.is_none() {
            kept.extend(words.next().cloned());
        }
    }
    quoted(&kept)
}

/// Joins words, with quotes where the shell needs them.
fn quoted(words: &[String]) -> String {
    let words: Vec<String> = words
        .iter()
        .map(|word| {
            let is_plain =
                |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=,+@%^".contains(&byte);
            match word.split_once('=') {
                _ if !word.is_empty() && word.bytes().all(is_plain) => word.clone(),
                Some((name, value)) if name.bytes().all(is_plain) => {
                    format!("{name}='{}'", value.replace('\'', "'\\''"))
                }
                _ => format!("'{}'", word.replace('\'', "'\\''")),
            }
        })
        .collect();
    words.join(" ")
}
