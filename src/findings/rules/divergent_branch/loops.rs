//! Which lanes go on in a loop, by its head: `for (begin; condition; step)`.

use super::super::super::facts::{Facts, has_word};
use crate::profile::model::Branch;

/// Lines that a head may go over, at most.
const LINES_OF_HEAD: u32 = 3;
/// Names on the way from an expression to the thread's number, at most.
pub(super) const MOST_NAMES: u32 = 3;
/// What has the thread's number, or the lane's.
const NUMBERS: [&str; 4] = ["threadIdx", "thread_rank", "lane_id", "laneid"];

/// How the thread's number decides over the iterations of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loop {
    /// It begins at the thread's number and goes on by several elements: the threads share it, and none makes more than one iteration more than
    /// another.
    Shared,
    /// It ends at the thread's number: each thread makes as many iterations.
    AsLongAsNumber,
}

/// What the head of the branch's loop says; `None` where it is no such loop, or its lines are not known.
pub(super) fn of(facts: &Facts<'_>, branch: &Branch) -> Option<Loop> {
    let lines = facts.profile.sources.get(&branch.file)?;
    let text: Vec<&str> = lines.range(branch.line..branch.line + LINES_OF_HEAD).map(|(_, text)| &text[..]).collect();
    if !has_word(text.first()?, "for") {
        return None;
    }
    let before =
        |name: &str| lines.range(..branch.line).rev().find_map(|(_, text)| value_of(text, name).map(str::to_owned));
    kind(&text.join(" "), &before)
}

/// The same of its text; `before` is what a name was last given.
fn kind(text: &str, before: &dyn Fn(&str) -> Option<String>) -> Option<Loop> {
    let (_, head) = text.split_once("for")?;
    let mut parts = head.trim_start().strip_prefix('(')?.splitn(3, ';');
    let (begin, condition, step) = (parts.next()?, parts.next()?, parts.next()?);
    let (counter, first) = begin.split_once('=')?;
    let counter = words(counter).last()?;
    // What belongs to the loop's body is no step.
    let step = step.split(['{', ';']).next().unwrap_or_default();
    let bound = ["<=", ">=", "!=", "<", ">"]
        .into_iter()
        .find_map(|sign| condition.split_once(sign))
        .map(|(left, right)| if has_word(left, counter) { right } else { left })?;
    let is_of_thread = |text: &str| is_of_thread(text, before, MOST_NAMES);
    match (is_of_thread(first), is_of_thread(bound)) {
        (true, false) if step.contains("+=") && !by_one(step) => Some(Loop::Shared),
        (false, true) if by_one(step) || step.contains("++") || step.contains("--") => Some(Loop::AsLongAsNumber),
        _ => None,
    }
}

/// Whether a step is one element.
fn by_one(step: &str) -> bool {
    let by = step.split_once("+=").map(|(_, by)| by.trim_start());
    by.is_some_and(|by| by.starts_with('1') && !by[1..].starts_with(|c: char| c.is_ascii_digit() || c == '.'))
}

/// Names and numbers of an expression.
fn words(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// Whether the thread's number is one of the values that are added up, as such: not multiplied, not divided, which a warp may have in common, and not
/// what it leads to in memory.
pub(super) fn is_of_thread(text: &str, before: &dyn Fn(&str) -> Option<String>, names: u32) -> bool {
    let is_number = |word: &str| {
        NUMBERS.contains(&word)
            || names > 0
                && !word.starts_with(|c: char| c.is_ascii_digit())
                && before(word).is_some_and(|value| is_of_thread(&value, before, names - 1))
    };
    !text.contains('/')
        && !text.contains(">>")
        && text.split(['+', '-']).any(|part| !part.contains(['[', ']', '*', '?']) && words(part).any(is_number))
}

/// What a line gives to a name: `a + b` of `int name = a + b;`.
pub(super) fn value_of<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let code = text.split("//").next().unwrap_or_default();
    code.match_indices(name).find_map(|(at, _)| {
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let behind = code[at + name.len()..].trim_start();
        let value = behind.strip_prefix('=').filter(|value| !value.starts_with('='))?;
        let is_whole = !code[..at].ends_with(is_part);
        is_whole.then(|| value.split([';', ',']).next().unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(head: &str, lines: &[&str]) -> Option<Loop> {
        kind(head, &|name| lines.iter().rev().find_map(|text| value_of(text, name).map(str::to_owned)))
    }

    #[test]
    fn threads_share_loops_that_begin_at_their_numbers() {
        let lines = [
            "const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;",
            "int i = blockIdx.x * blockDim.x + threadIdx.x;",
        ];
        assert_eq!(kind_of("for (short j = lane; j < n; j += 32) {", &lines), Some(Loop::Shared));
        assert_eq!(kind_of("for (int k = begin[row] + lane; k < end; k += 32)", &lines), Some(Loop::Shared));
        assert_eq!(kind_of("for (int k = begins[lane]; k < end; k += 32)", &lines), None);
        assert_eq!(kind_of("for (int k = lane * share; k < end; k += 4)", &lines), None);
        assert_eq!(kind_of("for (int v = i; v < n; v += gridDim.x * blockDim.x) {", &lines), Some(Loop::Shared));
        assert_eq!(kind_of("for (int j = warp; j < n; j += 8) {", &lines), None);
        assert_eq!(kind_of("for (int j = lane; j < n; j += 1) {", &lines), None);
    }

    #[test]
    fn threads_may_have_as_many_iterations_as_their_number() {
        let lines = ["  int idx = blockIdx.x*blockDim.x + threadIdx.x;", "int end = ends[idx];"];
        assert_eq!(kind_of("for (int i = 0; i < idx; i++)", &lines), Some(Loop::AsLongAsNumber));
        assert_eq!(kind_of("for (int i = 0; i <= threadIdx.x; ++i) {", &lines), Some(Loop::AsLongAsNumber));
        assert_eq!(kind_of("for (int j = last; j >= max(bound, idx + 2); j--) {", &lines), Some(Loop::AsLongAsNumber));
        assert_eq!(kind_of("for (int i = 0; i < end; i++)", &lines), None);
        assert_eq!(kind_of("for (int i = idx; i < idx + 4; i++)", &lines), None);
    }
}
