//! Computes the memory that one request touches.
//!
//! Most requests have addresses with a constant stride, for which the counts have closed forms. All others use
//! [`LineBytes`], which is exact for every request. `reference` contains the slow, obvious version that both are tested
//! against.

use warpline_format::access::{Access, Addresses, Space};

use super::LineBytes;
use crate::geometry::{LINE_BYTES, SECTOR_BYTES, Width};

/// Counts of the distinct memory that a request touches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Number of 32-byte sectors.
    pub sectors: u32,
    /// Number of 128-byte lines.
    pub lines: u32,
    /// Number of bytes.
    pub bytes: u32,
}

impl Footprint {
    /// Returns the minimum number of sectors that can hold the distinct bytes.
    pub fn ideal_sectors(&self) -> u32 {
        self.bytes.div_ceil(SECTOR_BYTES as u32)
    }

    /// Returns the sum for two requests that share no bytes.
    pub fn plus(self, other: Footprint) -> Footprint {
        Footprint {
            sectors: self.sectors + other.sectors,
            lines: self.lines + other.lines,
            bytes: self.bytes + other.bytes,
        }
    }
}

/// The last affine request of a site and its footprint, as a cache. The start offset in the line, the stride, the mask
/// and the distance between the halves determine the footprint.
#[derive(Clone, Copy, Debug, Default)]
pub struct FootprintMemo {
    mask: u32,
    stride: i32,
    start: u32,
    halves: u64,
    footprint: Footprint,
}

/// Returns the footprint of a request to global, constant, shared or local memory.
///
/// Shared addresses are relative to the start of the block's shared memory, and local addresses are offsets in each
/// lane's stack. Local memory is laid out so that the same 4-byte word of neighbouring lanes is contiguous (CUDA C++
/// Programming Guide, "Local Memory"), and the footprint is computed for that layout.
#[inline]
pub fn footprint(access: &Access<'_>, width: Width, memo: &mut FootprintMemo, table: &mut LineBytes) -> Footprint {
    if width.holes.is_some() {
        return exact(access, width, table);
    }
    if access.space == Space::Local {
        return match access.addresses {
            Addresses::Uniform(offset) => local_uniform(offset, access.mask, width.bytes),
            _ => exact(access, width, table),
        };
    }
    match access.addresses {
        Addresses::Uniform(address) => {
            solid_range(address, u64::from(width.bytes)).unwrap_or_else(|| exact(access, width, table))
        }
        Addresses::Affine { bases, stride } => {
            let low_half = access.mask & 0xffff != 0;
            let first = if low_half { bases[0] } else { bases[1] };
            let start = (first % LINE_BYTES) as u32 | if low_half { 0 } else { 1 << 31 };
            let halves = if low_half && access.mask >> 16 != 0 { bases[1].wrapping_sub(bases[0]) } else { 0 };
            // The cache key does not show whether addresses wrap, so requests that might wrap are not cached. Ascending
            // addresses from a low start, as in shared memory, never wrap.
            let rises = first < 1 << 40 && stride >= 0 && halves < 1 << 40;
            let plain = rises || first.wrapping_add(1 << 40) > 1 << 41;
            let same =
                memo.mask == access.mask && memo.stride == stride && memo.start == start && memo.halves == halves;
            if same && plain {
                return memo.footprint;
            }
            let footprint =
                affine(access.mask, bases, stride, width.bytes).unwrap_or_else(|| exact(access, width, table));
            if plain && halves.wrapping_add(1 << 40) < 1 << 41 {
                *memo = FootprintMemo { mask: access.mask, stride, start, halves, footprint };
            }
            footprint
        }
        Addresses::Delta(..) | Addresses::Full(_) => exact(access, width, table),
    }
}

/// Returns the footprint of any request, computed with the table. The table stays filled.
pub(super) fn exact(access: &Access<'_>, width: Width, table: &mut LineBytes) -> Footprint {
    together(&[access], width, table)
}

/// Returns the combined footprint of several requests of one site. The table stays filled.
pub fn together(accesses: &[&Access<'_>], width: Width, table: &mut LineBytes) -> Footprint {
    table.clear();
    accesses.iter().for_each(|access| insert(access, width, table));
    table.footprint()
}

fn insert(access: &Access<'_>, width: Width, table: &mut LineBytes) {
    access.for_each_lane(|lane, address| match (access.space, width.holes) {
        (Space::Local, holes) => {
            let touched = holes.unwrap_or(u64::MAX);
            let mut at = 0;
            while at < width.bytes {
                let offset = address.wrapping_add(u64::from(at));
                let here = (4 - (offset % 4) as u32).min(width.bytes - at);
                let place = (offset / 4).wrapping_mul(LINE_BYTES).wrapping_add(u64::from(lane) * 4 + offset % 4);
                if holes.is_none() {
                    table.insert_range(place, here);
                } else {
                    table.insert_masked(place, (touched >> at) & ((1 << here) - 1));
                }
                at += here;
            }
        }
        (_, None) => table.insert_range(address, width.bytes),
        (_, Some(mask)) => table.insert_masked(address, mask),
    });
}

/// Returns the footprint of `length` contiguous bytes; `None` if they wrap at 2^64.
fn solid_range(first: u64, length: u64) -> Option<Footprint> {
    let last = first.checked_add(length - 1)?;
    Some(Footprint {
        sectors: pieces(first, last, SECTOR_BYTES),
        lines: pieces(first, last, LINE_BYTES),
        bytes: length as u32,
    })
}

fn pieces(first: u64, last: u64, size: u64) -> u32 {
    (last / size - first / size + 1) as u32
}

/// Returns the footprint if every lane accesses the same offset of its stack: each word is a line with the words of 32
/// lanes.
fn local_uniform(offset: u64, mask: u32, width: u32) -> Footprint {
    let words = ((offset % 4) as u32 + width).div_ceil(4);
    let groups = (0..4).filter(|group| mask >> (8 * group) & 0xff != 0).count() as u32;
    Footprint { sectors: words * groups, lines: words, bytes: width * mask.count_ones() }
}

fn affine(mask: u32, bases: [u64; 2], stride: i32, width: u32) -> Option<Footprint> {
    let (low, high) = (mask & 0xffff, mask >> 16);
    let stride = i64::from(stride);
    if high == 0 {
        return run(low, bases[0], stride, width).map(|run| run.footprint);
    }
    if low == 0 {
        return run(high, bases[1], stride, width).map(|run| run.footprint);
    }
    if bases[1] == bases[0].wrapping_add((16 * stride) as u64) {
        return run(mask, bases[0], stride, width).map(|run| run.footprint);
    }
    let first = run(low, bases[0], stride, width)?;
    if bases[0] == bases[1] && low == high {
        return Some(first.footprint);
    }
    let second = run(high, bases[1], stride, width)?;
    let apart =
        first.last / LINE_BYTES < second.first / LINE_BYTES || second.last / LINE_BYTES < first.first / LINE_BYTES;
    apart.then(|| first.footprint.plus(second.footprint))
}

struct Run {
    footprint: Footprint,
    first: u64,
    last: u64,
}

/// Describes lanes with one constant stride; `None` if there is no closed form.
fn run(mask: u32, base: u64, stride: i64, width: u32) -> Option<Run> {
    let lanes = u64::from(mask.count_ones());
    let lowest = mask.trailing_zeros();
    let highest = 31 - mask.leading_zeros();
    let gapless = u64::from(highest - lowest + 1) == lanes;
    let step = stride.unsigned_abs();
    let starts_at = if stride < 0 { highest } else { lowest };
    let first = base.wrapping_add((stride * i64::from(starts_at)) as u64);
    let last_start = first.checked_add(step * u64::from(highest - lowest))?;
    let width = u64::from(width);
    let last = last_start.checked_add(width - 1)?;
    let done = |footprint| Some(Run { footprint, first, last });
    if lanes == 1 || step == 0 {
        return done(solid_range(first, width)?);
    }
    if step <= width {
        return if gapless { done(solid_range(first, last - first + 1)?) } else { None };
    }
    // From here on, lanes share no bytes. With natural alignment, no lane crosses a sector.
    let natural =
        width.is_power_of_two() && width <= SECTOR_BYTES && first.is_multiple_of(width) && step.is_multiple_of(width);
    if !natural {
        return None;
    }
    let count = |size: u64| {
        if step >= size {
            // The start addresses are at least one piece apart, so each lane touches a different piece.
            Some(lanes as u32)
        } else if gapless {
            // The start addresses are less than a piece apart, so every piece in between is touched.
            Some(pieces(first, last, size))
        } else {
            None
        }
    };
    done(Footprint { sectors: count(SECTOR_BYTES)?, lines: count(LINE_BYTES)?, bytes: (lanes * width) as u32 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::reference;
    use proptest::prelude::*;
    use warpline_format::access::{Item, Items, push_access};

    fn check(space: Space, mask: u32, addresses: &[u64], width: Width) {
        let mut bytes = Vec::new();
        push_access(&mut bytes, space, 0, mask, addresses);
        let Some(Ok(Item::Access(access))) = Items::new(&bytes).next() else { panic!() };
        let (mut memo, mut table) = (FootprintMemo::default(), LineBytes::default());
        let want = reference::footprint(&access, width);
        assert_eq!(footprint(&access, width, &mut memo, &mut table), want, "{access:?} {width:?}");
        assert_eq!(footprint(&access, width, &mut memo, &mut table), want, "again {access:?} {width:?}");
        assert_eq!(exact(&access, width, &mut table), want, "table {access:?} {width:?}");
    }

    #[test]
    fn strides_of_floats_give_their_closed_form() {
        for stride in 1..40u64 {
            let addresses: Vec<u64> = (0..32).map(|lane| 4096 + 4 * stride * lane).collect();
            let mut bytes = Vec::new();
            push_access(&mut bytes, Space::Global, 0, u32::MAX, &addresses);
            let Some(Ok(Item::Access(access))) = Items::new(&bytes).next() else { panic!() };
            let got = footprint(&access, Width::solid(4), &mut FootprintMemo::default(), &mut LineBytes::default());
            assert_eq!(u64::from(got.sectors), (4 * stride).min(32));
            assert_eq!(got.ideal_sectors(), 4);
        }
    }

    #[test]
    fn local_words_of_neighbouring_lanes_are_neighbours() {
        let got = local_uniform(64, u32::MAX, 4);
        assert_eq!(got, Footprint { sectors: 4, lines: 1, bytes: 128 });
        let got = local_uniform(64, 1, 8);
        assert_eq!(got, Footprint { sectors: 2, lines: 2, bytes: 8 });
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]
        #[test]
        fn every_form_agrees_with_the_reference(
            mask in prop_oneof![Just(u32::MAX), 1u32.., (0u32..32, 1u32..=32).prop_map(|(at, count)| (u32::MAX >> (32 - count)) << at).prop_filter("empty", |mask| *mask != 0)],
            space in prop_oneof![Just(Space::Global), Just(Space::Shared), Just(Space::Local), Just(Space::Constant)],
            base in prop_oneof![0u64..4096, Just(u64::MAX - 100), any::<u64>()],
            stride in prop_oneof![-200i64..200, (-40i64..40).prop_map(|words| 4 * words), any::<i32>().prop_map(i64::from)],
            jump in prop_oneof![Just(0u64), 0u64..600, any::<u64>()],
            noise in prop::collection::vec(prop_oneof![0u64..2000, 0u64..1 << 40], 32),
            form in 0..4, log in 0u32..7, odd in 1u32..200, natural in any::<bool>(), holes in prop::option::of(1u64..)) {
            let bytes = if natural { 1 << log } else { odd };
            let width = match holes {
                Some(mask) if bytes <= 64 => {
                    let mask = mask & (u64::MAX >> (64 - bytes));
                    Width { bytes, holes: (mask != 0).then_some(mask) }
                }
                _ => Width::solid(bytes),
            };
            let addresses: Vec<u64> = (0..32u64).filter(|lane| mask >> lane & 1 == 1).map(|lane| match form {
                0 => base,
                1 => base.wrapping_add((stride * lane as i64) as u64),
                2 => base.wrapping_add((stride * (lane as i64 & 15)) as u64).wrapping_add(if lane > 15 { jump } else { 0 }),
                _ => base.wrapping_add(noise[lane as usize]),
            }).collect();
            check(space, mask, &addresses, width);
        }
    }
}
