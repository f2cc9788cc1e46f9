//! Statements whose lanes access different words of one bank of shared memory, and the address patterns of their lanes.

use super::super::gain::total;
use super::super::prelude::*;
use super::super::thresholds::banks::*;
use super::index;
use super::padding::{self, Padding};
use std::collections::BTreeMap;
use warpline_profile::model::BankConflict;
use warpline_simulator::geometry::Banks;

/// Accesses of a statement to an array, with bank conflicts.
pub struct Conflict<'f, 'a> {
    /// Access with the most conflicts.
    pub access: &'f Access<'a>,
    /// Request of this access with the most passes.
    pub request: &'f BankConflict,
    pub banks: Banks,
    /// Sums over all accesses of the statement.
    pub requests: u64,
    pub passes: u64,
    pub ideal_passes: u64,
    /// Number of bytes between neighbouring lanes; `None` if the distances differ or depend on data.
    pub stride: Option<i64>,
    /// Whether the index contains loaded data.
    pub is_data_dependent: bool,
    /// Whether the index contains the thread index.
    pub is_of_thread: bool,
    /// Whether lanes access a member of consecutive structures.
    pub has_structures: bool,
    /// Whether the distance between lanes differs between requests, as in the iterations of a reduction.
    pub stride_changes: bool,
    /// Number of bytes between rows of the block, if a warp contains several rows.
    pub block_row: Option<u64>,
    /// Row padding that removes the conflicts of all accesses to the array.
    pub row_padding: Option<Padding>,
    /// Padding after each sequence of words that covers all banks once; it removes the conflicts of all accesses as
    /// well.
    pub cycle_padding: Option<Padding>,
}

/// Returns all statements with bank conflicts.
pub fn conflicts<'f, 'a>(facts: &'f Facts<'a>) -> Vec<Conflict<'f, 'a>> {
    let excess = |access: &Access<'_>| access.sums.passes.saturating_sub(access.sums.ideal_passes);
    let has_conflicts = |access: &&Access<'_>| {
        access.space == "shared"
            && access.pattern.bank_conflict.is_some()
            && share(excess(access), access.sums.passes) >= LEAST_EXCESS
    };
    type Key<'k> = (u32, &'k str, u32, &'k str, Option<&'k str>);
    let mut statements: BTreeMap<Key<'_>, Vec<&Access<'_>>> = BTreeMap::new();
    for access in facts.accesses.iter().filter(has_conflicts) {
        let key = (access.kernel.id, access.file, access.line, access.op, access.variable());
        statements.entry(key).or_default().push(access);
    }
    let of_statement = |accesses: Vec<&'f Access<'a>>| {
        let key = |access: &&&Access<'_>| (excess(access), std::cmp::Reverse((access.column, access.site)));
        let worst = *accesses.iter().max_by_key(key)?;
        Conflict::for_statement(facts, worst, &accesses)
    };
    statements.into_values().filter_map(of_statement).collect()
}

impl<'f, 'a> Conflict<'f, 'a> {
    /// Describes the conflicts of a statement, based on its worst access.
    fn for_statement(facts: &'f Facts<'a>, access: &'f Access<'a>, all: &[&Access<'_>]) -> Option<Conflict<'f, 'a>> {
        let request = access.pattern.bank_conflict.as_ref()?;
        let banks = facts.rates.and_then(|rates| rates.shared_banks).unwrap_or(Banks::USUAL);
        let banks = Banks { merges_pairs: banks.merges_pairs && access.is_load(), ..banks };
        let sum = |value| total(all, value);
        let is_data_dependent = access.has_loaded_index() || index::is_made_of_data(access);
        let stride = stride(access, request).filter(|_| !is_data_dependent);
        // The padding must suit all accesses to the array.
        let is_peer = |peer: &&Access<'_>| peer.variable().is_some() && peer.variable() == access.variable();
        let peers: Vec<&Access<'_>> = facts.accesses_of(access.kernel.id, "shared").filter(is_peer).collect();
        let block_row = block_row(access).or_else(|| peers.iter().find_map(|peer| block_row(peer)));
        let mut found = Conflict {
            access,
            request,
            banks,
            requests: sum(|sums| sums.requests),
            passes: sum(|sums| sums.passes),
            ideal_passes: sum(|sums| sums.ideal_passes),
            stride,
            is_data_dependent,
            is_of_thread: index::is_made_of_thread(access),
            has_structures: takes_members(access, stride, request),
            stride_changes: false,
            block_row: block_row.filter(|_| !is_data_dependent),
            row_padding: None,
            cycle_padding: None,
        };
        found.stride_changes = found.stride_changes();
        let others: Vec<&BankConflict> = peers.iter().filter_map(|peer| peer.pattern.bank_conflict.as_ref()).collect();
        let padded = |row, most| padding::of_rows(request, &others, row, most, banks);
        found.row_padding = found
            .row()
            .and_then(|row| padded(row, MOST_PADDING))
            .or_else(|| padded(found.block_row?, MOST_ROW_PADDING));
        found.cycle_padding = padding::of_bank_cycles(request, &others, banks);
        Some(found)
    }

    /// Returns whether nearly all requests take as many passes as the worst request.
    fn has_equal_passes(&self) -> bool {
        let sums = &self.access.sums;
        sums.passes as f64 >= MOST_ALIKE * sums.requests as f64 * f64::from(self.request.passes)
    }

    /// Returns whether loops change the distance between lanes, by their counter or in unrolled iterations, and
    /// requests take different numbers of passes.
    fn stride_changes(&self) -> bool {
        let (sums, worst) = (&self.access.sums, f64::from(self.request.passes));
        let Some(stride) = self.stride.filter(|_| !self.has_equal_passes() && !self.has_structures) else {
            return false;
        };
        // Requests with fewer active lanes take fewer passes, independent of the stride.
        let of_worst = MOST_ALIKE_BY_LANE * worst / self.request.lanes.len().max(1) as f64;
        let differs_by_lane = sums.lanes > 0 && (sums.passes as f64) < of_worst * sums.lanes as f64;
        let by_step = match self.access.step() {
            Some(ThreadStep::Bytes(first)) => first.unsigned_abs() < stride.unsigned_abs(),
            _ => differs_by_lane,
        };
        by_step || self.access.steps_differ || index::step_grows(self.access)
    }

    /// Returns the number of bytes per row, if the code has a row between neighbouring lanes.
    fn row(&self) -> Option<u64> {
        let stride = self.stride?.unsigned_abs();
        match self.access.operand {
            Some(operand) if self.has_structures => Some(stride.max(operand.structure_bytes.into())),
            _ => {
                let is_fixed = matches!(self.access.step(), Some(ThreadStep::Bytes(_) | ThreadStep::Times(_)));
                (is_fixed && !self.stride_changes).then_some(stride)
            }
        }
    }

    /// Returns the number of elements between neighbouring lanes.
    pub fn stride_elements(&self) -> u64 {
        self.stride.map_or(0, i64::unsigned_abs) / u64::from(self.request.bytes.max(1))
    }

    /// Returns whether a library function, inlined into the user's kernel, performs the access.
    pub fn is_of_library(&self) -> bool {
        !is_system(&self.access.kernel.file)
            && ["cub::", "thrust::"].iter().any(|name| self.access.innermost.contains(name))
    }

    /// Returns whether rows of the block share banks, while neighbouring lanes of one row use different banks.
    pub fn has_padded_block_rows(&self) -> bool {
        let row = self.row_padding.map(|padding| padding.row);
        row.is_some() && row == self.block_row && self.stride.map(i64::unsigned_abs) != self.block_row
    }

    /// Returns whether each lane accesses a separate row whose length is a multiple of the words of all banks. Then
    /// only the position within the row determines the bank.
    pub fn has_own_rows(&self) -> bool {
        let period = u64::from(self.banks.pass_bytes());
        let lanes = &self.request.lanes;
        let (Some(&(first, low)), Some(&(last, high))) = (lanes.first(), lanes.last()) else { return false };
        let apart = u64::from(last.saturating_sub(first));
        if !self.is_data_dependent || period == 0 || apart < LEAST_ROWS || high <= low {
            return false;
        }
        let length = ((high - low) / apart).saturating_add(period / 2) / period * period;
        let start = low / period * period;
        let in_own_row = |&(lane, address): &(u32, u64)| {
            let begin = start.saturating_add(u64::from(lane.saturating_sub(first)).saturating_mul(length));
            (begin..begin.saturating_add(length)).contains(&address)
        };
        length > 0 && lanes.iter().all(in_own_row)
    }

    /// Returns whether data determines the bank, as far as the code shows.
    pub fn has_unknown_index(&self) -> bool {
        self.is_data_dependent || !self.is_of_thread && index::is_decided_by_data(self.access)
    }

    /// Returns three of the lanes that access different words of the most contended bank, if such lanes exist. Lanes
    /// that are always served in different passes, as with 8 or 16 bytes per lane, do not collide.
    pub fn colliding_lanes(&self) -> Option<String> {
        let together = match self.request.bytes {
            0..=4 => WARP,
            5..=8 => WARP / 2,
            _ => WARP / 4,
        };
        let mut by_bank: BTreeMap<(u32, u64), BTreeMap<u64, u32>> = BTreeMap::new();
        for &(lane, address) in &self.request.lanes {
            let word = address / u64::from(self.banks.word_bytes.max(1));
            let bank = word % u64::from(self.banks.banks.max(1));
            by_bank.entry((lane / together, bank)).or_default().entry(word).or_insert(lane);
        }
        let most = by_bank.into_values().max_by_key(BTreeMap::len).unwrap_or_default();
        let mut lanes: Vec<u32> = most.into_values().collect();
        lanes.sort_unstable();
        let shown: Vec<String> = lanes.iter().take(3).map(u32::to_string).collect();
        let more = if lanes.len() > 3 { ", …" } else { "" };
        (lanes.len() > 1).then(|| format!("{}{more}", shown.join(", ")))
    }
}

/// Returns the number of bytes between neighbouring lanes, if it is equal for all lanes of the request, or if the code
/// and some of the lanes agree on it.
fn stride(access: &Access<'_>, request: &BankConflict) -> Option<i64> {
    let step = |pair: &[(u32, u64)]| {
        let lanes = i64::from(pair[1].0) - i64::from(pair[0].0);
        let bytes = (pair[1].1 as i64).wrapping_sub(pair[0].1 as i64);
        bytes.checked_rem(lanes).filter(|rest| *rest == 0).and_then(|_| bytes.checked_div(lanes))
    };
    let steps: Vec<Option<i64>> = request.lanes.windows(2).map(step).collect();
    let first = (*steps.first()?)?;
    if steps.iter().all(|step| *step == Some(first)) {
        return Some(first);
    }
    // A warp that covers several rows has one distance within a row and another between rows.
    match access.operand?.thread_steps.get(lane_axis(access.kernel))? {
        // An unrolled loop may have other distances, and the request may belong to one of these.
        ThreadStep::Bytes(bytes) if steps.contains(&Some(*bytes)) => Some(*bytes),
        _ => None,
    }
}

/// Returns the number of bytes from one row of the block to the next, if a warp contains several rows.
fn block_row(access: &Access<'_>) -> Option<u64> {
    let block = block_of(access.kernel)?;
    let axis = lane_axis(access.kernel);
    let steps = &access.operand?.thread_steps;
    // If the lanes of a row are not consecutive in the array's row, the distance is not the length of a row.
    match (&steps[axis], steps.get(axis + 1)?) {
        (ThreadStep::Bytes(_), ThreadStep::Bytes(bytes)) if block[axis] < WARP => Some(bytes.unsigned_abs()),
        _ => None,
    }
}

/// Returns whether lanes access a member of an array of structures, and not an array inside one structure.
fn takes_members(access: &Access<'_>, stride: Option<i64>, request: &BankConflict) -> bool {
    let Some(operand) = access.operand else { return false };
    let size = u64::from(operand.structure_bytes);
    // Lanes are assumed to stay within an array that is part of a structure of unknown size.
    let is_array = size == 0 && operand.member.as_deref().is_some_and(|member| member.ends_with("[]"));
    let is_apart = |pair: &[(u32, u64)]| {
        let bytes = pair[1].1.abs_diff(pair[0].1);
        bytes != 0 && size > 0 && bytes.is_multiple_of(size)
    };
    operand.member.is_some()
        && !is_array
        && (stride.is_none_or(|stride| size <= stride.unsigned_abs()) || request.lanes.windows(2).all(is_apart))
}
