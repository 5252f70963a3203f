//! Keys that answer a dialog, pressed by the tmux server in the same step in which it sees the words of the dialog.

use super::error::TmuxError;
use super::fence::Fenced;
use super::typed_text::InputOutcome;

impl Fenced {
    /// Presses a digit, if the terminal shows all of the words at that moment.
    pub async fn press_digit(
        &self,
        digit: u32,
        words: &[String],
    ) -> Result<InputOutcome, TmuxError> {
        let key = (digit % 10).to_string();
        self.press_if(&self.shows(words), &key).await
    }

    /// Presses Enter, if the terminal shows all of the words and marks the choice with this number at that moment.
    pub async fn press_enter_on(
        &self,
        number: u32,
        words: &[String],
    ) -> Result<InputOutcome, TmuxError> {
        let shown = self.shows(words);
        let condition = format!("#{{&&:{shown},#{{C/r:❯ {number}[.] }}}}");
        self.press_if(&condition, "Enter").await
    }

    /// Returns the format that is true while the pane is ours and shows all of the words; those that are not plain are left out.
    fn shows(&self, words: &[String]) -> String {
        let is_plain = |word: &&String| word.bytes().all(|byte| byte.is_ascii_alphanumeric());
        words
            .iter()
            .filter(is_plain)
            .fold(self.is_mine(), |condition, word| {
                format!("#{{&&:{condition},#{{C:{word}}}}}")
            })
    }
}
