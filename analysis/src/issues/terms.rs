//! Splits text into terms and weighs them by inverse document frequency.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Bytes of an issue's text that are read; longer texts are pasted logs.
const MAX_TEXT_LENGTH: usize = 20_000;

/// Stop words: they occur in every issue.
static COMMON: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "\
        about actual add after all also and any are because been before behavior behaviour bug but \
        can cannot could describe does doesn don each error even expected feature fix fixme for from \
        get hack had has have here how http https into issue its just like make may more need needs \
        new not now one only other our out please problem same see should since some steps still \
        such than that the their them then there these they this todo use used using version want \
        was what when where which will with work would xxx you"
    .split(' ')
    .collect()
});

/// Returns the telling words of a text, in lower case, in their order.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut end = text.len().min(MAX_TEXT_LENGTH);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end]
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| word.len() >= 3 && word.len() <= 40)
        .map(|word| stem(word.to_lowercase()))
        .filter(|word| {
            !COMMON.contains(word.as_str()) && !word.bytes().all(|byte| byte.is_ascii_digit())
        })
        .collect()
}

/// Takes the commonest endings off, so that "crashes" and "crash" are one word.
fn stem(mut word: String) -> String {
    for ending in ["ing", "es", "ed", "s"] {
        if word.len() > ending.len() + 3 && word.ends_with(ending) && !word.ends_with("ss") {
            word.truncate(word.len() - ending.len());
            break;
        }
    }
    word
}

/// Splits an identifier or file name into its words: `parseHTTPHeader`, `parse_http_header`.
pub(super) fn parts(identifier: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut previous_lower = false;
    for character in identifier.chars() {
        if !character.is_alphanumeric() || (character.is_uppercase() && previous_lower) {
            parts.push(std::mem::take(&mut part));
        }
        if character.is_alphanumeric() {
            part.extend(character.to_lowercase());
        }
        previous_lower = character.is_lowercase() || character.is_ascii_digit();
    }
    parts.push(part);
    parts.retain(|part| part.len() >= 3);
    parts
        .into_iter()
        .map(stem)
        .filter(|part| !COMMON.contains(part.as_str()))
        .collect()
}

/// How rare words are among some texts.
pub(super) struct Rarity {
    texts: usize,
    holding: HashMap<String, u32>,
}

impl Rarity {
    pub(super) fn of<'a>(texts: impl IntoIterator<Item = &'a HashSet<String>>) -> Self {
        let mut rarity = Self {
            texts: 0,
            holding: HashMap::new(),
        };
        for words in texts {
            rarity.texts += 1;
            for word in words {
                *rarity.holding.entry(word.clone()).or_default() += 1;
            }
        }
        rarity
    }

    /// Returns the inverse document frequency of a word: 0 for one that all texts have.
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of texts are far below 2^24"
    )]
    pub(super) fn weight(&self, word: &str) -> f32 {
        let holding = self.holding.get(word).copied().unwrap_or(0);
        ((1.0 + self.texts as f32) / (1.0 + holding as f32)).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lose_endings_and_noise() {
        assert_eq!(
            words("The parser crashes when parsing 123 headers"),
            ["parser", "crash", "pars", "header"]
        );
        assert_eq!(parts("parseHttpHeader_v2.rs"), ["parse", "header"]);
    }
}
