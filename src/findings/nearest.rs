//! Names that resemble a typed name, for messages about unknown names.

/// Maximum number of names in a message.
const MOST: usize = 5;

/// Returns at most five names that resemble `typed`, the most similar first. A name resembles it if one contains the
/// other, or if fewer than half of the letters differ.
pub fn nearest<'n>(typed: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let mut found: Vec<(usize, &str)> =
        names.into_iter().filter_map(|name| Some((difference(typed, name)?, name))).collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|(_, name)| name).take(MOST).collect()
}

/// Formats names as `a`, `b` and `c`, with the number of names beyond the first five.
pub fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let shown: Vec<String> = names.iter().take(MOST).map(|name| format!("`{name}`")).collect();
    match (names.len().saturating_sub(MOST), &shown[..]) {
        (0, [first @ .., last]) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        (0, _) => shown.join(", "),
        (more, _) => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Returns the difference between two names; `None` if they do not resemble each other.
fn difference(typed: &str, name: &str) -> Option<usize> {
    let (typed, name) = (typed.to_lowercase(), name.to_lowercase());
    if typed.is_empty() {
        return None;
    }
    if name.contains(&typed) || typed.contains(&name) && !name.is_empty() {
        return Some(0);
    }
    let edits = edits(&typed, &name);
    (2 * edits < typed.chars().count()).then_some(edits)
}

/// Returns the minimum number of letters to insert, remove and replace (Levenshtein distance).
fn edits(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().take(256).collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().take(256).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], at + 1);
        for (column, theirs) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *theirs);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_come_first() {
        let names = ["strided-access", "bank-conflict", "struct-fields", "spill"];
        assert_eq!(nearest("strided", names), ["strided-access"]);
        assert_eq!(nearest("bank-conflicts", names), ["bank-conflict"]);
        assert_eq!(nearest("Spil", names), ["spill"]);
        assert!(nearest("nothing-like-it", names).is_empty() && nearest("", names).is_empty());
        assert_eq!((edits("kitten", "sitting"), edits("", "abc"), edits("abc", "abc")), (3, 3, 0));
        assert_eq!(listed(["a"]), "`a`");
        assert_eq!(listed(["a", "b", "c"]), "`a`, `b` and `c`");
        assert_eq!(listed(["1", "2", "3", "4", "5", "6", "7"]), "`1`, `2`, `3`, `4`, `5` and 2 more");
        assert_eq!(listed([]), "");
    }
}
