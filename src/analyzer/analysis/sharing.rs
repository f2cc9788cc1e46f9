//! Which launches and allocations have a row of their own, and which share one.
//!
//! The first ones of a kind have their own, up to a bound for each kind and one for all. Those after them share a row
//! by kind, and where there are too many kinds, by ever coarser ones. So memory does not grow with their number.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// Bounds on rows.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Of one kind that have a row of their own.
    pub of_a_kind: u64,
    /// Of all kinds that have one.
    pub in_all: u64,
    /// Shared rows of the finest kinds; as many more for each coarser sort, but the coarsest, which has what there is.
    pub shared: usize,
}

/// Launches that are reported one by one, and groups of others.
pub const LAUNCHES: Bounds = Bounds { of_a_kind: 1000, in_all: 10_000, shared: 1024 };
/// Allocations that have rows of their own, and rows that several share.
pub const ALLOCATIONS: Bounds = Bounds { of_a_kind: 256, in_all: 2000, shared: 512 };

/// What things have in common that share a row.
pub trait Kind: Clone + Eq + Hash {
    /// Returns the same with less in common; `None` for the coarsest.
    fn coarser(&self) -> Option<Self>;
}

/// Row in which a thing is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowPlace {
    /// In a row of its own.
    Own,
    /// In a shared row, by number from 0.
    Shared(u32),
}

/// Gives out rows.
#[derive(Clone, Debug)]
pub struct Sharing<K> {
    bounds: Bounds,
    own: u64,
    seen: FxHashMap<K, u64>,
    shared: FxHashMap<K, u32>,
}

impl<K: Kind> Sharing<K> {
    /// Creates a `Sharing` with nothing placed.
    pub fn new(bounds: Bounds) -> Sharing<K> {
        Sharing { bounds, own: 0, seen: FxHashMap::default(), shared: FxHashMap::default() }
    }

    /// Returns the row of the next thing. The first of a new shared row are identified by its number.
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

    /// A kind, a part of it, and nothing.
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
        // One is left for all others.
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
