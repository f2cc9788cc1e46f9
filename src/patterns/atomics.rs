//! What atomic operations of one site meet on one address.

use rustc_hash::FxHashMap;
use warpline_format::access::{Access, LANES};
use warpline_format::event::AllocationId;

use super::majority::Majority;

/// Distinct addresses that are kept exactly; of more, only those that meet far more than their share matter.
const MOST_EXACT: usize = 4096;
/// Buckets that addresses are hashed to where there are more.
const BUCKETS: usize = 64;
/// Bits of an address that are kept.
const ADDRESS_BITS: usize = 48;

/// Collisions of a site's atomic operations.
#[derive(Clone, Debug, Default)]
pub struct Collisions {
    /// Requests.
    pub requests: u64,
    /// Lanes.
    pub lanes: u64,
    /// Distinct addresses per request, summed.
    pub distinct: u64,
    /// Lanes on the address that most lanes of the request meet, summed.
    pub deepest: u64,
    /// The places that most lanes met, over launches; most first. See [`Self::settle`].
    pub hot: Vec<HotPlace>,
    addresses: Addresses,
}

/// What meets where, until [`Collisions::settle`].
#[derive(Clone, Debug)]
enum Addresses {
    /// Lanes and requests of each address.
    Exact(FxHashMap<u64, (u64, u64)>),
    /// By hash of the address. What is exact becomes this when there are too many, whoever has counted them: so the result does
    /// not depend on how requests were shared among workers.
    Hashed(Box<[Bucket; BUCKETS]>),
}

impl Default for Addresses {
    fn default() -> Self {
        Addresses::Exact(FxHashMap::default())
    }
}

impl Addresses {
    fn add(&mut self, address: u64, lanes: u64, requests: u64) {
        match self {
            Addresses::Exact(exact) => {
                let (all_lanes, all_requests) = exact.entry(address).or_default();
                *all_lanes = all_lanes.saturating_add(lanes);
                *all_requests = all_requests.saturating_add(requests);
                if exact.len() > MOST_EXACT {
                    self.hash();
                }
            }
            Addresses::Hashed(buckets) => buckets[bucket(address)].add(address, lanes, requests),
        }
    }

    fn hash(&mut self) {
        if let Addresses::Exact(exact) = self {
            let mut buckets: Box<[Bucket; BUCKETS]> = Box::new(std::array::from_fn(|_| Bucket::default()));
            for (&address, &(lanes, requests)) in exact.iter() {
                buckets[bucket(address)].add(address, lanes, requests);
            }
            *self = Addresses::Hashed(buckets);
        }
    }

    fn merge(&mut self, other: &Addresses) {
        match other {
            Addresses::Exact(exact) => {
                exact.iter().for_each(|(&address, &(lanes, requests))| self.add(address, lanes, requests));
            }
            Addresses::Hashed(theirs) => {
                self.hash();
                let Addresses::Hashed(ours) = self else { return };
                for (ours, theirs) in ours.iter_mut().zip(theirs.iter()) {
                    ours.lanes = ours.lanes.saturating_add(theirs.lanes);
                    ours.requests = ours.requests.saturating_add(theirs.requests);
                    ours.address.merge(&theirs.address);
                }
            }
        }
    }

    /// The addresses that most lanes met, most first. Hashed ones have more than half of the lanes of those hashed with them.
    fn hottest(&self, most: usize) -> Vec<HotAddress> {
        let mut hot: Vec<HotAddress> = match self {
            Addresses::Exact(exact) => {
                let each =
                    |(&address, &(lanes, requests)): (&u64, &(u64, u64))| HotAddress { address, lanes, requests };
                exact.iter().map(each).collect()
            }
            Addresses::Hashed(buckets) => buckets.iter().filter_map(Bucket::hot).collect(),
        };
        hot.sort_by_key(|hot| (std::cmp::Reverse(hot.lanes), hot.address));
        hot.truncate(most);
        hot
    }
}

/// A place that many operations meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HotPlace {
    /// Allocation.
    pub allocation: AllocationId,
    /// Bytes from the allocation's begin.
    pub offset: u64,
    /// Lanes that met there, at most.
    pub lanes: u64,
    /// Requests that did, at most.
    pub requests: u64,
}

/// Places that are kept over launches, and of each launch.
const MOST_PLACES: usize = 16;
const MOST_OF_LAUNCH: usize = 4;

#[derive(Clone, Debug, Default)]
struct Bucket {
    /// Lanes.
    lanes: u64,
    /// Requests that touch the majority's address, at most: each counts once an address.
    requests: u64,
    address: Majority<ADDRESS_BITS>,
}

/// An address that many operations meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct HotAddress {
    address: u64,
    lanes: u64,
    requests: u64,
}

impl Bucket {
    fn add(&mut self, address: u64, lanes: u64, requests: u64) {
        self.lanes = self.lanes.saturating_add(lanes);
        self.requests = self.requests.saturating_add(requests);
        self.address.add(address, lanes);
    }

    fn hot(&self) -> Option<HotAddress> {
        let (address, lanes) = self.address.found();
        (lanes > self.lanes / 2).then_some(HotAddress { address, lanes, requests: self.requests })
    }
}

fn bucket(address: u64) -> usize {
    // Fibonacci hashing: neighbouring addresses spread over the buckets.
    ((address >> 2).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize
}

impl Collisions {
    /// Adds a request; `places` are wanted of global memory only.
    pub(super) fn request(&mut self, access: &Access<'_>, meetings: &mut Meetings, places: bool) {
        self.requests += 1;
        self.lanes += u64::from(access.mask.count_ones());
        let mut deepest = 0;
        for &(address, lanes) in meetings.of(access) {
            self.distinct += 1;
            deepest = deepest.max(lanes);
            if places {
                self.addresses.add(address, lanes, 1);
            }
        }
        self.deepest += deepest;
    }

    /// Turns addresses into places, while the launch's memory is as it was: addresses have another meaning later.
    pub fn settle(&mut self, place: impl Fn(u64) -> Option<(AllocationId, u64)>) {
        for HotAddress { address, lanes, requests } in self.addresses.hottest(MOST_OF_LAUNCH) {
            let Some((allocation, offset)) = place(address) else { continue };
            self.keep(HotPlace { allocation, offset, lanes, requests });
        }
        self.addresses = Addresses::default();
    }

    fn keep(&mut self, place: HotPlace) {
        let same = |known: &&mut HotPlace| (known.allocation, known.offset) == (place.allocation, place.offset);
        match self.hot.iter_mut().find(same) {
            Some(known) => {
                known.lanes = known.lanes.saturating_add(place.lanes);
                known.requests = known.requests.saturating_add(place.requests);
            }
            None => self.hot.push(place),
        }
        self.hot.sort_by_key(|hot| (std::cmp::Reverse(hot.lanes), hot.allocation, hot.offset));
        self.hot.truncate(MOST_PLACES);
    }

    pub(super) fn add(&mut self, other: &Collisions) {
        other.hot.iter().for_each(|place| self.keep(*place));
        self.requests = self.requests.saturating_add(other.requests);
        self.lanes = self.lanes.saturating_add(other.lanes);
        self.distinct = self.distinct.saturating_add(other.distinct);
        self.deepest = self.deepest.saturating_add(other.deepest);
        self.addresses.merge(&other.addresses);
    }
}

/// Places of the table that lanes are counted in: twice as many as lanes, so that searches are short.
const TABLE: usize = 2 * LANES;

/// Counts the lanes of a request by address, again and again in the same memory.
#[derive(Debug, Default)]
pub(super) struct Meetings {
    /// By hash: the request that used the place last, and the address's place in `found`.
    table: Vec<(u64, u32)>,
    request: u64,
    found: Vec<(u64, u64)>,
}

impl Meetings {
    /// Addresses of a request, in lane order, each with how many lanes have it.
    fn of(&mut self, access: &Access<'_>) -> &[(u64, u64)] {
        self.found.clear();
        if let warpline_format::access::Addresses::Uniform(address) = access.addresses {
            self.found.push((address, u64::from(access.mask.count_ones())));
            return &self.found;
        }
        self.table.resize(TABLE, (0, 0));
        self.request += 1;
        access.for_each_lane(|_, address| {
            let mut place = (address >> 2).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> 58;
            loop {
                let (request, index) = self.table[place];
                if request != self.request {
                    self.table[place] = (self.request, self.found.len() as u32);
                    self.found.push((address, 1));
                    break;
                }
                let (known, lanes) = &mut self.found[index as usize];
                if *known == address {
                    *lanes += 1;
                    break;
                }
                place = (place + 1) % TABLE;
            }
        });
        &self.found
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use warpline_format::access::Space;

    use super::*;

    #[test]
    fn the_hottest_address_is_found_among_others() {
        let (mut collisions, mut meetings) = (Collisions::default(), Meetings::default());
        for round in 0..1000u64 {
            let lane = |lane: u64| {
                if lane.is_multiple_of(2) { 0x7000_1234 } else { 0x7000_0000 + (round * 31 + lane) % 4096 * 4 }
            };
            let bytes: Vec<u8> = (0..32).flat_map(|index| lane(index).to_le_bytes()).collect();
            let access = Access {
                site: 0,
                space: Space::Global,
                mask: !0,
                addresses: warpline_format::access::Addresses::Full(&bytes),
            };
            collisions.request(&access, &mut meetings, true);
        }
        let hot = collisions.addresses.hottest(3);
        assert_eq!(hot[0].address, 0x7000_1234, "{hot:?}");
        assert!((16_000..17_000).contains(&hot[0].lanes), "{hot:?}");
        assert!(collisions.deepest >= 16_000 && collisions.distinct <= 17_000 && collisions.lanes == 32_000);
    }

    proptest! {
        /// Against counting one by one; and the same whoever counted which part.
        #[test]
        fn meetings_are_those_of_a_map(
            requests in prop::collection::vec(prop::collection::vec(0u64..40, 32), 1..40), spread in 1u64..400, cut in 0usize..40,
        ) {
            let mut meetings = Meetings::default();
            let (mut whole, mut one, mut two) = (Collisions::default(), Collisions::default(), Collisions::default());
            let mut slow: std::collections::BTreeMap<u64, u64> = std::collections::BTreeMap::new();
            let mut deepest = 0;
            for (index, lanes) in requests.iter().enumerate() {
                let address = |lane: &u64| 0x7000_0000 + (lane * spread + index as u64 % 7 * spread * 50) * 4;
                let bytes: Vec<u8> = lanes.iter().flat_map(|lane| address(lane).to_le_bytes()).collect();
                let access = Access {
                    site: 0, space: Space::Global, mask: !0, addresses: warpline_format::access::Addresses::Full(&bytes),
                };
                lanes.iter().for_each(|lane| *slow.entry(address(lane)).or_default() += 1);
                deepest += lanes.iter().map(|lane| lanes.iter().filter(|other| *other == lane).count()).max().unwrap_or(0) as u64;
                whole.request(&access, &mut meetings, true);
                if index < cut { &mut one } else { &mut two }.request(&access, &mut meetings, true);
            }
            one.add(&two);
            prop_assert_eq!((one.deepest, one.distinct, one.lanes), (whole.deepest, whole.distinct, whole.lanes));
            prop_assert_eq!((whole.deepest, whole.lanes), (deepest, slow.values().sum::<u64>()));
            let hot = whole.addresses.hottest(usize::MAX);
            prop_assert_eq!(&one.addresses.hottest(usize::MAX), &hot);
            prop_assert_eq!(hot.iter().map(|hot| (hot.address, hot.lanes)).collect::<std::collections::BTreeMap<_, _>>(), slow);
        }
    }
}
