//! Slow, obvious versions of the counts, for tests.

use super::Footprint;
use crate::geometry::{Banks, Width};
use std::collections::{BTreeMap, BTreeSet};
use warpline_format::access::{Access, Space};

/// Returns every byte of every lane, with its address in memory.
fn bytes_of(access: &Access<'_>, width: Width) -> Vec<(u32, u64)> {
    let mut all = Vec::new();
    access.for_each_lane(|lane, address| {
        for byte in 0..u64::from(width.bytes) {
            if width.holes.is_none_or(|mask| mask >> byte & 1 == 1) {
                let at = address.wrapping_add(byte);
                let place = match access.space {
                    Space::Local => (at / 4).wrapping_mul(128).wrapping_add(u64::from(lane) * 4 + at % 4),
                    _ => at,
                };
                all.push((lane, place));
            }
        }
    });
    all
}

pub(super) fn footprint(access: &Access<'_>, width: Width) -> Footprint {
    let all = bytes_of(access, width);
    let distinct = |size: u64| all.iter().map(|(_, at)| at / size).collect::<BTreeSet<_>>().len() as u32;
    Footprint { sectors: distinct(32), lines: distinct(128), bytes: distinct(1) }
}

/// Counts the passes of a request through banks, and the minimum, byte by byte: the distinct rows of each bank that
/// each group of lanes needs. `merges` allows larger groups for lanes that share addresses in pairs.
pub(super) fn wavefronts(access: &Access<'_>, width: Width, banks: Banks, merges: bool) -> (u32, u32) {
    let round = u64::from(banks.banks * banks.bank_bytes);
    let lanes_per_group = match width.bytes {
        0..=4 => round / 4,
        5..=8 => round / 8,
        9..=16 => round / 16,
        _ => 1,
    };
    let mut addresses = BTreeMap::new();
    access.for_each_lane(|lane, address| _ = addresses.insert(lane, address));
    let agree = |distance: u32| {
        let mut lanes = addresses.iter();
        lanes.all(|(lane, address)| addresses.get(&(lane ^ distance)).is_none_or(|other| other == address))
    };
    let vector = [8, 16].contains(&width.bytes) && width.holes.is_none();
    let twice = if merges && vector && (agree(1) || agree(2)) { 2 } else { 1 };
    let lanes_per_group = (twice * lanes_per_group.clamp(1, 32)).min(32) as u32;
    let mut rows: BTreeMap<u32, BTreeMap<u64, BTreeSet<u64>>> = BTreeMap::new();
    let mut words: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
    for (lane, at) in bytes_of(access, width) {
        let bank = at / u64::from(banks.word_bytes) % u64::from(banks.banks);
        rows.entry(lane / lanes_per_group).or_default().entry(bank).or_default().insert(at / round);
        words.entry(lane / lanes_per_group).or_default().insert(at / 4);
    }
    let passes = rows.values().map(|banks| banks.values().map(BTreeSet::len).max().unwrap_or(0) as u32).sum();
    let ideal = words.values().map(|words| (4 * words.len()).div_ceil(round as usize) as u32).sum();
    (passes, ideal)
}
