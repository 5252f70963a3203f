//! The second half of the table of languages: those that fewer repositories have.

use super::language_families::{
    BASE, BOTH, BOTH_MULTI, C_BLOCK, C_LINE, DASHES, DOUBLE, NO_QUOTES, SEMICOLON, TRIPLE_BOTH,
    TRIPLE_DOUBLE, c_like, hash_like, plain, xml_like,
};
use super::syntax::{Language, Nature, Quirk};

const PASCAL_BLOCK: &[(&str, &str)] = &[("{", "}"), ("(*", "*)")];
const HASKELL_BLOCK: &[(&str, &str)] = &[("{-", "-}")];

/// A language of the family of Haskell.
const fn haskell_like(name: &'static str, extensions: &'static [&'static str]) -> Language {
    Language {
        line: DASHES,
        block: HASKELL_BLOCK,
        nested: true,
        quotes: DOUBLE,
        ..plain(name, Nature::Program, extensions)
    }
}

/// A language with one kind of comment, which reaches to the end of the line.
const fn with_line(
    name: &'static str,
    line: &'static [&'static str],
    extensions: &'static [&'static str],
) -> Language {
    Language {
        line,
        quotes: DOUBLE,
        ..plain(name, Nature::Program, extensions)
    }
}

/// Configuration whose comments start with `#`.
const fn settings(name: &'static str, extensions: &'static [&'static str]) -> Language {
    Language {
        nature: Nature::Data,
        quirk: Quirk::Words,
        ..hash_like(name, extensions, NO_QUOTES)
    }
}

/// Templates with a kind of comment of their own beside that of XML.
const fn template(
    name: &'static str,
    extensions: &'static [&'static str],
    block: &'static [(&'static str, &'static str)],
) -> Language {
    Language {
        block,
        ..xml_like(name, extensions)
    }
}

/// The rare languages.
pub(super) const RARE: &[Language] = &[
    Language {
        quirk: Quirk::Words,
        interpreters: &["tclsh", "wish", "expect", "jimsh"],
        ..hash_like("Tcl", &["tcl", "tk", "itcl", "tm", "exp"], NO_QUOTES)
    },
    Language {
        line: C_LINE,
        block: PASCAL_BLOCK,
        ..plain("Pascal", Nature::Program, &["pas", "dpr", "lpr", "dpk"])
    },
    with_line("Ada", DASHES, &["adb", "ads"]),
    with_line("VHDL", DASHES, &["vhd", "vhdl"]),
    with_line("COBOL", &["*>"], &["cob", "cbl", "cpy"]),
    c_like("Verilog", &["v", "vh"], DOUBLE),
    c_like("SystemVerilog", &["sv", "svh"], DOUBLE),
    Language {
        interpreters: &["crystal"],
        ..hash_like("Crystal", &["cr"], DOUBLE)
    },
    hash_like("Puppet", &["pp"], BOTH_MULTI),
    hash_like("Raku", &["raku", "rakumod", "rakutest", "p6", "pm6"], BOTH),
    haskell_like("Elm", &["elm"]),
    haskell_like("PureScript", &["purs"]),
    haskell_like("Idris", &["idr"]),
    haskell_like("Agda", &["agda"]),
    haskell_like("Dhall", &["dhall"]),
    Language {
        line: DASHES,
        block: &[("/-", "-/")],
        nested: true,
        quotes: DOUBLE,
        ..plain("Lean", Nature::Program, &["lean"])
    },
    Language {
        nature: Nature::Data,
        ..with_line("Cabal", DASHES, &["cabal"])
    },
    c_like("Reason", &["re", "rei"], DOUBLE),
    c_like("ReScript", &["res", "resi"], DOUBLE),
    Language {
        block: &[("(*", "*)")],
        nested: true,
        quotes: DOUBLE,
        ..plain("Standard ML", Nature::Program, &["sml"])
    },
    Language {
        block: &[("###", "###")],
        interpreters: &["coffee"],
        names: &["cakefile"],
        ..hash_like("CoffeeScript", &["coffee", "cson"], TRIPLE_BOTH)
    },
    c_like("Haxe", &["hx"], BOTH_MULTI),
    c_like("ActionScript", &["as"], BOTH),
    c_like("Vala", &["vala", "vapi"], TRIPLE_DOUBLE),
    with_line("Visual Basic", &["'", "REM "], &["vb", "bas", "vbs"]),
    with_line("AutoHotkey", SEMICOLON, &["ahk"]),
    with_line("NSIS", &[";", "#"], &["nsi", "nsh"]),
    with_line("Inno Setup", &[";", "//"], &["iss"]),
    Language {
        quirk: Quirk::Docstrings,
        ..hash_like("Cython", &["pyx", "pxd", "pxi"], TRIPLE_BOTH)
    },
    Language {
        quirk: Quirk::Docstrings,
        ..hash_like("Mojo", &["mojo"], TRIPLE_BOTH)
    },
    Language {
        quirk: Quirk::Docstrings,
        ..hash_like("Vyper", &["vy"], TRIPLE_BOTH)
    },
    Language {
        quirk: Quirk::Docstrings,
        ..hash_like("GDScript", &["gd"], TRIPLE_BOTH)
    },
    Language {
        quirk: Quirk::Cpp,
        ..c_like("Arduino", &["ino", "pde"], BOTH)
    },
    c_like("OpenCL", &["cl"], BOTH),
    c_like(
        "Unity Shader",
        &["shader", "cginc", "compute", "hlsli"],
        NO_QUOTES,
    ),
    c_like("QML", &["qml"], BOTH),
    c_like("Chapel", &["chpl"], BOTH),
    c_like("Cairo", &["cairo"], DOUBLE),
    c_like("Move", &["move"], DOUBLE),
    with_line("Gleam", C_LINE, &["gleam"]),
    c_like("Odin", &["odin"], DOUBLE),
    with_line("Hare", C_LINE, &["ha"]),
    c_like("Pony", &["pony"], TRIPLE_DOUBLE),
    hash_like("Roc", &["roc"], DOUBLE),
    hash_like("Nushell", &["nu"], BOTH),
    hash_like("AWK", &["awk", "gawk"], DOUBLE),
    hash_like("sed", &["sed"], NO_QUOTES),
    Language {
        quirk: Quirk::Words,
        interpreters: &["csh", "tcsh"],
        ..hash_like("C Shell", &["csh", "tcsh"], BOTH_MULTI)
    },
    with_line("Hy", SEMICOLON, &["hy"]),
    with_line("Fennel", SEMICOLON, &["fnl"]),
    with_line("Janet", &["#"], &["janet"]),
    with_line("Prolog", &["%"], &["prolog", "plt"]),
    with_line("Forth", &["\\"], &["fth", "4th"]),
    with_line("Stan", &["//", "#"], &["stan"]),
    with_line("ABAP", &["*", "\""], &["abap"]),
    c_like("SAS", &["sas"], NO_QUOTES),
    c_like("Stata", &["do", "ado"], NO_QUOTES),
    c_like("OpenSCAD", &["scad"], DOUBLE),
    c_like("Lex", &["l", "lex", "ll"], BOTH),
    c_like("Yacc", &["y", "yy", "ypp"], BOTH),
    c_like("ANTLR", &["g4"], BOTH),
    c_like("Ragel", &["rl"], BOTH),
    c_like("DeviceTree", &["dts", "dtsi"], DOUBLE),
    c_like("Linker Script", &["ld", "lds"], NO_QUOTES),
    c_like("TableGen", &["td"], DOUBLE),
    with_line("LLVM IR", SEMICOLON, &["ll"]),
    with_line("MLIR", C_LINE, &["mlir"]),
    Language {
        line: &[";;"],
        block: &[("(;", ";)")],
        nested: true,
        quotes: DOUBLE,
        ..plain("WebAssembly Text", Nature::Program, &["wat", "wast"])
    },
    c_like("FlatBuffers", &["fbs"], DOUBLE),
    c_like("IDL", &["idl", "webidl", "aidl"], DOUBLE),
    c_like("Smithy", &["smithy"], DOUBLE),
    c_like("TypeSpec", &["tsp"], DOUBLE),
    with_line("Prisma", C_LINE, &["prisma"]),
    hash_like("Cap'n Proto", &["capnp"], DOUBLE),
    with_line("ASN.1", DASHES, &["asn", "asn1"]),
    c_like("YANG", &["yang"], DOUBLE),
    Language {
        line: &["//", "#"],
        ..c_like("Jsonnet", &["jsonnet", "libsonnet"], BOTH_MULTI)
    },
    with_line("CUE", C_LINE, &["cue"]),
    hash_like("Rego", &["rego"], DOUBLE),
    c_like("Bicep", &["bicep"], BOTH),
    hash_like("Gherkin", &["feature"], NO_QUOTES),
    hash_like("Robot Framework", &["robot"], NO_QUOTES),
    hash_like("GN", &["gn", "gni"], DOUBLE),
    hash_like("Ninja", &["ninja"], NO_QUOTES),
    hash_like("BitBake", &["bb", "bbappend", "bbclass"], DOUBLE),
    hash_like("Automake", &["am"], NO_QUOTES),
    hash_like("QMake", &["pri"], NO_QUOTES),
    Language {
        names: &["kconfig"],
        ..hash_like("Kconfig", &["kconfig"], NO_QUOTES)
    },
    c_like("Graphviz", &["dot", "gv"], DOUBLE),
    Language {
        nature: Nature::Markup,
        ..with_line("PlantUML", &["'"], &["puml", "plantuml"])
    },
    Language {
        nature: Nature::Markup,
        ..c_like("Stylus", &["styl"], BOTH)
    },
    Language {
        nature: Nature::Markup,
        line: &[],
        ..c_like("PostCSS", &["pcss", "postcss"], BOTH)
    },
    Language {
        nature: Nature::Markup,
        ..with_line("Pug", C_LINE, &["pug", "jade"])
    },
    Language {
        nature: Nature::Markup,
        ..with_line("Haml", &["-#", "/"], &["haml"])
    },
    Language {
        nature: Nature::Markup,
        ..with_line("Slim", &["/"], &["slim"])
    },
    template(
        "Handlebars",
        &["hbs", "handlebars", "mustache"],
        &[("{{!--", "--}}"), ("<!--", "-->")],
    ),
    template(
        "Jinja",
        &["j2", "jinja", "jinja2", "twig", "njk"],
        &[("{#", "#}"), ("<!--", "-->")],
    ),
    template("ERB", &["erb", "rhtml"], &[("<%#", "%>"), ("<!--", "-->")]),
    template("EJS", &["ejs"], &[("<%#", "%>"), ("<!--", "-->")]),
    template(
        "HEEx",
        &["heex", "eex", "leex"],
        &[("<%!--", "--%>"), ("<!--", "-->")],
    ),
    template("Liquid", &["liquid"], &[("<!--", "-->")]),
    template(
        "Razor",
        &["cshtml", "razor"],
        &[("@*", "*@"), ("<!--", "-->")],
    ),
    template(
        "JSP",
        &["jsp", "jspx", "tag"],
        &[("<%--", "--%>"), ("<!--", "-->")],
    ),
    template(
        "ASP.NET",
        &["aspx", "ascx", "master"],
        &[("<%--", "--%>"), ("<!--", "-->")],
    ),
    template(
        "FreeMarker",
        &["ftl", "ftlh"],
        &[("<#--", "-->"), ("<!--", "-->")],
    ),
    template(
        "Go Template",
        &["tmpl", "gotmpl", "gohtml"],
        &[("{{/*", "*/}}"), ("<!--", "-->")],
    ),
    template("Astro", &["astro"], &[("<!--", "-->")]),
    Language {
        line: C_LINE,
        block: C_BLOCK,
        ..plain("RON", Nature::Data, &["ron"])
    },
    Language {
        nature: Nature::Data,
        ..c_like("KDL", &["kdl"], DOUBLE)
    },
    settings("Gettext Catalog", &["po", "pot"]),
    settings("Configuration", &["conf", "cnf", "env"]),
    settings("Protocol Buffers Text", &["textproto", "pbtxt", "prototxt"]),
    Language {
        nature: Nature::Data,
        ..with_line("Godot Scene", SEMICOLON, &["tscn", "tres", "godot"])
    },
    settings("Visual Studio Solution", &["sln"]),
    Language {
        nature: Nature::Prose,
        extensions: &["textile", "mediawiki", "wiki", "rmd", "qmd", "typ", "pod"],
        ..Language {
            name: "Markup Text",
            ..BASE
        }
    },
];
