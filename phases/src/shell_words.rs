//! Shell words: splits a command line into simple commands with their words, redirections and pipes.
//!
//! Only what is certain is split. For everything else (substitutions, here-documents, functions) there is no answer, and
//! the caller judges the text as a whole.

/// One program with its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Simple {
    pub(super) words: Vec<String>,
    /// Files that it writes to by redirection.
    pub(super) targets: Vec<String>,
    /// What it prints is read by the next one.
    pub(super) piped: bool,
}

/// Splits a command line; `None` if it can't be told what it does.
pub(super) fn split(line: &str) -> Option<Vec<Simple>> {
    let mut lexer = Lexer::default();
    let mut rest = line;
    while let Some(character) = rest.chars().next() {
        rest = lexer.take(character, rest)?;
    }
    lexer.end_command(false);
    // A redirection without its file.
    (!lexer.redirects).then_some(lexer.done)
}

#[derive(Default)]
struct Lexer {
    done: Vec<Simple>,
    command: Simple,
    word: String,
    in_word: bool,
    /// The next word is the file of a redirection.
    redirects: bool,
}

impl Lexer {
    /// Takes what begins with this character; returns the rest.
    fn take<'t>(&mut self, character: char, rest: &'t str) -> Option<&'t str> {
        let after = &rest[character.len_utf8()..];
        match character {
            '\'' => {
                let end = after.find('\'')?;
                self.push(&after[..end]);
                return Some(&after[end + 1..]);
            }
            '"' => return self.quoted(after),
            '\\' => {
                let next = after.chars().next()?;
                if next != '\n' {
                    self.push(&after[..next.len_utf8()]);
                }
                return Some(&after[next.len_utf8()..]);
            }
            '#' if !self.in_word => {
                return Some(after.find('\n').map_or("", |end| &after[end..]));
            }
            ' ' | '\t' => self.end_word(),
            '\n' | ';' => self.end_command(false),
            '&' => {
                if let Some(target) = after.strip_prefix('>') {
                    self.end_word();
                    self.redirects = true;
                    return Some(target.strip_prefix('>').unwrap_or(target));
                }
                self.end_command(false);
                return Some(after.strip_prefix('&').unwrap_or(after));
            }
            '|' => {
                let or = after.strip_prefix('|');
                self.end_command(or.is_none());
                return Some(or.or_else(|| after.strip_prefix('&')).unwrap_or(after));
            }
            '>' => {
                // The number before it belongs to it.
                if self.word.chars().all(|digit| digit.is_ascii_digit()) {
                    self.word.clear();
                    self.in_word = false;
                }
                self.end_word();
                let after = after.trim_start_matches(['>', '|']);
                if let Some(copy) = after.strip_prefix('&') {
                    // `2>&1` names no file.
                    let digits = copy.trim_start_matches(|digit: char| digit.is_ascii_digit());
                    return (digits.len() < copy.len()).then_some(digits);
                }
                self.redirects = true;
                return Some(after);
            }
            // A file to read; a here-document or a substitution is not followed.
            '<' if !after.starts_with(['<', '(', '>', '&']) => self.end_word(),
            '<' | '(' | ')' | '`' | '{' | '}' => return None,
            '$' if after.starts_with(['(', '{', '\'', '"', '[']) => return None,
            _ => self.push(&rest[..character.len_utf8()]),
        }
        Some(after)
    }

    /// Takes a text in double quotes.
    fn quoted<'t>(&mut self, mut rest: &'t str) -> Option<&'t str> {
        self.in_word = true;
        loop {
            if let Some((text, after)) = message(rest) {
                self.push(text);
                rest = after;
                continue;
            }
            let character = rest.chars().next()?;
            let after = &rest[character.len_utf8()..];
            match character {
                '"' => return Some(after),
                '`' => return None,
                '$' if after.starts_with(['(', '{', '[']) => return None,
                '\\' => {
                    let next = after.chars().next()?;
                    self.push(&after[..next.len_utf8()]);
                    rest = &after[next.len_utf8()..];
                }
                _ => {
                    self.push(&rest[..character.len_utf8()]);
                    rest = after;
                }
            }
        }
    }

    fn push(&mut self, text: &str) {
        self.word.push_str(text);
        self.in_word = true;
    }

    fn end_word(&mut self) {
        if !self.in_word {
            return;
        }
        self.in_word = false;
        let word = std::mem::take(&mut self.word);
        if std::mem::take(&mut self.redirects) {
            self.command.targets.push(word);
        } else {
            self.command.words.push(word);
        }
    }

    fn end_command(&mut self, piped: bool) {
        self.end_word();
        let mut command = std::mem::take(&mut self.command);
        command.piped = piped;
        if !command.words.is_empty() || !command.targets.is_empty() {
            self.done.push(command);
        }
    }
}

/// The usual way to give a long message: `"$(cat <<'EOF' … EOF)"`, with nothing in it that the shell replaces.
fn message(rest: &str) -> Option<(&str, &str)> {
    let rest = rest.strip_prefix("$(cat <<'")?;
    let (tag, rest) = rest.split_once("'\n")?;
    if tag.is_empty()
        || !tag
            .chars()
            .all(|character| character.is_ascii_alphanumeric())
    {
        return None;
    }
    let end = format!("\n{tag}\n");
    let (text, after) = rest.split_once(&end)?;
    Some((text, after.trim_start().strip_prefix(')')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Option<Vec<Vec<String>>> {
        Some(split(line)?.into_iter().map(|one| one.words).collect())
    }

    #[test]
    fn words_are_split_as_the_shell_does() {
        for (line, expected) in [
            (
                "a 'b c' \"d e\" f\\ g",
                vec![vec!["a", "b c", "d e", "f g"]],
            ),
            (
                "a;b&&c||d|e &f\ng",
                vec![
                    vec!["a"],
                    vec!["b"],
                    vec!["c"],
                    vec!["d"],
                    vec!["e"],
                    vec!["f"],
                    vec!["g"],
                ],
            ),
            ("a # b 'c", vec![vec!["a"]]),
            ("a#b ''", vec![vec!["a#b", ""]]),
            ("a 2>&1 b < c", vec![vec!["a", "b", "c"]]),
            (
                "git commit -m \"$(cat <<'EOF'\nfirst `x` $(y)\n\nlast\nEOF\n)\"",
                vec![vec!["git", "commit", "-m", "first `x` $(y)\n\nlast"]],
            ),
        ] {
            assert_eq!(words(line).unwrap(), expected, "{line}");
        }
        for line in [
            "a $(b)",
            "a `b`",
            "a <<EOF",
            "a <(b)",
            "(a)",
            "{ a; }",
            "a 'b",
            "a >",
            "a \"$(b)\"",
            "a ${b}",
            "a >& b",
        ] {
            assert_eq!(words(line), None, "{line}");
        }
    }

    #[test]
    fn redirections_and_pipes_are_known() {
        let found = split("a x>y 2>>z &>w | b >|v").unwrap();
        assert_eq!(found[0].words, ["a", "x"]);
        assert_eq!(found[0].targets, ["y", "z", "w"]);
        assert!(found[0].piped && !found[1].piped);
        assert_eq!(found[1].targets, ["v"]);
    }
}
