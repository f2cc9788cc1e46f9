//! Pairs of rows.

use std::collections::BTreeMap;

/// Pairs of row indices of two sides. Each row is in at most one pair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    after: BTreeMap<usize, usize>,
    before: BTreeMap<usize, usize>,
}

impl Pairs {
    /// Adds a pair, unless one of its rows already has one.
    pub fn add(&mut self, before: usize, after: usize) {
        if !self.after.contains_key(&before) && !self.before.contains_key(&after) {
            self.after.insert(before, after);
            self.before.insert(after, before);
        }
    }

    /// Returns the row after that is paired with a row before.
    pub fn after(&self, before: usize) -> Option<usize> {
        self.after.get(&before).copied()
    }

    /// Returns the row of the profile before that is paired with a row of the profile after.
    pub fn before(&self, after: usize) -> Option<usize> {
        self.before.get(&after).copied()
    }

    /// Returns all pairs, sorted by the row before.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize)> {
        self.after.iter().map(|(&before, &after)| (before, after))
    }

    /// Returns the rows of both sides that have no pair yet.
    pub fn rest(&self, before: usize, after: usize) -> (Vec<usize>, Vec<usize>) {
        let one = (0..before).filter(|index| !self.after.contains_key(index)).collect();
        let other = (0..after).filter(|index| !self.before.contains_key(index)).collect();
        (one, other)
    }

    /// Pairs rows with equal keys. If several rows share a key, they are paired in order or by `choose`.
    pub fn by_key<K: Ord>(
        &mut self,
        (before, after): (usize, usize),
        key_before: impl Fn(usize) -> Option<K>,
        key_after: impl Fn(usize) -> Option<K>,
        choose: impl Fn(&[usize], &[usize]) -> Vec<(usize, usize)>,
    ) {
        let (one, other) = self.rest(before, after);
        let mut buckets: BTreeMap<K, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        for index in one {
            if let Some(key) = key_before(index) {
                buckets.entry(key).or_default().0.push(index);
            }
        }
        for index in other {
            if let Some(key) = key_after(index)
                && let Some(bucket) = buckets.get_mut(&key)
            {
                bucket.1.push(index);
            }
        }
        for (one, other) in buckets.into_values().filter(|(_, other)| !other.is_empty()) {
            for (before, after) in choose(&one, &other) {
                self.add(before, after);
            }
        }
    }
}

/// Pairs rows in order.
pub fn in_order(before: &[usize], after: &[usize]) -> Vec<(usize, usize)> {
    before.iter().copied().zip(after.iter().copied()).collect()
}

/// Selects the pairs with the highest scores, each index once. Among equal scores, the first is selected.
pub fn best_first(mut scores: Vec<(u32, usize, usize)>) -> Vec<(usize, usize)> {
    scores.sort_unstable_by_key(|&(score, at, to)| (std::cmp::Reverse(score), at, to));
    let mut pairs = Pairs::default();
    for (_, at, to) in scores {
        pairs.add(at, to);
    }
    pairs.iter().collect()
}
