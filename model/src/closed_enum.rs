//! Closed enums: one macro for enums that are stored as text in the database and in JSON.

/// A word that is not one of an enum's words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is not a {expected}")]
pub struct UnknownVariant {
    pub expected: &'static str,
    pub word: String,
}

/// Defines a unit enum together with its words: `as_str`, `ALL`, `FromStr`, `Display` and serde all
/// come from the one list, so they can't drift apart.
#[macro_export]
macro_rules! closed_enum {
    ($(#[$meta:meta])* $name:ident, $noun:literal { $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum $name {
            $($(#[$variant_meta])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every variant, in order.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Returns the word that stands for it in the database and in JSON.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownVariant;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                Self::ALL
                    .iter()
                    .copied()
                    .find(|variant| variant.as_str() == word)
                    .ok_or_else(|| $crate::UnknownVariant {
                        expected: $noun,
                        word: word.to_owned(),
                    })
            }
        }
    };
}
