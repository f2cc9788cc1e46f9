//! What atomic operations of one site meet on one address.

use warpline_format::access::{Access, LANES};
use warpline_format::event::AllocationId;

use super::majority::Majority;

/// Buckets that addresses are hashed to.
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
    buckets: Option<Box<[Bucket; BUCKETS]>>,
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

fn bucket(address: u64) -> usize {
    // Fibonacci hashing: neighbouring addresses spread over the buckets.
    ((address >> 2).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize
}

impl Collisions {
    pub(super) fn request(&mut self, access: &Access<'_>) {
        let mut addresses = [0u64; LANES];
        let mut count = 0;
        access.for_each_lane(|_, address| {
            addresses[count] = address;
            count += 1;
        });
        let addresses = &mut addresses[..count];
        addresses.sort_unstable();
        self.requests += 1;
        self.lanes += count as u64;
        let mut deepest = 0;
        let buckets = self.buckets.get_or_insert_with(|| Box::new(std::array::from_fn(|_| Bucket::default())));
        for same in addresses.chunk_by(|one, other| one == other) {
            let lanes = same.len() as u64;
            self.distinct += 1;
            deepest = deepest.max(lanes);
            let bucket = &mut buckets[bucket(same[0])];
            bucket.lanes += lanes;
            bucket.requests += 1;
            bucket.address.add(same[0], lanes);
        }
        self.deepest += deepest;
    }

    /// Turns addresses into places, while the launch's memory is as it was: addresses have another meaning later.
    pub fn settle(&mut self, place: impl Fn(u64) -> Option<(AllocationId, u64)>) {
        for HotAddress { address, lanes, requests } in self.hottest(MOST_OF_LAUNCH) {
            let Some((allocation, offset)) = place(address) else { continue };
            self.keep(HotPlace { allocation, offset, lanes, requests });
        }
        self.buckets = None;
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
        let Some(others) = &other.buckets else { return };
        let Some(buckets) = &mut self.buckets else {
            self.buckets = Some(others.clone());
            return;
        };
        for (ours, theirs) in buckets.iter_mut().zip(others.iter()) {
            ours.lanes = ours.lanes.saturating_add(theirs.lanes);
            ours.requests = ours.requests.saturating_add(theirs.requests);
            ours.address.merge(&theirs.address);
        }
    }

    /// The addresses that most lanes met, most first. Each has more than half of the lanes of those that are hashed with it.
    fn hottest(&self, most: usize) -> Vec<HotAddress> {
        let buckets = self.buckets.iter().flat_map(|buckets| buckets.iter());
        let mut hot: Vec<HotAddress> = buckets
            .filter(|bucket| bucket.lanes != 0 && bucket.address.share() > bucket.lanes / 2)
            .map(|bucket| HotAddress {
                address: bucket.address.value(),
                lanes: bucket.address.share(),
                requests: bucket.requests,
            })
            .collect();
        hot.sort_by_key(|hot| (std::cmp::Reverse(hot.lanes), hot.address));
        hot.truncate(most);
        hot
    }
}

#[cfg(test)]
mod tests {
    use warpline_format::access::{Addresses, Space};

    use super::*;

    #[test]
    fn the_hottest_address_is_found_among_others() {
        let mut collisions = Collisions::default();
        for round in 0..1000u64 {
            let lane = |lane: u64| {
                if lane.is_multiple_of(2) { 0x7000_1234 } else { 0x7000_0000 + (round * 31 + lane) % 4096 * 4 }
            };
            let bytes: Vec<u8> = (0..32).flat_map(|index| lane(index).to_le_bytes()).collect();
            let access = Access { site: 0, space: Space::Global, mask: !0, addresses: Addresses::Full(&bytes) };
            collisions.request(&access);
        }
        let hot = collisions.hottest(3);
        assert_eq!(hot[0].address, 0x7000_1234, "{hot:?}");
        assert!((16_000..17_000).contains(&hot[0].lanes), "{hot:?}");
        assert!(collisions.deepest >= 16_000 && collisions.distinct <= 17_000 && collisions.lanes == 32_000);
    }
}
