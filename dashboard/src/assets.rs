//! Static assets (styles, scripts, icons), embedded in the binary, with `ETag`s.

use std::sync::LazyLock;

use crate::screen::stylesheet;

/// A file at `/assets/NAME`.
#[derive(Debug, Clone, Copy)]
pub struct Asset {
    pub content_type: &'static str,
    pub body: &'static str,
    /// A hash of the content, in quotes as the header needs it.
    pub etag: &'static str,
}

struct File {
    name: &'static str,
    content_type: &'static str,
    body: &'static str,
    etag: String,
}

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// The terminal's styles, and a rule for each of its 256 colours.
static TERMINAL_CSS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{}\n{}",
        include_str!("../assets/terminal.css"),
        stylesheet()
    )
});

static FILES: LazyLock<Vec<File>> = LazyLock::new(|| {
    let files: [(&'static str, &'static str, &'static str); 14] = [
        ("app.css", CSS, include_str!("../assets/app.css")),
        ("parts.css", CSS, include_str!("../assets/parts.css")),
        ("review.css", CSS, include_str!("../assets/review.css")),
        ("terminal.css", CSS, TERMINAL_CSS.as_str()),
        ("app.js", SCRIPT, include_str!("../assets/app.js")),
        ("keys.js", SCRIPT, include_str!("../assets/keys.js")),
        ("live.js", SCRIPT, include_str!("../assets/live.js")),
        ("morph.js", SCRIPT, include_str!("../assets/morph.js")),
        ("palette.js", SCRIPT, include_str!("../assets/palette.js")),
        ("review.js", SCRIPT, include_str!("../assets/review.js")),
        ("terminal.js", SCRIPT, include_str!("../assets/terminal.js")),
        ("theme.js", SCRIPT, include_str!("../assets/theme.js")),
        ("icon.svg", SVG, include_str!("../assets/icon.svg")),
        (
            "icon-waiting.svg",
            SVG,
            include_str!("../assets/icon-waiting.svg"),
        ),
    ];
    files
        .into_iter()
        .map(|(name, content_type, body)| File {
            name,
            content_type,
            body,
            etag: format!("\"{:016x}\"", fingerprint(body.as_bytes())),
        })
        .collect()
});

/// Returns a file by its name.
pub fn asset(name: &str) -> Option<Asset> {
    let file = FILES.iter().find(|file| file.name == name)?;
    Some(Asset {
        content_type: file.content_type,
        body: file.body,
        etag: file.etag.as_str(),
    })
}

/// Returns the address of a file, with a hash of its content: browsers may cache it.
pub(crate) fn address(name: &str) -> String {
    match asset(name) {
        Some(asset) => format!("/assets/{name}?v={}", asset.etag.trim_matches('"')),
        None => format!("/assets/{name}"),
    }
}

/// FNV-1a: not cryptographic, but nobody gains from a collision.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_name_and_differ() {
        let css = asset("app.css").unwrap();
        assert!(css.content_type.starts_with("text/css"));
        assert!(css.etag.starts_with('"') && css.etag.ends_with('"'));
        assert_ne!(css.etag, asset("app.js").unwrap().etag);
        assert!(asset("terminal.css").unwrap().body.contains(".f196{"));
        assert!(asset("../Cargo.toml").is_none());
        assert!(address("app.css").starts_with("/assets/app.css?v="));
    }

    /// Everything that any page loads, uncompressed.
    #[test]
    fn all_files_together_are_light() {
        let total: usize = FILES.iter().map(|file| file.body.len()).sum();
        assert!(total < 110_000, "{total}");
    }

    /// The Content-Security-Policy of the server would refuse what these are.
    #[test]
    fn scripts_and_styles_load_nothing_from_elsewhere() {
        for file in FILES.iter() {
            for forbidden in ["eval(", "http://", "https://", "@import", "innerHTML +="] {
                let body = file.body.replace("http://www.w3.org/2000/svg", "");
                assert!(!body.contains(forbidden), "{} has {forbidden}", file.name);
            }
        }
    }
}
