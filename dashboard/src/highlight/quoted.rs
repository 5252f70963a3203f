//! File names as git quotes them in patches.

/// Undoes git's quoting of a name with special characters; other names are returned as they are.
pub(super) fn unquoted(name: &str) -> String {
    let Some(inside) = name
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
    else {
        return name.to_owned();
    };
    let mut bytes = Vec::with_capacity(inside.len());
    let mut rest = inside.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(b'a') => bytes.push(7),
            Some(b'b') => bytes.push(8),
            Some(b'f') => bytes.push(12),
            Some(b'v') => bytes.push(11),
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    if let Some(next) = rest.next_if(|byte| (b'0'..=b'7').contains(byte)) {
                        value = value * 8 + u32::from(next - b'0');
                    }
                }
                bytes.push(u8::try_from(value).unwrap_or(b'?'));
            }
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Takes `a/` or `b/` off a name; `/dev/null` is no name.
pub(super) fn without_side(name: &str) -> Option<String> {
    // git ends names that have spaces in them with a tab.
    let name = unquoted(name.strip_suffix('\t').unwrap_or(name));
    if name == "/dev/null" {
        return None;
    }
    let bare = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/"));
    Some(bare.unwrap_or(&name).to_owned())
}
