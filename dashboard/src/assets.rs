//! Styles and scripts, built in.

/// A file that pages refer to as `/assets/NAME`.
#[derive(Debug, Clone, Copy)]
pub struct Asset {
    pub content_type: &'static str,
    pub body: &'static str,
    /// Changes with the content; quoted, as the header has it.
    pub etag: &'static str,
}

/// Returns a file by its name.
pub fn asset(name: &str) -> Option<Asset> {
    let _ = name;
    None
}
