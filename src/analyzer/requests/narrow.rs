//! Allocations whose elements the simulation assumes to be smaller than in the program. Their addresses and the widths
//! of accesses shrink accordingly.

use std::collections::BTreeMap;

use warpline_format::access::{Access, Addresses, LANES, Space};
use warpline_format::event::AllocationId;

use crate::attribution::AllocationMap;
use warpline_simulator::geometry::Width;

/// Bytes of an element before and after, by row of allocations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Narrowed(BTreeMap<AllocationId, (u32, u32)>);

impl Narrowed {
    /// Creates the set from the bytes of an element before and after, by row of allocations.
    pub fn new(rows: impl IntoIterator<Item = (AllocationId, (u32, u32))>) -> Narrowed {
        Narrowed(rows.into_iter().filter(|(_, (from, to))| *to > 0 && from > to).collect())
    }

    /// Returns whether no allocation is smaller.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a range of bytes of an allocation in its smaller form: the first address and the number of bytes.
    pub fn range(&self, map: &AllocationMap, address: u64, bytes: u64) -> Option<(u64, u64)> {
        let &(from, to) = self.0.get(&map.find(address).allocation?)?;
        let start = map.start(address)?;
        let shrink = |offset: u64| (u128::from(offset) * u128::from(to) / u128::from(from)) as u64;
        let first = shrink(address - start);
        let last = shrink((address - start).saturating_add(bytes));
        Some((start + first, (last - first).max(1)))
    }

    /// Returns the access in its smaller form, if all its lanes access whole elements of one such allocation. The
    /// addresses are written to `spare`.
    pub(super) fn access<'b>(
        &self,
        map: &AllocationMap,
        access: &Access<'_>,
        width: Width,
        spare: &'b mut [u8; 8 * LANES],
    ) -> Option<(Access<'b>, Width)> {
        if !matches!(access.space, Space::Global | Space::Generic | Space::Constant) || width.holes.is_some() {
            return None;
        }
        let mut first = None;
        access.for_each_lane(|_, address| first = first.or(Some(address)));
        let first = first?;
        let segment = map.find(first);
        let &(from, to) = self.0.get(&segment.allocation?)?;
        let start = map.start(first)?;
        let (mut count, mut is_whole) = (0, width.bytes.is_multiple_of(from));
        access.for_each_lane(|_, address| {
            let offset = address.wrapping_sub(start);
            is_whole &= (segment.low..=segment.high).contains(&address) && offset.is_multiple_of(from.into());
            let address = start.wrapping_add(offset / u64::from(from) * u64::from(to));
            spare[8 * count..8 * count + 8].copy_from_slice(&address.to_le_bytes());
            count += 1;
        });
        let addresses = Addresses::Full(&spare[..8 * count]);
        let access = Access { site: access.site, space: access.space, mask: access.mask, addresses };
        is_whole.then_some((access, Width::solid(width.bytes / from * to)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_widths_shrink_in_narrowed_allocations() {
        let mut map = AllocationMap::default();
        map.insert_for(1, 1, 0x1000, 4096).expect("free");
        map.insert_for(2, 2, 0x2000, 4096).expect("free");
        let narrowed = Narrowed::new([(1, (4, 2)), (3, (2, 2))]);
        let mut spare = [0; 8 * LANES];
        let access = |base: u64, stride: i32| Access {
            site: 0,
            space: Space::Global,
            mask: 0b101,
            addresses: Addresses::Affine { bases: [base, base + 16 * stride as u64], stride },
        };
        let lanes = |access: &Access<'_>| {
            let mut all = Vec::new();
            access.for_each_lane(|lane, address| all.push((lane, address)));
            all
        };
        let (smaller, width) =
            narrowed.access(&map, &access(0x1010, 8), Width::solid(8), &mut spare).expect("it shrinks");
        assert_eq!((lanes(&smaller), width), (vec![(0, 0x1008), (2, 0x1010)], Width::solid(4)));
        // Other allocations, parts of elements, and lanes in two allocations stay as they are.
        for (base, stride, bytes) in [(0x2010, 4, 4), (0x1012, 4, 4), (0x1010, 4, 2), (0x1ff8, 4, 4)] {
            assert!(
                narrowed.access(&map, &access(base, stride), Width::solid(bytes), &mut spare).is_none(),
                "{base:#x}"
            );
        }
        assert_eq!(narrowed.range(&map, 0x1100, 256), Some((0x1080, 128)));
        assert_eq!(narrowed.range(&map, 0x2100, 256), None);
    }
}
