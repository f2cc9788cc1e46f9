//! Joins lanes that use consecutive elements, or the same element, in any request.
//!
//! Rows of a block end within a warp, and lanes of a gather often share elements. The comparisons of neighbouring lanes
//! have no branch, so that the compiler does several at a time.

use warpline_format::access::{Access, Addresses, LANES};

use super::elements::class_of;

/// Neighbouring active lanes, in lane order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LaneRun {
    /// Address of the first lane.
    pub(super) address: u64,
    /// Number of active lanes.
    pub(super) lanes: u32,
    /// Whether all lanes use the first lane's element; otherwise, each uses the element after that of the previous one.
    pub(super) shared: bool,
}

/// The runs of a request whose elements all have a common width; see [`class_of`].
pub(super) struct LaneRuns {
    addresses: [u64; LANES],
    /// One bit for each active lane that is followed by a lane with the next element, and with the same element.
    next: u32,
    same: u32,
    at: u32,
    count: u32,
}

/// Limit of addresses: the end of a request does not wrap.
const HIGHEST: u64 = u64::MAX - (1 << 16);

impl LaneRuns {
    /// Compares the lanes of a request of `bytes` bytes per lane; `None` if an element is not aligned.
    #[inline(always)]
    pub(super) fn new(access: &Access<'_>, bytes: u32) -> Option<LaneRuns> {
        class_of(0, bytes)?;
        let count = access.mask.count_ones();
        let mut addresses = [0; LANES];
        match access.addresses {
            Addresses::Delta(base, deltas) => {
                for (address, delta) in addresses.iter_mut().zip(deltas.as_chunks::<4>().0) {
                    *address = base.wrapping_add(u64::from(u32::from_le_bytes(*delta)));
                }
            }
            Addresses::Full(bytes) => {
                for (address, bytes) in addresses.iter_mut().zip(bytes.as_chunks::<8>().0) {
                    *address = u64::from_le_bytes(*bytes);
                }
            }
            Addresses::Uniform(_) | Addresses::Affine { .. } => {
                let mut index = 0;
                access.for_each_lane(|_, address| {
                    addresses[index % LANES] = address;
                    index += 1;
                });
            }
        }
        let active = u32::MAX >> (LANES as u32 - count);
        let (mut next, mut same, mut misaligned) = (0u32, 0u32, 0u64);
        for (lane, &address) in addresses.iter().enumerate() {
            let wrong = address & u64::from(bytes - 1) | u64::from(address > HIGHEST);
            misaligned |= if active >> lane & 1 == 1 { wrong } else { 0 };
        }
        for lane in 1..LANES {
            let step = addresses[lane].wrapping_sub(addresses[lane - 1]);
            next |= u32::from(step == u64::from(bytes)) << (lane - 1);
            same |= u32::from(step == 0) << (lane - 1);
        }
        let followed = active >> 1;
        let runs = LaneRuns { addresses, next: next & followed, same: same & followed, at: 0, count };
        (misaligned == 0).then_some(runs)
    }
}

impl Iterator for LaneRuns {
    type Item = LaneRun;

    #[inline(always)]
    fn next(&mut self) -> Option<LaneRun> {
        let at = self.at;
        if at >= self.count {
            return None;
        }
        let shared = self.same >> at & 1 == 1;
        let lanes = 1 + ((if shared { self.same } else { self.next }) >> at).trailing_ones();
        self.at += lanes;
        Some(LaneRun { address: self.addresses[at as usize % LANES], lanes, shared })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use warpline_format::access::{Item, Items, Space, push_access};

    proptest! {
        #[test]
        fn runs_contain_the_lanes_in_order(
            mask in 1u32.., steps in prop::collection::vec(prop_oneof![3 => Just(1u64), 2 => Just(0), 1 => 0u64..1 << 36], 32),
            log in 0u32..6, base in prop_oneof![Just(1u64 << 20), Just(u64::MAX / 2)], aligned in prop::bool::weighted(0.9),
        ) {
            let bytes = 1u32 << log;
            let mut last = (base & !31) + u64::from(!aligned);
            let addresses: Vec<u64> = steps.iter().take(mask.count_ones() as usize).map(|step| {
                last += step * u64::from(bytes);
                last
            }).collect();
            let mut items = Vec::new();
            push_access(&mut items, Space::Global, 0, mask, &addresses);
            let Some(Ok(Item::Access(access))) = Items::new(&items).next() else { panic!("no access") };
            let Some(runs) = LaneRuns::new(&access, bytes) else {
                prop_assert!(bytes > 16 || !aligned && bytes > 1);
                return Ok(());
            };
            let mut got = Vec::new();
            for run in runs {
                let step = if run.shared { 0 } else { u64::from(bytes) };
                got.extend((0..u64::from(run.lanes)).map(|lane| run.address + lane * step));
            }
            prop_assert_eq!(got, addresses);
        }
    }
}
