//! Requests of neighbouring lanes that begin within a sector: they touch one sector more (CUDA C++ Best Practices Guide, "A
//! Sequential but Misaligned Access Pattern").

use std::collections::{BTreeMap, BTreeSet};

use super::super::diagnosis::{Bytes, Count, Diagnosis, Name, Names, Shown, described};
use super::super::draft::{Draft, WORTH_A_CHANGE};
use super::super::facts::access::{Access, share};
use super::super::facts::pattern::is_contiguous;
use super::super::facts::{Facts, beside, block_of, excess_of_kernel, index, warps};
use super::super::gain::Saving;
use super::super::thresholds::coalescing::{
    LEAST_GAIN_OF_BORDERS, LEAST_MISALIGNED_EXCESS, LEAST_MISALIGNED_SHARE, MOST_OF_BORDER, NEAR_LINES, NEARLY_ALL,
    STENCIL_NEIGHBOURS,
};
use warpline_profile::is_system;
use warpline_profile::model::Severity;
use warpline_simulator::geometry::SECTOR_BYTES;

described! {
    /// Where the requests start.
    pub(in super::super) enum Cause {
        /// At a member of structures whose size is no multiple of a sector.
        MemberOffset { member: Name, size: Bytes } => "member-offset",
        /// At one offset behind a line, in all requests.
        DataOffset { offset: Bytes } => "data-offset",
        /// At parts into which an allocation is divided.
        PartOffset { allocation: Shown } => "part-offset",
        /// Where the block before ends.
        BlockEnd => "block-end",
        /// At one offset behind a sector, in all blocks and rows.
        BlockOffset { offset: Bytes } => "block-offset",
        /// Where a block's share of the data starts.
        BlockShare { share: Option<Count> } => "block-share",
        /// Within rows, as blocks are narrower than a warp.
        NarrowBlock { width: Count } => "narrow-block",
        /// Where rows start.
        RowStart { row: Option<Count>, padded: Option<Count> } => "row-start",
        /// At a border in front of what is accessed of a row.
        RowBorder { border: Bytes } => "row-border",
    }
}

described! {
    pub(in super::super) enum Remedy {
        AlignMember => "align-member",
        AlignData => "align-data",
        AlignParts => "align-parts",
        WholeBlocks => "whole-warps-per-block",
        AlignBlocks { multiple: Count } => "align-blocks",
        WideBlocks => "wide-blocks",
        PadRows => "pad-rows",
        PadBorder => "pad-rows-and-border",
    }
}

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    // Pointers into one allocation lead to parts of it, of which each starts somewhere.
    type Key<'a> = (u32, Option<u64>, Option<&'a str>);
    let mut groups: BTreeMap<Key<'_>, Vec<&Access<'_>>> = BTreeMap::new();
    let global = |access: &&Access<'_>| access.space == "global" && access.allocation.is_some() && !access.is_opaque;
    for access in facts.accesses.iter().filter(global) {
        groups.entry((access.kernel.id, access.allocation, access.variable())).or_default().push(access);
    }
    // By allocation, with the number of its pointers.
    let mut parts: BTreeMap<(u32, Option<u64>), (Vec<Found<'_>>, usize)> = BTreeMap::new();
    for ((kernel, allocation, _), accesses) in &groups {
        let (all, pointers) = parts.entry((*kernel, *allocation)).or_default();
        all.extend(found(facts, accesses));
        *pointers += usize::from(accesses.iter().any(|access| is_contiguous(access)));
    }
    // Arrays on one line with one cause are one thing to change.
    let mut lines: BTreeMap<(u32, &str, u32, String), Vec<Found<'_>>> = BTreeMap::new();
    for (mut found, pointers) in parts.into_values() {
        // Next to one that is aligned, two may be the neighbours on both sides.
        if found.len() < pointers && found.len() <= STENCIL_NEIGHBOURS {
            continue;
        }
        let are_parts = found.len() > 1 && found.iter().all(Found::is_offset);
        if are_parts && let Some(allocation) = facts.allocation_name(found[0].worst.allocation) {
            let cause = Cause::PartOffset { allocation: Shown(allocation) };
            found.iter_mut().for_each(|one| (one.cause, one.remedy) = (cause.clone(), Remedy::AlignParts));
        }
        for found in found {
            // Of an offset that several arrays have, the lines are one thing, too.
            let line = if found.is_offset() || are_parts { 0 } else { found.worst.line };
            let place = (found.worst.kernel.id, found.worst.file, line, format!("{:?}{:?}", found.cause, found.remedy));
            lines.entry(place).or_default().push(found);
        }
    }
    lines.into_values().filter_map(|found| draft(facts, found)).collect()
}

/// What is found of one pointer.
struct Found<'a> {
    cause: Cause,
    remedy: Remedy,
    worst: &'a Access<'a>,
    hits: Vec<&'a Access<'a>>,
}

impl Found<'_> {
    /// The data starts at an offset, the same in all requests.
    fn is_offset(&self) -> bool {
        matches!(self.cause, Cause::DataOffset { .. })
    }
}

/// The finding of one cause: of the array that loses most, with the others' names.
fn draft(facts: &Facts<'_>, mut found: Vec<Found<'_>>) -> Option<Draft> {
    found.sort_by_key(|one| (std::cmp::Reverse(one.worst.sums.excess()), one.worst.column, one.worst.allocation));
    let hits: Vec<&Access<'_>> = found.iter().flat_map(|one| one.hits.iter().copied()).collect();
    let excess = |hits: &[&Access<'_>]| hits.iter().map(|access| excess_of_kernel(facts, access)).sum::<f64>();
    let worst = found[0].worst;
    let wasted_by = |hits: &[&Access<'_>]| facts.waste(worst.kernel, &Saving::of_coalescing(hits, facts), excess(hits));
    let is_worth = found.iter().any(|one| wasted_by(&one.hits) >= WORTH_A_CHANGE);
    let of_kernel = excess(&hits);
    if of_kernel < LEAST_MISALIGNED_SHARE {
        return None;
    }
    let Found { cause, remedy, .. } = &found[0];
    let mut diagnosis = Diagnosis::new(cause, remedy);
    let others: BTreeSet<&str> = found[1..].iter().filter_map(|one| one.worst.variable()).collect();
    let others: Vec<String> = others.into_iter().map(str::to_owned).collect();
    diagnosis.figures.set("others", (!others.is_empty()).then_some(Names(others)));
    let waste = wasted_by(&hits);
    let gain = facts.gain(worst.kernel, &Saving::of_coalescing(&hits, facts), "");
    // Neighbouring warps share the sectors at the seams, so that caches hide what the estimate does not see either.
    let score = waste.max(of_kernel * facts.kernel_share(worst.kernel)).min(waste.max(WORTH_A_CHANGE));
    // Longer rows are more bytes: where little is gained for these, it is a note.
    let is_gained = gain.is_some() || facts.estimate(worst.kernel).is_none();
    let is_little = gain.as_ref().is_none_or(|gain| gain.factor < LEAST_GAIN_OF_BORDERS);
    let is_note = match remedy {
        Remedy::PadBorder => is_little || !(is_gained || is_worth),
        Remedy::PadRows => !(is_gained || is_worth),
        _ => false,
    };
    let (sums, pattern) = (&worst.sums, &worst.pattern);
    let offset = |bytes: Option<u64>| bytes.map_or(f64::NAN, |bytes| bytes as f64);
    let draft = Draft::of_access(facts, diagnosis, worst)
        .evidence("offset_bytes", offset(pattern.offset_bytes))
        .evidence("sector_offset_bytes", offset(pattern.sector_offset_bytes))
        .evidence("misaligned_requests", pattern.misaligned as f64)
        .evidence("requests", sums.requests as f64)
        .evidence("sectors", sums.sectors as f64)
        .evidence("ideal_sectors", sums.ideal_sectors as f64)
        .gain(gain)
        .score(score);
    let draft = if is_note { draft.severity(Severity::Note) } else { draft };
    // Where a library is to start, the user knows.
    (draft.severity > Severity::Note || !is_system(&worst.kernel.file)).then_some(draft)
}

/// A stencil reads its neighbours beside the element itself, and only one of the three can be aligned. So all accesses of the
/// kernel through one pointer have to be misaligned, or the rows start anywhere.
fn found<'a>(facts: &Facts<'_>, accesses: &[&'a Access<'a>]) -> Option<Found<'a>> {
    let misaligned = |access: &Access<'_>| share(access.pattern.misaligned, access.pattern.contiguous) >= 0.5;
    if !accesses.iter().all(|access| !is_contiguous(access) || (misaligned(access) && !access.has_aligned)) {
        return None;
    }
    // Neighbours on both sides without the element between them: whatever is moved, one of them stays off.
    let offsets: BTreeSet<u64> = accesses.iter().flat_map(|access| &access.sector_offsets).copied().collect();
    if offsets.len() > 1 {
        return None;
    }
    // Where a loaded index gives the start, as of a row of a sparse matrix, no layout aligns it.
    let loaded = |access: &Access<'_>| access.operand.is_some_and(|operand| operand.loaded_index);
    let hit = |access: &&&Access<'_>| {
        is_contiguous(access) && !loaded(access) && access.sums.excess_share() >= LEAST_MISALIGNED_EXCESS
    };
    let hits: Vec<&'a Access<'a>> = accesses.iter().filter(hit).copied().collect();
    let worst =
        *hits.iter().max_by_key(|access| (access.sums.excess(), std::cmp::Reverse((access.line, access.column))))?;
    // Whatever starts on a sector, what lies next to it does not.
    if worst.op == "load" && beside::is_neighbour(worst) && !is_staged(facts, worst) {
        return None;
    }
    let (cause, remedy) = classify(worst)?;
    Some(Found { cause, remedy, worst, hits })
}

/// Where the requests of an access start, and what to align; `None` where nothing could be.
fn classify(access: &Access<'_>) -> Option<(Cause, Remedy)> {
    let pattern = &access.pattern;
    let is_nearly_all = share(pattern.misaligned, pattern.contiguous) >= NEARLY_ALL;
    let offset = pattern.offset_bytes.filter(|offset| is_nearly_all && offset % SECTOR_BYTES != 0);
    if let Some(offset) = offset {
        return Some((Cause::DataOffset { offset: Bytes(offset) }, Remedy::AlignData));
    }
    let of_structure = access.operand.filter(|operand| {
        operand.structure_bytes > access.bytes && u64::from(operand.structure_bytes) % SECTOR_BYTES != 0
    });
    if let Some(operand) = of_structure
        && let Some(member) = &operand.member
    {
        let member = Name(member.trim_start_matches('.').to_owned());
        return Some((
            Cause::MemberOffset { member, size: Bytes(operand.structure_bytes.into()) },
            Remedy::AlignMember,
        ));
    }
    of_blocks(access, is_nearly_all).unwrap_or_else(|| of_rows(access))
}

/// Blocks whose shares start within sectors; `Some(None)` where nothing could be aligned.
fn of_blocks(access: &Access<'_>, is_nearly_all: bool) -> Option<Option<(Cause, Remedy)>> {
    let multiple = Count((SECTOR_BYTES / u64::from(access.bytes.max(1))).max(1));
    let off = ends_within_sector(access);
    if off.is_some_and(is_row) && index::blocks_follow_each_other(access) {
        return Some(Some((Cause::BlockEnd, Remedy::WholeBlocks)));
    }
    if let Some(offset) = access.pattern.sector_offset_bytes.filter(|&offset| is_nearly_all && offset != 0) {
        return Some(Some((Cause::BlockOffset { offset: Bytes(offset) }, Remedy::AlignBlocks { multiple })));
    }
    // A launch that works on a part, a window held within rows, and what data or a sliding loop decides have no rows to align.
    if is_one_part(access)
        || beside::is_held_within(access)
        || index::is_decided_by_data(access)
        || index::slides(access)
    {
        return Some(None);
    }
    if index::has_shares_of_blocks(access) {
        return Some(Some((Cause::BlockShare { share: None }, Remedy::AlignBlocks { multiple })));
    }
    if let Some([width, ..]) = off.filter(|&block| !is_row(block)) {
        return Some(Some((Cause::NarrowBlock { width: Count(width.into()) }, Remedy::WideBlocks)));
    }
    if !index::has_rows(access) {
        return Some(None);
    }
    let share = index::share_of_blocks(access).filter(|_| !has_border(access));
    share.map(|share| Some((Cause::BlockShare { share: Some(Count(share)) }, Remedy::PadRows)))
}

/// Rows whose length is no multiple of a sector.
fn of_rows(access: &Access<'_>) -> Option<(Cause, Remedy)> {
    if has_border(access) {
        let border = Bytes(index::border_bytes(access).unsigned_abs());
        return Some((Cause::RowBorder { border }, Remedy::PadBorder));
    }
    let row = beside::row_bytes(access).filter(|bytes| bytes % SECTOR_BYTES != 0);
    let padded = row.map(|bytes| Count(bytes.next_multiple_of(SECTOR_BYTES)));
    Some((Cause::RowStart { row: row.map(Count), padded }, Remedy::PadRows))
}

/// The index has a number of elements in front of what it accesses of a row.
fn has_border(access: &Access<'_>) -> bool {
    let border = index::border_bytes(access);
    (1..=MOST_OF_BORDER).contains(&border) && border % SECTOR_BYTES as i64 != 0
}

/// What it loads goes to shared memory, as a tile that may as well begin on a sector.
fn is_staged(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let mut shared = facts.accesses_of(access.kernel.id, "shared");
    shared.any(|one| one.op == "store" && one.file == access.file && one.line.abs_diff(access.line) <= NEAR_LINES)
}

/// The shape of the kernel's blocks, if what a row of a block's threads accesses does not fill whole sectors.
fn ends_within_sector(access: &Access<'_>) -> Option<[u32; 3]> {
    block_of(access.kernel).filter(|block| u64::from(block[0]) * u64::from(access.bytes) % SECTOR_BYTES != 0)
}

/// A block has one row of threads.
fn is_row(block: [u32; 3]) -> bool {
    block[1] == 1 && block[2] == 1
}

/// Each launch has a block that makes a request of each warp.
fn is_one_part(access: &Access<'_>) -> bool {
    let one = |grid: [u32; 3]| grid == [1; 3];
    let kernel = access.kernel;
    access.most_requests <= warps(kernel)
        && kernel.launches.iter().all(|launch| one(launch.grid))
        && kernel.launch_groups.iter().all(|group| group.grid.is_some_and(one))
}
