//! Replacement policies. A policy observes uses and selects victims; it has no access to tags or data.

use super::order::{Order, WAYS};
use super::plru::TreePlru;
use super::recency::{Recency, Rings};
use serde::{Deserialize, Serialize};

/// How a full set selects the line to evict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Replacement {
    /// The least recently used.
    Lru,
    /// Tree pseudo-LRU; empty ways are filled first.
    TreePlru,
    /// Tree pseudo-LRU without a preference for empty ways. The bits alone decide, so a line can be evicted although a
    /// way is empty. The code of the profiler paper works this way.
    BlindTreePlru,
    /// Way `i` is evicted with a probability proportional to entry `i`, drawn from a fixed sequence; empty ways are
    /// filled first. For example, Fermi's L1 evicts way 2 three times as often as the other ways: `[1, 1, 3, 1]`.
    Weighted(Vec<u32>),
    /// All ways are evicted with equal probability, drawn from a fixed sequence; empty ways are filled first.
    Random,
}

impl Replacement {
    /// Returns whether the cache fills empty ways before the policy selects. LRU selects empty ways anyway.
    pub(crate) fn empty_first(&self) -> bool {
        matches!(self, Replacement::TreePlru | Replacement::Weighted(_) | Replacement::Random)
    }
}

/// The state of a policy for all sets of a cache.
#[derive(Clone, Debug)]
pub(crate) enum Policy {
    /// Up to 16 ways; the order is one word per set.
    Short(Short),
    Lru(Rings),
    Plru(TreePlru),
    Drawn(Drawn),
}

impl Policy {
    pub(crate) fn new(replacement: &Replacement, sets: u32, ways: u32) -> Policy {
        match replacement {
            Replacement::Lru if ways <= WAYS => Policy::Short(Short::new(sets, ways)),
            Replacement::Lru => Policy::Lru(Rings::new(sets, ways)),
            Replacement::TreePlru | Replacement::BlindTreePlru => Policy::Plru(TreePlru::new(sets, ways)),
            Replacement::Weighted(weights) => {
                let mut weights = weights.clone();
                weights.resize(ways as usize, 1);
                Policy::Drawn(Drawn::new(sets, weights))
            }
            Replacement::Random => Policy::Drawn(Drawn::new(sets, vec![1; ways as usize])),
        }
    }

    /// Marks a way as used.
    #[inline(always)]
    pub(crate) fn touch(&mut self, set: u32, way: u32) {
        match self {
            Policy::Short(short) => short.touch(set, way),
            Policy::Lru(rings) => rings.ring(set).touch(way as u16),
            Policy::Plru(trees) => trees.touch(set, way),
            Policy::Drawn(_) => {}
        }
    }

    /// Prefetches the order of a set.
    #[inline(always)]
    pub(crate) fn prefetch(&self, set: u32) {
        match self {
            Policy::Short(short) => crate::simd::processor::read(&short.orders, set as usize),
            Policy::Lru(rings) => rings.prefetch(set),
            Policy::Plru(_) | Policy::Drawn(_) => {}
        }
    }

    /// Returns the way to evict.
    #[inline(always)]
    pub(crate) fn victim(&mut self, set: u32) -> u32 {
        match self {
            Policy::Short(short) => short.oldest(set),
            Policy::Lru(rings) => u32::from(rings.ring(set).oldest()),
            Policy::Plru(trees) => trees.victim(set),
            Policy::Drawn(drawn) => drawn.draw(set),
        }
    }

    /// Returns the way to evict and marks it as used, because its new line is the youngest.
    #[inline(always)]
    pub(crate) fn replace(&mut self, set: u32) -> u32 {
        match self {
            Policy::Plru(trees) => trees.take_victim(set),
            Policy::Short(short) => short.take_oldest(set),
            Policy::Lru(rings) => u32::from(rings.ring(set).take_victim()),
            Policy::Drawn(drawn) => drawn.draw(set),
        }
    }

    /// Records that a way has lost its line. LRU selects this way next.
    #[inline]
    pub(crate) fn forget(&mut self, set: u32, way: u32) {
        match self {
            Policy::Short(short) => short.retire(set, way),
            Policy::Lru(rings) => rings.ring(set).retire(way as u16),
            Policy::Plru(_) | Policy::Drawn(_) => {}
        }
    }

    pub(crate) fn clear(&mut self) {
        match self {
            Policy::Short(short) => *short = Short::new(short.orders.len() as u32, short.ways),
            Policy::Lru(rings) => rings.clear(),
            Policy::Plru(trees) => trees.clear(),
            Policy::Drawn(drawn) => drawn.draws.fill(0),
        }
    }
}

/// The order of up to 16 ways, one word per set.
#[derive(Clone, Debug)]
pub(crate) struct Short {
    ways: u32,
    orders: Vec<Order>,
}

impl Short {
    fn new(sets: u32, ways: u32) -> Short {
        Short { ways, orders: vec![Order::new(ways); sets as usize] }
    }

    #[inline(always)]
    fn touch(&mut self, set: u32, way: u32) {
        self.orders[set as usize].touch(way);
    }

    #[inline(always)]
    fn oldest(&self, set: u32) -> u32 {
        self.orders[set as usize].oldest(self.ways)
    }

    #[inline(always)]
    fn take_oldest(&mut self, set: u32) -> u32 {
        self.orders[set as usize].take_oldest(self.ways)
    }

    fn retire(&mut self, set: u32, way: u32) {
        self.orders[set as usize].retire(way, self.ways);
    }
}

/// Ways drawn from a fixed sequence. The sequence depends on the set and on the number of earlier draws, so sets are
/// independent of each other.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    sums: Vec<u32>,
    draws: Vec<u32>,
}

impl Drawn {
    fn new(sets: u32, weights: Vec<u32>) -> Drawn {
        let mut sum = 0;
        let sums = weights.iter().map(|weight| {
            sum += weight;
            sum
        });
        Drawn { sums: sums.collect(), draws: vec![0; sets as usize] }
    }

    #[inline]
    fn draw(&mut self, set: u32) -> u32 {
        let count = &mut self.draws[set as usize];
        *count = count.wrapping_add(1);
        let mut mixed = (u64::from(set) << 32 | u64::from(*count)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^= mixed >> 32;
        let total = self.sums.last().copied().unwrap_or(1).max(1);
        let point = (((mixed & 0xffff_ffff) * u64::from(total)) >> 32) as u32;
        self.sums.partition_point(|sum| *sum <= point) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_ring_keeps_the_order_of_use(ways in 1u32..40, moves in prop::collection::vec((any::<bool>(), any::<u32>()), 0..200)) {
            let mut rings = Rings::new(2, ways);
            let mut short = (ways <= 16).then(|| Short::new(2, ways));
            let mut slow: Vec<u32> = (0..ways).collect();
            for (retire, number) in moves {
                let way = number % ways;
                slow.retain(|other| *other != way);
                if retire && number % 3 == 0 {
                    rings.ring(1).retire(way as u16);
                    slow.insert(0, way);
                } else {
                    rings.ring(1).touch(way as u16);
                    slow.push(way);
                }
                prop_assert_eq!(u32::from(rings.ring(1).oldest()), slow[0]);
                if let Some(short) = &mut short {
                    let mut copy = short.clone();
                    copy.take_oldest(1);
                    let mut other = short.clone();
                    other.touch(1, other.oldest(1));
                    prop_assert_eq!(&copy.orders, &other.orders);
                    if retire && number % 3 == 0 { short.retire(1, way) } else { short.touch(1, way) }
                    prop_assert_eq!(short.oldest(1), slow[0]);
                }
            }
        }
    }

    #[test]
    fn weighted_ways_leave_in_proportion() {
        let mut drawn = Drawn::new(1, vec![1, 1, 3, 1]);
        let mut counts = [0u32; 4];
        for _ in 0..60_000 {
            counts[drawn.draw(0) as usize] += 1;
        }
        for (count, want) in counts.iter().zip([10_000, 10_000, 30_000, 10_000]) {
            assert!(count.abs_diff(want) < 400, "{counts:?}");
        }
    }
}
