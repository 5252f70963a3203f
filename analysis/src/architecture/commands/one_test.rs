//! How to run one test, by the test runner: `cargo test NAME`, `pytest PATH::NAME`, `go test -run`.

use super::programs::Known;
use super::shell::Simple;
use crate::paths::name_of;
use crate::report::architecture::CommandPurpose;

/// Returns the command that runs one test with the runner of a test command; capitals are to be filled in.
pub(super) fn one_test(command: &Simple, known: Known) -> Option<String> {
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
            let skips = ["--no-run", "--doc"].iter().any(|word| has(word));
            (is_run && !skips).then(|| format!("{program} {} TEST_NAME", quoted(options)))?
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
        "mvn" | "mvnw" => format!("{program} test -Dtest='CLASS#METHOD'"),
        "ctest" => format!("{program} {} -R TEST_NAME", quoted(rest)),
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
