//! Requests with arbitrary lane addresses. The addresses are sorted once for all counts.

use warpline_format::access::{Access, Addresses, LANES, Space};

use super::Footprint;
use crate::geometry::{LINE_BYTES, Width};
use crate::simd::{processor, sorted};

/// The elements of a request in ascending order, if each lane accesses one naturally aligned element of up to 32 bytes.
/// No lane then crosses a sector, and two lanes access either the same element or disjoint bytes.
pub struct Scattered {
    /// Base address; a multiple of the line size.
    start: u64,
    /// Distances of the elements from `start` in ascending order. Lanes that share an element have equal distances;
    /// inactive lanes repeat the last one.
    keys: [i32; LANES],
    /// Number of distinct elements, and counts of sectors and lines.
    elements: u32,
    sectors: u32,
    lines: u32,
    bytes: u32,
    /// For elements of 8 or 16 bytes, which are served in groups of lanes: passes through 32 banks of 4 bytes, and
    /// passes without bank conflicts.
    in_groups: [u32; 2],
    /// The same counts for groups of twice as many lanes, if the lanes share addresses in pairs.
    in_merged_groups: Option<[u32; 2]>,
}

/// The maximum distance.
const FARTHEST: u32 = i32::MAX as u32 - LINE_BYTES as u32;

impl Scattered {
    /// Sorts a request's elements; `None` for other kinds of requests.
    #[inline]
    pub fn from_access(access: &Access<'_>, width: Width) -> Option<Scattered> {
        let Addresses::Delta(base, deltas) = access.addresses else { return None };
        let natural = width.holes.is_none() && width.bytes.is_power_of_two() && width.bytes <= 32;
        if !natural || access.space == Space::Local || base > u64::MAX - u64::from(u32::MAX) {
            return None;
        }
        processor::with_newer_instructions(SortElements { base, deltas, mask: access.mask, bytes: width.bytes })
    }

    /// Returns the first and the last byte; `None` if they wrap.
    pub fn extent(&self) -> Option<(u64, u64)> {
        let at = |key: i32| self.start + u64::from(key.cast_unsigned());
        Some((at(self.keys[0]), at(self.keys[LANES - 1]).checked_add(u64::from(self.bytes - 1))?))
    }

    /// Returns the base address, a multiple of the line size.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// Returns the distances of the elements from the start in ascending order; some may be repeated.
    pub(crate) fn keys(&self) -> &[i32; LANES] {
        &self.keys
    }

    /// Returns the number of distinct lines.
    pub(crate) fn lines(&self) -> u32 {
        self.lines
    }

    /// Returns the bytes of an element.
    pub(crate) fn element_bytes(&self) -> u32 {
        self.bytes
    }

    /// Returns the number of distinct elements.
    pub fn elements(&self) -> u32 {
        self.elements
    }

    /// Returns the number of distinct sectors, lines and bytes.
    pub fn footprint(&self) -> Footprint {
        Footprint { sectors: self.sectors, lines: self.lines, bytes: self.elements * self.bytes }
    }

    /// Returns the distinct 4-byte words in ascending order, as word numbers counted from address 0. Elements must not
    /// be larger than a word.
    pub fn words(&self) -> impl Iterator<Item = u64> + '_ {
        let mut last = u64::MAX;
        self.keys.iter().filter_map(move |key| {
            let word = self.start / 4 + u64::from(key.cast_unsigned() / 4);
            (std::mem::replace(&mut last, word) != word).then_some(word)
        })
    }

    /// Returns the passes of elements of 8 or 16 bytes through 32 banks of 4 bytes, and the minimum for as many
    /// distinct elements. With `merges_pairs`, lanes that share addresses in pairs are served in groups of twice as
    /// many lanes.
    pub fn passes_in_groups(&self, merges_pairs: bool) -> Option<[u32; 2]> {
        let passes = self.in_merged_groups.filter(|_| merges_pairs).unwrap_or(self.in_groups);
        matches!(self.bytes, 8 | 16).then_some(passes)
    }

    /// Returns the total number of these words, and the maximum number in one of `banks` one-word banks. `banks` is a
    /// power of two up to 64.
    #[inline]
    pub fn words_by_bank(&self, banks: u32) -> [u32; 2] {
        // Rows used per bank. Which lanes share a word is unpredictable, so the code has no branch on it.
        let mut rows = [0u8; 64];
        let first = (self.start / 4) as u32;
        let (mut all, mut last) = (0, -1);
        for key in self.keys {
            let word = key >> 2;
            let new = u8::from(word != last);
            rows[(first.wrapping_add(word.cast_unsigned()) & (banks - 1) & 63) as usize] += new;
            all += u32::from(new);
            last = word;
        }
        [all, rows.iter().copied().max().map_or(0, u32::from)]
    }
}

/// Sorts the elements of a request.
struct SortElements<'a> {
    base: u64,
    deltas: &'a [u8],
    mask: u32,
    bytes: u32,
}

impl processor::Job for SortElements<'_> {
    type Output = Option<Scattered>;

    #[inline(always)]
    fn run(self) -> Option<Scattered> {
        let SortElements { base, deltas, mask, bytes } = self;
        let start = base & !(LINE_BYTES - 1);
        let offset = (base - start) as u32;
        let count = (mask.count_ones() as usize).clamp(1, LANES);
        let mut keys = [i32::MAX; LANES];
        let (mut low_bits, mut highest) = (0, 0);
        for (key, delta) in keys.iter_mut().zip(deltas.as_chunks::<4>().0).take(count) {
            let delta = u32::from_le_bytes(*delta);
            highest = highest.max(delta);
            let distance = delta.wrapping_add(offset);
            *key = distance.cast_signed();
            low_bits |= distance;
        }
        if highest > FARTHEST || low_bits & (bytes - 1) != 0 {
            return None;
        }
        let in_groups = match bytes {
            8 => passes_in_groups::<16, 16>(&keys, mask),
            16 => passes_in_groups::<8, 8>(&keys, mask),
            _ => [0; 2],
        };
        let in_merged_groups = match bytes {
            8 if shares_in_pairs(&keys, mask) => Some(passes_in_groups::<32, 16>(&keys, mask)),
            16 if shares_in_pairs(&keys, mask) => Some(passes_in_groups::<16, 8>(&keys, mask)),
            _ => None,
        };
        let descents: u32 = (1..LANES).map(|lane| u32::from(keys[lane - 1] > keys[lane])).sum();
        if descents != 0 {
            keys = sorted(&keys);
        }
        let last = keys[count - 1];
        keys.iter_mut().for_each(|key| *key = last.min(*key));
        let distinct =
            |log: u32| 1 + (1..LANES).map(|lane| u32::from(keys[lane - 1] >> log != keys[lane] >> log)).sum::<u32>();
        let (elements, sectors, lines) = (distinct(0), distinct(5), distinct(7));
        Some(Scattered { start, keys, elements, sectors, lines, bytes, in_groups, in_merged_groups })
    }
}

/// Returns whether each active lane has the address of lane n ^ 1, or each has the address of lane n ^ 2, considering
/// only active lanes. `keys` belong to the lanes in `mask`, in order.
#[inline(always)]
fn shares_in_pairs(keys: &[i32; LANES], mask: u32) -> bool {
    let mut of_lanes = *keys;
    if mask != u32::MAX {
        let mut rest = keys.iter();
        for (lane, key) in of_lanes.iter_mut().enumerate() {
            *key = if mask >> lane & 1 == 1 { rest.next().copied().unwrap_or(i32::MAX) } else { i32::MAX };
        }
    }
    let differs = |distance: usize| {
        // Inactive lanes match any partner.
        let both = mask & partners(mask, distance);
        (0..LANES).fold(0, |all, lane| all | u32::from(of_lanes[lane] != of_lanes[lane ^ distance]) & (both >> lane))
    };
    differs(1) & 1 == 0 || differs(2) & 1 == 0
}

/// Returns the lanes whose partners at a distance of 1 or 2 are in `mask`.
#[inline(always)]
fn partners(mask: u32, distance: usize) -> u32 {
    match distance {
        1 => (mask & 0x5555_5555) << 1 | (mask >> 1 & 0x5555_5555),
        _ => (mask & 0x3333_3333) << 2 | (mask >> 2 & 0x3333_3333),
    }
}

/// Counts the passes, and the minimum, of elements in groups of `GROUP` lanes. `COUNT` elements fill a pass of 128
/// bytes. `keys` belong to the lanes in `mask`, in order.
#[inline(always)]
fn passes_in_groups<const GROUP: usize, const COUNT: usize>(keys: &[i32; LANES], mask: u32) -> [u32; 2] {
    let log = 7 - COUNT.trailing_zeros();
    let (mut passes, mut ideal, mut at) = (0, 0, 0);
    for group in 0..LANES / GROUP {
        let lanes = (mask >> (group * GROUP) & (u32::MAX >> (LANES - GROUP))).count_ones() as usize;
        let Some(here) = keys.get(at..at + lanes).filter(|here| !here.is_empty()) else { continue };
        at += lanes;
        // Inactive lanes repeat the group's last lane.
        let mut own = [here[lanes - 1]; GROUP];
        own[..lanes].copy_from_slice(here);
        let descents: u32 = (1..GROUP).map(|lane| u32::from(own[lane - 1] > own[lane])).sum();
        if descents != 0 {
            own = sorted(&own);
        }
        let mut rows = [0u8; COUNT];
        let (mut all, mut last) = (0, -1);
        for key in own {
            let new = u8::from(key != last);
            rows[(key >> log) as usize % COUNT] += new;
            all += usize::from(new);
            last = key;
        }
        passes += rows.iter().copied().max().map_or(0, u32::from);
        ideal += all.div_ceil(COUNT) as u32;
    }
    [passes, ideal]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use warpline_format::access::{Item, Items, push_access};

    use super::*;
    use crate::metrics::{LineBytes, footprint};

    proptest! {
        /// Compares the counts with the table of bytes.
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
            let scattered = Scattered::from_access(&access, width);
            if !matches!(access.addresses, Addresses::Delta(..)) {
                prop_assert!(scattered.is_none());
                return Ok(());
            }
            let Some(scattered) = scattered else {
                // Misaligned elements and addresses at the ends of the address space are not handled.
                let fits = addresses.iter().all(|address| address % u64::from(width.bytes) == 0);
                prop_assert!(!fits || spread > 1 << 32 || base > 1 << 20);
                return Ok(());
            };
            prop_assert_eq!(
                scattered.footprint(), footprint::exact(&access, width, &mut LineBytes::default())
            );
            let (low, high) = (addresses.iter().min().unwrap(), addresses.iter().max().unwrap());
            let end = high.checked_add(u64::from(width.bytes - 1));
            prop_assert_eq!(scattered.extent(), end.map(|end| (*low, end)));
            let mut distinct: Vec<u64> = addresses.iter().map(|address| address / 4).collect();
            distinct.sort_unstable();
            distinct.dedup();
            if width.bytes <= 4 {
                prop_assert_eq!(scattered.words().collect::<Vec<_>>(), &distinct[..]);
                for banks in [16, 32] {
                    let most = (0..banks).map(|bank| distinct.iter().filter(|word| **word % banks == bank).count()).max();
                    let wanted = [distinct.len() as u32, most.unwrap_or(0) as u32];
                    prop_assert_eq!(scattered.words_by_bank(banks as u32), wanted);
                }
            }
        }
    }
}
