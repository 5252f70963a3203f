//! Toolchains: which build tool a project uses, by the marker files in its root.
//!
//! Pure functions of file names and texts; callers look at the disk. The commands themselves stay with the callers, because
//! they answer different questions: permissions list everything that an agent may run, TDD phases need exact arguments
//! whose output they can read, and the analysis reports only commands that the repository states.

/// A build tool with its ecosystem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toolchain {
    Cargo,
    Go,
    Node,
    Maven,
    Gradle,
    Mix,
    Composer,
    Bundler,
    Python,
    Cmake,
    /// Its project files may have any name: see [`is_dotnet_project`].
    Dotnet,
}

/// Marker files, most telling first.
const MARKERS: [(&str, Toolchain); 23] = [
    ("Cargo.toml", Toolchain::Cargo),
    ("go.mod", Toolchain::Go),
    ("package.json", Toolchain::Node),
    ("pom.xml", Toolchain::Maven),
    ("mvnw", Toolchain::Maven),
    ("build.gradle", Toolchain::Gradle),
    ("build.gradle.kts", Toolchain::Gradle),
    ("settings.gradle", Toolchain::Gradle),
    ("settings.gradle.kts", Toolchain::Gradle),
    ("gradlew", Toolchain::Gradle),
    ("mix.exs", Toolchain::Mix),
    ("composer.json", Toolchain::Composer),
    ("phpunit.xml", Toolchain::Composer),
    (".rspec", Toolchain::Bundler),
    ("Gemfile", Toolchain::Bundler),
    ("pyproject.toml", Toolchain::Python),
    ("pytest.ini", Toolchain::Python),
    ("setup.py", Toolchain::Python),
    ("setup.cfg", Toolchain::Python),
    ("tox.ini", Toolchain::Python),
    ("conftest.py", Toolchain::Python),
    ("requirements.txt", Toolchain::Python),
    ("CMakeLists.txt", Toolchain::Cmake),
];

/// Names of makefiles and justfiles, in the order in which the programs look for them.
pub const MAKEFILES: [&str; 3] = ["Makefile", "makefile", "GNUmakefile"];
pub const JUSTFILES: [&str; 3] = ["justfile", "Justfile", ".justfile"];

/// Returns the toolchains whose marker files are in a folder, most telling first, each once.
pub fn toolchains(mut has: impl FnMut(&str) -> bool) -> Vec<Toolchain> {
    let mut found = Vec::new();
    for (marker, toolchain) in MARKERS {
        if !found.contains(&toolchain) && has(marker) {
            found.push(toolchain);
        }
    }
    found
}

/// Returns whether a file name is that of a .NET project or solution.
pub fn is_dotnet_project(name: &str) -> bool {
    name.rsplit_once('.')
        .is_some_and(|(_, ending)| ["csproj", "fsproj", "vbproj", "sln", "slnx"].contains(&ending))
}

/// The program that installs the packages of a `package.json` and runs its scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackageManager {
    Npm,
    Pnpm,
    Yarn,
    Bun,
}

impl PackageManager {
    /// Returns the package manager whose lock file is in a folder.
    pub fn of_lock_file(mut has: impl FnMut(&str) -> bool) -> Option<Self> {
        let locks = [
            ("pnpm-lock.yaml", Self::Pnpm),
            ("yarn.lock", Self::Yarn),
            ("bun.lock", Self::Bun),
            ("bun.lockb", Self::Bun),
            ("package-lock.json", Self::Npm),
        ];
        let found = locks.into_iter().find(|(lock, _)| has(lock));
        found.map(|(_, manager)| manager)
    }

    pub const fn program(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pnpm => "pnpm",
            Self::Yarn => "yarn",
            Self::Bun => "bun",
        }
    }
}

/// Returns the words before the colon of a makefile's target or a justfile's recipe, if the line is one.
pub fn target_line(line: &str) -> Option<&str> {
    let (names, rest) = line.split_once(':')?;
    // `name := value` and `name ::= value` are assignments.
    let is_assignment = rest.starts_with('=') || rest.starts_with(":=");
    let is_target = !line.starts_with([' ', '\t', '#', '.']) && !is_assignment;
    // `@name` is a recipe that just does not echo.
    is_target.then(|| names.trim_start_matches('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_tell_the_toolchains() {
        let files = ["CMakeLists.txt", "setup.cfg", "setup.py", "Cargo.toml"];
        assert_eq!(
            toolchains(|name| files.contains(&name)),
            [Toolchain::Cargo, Toolchain::Python, Toolchain::Cmake]
        );
        assert!(is_dotnet_project("App.csproj") && !is_dotnet_project("sln"));
        let manager = PackageManager::of_lock_file(|name| name == "bun.lockb");
        assert_eq!(manager, Some(PackageManager::Bun));
    }

    #[test]
    fn target_lines_are_told_from_others() {
        assert_eq!(target_line("test check: deps"), Some("test check"));
        assert_eq!(target_line("@fmt:"), Some("fmt"));
        for other in ["A := 1", "A ::= 1", "\tx: y", ".PHONY: test", "# x: y", "x"] {
            assert_eq!(target_line(other), None, "{other}");
        }
    }
}
