//! What tmux shows, as HTML that can do nothing.

/// Turns the output of `capture-pane -e` into one piece of HTML for each line.
///
/// Colours and attributes go on from line to line: tmux says only what changes.
pub fn rows_html(captured: &str) -> Vec<String> {
    captured.lines().map(escaped).collect()
}

fn escaped(line: &str) -> String {
    let mut html = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => {
                let _ = characters.by_ref().find(char::is_ascii_alphabetic);
            }
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '&' => html.push_str("&amp;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            character if character.is_control() => html.push('\u{fffd}'),
            character => html.push(character),
        }
    }
    html
}
