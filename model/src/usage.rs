//! Token usage of agents: counts by model, their cost estimate, and how full the context window is.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::price::{Price, context_window, price};
use crate::tokens::Tokens;

/// What was asked of one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelUsage {
    pub model: String,
    /// With prompts above [`crate::tokens::LONG_PROMPT_TOKENS`].
    pub long_prompt: bool,
    pub tokens: Tokens,
}

/// The conversation as the model had it last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextSize {
    pub model: String,
    pub tokens: u64,
}

/// How much of its context window an agent uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextUse {
    pub tokens: u64,
    /// The size of the window, if it is known for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// How full it is, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<u64>,
}

/// What one or several agents have used, and what that costs by list prices.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// In the order of the alphabet.
    pub models: Vec<String>,
    pub tokens: Tokens,
    /// An estimate in US dollars; of `unpriced_models` nothing is in it. Absent if no price is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Models whose prices are not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unpriced_models: Vec<String>,
    /// Only of one agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<ContextUse>,
}

impl Usage {
    /// Sums up; none if nothing was used. The person's own prices go first.
    pub fn of(used: &[ModelUsage], context: Option<&ContextSize>, own: &[Price]) -> Option<Self> {
        let mut tokens = Tokens::default();
        let (mut models, mut unpriced) = (BTreeSet::new(), BTreeSet::new());
        let mut cost = None;
        for usage in used.iter().filter(|usage| !usage.tokens.is_zero()) {
            tokens += usage.tokens;
            models.insert(usage.model.as_str());
            match price(&usage.model, usage.long_prompt, own) {
                Some(rates) => *cost.get_or_insert(0.0) += rates.cost(usage.tokens),
                None => {
                    unpriced.insert(usage.model.as_str());
                }
            }
        }
        let names = |set: BTreeSet<&str>| set.into_iter().map(str::to_owned).collect();
        (!models.is_empty()).then(|| Self {
            models: names(models),
            tokens,
            cost_usd: cost,
            unpriced_models: names(unpriced),
            context: context.map(context_use),
        })
    }

    /// Returns the cost in a word: `$1.23`, `<$0.01`; with `+` if the price of some model is not known.
    pub fn cost(&self) -> Option<String> {
        let cost = self.cost_usd?;
        let more = if self.unpriced_models.is_empty() {
            ""
        } else {
            "+"
        };
        Some(if cost < 0.01 {
            format!("<$0.01{more}")
        } else {
            format!("${cost:.2}{more}")
        })
    }

    /// Returns the cost in a word, or else how many tokens were used.
    pub fn in_short(&self) -> String {
        self.cost().unwrap_or_else(|| {
            let all = self.tokens.prompt().saturating_add(self.tokens.output);
            format!("{} tokens", short_count(all))
        })
    }

    /// Returns the tokens in a sentence: `12k in, 3k out, 40k cache write, 1.2M cache read`.
    pub fn tokens_in_words(&self) -> String {
        let tokens = self.tokens;
        let written = tokens.cache_write_5m.saturating_add(tokens.cache_write_1h);
        let kinds = [
            (tokens.input, "in"),
            (tokens.output, "out"),
            (written, "cache write"),
            (tokens.cache_read, "cache read"),
        ];
        let said = kinds
            .iter()
            .filter(|(count, kind)| *count > 0 || matches!(*kind, "in" | "out"))
            .map(|(count, kind)| format!("{} {kind}", short_count(*count)));
        said.collect::<Vec<_>>().join(", ")
    }
}

impl ContextUse {
    /// Returns it in words: `82k tokens, 41% of 200k`.
    pub fn in_words(self) -> String {
        let tokens = short_count(self.tokens);
        match (self.percent, self.window) {
            (Some(percent), Some(window)) => {
                format!("{tokens} tokens, {percent}% of {}", short_count(window))
            }
            _ => format!("{tokens} tokens"),
        }
    }
}

fn context_use(size: &ContextSize) -> ContextUse {
    // More than there should be room for: the window is another one.
    let window = context_window(&size.model).filter(|window| size.tokens <= *window);
    ContextUse {
        tokens: size.tokens,
        window,
        percent: window.map(|window| size.tokens.saturating_mul(100) / window),
    }
}

/// Returns a count with at most three digits: `950`, `1.2k`, `82k`, `1.5M`.
pub fn short_count(count: u64) -> String {
    let scaled = |unit: u64, name: &str| {
        let tenths = count / (unit / 10);
        match (tenths / 10, tenths % 10) {
            (whole @ 0..10, tenth @ 1..) => format!("{whole}.{tenth}{name}"),
            (whole, _) => format!("{whole}{name}"),
        }
    };
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => scaled(1_000, "k"),
        1_000_000..1_000_000_000 => scaled(1_000_000, "M"),
        _ => scaled(1_000_000_000, "G"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(model: &str, tokens: Tokens) -> ModelUsage {
        ModelUsage {
            model: model.to_owned(),
            long_prompt: false,
            tokens,
        }
    }

    #[test]
    fn what_was_used_is_summed_up_and_priced() {
        let opus = Tokens {
            input: 1_000_000,
            output: 100_000,
            ..Tokens::default()
        };
        let all = [used("claude-opus-4-5-20251101", opus)];
        let usage = Usage::of(&all, None, &[]).unwrap();
        assert_eq!(usage.cost().as_deref(), Some("$7.50"));
        assert_eq!(usage.tokens_in_words(), "1M in, 100k out");

        let both = [all[0].clone(), used("some-other-model", opus)];
        let usage = Usage::of(&both, None, &[]).unwrap();
        assert_eq!(
            usage.cost().as_deref(),
            Some("$7.50+"),
            "not the whole cost"
        );
        assert_eq!(usage.unpriced_models, ["some-other-model"]);

        let usage = Usage::of(&both[1..], None, &[]).unwrap();
        assert_eq!(usage.cost_usd, None);
        assert_eq!(usage.in_short(), "1.1M tokens");
        assert_eq!(
            Usage::of(&[used("claude-opus-5", Tokens::default())], None, &[]),
            None
        );
    }

    #[test]
    fn the_context_is_a_part_of_a_window_that_is_known() {
        for (model, tokens, words) in [
            (
                "claude-haiku-4-5-20251001",
                82_500,
                "82k tokens, 41% of 200k",
            ),
            ("claude-opus-5-5", 250_000, "250k tokens, 25% of 1M"),
            ("claude-haiku-4-5-20251001", 300_000, "300k tokens"),
            ("another", 10, "10 tokens"),
        ] {
            let size = ContextSize {
                model: model.to_owned(),
                tokens,
            };
            assert_eq!(context_use(&size).in_words(), words);
        }
    }

    #[test]
    fn counts_are_short() {
        for (count, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1k"),
            (1_250, "1.2k"),
            (9_999, "9.9k"),
            (82_900, "82k"),
            (999_999, "999k"),
            (1_500_000, "1.5M"),
            (2_000_000_000, "2G"),
            (u64::MAX, "18446744073G"),
        ] {
            assert_eq!(short_count(count), text);
        }
    }
}
