//! The terminal bell of `list --watch`, with OSC 9 and OSC 777 for terminals that show notifications.

use std::collections::HashSet;

use crate::model::InstanceId;
use crate::model::hidden::drop_hidden_in_line;
use crate::workflow::attention::Attention;
use crate::workflow::board::BoardRow;

/// The longest text of a notification, in characters.
const MAX_CHARS: usize = 200;

/// Rings for what has begun to need a person since the last look.
#[derive(Debug, Default)]
pub struct Bell {
    /// What was seen at the last look; none before the first, which rings for nothing.
    seen: Option<HashSet<(InstanceId, String)>>,
}

impl Bell {
    /// Returns what to write to the terminal: nothing, or a bell with the sentences about all that is new.
    pub fn ring(&mut self, rows: &[BoardRow]) -> Option<String> {
        let urgent = rows.iter().filter_map(|row| {
            let attention = row.attention().filter(Attention::is_urgent)?;
            Some((row, attention, row.event()?.to_owned()))
        });
        let mut now = HashSet::new();
        let mut texts = Vec::new();
        for (row, attention, event) in urgent {
            let key = (row.instance.id.clone(), event);
            if self.seen.as_ref().is_some_and(|seen| !seen.contains(&key)) {
                texts.push(format!("{}: {}", row.instance.id, attention.short()));
            }
            now.insert(key);
        }
        self.seen = Some(now);
        (!texts.is_empty()).then(|| escapes(&texts.join(", ")))
    }
}

/// Returns the escape sequences that make a terminal ring and show a text.
fn escapes(text: &str) -> String {
    let text: String = drop_hidden_in_line(text).chars().take(MAX_CHARS).collect();
    // In OSC 777 a semicolon ends a field.
    let field = text.replace(';', ",");
    format!("\x07\x1b]9;{text}\x07\x1b]777;notify;claude-codex;{field}\x07")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_can_end_its_escape_sequence() {
        let shown = escapes("a\x07b\x1b]0;c\u{9c};d");
        assert_eq!(
            shown,
            "\x07\x1b]9;ab]0;c;d\x07\x1b]777;notify;claude-codex;ab]0,c,d\x07"
        );
    }
}
