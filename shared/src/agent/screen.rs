//! Parses a captured Claude Code screen: input box, draft in it, open dialog.
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
pub(super) const MIN_EDGE: usize = 10;

/// The shortest end of a message that is known for one, in letters.
const MIN_END: usize = 8;

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
    let rows = &lines[top + 1..bottom];
    let mut content: Vec<Cell> = rows.concat();
    let sign = content.remove(0);
    let plain = text(&content);
    // Blank lines are somebody's, and their words may have scrolled away above them.
    let is_one_text = !rows[1..].iter().any(|row| text(row).trim().is_empty());
    let is_hint = is_placeholder(&content) || plain.trim() == QUEUED;
    if sign.character == '❯' && is_one_text && is_hint {
        Draft::Empty
    } else {
        Draft::Text
    }
}

/// How sure it is that the input box holds a message of ours, and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Drafted {
    /// It begins with the message's first line, which names it.
    Named,
    /// One paste of as many lines and no text of it, or the end of the message with the rest out of sight: sure only if the
    /// box was empty right before. With a word that is shown.
    Unnamed(String),
    No,
}

/// Tells whether the input box holds exactly this message.
///
/// Claude Code shows a paste of more than 800 characters or two line breaks as `[Pasted text #1 +9 lines]`. The first line
/// of a message is pasted by itself, so that it stays readable. In a small terminal the box shows only the last lines of a
/// text, behind the same sign. Only ASCII is compared: what a
/// terminal makes of other characters is its own affair, except that it makes no more of them.
pub fn drafted(captured: &str, message: &str) -> Drafted {
    let lines = parse(captured);
    let Some((top, bottom)) = input_box(&lines) else {
        return Drafted::No;
    };
    let rows = &lines[top + 1..bottom];
    let shown = text(&rows.concat());
    let Some(shown) = shown.strip_prefix('❯') else {
        return Drafted::No;
    };
    let content = ascii(shown);
    let has_no_more_than = |text: &str| count_others(shown) <= count_others(text);
    let (first, rest) = message_parts(message);
    let begins_at_once = !text(&rows[0]).trim_start_matches('❯').trim().is_empty();
    match content.strip_prefix(&ascii(first)) {
        Some(shown) if begins_at_once && shown == ascii(rest) && has_no_more_than(message) => {
            Drafted::Named
        }
        Some(shown) if begins_at_once && is_folded(shown, rest) && has_no_more_than(first) => {
            Drafted::Named
        }
        _ if is_folded(&content, message) && has_no_more_than("") => {
            Drafted::Unnamed(longest_word(rows))
        }
        _ if is_end(&content, first, rest) && has_no_more_than(message) => {
            Drafted::Unnamed(longest_word(rows))
        }
        Some(_) | None => Drafted::No,
    }
}

/// Whether this is the end of a message, as long as it needs to be to tell.
fn is_end(shown: &str, first: &str, rest: &str) -> bool {
    let (text, folded) = shown.split_at(shown.rfind("[Pastedtext#").unwrap_or(shown.len()));
    let is_text = (ascii(first) + &ascii(rest)).ends_with(shown);
    let is_fold = is_folded(folded, rest) && ascii(first).ends_with(text);
    shown.len() >= MIN_END && (is_text || is_fold)
}

fn longest_word(rows: &[Vec<Cell>]) -> String {
    let rows: Vec<String> = rows.iter().map(|row| text(row)).collect();
    let words = rows
        .iter()
        .flat_map(|row| row.split(|character: char| !character.is_ascii_alphanumeric()));
    words
        .max_by_key(|word| word.len())
        .unwrap_or_default()
        .to_owned()
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

/// Counts the characters that are not compared.
fn count_others(text: &str) -> usize {
    let is_other = |character: &char| !character.is_ascii() && !character.is_whitespace();
    text.chars().filter(is_other).count()
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
pub(super) struct Cell {
    character: char,
    faint: bool,
    inverse: bool,
}

pub(super) fn text(line: &[Cell]) -> String {
    line.iter().map(|cell| cell.character).collect()
}

/// Splits a capture into lines of cells. Attributes go on from line to line, as tmux writes them.
pub(super) fn parse(captured: &str) -> Vec<Vec<Cell>> {
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
mod tests;
