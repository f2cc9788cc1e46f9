//! Pairs the lines of two versions of code: first unchanged lines in order, then moved lines, then edited lines.

use std::collections::BTreeMap;

use super::text::{SAME, Text};

/// Minimum similarity of edited lines.
const EDITED: u32 = 500;
/// Minimum similarity of edited lines without other evidence.
const EDITED_AND_MOVED: u32 = 650;

/// A line at its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item<'a> {
    pub(super) text: &'a Text,
    /// Name of its file, without folders.
    pub(super) file: &'a str,
    pub(super) line: u32,
}

/// Remaining number of pairwise comparisons of lines. The budget limits the time for large profiles. When it is used
/// up, only equal lines are paired.
#[derive(Debug)]
pub(super) struct Budget(u64);

impl Default for Budget {
    fn default() -> Self {
        Budget(20_000_000)
    }
}

impl Budget {
    fn take(&mut self, one: usize, other: usize) -> bool {
        let wanted = (one as u64).saturating_mul(other as u64);
        let enough = wanted <= self.0.min(2_000_000);
        if enough {
            self.0 -= wanted;
        }
        enough
    }
}

/// Returns pairs of indices into both lists. Each line is in at most one pair.
pub(super) fn align(before: &[Item<'_>], after: &[Item<'_>], budget: &mut Budget) -> Vec<(usize, usize)> {
    let mut pairs = in_order(before, after, budget);
    for moved in [moved_unique, moved_any, moved_edited] {
        let rest = rest(before.len(), after.len(), &pairs);
        if rest.0.is_empty() || rest.1.is_empty() {
            break;
        }
        pairs.extend(moved(before, after, &rest, budget));
    }
    pairs.sort_unstable();
    pairs
}

type Rest = (Vec<usize>, Vec<usize>);

/// Returns the lines without a pair.
fn rest(before: usize, after: usize, pairs: &[(usize, usize)]) -> Rest {
    let (mut one, mut other) = (vec![true; before], vec![true; after]);
    for &(at, to) in pairs {
        one[at] = false;
        other[to] = false;
    }
    let free = |flags: Vec<bool>| (0..flags.len()).filter(|&index| flags[index]).collect();
    (free(one), free(other))
}

/// Returns pairs that are in the same order on both sides.
fn in_order(before: &[Item<'_>], after: &[Item<'_>], budget: &mut Budget) -> Vec<(usize, usize)> {
    let all = ((0..before.len()).collect(), (0..after.len()).collect());
    let anchors = rising(&unique(before, after, &all));
    let mut pairs = Vec::new();
    let (mut from, mut to) = (0, 0);
    for (at, with) in anchors.iter().copied().chain([(before.len(), after.len())]) {
        let gap = between(&before[from..at], &after[to..with], budget);
        pairs.extend(gap.into_iter().map(|(one, other)| (from + one, to + other)));
        if at < before.len() {
            pairs.push((at, with));
        }
        (from, to) = (at + 1, with + 1);
    }
    pairs
}

/// Returns pairs of equal, significant lines that occur once on each side.
fn unique(before: &[Item<'_>], after: &[Item<'_>], (one, other): &Rest) -> Vec<(usize, usize)> {
    let mut found: BTreeMap<&str, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for &index in one.iter().filter(|&&index| before[index].text.is_significant()) {
        found.entry(before[index].text.key()).or_default().0.push(index);
    }
    for &index in other.iter().filter(|&&index| after[index].text.is_significant()) {
        found.entry(after[index].text.key()).or_default().1.push(index);
    }
    let single = |(one, other): &(Vec<usize>, Vec<usize>)| match (&one[..], &other[..]) {
        ([at], [to]) => Some((*at, *to)),
        _ => None,
    };
    let mut pairs: Vec<(usize, usize)> = found.values().filter_map(single).collect();
    pairs.sort_unstable();
    pairs
}

/// Returns the longest subsequence of pairs, sorted by the first index, in which the second index is also ascending.
fn rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // `ends[n]` is the pair with the smallest second index that ends such a subsequence of n + 1 pairs.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous = vec![None; pairs.len()];
    for (number, &(_, to)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| pairs[end].1 < to);
        previous[number] = length.checked_sub(1).map(|before| ends[before]);
        match ends.get_mut(length) {
            Some(end) => *end = number,
            None => ends.push(number),
        }
    }
    let mut chain = Vec::new();
    let mut next = ends.last().copied();
    while let Some(number) = next {
        chain.push(pairs[number]);
        next = previous[number];
    }
    chain.reverse();
    chain
}

/// Returns the best ordered pairs between two sections of code.
fn between(before: &[Item<'_>], after: &[Item<'_>], budget: &mut Budget) -> Vec<(usize, usize)> {
    if before.is_empty() || after.is_empty() {
        return Vec::new();
    }
    if !budget.take(before.len(), after.len()) {
        return equal_in_order(before, after);
    }
    let width = after.len() + 1;
    let scores: Vec<u32> = before.iter().flat_map(|one| after.iter().map(|other| score(one, other, EDITED))).collect();
    // `best[i][j]` is the best score of the sections that start at the lines i and j.
    let mut best = vec![0u32; (before.len() + 1) * width];
    for at in (0..before.len()).rev() {
        for to in (0..after.len()).rev() {
            let apart = best[(at + 1) * width + to].max(best[at * width + to + 1]);
            let score = scores[at * after.len() + to];
            let together = if score == 0 { 0 } else { best[(at + 1) * width + to + 1].saturating_add(score) };
            best[at * width + to] = apart.max(together);
        }
    }
    let mut pairs = Vec::new();
    let (mut at, mut to) = (0, 0);
    while at < before.len() && to < after.len() {
        let here = best[at * width + to];
        let score = scores[at * after.len() + to];
        if score > 0 && here == best[(at + 1) * width + to + 1].saturating_add(score) {
            pairs.push((at, to));
            at += 1;
            to += 1;
        } else if here == best[(at + 1) * width + to] {
            at += 1;
        } else {
            to += 1;
        }
    }
    pairs
}

/// Pairs equal lines, each with the next equal one.
fn equal_in_order(before: &[Item<'_>], after: &[Item<'_>]) -> Vec<(usize, usize)> {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, item) in after.iter().enumerate().filter(|(_, item)| item.text.is_known()) {
        places.entry(item.text.key()).or_default().push(index);
    }
    let mut from = 0;
    let mut pairs = Vec::new();
    for (index, item) in before.iter().enumerate() {
        let Some(places) = places.get(item.text.key()) else { continue };
        if let Some(&place) = places.get(places.partition_point(|&place| place < from)) {
            pairs.push((index, place));
            from = place + 1;
        }
    }
    pairs
}

/// Returns the score for two lines being versions of the same line; 0 if they are unrelated.
fn score(before: &Item<'_>, after: &Item<'_>, edited: u32) -> u32 {
    let same_file = before.file == after.file;
    let place = 20 * u32::from(same_file) + 10 * u32::from(same_file && before.line == after.line);
    match (before.text.is_known(), after.text.is_known()) {
        // Only their position is known.
        (false, false) if same_file && before.line == after.line => SAME,
        (true, true) if before.text.key() == after.text.key() => {
            // Lines without names and numbers, such as braces, are paired with their surroundings.
            place + if before.text.is_significant() { SAME + 100 } else { 100 }
        }
        (true, true) if before.text.is_significant() && after.text.is_significant() => {
            let likeness = before.text.likeness(after.text);
            if likeness >= edited { likeness + place } else { 0 }
        }
        _ => 0,
    }
}

fn moved_unique(before: &[Item<'_>], after: &[Item<'_>], rest: &Rest, _: &mut Budget) -> Vec<(usize, usize)> {
    unique(before, after, rest)
}

fn moved_any(before: &[Item<'_>], after: &[Item<'_>], (one, other): &Rest, _: &mut Budget) -> Vec<(usize, usize)> {
    let mut places: BTreeMap<&str, std::collections::VecDeque<usize>> = BTreeMap::new();
    for &index in other.iter().filter(|&&index| after[index].text.is_significant()) {
        places.entry(after[index].text.key()).or_default().push_back(index);
    }
    let significant = one.iter().filter(|&&index| before[index].text.is_significant());
    significant.filter_map(|&index| Some((index, places.get_mut(before[index].text.key())?.pop_front()?))).collect()
}

fn moved_edited(
    before: &[Item<'_>],
    after: &[Item<'_>],
    (one, other): &Rest,
    budget: &mut Budget,
) -> Vec<(usize, usize)> {
    if !budget.take(one.len(), other.len()) {
        return Vec::new();
    }
    let mut scores = Vec::new();
    for &at in one {
        for &to in other {
            let score = score(&before[at], &after[to], EDITED_AND_MOVED);
            if score > 0 && before[at].text.is_significant() {
                scores.push((score, at, to));
            }
        }
    }
    super::best_first(scores)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(before: &[&str], after: &[&str]) -> Vec<(usize, usize)> {
        let texts = |lines: &[&str]| lines.iter().map(|line| Text::new(line)).collect::<Vec<_>>();
        fn items(texts: &[Text]) -> Vec<Item<'_>> {
            (1..).zip(texts).map(|(line, text)| Item { text, file: "a.cu", line }).collect()
        }
        let (before, after) = (texts(before), texts(after));
        align(&items(&before), &items(&after), &mut Budget::default())
    }

    #[test]
    fn an_added_line_moves_the_others() {
        assert_eq!(pairs(&["a();", "b();", "}"], &["a();", "new_one(1);", "b();", "}"]), [(0, 0), (1, 2), (2, 3)]);
        assert_eq!(pairs(&["a();", "b();"], &["b();"]), [(1, 0)]);
    }

    #[test]
    fn duplicated_lines_keep_their_order() {
        let one = ["x[i] = 0;", "sync();", "x[i] = 0;", "}"];
        assert_eq!(pairs(&one, &one), [(0, 0), (1, 1), (2, 2), (3, 3)]);
        assert_eq!(pairs(&["x[i] = 0;", "x[i] = 0;"], &["f();", "x[i] = 0;", "x[i] = 0;"]), [(0, 1), (1, 2)]);
        // One of three equal lines is removed, so any two pairs are correct.
        assert_eq!(pairs(&["f(1);", "f(1);", "f(1);"], &["f(1);", "f(1);"]).len(), 2);
    }

    #[test]
    fn moved_code_is_found_again() {
        let before = ["sum += a[i];", "k = 1;", "out[i] = sum;"];
        let after = ["out[i] = sum;", "sum += a[i];", "k = 1;"];
        assert_eq!(pairs(&before, &after), [(0, 1), (1, 2), (2, 0)]);
    }

    #[test]
    fn edited_lines_stay_in_their_place() {
        let before = ["int x = f();", "out[x * n + y] = in[y * n + x];", "}"];
        let after = ["int x = f();", "tile[j][i] = in[k];", "sync();", "out[y * n + x] = tile[i][j];", "}"];
        assert_eq!(pairs(&before, &after), [(0, 0), (1, 3), (2, 4)]);
        assert_eq!(pairs(&["a = 1;"], &["whatever(b, c);"]), []);
    }

    #[test]
    fn without_text_the_place_alone_counts() {
        assert_eq!(pairs(&["", "", ""], &["", ""]), [(0, 0), (1, 1)]);
        assert_eq!(pairs(&["", "a();"], &["a();", ""]), [(1, 0)]);
    }

    #[test]
    fn large_inputs_take_no_time() {
        let lines: Vec<String> = (0..30_000).map(|number| format!("f({});", number % 7)).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(pairs(&lines, &lines).len(), lines.len());
    }
}
