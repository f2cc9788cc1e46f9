//! Prepares untrusted text for display: names of files and functions, and lines of sources. Characters that would
//! control a terminal, break a line of a table or reverse the direction of text are escaped.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns whether a character is invisible or affects the surrounding text.
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            // These are line and paragraph separators, direction marks and overrides, and the byte order mark.
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Returns a name as one line, with all hidden characters escaped, for example as `\x1b`.
pub fn name(text: &str) -> Cow<'_, str> {
    shown(text, |_| false)
}

/// Returns a source line; tabs are kept.
pub fn source_line(text: &str) -> Cow<'_, str> {
    shown(text, |character| character == '\t')
}

/// Returns a message, which may have several lines; line ends and tabs are kept.
pub fn message(text: &str) -> Cow<'_, str> {
    shown(text, |character| matches!(character, '\n' | '\t'))
}

/// Returns text in which the given names, which the user typed, are escaped. A name may be a part of a longer text.
pub fn with_names<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.into_iter().filter(|name| name.chars().any(is_hidden)).collect();
    // A name may be a part of another name, so longer names are replaced first.
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    names.into_iter().fold(text.to_owned(), |text, typed| text.replace(typed, &name(typed)))
}

/// Returns a message that contains such names. Line ends and tabs of the names are escaped; those of the message are
/// kept.
pub fn message_with<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    message(&with_names(text, names)).into_owned()
}

/// Escapes a stored name in place.
pub fn make_name(text: &mut String) {
    if let Cow::Owned(shown) = name(text) {
        *text = shown;
    }
}

fn shown(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let hides = |character: char| is_hidden(character) && !stays(character);
    if !text.chars().any(hides) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            _ if !hides(character) => out.push(character),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ => {
                let number = u32::from(character);
                _ = if number < 0x100 { write!(out, "\\x{number:02x}") } else { write!(out, "\\u{{{number:x}}}") };
            }
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_written_out_and_nothing_else() {
        assert_eq!(name("a\x1b[2J\u{9b}1m\u{202e}b\r\n\tc\0\x7f"), "a\\x1b[2J\\x9b1m\\u{202e}b\\r\\n\\tc\\x00\\x7f");
        assert_eq!(source_line("\tif (x)\r\n"), "\tif (x)\\r\\n");
        assert_eq!(message("one\n\ttwo\x07"), "one\n\ttwo\\x07");
        let said = message_with("a\nb/c: no\n  a\tb \x07", ["a\nb", "a\tb", "no", "a\nb/c"]);
        assert_eq!(said, "a\\nb/c: no\n  a\\tb \\x07");
        let plain = "operator<=>(größe, 漢字 \u{1f600}, \"\\n\")";
        assert!(matches!(name(plain), Cow::Borrowed(same) if same == plain));
    }
}
