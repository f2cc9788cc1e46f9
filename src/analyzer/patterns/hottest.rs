//! The addresses that most operations meet, in bounded memory.
//!
//! Few addresses are counted one by one. Of more, a sketch keeps sums: by hash of the address a majority for each
//! bucket, which shows *which* address stands out, and a count-min table (Cormode and Muthukrishnan, "An Improved Data
//! Stream Summary", 2005), which bounds *how much* it has. Sums do not depend on the order of what is added, nor on how
//! requests are shared among workers, as the counters of Misra and Gries would.

use rustc_hash::FxHashMap;

use super::majority::Majority;

/// Distinct addresses that are kept exactly; of more, only those that meet far more than their share matter.
const MOST_EXACT: usize = 4096;
/// Buckets that addresses are hashed to where there are more: an address with more than a 64th of all lanes has,
/// mostly, more than half of its bucket's.
const BUCKETS: usize = 64;
/// Bits of an address that are kept.
const ADDRESS_BITS: usize = 48;
/// Rows and counters of a row of the count-min table: a count is too high by more than 0.3 % of all lanes in one of 55
/// cases.
const ROWS: usize = 4;
const COUNTERS: usize = 1024;

/// What meets where.
#[derive(Clone, Debug)]
pub(super) enum Addresses {
    /// Lanes and requests of each address.
    Exact(FxHashMap<u64, (u64, u64)>),
    /// By hash of the address. What is exact becomes this when there are too many, whoever has counted them: so the
    /// result does not depend on how requests were shared among workers.
    Hashed(Box<Sketch>),
}

impl Default for Addresses {
    fn default() -> Self {
        Addresses::Exact(FxHashMap::default())
    }
}

/// An address that many operations meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HotAddress {
    pub(super) address: u64,
    /// Upper bound of the lanes that access the address.
    pub(super) lanes: u64,
    /// Upper bound of the requests that access the address.
    pub(super) requests: u64,
}

impl Addresses {
    pub(super) fn add(&mut self, address: u64, lanes: u64, requests: u64) {
        match self {
            Addresses::Exact(exact) => {
                let (all_lanes, all_requests) = exact.entry(address).or_default();
                *all_lanes = all_lanes.saturating_add(lanes);
                *all_requests = all_requests.saturating_add(requests);
                if exact.len() > MOST_EXACT {
                    self.hash();
                }
            }
            Addresses::Hashed(sketch) => sketch.add(address, lanes, requests),
        }
    }

    fn hash(&mut self) {
        if let Addresses::Exact(exact) = self {
            let mut sketch = Box::<Sketch>::default();
            exact.iter().for_each(|(&address, &(lanes, requests))| sketch.add(address, lanes, requests));
            *self = Addresses::Hashed(sketch);
        }
    }

    pub(super) fn merge(&mut self, other: &Addresses) {
        match other {
            Addresses::Exact(exact) => {
                exact.iter().for_each(|(&address, &(lanes, requests))| self.add(address, lanes, requests));
            }
            Addresses::Hashed(theirs) => {
                self.hash();
                if let Addresses::Hashed(ours) = self {
                    ours.merge(theirs);
                }
            }
        }
    }

    /// Returns the addresses that most lanes met, most first. Hashed ones have more than half of the lanes of those hashed with
    /// them.
    pub(super) fn hottest(&self, most: usize) -> Vec<HotAddress> {
        let mut hot: Vec<HotAddress> = match self {
            Addresses::Exact(exact) => {
                let each =
                    |(&address, &(lanes, requests)): (&u64, &(u64, u64))| HotAddress { address, lanes, requests };
                exact.iter().map(each).collect()
            }
            Addresses::Hashed(sketch) => sketch.hot(),
        };
        hot.sort_by_key(|hot| (std::cmp::Reverse(hot.lanes), hot.address));
        hot.truncate(most);
        hot
    }
}

/// Sums over more addresses than are counted one by one.
#[derive(Clone, Debug)]
pub(super) struct Sketch {
    buckets: [Bucket; BUCKETS],
    /// Lanes, by row and hash.
    counters: [[u64; COUNTERS]; ROWS],
}

impl Default for Sketch {
    fn default() -> Self {
        Sketch { buckets: std::array::from_fn(|_| Bucket::default()), counters: [[0; COUNTERS]; ROWS] }
    }
}

impl Sketch {
    fn add(&mut self, address: u64, lanes: u64, requests: u64) {
        self.buckets[bucket(address)].add(address, lanes, requests);
        for (row, counters) in self.counters.iter_mut().enumerate() {
            let counter = &mut counters[counter(address, row)];
            *counter = counter.saturating_add(lanes);
        }
    }

    fn merge(&mut self, other: &Sketch) {
        for (ours, theirs) in self.buckets.iter_mut().zip(&other.buckets) {
            ours.lanes = ours.lanes.saturating_add(theirs.lanes);
            ours.requests = ours.requests.saturating_add(theirs.requests);
            ours.address.merge(&theirs.address);
        }
        for (ours, theirs) in self.counters.iter_mut().flatten().zip(other.counters.iter().flatten()) {
            *ours = ours.saturating_add(*theirs);
        }
    }

    /// Returns the address of each bucket that has more than half of its lanes.
    fn hot(&self) -> Vec<HotAddress> {
        let of_bucket = |bucket: &Bucket| {
            let (address, weight) = bucket.address.found();
            let rows = self.counters.iter().enumerate().map(|(row, counters)| counters[counter(address, row)]);
            let lanes = rows.fold(weight, u64::min);
            (lanes > bucket.lanes / 2).then_some(HotAddress { address, lanes, requests: bucket.requests.min(lanes) })
        };
        self.buckets.iter().filter_map(of_bucket).collect()
    }
}

#[derive(Clone, Debug, Default)]
struct Bucket {
    /// Lanes.
    lanes: u64,
    /// Requests that touch the majority's address, at most: each counts once an address.
    requests: u64,
    address: Majority<ADDRESS_BITS>,
}

impl Bucket {
    fn add(&mut self, address: u64, lanes: u64, requests: u64) {
        self.lanes = self.lanes.saturating_add(lanes);
        self.requests = self.requests.saturating_add(requests);
        self.address.add(address, lanes);
    }
}

fn bucket(address: u64) -> usize {
    // Fibonacci hashing: neighbouring addresses spread over the buckets.
    ((address >> 2).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize
}

/// Where a row of the table counts an address: another odd factor for each row, whose high bits are mixed with the
/// rest.
fn counter(address: u64, row: usize) -> usize {
    const FACTORS: [u64; ROWS] =
        [0xd6e8_feb8_6659_fd93, 0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53, 0xbf58_476d_1ce4_e5b9];
    let mixed = ((address >> 2) ^ (address >> 33)).wrapping_mul(FACTORS[row]);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 54) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn even_spread_over_many_addresses_has_no_hottest() {
        // A histogram of 64 Ki bins that all get as much: no address may pass for one that stands out.
        let mut addresses = Addresses::default();
        (0..1u64 << 18).for_each(|index| addresses.add(0x7f00_0000_0000 + index % 65_536 * 4, 4, 1));
        assert_eq!(addresses.hottest(3), []);
    }

    proptest! {
        /// Against an exact count: an address with a fifteenth of all lanes is found among many, never with less than
        /// it has, and with at most a hundredth of all lanes more; the same whoever counted which part.
        #[test]
        fn heavy_hitters_are_those_of_an_exact_count(
            hot in prop::collection::vec(0u64..20_000, 1..4), others in 4097u64..20_000, share in 1u64..8, spread in 1u64..100,
            cut in 0u64..20_000,
        ) {
            let address = |index: u64| 0x7f00_0000_0000 + index * spread * 4;
            let mut slow: BTreeMap<u64, u64> = BTreeMap::new();
            let (mut whole, mut one, mut two) = (Addresses::default(), Addresses::default(), Addresses::default());
            let heavy = others * share / 8;
            let all = (0..others).map(|index| (address(index), 1)).chain(hot.iter().map(|&index| (address(index), heavy)));
            for (number, (address, lanes)) in (0..).zip(all) {
                *slow.entry(address).or_default() += lanes;
                whole.add(address, lanes, 1);
                if number < cut { &mut one } else { &mut two }.add(address, lanes, 1);
            }
            one.merge(&two);
            let found = whole.hottest(usize::MAX);
            prop_assert_eq!(&one.hottest(usize::MAX), &found);
            let total: u64 = slow.values().sum();
            for (&address, &lanes) in slow.iter().filter(|&(_, &lanes)| lanes >= total / 15) {
                let hot = found.iter().find(|hot| hot.address == address);
                // Two that share a bucket may hide each other.
                let alone = slow.iter().all(|(&other, &lanes)| other == address || lanes < total / 15 || bucket(other) != bucket(address));
                prop_assert!(hot.is_some() || !alone, "{address:#x} has {lanes} of {total}: {found:?}");
                if let Some(hot) = hot {
                    prop_assert!((lanes..=lanes + total / 100).contains(&hot.lanes), "{hot:?}: {lanes} of {total}");
                }
            }
        }
    }
}
