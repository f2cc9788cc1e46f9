//! Cleans the text of a document for display: a profile file is untrusted input, and its names are printed to terminals
//! and tables.

use serde::de::DeserializeOwned;
use serde_json::Value;
use warpline_format::visible;

/// Reads a document and escapes hidden characters. Profiles that Warpline writes contain none; for them, the only cost
/// is a scan of their bytes.
///
/// # Errors
/// Returns an error if the document does not have the expected type.
pub(super) fn read<T: DeserializeOwned>(document: &[u8]) -> Result<T, serde_json::Error> {
    if !may_hide(document) {
        return serde_json::from_slice(document);
    }
    let mut value: Value = serde_json::from_slice(document)?;
    if let Some(fields) = value.as_object_mut() {
        for (field, value) in fields {
            show(value, if field == "sources" { visible::source_line } else { visible::name });
        }
    }
    serde_json::from_value(value)
}

type Shown = fn(&str) -> std::borrow::Cow<'_, str>;

fn show(value: &mut Value, shown: Shown) {
    match value {
        Value::String(text) => {
            if let std::borrow::Cow::Owned(text_shown) = shown(text) {
                *text = text_shown;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| show(item, shown)),
        Value::Object(fields) => {
            let hides = |(key, _): (&String, &Value)| key.chars().any(visible::is_hidden);
            if fields.iter().any(hides) {
                let all = std::mem::take(fields);
                *fields = all.into_iter().map(|(key, value)| (visible::name(&key).into_owned(), value)).collect();
            }
            fields.values_mut().for_each(|value| show(value, shown));
        }
        _ => {}
    }
}

/// Returns whether a string of the document may contain a hidden character, escaped or unescaped. Tabs of source lines
/// are allowed.
fn may_hide(document: &[u8]) -> bool {
    let mut at = 0;
    let mut tabs_are_fine = false;
    while let Some(&byte) = document.get(at) {
        match byte {
            b'\\' => {
                match document.get(at + 1) {
                    Some(b'"' | b'\\' | b'/') => {}
                    Some(b't') if tabs_are_fine => {}
                    _ => return true,
                }
                at += 1;
            }
            b'"' if !tabs_are_fine => tabs_are_fine = document[at..].starts_with(b"\"sources\":{"),
            0x7f => return true,
            0x80.. => {
                let end = document.len().min(at + 4);
                let text = document[at..end].utf8_chunks().next().map_or("", |chunk| chunk.valid());
                match text.chars().next() {
                    Some(character) if visible::is_hidden(character) => return true,
                    Some(character) => at += character.len_utf8() - 1,
                    // The reader reports the error.
                    None => {}
                }
            }
            _ => {}
        }
        at += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_hides_something_is_read_twice() {
        for plain in
            [r#"{"a":"b \"c\\ \/ é … 漢 \u"}"#.replace("\\u", ""), r#"{"sources":{"/a":{"1":"\tx"}}}"#.to_owned()]
        {
            assert!(!may_hide(plain.as_bytes()), "{plain}");
        }
        for hidden in
            [r#"{"a":"\u001b"}"#, r#"{"a":"\n"}"#, r#"{"a":"\t"}"#, "{\"a\":\"\u{9b}\"}", "{\"\u{202e}\":1}", "\x7f"]
        {
            assert!(may_hide(hidden.as_bytes()), "{hidden:?}");
        }
    }
}
