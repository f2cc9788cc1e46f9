//! Coalesces the lanes of a request into pieces of lines, which the memory system serves.
//!
//! Pieces are in ascending address order, with each line once per group of lanes. Older architectures split a request
//! into groups before they look up tags, so a sector that two groups touch is looked up twice. Volta and later treat
//! the whole warp as one group.

use super::lane_sectors::{FARTHEST, LaneSectors};
use super::piece::Piece;
use super::sorted_lanes::SortedLanes;
use crate::geometry::{LINE_BYTES, SECTOR_BYTES, Width};
use crate::metrics::Scattered;
use crate::simd::processor;
use serde::{Deserialize, Serialize};
use warpline_format::access::{Access, Addresses};

/// Number of neighbouring lanes that are served together, by bytes per lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Groups {
    /// Lanes per group for up to 4 bytes per lane.
    pub bytes_4: u32,
    /// Lanes per group for 8 bytes per lane.
    pub bytes_8: u32,
    /// Lanes per group for 16 or more bytes per lane.
    pub bytes_16: u32,
}

impl Groups {
    /// The whole warp is one group for all widths.
    pub const WARP: Groups = Groups { bytes_4: 32, bytes_8: 32, bytes_16: 32 };

    fn lanes(&self, bytes: u32) -> u32 {
        let lanes = match bytes {
            0..=4 => self.bytes_4,
            5..=8 => self.bytes_8,
            _ => self.bytes_16,
        };
        lanes.clamp(1, 32)
    }
}

/// Turns requests into pieces; reuses its buffers.
#[derive(Default)]
pub struct Coalescer {
    pieces: Vec<Piece>,
    exact_bytes: bool,
}

/// Returns the bits of a line that a byte range covers.
#[inline]
fn byte_range(offset: u64, length: u64) -> u128 {
    (if length >= LINE_BYTES { u128::MAX } else { (1u128 << length) - 1 }) << offset
}

/// Largest base address for which distances up to [`FARTHEST`] do not wrap.
const FARTHEST_BASE: u64 = u64::MAX - (1 << 32);

/// Computes the distances of the lanes from the lowest address, which is returned. Inactive lanes repeat another lane's
/// distance. Returns `None` if a distance exceeds [`FARTHEST`].
#[inline]
fn distances_of(access: &Access<'_>, distances: &mut [u32; 32]) -> Option<u64> {
    let mut addresses = [0; 32];
    match access.addresses {
        Addresses::Full(bytes) => {
            let bytes = bytes.as_chunks::<8>().0;
            addresses.fill(u64::from_le_bytes(*bytes.first()?));
            for (address, bytes) in addresses.iter_mut().zip(bytes) {
                *address = u64::from_le_bytes(*bytes);
            }
        }
        Addresses::Affine { bases, stride } if access.mask == u32::MAX => {
            for (half, base) in addresses.as_chunks_mut::<16>().0.iter_mut().zip(bases) {
                for (lane, address) in (0..).zip(half) {
                    *address = base.wrapping_add((i64::from(stride) * lane) as u64);
                }
            }
        }
        _ => {
            let mut count = 0;
            access.for_each_lane(|_, address| {
                addresses[count % 32] = address;
                count += 1;
            });
            let first = addresses[0];
            addresses[count.min(32)..].fill(first);
        }
    }
    let lowest = addresses.iter().fold(u64::MAX, |lowest, address| lowest.min(*address));
    let highest = addresses.iter().fold(0, |highest, address| highest.max(*address));
    if highest - lowest > u64::from(FARTHEST) || lowest > FARTHEST_BASE {
        return None;
    }
    for (distance, address) in distances.iter_mut().zip(&addresses) {
        *distance = (address - lowest) as u32;
    }
    Some(lowest)
}

impl Coalescer {
    /// Returns the pieces of a request. If `exact_bytes` is false (for loads), only sectors are computed.
    #[inline(always)]
    pub fn pieces(&mut self, access: &Access<'_>, width: Width, groups: Groups, exact_bytes: bool) -> &[Piece] {
        self.pieces.clear();
        self.exact_bytes = exact_bytes;
        // This is the most frequent case: neighbouring lanes access neighbouring elements in one line.
        if let Addresses::Affine { bases, stride } = access.addresses
            && (access.mask, width.holes, groups == Groups::WARP) == (u32::MAX, None, true)
            && i64::from(stride) == i64::from(width.bytes)
            && bases[1] == bases[0].wrapping_add(u64::from(16 * width.bytes))
            && width.bytes <= 4
            && bases[0] % LINE_BYTES + 32 * u64::from(width.bytes) <= LINE_BYTES
        {
            let (offset, length) = (bases[0] % LINE_BYTES, 32 * u64::from(width.bytes));
            self.pieces.push(self.one_line(bases[0] / LINE_BYTES, offset, length));
            return &self.pieces;
        }
        self.other_pieces(access, width, groups, exact_bytes)
    }

    /// Returns the pieces of a request of a whole warp. `scattered` contains its elements if they were sorted before.
    #[inline(always)]
    pub fn warp_pieces(
        &mut self,
        access: &Access<'_>,
        width: Width,
        exact_bytes: bool,
        scattered: Option<&Scattered>,
    ) -> &[Piece] {
        let Some(elements) = scattered else { return self.pieces(access, width, Groups::WARP, exact_bytes) };
        self.pieces.clear();
        processor::with_newer_instructions(SortedLanes { elements, exact_bytes, pieces: &mut self.pieces });
        &self.pieces
    }

    /// Returns the pieces of the last request.
    pub fn last(&self) -> &[Piece] {
        &self.pieces
    }

    /// Discards the pieces of the last request.
    pub fn clear(&mut self) {
        self.pieces.clear();
    }

    fn other_pieces(&mut self, access: &Access<'_>, width: Width, groups: Groups, exact_bytes: bool) -> &[Piece] {
        let lanes = groups.lanes(width.bytes);
        if lanes == 32 {
            self.group(access, width, exact_bytes);
        } else {
            let mut first = 0;
            while first < 32 {
                let group = (u32::MAX >> (32 - lanes)) << first;
                if access.mask & group != 0 {
                    self.part(access, group, width, exact_bytes);
                }
                first += lanes;
            }
        }
        &self.pieces
    }

    /// Returns the pieces of a request to local memory, whose addresses are offsets in the lanes' stacks. The same
    /// 4-byte word of all lanes of a warp fills one line. If the warp's stacks start at line `first_line`, word `w` is
    /// line `first_line + w` (equation 1 of the profiler paper).
    #[inline]
    pub fn local_pieces(&mut self, access: &Access<'_>, width: Width, first_line: u64) -> &[Piece] {
        self.pieces.clear();
        if let (Addresses::Uniform(offset), None) = (access.addresses, width.holes)
            && offset.is_multiple_of(4)
            && width.bytes.is_multiple_of(4)
        {
            let mut bytes = 0u128;
            let mut sectors = 0;
            let mut rest = access.mask;
            while rest != 0 {
                let lane = rest.trailing_zeros();
                rest &= rest - 1;
                bytes |= 15 << (4 * lane);
                sectors |= 1 << (lane / 8);
            }
            for word in 0..u64::from(width.bytes / 4) {
                let line = first_line.wrapping_add(offset / 4 + word) & (u64::MAX / LINE_BYTES);
                self.pieces.push(Piece { line, sectors, bytes });
            }
            return &self.pieces;
        }
        access.for_each_lane(|lane, address| {
            for byte in 0..width.bytes {
                if width.holes.is_some_and(|holes| byte > 63 || holes >> byte & 1 == 0) {
                    continue;
                }
                let offset = address.wrapping_add(u64::from(byte));
                let line = first_line.wrapping_add(offset / 4) & (u64::MAX / LINE_BYTES);
                let bit = 4 * lane + (offset % 4) as u32;
                match self.pieces.last_mut() {
                    Some(piece) if piece.line == line => {
                        piece.bytes |= 1 << bit;
                        piece.sectors |= 1 << (bit / 32);
                    }
                    _ => self.pieces.push(Piece { line, sectors: 1 << (bit / 32), bytes: 1 << bit }),
                }
            }
        });
        self.merge(0);
        &self.pieces
    }

    #[inline]
    fn group(&mut self, access: &Access<'_>, width: Width, exact_bytes: bool) {
        if width.holes.is_none() {
            match access.addresses {
                Addresses::Uniform(address) => return self.range(address, u64::from(width.bytes)),
                Addresses::Affine { bases, stride } => {
                    let step = i64::from(stride);
                    let bytes = u64::from(width.bytes);
                    let joined = bases[1] == bases[0].wrapping_add((16 * step) as u64);
                    if joined && access.mask == u32::MAX && step == bytes as i64 {
                        return self.range(bases[0], 32 * bytes);
                    }
                    if joined && access.mask == u32::MAX && !exact_bytes && self.far_apart(bases[0], step, bytes) {
                        return;
                    }
                    if stride == 0 || step == bytes as i64 {
                        let start = self.pieces.len();
                        for (base, mask) in bases.into_iter().zip([access.mask & 0xffff, access.mask >> 16]) {
                            self.half(base, mask, u64::from(stride.unsigned_abs()), bytes);
                        }
                        return self.merge(start);
                    }
                }
                _ => {}
            }
        }
        self.part(access, u32::MAX, width, exact_bytes);
    }

    /// Handles lanes that are at least a line apart, in ascending order, and each within one sector: each lane is one
    /// piece. Returns whether the lanes have this form.
    #[inline]
    fn far_apart(&mut self, base: u64, step: i64, bytes: u64) -> bool {
        let aligned = step % SECTOR_BYTES as i64 == 0 && base % SECTOR_BYTES + bytes <= SECTOR_BYTES;
        if !aligned || step < LINE_BYTES as i64 || base.checked_add(32 * step as u64).is_none() {
            return false;
        }
        self.pieces.extend((0..32).map(|lane| {
            let sector = (base + lane * step as u64) / SECTOR_BYTES;
            Piece { line: sector / 4, sectors: 1 << (sector % 4), bytes: 0 }
        }));
        true
    }

    /// Returns the piece of `length` bytes (at least one) of a line, starting at `offset`.
    #[inline(always)]
    fn one_line(&self, line: u64, offset: u64, length: u64) -> Piece {
        let (first, last) = (offset / SECTOR_BYTES, (offset + length - 1) / SECTOR_BYTES);
        let sectors = ((2 << last) - (1 << first)) as u8;
        let bytes = if self.exact_bytes { byte_range(offset, length) } else { 0 };
        Piece { line, sectors, bytes }
    }

    /// Adds `length` contiguous bytes (at least one); addresses wrap at 2^64.
    #[inline]
    fn range(&mut self, address: u64, length: u64) {
        let mut line = address / LINE_BYTES;
        let mut offset = address % LINE_BYTES;
        let mut rest = length;
        loop {
            let here = rest.min(LINE_BYTES - offset);
            self.pieces.push(self.one_line(line, offset, here));
            rest -= here;
            if rest == 0 {
                return;
            }
            offset = 0;
            line = (line + 1) & (u64::MAX / LINE_BYTES);
        }
    }

    fn part(&mut self, access: &Access<'_>, group: u32, width: Width, exact_bytes: bool) {
        let start = self.pieces.len();
        let within_sector = width.bytes <= 32 && width.bytes.is_power_of_two() && width.holes.is_none();
        if !exact_bytes && within_sector && group == u32::MAX && self.sectors_only(access, width) {
            return;
        }
        access.for_each_lane(|lane, address| {
            if group >> lane & 1 == 0 {
                return;
            }
            match width.holes {
                None => self.range(address, u64::from(width.bytes)),
                Some(holes) => {
                    let mut at = 0;
                    while at < 64 && holes >> at != 0 {
                        at += (holes >> at).trailing_zeros();
                        let run = (holes >> at).trailing_ones();
                        self.range(address.wrapping_add(u64::from(at)), u64::from(run));
                        at += run;
                    }
                }
            }
        });
        self.merge(start);
    }

    /// Adds the lanes of half a warp that access the same address, or contiguous addresses.
    #[inline]
    fn half(&mut self, base: u64, mut mask: u32, stride: u64, bytes: u64) {
        if stride == 0 && mask != 0 {
            return self.range(base, bytes);
        }
        // Each iteration adds one run of active lanes.
        let mut lane = 0;
        while mask != 0 {
            let gap = mask.trailing_zeros();
            let run = (mask >> gap).trailing_ones();
            self.range(base.wrapping_add(u64::from(lane + gap) * stride), u64::from(run) * bytes);
            lane += gap + run;
            mask = mask >> gap >> run;
        }
    }

    /// Computes the sectors of a whole warp's load whose lanes never cross a sector. Returns false if a lane is
    /// misaligned or far from the others.
    #[inline]
    fn sectors_only(&mut self, access: &Access<'_>, width: Width) -> bool {
        let mut distances = [0; 32];
        let base = match access.addresses {
            Addresses::Delta(base, deltas) => {
                let deltas = deltas.as_chunks::<4>().0;
                let mut highest = 0;
                // Inactive lanes repeat the first active lane.
                distances.fill(deltas.first().map_or(0, |first| u32::from_le_bytes(*first)));
                for (distance, delta) in distances.iter_mut().zip(deltas) {
                    *distance = u32::from_le_bytes(*delta);
                    highest = highest.max(*distance);
                }
                if highest > FARTHEST || base > FARTHEST_BASE {
                    return false;
                }
                base
            }
            _ => {
                let Some(lowest) = distances_of(access, &mut distances) else { return false };
                lowest
            }
        };
        let pieces = &mut self.pieces;
        processor::with_newer_instructions(LaneSectors { base, distances: &distances, bytes: width.bytes, pieces })
    }

    /// Sorts the pieces from `start` on, and merges pieces of the same line.
    fn merge(&mut self, start: usize) {
        if self.pieces.len() <= start + 1 {
            return;
        }
        let part = &mut self.pieces[start..];
        if !part.is_sorted_by_key(|piece| piece.line) {
            part.sort_unstable_by_key(|piece| piece.line);
        }
        let mut kept = start;
        for index in start..self.pieces.len() {
            let piece = self.pieces[index];
            if index > start && self.pieces[kept].line == piece.line {
                self.pieces[kept].sectors |= piece.sectors;
                self.pieces[kept].bytes |= piece.bytes;
            } else {
                if index > start {
                    kept += 1;
                }
                self.pieces[kept] = piece;
            }
        }
        self.pieces.truncate(kept + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::sectors::sectors_of;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use warpline_format::access::{Item, Items, Space, push_access};

    fn with_access<R>(mask: u32, addresses: &[u64], f: impl FnOnce(&Access<'_>) -> R) -> R {
        let mut bytes = Vec::new();
        push_access(&mut bytes, Space::Global, 0, mask, addresses);
        let Some(Ok(Item::Access(access))) = Items::new(&bytes).next() else { panic!("no access") };
        f(&access)
    }

    /// Computes pieces byte by byte, as a reference.
    fn slow(access: &Access<'_>, width: Width, group: u32) -> BTreeMap<u64, u128> {
        let mut lines = BTreeMap::new();
        access.for_each_lane(|lane, address| {
            if group >> lane & 1 == 1 {
                for byte in 0..width.bytes {
                    if width.holes.is_none_or(|holes| byte < 64 && holes >> byte & 1 == 1) {
                        let at = address.wrapping_add(u64::from(byte));
                        *lines.entry(at / 128).or_insert(0u128) |= 1 << (at % 128);
                    }
                }
            }
        });
        lines
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]
        #[test]
        fn pieces_agree_with_bytes(mask in prop_oneof![Just(u32::MAX), 1u32..], base in prop_oneof![4096u64..8192, 1u64 << 44..1 << 45],
                                   stride in prop_oneof![-40i64..200, (-40i64..40).prop_map(|words| words * 4), (4i64..9).prop_map(|sectors| sectors * 32)],
                                   noise in prop::collection::vec(prop_oneof![0u64..2000, 0u64..1 << 40], 32), random in any::<bool>(),
                                   log in 0u32..6, odd in 1u32..60, natural in any::<bool>(), holes in prop::option::of(1u64..),
                                   lanes_log in 0u32..6, exact in any::<bool>()) {
            let bytes = if natural { 1 << log } else { odd };
            let holes = holes.map(|holes| holes & (u64::MAX >> (64 - bytes.min(64)))).filter(|holes| *holes != 0);
            let width = Width { bytes, holes };
            let base = base + 2000 * 32;
            let addresses: Vec<u64> = (0..32u64).filter(|lane| mask >> lane & 1 == 1)
                .map(|lane| if random { base + noise[lane as usize] } else { base.wrapping_add((stride * lane as i64) as u64) }).collect();
            let lanes = 1 << lanes_log;
            let groups = Groups { bytes_4: lanes, bytes_8: lanes, bytes_16: lanes };
            with_access(mask, &addresses, |access| -> Result<(), TestCaseError> {
                let mut want = Vec::new();
                for first in (0..32).step_by(lanes as usize) {
                    let group = (u32::MAX >> (32 - lanes)) << first;
                    want.extend(slow(access, width, group));
                }
                let mut coalescer = Coalescer::default();
                if let Some(scattered) = Scattered::from_access(access, width) {
                    let want = Coalescer::default().pieces(access, width, Groups::WARP, exact).to_vec();
                    let got = coalescer.warp_pieces(access, width, exact, Some(&scattered));
                    prop_assert_eq!(got, &want[..]);
                }
                let got = coalescer.pieces(access, width, groups, exact);
                prop_assert_eq!(got.len(), want.len());
                for (piece, (line, bytes)) in got.iter().zip(want) {
                    prop_assert_eq!(piece.line, line);
                    prop_assert_eq!(piece.sectors, sectors_of(bytes));
                    if exact { prop_assert_eq!(piece.bytes, bytes); }
                }
                Ok(())
            })?;
        }
    }

    proptest! {
        #[test]
        fn local_words_are_interleaved(mask in 1u32.., offsets in prop::collection::vec(0u64..200, 32), uniform in any::<bool>(), bytes in 1u32..20) {
            let addresses: Vec<u64> = (0..32).filter(|lane| mask >> lane & 1 == 1).map(|lane| offsets[if uniform { 0 } else { lane }]).collect();
            with_access(mask, &addresses, |access| -> Result<(), TestCaseError> {
                let mut want: BTreeMap<u64, u128> = BTreeMap::new();
                access.for_each_lane(|lane, offset| {
                    for byte in 0..u64::from(bytes) {
                        let r = offset + byte;
                        let place = (r / 4 * 32 + u64::from(lane)) * 4 + r % 4;
                        *want.entry(1000 + place / 128).or_default() |= 1 << (place % 128);
                    }
                });
                let mut coalescer = Coalescer::default();
                let got = coalescer.local_pieces(access, Width { bytes, holes: None }, 1000);
                let got: Vec<_> = got.iter().map(|piece| (piece.line, piece.bytes, piece.sectors)).collect();
                let want: Vec<_> = want.into_iter().map(|(line, bytes)| (line, bytes, sectors_of(bytes))).collect();
                prop_assert_eq!(got, want);
                Ok(())
            })?;
        }
    }

    #[test]
    fn groups_of_eight_count_a_shared_sector_twice() {
        // Lanes 7 and 8 access the same sector.
        let addresses: Vec<u64> = (0..32).map(|lane| 4096 + 16 + 4 * lane).collect();
        with_access(u32::MAX, &addresses, |access| {
            let width = Width { bytes: 4, holes: None };
            let eight = Groups { bytes_4: 8, ..Groups::WARP };
            let count = |pieces: &[Piece]| pieces.iter().map(|piece| piece.sectors.count_ones()).sum::<u32>();
            assert_eq!(count(Coalescer::default().pieces(access, width, Groups::WARP, false)), 5);
            assert_eq!(count(Coalescer::default().pieces(access, width, eight, false)), 8);
        });
    }
}
