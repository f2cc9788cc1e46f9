//! URIs of profiles: `warpline://profile/` and the path.

/// Prefix of the URIs of profiles.
pub(crate) const PREFIX: &str = "warpline://profile/";

/// Returns the URI of a path.
pub(crate) fn of_path(path: &str) -> String {
    let mut uri = PREFIX.to_owned();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// Returns the path of a URI; `None` if it is not the URI of a profile.
pub(crate) fn to_path(uri: &str) -> Option<String> {
    let encoded = uri.strip_prefix(PREFIX)?.as_bytes();
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut at = 0;
    while let Some(&byte) = encoded.get(at) {
        if byte == b'%' {
            let digits = std::str::from_utf8(encoded.get(at + 1..at + 3)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            at += 3;
        } else {
            bytes.push(byte);
            at += 1;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_and_paths_belong_together() {
        for path in ["a.wlprof", "/a b/ü%.wlprof", "../x"] {
            assert_eq!(to_path(&of_path(path)).as_deref(), Some(path));
        }
        for wrong in ["file:///a", "warpline://profile/%", "warpline://profile/%zz", "warpline://profile/%ff"] {
            assert_eq!(to_path(wrong), None, "{wrong}");
        }
    }
}
