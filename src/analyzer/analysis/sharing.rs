//! Decides which launches and allocations get separate rows, and which share a row.
//!
//! The first items of a kind get separate rows, up to a limit per kind and a total limit. Later items share a row per
//! kind. If there are too many kinds, coarser kinds are used. Memory therefore does not grow with the number of items.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// Limits on rows.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Maximum number of separate rows per kind.
    pub of_a_kind: u64,
    /// Maximum number of separate rows of all kinds.
    pub in_all: u64,
    /// Maximum number of shared rows of the finest kinds, and again of each coarser level. The coarsest level has no
    /// limit.
    pub shared: usize,
}

/// Limits for separately reported launches and for groups of launches.
pub const LAUNCHES: Bounds = Bounds { of_a_kind: 1000, in_all: 10_000, shared: 1024 };
/// Limits for separate and shared rows of allocations.
pub const ALLOCATIONS: Bounds = Bounds { of_a_kind: 256, in_all: 2000, shared: 512 };

/// The properties that items of a shared row have in common.
pub trait Kind: Clone + Eq + Hash {
    /// Returns a coarser kind; `None` for the coarsest.
    fn coarser(&self) -> Option<Self>;
}

/// The row in which an item is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowPlace {
    /// A separate row.
    Own,
    /// A shared row, by number from 0.
    Shared(u32),
}

/// Assigns rows.
#[derive(Clone, Debug)]
pub struct Sharing<K> {
    bounds: Bounds,
    own: u64,
    seen: FxHashMap<K, u64>,
    shared: FxHashMap<K, u32>,
}

impl<K: Kind> Sharing<K> {
    /// Creates an empty `Sharing`.
    pub fn new(bounds: Bounds) -> Sharing<K> {
        Sharing { bounds, own: 0, seen: FxHashMap::default(), shared: FxHashMap::default() }
    }

    /// Returns the row of the next item. A new shared row has the next free number.
    pub fn place(&mut self, kind: &K) -> RowPlace {
        if self.own < self.bounds.in_all {
            match self.seen.get_mut(kind) {
                None => {
                    self.seen.insert(kind.clone(), 1);
                    self.own += 1;
                    return RowPlace::Own;
                }
                Some(seen) if *seen < self.bounds.of_a_kind => {
                    *seen += 1;
                    self.own += 1;
                    return RowPlace::Own;
                }
                Some(_) => {}
            }
        }
        let mut kind = kind.clone();
        let mut most = self.bounds.shared;
        loop {
            if let Some(&number) = self.shared.get(&kind) {
                return RowPlace::Shared(number);
            }
            match kind.coarser() {
                Some(coarser) if self.shared.len() >= most => {
                    kind = coarser;
                    most += self.bounds.shared;
                }
                _ => break,
            }
        }
        let number = self.shared.len() as u32;
        self.shared.insert(kind, number);
        RowPlace::Shared(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kind in two levels of detail, or `None` for the coarsest.
    type Two = (Option<u32>, Option<u32>);

    impl Kind for Two {
        fn coarser(&self) -> Option<Two> {
            match self {
                (first, Some(_)) => Some((*first, None)),
                (Some(_), None) => Some((None, None)),
                (None, None) => None,
            }
        }
    }

    fn sharing(of_a_kind: u64, in_all: u64, shared: usize) -> Sharing<Two> {
        Sharing::new(Bounds { of_a_kind, in_all, shared })
    }

    #[test]
    fn the_first_of_a_kind_have_rows_of_their_own() {
        let mut rows = sharing(2, 5, 9);
        let kinds = [(Some(1), Some(1)), (Some(2), Some(2))];
        let mut got = Vec::new();
        for _ in 0..4 {
            got.extend(kinds.map(|kind| rows.place(&kind)));
        }
        use RowPlace::{Own, Shared};
        assert_eq!(got, [Own, Own, Own, Own, Shared(0), Shared(1), Shared(0), Shared(1)]);
        // One row is left for all other kinds.
        assert_eq!([3, 4].map(|kind| rows.place(&(Some(kind), Some(0)))), [Own, Shared(2)]);
    }

    #[test]
    fn rows_are_bounded_however_many_kinds_there_are() {
        let mut rows = sharing(1000, 100, 50);
        let mut most = 0;
        for thing in 0..1_000_000u32 {
            if let RowPlace::Shared(number) = rows.place(&(Some(thing / 3), Some(thing))) {
                most = most.max(number);
            }
        }
        assert_eq!((rows.own, rows.seen.len(), rows.shared.len(), most), (100, 100, 101, 100));
    }
}
