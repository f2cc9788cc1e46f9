//! Wraps paragraphs to a width.

/// Wraps words into lines of at most `width` columns. The first line starts with `first`, the others with as many
/// blanks.
pub(crate) fn paragraph(first: &str, text: &str, width: usize) -> String {
    let indent = visible(first);
    let room = width.saturating_sub(indent).max(20);
    let mut lines: Vec<String> = vec![String::new()];
    let mut column = 0;
    for word in words(text) {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > room {
            lines.push(String::new());
            column = 0;
        }
        if let Some(line) = lines.last_mut() {
            if column > 0 {
                line.push(' ');
                column += 1;
            }
            line.push_str(&word);
        }
        column += length;
    }
    let blanks = " ".repeat(indent);
    lines
        .iter()
        .enumerate()
        .map(|(index, line)| format!("{}{line}\n", if index == 0 { first } else { &blanks }))
        .collect()
}

/// Splits text into words. Parts of a number, such as its unit or further groups of digits, stay together.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let bare = word.trim_end_matches([',', ';', '.', ')', ':']);
        let unit = matches!(bare, "%" | "x" | "KiB" | "MiB" | "GiB" | "TiB" | "ns" | "us" | "ms" | "s" | "bytes");
        let thousands = bare.len() == 3 && bare.bytes().all(|byte| byte.is_ascii_digit());
        match words.last_mut() {
            Some(last) if (unit || thousands) && last.ends_with(|end: char| end.is_ascii_digit()) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// Returns the number of visible characters, without colour codes (`ESC [ … m`).
fn visible(text: &str) -> usize {
    let mut parts = text.split('\x1b');
    let plain = parts.next().unwrap_or_default().chars().count();
    plain + parts.map(|part| part.split_once('m').map_or(0, |(_, rest)| rest.chars().count())).sum::<usize>()
}

/// Returns the first `most` characters of a text; the last one is `…` if the text is longer.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_to_the_width() {
        let text = "one two three four five six seven eight nine ten";
        assert_eq!(paragraph("  a ", text, 24), "  a one two three four\n    five six seven eight\n    nine ten\n");
        assert_eq!(paragraph("", "it takes all of 100.0 % of it", 20), "it takes all of\n100.0 % of it\n");
        assert_eq!(visible("\x1b[1mbold\x1b[0m x"), 6);
        assert_eq!(paragraph("", "averyveryverylongwordthatdoesnotfit", 10), "averyveryverylongwordthatdoesnotfit\n");
        assert_eq!((cut("abcdef", 4), cut("abc", 4)), ("abc…".to_owned(), "abc".to_owned()));
    }
}
