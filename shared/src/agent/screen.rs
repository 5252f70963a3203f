//! Reads a captured Claude Code screen: is the input box there, is something in it, is a dialog open?
//!
//! Give it `capture-pane -e`: without attributes a placeholder can't be told from a draft. This is a
//! second opinion beside the session file, for what that doesn't say; when in doubt it says unknown, and
//! nobody types. The screens in `screens/` were captured from 2.1.325.

/// What the screen shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// The input box takes text.
    Prompt,
    /// Something is open that takes the keys instead.
    Dialog,
    Unknown,
}

/// What is in the input box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draft {
    Empty,
    /// Somebody's text, or a mode that changes what text means (`!` runs it in a shell).
    Text,
    /// There is no input box to look at.
    Unknown,
}

/// The shortest run of `─` that counts as an edge of the input box.
const MIN_EDGE: usize = 10;

/// Shown in the box while messages are queued. The only placeholder known by its words, for captures without attributes.
const QUEUED: &str = "Press up to edit queued messages";

/// The whole line that announces a permission dialog. An agent may end its turn with words that begin so.
const PENDING: &str = "Waiting for permission…";

/// Tells what takes the keys.
pub fn screen(captured: &str) -> Screen {
    let lines = parse(captured);
    match input_box(&lines) {
        // Drawn while the keys still move: the box stays, the dialog comes a moment later.
        Some((top, _)) if permission_is_pending(&lines[..top]) => Screen::Dialog,
        Some(_) => Screen::Prompt,
        None if lines.iter().any(|line| asks(&text(line))) => Screen::Dialog,
        None => Screen::Unknown,
    }
}

/// Tells whether somebody has begun to type.
pub fn draft(captured: &str) -> Draft {
    let lines = parse(captured);
    let Some((top, bottom)) = input_box(&lines) else {
        return Draft::Unknown;
    };
    let mut content: Vec<Cell> = lines[top + 1..bottom].concat();
    let sign = content.remove(0);
    let plain = text(&content);
    if sign.character == '❯' && (is_placeholder(&content) || plain.trim() == QUEUED) {
        Draft::Empty
    } else {
        Draft::Text
    }
}

/// How sure it is that the input box holds a message of ours, and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drafted {
    /// It begins with the message's first line, which names it.
    Named,
    /// Claude Code shows one paste of as many lines, and no text of it: sure only if the box was empty right before.
    Folded,
    No,
}

/// Tells whether the input box holds exactly this message.
///
/// Claude Code shows a paste of more than 800 characters or two line breaks as `[Pasted text #1 +9 lines]`. The first line
/// of a message is pasted by itself, so that it stays readable. Only ASCII is compared: what a
/// terminal makes of other characters is its own affair.
pub fn drafted(captured: &str, message: &str) -> Drafted {
    let lines = parse(captured);
    let Some((top, bottom)) = input_box(&lines) else {
        return Drafted::No;
    };
    let content: Vec<Cell> = lines[top + 1..bottom].concat();
    let content = text(&content);
    let Some(content) = content.strip_prefix('❯').map(ascii) else {
        return Drafted::No;
    };
    let (first, rest) = message_parts(message);
    match content.strip_prefix(&ascii(first)) {
        Some(shown) if shown == ascii(rest) || is_folded(shown, rest) => Drafted::Named,
        None if is_folded(&content, message) => Drafted::Folded,
        Some(_) | None => Drafted::No,
    }
}

/// Returns the first line of a message, and the rest with the line break that it begins with.
pub fn message_parts(message: &str) -> (&str, &str) {
    message.split_at(message.find('\n').unwrap_or(message.len()))
}

/// Returns what can be compared: visible ASCII. A letter with an accent of its own (`e` and U+0301) may be shown as one character.
fn ascii(text: &str) -> String {
    let next = text.chars().skip(1).map(Some).chain([None]);
    text.chars()
        .zip(next)
        .filter(|(character, next)| {
            character.is_ascii_graphic() && !matches!(next, Some('\u{300}'..='\u{36f}'))
        })
        .map(|(character, _)| character)
        .collect()
}

/// Whether this is how a paste of a text is shown, without blanks: `[Pastedtext#1+9lines]`.
fn is_folded(shown: &str, pasted: &str) -> bool {
    let numbers = shown
        .strip_prefix("[Pastedtext#")
        .and_then(|shown| shown.strip_suffix(']'));
    let Some(numbers) = numbers else {
        return false;
    };
    let (number, lines) = numbers.split_once('+').unwrap_or((numbers, "0lines"));
    let lines = lines.trim_end_matches("lines").trim_end_matches("line");
    number.parse::<u32>().is_ok() && lines.parse() == Ok(pasted.matches('\n').count())
}

/// Whether all that stands there is faint: nothing, or a hint. The cursor lies on its first letter.
fn is_placeholder(content: &[Cell]) -> bool {
    let mut strong = content
        .iter()
        .filter(|cell| !cell.character.is_whitespace() && !cell.faint);
    match (strong.next(), strong.next()) {
        (None, _) => true,
        (Some(cell), None) => cell.inverse && content.iter().any(|cell| cell.faint),
        (Some(_), Some(_)) => false,
    }
}

/// Finds the last two edges with a prompt sign between them; returns their line numbers.
fn input_box(lines: &[Vec<Cell>]) -> Option<(usize, usize)> {
    let bottom = lines.iter().rposition(|line| is_edge(line))?;
    let is_prompt = |line: usize| {
        let first = lines[line].first();
        line < bottom && first.is_some_and(|cell| matches!(cell.character, '❯' | '!'))
    };
    let top = (0..bottom)
        .rev()
        .find(|&line| is_edge(&lines[line]) || is_labelled(&lines[line]) && is_prompt(line + 1))?;
    let below = lines.get(bottom + 1..)?.iter().map(|line| text(line));
    (is_prompt(top + 1) && !below.into_iter().any(|line| asks(&line))).then_some((top, bottom))
}

/// Whether a line can be an upper edge with words in it: the name of the session (`─── my name ─`, cut so that it fits), or
/// where in the history its prompt is from (`─── History 2/2 ───`).
fn is_labelled(line: &[Cell]) -> bool {
    let text = text(line);
    let trimmed = text.trim_end();
    trimmed.chars().count() >= MIN_EDGE && trimmed.ends_with('─')
}

fn is_edge(line: &[Cell]) -> bool {
    let text = text(line);
    let trimmed = text.trim_end();
    trimmed.chars().count() >= MIN_EDGE && trimmed.chars().all(|character| character == '─')
}

fn permission_is_pending(above: &[Vec<Cell>]) -> bool {
    above
        .iter()
        .rev()
        .take(4)
        .any(|line| text(line).trim() == PENDING)
}

/// Whether a line belongs to a dialog: the keys that answer it, or a chosen numbered answer.
fn asks(line: &str) -> bool {
    let trimmed = line.trim();
    let chosen = trimmed
        .strip_prefix("❯ ")
        .and_then(|answer| answer.split_once(". "))
        .is_some_and(|(number, _)| {
            !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
        });
    chosen
        || [
            "Esc to cancel",
            "Enter to confirm",
            "Enter to select",
            "Enter to continue",
        ]
        .iter()
        .any(|keys| trimmed.contains(keys))
}

/// One character and how it is drawn.
#[derive(Debug, Clone, Copy)]
struct Cell {
    character: char,
    faint: bool,
    inverse: bool,
}

fn text(line: &[Cell]) -> String {
    line.iter().map(|cell| cell.character).collect()
}

/// Splits a capture into lines of cells. Attributes go on from line to line, as tmux writes them.
fn parse(captured: &str) -> Vec<Vec<Cell>> {
    let (mut faint, mut inverse) = (false, false);
    let mut lines = Vec::new();
    for line in captured.lines() {
        let mut cells = Vec::new();
        let mut characters = line.chars().peekable();
        while let Some(character) = characters.next() {
            if character != '\u{1b}' {
                cells.push(Cell {
                    character,
                    faint,
                    inverse,
                });
                continue;
            }
            if characters.next_if_eq(&'[').is_none() {
                continue;
            }
            let mut parameters = String::new();
            let end = characters.find(|character| {
                let is_end = character.is_ascii_alphabetic();
                if !is_end {
                    parameters.push(*character);
                }
                is_end
            });
            if end == Some('m') {
                select(&parameters, &mut faint, &mut inverse);
            }
        }
        lines.push(cells);
    }
    lines
}

/// Applies the parameters of one SGR sequence.
fn select(parameters: &str, faint: &mut bool, inverse: &mut bool) {
    let mut codes = parameters
        .split([';', ':'])
        .map(|code| code.parse().unwrap_or(0));
    while let Some(code) = codes.next() {
        match code {
            0 => (*faint, *inverse) = (false, false),
            2 => *faint = true,
            22 => *faint = false,
            7 => *inverse = true,
            27 => *inverse = false,
            // The numbers of a colour follow; they are no attributes.
            38 | 48 | 58 => {
                let numbers = if codes.next() == Some(2) { 3 } else { 1 };
                codes.by_ref().take(numbers).for_each(drop);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! captured {
        ($name:literal) => {
            include_str!(concat!("screens/", $name, ".ansi"))
        };
    }

    #[test]
    fn an_empty_box_takes_text() {
        for (name, screen_text) in [
            ("idle_fresh", captured!("idle_fresh")),
            ("idle_after_turn", captured!("idle_after_turn")),
            ("busy_empty", captured!("busy_empty")),
            ("busy_queued", captured!("busy_queued")),
            ("plan_idle", captured!("plan_idle")),
            ("narrow", captured!("narrow")),
            ("shortcuts", captured!("shortcuts")),
        ] {
            assert_eq!(screen(screen_text), Screen::Prompt, "{name}");
            assert_eq!(draft(screen_text), Draft::Empty, "{name}");
        }
    }

    #[test]
    fn a_draft_is_seen() {
        for (name, screen_text) in [
            ("draft_one_line", captured!("draft_one_line")),
            ("draft_multi_line", captured!("draft_multi_line")),
            ("draft_three_lines", captured!("draft_three_lines")),
            ("busy_draft", captured!("busy_draft")),
            ("slash_menu", captured!("slash_menu")),
            ("shell_mode_empty", captured!("shell_mode_empty")),
        ] {
            assert_eq!(screen(screen_text), Screen::Prompt, "{name}");
            assert_eq!(draft(screen_text), Draft::Text, "{name}");
        }
    }

    #[test]
    fn a_dialog_is_seen() {
        for (name, screen_text) in [
            ("permission", captured!("permission")),
            ("permission_bash", captured!("permission_bash")),
            ("permission_pending", captured!("permission_pending")),
            ("plan_approval", captured!("plan_approval")),
            ("question", captured!("question")),
            ("rewind", captured!("rewind")),
            ("model_picker", captured!("model_picker")),
            ("trust", captured!("trust")),
            ("project_mcp", captured!("project_mcp")),
        ] {
            assert_eq!(screen(screen_text), Screen::Dialog, "{name}");
        }
    }

    #[test]
    fn a_box_may_have_words_in_its_upper_edge() {
        let edge = "─".repeat(60);
        for top in [
            format!("{} my-name ─", "─".repeat(50)),
            "── my-name ─".to_owned(),
            " very long name very long name very long name very long n… ─".to_owned(),
            format!("─── History 2/2 {}", "─".repeat(44)),
        ] {
            let seen = |content: &str| format!("{edge}\n❯ old\n{top}\n❯\u{a0}{content}\n{edge}\n");
            assert_eq!(screen(&seen("")), Screen::Prompt, "{top}");
            assert_eq!(draft(&seen("")), Draft::Empty, "{top}");
            assert_eq!(draft(&seen("mine\n  ─ ─")), Draft::Text, "{top}");
            let message = "[claude-codex m-00000001] Title";
            assert_eq!(drafted(&seen(message), message), Drafted::Named, "{top}");
        }
        // Words that end so in a draft are no edge.
        let draft_text = format!("{edge}\n❯\u{a0}a\n  0123456789 ─\n  ❯ b\n{edge}\n");
        assert_eq!(drafted(&draft_text, "b"), Drafted::No);
        assert_eq!(draft(&draft_text), Draft::Text);
    }

    #[test]
    fn words_of_the_agent_are_no_dialog() {
        let edge = "─".repeat(40);
        let screen_text = format!(
            "● I am done.\n\n  Waiting for permission to go on.\n\n✻ Cooked for 2s\n{edge}\n❯\u{a0}\n{edge}\n"
        );
        assert_eq!(screen(&screen_text), Screen::Prompt);
        assert_eq!(draft(&screen_text), Draft::Empty);
    }

    #[test]
    fn anything_else_is_unknown() {
        for (name, screen_text) in [
            ("transcript_view", captured!("transcript_view")),
            ("onboarding", captured!("onboarding")),
            ("a shell", "user@host:~$ ls\nfile\nuser@host:~$ "),
            ("nothing", ""),
            ("rules without a box", "──────────────\n──────────────\n"),
        ] {
            assert_eq!(screen(screen_text), Screen::Unknown, "{name}");
            assert_eq!(draft(screen_text), Draft::Unknown, "{name}");
        }
    }

    #[test]
    fn a_capture_without_attributes_still_shows_drafts() {
        let edge = "─".repeat(40);
        for (content, expected) in [
            ("❯\u{a0}", Draft::Empty),
            ("❯\u{a0}x", Draft::Text),
            ("❯\u{a0}Press up to edit queued messages", Draft::Empty),
            ("❯\u{a0}\n  later line", Draft::Text),
        ] {
            assert_eq!(
                draft(&format!("● hi\n{edge}\n{content}\n{edge}\n  footer\n")),
                expected,
                "{content}"
            );
        }
    }

    #[test]
    fn a_faint_hint_is_no_draft() {
        let edge = "─".repeat(40);
        let hint = "\u{1b}[7mT\u{1b}[0;2mry \"fix the tests\"\u{1b}[0m";
        let screen_text = format!("{edge}\n❯\u{a0}{hint}\n{edge}\n");
        assert_eq!(draft(&screen_text), Draft::Empty);
    }

    #[test]
    fn only_the_whole_message_and_nothing_else_is_ours() {
        let edge = "─".repeat(60);
        let seen = |content: &str, message: &str| {
            drafted(
                &format!("● hi\n{edge}\n❯\u{a0}{content}\n{edge}\n  footer\n"),
                message,
            )
        };
        let short = "[claude-codex m-00000001] Title\n\nBody – ünï";
        let long = "[claude-codex m-00000001] Title\n\na\nb\nc";
        for (content, message, expected) in [
            (
                "[claude-codex m-00000001] Title\n\n  Body – ünï",
                short,
                Drafted::Named,
            ),
            (
                "[claude-codex m-00000001] Ti\n  tle\n\n  Body",
                short,
                Drafted::No,
            ),
            (
                "[claude-codex m-00000001] Title[Pasted text #3 +4 lines]",
                long,
                Drafted::Named,
            ),
            (
                "[claude-codex m-00000001] Title[Pasted text #3 +5 lines]",
                long,
                Drafted::No,
            ),
            (
                "[claude-codex m-00000001] Title[Pasted text #3 +4 lines]",
                "[claude-codex m-00000001] Title\n\na\n\n",
                Drafted::Named,
            ),
            (
                "[claude-codex m-00000001] Title\n\n  caf\u{e9} x",
                "[claude-codex m-00000001] Title\n\ncafe\u{301} x",
                Drafted::Named,
            ),
            ("[Pasted text #1 +4 lines]", long, Drafted::Folded),
            ("[Pasted text #1 +9 lines]", long, Drafted::No),
            (
                "[claude-codex m-00000002] Title[Pasted text #3 +4 lines]",
                long,
                Drafted::No,
            ),
            (
                "mine[claude-codex m-00000001] Title[Pasted text #3 +4 lines]",
                long,
                Drafted::No,
            ),
            (
                "[claude-codex m-00000001] Title[Pasted text #3 +4 lines] and mine",
                long,
                Drafted::No,
            ),
            (
                "[claude-codex m-00000001] Title[Pasted text #1 +4 lines][Pasted text #2 +4 lines]",
                long,
                Drafted::No,
            ),
            ("what is [claude-codex m-00000001]?", short, Drafted::No),
            ("", short, Drafted::No),
        ] {
            assert_eq!(seen(content, message), expected, "{content}");
        }
        let above = format!("❯ {short}\n{edge}\n❯\u{a0}my own words\n{edge}\n");
        assert_eq!(
            drafted(&above, short),
            Drafted::No,
            "the conversation is not the box"
        );
        assert_eq!(drafted(captured!("permission"), short), Drafted::No);
    }

    #[test]
    fn one_letter_under_the_cursor_is_a_draft() {
        let edge = "─".repeat(40);
        let screen_text = format!("{edge}\n❯\u{a0}\u{1b}[7mx\u{1b}[0m\n{edge}\n");
        assert_eq!(draft(&screen_text), Draft::Text);
    }
}
