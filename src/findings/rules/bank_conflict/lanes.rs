//! How the lanes of a conflicting request lie to each other.

use super::super::super::facts::access::Access;
use super::super::super::facts::{block_of, lane_axis};
use super::padding::passes;
use crate::geometry::Banks;
use crate::profile::model::{BankConflict, ThreadStep};

/// Elements from lane to lane, at most, that are a thread's own rather than a row of an array.
const MOST_PAIR: u64 = 4;

/// Bytes from one lane to the next: as the code has it, or as all lanes of the example have it.
pub(super) fn stride(access: &Access<'_>, example: &BankConflict) -> Option<i64> {
    let pairs = example.lanes.windows(2).map(|pair| (pair[1].0 - pair[0].0, pair[1].1 as i64 - pair[0].1 as i64));
    let steps_of_example: Vec<Option<i64>> =
        pairs.map(|(lanes, bytes)| (bytes % i64::from(lanes) == 0).then(|| bytes / i64::from(lanes))).collect();
    let first = (*steps_of_example.first()?)?;
    if steps_of_example.iter().all(|step| *step == Some(first)) {
        return Some(first);
    }
    // Warps of several rows: within a row, and to the next.
    match access.operand?.thread_steps.get(lane_axis(access.kernel))? {
        // An unrolled loop may have other steps, and the example come from one of these.
        ThreadStep::Bytes(bytes) if steps_of_example.contains(&Some(*bytes)) => Some(*bytes),
        _ => None,
    }
}

/// Bytes from one row of the block to the next, where a warp has several.
pub(super) fn rows_of_block(access: &Access<'_>) -> Option<u64> {
    let block = block_of(access.kernel)?;
    let axis = lane_axis(access.kernel);
    let steps = &access.operand?.thread_steps;
    // Where the row's own lanes do not lie along it, as on the fields of one colour of a board, the step is not one row of the array.
    match (&steps[axis], steps.get(axis + 1)?) {
        (ThreadStep::Bytes(_), ThreadStep::Bytes(bytes)) if block[axis] < 32 => Some(bytes.unsigned_abs()),
        _ => None,
    }
}

/// Bytes of a row, where neighbouring lanes lie side by side but for a row up or down, as on the fields of one colour of a board.
pub(super) fn row_between_neighbours(example: &BankConflict) -> Option<u64> {
    let mut counts: std::collections::BTreeMap<i64, usize> = std::collections::BTreeMap::new();
    for pair in example.lanes.windows(2).filter(|pair| pair[1].0 == pair[0].0 + 1) {
        let apart = (pair[1].1 as i64).wrapping_sub(pair[0].1 as i64);
        *counts.entry(apart.wrapping_sub(example.bytes.into())).or_default() += 1;
    }
    let (&row, up) = counts.iter().filter(|(row, _)| **row > 0).max_by_key(|(_, count)| **count)?;
    let down = counts.get(&-row)?;
    let is_usual = 2 * (up + down) >= example.lanes.len() && row > i64::from(example.bytes);
    is_usual.then_some(row.unsigned_abs())
}

/// Lanes of the example that meet in a bank with different words: one of each word, of the bank where most words are wanted.
/// Lanes that are served in different passes anyway, as of 8 and 16 bytes each, do not meet.
pub(super) fn meeting(example: &BankConflict, banks: Banks) -> String {
    use std::collections::BTreeMap;
    let together = match example.bytes {
        0..=4 => 32,
        5..=8 => 16,
        _ => 8,
    };
    let mut by_bank: BTreeMap<(u32, u64), BTreeMap<u64, u32>> = BTreeMap::new();
    for &(lane, address) in &example.lanes {
        let word = address / u64::from(banks.word_bytes.max(1));
        let bank = word % u64::from(banks.banks.max(1));
        by_bank.entry((lane / together, bank)).or_default().entry(word).or_insert(lane);
    }
    let most = by_bank.into_values().max_by_key(BTreeMap::len).unwrap_or_default();
    let mut lanes: Vec<u32> = most.into_values().collect();
    lanes.sort_unstable();
    let shown: Vec<String> = lanes.iter().take(3).map(u32::to_string).collect();
    format!("{}{}", shown.join(", "), if lanes.len() > 3 { ", …" } else { "" })
}

/// Whether the lanes that lie where the thread's number puts them do not meet each other, but others, which lie elsewhere.
pub(super) fn meets_another_place(access: &Access<'_>, example: &BankConflict, banks: Banks) -> bool {
    let Some(block) = block_of(access.kernel) else { return false };
    let (Some(operand), axis) = (access.operand, lane_axis(access.kernel)) else { return false };
    let width = block[axis].max(1);
    let step = |axis: usize| match operand.thread_steps.get(axis) {
        Some(ThreadStep::Bytes(bytes)) => Some(*bytes),
        _ => None,
    };
    let Some(by_lane) = step(axis).filter(|bytes| *bytes != 0) else { return false };
    let by_row = step(axis + 1);
    if by_row.is_none() && width < 32 {
        return false;
    }
    let begin = |&(lane, address): &(u32, u64)| {
        let moved = i64::from(lane % width) * by_lane + i64::from(lane / width) * by_row.unwrap_or(0);
        (address as i64).wrapping_sub(moved)
    };
    let mut counts = std::collections::BTreeMap::new();
    example.lanes.iter().for_each(|lane| *counts.entry(begin(lane)).or_insert(0usize) += 1);
    let Some((&usual, &count)) = counts.iter().max_by_key(|(_, count)| **count) else { return false };
    let own = BankConflict {
        lanes: example.lanes.iter().filter(|lane| begin(lane) == usual).copied().collect(),
        ..example.clone()
    };
    2 * count > example.lanes.len()
        && count < example.lanes.len()
        && passes(&own, banks, |address| address) <= own.ideal
}

/// Whether lanes are so near each other that what lies between them is a thread's own.
pub(super) fn is_of_thread(stride: i64, example: &BankConflict) -> bool {
    (2..=MOST_PAIR).contains(&(stride.unsigned_abs() / u64::from(example.bytes.max(1))))
}

/// Whether the active lanes are structures of this size apart, with lanes between them that do nothing.
pub(super) fn are_neighbours(example: &BankConflict, size: u64) -> bool {
    let mut apart = example.lanes.windows(2).map(|pair| pair[1].1.abs_diff(pair[0].1));
    size > 0 && apart.all(|bytes| bytes != 0 && bytes.is_multiple_of(size))
}

/// Whether each lane of the example stays in a row of its own whose length is a multiple of what the banks hold once: then the place
/// in the row alone decides over the bank.
pub(super) fn has_own_rows(example: &BankConflict, banks: Banks) -> bool {
    let period = u64::from(banks.banks) * u64::from(banks.word_bytes);
    let (Some(&(first, low)), Some(&(last, high))) = (example.lanes.first(), example.lanes.last()) else {
        return false;
    };
    let apart = u64::from(last.saturating_sub(first));
    if period == 0 || apart < 8 || high <= low {
        return false;
    }
    let length = ((high - low) / apart + period / 2) / period * period;
    let start = low / period * period;
    let in_own_row = |&(lane, address): &(u32, u64)| {
        let begin = start.saturating_add(u64::from(lane.saturating_sub(first)).saturating_mul(length));
        (begin..begin.saturating_add(length)).contains(&address)
    };
    length > 0 && example.lanes.iter().all(in_own_row)
}

/// Whether neighbouring lanes of the example are about equally far apart, by more than an element, as where their number is multiplied or divided.
pub(super) fn are_evenly_apart(example: &BankConflict) -> bool {
    let element = u64::from(example.bytes.max(1));
    let mut apart = Vec::new();
    for pair in example.lanes.windows(2) {
        let lanes = u64::from(pair[1].0.saturating_sub(pair[0].0)).max(1);
        let Some(bytes) = pair[1].1.checked_sub(pair[0].1) else { return false };
        apart.push(bytes / lanes);
    }
    let (least, most) = (apart.iter().min().copied().unwrap_or(0), apart.iter().max().copied().unwrap_or(0));
    least > element && most <= least + element
}

/// Lengths of rows, in bytes, that the array may have as its accesses say, with the elements of padding to try: those that other accesses have
/// from lane to lane, and what lies between the groups of neighbouring lanes here; none where these groups do not lie a multiple of all banks' words
/// apart.
pub(super) fn rows_of_array(
    access: &Access<'_>,
    example: &BankConflict,
    peers: &[&Access<'_>],
    banks: Banks,
) -> Vec<(u64, u64)> {
    let turn = u64::from(banks.pass_bytes());
    let Some(apart) = between_groups(example).filter(|bytes| bytes.is_multiple_of(turn)) else { return Vec::new() };
    let of_peers = peers.iter().filter(|peer| peer.site != access.site).filter_map(|peer| {
        let bytes = stride(peer, peer.pattern.bank_conflict.as_ref()?)?.unsigned_abs();
        (bytes > u64::from(example.bytes)).then_some((bytes, super::MOST_PADDING))
    });
    let mut rows: Vec<(u64, u64)> = of_peers.collect();
    rows.push((apart, super::MOST_ROW_PADDING));
    rows
}

/// Bytes from a group of lanes at neighbouring elements to the next, where all groups are as far apart.
fn between_groups(example: &BankConflict) -> Option<u64> {
    let breaks = example.lanes.windows(2).filter(|pair| {
        let lanes = u64::from(pair[1].0.saturating_sub(pair[0].0));
        pair[0].1.checked_add(lanes.saturating_mul(example.bytes.into())) != Some(pair[1].1)
    });
    let mut begins: Vec<u64> = example.lanes.first().map(|lane| lane.1).into_iter().collect();
    begins.extend(breaks.map(|pair| pair[1].1));
    let mut apart = begins.windows(2).map(|pair| pair[1].checked_sub(pair[0]));
    let first = apart.next()??;
    (2 * begins.len() <= example.lanes.len() && apart.all(|bytes| bytes == Some(first))).then_some(first)
}
