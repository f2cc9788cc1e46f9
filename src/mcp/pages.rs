//! Splits answers into pages of lines of bounded length, with a cursor for the next page.

use crate::error::Refusal;

/// Maximum number of tokens of an answer, unless a client specifies another.
const DEFAULT_TOKENS: u64 = 2000;
/// Range of values that a client may specify.
const LEAST_TOKENS: u64 = 100;
const MOST_TOKENS: u64 = 20_000;
/// Bytes that are assumed per token.
const BYTES_PER_TOKEN: u64 = 4;
/// Bytes of the longest page.
const MOST_BYTES: usize = (MOST_TOKENS * BYTES_PER_TOKEN) as usize;

/// Maximum bytes of an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit(usize);

impl Limit {
    /// Validates the client's value.
    pub(crate) fn new(max_tokens: Option<u64>) -> Result<Limit, Refusal> {
        let tokens = max_tokens.unwrap_or(DEFAULT_TOKENS);
        if !(LEAST_TOKENS..=MOST_TOKENS).contains(&tokens) {
            let expected = format!("pass {LEAST_TOKENS} to {MOST_TOKENS}, or omit it for {DEFAULT_TOKENS}");
            return Err(Refusal::argument("max_tokens", tokens.to_string(), expected));
        }
        Ok(Limit((tokens * BYTES_PER_TOKEN) as usize))
    }
}

/// A page of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// Whole lines, unless a single line is longer than the page.
    pub(crate) text: String,
    /// Cursor of the next page.
    pub(crate) next_cursor: Option<String>,
    /// Number of lines of this page.
    pub(crate) lines: usize,
    /// Number of lines of the whole answer.
    pub(crate) lines_total: usize,
}

/// Returns the page of a text at a cursor.
pub(crate) fn page(text: &str, limit: Limit, cursor: Option<&str>) -> Result<Page, Refusal> {
    let checksum = crc32fast::hash(text.as_bytes());
    let all: Vec<&str> = text.lines().collect();
    let start = match cursor {
        Some(cursor) => read_cursor(cursor, checksum).filter(|start| *start < all.len()).ok_or(Refusal::Cursor)?,
        None => 0,
    };
    let (mut out, mut end) = (String::new(), start);
    if let Some(line) = all.get(start).filter(|line| line.len() > limit.0 && limit.0 < MOST_BYTES) {
        let tokens = (line.len() as u64).div_ceil(BYTES_PER_TOKEN).min(MOST_TOKENS);
        let expected = format!("the next line of this answer is longer; pass {tokens} or more");
        return Err(Refusal::argument("max_tokens", (limit.0 as u64 / BYTES_PER_TOKEN).to_string(), expected));
    }
    for line in &all[start..] {
        if end > start && out.len() + line.len() + 1 > limit.0 {
            break;
        }
        out.push_str(cut(line, limit));
        out.push('\n');
        end += 1;
    }
    let next_cursor = (end < all.len()).then(|| format!("{end}-{checksum:08x}"));
    Ok(Page { text: out, next_cursor, lines: end - start, lines_total: all.len() })
}

/// Truncates a line to the limit.
fn cut(line: &str, limit: Limit) -> &str {
    let mut end = line.len().min(limit.0);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    &line[..end]
}

/// Returns the line of a cursor, if the cursor belongs to the text with this checksum.
fn read_cursor(cursor: &str, checksum: u32) -> Option<usize> {
    let (line, sum) = cursor.split_once('-')?;
    (u32::from_str_radix(sum, 16).ok()? == checksum).then(|| line.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_lead_through_the_whole_text() {
        let text: String = (0..500).map(|number| format!("line {number}\n")).collect();
        let limit = Limit::new(Some(100)).expect("a limit");
        let (mut whole, mut cursor, mut pages) = (String::new(), None, 0);
        loop {
            let page = page(&text, limit, cursor.as_deref()).expect("a page");
            assert!(page.text.len() <= 400 && page.lines_total == 500);
            whole.push_str(&page.text);
            pages += 1;
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!((whole == text, pages > 10), (true, true));
    }

    #[test]
    fn cursors_of_other_texts_and_limits_without_sense_are_refused() {
        let limit = Limit::new(None).expect("a limit");
        let cursor = page(&"a\n".repeat(9000), limit, None).expect("a page").next_cursor.expect("a cursor");
        for wrong in [&cursor[..], "", "7", "-", "99999999999999999999-00000000", "1-zz"] {
            assert!(matches!(page("a\nb\n", limit, Some(wrong)), Err(Refusal::Cursor)), "{wrong}");
        }
        for tokens in [0, 99, 20_001, u64::MAX] {
            assert!(Limit::new(Some(tokens)).is_err());
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_refused_and_one_without_end_is_cut() {
        let limit = Limit::new(Some(100)).expect("a limit");
        let refusal = page(&"é".repeat(10_000), limit, None).expect_err("a long line");
        assert!(refusal.to_string().contains("pass 5000 or more"), "{refusal}");
        let most = Limit::new(Some(MOST_TOKENS)).expect("a limit");
        let page = page(&"é".repeat(100_000), most, None).expect("a page");
        assert!(page.text.len() <= MOST_BYTES + 1 && page.next_cursor.is_none());
    }
}
