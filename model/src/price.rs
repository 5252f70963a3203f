//! Prices of models: US dollars per million tokens, for cost estimates; and the sizes of context windows.
//!
//! The list prices of the Claude API as published in October 2026
//! (<https://platform.claude.com/docs/en/about-claude/pricing>). Without discounts, surcharges (priority, fast, regional) and tools
//! that are charged by the call: what is shown is an estimate. `agent.prices` overrides and extends the table.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::tokens::Tokens;

/// US dollars per million tokens of each kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    pub input: f64,
    pub output: f64,
    pub cache_write_5m: f64,
    pub cache_write_1h: f64,
    pub cache_read: f64,
}

impl Rates {
    /// The usual rates of the cache: 1.25 and 2 times the price of input to write, a part of it to read.
    const fn usual(input: f64, output: f64, cache_read: f64) -> Self {
        Self {
            input,
            output,
            cache_write_5m: input * 1.25,
            cache_write_1h: input * 2.0,
            cache_read,
        }
    }

    /// Returns the cost in US dollars.
    #[expect(
        clippy::cast_precision_loss,
        reason = "an estimate; exact below 2^53 tokens"
    )]
    pub fn cost(&self, tokens: Tokens) -> f64 {
        let of = |count: u64, rate: f64| count as f64 * rate;
        let all = of(tokens.input, self.input)
            + of(tokens.output, self.output)
            + of(tokens.cache_write_5m, self.cache_write_5m)
            + of(tokens.cache_write_1h, self.cache_write_1h)
            + of(tokens.cache_read, self.cache_read);
        all / 1_000_000.0
    }
}

const K200: Option<u64> = Some(200_000);
const M1: Option<u64> = Some(1_000_000);

/// Rates and window by model, without the date of its release. The window of some depends on a person's plan.
const LIST: &[(&str, Rates, Option<u64>)] = &[
    ("claude-fable-5-1", Rates::usual(10.0, 50.0, 0.25), M1),
    ("claude-fable-5", Rates::usual(10.0, 50.0, 1.0), M1),
    ("claude-mythos-5-1", Rates::usual(10.0, 50.0, 0.25), M1),
    ("claude-mythos-5", Rates::usual(10.0, 50.0, 1.0), M1),
    ("claude-opus-5-5", Rates::usual(4.0, 20.0, 0.2), M1),
    ("claude-opus-5", Rates::usual(5.0, 25.0, 0.5), M1),
    ("claude-opus-4-8", Rates::usual(5.0, 25.0, 0.5), None),
    ("claude-opus-4-7", Rates::usual(5.0, 25.0, 0.5), None),
    ("claude-opus-4-6", Rates::usual(5.0, 25.0, 0.5), None),
    ("claude-opus-4-5", Rates::usual(5.0, 25.0, 0.5), K200),
    ("claude-opus-4-1", Rates::usual(15.0, 75.0, 1.5), K200),
    ("claude-opus-4", Rates::usual(15.0, 75.0, 1.5), K200),
    ("claude-sonnet-5-5", Rates::usual(2.0, 10.0, 0.1), M1),
    ("claude-sonnet-5", Rates::usual(2.0, 10.0, 0.2), M1),
    ("claude-sonnet-4-6", Rates::usual(3.0, 15.0, 0.3), None),
    ("claude-sonnet-4-5", Rates::usual(3.0, 15.0, 0.3), None),
    ("claude-sonnet-4", Rates::usual(3.0, 15.0, 0.3), None),
    ("claude-3-7-sonnet", Rates::usual(3.0, 15.0, 0.3), K200),
    ("claude-haiku-5-5", Rates::usual(0.1, 0.5, 0.01), M1),
    ("claude-haiku-4-5", Rates::usual(1.0, 5.0, 0.1), K200),
    ("claude-3-5-haiku", Rates::usual(0.8, 4.0, 0.08), K200),
];

/// Rates for prompts above [`crate::tokens::LONG_PROMPT_TOKENS`], where they differ.
const LONG_PROMPTS: &[(&str, Rates)] = &[("claude-haiku-5-5", Rates::usual(0.5, 2.5, 0.05))];

/// A price that a person has set: `claude-opus-5-5 4 20 5 8 0.2`, for all models whose names begin so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Price {
    text: String,
    rates: Rates,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a price: expected a model and dollars per million tokens, `MODEL INPUT OUTPUT` or `MODEL INPUT OUTPUT CACHE-WRITE-5M CACHE-WRITE-1H CACHE-READ`"
)]
pub struct InvalidPrice(String);

impl Price {
    fn model(&self) -> &str {
        self.text.split_whitespace().next().unwrap_or_default()
    }
}

impl FromStr for Price {
    type Err = InvalidPrice;

    fn from_str(text: &str) -> Result<Self, InvalidPrice> {
        let invalid = || InvalidPrice(text.to_owned());
        let rate = |word: &str| {
            let rate = word.parse::<f64>().ok();
            rate.filter(|rate| rate.is_finite() && *rate >= 0.0)
        };
        let rates = text.split_whitespace().skip(1).map(rate);
        let rates: Vec<f64> = rates.collect::<Option<_>>().ok_or_else(invalid)?;
        let rates = match rates[..] {
            [input, output] => Rates::usual(input, output, input / 10.0),
            [input, output, written, written_for_an_hour, cache_read] => Rates {
                input,
                output,
                cache_write_5m: written,
                cache_write_1h: written_for_an_hour,
                cache_read,
            },
            _ => return Err(invalid()),
        };
        let text = text.to_owned();
        Ok(Self { text, rates })
    }
}

impl TryFrom<String> for Price {
    type Error = InvalidPrice;

    fn try_from(text: String) -> Result<Self, InvalidPrice> {
        text.parse()
    }
}

impl From<Price> for String {
    fn from(price: Price) -> Self {
        price.text
    }
}

impl fmt::Display for Price {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// Returns the rates of a model: a person's own (the longest name that fits), or those of the list. None if it is unknown.
pub fn price(model: &str, long_prompt: bool, own: &[Price]) -> Option<Rates> {
    let fitting = own.iter().filter(|price| model.starts_with(price.model()));
    if let Some(own) = fitting.max_by_key(|price| price.model().len()) {
        return Some(own.rates);
    }
    let long = LONG_PROMPTS.iter().filter(|_| long_prompt);
    let mut long = long.filter(|(name, _)| is_release_of(model, name));
    if let Some((_, rates)) = long.next() {
        return Some(*rates);
    }
    listed(model).map(|(rates, _)| rates)
}

/// Returns the size of a model's context window, if it is known and the same for everybody.
pub fn context_window(model: &str) -> Option<u64> {
    listed(model).and_then(|(_, window)| window)
}

fn listed(model: &str) -> Option<(Rates, Option<u64>)> {
    let found = LIST.iter().find(|(name, ..)| is_release_of(model, name));
    found.map(|(_, rates, window)| (*rates, *window))
}

/// Tells whether a model is this one, with or without a date. `claude-opus-4-9` is no release of `claude-opus-4`.
fn is_release_of(model: &str, name: &str) -> bool {
    let Some(rest) = model.strip_prefix(name) else {
        return false;
    };
    let rest = rest.strip_suffix("[1m]").unwrap_or(rest);
    let date = rest.strip_prefix(['-', '@']);
    rest.is_empty()
        || date.is_some_and(|date| date.len() == 8 && date.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_has_the_price_of_its_own_family() {
        let input = |model: &str| price(model, false, &[]).map(|rates| rates.input);
        for (model, expected) in [
            ("claude-opus-4-20250514", Some(15.0)),
            ("claude-opus-4-1-20250805", Some(15.0)),
            ("claude-opus-4-5-20251101", Some(5.0)),
            ("claude-opus-4-6[1m]", Some(5.0)),
            ("claude-opus-5-5", Some(4.0)),
            ("claude-haiku-4-5@20251001", Some(1.0)),
            ("claude-3-5-haiku-20241022", Some(0.8)),
            // Not released when this was written: no price is better than a wrong one.
            ("claude-opus-4-9", None),
            ("claude-opus-6", None),
            ("claude-opus-55", None),
            ("<synthetic>", None),
            ("", None),
        ] {
            assert_eq!(input(model), expected, "{model}");
        }
        let long = price("claude-haiku-5-5", true, &[]).unwrap();
        assert_eq!((long.input, long.output), (0.5, 2.5));
    }

    #[test]
    fn every_part_of_a_price_counts() {
        let million = Tokens {
            input: 1_000_000,
            output: 1_000_000,
            cache_write_5m: 1_000_000,
            cache_write_1h: 1_000_000,
            cache_read: 1_000_000,
        };
        let rates = price("claude-opus-5", false, &[]).unwrap();
        let cost = rates.cost(million);
        assert!(
            (cost - (5.0 + 25.0 + 6.25 + 10.0 + 0.5)).abs() < 1e-9,
            "{cost}"
        );
    }

    #[test]
    fn a_person_overrides_prices() {
        let own: Vec<Price> = ["claude-opus 1 2", "claude-opus-5 3 4 5 6 7", "mine 1 1"]
            .map(|text| text.parse().unwrap())
            .into();
        let rates = |model: &str| price(model, false, &own).unwrap();
        assert_eq!(rates("claude-opus-9"), Rates::usual(1.0, 2.0, 0.1));
        assert_eq!(
            rates("claude-opus-5-5").cache_read.to_bits(),
            7_f64.to_bits()
        );
        assert_eq!(rates("mine-2").input.to_bits(), 1_f64.to_bits());
        for wrong in ["", "x", "x 1", "x 1 2 3", "x 1 y", "x -1 2", "x NaN 1"] {
            assert!(wrong.parse::<Price>().is_err(), "{wrong}");
        }
    }
}
