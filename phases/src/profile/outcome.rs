//! Interprets the exit code and output of compilers and test runners, and excerpts the failing part.

use super::{Counts, Profile, ProfileName, report};
use shared::model::FileKind;
use shared::model::hidden::drop_hidden;

/// The result of a test run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestOutcome {
    Green,
    /// Tests were compiled and loaded, ran and failed.
    Failing,
    /// Tests did not run: something does not compile or load.
    Broken,
    /// Any other failure.
    OtherFailure,
    /// No test ran: there are none, or all were skipped.
    NoTests,
}

/// The result of compiling, or of compiling and testing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Check {
    Fine,
    NotCompiling {
        shown: String,
    },
    Tests {
        outcome: TestOutcome,
        /// How many tests ran, if the runner tells it.
        ran: Option<u64>,
        shown: String,
    },
    TimedOut {
        what: String,
        limit: std::time::Duration,
    },
    /// There is no command, or its program is missing.
    Unknown {
        why: String,
    },
}

/// Words that distinguish the outcomes, and prefixes of the lines where the failures begin.
struct Marks {
    broken: &'static [&'static str],
    failing: &'static [&'static str],
    begins: &'static [&'static str],
}

/// Stubs of the interfaces phase, in any language.
const STUBS: &[&str] = &[
    "not implemented",
    "Not implemented",
    "not yet implemented",
    "NotImplemented",
    "UnsupportedOperationException",
    "unimplemented",
];

#[expect(
    clippy::too_many_lines,
    reason = "a flat table: one profile after the other"
)]
fn marks(name: ProfileName) -> Marks {
    match name {
        ProfileName::Cargo => Marks {
            broken: &[
                "could not compile",
                "error[E",
                "error: failed to parse manifest",
            ],
            failing: &["assertion "],
            begins: &["---- ", "error"],
        },
        ProfileName::Vitest => Marks {
            broken: &[
                "Transform failed",
                "SyntaxError",
                "Failed to resolve import",
                "Failed to load",
                "No test suite found",
            ],
            failing: &["AssertionError"],
            begins: &["⎯⎯⎯⎯⎯⎯ Failed", "⎯⎯⎯⎯⎯⎯⎯ Failed", " FAIL", "error"],
        },
        ProfileName::Jest => Marks {
            broken: &[
                "Test suite failed to run",
                "SyntaxError",
                "Cannot find module",
            ],
            failing: &["expect(", "AssertionError"],
            begins: &["  ●", "FAIL", "error"],
        },
        ProfileName::Node => Marks {
            broken: &[
                "SyntaxError",
                "ERR_MODULE_NOT_FOUND",
                "Cannot find module",
                "does not provide an export",
            ],
            failing: &["AssertionError", "ERR_ASSERTION"],
            begins: &["not ok", "✖ failing tests", "✖", "SyntaxError"],
        },
        ProfileName::Pytest => Marks {
            broken: &[
                "errors during collection",
                "error during collection",
                "SyntaxError",
                "ImportError while importing",
            ],
            failing: &[
                "AssertionError",
                "E       assert",
                "E   assert",
                "Failed: DID NOT RAISE",
            ],
            begins: &["=== FAILURES", "=== ERRORS", "====", "E  "],
        },
        ProfileName::Go => Marks {
            broken: &["[build failed]", "[setup failed]"],
            failing: &["--- FAIL"],
            begins: &["--- FAIL", "panic:", "# ", "vet:"],
        },
        ProfileName::Maven | ProfileName::Gradle => Marks {
            broken: &[
                "COMPILATION ERROR",
                "Compilation failed",
                "compilation failed",
                "compileTestJava FAILED",
                "compileJava FAILED",
                "compileKotlin FAILED",
            ],
            failing: &[
                "AssertionFailedError",
                "AssertionError",
                "ComparisonFailure",
                "There are test failures",
            ],
            begins: &["[ERROR]", "e: ", "error:", "FAILURE", "* What went wrong"],
        },
        ProfileName::Dotnet => Marks {
            broken: &["error CS", "error FS", "error BC", "error MSB"],
            failing: &["Assert.", "Assert ", "Expected:", "Failed!"],
            begins: &["  Failed ", "Failed ", "error"],
        },
        ProfileName::Rspec => Marks {
            broken: &["occurred outside of examples", "SyntaxError", "LoadError"],
            failing: &["expected", "Failure/Error"],
            begins: &["Failures:", "An error occurred"],
        },
        ProfileName::Minitest => Marks {
            broken: &["SyntaxError", "LoadError", "cannot load such file"],
            failing: &["Failure:", "Expected"],
            begins: &["  1) ", "Failure:", "Error:"],
        },
        ProfileName::Phpunit => Marks {
            broken: &["PHP Parse error", "PHP Fatal error", "Parse error"],
            failing: &["Failed asserting", "FAILURES!"],
            begins: &["There was", "There were", "1) ", "PHP "],
        },
        ProfileName::Mix => Marks {
            broken: &[
                "Compilation error",
                "CompileError",
                "SyntaxError",
                "TokenMissingError",
            ],
            failing: &["Assertion with", "Expected ", "code: assert"],
            begins: &["  1) ", "== Compilation error", "** ("],
        },
        ProfileName::Cmake => Marks {
            broken: &["CMake Error", "fatal error:", "undefined reference"],
            failing: &["***Failed", "Assertion", "The following tests FAILED"],
            begins: &[
                "CMake Error",
                "error",
                "***Failed",
                "The following tests FAILED",
            ],
        },
        ProfileName::Custom => Marks {
            broken: &["SyntaxError", "compilation failed", "could not compile"],
            failing: &["ssert", "FAIL", "Failed", "not ok"],
            begins: &["error", "FAIL", "not ok", "Error"],
        },
    }
}

impl Profile {
    /// Determines the result of a test run from its exit code, its output and its counts.
    pub fn outcome(&self, code: Option<i32>, output: &str, counts: Option<Counts>) -> TestOutcome {
        let marks = marks(self.name);
        let says = |words: &[&str]| words.iter().any(|word| output.contains(word));
        let failed = counts.is_some_and(|counts| counts.failed > 0);
        match (self.name, code) {
            (_, Some(0)) if counts.is_some_and(|counts| counts.ran == 0) => TestOutcome::NoTests,
            (_, Some(0)) => TestOutcome::Green,
            // Ended by a signal.
            (_, None) => TestOutcome::OtherFailure,
            // pytest's exit codes: 5 nothing collected, 2 to 4 not started, 1 tests failed.
            (ProfileName::Pytest, Some(5)) => TestOutcome::NoTests,
            (ProfileName::Pytest, Some(2..=4)) => TestOutcome::Broken,
            // All programs are compiled before the first one runs.
            (ProfileName::Cargo, Some(101)) if failed && !says(&["could not compile"]) => {
                if says(&["Couldn't compile the test."]) && !says(&["panicked at", "Error: "]) {
                    TestOutcome::Broken
                } else if says(&["(signal: "]) {
                    TestOutcome::OtherFailure
                } else {
                    TestOutcome::Failing
                }
            }
            // Its report tells files that don't load from tests that fail.
            (ProfileName::Vitest | ProfileName::Jest, _)
                if counts.is_some_and(|counts| counts.errors > 0) =>
            {
                TestOutcome::Broken
            }
            (ProfileName::Pytest | ProfileName::Vitest | ProfileName::Jest, _) if failed => {
                TestOutcome::Failing
            }
            (_, _) if says(marks.broken) => TestOutcome::Broken,
            (_, _) if failed || says(marks.failing) || says(STUBS) => TestOutcome::Failing,
            (_, _) => TestOutcome::OtherFailure,
        }
    }

    /// Returns how many tests ran. `report` is what the runner wrote to its report file.
    pub fn counts(&self, output: &str, report: Option<&str>) -> Option<Counts> {
        report::counts(self.name, output, report)
    }

    /// Returns a runner's output as people read it.
    pub fn for_people(&self, output: String) -> String {
        report::for_people(self.name, output)
    }

    /// Returns whether all errors of a compiler are in tests, which follow in the next phase.
    pub fn fails_in_tests_only(&self, output: &str) -> bool {
        let mut places = output.lines().filter_map(place_of_error).peekable();
        places.peek().is_some()
            && places.all(|place| self.kind(&self.root.join(place)) == FileKind::Test)
    }

    /// Returns whether compilation succeeded.
    pub fn compiled(&self, code: Option<i32>) -> bool {
        match (self.name, code) {
            // Nothing collected: there are no tests yet, and everything could be loaded.
            (ProfileName::Pytest, Some(5)) => true,
            (_, code) => code == Some(0),
        }
    }

    /// Returns the output of a failed run from its first failure on, in at most `budget` bytes.
    pub fn failing_part(&self, output: &str, budget: usize) -> String {
        excerpt(output, marks(self.name).begins, budget)
    }
}

/// Returns the file of a compiler's error: `FILE(1,2): error …` or `FILE:1:2: error: …`.
fn place_of_error(line: &str) -> Option<&str> {
    let (place, _) = line.trim().split_once(": error")?;
    let end = if place.ends_with(')') {
        place.rfind('(')?
    } else {
        let numbers = |character: char| character.is_ascii_digit() || character == ':';
        place.trim_end_matches(numbers).len()
    };
    (end < place.len()).then(|| &place[..end])
}

/// Returns the lines from the first one with one of these prefixes; without any, the end of the output.
pub fn excerpt(output: &str, begins: &[&str], budget: usize) -> String {
    let clean = without_colours(output);
    let lines: Vec<&str> = clean.lines().map(str::trim_end).collect();
    // `begins` is sorted by importance.
    let first = begins.iter().find_map(|begin| {
        lines
            .iter()
            .position(|line| line.starts_with(begin) || line.trim_start().starts_with(begin))
    });
    let Some(first) = first else {
        return tail(&lines, budget);
    };
    let mut part = String::new();
    for (number, line) in lines[first..].iter().enumerate() {
        if part.len() + line.len() >= budget {
            if part.is_empty() {
                part.extend(line.chars().take(budget / 4));
                part.push('\n');
            }
            let left = lines.len() - first - number;
            part.push_str(&format!("… {left} more lines"));
            return part;
        }
        part.push_str(line);
        part.push('\n');
    }
    part.truncate(part.trim_end().len());
    part
}

fn tail(lines: &[&str], budget: usize) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut size = 0;
    for line in lines.iter().rev() {
        size += line.len() + 1;
        if size > budget {
            break;
        }
        kept.push(line);
    }
    kept.reverse();
    kept.join("\n").trim().to_owned()
}

/// Removes SGR escape sequences and hidden characters, because the text goes into a prompt.
fn without_colours(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            if characters.peek() == Some(&'[') {
                characters.next();
                for next in characters.by_ref() {
                    if ('@'..='~').contains(&next) {
                        break;
                    }
                }
            }
        } else {
            clean.push(character);
        }
    }
    drop_hidden(&clean)
}
