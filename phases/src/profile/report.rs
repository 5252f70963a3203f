//! Test counts: how many tests ran, from a runner's report file, its JSON events or its summary lines.

use serde_json::Value;

use super::ProfileName;

/// What a runner says that it ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Passed or failed; what was skipped did not run.
    pub ran: u64,
    pub failed: u64,
    /// Files or suites that could not be loaded, and tests that failed outside of their own code.
    pub errors: u64,
}

/// Returns the counts, if the runner tells them. `report` is the file that it was told to write.
pub(super) fn counts(name: ProfileName, output: &str, report: Option<&str>) -> Option<Counts> {
    if let Some(found) = report.and_then(|report| match name {
        ProfileName::Pytest => of_junit(report),
        ProfileName::Vitest | ProfileName::Jest => of_jest(report),
        _ => None,
    }) {
        return Some(found);
    }
    match name {
        ProfileName::Cargo => of_cargo(output),
        ProfileName::Node => of_tap(output),
        ProfileName::Go => of_go(output),
        ProfileName::Maven => of_maven(output),
        ProfileName::Dotnet => sum(output, |line| {
            let failed = after(line, "Failed:")?;
            let passed = after(line, "Passed:")?;
            Some(Counts {
                ran: passed + failed,
                failed,
                errors: 0,
            })
        }),
        ProfileName::Rspec => last(output, |line| {
            let all = before(line, " examples,").or_else(|| before(line, " example,"))?;
            let failed = before(line, " failure")?;
            let ran = all.saturating_sub(before(line, " pending").unwrap_or(0));
            Some(Counts {
                ran,
                failed,
                errors: 0,
            })
        }),
        ProfileName::Minitest => sum(output, |line| {
            let all = before(line, " runs,").or_else(|| before(line, " tests,"))?;
            let failed = before(line, " failures,")? + before(line, " errors").unwrap_or(0);
            let ran = all.saturating_sub(before(line, " skips").unwrap_or(0));
            Some(Counts {
                ran,
                failed,
                errors: 0,
            })
        }),
        ProfileName::Phpunit => last(output, of_phpunit),
        ProfileName::Mix => sum(output, |line| {
            let all = before(line, " tests,").or_else(|| before(line, " test,"))?;
            let failed = before(line, " failure")?;
            let idle =
                before(line, " skipped").unwrap_or(0) + before(line, " excluded").unwrap_or(0);
            Some(Counts {
                ran: all.saturating_sub(idle),
                failed,
                errors: 0,
            })
        }),
        ProfileName::Cmake => of_ctest(output),
        // Gradle's summary has only what failed.
        ProfileName::Pytest
        | ProfileName::Vitest
        | ProfileName::Jest
        | ProfileName::Gradle
        | ProfileName::Custom => None,
    }
}

/// Returns what a runner printed for people. Go wraps it in events.
pub(super) fn for_people(name: ProfileName, output: String) -> String {
    if name != ProfileName::Go || !output.starts_with('{') && !output.contains("\n{") {
        return output;
    }
    let mut text = String::with_capacity(output.len());
    for line in output.lines() {
        if let Some(event) = event(line) {
            text.push_str(event["Output"].as_str().unwrap_or_default());
        } else {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

fn event(line: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(line.strip_prefix('{').map(|_| line)?).ok()?;
    value["Action"].is_string().then_some(value)
}

fn of_go(output: &str) -> Option<Counts> {
    let mut found = None;
    for event in output.lines().filter_map(event) {
        let counts: &mut Counts = found.get_or_insert_default();
        if !event["Test"].is_string() {
            continue;
        }
        match event["Action"].as_str() {
            Some("pass") => counts.ran += 1,
            Some("fail") => {
                counts.ran += 1;
                counts.failed += 1;
            }
            _ => {}
        }
    }
    found
}

/// One line for each program that was tested.
fn of_cargo(output: &str) -> Option<Counts> {
    sum(output, |line| {
        let line = line.strip_prefix("test result: ")?;
        let failed = before(line, " failed;")?;
        Some(Counts {
            ran: before(line, " passed;")? + failed,
            failed,
            errors: 0,
        })
    })
}

fn of_tap(output: &str) -> Option<Counts> {
    // The spec reporter of Node has the same lines with another sign.
    let value = |name: &str| {
        output.lines().rev().find_map(|line| {
            let line = line
                .strip_prefix("# ")
                .or_else(|| line.strip_prefix("ℹ "))?;
            line.strip_prefix(name)?.trim().parse::<u64>().ok()
        })
    };
    let failed = value("fail ")?;
    // What is marked `todo` fails without failing the run.
    Some(Counts {
        ran: value("pass ")? + failed,
        failed,
        errors: 0,
    })
}

fn of_maven(output: &str) -> Option<Counts> {
    // The summary of each module has no time; the line of each class has.
    sum(output, |line| {
        if line.contains("Time elapsed") {
            return None;
        }
        let skipped = after(line, "Skipped:")?;
        let failed = after(line, "Failures:")? + after(line, "Errors:")?;
        Some(Counts {
            ran: after(line, "Tests run:")?.saturating_sub(skipped),
            failed,
            errors: 0,
        })
    })
}

fn of_phpunit(line: &str) -> Option<Counts> {
    if let Some(ran) = line.strip_prefix("OK (").and_then(leading) {
        return Some(Counts {
            ran,
            failed: 0,
            errors: 0,
        });
    }
    if line.starts_with("No tests executed") {
        return Some(Counts::default());
    }
    after(line, "Assertions:")?;
    let of = |name: &str| after(line, name).unwrap_or(0);
    Some(Counts {
        ran: after(line, "Tests:")?.saturating_sub(of("Skipped:") + of("Incomplete:")),
        failed: of("Failures:") + of("Errors:"),
        errors: 0,
    })
}

fn of_ctest(output: &str) -> Option<Counts> {
    if output.contains("No tests were found!!!") {
        return Some(Counts::default());
    }
    let skipped = output
        .lines()
        .filter(|line| line.contains("***Skipped") || line.contains("***Not Run (Disabled)"))
        .count();
    let mut found = last(output, |line| {
        let failed =
            before(line, " tests failed out of").or_else(|| before(line, " test failed out of"))?;
        Some(Counts {
            ran: after(line, "out of")?,
            failed,
            errors: 0,
        })
    })?;
    found.ran = found.ran.saturating_sub(skipped as u64);
    Some(found)
}

/// pytest's `--junitxml`: the attributes of each suite.
fn of_junit(report: &str) -> Option<Counts> {
    let mut found = None;
    for suite in report.split("<testsuite ").skip(1) {
        let head = suite.split('>').next()?;
        let value = |name: &str| {
            let (_, rest) = head.split_once(&format!("{name}=\""))?;
            rest.split('"').next()?.parse::<u64>().ok()
        };
        let counts: &mut Counts = found.get_or_insert_default();
        let errors = value("errors")?;
        counts.ran += value("tests")?.saturating_sub(value("skipped")? + errors);
        counts.failed += value("failures")?;
        counts.errors += errors;
    }
    found
}

/// The JSON of jest, which vitest writes too.
fn of_jest(report: &str) -> Option<Counts> {
    let report: Value = serde_json::from_str(report).ok()?;
    let failed = report["numFailedTests"].as_u64()?;
    let suites = report["testResults"].as_array().map_or(0, |suites| {
        suites
            .iter()
            .filter(|suite| {
                suite["status"] == "failed"
                    && suite["assertionResults"]
                        .as_array()
                        .is_none_or(Vec::is_empty)
            })
            .count()
    });
    Some(Counts {
        ran: report["numPassedTests"].as_u64()? + failed,
        failed,
        errors: suites as u64,
    })
}

fn sum(output: &str, read: impl Fn(&str) -> Option<Counts>) -> Option<Counts> {
    output
        .lines()
        .filter_map(|line| read(line.trim()))
        .reduce(|one, other| Counts {
            ran: one.ran + other.ran,
            failed: one.failed + other.failed,
            errors: one.errors + other.errors,
        })
}

fn last(output: &str, read: impl Fn(&str) -> Option<Counts>) -> Option<Counts> {
    output.lines().rev().find_map(|line| read(line.trim()))
}

/// The number that stands before some words.
fn before(line: &str, words: &str) -> Option<u64> {
    let (head, _) = line.split_once(words)?;
    let digits = head.rsplit(|character: char| !character.is_ascii_digit());
    digits.into_iter().next()?.parse().ok()
}

/// The number that follows some words.
fn after(line: &str, words: &str) -> Option<u64> {
    leading(line.split_once(words)?.1.trim_start())
}

fn leading(text: &str) -> Option<u64> {
    let end = text
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(text.len());
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_say_how_many_tests_ran() {
        for (name, output, ran, failed) in [
            (
                ProfileName::Cargo,
                "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\ntest result: FAILED. 1 passed; 2 failed; 0 ignored\n",
                6,
                2,
            ),
            (
                ProfileName::Cargo,
                "test result: ok. 0 passed; 0 failed; 4 ignored; 0 measured",
                0,
                0,
            ),
            (
                ProfileName::Node,
                "# tests 3\n# suites 0\n# pass 1\n# fail 1\n# cancelled 0\n# skipped 1\n# todo 0\n",
                2,
                1,
            ),
            (
                ProfileName::Go,
                "{\"Action\":\"run\",\"Test\":\"TestA\"}\n{\"Action\":\"pass\",\"Test\":\"TestA\"}\n{\"Action\":\"skip\",\"Test\":\"TestB\"}\n{\"Action\":\"fail\",\"Test\":\"TestC\"}\n{\"Action\":\"fail\",\"Package\":\"x\"}\n",
                2,
                1,
            ),
            (
                ProfileName::Maven,
                "[ERROR] Tests run: 3, Failures: 1, Errors: 1, Skipped: 1, Time elapsed: 0.1 s\n[ERROR] Tests run: 3, Failures: 1, Errors: 1, Skipped: 1\n",
                2,
                2,
            ),
            (
                ProfileName::Dotnet,
                "Failed!  - Failed:     1, Passed:     2, Skipped:     1, Total:     4, Duration: 5 ms",
                3,
                1,
            ),
            (ProfileName::Rspec, "3 examples, 1 failure, 1 pending", 2, 1),
            (
                ProfileName::Minitest,
                "4 runs, 3 assertions, 1 failures, 1 errors, 1 skips",
                3,
                2,
            ),
            (ProfileName::Phpunit, "OK (3 tests, 3 assertions)", 3, 0),
            (
                ProfileName::Phpunit,
                "Tests: 4, Assertions: 3, Failures: 1, Skipped: 2.",
                2,
                1,
            ),
            (ProfileName::Phpunit, "No tests executed!", 0, 0),
            (ProfileName::Mix, "5 tests, 1 failure, 2 skipped", 3, 1),
            (
                ProfileName::Cmake,
                "67% tests passed, 1 tests failed out of 3",
                3,
                1,
            ),
            (ProfileName::Cmake, "No tests were found!!!", 0, 0),
        ] {
            let found = counts(name, output, None).unwrap();
            assert_eq!((found.ran, found.failed), (ran, failed), "{output}");
        }
        assert_eq!(counts(ProfileName::Cargo, "ok", None), None);
    }

    #[test]
    fn reports_are_read() {
        let junit = "<?xml version=\"1.0\"?><testsuites><testsuite name=\"pytest\" errors=\"1\" failures=\"1\" skipped=\"1\" tests=\"5\" time=\"0\"><testcase/></testsuite></testsuites>";
        let found = counts(ProfileName::Pytest, "", Some(junit)).unwrap();
        assert_eq!((found.ran, found.failed, found.errors), (3, 1, 1));
        let jest = r#"{"numPassedTests":1,"numFailedTests":1,"numPendingTests":4,"testResults":[{"status":"failed","assertionResults":[]},{"status":"failed","assertionResults":[{}]}]}"#;
        for name in [ProfileName::Jest, ProfileName::Vitest] {
            let found = counts(name, "", Some(jest)).unwrap();
            assert_eq!((found.ran, found.failed, found.errors), (2, 1, 1));
        }
    }

    #[test]
    fn events_are_shown_as_what_they_print() {
        let text = "# x\n{\"Action\":\"output\",\"Output\":\"--- FAIL: TestA\\n\"}\nFAIL x [build failed]\n";
        assert_eq!(
            for_people(ProfileName::Go, text.to_owned()),
            "# x\n--- FAIL: TestA\nFAIL x [build failed]\n"
        );
    }
}
