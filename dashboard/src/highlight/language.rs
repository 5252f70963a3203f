//! Language table: comment marks, quotes and keywords by file extension.

/// The syntax of a family of languages.
#[derive(Debug, PartialEq, Eq)]
pub struct Language {
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comment: Option<(&'static str, &'static str)>,
    /// Quotes of strings on a single line.
    pub(super) quotes: &'static [char],
    /// Quotes of strings that may span lines; matched before `quotes`.
    pub(super) long_quotes: &'static [&'static str],
    /// A single quote may start something other than a string: a lifetime, a quoted symbol.
    pub(super) single_is_char: bool,
    /// Separated by spaces.
    pub(super) keywords: &'static str,
    pub(super) ignores_case: bool,
}

const PLAIN: Language = Language {
    line_comments: &[],
    block_comment: None,
    quotes: &[],
    long_quotes: &[],
    single_is_char: false,
    keywords: "",
    ignores_case: false,
};

const C_LIKE: Language = Language {
    line_comments: &["//"],
    block_comment: Some(("/*", "*/")),
    quotes: &['"', '\''],
    ..PLAIN
};

static RUST: Language = Language {
    single_is_char: true,
    keywords: "as async await break const continue crate dyn else enum extern false fn for if \
        impl in let loop match mod move mut pub ref return self Self static struct \
        super trait true type unsafe use where while",
    ..C_LIKE
};

static ECMA: Language = Language {
    long_quotes: &["`"],
    keywords: "abstract any as async await boolean break case catch class const continue \
        debugger declare default delete do else enum export extends false finally for \
        from function get if implements import in instanceof interface let namespace \
        new null number of private protected public readonly return set static string \
        super switch this throw true try type typeof undefined var void while yield",
    ..C_LIKE
};

static C: Language = Language {
    keywords: "auto bool break case catch char class const constexpr continue default define \
        delete do double else enum extern false float for goto if include inline int \
        long namespace new nullptr operator private protected public register return \
        short signed sizeof static struct switch template this throw true try typedef \
        typename union unsigned using virtual void volatile while NULL",
    ..C_LIKE
};

static JVM: Language = Language {
    long_quotes: &["\"\"\""],
    keywords: "abstract as base bool boolean break byte case catch char class companion const \
        continue data def default do double else enum extends false final finally \
        float for foreach fun func guard if implements import in init instanceof int \
        interface internal is lateinit let long namespace new nil null object override \
        package private protected protocol public readonly return sealed self short \
        static string struct super switch synchronized this throw throws trait true \
        try using val var virtual void when where while with yield",
    ..C_LIKE
};

static GO: Language = Language {
    long_quotes: &["`"],
    keywords: "any bool break byte case chan const continue default defer else error \
        fallthrough false float64 for func go goto if import int int64 interface make \
        map nil package range return rune select string struct switch true type uint \
        var",
    ..C_LIKE
};

static CSS: Language = Language {
    line_comments: &[],
    keywords: "and from important media not only or to var",
    ..C_LIKE
};

const HASH: Language = Language {
    line_comments: &["#"],
    quotes: &['"', '\''],
    ..PLAIN
};

static PYTHON: Language = Language {
    long_quotes: &["\"\"\"", "'''"],
    keywords: "and as assert async await break class continue def del elif else except False \
        finally for from global if import in is lambda match None nonlocal not or pass \
        raise return self True try while with yield",
    ..HASH
};

static RUBY: Language = Language {
    keywords: "alias and begin break case class def defmodule defp do else elsif end ensure \
        false fn for if in module next nil not or redo require rescue retry return \
        self super then true unless until when while yield",
    ..HASH
};

static SHELL: Language = Language {
    keywords: "case cd do done echo elif else esac eval exec exit export fi for function if \
        in local printf readonly return set shift source then trap unset until while",
    ..HASH
};

static DATA: Language = Language {
    keywords: "true false null yes no on off",
    long_quotes: &["\"\"\"", "'''"],
    ..HASH
};

static JSON: Language = Language {
    line_comments: &["//"],
    quotes: &['"'],
    keywords: "true false null",
    ..PLAIN
};

static SQL: Language = Language {
    line_comments: &["--"],
    block_comment: Some(("/*", "*/")),
    quotes: &['"', '\''],
    ignores_case: true,
    keywords: "add all alter and as asc begin between blob by cascade case check column \
        commit constraint create default delete desc distinct drop else end exists \
        foreign from group having if in index inner insert integer into is join key \
        left like limit not null on or order outer pragma primary real references \
        select set strict table text then transaction trigger union unique update \
        values view when where with",
    ..PLAIN
};

static LUA: Language = Language {
    line_comments: &["--"],
    block_comment: Some(("--[[", "]]")),
    quotes: &['"', '\''],
    keywords: "and break do else elseif end false for function if in local nil not or repeat \
        return then true until while",
    ..PLAIN
};

static HASKELL: Language = Language {
    line_comments: &["--"],
    block_comment: Some(("{-", "-}")),
    quotes: &['"'],
    single_is_char: true,
    keywords: "case class data deriving do else if import in infix instance let module \
        newtype of then type where",
    ..PLAIN
};

static LISP: Language = Language {
    line_comments: &[";"],
    quotes: &['"'],
    keywords: "def defn defun defmacro do fn if lambda let loop ns nil t",
    ..PLAIN
};

static MARKUP: Language = Language {
    block_comment: Some(("<!--", "-->")),
    quotes: &['"'],
    ..PLAIN
};

static PROSE: Language = PLAIN;

impl Language {
    /// Returns the language of a file by its name.
    pub fn of_path(path: &str) -> &'static Self {
        let name = path.rsplit('/').next().unwrap_or(path);
        let ending = name.rsplit_once('.').map_or(name, |(_, ending)| ending);
        match ending.to_ascii_lowercase().as_str() {
            "rs" => &RUST,
            "js" | "mjs" | "cjs" | "jsx" | "ts" | "tsx" | "mts" | "cts" | "vue" | "svelte" => &ECMA,
            "c" | "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "m" | "mm" | "cu" | "glsl"
            | "proto" => &C,
            "java" | "kt" | "kts" | "scala" | "cs" | "swift" | "groovy" | "gradle" | "dart"
            | "php" | "zig" => &JVM,
            "go" => &GO,
            "css" | "scss" | "less" => &CSS,
            "py" | "pyi" | "bzl" | "star" => &PYTHON,
            "rb" | "ex" | "exs" | "cr" | "gemfile" | "rakefile" => &RUBY,
            "sh" | "bash" | "zsh" | "fish" | "dockerfile" | "makefile" | "mk" | "pl" | "r"
            | "justfile" | "nix" => &SHELL,
            "toml" | "yaml" | "yml" | "ini" | "cfg" | "conf" | "properties" | "env" | "tf"
            | "hcl" => &DATA,
            "json" | "jsonc" | "json5" => &JSON,
            "sql" => &SQL,
            "lua" => &LUA,
            "hs" | "elm" | "purs" | "ml" | "mli" | "fs" => &HASKELL,
            "el" | "lisp" | "clj" | "cljs" | "scm" | "rkt" => &LISP,
            "html" | "htm" | "xml" | "svg" | "xhtml" | "plist" => &MARKUP,
            _ => &PROSE,
        }
    }

    pub(super) fn is_keyword(&self, word: &str) -> bool {
        self.keywords.split(' ').any(|keyword| {
            if self.ignores_case {
                keyword.eq_ignore_ascii_case(word)
            } else {
                keyword == word
            }
        })
    }
}
