//! Languages: by the ending of a file, or by the profile of a project.

use super::ProfileName;

/// Languages with their own names for tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Rust,
    Script,
    Python,
    Go,
    Jvm,
    Dotnet,
    Ruby,
    Php,
    Elixir,
    C,
    Swift,
    Other,
}

impl Language {
    /// Returns the language of a source file.
    pub(super) fn of_ending(ending: &str) -> Option<Self> {
        Some(match ending {
            "rs" => Self::Rust,
            "ts" | "tsx" | "mts" | "cts" | "js" | "jsx" | "mjs" | "cjs" | "vue" | "svelte"
            | "astro" => Self::Script,
            "py" | "pyi" | "pyx" | "ipynb" => Self::Python,
            "go" => Self::Go,
            "java" | "kt" | "kts" | "groovy" | "scala" => Self::Jvm,
            "cs" | "fs" | "fsi" | "fsx" | "vb" | "razor" | "cshtml" | "xaml" | "axaml" | "resx" => {
                Self::Dotnet
            }
            "rb" | "rake" | "erb" | "haml" | "slim" => Self::Ruby,
            "php" | "phtml" | "twig" => Self::Php,
            "ex" | "exs" | "heex" | "eex" | "leex" => Self::Elixir,
            "c" | "cc" | "cpp" | "cxx" | "h" | "hh" | "hpp" | "hxx" | "cu" | "inl" => Self::C,
            "swift" => Self::Swift,
            _ => return None,
        })
    }

    /// Returns the language of a project.
    pub(super) fn of(profile: ProfileName) -> Self {
        match profile {
            ProfileName::Cargo => Self::Rust,
            ProfileName::Vitest | ProfileName::Jest | ProfileName::Node => Self::Script,
            ProfileName::Pytest => Self::Python,
            ProfileName::Go => Self::Go,
            ProfileName::Maven | ProfileName::Gradle => Self::Jvm,
            ProfileName::Dotnet => Self::Dotnet,
            ProfileName::Rspec | ProfileName::Minitest => Self::Ruby,
            ProfileName::Phpunit => Self::Php,
            ProfileName::Mix => Self::Elixir,
            ProfileName::Cmake => Self::C,
            ProfileName::Custom => Self::Other,
        }
    }
}
