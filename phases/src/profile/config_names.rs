//! Names of configuration: manifests, settings of tools and of continuous integration, in each language.

use super::language::Language;
use super::path_parts::{Name, is_source};

/// Folders of tools.
const FOLDERS: [&str; 25] = [
    ".github",
    ".gitlab",
    ".circleci",
    ".storybook",
    ".husky",
    ".vscode",
    ".idea",
    ".cargo",
    ".config",
    ".devcontainer",
    ".changeset",
    ".mvn",
    ".yarn",
    ".azuredevops",
    ".azure-pipelines",
    ".buildkite",
    ".gitea",
    ".semaphore",
    ".nx",
    ".vitepress",
    ".docker",
    ".run",
    ".bundle",
    "buildSrc",
    "build-logic",
];
/// Whole names, without regard to the ending.
const NAMES: [&str; 85] = [
    "Appraisals",
    "BUILD",
    "BUILD.bazel",
    "Brewfile",
    "CMakeLists.txt",
    "CODEOWNERS",
    "Capfile",
    "Cargo.lock",
    "Cargo.toml",
    "Cartfile",
    "Cartfile.resolved",
    "Containerfile",
    "Dangerfile",
    "Dockerfile",
    "Doxyfile",
    "Fastfile",
    "GNUmakefile",
    "Gemfile",
    "Gemfile.lock",
    "Gruntfile.js",
    "Guardfile",
    "Jenkinsfile",
    "Justfile",
    "MANIFEST.in",
    "MODULE.bazel",
    "Makefile",
    "Makefile.am",
    "Package.resolved",
    "Package.swift",
    "Pipfile",
    "Pipfile.lock",
    "Podfile",
    "Podfile.lock",
    "Procfile",
    "Rakefile",
    "Steepfile",
    "Taskfile",
    "Tiltfile",
    "Vagrantfile",
    "WORKSPACE",
    "WORKSPACE.bazel",
    "angular.json",
    "build.gradle",
    "build.gradle.kts",
    "build.sbt",
    "bun.lockb",
    "conanfile.py",
    "conanfile.txt",
    "config.ru",
    "configure.ac",
    "constraints.txt",
    "ecs.php",
    "fabfile.py",
    "go.mod",
    "go.sum",
    "go.work",
    "go.work.sum",
    "gradlew",
    "gradlew.bat",
    "gulpfile.js",
    "gulpfile.ts",
    "gulpfile.babel.js",
    "gulpfile.mjs",
    "init.gradle",
    "justfile",
    "karma.conf.js",
    "magefile.go",
    "makefile",
    "manifest.scm",
    "meson.build",
    "meson.options",
    "meson_options.txt",
    "mix.exs",
    "mix.lock",
    "mvnw",
    "mvnw.cmd",
    "noxfile.py",
    "package.json",
    "package-lock.json",
    "rector.php",
    "robo.yml",
    "rust-toolchain",
    "settings.gradle",
    "settings.gradle.kts",
    "setup.py",
];
/// Endings of project files.
const ENDINGS: [&str; 17] = [
    "am", "bazel", "cmake", "csproj", "fsproj", "gemspec", "gradle", "mk", "pbxproj", "pro",
    "props", "ruleset", "sbt", "sln", "slnx", "targets", "vbproj",
];
/// Tools whose settings are a script, also among the sources.
const TOOLS: [&str; 34] = [
    "astro",
    "babel",
    "commitlint",
    "craco",
    "cypress",
    "drizzle",
    "esbuild",
    "eslint",
    "gatsby",
    "jest",
    "karma",
    "lint-staged",
    "metro",
    "next",
    "nuxt",
    "nyc",
    "playwright",
    "postcss",
    "prettier",
    "quasar",
    "remix",
    "rollup",
    "rsbuild",
    "rspack",
    "stylelint",
    "svelte",
    "tailwind",
    "tsup",
    "unocss",
    "uno",
    "vite",
    "vitest",
    "vue",
    "webpack",
];
/// Folders of sources, where `app.config.ts` is code.
const SOURCE_FOLDERS: [&str; 3] = ["src", "app", "lib"];
/// Rails reads these before the application.
const RAILS: [&str; 4] = ["application", "boot", "environment", "puma"];

pub(super) fn is_config(name: &Name<'_>) -> bool {
    NAMES.contains(&name.file)
        || ENDINGS.contains(&name.ending.as_str())
        || is_dotfile(name)
        || (name.is_below(&FOLDERS) && !["md", "mdx"].contains(&name.ending.as_str()))
        || is_tool_script(name)
        || is_requirements(name)
        || in_config_folder(name)
        || name.file.starts_with("Dockerfile.")
        || name.file.starts_with("rust-toolchain")
        || name.file.starts_with("tsconfig") && name.ending == "json"
        || name.ending == "xml"
            && !name.is_below(&["layout", "res", "values", "testdata"])
            && is_xml_of_tool(name.stem)
        || name.ending == "dist"
}

/// `.eslintrc.js`, `.prettierrc`, `.gitignore`, `.env.test`; code in a hidden file is code.
fn is_dotfile(name: &Name<'_>) -> bool {
    let scripts = [".formatter", ".credo", ".iex", ".pnp", ".php-cs-fixer"];
    let is_script = scripts.iter().any(|script| name.stem.starts_with(script));
    name.file.starts_with('.')
        && (!is_source(&name.ending) || name.stem.ends_with("rc") || is_script)
}

/// `vite.config.ts`, `wdio.conf.ts`, `vitest.workspace.ts`.
fn is_tool_script(name: &Name<'_>) -> bool {
    if !matches!(
        name.language,
        Language::Script | Language::Python | Language::Elixir
    ) && name.ending != "json"
    {
        return false;
    }
    let mut parts = name.stem.split('.');
    let tool = parts.next().unwrap_or_default();
    let is_settings = parts.any(|part| ["config", "conf", "workspace"].contains(&part));
    let is_tool = TOOLS.contains(&tool);
    is_settings && (is_tool || !name.is_below(&SOURCE_FOLDERS))
        || (name.file == "conf.py" && name.begins_in(&["docs", "doc"]))
}

/// `requirements-dev.txt`, `requirements/base.txt`.
fn is_requirements(name: &Name<'_>) -> bool {
    ["txt", "in"].contains(&name.ending.as_str())
        && (name.stem.starts_with("requirements")
            || name.stem.ends_with("requirements")
            || name.folders.last() == Some(&"requirements"))
}

/// `config/dev.exs`, `config/environments/test.rb`, `config/packages/doctrine.php`, `project/plugins.sbt`, `gradle/…`.
fn in_config_folder(name: &Name<'_>) -> bool {
    let top = name.folders.iter().position(|folder| *folder == "config");
    match name.language {
        Language::Elixir => name.folders.last() == Some(&"config"),
        Language::Ruby => {
            top.is_some_and(|at| {
                !name.folders[..at].contains(&"lib") && !name.folders[..at].contains(&"app")
            }) && (name.is_below(&["environments", "initializers"]) || RAILS.contains(&name.stem))
        }
        Language::Php => top == Some(0),
        Language::Jvm => {
            name.begins_in(&["gradle"]) || (name.begins_in(&["project"]) && name.ending == "scala")
        }
        _ => false,
    }
}

fn is_xml_of_tool(stem: &str) -> bool {
    [
        "pom",
        "phpunit",
        "phpcs",
        "psalm",
        "checkstyle",
        "pmd",
        "spotbugs",
        "logback",
        "log4j2",
        "web",
        "build",
        "ivy",
        "nuget",
        "phpmd",
    ]
    .iter()
    .any(|tool| {
        stem == *tool
            || stem.starts_with(&format!("{tool}-"))
            || stem.starts_with(&format!("{tool}."))
    })
}
