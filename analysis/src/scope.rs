//! `Scope`: the four subjects of an analysis.

model::closed_enum!(
    /// What an analysis looks at.
    Scope, "scope" {
        Architecture = "architecture",
        Issues = "issues",
        Codebase = "codebase",
        Dependencies = "dependencies",
    }
);
