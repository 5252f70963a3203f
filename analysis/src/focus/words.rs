//! Words of questions, paths and code: identifiers are split, endings taken off.

/// Longest word; what is longer is data.
const MAX_WORD: usize = 40;

/// Most words of a question that count.
const MAX_TERMS: usize = 24;

/// Words without which a question means the same.
const COMMON: &str = "\
    a about add added adding adds after all also an and any are as at avoid be been before being but by can change changed \
    changes chore clean cleanup could did do does doing don each ensure feat fix fixed fixes fixing for from get gets had handle handled handles handling has have how i if implement \
    implementation implemented implementing implements in into \
    is it its just like make makes making may me more most must my need needs new no not now of off on one only or other \
    our out over properly should since so some such support than that the their them then there these they this those to \
    too up use used uses using via was we were what when where which while who why will with without would you your";

/// Calls `each` with every word, in lower case and without its ending; `HTTPServer_old2` has three.
pub(super) fn each_word(text: &[u8], mut each: impl FnMut(&[u8])) {
    let mut word = [0u8; MAX_WORD];
    let mut length = 0;
    let mut flush = |word: &[u8; MAX_WORD], length: &mut usize| {
        if (2..MAX_WORD).contains(length) && !word[..*length].iter().all(u8::is_ascii_digit) {
            each(stem(&word[..*length]));
        }
        *length = 0;
    };
    let mut previous = 0u8;
    for (at, &byte) in text.iter().enumerate() {
        let is_part = byte.is_ascii_alphanumeric() || byte > 127;
        let begins = byte.is_ascii_uppercase()
            && (!previous.is_ascii_uppercase()
                || text.get(at + 1).is_some_and(u8::is_ascii_lowercase));
        if !is_part || begins {
            flush(&word, &mut length);
        }
        if is_part && length < MAX_WORD {
            word[length] = byte.to_ascii_lowercase();
            length += 1;
        }
        previous = byte;
    }
    flush(&word, &mut length);
}

/// Takes the commonest endings off, so that `retries`, `retried` and `retry` are one word.
fn stem(word: &[u8]) -> &[u8] {
    let mut word = word;
    for ending in [&b"ings"[..], b"ing", b"ers", b"er", b"ed", b"es", b"s"] {
        if word.len() > ending.len() + 2 && word.ends_with(ending) && !word.ends_with(b"ss") {
            word = &word[..word.len() - ending.len()];
            break;
        }
    }
    if let [rest @ .., last] = word
        && rest.len() > 2
        && (matches!(last, b'e' | b'y' | b'i')
            || (rest.last() == Some(last) && last.is_ascii_lowercase()))
    {
        return rest;
    }
    word
}

/// The telling words of a question, each once, and the names in it that only code has.
#[derive(Debug, Default)]
pub(super) struct Query {
    pub(super) terms: Vec<Vec<u8>>,
    /// `snake_case`, `camelCase`, `a.b`, at least four letters.
    pub(super) names: Vec<String>,
}

impl Query {
    pub(super) fn of(text: &str) -> Self {
        let mut query = Self::default();
        let is_part = |character: char| character.is_alphanumeric() || "_$".contains(character);
        for token in text.split(|character| !is_part(character)) {
            let lower = token.to_lowercase();
            if COMMON
                .split_ascii_whitespace()
                .any(|common| common == lower)
            {
                continue;
            }
            let mut add = |word: &[u8]| {
                if !query.terms.iter().any(|term| term == word) && query.terms.len() < MAX_TERMS {
                    query.terms.push(word.to_vec());
                }
            };
            each_word(token.as_bytes(), &mut add);
            // A folder may be called `openapi` where the question has `OpenAPI`.
            each_word(lower.replace('_', "").as_bytes(), &mut add);
            let inner = token.get(1..).unwrap_or_default();
            let is_name = token.len() > 3
                && (token.trim_matches('_').contains('_')
                    || (token.chars().any(char::is_lowercase)
                        && inner.contains(char::is_uppercase)));
            if is_name && query.names.len() < MAX_TERMS && !query.names.iter().any(|n| n == token) {
                query.names.push(token.to_owned());
            }
        }
        query
    }

    /// Returns the number of a word among the terms.
    pub(super) fn position(&self, word: &[u8]) -> Option<usize> {
        self.terms.iter().position(|term| term == word)
    }

    /// Counts the terms in a text; the last number is that of all its words.
    pub(super) fn count(&self, text: &[u8]) -> (Vec<u32>, u32) {
        let mut counts = vec![0; self.terms.len()];
        let mut all = 0;
        each_word(text, |word| {
            all += 1;
            if let Some(term) = self.position(word) {
                counts[term] += 1;
            }
        });
        (counts, all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each_word(text.as_bytes(), |word| {
            words.push(String::from_utf8_lossy(word).into_owned());
        });
        words
    }

    #[test]
    fn identifiers_fall_into_words() {
        assert_eq!(words("parseHTTPHeader_v2"), ["pars", "http", "head", "v2"]);
        assert_eq!(words("MAX_RETRIES 2024 x"), ["max", "retr"]);
        assert_eq!(
            words("retry retried handling handled handle"),
            ["retr", "retr", "handl", "handl", "handl"]
        );
    }

    #[test]
    fn questions_keep_what_tells() {
        let query = Query::of("Where is the retry of http_client handled? See HttpClient.");
        let terms: Vec<_> = query
            .terms
            .iter()
            .map(|t| String::from_utf8_lossy(t))
            .collect();
        assert_eq!(terms, ["retr", "http", "client", "httpclient", "see"]);
        assert_eq!(query.names, ["http_client", "HttpClient"]);
        assert!(Query::of("where is it?").terms.is_empty());
    }
}
