//! Counts the lanes of one site's atomic operations that access the same address.

use warpline_format::access::{Access, LANES};
use warpline_format::event::AllocationId;

use super::hottest::{Addresses, HotAddress};

/// Address collisions of a site's atomic operations.
#[derive(Clone, Debug, Default)]
pub struct Collisions {
    /// Requests.
    pub requests: u64,
    /// Lanes.
    pub lanes: u64,
    /// Distinct addresses per request, summed.
    pub distinct: u64,
    /// Lanes on the request's most frequent address, summed over requests.
    pub deepest: u64,
    /// The locations that most lanes accessed, over launches, in descending order. See [`Self::settle`].
    pub hot: Vec<HotPlace>,
    addresses: Addresses,
}

/// A location that many operations access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HotPlace {
    /// Allocation.
    pub allocation: AllocationId,
    /// Byte offset from the start of the allocation.
    pub offset: u64,
    /// Upper bound of the lanes that accessed it in the same request.
    pub lanes: u64,
    /// Upper bound of the requests that accessed it.
    pub requests: u64,
}

/// Maximum number of locations that are kept over launches, and of each launch.
const MOST_PLACES: usize = 16;
const MOST_OF_LAUNCH: usize = 4;

impl Collisions {
    /// Adds a request. `places` are tracked for global memory only.
    pub(super) fn request(&mut self, access: &Access<'_>, meetings: &mut Meetings, places: bool) {
        self.requests += 1;
        self.lanes += u64::from(access.mask.count_ones());
        let mut deepest = 0;
        for &(address, lanes) in meetings.lanes_by_address(access) {
            self.distinct += 1;
            deepest = deepest.max(lanes);
            if places {
                self.addresses.add(address, lanes, 1);
            }
        }
        self.deepest += deepest;
    }

    /// Returns the addresses of the operations; empty after [`Self::settle`].
    pub(super) fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// Converts addresses to locations within allocations. This must be done while the launch's allocations are
    /// current, because addresses are reused later.
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

/// Number of table slots: twice the number of lanes, so that searches are short.
const TABLE: usize = 2 * LANES;

/// Counts the lanes of a request by address, and reuses its memory.
#[derive(Debug, Default)]
pub(super) struct Meetings {
    /// Indexed by hash: the last request that used the slot, and the address's index in `found`.
    table: Vec<(u64, u32)>,
    request: u64,
    found: Vec<(u64, u64)>,
}

impl Meetings {
    /// Returns the distinct addresses of a request in lane order, each with its number of lanes.
    fn lanes_by_address(&mut self, access: &Access<'_>) -> &[(u64, u64)] {
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
        /// Compares collisions with counts in a map, for any division of the requests among workers.
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
