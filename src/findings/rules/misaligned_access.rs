//! Requests of neighbouring lanes that start within a sector, so that they touch an additional sector (CUDA C++ Best
//! Practices Guide, "A Sequential but Misaligned Access Pattern").

use super::super::facts::{address, index, staging};
use super::super::prelude::*;
use super::super::thresholds::coalescing::*;
use std::collections::{BTreeMap, BTreeSet};

described! {
    enum Cause {
        DataOffset { offset: Bytes } => "data-offset",
        PartOffset { allocation: Shown } => "part-offset",
        BlockOffset { offset: Option<Bytes> } => "block-offset",
        RowStart { row: Option<Count>, border: Option<Bytes> } => "row-start",
    }
    enum Remedy {
        AlignData => "align-data",
        AlignParts => "align-parts",
        AlignBlocks { multiple: Count } => "align-blocks",
        PadRows { padded: Option<Count>, border: Option<Bytes> } => "pad-rows",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    // Pointers into one allocation refer to different parts of it, and each part has a different start.
    type Key<'a> = (u32, Option<u64>, Option<&'a str>);
    let mut groups: BTreeMap<Key<'_>, Vec<&Access<'_>>> = BTreeMap::new();
    let global = |access: &&Access<'_>| access.space == "global" && access.allocation.is_some() && !access.is_opaque;
    for access in facts.accesses.iter().filter(global) {
        groups.entry((access.kernel.id, access.allocation, access.variable())).or_default().push(access);
    }
    // Groups pointers by allocation, with the number of pointers.
    let mut parts: BTreeMap<(u32, Option<u64>), (Vec<Found<'_>>, usize)> = BTreeMap::new();
    for ((kernel, allocation, _), accesses) in &groups {
        let (all, pointers) = parts.entry((*kernel, *allocation)).or_default();
        all.extend(found(facts, accesses));
        *pointers += usize::from(accesses.iter().any(|access| is_contiguous(access)));
    }
    // Arrays on one line with one cause are one change.
    let mut lines: BTreeMap<(u32, &str, u32, String), Vec<Found<'_>>> = BTreeMap::new();
    for (mut found, pointers) in parts.into_values() {
        // If another pointer is aligned, two misaligned pointers may be the neighbours on both sides.
        if found.len() < pointers && found.len() <= STENCIL_NEIGHBOURS {
            continue;
        }
        let is_offset = |one: &Found<'_>| matches!(one.cause, Cause::DataOffset { .. });
        let are_parts = found.len() > 1 && found.iter().all(is_offset);
        for mut found in found.drain(..) {
            // If several arrays have the same offset, their lines are one change as well.
            let line = if is_offset(&found) { 0 } else { found.worst.line };
            if are_parts {
                let allocation = describe_known(facts.memory(found.worst));
                (found.cause, found.remedy) = (Cause::PartOffset { allocation }, Remedy::AlignParts);
            }
            let place = (found.worst.kernel.id, found.worst.file, line, format!("{:?}{:?}", found.cause, found.remedy));
            lines.entry(place).or_default().push(found);
        }
    }
    lines.into_values().filter_map(|found| draft(facts, found)).collect()
}

/// A misaligned pointer, before findings are merged.
struct Found<'a> {
    cause: Cause,
    remedy: Remedy,
    worst: &'a Access<'a>,
    hits: Vec<&'a Access<'a>>,
}

/// Returns the finding for one cause: at the array that loses most, with the names of the other arrays.
fn draft(facts: &Facts<'_>, mut found: Vec<Found<'_>>) -> Option<Draft> {
    found.sort_by_key(|one| (std::cmp::Reverse(one.worst.sums.excess()), one.worst.column, one.worst.allocation));
    let hits: Vec<&Access<'_>> = found.iter().flat_map(|one| one.hits.iter().copied()).collect();
    let excess = |hits: &[&Access<'_>]| hits.iter().map(|access| excess_of_kernel(facts, access)).sum::<f64>();
    let worst = found[0].worst;
    let wasted_by = |hits: &[&Access<'_>]| facts.waste(worst.kernel, &Saving::by_coalescing(hits, facts), excess(hits));
    let is_worth = found.iter().any(|one| wasted_by(&one.hits) >= WORTH_A_CHANGE);
    let of_kernel = excess(&hits);
    if of_kernel < LEAST_MISALIGNED_SHARE {
        return None;
    }
    let Found { cause, remedy, .. } = &found[0];
    let mut diagnosis = Diagnosis::new(cause, remedy);
    let others: BTreeSet<&str> = found[1..].iter().filter_map(|one| one.worst.variable()).collect();
    diagnosis.figures.set("others", names(others));
    let waste = wasted_by(&hits);
    let gain = facts.gain(worst.kernel, &Saving::by_coalescing(&hits, facts));
    // Neighbouring warps share the sectors at their boundaries, so caches hide a part of the cost that the estimate
    // does not model.
    let score = waste.max(of_kernel * facts.kernel_share(worst.kernel)).min(waste.max(WORTH_A_CHANGE));
    // Longer rows have more bytes. If the gain is small, the finding is a note.
    let is_gained = gain.is_some() || facts.estimate(worst.kernel).is_none();
    let is_little = gain.as_ref().is_none_or(|gain| gain.factor < LEAST_GAIN_OF_BORDERS);
    let is_note = match remedy {
        Remedy::PadRows { border, .. } => border.is_some() && is_little || !(is_gained || is_worth),
        _ => false,
    };
    let (sums, pattern) = (&worst.sums, &worst.pattern);
    let offset = |bytes: Option<u64>| bytes.map_or(f64::NAN, |bytes| bytes as f64);
    let draft = Draft::for_access(facts, diagnosis, worst)
        .evidence("offset_bytes", offset(pattern.offset_bytes))
        .evidence("sector_offset_bytes", offset(pattern.sector_offset_bytes))
        .evidence("misaligned_requests", pattern.misaligned as f64)
        .sectors(sums)
        .gain(gain)
        .score(score)
        .note_if(is_note);
    // The user determines the start of the data that is passed to a library.
    (draft.severity > Severity::Note || !is_system(&worst.kernel.file)).then_some(draft)
}

/// Returns the misaligned accesses through one pointer, if alignment is possible. A stencil reads neighbours in
/// addition to the element itself, and only one of the three can be aligned. Therefore, all accesses of the kernel
/// through the pointer must be misaligned, or the rows must start at arbitrary positions.
fn found<'a>(facts: &Facts<'_>, accesses: &[&'a Access<'a>]) -> Option<Found<'a>> {
    let misaligned = |access: &Access<'_>| share(access.pattern.misaligned, access.pattern.contiguous) >= 0.5;
    let are_off = accesses.iter().all(|access| !is_contiguous(access) || misaligned(access) && !access.has_aligned);
    // If a kernel reads the neighbours on both sides without the element between them, one of them is always
    // misaligned.
    let offsets: BTreeSet<u64> = accesses.iter().flat_map(|access| &access.sector_offsets).copied().collect();
    if !are_off || offsets.len() > 1 {
        return None;
    }
    // If a loaded index determines the start, as for a row of a sparse matrix, no layout aligns it.
    let hit = |access: &&&Access<'_>| {
        is_contiguous(access) && !access.has_loaded_index() && access.sums.excess_share() >= LEAST_MISALIGNED_EXCESS
    };
    let hits: Vec<&'a Access<'a>> = accesses.iter().filter(hit).copied().collect();
    let worst = worst(hits.iter().copied(), |access| access.sums.excess())?;
    // A neighbour of an aligned element is misaligned, unless the load is for a tile in shared memory.
    if worst.is_load() && address::is_neighbour(worst) && !staging::is_near_store(facts, worst, NEAR_LINES) {
        return None;
    }
    let (cause, remedy) = classify(worst)?;
    Some(Found { cause, remedy, worst, hits })
}

type Condition = fn(&Access<'_>) -> bool;

/// Conditions for accesses that no layout can align completely: launches that work on a part, windows within rows,
/// positions that data determines, and sliding windows.
const UNALIGNABLE: &[Condition] = &[is_one_part, address::is_held_within, index::is_decided_by_data, index::slides];

/// Returns where the requests of an access start, and which data to align; `None` if nothing can be aligned.
fn classify(access: &Access<'_>) -> Option<(Cause, Remedy)> {
    let pattern = &access.pattern;
    let is_nearly_all = share(pattern.misaligned, pattern.contiguous) >= NEARLY_ALL;
    let is_off = |offset: &u64| is_nearly_all && !offset.is_multiple_of(SECTOR_BYTES);
    if let Some(offset) = pattern.offset_bytes.filter(is_off) {
        return Some((Cause::DataOffset { offset: Bytes(offset) }, Remedy::AlignData));
    }
    let multiple = Count((SECTOR_BYTES / u64::from(access.bytes.max(1))).max(1));
    let offset = pattern.sector_offset_bytes.filter(is_off).map(Bytes);
    let is_unalignable = || UNALIGNABLE.iter().any(|condition| condition(access));
    if offset.is_some() || !is_unalignable() && address::has_blocks_off_sectors(access) {
        return Some((Cause::BlockOffset { offset }, Remedy::AlignBlocks { multiple }));
    }
    if is_unalignable() || !index::has_rows(access) {
        return None;
    }
    let row = address::row_bytes(access).filter(|bytes| bytes % SECTOR_BYTES != 0);
    let padded = row.map(|bytes| Count(bytes.next_multiple_of(SECTOR_BYTES)));
    let border = index::border_bytes(access);
    let has_border = (1..=MOST_OF_BORDER).contains(&border) && border % SECTOR_BYTES as i64 != 0;
    let border = has_border.then_some(Bytes(border.unsigned_abs()));
    Some((Cause::RowStart { row: row.map(Count), border }, Remedy::PadRows { padded, border }))
}

/// Returns whether each launch has one block in which each warp makes one request.
fn is_one_part(access: &Access<'_>) -> bool {
    let one = |grid: [u32; 3]| grid == [1; 3];
    let kernel = access.kernel;
    access.most_requests <= warps(kernel)
        && kernel.launches.iter().all(|launch| one(launch.grid))
        && kernel.launch_groups.iter().all(|group| group.grid.is_some_and(one))
}
