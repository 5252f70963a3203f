//! Parses an open dialog of Claude Code: its question and its numbered choices.
//!
//! Only a dialog that is seen as a whole, from its upper edge to its last choice, is one that can be answered from elsewhere.
//! Anything else (lists that scroll, boxes to tick, choices without numbers) is left to a person at the terminal.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::screen::{MIN_EDGE, Screen, parse, screen, text};

/// Choices beyond this one have no key.
const MAX_CHOICES: u32 = 9;

/// A question that Claude Code asks, with choices that one key answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialog {
    /// The last line before the choices.
    pub question: String,
    /// What it is about: the command, the file. Every line that is shown above the question.
    pub detail: Vec<String>,
    pub choices: Vec<DialogChoice>,
    /// The number of the choice that Enter would take.
    pub marked: u32,
}

/// An answer, chosen by pressing its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialogChoice {
    pub number: u32,
    pub label: String,
    /// Asks for text instead of answering.
    pub takes_text: bool,
}

impl Dialog {
    /// Identifies the dialog by all that it says; not by the choice that is marked.
    pub fn fingerprint(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.question.hash(&mut hasher);
        self.detail.hash(&mut hasher);
        for choice in &self.choices {
            (choice.number, &choice.label).hash(&mut hasher);
        }
        format!("{:016x}", hasher.finish())
    }

    /// Returns words that the screen must still show when the key is pressed: of the question, of what it is about, of each choice.
    pub fn words(&self) -> Vec<String> {
        let detail = self.detail.iter().max_by_key(|line| line.len());
        let labels = self.choices.iter().map(|choice| &choice.label);
        [&self.question]
            .into_iter()
            .chain(detail)
            .chain(labels)
            .filter_map(|line| longest_word(line))
            .collect()
    }
}

/// Returns the dialog that takes the keys now, if all of it is shown.
pub fn dialog(captured: &str) -> Option<Dialog> {
    if screen(captured) != Screen::Dialog {
        return None;
    }
    let lines: Vec<String> = parse(captured).iter().map(|line| text(line)).collect();
    let last = lines.iter().rposition(|line| choice(line).is_some())?;
    let count = choice(&lines[last])?.number;
    // Upwards from the last number to 1, each exactly once.
    let mut first = last;
    for wanted in (1..count).rev() {
        first = lines[..first]
            .iter()
            .rposition(|line| choice(line).is_some())?;
        if choice(&lines[first])?.number != wanted {
            return None;
        }
    }
    let top = lines[..first].iter().rposition(|line| is_top(line))?;
    let rest = &lines[first..];
    let is_scrolled = |line: &String| line.trim_start().starts_with(['↓', '↑']);
    let mut marks = rest.iter().filter(|line| is_marked(line));
    let marked = choice(marks.next()?)?.number;
    if count > MAX_CHOICES || marks.next().is_some() || rest.iter().any(is_scrolled) {
        return None;
    }
    let mut choices: Vec<DialogChoice> = Vec::new();
    for line in rest {
        match (choice(line), choices.last_mut()) {
            (Some(found), _) => choices.push(found),
            // A label goes on below itself, and ends at a blank line.
            (None, Some(last)) if !is_line(line) => {
                if line.trim().is_empty() {
                    if last.number == count {
                        break;
                    }
                    continue;
                }
                last.label = format!("{} {}", last.label, line.trim());
            }
            (None, _) => {}
        }
    }
    // Boxes to tick: a key toggles one and answers nothing.
    if choices
        .iter()
        .any(|choice| choice.label.starts_with(['[', '☐', '☑', '◯', '◉']))
    {
        return None;
    }
    let mut detail: Vec<String> = lines[top + 1..first]
        .iter()
        .map(|line| line.trim())
        .filter(|line| !line.is_empty() && !is_line(line) && !line.starts_with("Tip:"))
        .map(str::to_owned)
        .collect();
    let question = detail.pop()?;
    Some(Dialog {
        question,
        detail,
        choices,
        marked,
    })
}

/// Reads `❯ 1. Yes`.
fn choice(line: &str) -> Option<DialogChoice> {
    let trimmed = line.trim();
    let trimmed = trimmed.strip_prefix('❯').unwrap_or(trimmed).trim_start();
    let (number, label) = trimmed.split_once(". ")?;
    let is_number = number.len() <= 2 && number.bytes().all(|byte| byte.is_ascii_digit());
    let label = label.trim();
    Some(DialogChoice {
        number: number.parse().ok().filter(|_| is_number)?,
        label: label.to_owned(),
        takes_text: label.starts_with("Type something") || label.starts_with("Chat about this"),
    })
}

fn is_marked(line: &str) -> bool {
    line.trim_start().starts_with('❯') && choice(line).is_some()
}

/// Whether a line begins a dialog: a solid edge, perhaps with words at its end.
fn is_top(line: &str) -> bool {
    let trimmed = line.trim();
    let edge = trimmed.chars().take_while(|c| matches!(c, '─' | '▔'));
    edge.count() >= MIN_EDGE
}

/// Whether a line is only drawn.
fn is_line(line: &str) -> bool {
    let trimmed = line.trim();
    !trimmed.is_empty() && trimmed.chars().all(|c| matches!(c, '─' | '▔' | '╌'))
}

fn longest_word(line: &str) -> Option<String> {
    line.split(|character: char| !character.is_ascii_alphanumeric())
        .max_by_key(|word| word.len())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! captured {
        ($name:literal) => {
            include_str!(concat!("screens/", $name, ".ansi"))
        };
    }

    fn labels(dialog: &Dialog) -> Vec<&str> {
        dialog.choices.iter().map(|choice| &*choice.label).collect()
    }

    #[test]
    fn a_permission_dialog_is_read() {
        let found = dialog(captured!("permission_bash")).unwrap();
        assert_eq!(found.question, "Do you want to proceed?");
        assert_eq!(
            found.detail,
            [
                "Bash command",
                "d",
                "git -C /tmp/lab/wt log --oneline",
                "This command requires approval"
            ]
        );
        assert_eq!(
            labels(&found),
            [
                "Yes",
                "Yes, and don’t ask again for: git *",
                "Yes, and switch to auto mode · auto mode handles these prompts for you",
                "No"
            ]
        );
        let found = dialog(captured!("permission")).unwrap();
        assert_eq!(found.question, "Do you want to create x.txt?");
        assert_eq!(found.choices.len(), 3);
        assert!(found.choices[1].label.ends_with("(shift+tab)"));
    }

    #[test]
    fn questions_and_plans_are_read() {
        let found = dialog(captured!("question")).unwrap();
        assert_eq!(found.question, "Which?");
        assert_eq!(
            labels(&found),
            ["A a", "B b", "Type something.", "Chat about this"]
        );
        let text: Vec<bool> = found.choices.iter().map(|c| c.takes_text).collect();
        assert_eq!(text, [false, false, true, true]);
        let found = dialog(captured!("plan_approval")).unwrap();
        assert_eq!(found.question, "Claude wants to exit plan mode");
        assert_eq!(found.choices.len(), 2);
    }

    #[test]
    fn what_is_not_seen_as_a_whole_is_no_dialog() {
        for (name, screen) in [
            ("trust", captured!("trust")),
            ("project_mcp", captured!("project_mcp")),
            ("model_picker", captured!("model_picker")),
            ("rewind", captured!("rewind")),
            ("permission_pending", captured!("permission_pending")),
            ("idle_fresh", captured!("idle_fresh")),
            ("draft_one_line", captured!("draft_one_line")),
            ("onboarding", captured!("onboarding")),
        ] {
            assert_eq!(dialog(screen), None, "{name}");
        }
        let whole = captured!("permission_bash");
        let without_top: Vec<&str> = whole.lines().skip(15).collect();
        assert_eq!(dialog(&without_top.join("\n")), None);
    }

    #[test]
    fn the_mark_does_not_make_another_dialog_and_the_command_does() {
        let seen = captured!("permission_bash");
        let (above, choices) = seen.rsplit_once('❯').unwrap();
        let moved = format!("{above} {}", choices.replace("4. ", "❯ 4. "));
        let other = seen.replace("log --oneline", "push --force");
        let print = |screen: &str| dialog(screen).map(|dialog| dialog.fingerprint());
        assert!(print(seen).is_some());
        assert_eq!(dialog(seen).map(|dialog| dialog.marked), Some(1));
        assert_eq!(dialog(&moved).map(|dialog| dialog.marked), Some(4));
        assert_eq!(print(&moved), print(seen));
        assert_ne!(print(seen), print(&other));
        assert!(
            dialog(seen)
                .unwrap()
                .words()
                .contains(&"proceed".to_owned())
        );
    }
}
