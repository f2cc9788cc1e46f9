//! Finds the addresses that most operations access, in bounded memory.
//!
//! A small number of addresses is counted exactly. For a larger number, a sketch keeps sums. A majority value per hash
//! bucket shows *which* address is frequent. A count-min table (Cormode and Muthukrishnan, "An Improved Data Stream
//! Summary", 2005) gives an upper bound of *how* frequent it is. In contrast to the counters of Misra and Gries, sums
//! depend neither on the order of operations nor on their division among workers.

use rustc_hash::FxHashMap;

use super::majority::Majority;

/// Maximum number of addresses that are counted exactly. With more addresses, only those that are far above average
/// matter.
const MOST_EXACT: usize = 4096;
/// Number of hash buckets. An address with more than a 64th of all lanes usually has more than half of the lanes of its
/// bucket.
const BUCKETS: usize = 64;
/// Number of address bits that are kept.
const ADDRESS_BITS: usize = 48;
/// Number of rows, and of counters per row, of the count-min table. A count is more than 0.3 % of all lanes too high in
/// one of 55 cases.
const ROWS: usize = 4;
const COUNTERS: usize = 1024;

/// Number of operations by address.
#[derive(Clone, Debug)]
pub(super) enum Addresses {
    /// Exact lanes and requests of each address.
    Exact(FxHashMap<u64, (u64, u64)>),
    /// Sums by hash. Exact counts are converted when there are too many addresses in total, so the result does not
    /// depend on the division of requests among workers.
    Hashed(Box<Sketch>),
}

impl Default for Addresses {
    fn default() -> Self {
        Addresses::Exact(FxHashMap::default())
    }
}

/// An address that many operations access.
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

    /// Returns the addresses with the most lanes, in descending order. In a sketch, these are addresses with more than
    /// half of the lanes of their bucket.
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

/// Sums for too many addresses to be counted exactly.
#[derive(Clone, Debug)]
pub(super) struct Sketch {
    buckets: [Bucket; BUCKETS],
    /// Number of lanes, by row and hash.
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

    /// Returns the address of each bucket that has more than half of the bucket's lanes.
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
    /// Number of lanes.
    lanes: u64,
    /// Upper bound of the requests that access the majority address. Each request counts once per address.
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
    // Fibonacci hashing spreads neighbouring addresses over the buckets.
    ((address >> 2).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize
}

/// Returns the counter of an address in a row of the table. Each row uses another odd factor and mixes its high bits
/// with the others.
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
        // All 64 Ki bins of a histogram are equally frequent, so no address may be reported as frequent.
        let mut addresses = Addresses::default();
        (0..1u64 << 18).for_each(|index| addresses.add(0x7f00_0000_0000 + index % 65_536 * 4, 4, 1));
        assert_eq!(addresses.hottest(3), []);
    }

    proptest! {
        /// Compares the sketch with an exact count. An address with a fifteenth of all lanes is found among many
        /// addresses. Its count is never too low, and is too high by at most a hundredth of all lanes. The result does
        /// not depend on the division of requests.
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
                // Two frequent addresses in one bucket may hide each other.
                let alone = slow.iter().all(|(&other, &lanes)| other == address || lanes < total / 15 || bucket(other) != bucket(address));
                prop_assert!(hot.is_some() || !alone, "{address:#x} has {lanes} of {total}: {found:?}");
                if let Some(hot) = hot {
                    prop_assert!((lanes..=lanes + total / 100).contains(&hot.lanes), "{hot:?}: {lanes} of {total}");
                }
            }
        }
    }
}
