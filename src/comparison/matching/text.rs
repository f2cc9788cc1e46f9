//! The tokens of a source line, so that comparisons ignore blanks and comments.

use std::hash::{Hash as _, Hasher as _};

use rustc_hash::FxHasher;

/// Maximum number of tokens per line that are compared, because an untrusted profile may have lines of any length.
const MOST_TOKENS: usize = 200;
/// Maximum value of [`Text::likeness`].
pub const SAME: u32 = 1000;

/// A source line, prepared for comparisons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// Tokens, joined by blanks; empty if the profile does not contain the line.
    key: String,
    /// Sorted hashes of tokens and of pairs of adjacent tokens, including duplicates.
    grams: Vec<u64>,
    /// Whether it contains a name or a number. A brace alone does not identify a line.
    significant: bool,
}

impl Text {
    pub fn new(line: &str) -> Text {
        let tokens = tokens(line);
        let mut grams: Vec<u64> = tokens.iter().map(|token| hash(&[token])).collect();
        grams.extend(tokens.windows(2).map(hash));
        grams.sort_unstable();
        let significant = tokens.iter().any(|token| token.starts_with(is_word));
        Text { key: tokens.join(" "), grams, significant }
    }

    /// Returns whether the profile contains the line.
    pub fn is_known(&self) -> bool {
        !self.key.is_empty()
    }

    pub fn is_significant(&self) -> bool {
        self.significant
    }

    /// Returns a key that equal lines share.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the sorted hashes of tokens and of pairs of tokens.
    pub fn grams(&self) -> &[u64] {
        &self.grams
    }

    /// Returns the similarity of two lines, up to [`SAME`].
    pub fn likeness(&self, other: &Text) -> u32 {
        likeness(&self.grams, &other.grams)
    }
}

/// Returns Dice's coefficient of two sorted lists, up to [`SAME`].
pub fn likeness<T: Ord>(one: &[T], other: &[T]) -> u32 {
    let (mut at, mut to, mut common) = (0, 0, 0usize);
    while let (Some(left), Some(right)) = (one.get(at), other.get(to)) {
        match left.cmp(right) {
            std::cmp::Ordering::Less => at += 1,
            std::cmp::Ordering::Greater => to += 1,
            std::cmp::Ordering::Equal => {
                common += 1;
                at += 1;
                to += 1;
            }
        }
    }
    let all = one.len() + other.len();
    (2 * common * SAME as usize).checked_div(all).unwrap_or(0) as u32
}

/// Returns a hash that is equal in every run.
fn hash(tokens: &[&str]) -> u64 {
    let mut hasher = FxHasher::default();
    tokens.hash(&mut hasher);
    hasher.finish()
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Returns the names, numbers, literals and punctuation of a line, without comments.
fn tokens(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        if found.len() == MOST_TOKENS || rest.starts_with("//") {
            break;
        }
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.find("*/").map_or("", |end| &comment[end + 2..]).trim_start();
            continue;
        }
        let end = match first {
            '"' => literal(rest),
            _ if is_word(first) => rest.find(|character| !is_word(character)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        found.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    found
}

/// Returns the length of the string literal at the start of a text; the whole length if it does not end.
fn literal(text: &str) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            '"' if !escaped => return at + 1,
            _ => escaped = character == '\\' && !escaped,
        }
    }
    text.len()
}

/// Returns the sorted words of a name: `sumOfEnergy_2` has `sum`, `of`, `energy` and `2`.
pub fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for character in name.chars().take(4 * MOST_TOKENS) {
        if character.is_alphanumeric() {
            let begins = !before.is_alphanumeric()
                || character.is_uppercase() && before.is_lowercase()
                || character.is_numeric() != before.is_numeric();
            if begins {
                words.push(String::new());
            }
            words.last_mut().expect("a word has begun").extend(character.to_lowercase());
        }
        before = character;
    }
    words.sort_unstable();
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_and_comments_do_not_matter() {
        let same = ["a[i]=b; // now", "  a [ i ] = b ;", "a[i] /* why */ = b;\t"].map(Text::new);
        assert!(same.iter().all(|text| text.key() == "a [ i ] = b ;" && text.is_significant()));
        assert_eq!(Text::new("f(\"// \\\" no comment\", 1);").key(), "f ( \"// \\\" no comment\" , 1 ) ;");
        assert!(!Text::new("} // end of f").is_significant());
        assert!(!Text::new("// nothing").is_known());
        // Truncated tokens must not cause a panic.
        for text in ["\"", "\"\\", "/*", "/", "é\"é", "…", "/**/"] {
            let _ = Text::new(text);
        }
    }

    #[test]
    fn an_edited_line_is_nearer_than_another_one() {
        let text = Text::new;
        let before = text("out[x * n + y] = in[y * n + x];");
        let after = text("out[y * n + x] = tile[threadIdx.x][threadIdx.y];");
        let other = text("int x = blockIdx.x * blockDim.x + threadIdx.x;");
        assert_eq!(before.likeness(&before), SAME);
        assert!(before.likeness(&after) > before.likeness(&other) + 100);
        let (one, renamed) = (text("cudaMalloc(&d_in, bytes);"), text("cudaMalloc(&input, bytes);"));
        assert!(one.likeness(&renamed) > 600);
        assert_eq!(text("").likeness(&text("")), 0);
    }

    #[test]
    fn names_have_words() {
        assert_eq!(words("sumOfEnergy_2"), ["2", "energy", "of", "sum"]);
        assert_eq!(words("transposeNaive"), ["naive", "transpose"]);
    }
}
