//! Token counts: input, output, cache writes and cache reads.

use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Prompts above this many tokens have prices of their own at some models.
pub const LONG_PROMPT_TOKENS: u64 = 100_000;

/// How many tokens of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tokens {
    /// Neither written to the cache nor read from it.
    pub input: u64,
    pub output: u64,
    /// Written to the cache for five minutes.
    #[serde(rename = "cacheWrite5m")]
    pub cache_write_5m: u64,
    /// Written to the cache for an hour.
    #[serde(rename = "cacheWrite1h")]
    pub cache_write_1h: u64,
    pub cache_read: u64,
}

impl Tokens {
    /// Returns the size of the prompt, cached or not.
    pub fn prompt(self) -> u64 {
        [self.cache_write_5m, self.cache_write_1h, self.cache_read]
            .into_iter()
            .fold(self.input, u64::saturating_add)
    }

    pub fn is_zero(self) -> bool {
        self == Self::default()
    }

    /// Applies a function to the counts of each kind.
    #[must_use]
    pub fn zip(self, other: Self, each: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            input: each(self.input, other.input),
            output: each(self.output, other.output),
            cache_write_5m: each(self.cache_write_5m, other.cache_write_5m),
            cache_write_1h: each(self.cache_write_1h, other.cache_write_1h),
            cache_read: each(self.cache_read, other.cache_read),
        }
    }

    /// Returns the counts with the names of their kinds.
    pub const fn by_kind(self) -> [(&'static str, u64); 5] {
        [
            ("input", self.input),
            ("output", self.output),
            ("cache_write_5m", self.cache_write_5m),
            ("cache_write_1h", self.cache_write_1h),
            ("cache_read", self.cache_read),
        ]
    }
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        *self = self.zip(other, u64::saturating_add);
    }
}
