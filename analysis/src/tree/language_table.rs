//! The table of languages: names, extensions, comments and strings.

use std::sync::LazyLock;

use super::language_families::{
    BOTH, BOTH_MULTI, C_BLOCK, C_LINE, DASHES, DOUBLE, NO_QUOTES, SEMICOLON, TRIPLE_BOTH,
    TRIPLE_DOUBLE, c_like, hash_like, on_line, over_lines, plain, raw, xml_like,
};
use super::rare_languages::RARE;
use super::syntax::{Language, Nature, Quirk, Quote};

const DOUBLE_MULTI: &[Quote] = &[over_lines("\"")];
const ECMA: &[Quote] = &[on_line("\""), on_line("'"), over_lines("`")];
const GO: &[Quote] = &[on_line("\""), on_line("'"), raw("`", "`")];
const TOML: &[Quote] = &[
    over_lines("\"\"\""),
    raw("'''", "'''"),
    on_line("\""),
    Quote {
        start: "'",
        end: "'",
        escape: false,
        multiline: false,
    },
];

/// All languages. The first entry that claims an extension or a name gets it.
pub(crate) static LANGUAGES: LazyLock<Vec<&'static Language>> =
    LazyLock::new(|| COMMON.iter().chain(RARE).collect());

/// The languages of most repositories.
const COMMON: &[Language] = &[
    Language {
        nested: true,
        quirk: Quirk::Rust,
        ..c_like("Rust", &["rs"], DOUBLE_MULTI)
    },
    Language {
        quirk: Quirk::Regex,
        interpreters: &["ts-node", "tsx", "deno", "bun"],
        ..c_like("TypeScript", &["ts", "mts", "cts"], ECMA)
    },
    Language {
        quirk: Quirk::Regex,
        ..c_like("TSX", &["tsx"], ECMA)
    },
    Language {
        quirk: Quirk::Regex,
        interpreters: &["node", "nodejs"],
        names: &["jakefile"],
        ..c_like("JavaScript", &["js", "mjs", "cjs", "es6"], ECMA)
    },
    Language {
        quirk: Quirk::Regex,
        ..c_like("JSX", &["jsx"], ECMA)
    },
    Language {
        interpreters: &["python", "pypy"],
        names: &["sconstruct", "sconscript", "wscript"],
        quirk: Quirk::Docstrings,
        ..hash_like("Python", &["py", "pyw", "pyi", "bzl"], TRIPLE_BOTH)
    },
    c_like("Go", &["go"], GO),
    c_like("Java", &["java"], TRIPLE_DOUBLE),
    Language {
        quirk: Quirk::Cpp,
        ..c_like("C", &["c", "ec", "pgc"], BOTH)
    },
    Language {
        quirk: Quirk::Cpp,
        ..c_like("C Header", &["h"], BOTH)
    },
    Language {
        quirk: Quirk::Cpp,
        ..c_like(
            "C++",
            &[
                "cc", "cpp", "cxx", "c++", "pcc", "tpp", "ipp", "ixx", "cppm",
            ],
            BOTH,
        )
    },
    Language {
        quirk: Quirk::Cpp,
        ..c_like("C++ Header", &["hh", "hpp", "hxx", "inl"], BOTH)
    },
    Language {
        quirk: Quirk::CSharp,
        ..c_like("C#", &["cs", "csx"], TRIPLE_DOUBLE)
    },
    Language {
        nested: true,
        ..c_like("Kotlin", &["kt", "kts"], TRIPLE_DOUBLE)
    },
    Language {
        nested: true,
        ..c_like("Scala", &["scala", "sc", "sbt"], TRIPLE_DOUBLE)
    },
    Language {
        nested: true,
        ..c_like("Swift", &["swift"], &[over_lines("\"\"\""), on_line("\"")])
    },
    c_like("Objective-C", &["m"], BOTH),
    c_like("Objective-C++", &["mm"], BOTH),
    c_like("Dart", &["dart"], TRIPLE_BOTH),
    Language {
        names: &["jenkinsfile"],
        interpreters: &["groovy"],
        ..c_like("Groovy", &["groovy", "gradle", "gvy"], TRIPLE_BOTH)
    },
    Language {
        line: &["//", "#"],
        interpreters: &["php"],
        ..c_like("PHP", &["php", "php3", "php4", "php5", "phtml"], BOTH_MULTI)
    },
    Language {
        block: &[("=begin", "=end")],
        names: &[
            "rakefile",
            "gemfile",
            "vagrantfile",
            "podfile",
            "fastfile",
            "guardfile",
            "brewfile",
        ],
        interpreters: &["ruby", "jruby"],
        ..hash_like(
            "Ruby",
            &["rb", "rake", "gemspec", "ru", "podspec"],
            BOTH_MULTI,
        )
    },
    Language {
        block: &[
            ("=pod", "=cut"),
            ("=head", "=cut"),
            ("=over", "=cut"),
            ("=encoding", "=cut"),
        ],
        interpreters: &["perl"],
        quirk: Quirk::Words,
        ..hash_like("Perl", &["pl", "pm", "t"], BOTH)
    },
    Language {
        quirk: Quirk::Words,
        interpreters: &["sh", "dash", "ash", "ksh", "mksh"],
        names: &[".profile", ".envrc"],
        ..hash_like("Shell", &["sh", "ksh", "ash", "bats", "ebuild"], BOTH_MULTI)
    },
    Language {
        quirk: Quirk::Words,
        interpreters: &["bash"],
        names: &[".bashrc", ".bash_profile", "pkgbuild"],
        ..hash_like("BASH", &["bash"], BOTH_MULTI)
    },
    Language {
        quirk: Quirk::Words,
        interpreters: &["zsh"],
        names: &[".zshrc"],
        ..hash_like("Zsh", &["zsh"], BOTH_MULTI)
    },
    Language {
        quirk: Quirk::Words,
        interpreters: &["fish"],
        ..hash_like("Fish", &["fish"], BOTH_MULTI)
    },
    Language {
        block: &[("<#", "#>")],
        quirk: Quirk::Words,
        interpreters: &["pwsh"],
        ..hash_like("PowerShell", &["ps1", "psm1", "psd1"], BOTH_MULTI)
    },
    Language {
        line: &["REM", "rem", "::"],
        ..plain("Batch", Nature::Program, &["bat", "cmd", "btm"])
    },
    Language {
        line: DASHES,
        block: &[("--[[", "]]")],
        interpreters: &["lua", "luajit"],
        quotes: BOTH,
        ..plain("Lua", Nature::Program, &["lua", "luau"])
    },
    Language {
        line: DASHES,
        block: &[("{-", "-}")],
        nested: true,
        interpreters: &["runghc", "runhaskell"],
        quotes: DOUBLE,
        ..plain("Haskell", Nature::Program, &["hs"])
    },
    Language {
        line: DASHES,
        block: C_BLOCK,
        quotes: &[Quote {
            start: "'",
            end: "'",
            escape: false,
            multiline: true,
        }],
        ..plain(
            "SQL",
            Nature::Program,
            &["sql", "psql", "pgsql", "plsql", "pks", "pkb", "cql", "hql"],
        )
    },
    Language {
        block: &[("(*", "*)")],
        nested: true,
        quotes: DOUBLE_MULTI,
        ..plain("OCaml", Nature::Program, &["ml", "mli", "mll", "mly"])
    },
    Language {
        line: C_LINE,
        block: &[("(*", "*)")],
        quotes: TRIPLE_DOUBLE,
        ..plain("F#", Nature::Program, &["fs", "fsi", "fsx"])
    },
    Language {
        quirk: Quirk::Words,
        interpreters: &["elixir"],
        ..hash_like("Elixir", &["ex", "exs"], TRIPLE_DOUBLE)
    },
    Language {
        line: &["%"],
        interpreters: &["escript"],
        quotes: DOUBLE_MULTI,
        ..plain("Erlang", Nature::Program, &["erl", "hrl"])
    },
    Language {
        line: SEMICOLON,
        interpreters: &["clojure", "bb"],
        quotes: DOUBLE_MULTI,
        ..plain("Clojure", Nature::Program, &["clj", "cljc", "cljs", "edn"])
    },
    Language {
        line: SEMICOLON,
        block: &[("#|", "|#")],
        nested: true,
        quotes: DOUBLE_MULTI,
        ..plain("Lisp", Nature::Program, &["lisp", "lsp", "asd", "el"])
    },
    Language {
        line: SEMICOLON,
        block: &[("#|", "|#")],
        nested: true,
        quotes: DOUBLE_MULTI,
        ..plain("Scheme", Nature::Program, &["scm", "ss", "rkt"])
    },
    Language {
        block: &[("#=", "=#")],
        nested: true,
        interpreters: &["julia"],
        quirk: Quirk::Docstrings,
        ..hash_like("Julia", &["jl"], &[over_lines("\"\"\""), on_line("\"")])
    },
    Language {
        interpreters: &["rscript"],
        ..hash_like("R", &["r"], BOTH_MULTI)
    },
    Language {
        interpreters: &["nim"],
        block: &[("#[", "]#")],
        nested: true,
        ..hash_like(
            "Nim",
            &["nim", "nims"],
            &[over_lines("\"\"\""), on_line("\"")],
        )
    },
    Language {
        block: C_BLOCK,
        ..hash_like("Nix", &["nix"], &[raw("''", "''"), on_line("\"")])
    },
    Language {
        line: C_LINE,
        quotes: DOUBLE,
        ..plain("Zig", Nature::Program, &["zig", "zon"])
    },
    Language {
        nested: true,
        ..c_like("D", &["d"], GO)
    },
    c_like("Solidity", &["sol"], BOTH),
    c_like(
        "GLSL",
        &[
            "glsl", "vert", "frag", "geom", "comp", "wgsl", "hlsl", "metal",
        ],
        NO_QUOTES,
    ),
    c_like("CUDA", &["cu", "cuh"], BOTH),
    Language {
        names: &["buf.gen"],
        ..c_like("Protocol Buffers", &["proto"], BOTH)
    },
    Language {
        line: &["//", "#"],
        ..c_like("Thrift", &["thrift"], BOTH)
    },
    hash_like(
        "GraphQL",
        &["graphql", "gql"],
        &[over_lines("\"\"\""), on_line("\"")],
    ),
    Language {
        line: &["#", "//"],
        block: C_BLOCK,
        ..hash_like("HCL", &["tf", "hcl", "tfvars"], DOUBLE)
    },
    Language {
        line: &["//", ";", "#"],
        block: C_BLOCK,
        quirk: Quirk::Words,
        ..plain("Assembly", Nature::Program, &["asm"])
    },
    Language {
        line: &["//", "#"],
        block: C_BLOCK,
        quirk: Quirk::Words,
        ..plain("GNU Style Assembly", Nature::Program, &["s"])
    },
    Language {
        line: &["!"],
        quotes: BOTH,
        ..plain(
            "Fortran",
            Nature::Program,
            &["f90", "f95", "f03", "f08", "f", "for", "f77"],
        )
    },
    Language {
        line: &["%"],
        ..plain("TeX", Nature::Markup, &["tex", "sty", "cls", "ltx"])
    },
    Language {
        line: &["\""],
        ..plain("Vim Script", Nature::Program, &["vim"])
    },
    Language {
        block: &[("#[[", "]]")],
        names: &["cmakelists.txt"],
        ..hash_like("CMake", &["cmake"], DOUBLE_MULTI)
    },
    Language {
        quirk: Quirk::Words,
        names: &["makefile", "gnumakefile", "justfile", "kbuild"],
        ..hash_like("Makefile", &["mk", "mak", "makefile", "just"], NO_QUOTES)
    },
    Language {
        names: &["meson.build", "meson_options.txt"],
        ..hash_like("Meson", &[], TRIPLE_BOTH)
    },
    Language {
        names: &[
            "build",
            "build.bazel",
            "workspace",
            "workspace.bazel",
            "module.bazel",
            "buck",
        ],
        quirk: Quirk::Docstrings,
        ..hash_like("Starlark", &["bazel", "star"], TRIPLE_BOTH)
    },
    Language {
        quirk: Quirk::Words,
        names: &["dockerfile", "containerfile"],
        ..hash_like("Dockerfile", &["dockerfile"], NO_QUOTES)
    },
    Language {
        names: &["configure.ac"],
        line: &["#", "dnl"],
        ..plain("Autoconf", Nature::Program, &["ac", "m4"])
    },
    Language {
        block: &[("<!--", "-->")],
        ..xml_like("HTML", &["html", "htm", "xhtml"])
    },
    xml_like("Vue", &["vue"]),
    xml_like("Svelte", &["svelte"]),
    xml_like(
        "XML",
        &[
            "xml",
            "xsd",
            "xsl",
            "xslt",
            "plist",
            "iml",
            "props",
            "targets",
            "csproj",
            "vcxproj",
            "fsproj",
            "xaml",
            "wxs",
            "vbproj",
            "resx",
            "nuspec",
            "wsdl",
            "storyboard",
            "xib",
            "qrc",
            "ui",
        ],
    ),
    Language {
        nature: Nature::Markup,
        line: &[],
        ..c_like("CSS", &["css"], BOTH)
    },
    Language {
        nature: Nature::Markup,
        ..c_like("Sass", &["scss", "sass"], BOTH)
    },
    Language {
        nature: Nature::Markup,
        ..c_like("LESS", &["less"], BOTH)
    },
    Language {
        nature: Nature::Data,
        quirk: Quirk::Words,
        names: &[".clang-format", ".clang-tidy", "pnpm-lock.yaml"],
        ..hash_like("YAML", &["yaml", "yml"], NO_QUOTES)
    },
    Language {
        nature: Nature::Data,
        names: &["cargo.lock", "poetry.lock", "uv.lock", "pipfile"],
        ..hash_like("TOML", &["toml"], TOML)
    },
    Language {
        nature: Nature::Data,
        names: &[
            ".eslintrc",
            ".babelrc",
            ".prettierrc",
            "composer.lock",
            "pipfile.lock",
        ],
        ..plain(
            "JSON",
            Nature::Data,
            &[
                "json",
                "jsonl",
                "webmanifest",
                "geojson",
                "har",
                "avsc",
                "ndjson",
                "code-workspace",
            ],
        )
    },
    Language {
        nature: Nature::Data,
        ..c_like("JSON5", &["json5", "jsonc"], BOTH)
    },
    Language {
        line: &[";", "#"],
        names: &[".editorconfig", ".gitconfig", ".gitmodules", ".npmrc"],
        ..plain("INI", Nature::Data, &["ini", "cfg", "desktop", "service"])
    },
    Language {
        nature: Nature::Data,
        ..hash_like("Java Properties", &["properties"], NO_QUOTES)
    },
    Language {
        nature: Nature::Data,
        names: &[
            ".gitignore",
            ".gitattributes",
            ".dockerignore",
            ".npmignore",
            ".ignore",
            "codeowners",
        ],
        ..hash_like("Ignore List", &[], NO_QUOTES)
    },
    plain("CSV", Nature::Data, &["csv", "tsv"]),
    plain("Jupyter Notebook", Nature::Data, &["ipynb"]),
    plain(
        "Markdown",
        Nature::Prose,
        &["md", "markdown", "mdx", "mdown"],
    ),
    plain("ReStructuredText", Nature::Prose, &["rst"]),
    plain("AsciiDoc", Nature::Prose, &["adoc", "asciidoc"]),
    Language {
        names: &[
            "readme",
            "license",
            "licence",
            "copying",
            "authors",
            "changelog",
            "notice",
            "contributors",
            "todo",
        ],
        ..plain("Plain Text", Nature::Prose, &["txt", "text"])
    },
    plain("Org", Nature::Prose, &["org"]),
];
