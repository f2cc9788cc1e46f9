//! Requests whose lanes lie anywhere: sorted once, for all that is counted of them.

use warpline_format::access::{Access, Addresses, LANES, Space};

use super::{Footprint, LINE_BYTES, Width};

/// The elements of a request in rising order, where each lane touches one naturally aligned element of up to 32 bytes: so
/// no lane crosses a sector, and lanes share an element or nothing.
pub struct Scattered {
    /// Multiple of a line's bytes.
    start: u64,
    /// Distances of the elements from there, rising; equal ones where lanes share an element.
    keys: [u32; LANES],
    count: usize,
    bytes: u32,
}

impl Scattered {
    /// `None` for requests of any other kind.
    #[inline]
    pub fn of(access: &Access<'_>, width: Width) -> Option<Scattered> {
        let Addresses::Delta(base, deltas) = access.addresses else { return None };
        let natural = width.holes.is_none() && width.bytes.is_power_of_two() && width.bytes <= 32;
        if !natural || access.space == Space::Local {
            return None;
        }
        let start = base & !(LINE_BYTES - 1);
        let offset = (base - start) as u32;
        start.checked_add(u64::from(u32::MAX))?;
        let count = access.mask.count_ones() as usize;
        let mut keys = [u32::MAX; LANES];
        let (mut low_bits, mut highest) = (0, 0);
        for (key, delta) in keys.iter_mut().zip(deltas.as_chunks::<4>().0).take(count) {
            let delta = u32::from_le_bytes(*delta);
            highest = highest.max(delta);
            *key = delta.wrapping_add(offset);
            low_bits |= *key;
        }
        if highest > u32::MAX - LINE_BYTES as u32 || low_bits & (width.bytes - 1) != 0 {
            return None;
        }
        if !keys[..count].is_sorted() {
            keys[..count].sort_unstable();
        }
        Some(Scattered { start, keys, count, bytes: width.bytes })
    }

    fn keys(&self) -> &[u32] {
        &self.keys[..self.count]
    }

    /// Distinct ones of what the keys are divided into.
    fn distinct(&self, log: u32) -> u32 {
        let changes = self.keys().windows(2).filter(|pair| pair[0] >> log != pair[1] >> log).count();
        changes as u32 + u32::from(self.count > 0)
    }

    /// First and last byte; `None` where they wrap.
    pub fn extent(&self) -> Option<(u64, u64)> {
        let (low, high) = (self.keys().first()?, self.keys().last()?);
        let end = (self.start + u64::from(*high)).checked_add(u64::from(self.bytes - 1))?;
        Some((self.start + u64::from(*low), end))
    }

    /// Distinct elements.
    pub fn elements(&self) -> u32 {
        self.distinct(0)
    }

    /// Distinct sectors, lines and bytes.
    pub fn footprint(&self) -> Footprint {
        Footprint { sectors: self.distinct(5), lines: self.distinct(7), bytes: self.elements() * self.bytes }
    }

    /// Distinct 4-byte words of elements that are no larger, rising, as numbers of words from address 0.
    pub fn words(&self) -> impl Iterator<Item = u64> + '_ {
        let mut last = u64::MAX;
        self.keys().iter().filter_map(move |key| {
            let word = self.start / 4 + u64::from(key / 4);
            (std::mem::replace(&mut last, word) != word).then_some(word)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use warpline_format::access::{Item, Items, push_access};

    use super::*;
    use crate::metrics::{LineTable, footprint};

    proptest! {
        /// Against the table of bytes.
        #[test]
        fn counts_what_the_table_counts(
            mask in 1u32.., base in prop_oneof![0u64..1 << 20, u64::MAX - (1 << 33)..],
            spread in prop_oneof![Just(200u64), Just(1 << 14), Just(1 << 33)],
            lanes in prop::collection::vec(any::<u64>(), 32), log in 0u32..6, aligned in prop::bool::weighted(0.9),
        ) {
            let width = Width::solid(1 << log);
            let unit = if aligned { u64::from(width.bytes) } else { 1 };
            let addresses: Vec<u64> = (0..32usize).filter(|lane| mask >> lane & 1 == 1)
                .map(|lane| base.saturating_add(lanes[lane] % spread) / unit * unit).collect();
            let mut bytes = Vec::new();
            push_access(&mut bytes, Space::Global, 0, mask, &addresses);
            let Some(Ok(Item::Access(access))) = Items::new(&bytes).next() else { panic!("no access") };
            let scattered = Scattered::of(&access, width);
            if !matches!(access.addresses, Addresses::Delta(..)) {
                prop_assert!(scattered.is_none());
                return Ok(());
            }
            let Some(scattered) = scattered else {
                // What it leaves alone: elements out of their alignment, and the ends of the space.
                let fits = addresses.iter().all(|address| address % u64::from(width.bytes) == 0);
                prop_assert!(!fits || spread > 1 << 32 || base > 1 << 20);
                return Ok(());
            };
            prop_assert_eq!(
                scattered.footprint(), footprint::exact(&access, width, &mut LineTable::default())
            );
            let (low, high) = (addresses.iter().min().unwrap(), addresses.iter().max().unwrap());
            let end = high.checked_add(u64::from(width.bytes - 1));
            prop_assert_eq!(scattered.extent(), end.map(|end| (*low, end)));
            let mut distinct: Vec<u64> = addresses.iter().map(|address| address / 4).collect();
            distinct.sort_unstable();
            distinct.dedup();
            if width.bytes <= 4 {
                prop_assert_eq!(scattered.words().collect::<Vec<_>>(), distinct);
            }
        }
    }
}
