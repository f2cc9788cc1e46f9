//! Threads that work in periods: the first ones of each few, by a quotient or a remainder of the thread's number.

use super::super::super::facts::Facts;
use super::loops::{MOST_NAMES, is_of_thread, value_of};
use crate::profile::model::{Branch, Kernel};

/// Whether the kernel divides the thread's number on a line before the branch, as `i / length` or `i % length`.
pub(super) fn are_counted(facts: &Facts<'_>, kernel: &Kernel, branch: &Branch) -> bool {
    if kernel.file != branch.file || kernel.line > branch.line {
        return false;
    }
    let Some(lines) = facts.profile.sources.get(&branch.file) else { return false };
    let body = || lines.range(kernel.line..=branch.line);
    let before = |name: &str| body().rev().find_map(|(_, text)| value_of(text, name).map(str::to_owned));
    let divides = |text: &str| divided(text).any(|of| is_of_thread(of, &before, MOST_NAMES));
    body().any(|(_, text)| divides(text))
}

/// What a line divides: the word before each `/` and `%`.
fn divided(text: &str) -> impl Iterator<Item = &str> {
    let code = text.split("//").next().unwrap_or_default();
    code.match_indices(['/', '%']).filter_map(move |(at, _)| {
        let before = code[..at].trim_end();
        let word = before.rsplit(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).next()?;
        (!word.is_empty()).then_some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::divided;

    #[test]
    fn divided_words_stand_before_the_sign() {
        assert_eq!(
            divided("int part = i / length, place = threadIdx.x % 7; // a / b").collect::<Vec<_>>(),
            ["i", "threadIdx.x"]
        );
        assert_eq!(divided("a[(x + y) / 2] = 1;").count(), 0);
    }
}
