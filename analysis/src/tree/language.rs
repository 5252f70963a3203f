//! Detects the language of a file by its name or its `#!` line.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::language_table::LANGUAGES;
use super::syntax::Language;

/// The number of a language in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct LanguageId(pub(crate) u8);

impl LanguageId {
    /// Returns the language's entry in the table.
    pub(crate) fn get(self) -> &'static Language {
        LANGUAGES[usize::from(self.0)]
    }

    pub(crate) fn name(self) -> &'static str {
        self.get().name
    }
}

static BY_EXTENSION: LazyLock<HashMap<&'static str, LanguageId>> =
    LazyLock::new(|| index(|language| language.extensions));
static BY_NAME: LazyLock<HashMap<&'static str, LanguageId>> =
    LazyLock::new(|| index(|language| language.names));
static BY_INTERPRETER: LazyLock<HashMap<&'static str, LanguageId>> =
    LazyLock::new(|| index(|language| language.interpreters));

fn index(keys: impl Fn(&Language) -> &'static [&'static str]) -> HashMap<&'static str, LanguageId> {
    let mut map = HashMap::new();
    for (number, language) in LANGUAGES.iter().enumerate() {
        let id = LanguageId(u8::try_from(number).unwrap_or(u8::MAX));
        for key in keys(language) {
            map.entry(*key).or_insert(id);
        }
    }
    map
}

/// Extensions of binary files, which are not opened.
const BINARY: &str = "\
    png jpg jpeg gif svg xpm xbm pbm pgm ppm eps ai dxf stl bmp ico icns webp avif tif tiff psd pdf zip gz tgz bz2 xz zst 7z rar tar \
    jar war class o a so dylib dll exe lib obj pdb wasm bin dat db sqlite sqlite3 ttf otf woff \
    woff2 eot mp3 mp4 m4a ogg wav flac avi mov mkv webm pyc pyo rlib rmeta deb rpm dmg iso img \
    parquet npy npz pkl onnx pt safetensors glb blend der p12 jks keystore gpg lz4 br snappy mo \
    profraw node xlsx docx pptx";

/// What a file's name tells about its language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guess {
    Known(LanguageId),
    Binary,
    /// No extension, or one of several languages: the text may tell.
    AskFirstLine,
    Unknown,
}

/// Guesses the language from the file name.
pub(crate) fn by_name(name: &str) -> Guess {
    let lower;
    let name = if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        lower = name.to_ascii_lowercase();
        lower.as_str()
    } else {
        name
    };
    if let Some(&id) = BY_NAME.get(name) {
        return Guess::Known(id);
    }
    match name.rsplit_once('.') {
        // Of QMake and of ProGuard.
        Some(("", _) | (_, "pro")) | None => Guess::AskFirstLine,
        Some((stem, extension)) => {
            if let Some(&id) = BY_EXTENSION.get(extension) {
                Guess::Known(id)
            } else if BINARY.split(' ').any(|binary| binary == extension) {
                Guess::Binary
            } else if extension == "in" {
                // Templates such as `Makefile.in` are written in the language of what they become.
                match by_name(stem) {
                    Guess::AskFirstLine => Guess::Unknown,
                    guess => guess,
                }
            } else {
                Guess::Unknown
            }
        }
    }
}

/// Reads the interpreter from a `#!` line.
pub(crate) fn by_first_line(head: &[u8]) -> Option<LanguageId> {
    let line = head.strip_prefix(b"#!")?;
    let end = memchr::memchr(b'\n', line).unwrap_or(line.len());
    let line = std::str::from_utf8(&line[..end]).ok()?;
    let mut words = line.split_whitespace();
    let mut program = words.next()?.rsplit('/').next()?;
    if program == "env" {
        program = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    }
    let bare =
        program.trim_end_matches(|character: char| character.is_ascii_digit() || character == '.');
    BY_INTERPRETER.get(bare).copied()
}

/// Tells `QMake` from other files that end in `.pro`, such as the rules of `ProGuard`: `QMake` assigns its variables.
pub(crate) fn is_qmake(text: &[u8]) -> bool {
    const VARIABLES: [&[u8]; 7] = [
        b"TEMPLATE",
        b"TARGET",
        b"CONFIG",
        b"QT",
        b"SOURCES",
        b"SUBDIRS",
        b"HEADERS",
    ];
    text.split(|&byte| byte == b'\n').any(|line| {
        let line = line.trim_ascii();
        VARIABLES.iter().any(|name| {
            let rest = line.strip_prefix(*name).map(<[u8]>::trim_ascii_start);
            rest.is_some_and(|rest| {
                rest.starts_with(b"=") || rest.starts_with(b"+=") || rest.starts_with(b"-=")
            })
        })
    })
}

/// Finds a language by its name in the table.
pub(crate) fn named(name: &str) -> Option<LanguageId> {
    LANGUAGES
        .iter()
        .position(|language| language.name == name)
        .and_then(|number| u8::try_from(number).ok())
        .map(LanguageId)
}

/// Lists all languages.
#[cfg(test)]
pub(crate) fn all() -> impl Iterator<Item = LanguageId> {
    (0..LANGUAGES.len())
        .filter_map(|number| u8::try_from(number).ok())
        .map(LanguageId)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(file: &str) -> Option<&'static str> {
        match by_name(file) {
            Guess::Known(id) => Some(id.name()),
            Guess::Binary | Guess::AskFirstLine | Guess::Unknown => None,
        }
    }

    #[test]
    fn names_tell_the_language() {
        assert_eq!(name("main.rs"), Some("Rust"));
        assert_eq!(name("App.TSX"), Some("TSX"));
        assert_eq!(name("Makefile"), Some("Makefile"));
        assert_eq!(name("Makefile.in"), Some("Makefile"));
        assert_eq!(name("CMakeLists.txt"), Some("CMake"));
        assert_eq!(by_name("logo.png"), Guess::Binary);
        assert_eq!(by_name("run"), Guess::AskFirstLine);
        assert_eq!(by_name("data.zzz"), Guess::Unknown);
        assert_eq!(by_name("proguard.pro"), Guess::AskFirstLine);
        assert!(is_qmake(b"# x\nTEMPLATE = app\n"));
        assert!(!is_qmake(b"-keep class a.B { *; }\n"));
    }

    #[test]
    fn first_lines_tell_the_language() {
        let name = |head: &str| by_first_line(head.as_bytes()).map(LanguageId::name);
        assert_eq!(name("#!/bin/sh\nexit"), Some("Shell"));
        assert_eq!(name("#!/usr/bin/env -S python3 -u\n"), Some("Python"));
        assert_eq!(name("#!/usr/bin/env node"), Some("JavaScript"));
        assert_eq!(name("plain text"), None);
    }
}
