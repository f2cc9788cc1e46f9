//! Which of a fixed number of things is due next.
//!
//! A tree of the least of two: an update takes the same few steps without a branch, where a heap takes as many with two comparisons each whose outcome no
//! processor foresees.

/// When each of some things is due, the soonest known.
pub(super) struct Soonest {
    /// The least of the two below it from place 1 on; the things from the middle on.
    least: Vec<u64>,
    things: usize,
}

/// Never.
const NEVER: u64 = u64::MAX;
/// Bits of a thing's number.
const NUMBER: u32 = 16;

impl Soonest {
    /// Of so many things, up to 65 536, by when each is due; `None` is never.
    pub(super) fn new(due: impl ExactSizeIterator<Item = Option<u32>>) -> Soonest {
        let things = due.len().next_power_of_two();
        let mut least = vec![NEVER; 2 * things];
        for (number, due) in due.enumerate() {
            least[things + number] = key(number, due);
        }
        for at in (1..things).rev() {
            least[at] = least[2 * at].min(least[2 * at + 1]);
        }
        Soonest { least, things }
    }

    /// The number of the one that is due next, of those due at a time the first one; `None` where none ever is.
    pub(super) fn next(&self) -> Option<usize> {
        let first = self.least[1];
        (first != NEVER).then_some(first as usize & ((1 << NUMBER) - 1))
    }

    /// A thing is due at another time.
    pub(super) fn set(&mut self, number: usize, due: Option<u32>) {
        let mut at = self.things + number;
        let mut own = key(number, due);
        self.least[at] = own;
        while at > 1 {
            own = own.min(self.least[at ^ 1]);
            at /= 2;
            self.least[at] = own;
        }
    }
}

fn key(number: usize, due: Option<u32>) -> u64 {
    due.map_or(NEVER, |due| u64::from(due) << NUMBER | number as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against looking at all of them.
        #[test]
        fn the_first_one_is_found(first in prop::collection::vec(prop::option::of(0u32..9), 1..20),
                changes in prop::collection::vec((0usize..20, prop::option::of(0u32..12)), 0..40)) {
            let mut all = first.clone();
            let mut soonest = Soonest::new(first.into_iter());
            for (number, due) in changes {
                let number = number % all.len();
                all[number] = due;
                soonest.set(number, due);
                let want = (0..all.len()).filter(|&one| all[one].is_some()).min_by_key(|&one| (all[one], one));
                prop_assert_eq!(soonest.next(), want);
            }
        }
    }
}
