//! Shell scripts, split into simple commands: words, quotes, `&&`, here-documents, `${{ templates }}`.
//!
//! Only as much of the shell as tells whether a line can be offered as a command. What is not understood makes a
//! command unusable; it never makes another one.

/// Longest script that is read; a step of a pipeline with more is a program.
const MAX_SCRIPT_LENGTH: usize = 100_000;

/// One simple command, with the pipes and redirections behind it.
#[derive(Debug, Default)]
pub(super) struct Simple {
    /// As written, on one line.
    pub(super) text: String,
    /// The words before the first pipe, without quotes.
    pub(super) words: Vec<String>,
    /// Names of the variables that it needs.
    pub(super) variables: Vec<String>,
    /// A template, a placeholder, a subshell or something else that cannot be run as it stands.
    pub(super) unusable: bool,
}

/// Splits a script into its commands; ends before a quote that is never closed.
pub(super) fn commands(script: &str) -> Vec<Simple> {
    if script.len() > MAX_SCRIPT_LENGTH {
        return Vec::new();
    }
    let mut reader = Reader {
        text: script,
        at: 0,
        current: Simple::default(),
        word: None,
        piped: false,
        redirected: false,
        here: Vec::new(),
        found: Vec::new(),
    };
    // An unclosed quote swallows the rest; the commands before it stand.
    let _ = reader.read();
    reader.found
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    current: Simple,
    word: Option<String>,
    piped: bool,
    redirected: bool,
    /// Words that end the here-documents of this line.
    here: Vec<String>,
    found: Vec<Simple>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Moves over a part that belongs to the command as it is.
    fn keep(&mut self, length: usize) {
        self.current
            .text
            .push_str(&self.text[self.at..self.at + length]);
        self.at += length;
    }

    fn add(&mut self, text: &str) {
        self.word.get_or_insert_default().push_str(text);
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take()
            && !std::mem::take(&mut self.redirected)
            && !self.piped
        {
            self.current.words.push(word);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.piped = false;
        self.redirected = false;
        let mut command = std::mem::take(&mut self.current);
        command.text.truncate(command.text.trim_end().len());
        let indent = command.text.len() - command.text.trim_start().len();
        command.text.drain(..indent);
        if !command.words.is_empty() {
            self.found.push(command);
        }
    }

    fn read(&mut self) -> Option<()> {
        while let Some(next) = self.rest().chars().next() {
            match next {
                '\n' => {
                    self.end_command();
                    self.at += 1;
                    self.skip_here_documents();
                }
                _ if next.is_whitespace() => {
                    self.end_word();
                    if !self.current.text.ends_with(' ') {
                        self.current.text.push(' ');
                    }
                    self.at += next.len_utf8();
                }
                '\\' => self.escape(),
                '\'' => self.single_quotes()?,
                '"' => self.double_quotes()?,
                '$' => self.dollar()?,
                '`' => self.backquotes()?,
                '#' if self.word.is_none() => {
                    self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                }
                ';' | '&' | '|' => self.operator(),
                '<' | '>' => self.redirection(),
                '(' | ')' => {
                    self.end_word();
                    self.current.unusable = true;
                    self.keep(1);
                }
                _ => {
                    let length = next.len_utf8();
                    self.add(&self.text[self.at..self.at + length]);
                    self.keep(length);
                }
            }
        }
        self.end_command();
        Some(())
    }

    fn escape(&mut self) {
        let escaped = self.rest().chars().nth(1);
        match escaped {
            Some('\n') => {
                self.end_word();
                if !self.current.text.ends_with(' ') {
                    self.current.text.push(' ');
                }
                self.at += 2;
                self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
            }
            Some(character) => {
                self.add(character.encode_utf8(&mut [0; 4]));
                self.keep(1 + character.len_utf8());
            }
            None => {
                self.current.unusable = true;
                self.at += 1;
            }
        }
    }

    fn single_quotes(&mut self) -> Option<()> {
        let inside = self.rest()[1..].split_once('\'')?.0.to_owned();
        self.current.unusable |= inside.contains('\n');
        self.add(&inside);
        self.keep(inside.len() + 2);
        Some(())
    }

    fn double_quotes(&mut self) -> Option<()> {
        self.add("");
        self.keep(1);
        loop {
            match self.rest().chars().next()? {
                '"' => {
                    self.keep(1);
                    return Some(());
                }
                '\\' => self.escape(),
                '$' => self.dollar()?,
                '`' => self.backquotes()?,
                other => {
                    self.current.unusable |= other == '\n';
                    self.add(other.encode_utf8(&mut [0; 4]));
                    self.keep(other.len_utf8());
                }
            }
        }
    }

    fn backquotes(&mut self) -> Option<()> {
        let length = self.rest()[1..].find('`')? + 2;
        self.current.unusable |= self.rest()[..length].contains('\n');
        self.add(&self.text[self.at..self.at + length]);
        self.keep(length);
        Some(())
    }

    /// Reads `$name`, `${name}`, `$(command)` or `${{ template }}`.
    fn dollar(&mut self) -> Option<()> {
        let rest = self.rest();
        let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let length = if rest.starts_with("${{") {
            self.current.unusable = true;
            rest.find("}}")? + 2
        } else if rest.starts_with("${") {
            let end = rest.find('}')? + 1;
            let name: String = rest[2..end].chars().take_while(|c| is_name(*c)).collect();
            self.current.variables.push(name);
            end
        } else if rest.starts_with("$(") {
            let mut open = 0_usize;
            let end = rest.find(|character: char| {
                open += usize::from(character == '(');
                open -= usize::from(character == ')');
                character == ')' && open == 0
            })?;
            self.current.unusable |= rest[..end].contains(['\n', '$', '"']) && end > 60;
            end + 1
        } else {
            let name = rest[1..].find(|c| !is_name(c)).unwrap_or(rest.len() - 1);
            self.current.variables.push(rest[1..=name].to_owned());
            name + 1
        };
        self.current.unusable |= self.rest()[..length].contains('\n');
        self.add(&self.text[self.at..self.at + length]);
        self.keep(length);
        Some(())
    }

    fn operator(&mut self) {
        let rest = self.rest();
        if rest.starts_with("&&") {
            self.end_command();
            self.at += 2;
        } else if rest.starts_with("||") {
            // What follows runs only when the command fails.
            self.end_command();
            self.current.unusable = true;
            self.at += 2;
        } else if rest.starts_with('|') {
            self.end_word();
            self.piped = true;
            self.keep(1);
        } else if rest.starts_with("&>") {
            self.end_word();
            self.keep(1);
        } else {
            // A command in the background only serves the next one.
            self.current.unusable |= rest.starts_with('&');
            self.end_command();
            self.at += 1;
        }
    }

    fn redirection(&mut self) {
        let rest = self.rest();
        if rest.starts_with("<<") && !rest.starts_with("<<<") {
            let word = rest[2..].trim_start_matches(['-', ' ']);
            let end: String = word
                .trim_start_matches(['\'', '"', '\\'])
                .chars()
                .take_while(|character| character.is_alphanumeric() || *character == '_')
                .collect();
            self.here.push(end);
            self.current.unusable = true;
            self.keep(2);
            return;
        }
        // `<name>` in a document is to be filled in.
        self.current.unusable |= rest.starts_with('<')
            && rest[1..].starts_with(|c: char| c.is_alphabetic())
            && rest
                .split('\n')
                .next()
                .is_some_and(|line| line.contains('>'));
        // The number in front of `2>&1` is no word.
        if self
            .word
            .as_deref()
            .is_some_and(|word| word.len() == 1 && word.bytes().all(|b| b.is_ascii_digit()))
        {
            self.word = None;
        }
        self.end_word();
        self.redirected = true;
        let length = rest.len() - rest.trim_start_matches(['<', '>', '&']).len();
        self.keep(length);
    }

    fn skip_here_documents(&mut self) {
        for end in std::mem::take(&mut self.here) {
            loop {
                let rest = self.rest();
                let line = rest.split('\n').next().unwrap_or_default();
                let is_last = line.trim() == end || line.len() == rest.len();
                self.at += (line.len() + 1).min(rest.len());
                if is_last {
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usable(script: &str) -> Vec<String> {
        commands(script)
            .into_iter()
            .filter(|command| !command.unusable)
            .map(|command| command.text)
            .collect()
    }

    #[test]
    fn quotes_continuations_and_operators_are_kept_apart() {
        assert_eq!(
            usable(
                "make REDIS_CFLAGS='-Werror -DX' # why\ncargo clippy \\\n   -- -D warnings && echo \"a; b\" | tee 'x y' > /dev/null 2>&1; go vet || exit 1"
            ),
            [
                "make REDIS_CFLAGS='-Werror -DX'",
                "cargo clippy -- -D warnings",
                "echo \"a; b\" | tee 'x y' > /dev/null 2>&1",
                "go vet"
            ]
        );
        let words = &commands("a 'b c'\"d\"\\ e f$X 2>log | g")[0];
        assert_eq!(words.words, ["a", "b cd e", "f$X"]);
        assert_eq!(words.variables, ["X"]);
    }

    #[test]
    fn what_cannot_run_alone_is_unusable() {
        for script in [
            "cargo test ${{ matrix.flags }}",
            "cargo test <name>",
            "(cd a; make)",
            "cat <<EOF\ncargo test\nEOF",
            "server &",
            "make REDIS_CFLAGS='-Werror",
            "x \"a\nb\"",
        ] {
            assert_eq!(usable(script), [""; 0], "{script}");
        }
        assert_eq!(usable("cat <<'E'\nx\nE\nmake"), ["make"]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "[a-z \\\\'\"$(){}<>|&;`#\n\u{e9}=]{0,60}") {
            let _ = commands(&text);
        }
    }
}
