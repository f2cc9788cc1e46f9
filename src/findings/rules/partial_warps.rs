//! Block shapes that leave lanes of each warp empty, or split its requests into short rows.

use super::super::draft::{Draft, WORTH_A_CHANGE};
use super::super::facts::access::{Access, share};
use super::super::facts::{Facts, block_of, innermost};
use super::super::gain::Saving;
use super::super::words;
use super::small_launch::is_next_to_nothing;
use crate::geometry::SECTOR_BYTES;
use crate::profile::model::{Frame, Kernel, ThreadStep};

const WARP: u64 = 32;
/// Least share of a block's lanes that are never there.
const LEAST_EMPTY: f64 = 0.15;
/// Least share of the time of all kernels that is wasted.
const LEAST_WASTE: f64 = 0.005;
/// Least share of sectors that longer rows would save.
const LEAST_SAVED: f64 = 0.15;

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    facts.profile.kernels.iter().filter_map(|kernel| draft(facts, kernel)).collect()
}

fn draft(facts: &Facts<'_>, kernel: &Kernel) -> Option<Draft> {
    let block = block_of(kernel)?;
    let threads: u64 = block.iter().map(|&size| u64::from(size)).fold(1, u64::saturating_mul);
    let lanes = threads.div_ceil(WARP) * WARP;
    let empty = share(lanes - threads.min(lanes), lanes);
    // Rows of the block's width, where that is no part of a line.
    let short = |access: &&Access<'_>| {
        let pattern = &access.pattern;
        // Where a whole row of lanes reads one address, or each row the same ones, its length changes little.
        let repeated = access.operand.is_some_and(|operand| operand.thread_steps[..2].contains(&ThreadStep::None));
        !repeated
            && !access.is_opaque
            && share(pattern.rows, pattern.requests) >= 0.5
            && u64::from(block[0]) < WARP
            // Shorter rows are those of lanes that a branch lets through.
            && pattern.row_lanes.is_some_and(|lanes| lanes <= u64::from(block[0]) && 4 * lanes >= 3 * u64::from(block[0]))
            && saved(access) >= LEAST_SAVED
    };
    let split: Vec<&Access<'_>> = facts.accesses_of(kernel.id, "global").filter(short).collect();
    let worst =
        split.iter().max_by_key(|access| (saved_sectors(access), std::cmp::Reverse((access.line, access.column))));
    if empty < LEAST_EMPTY && worst.is_none() {
        return None;
    }
    let shape = shape(block);
    let mut saving = split.iter().fold(Saving::default(), |sum, access| {
        // What rows that begin within a sector cost stays, whatever their length.
        let part = share(saved_sectors(access), access.sums.excess());
        sum.and(Saving::of_coalescing(&[access], facts).times(part))
    });
    if empty >= LEAST_EMPTY {
        // Full warps issue each instruction for as many lanes with fewer warps.
        let issued: u64 = kernel.instructions.values().map(|count| count.warps).fold(0, u64::saturating_add);
        for limit in ["instructions", "l1_tag", "l1_data", "shared"] {
            let amount =
                kernel.estimates.first().and_then(|estimate| estimate.limits.iter().find(|one| one.name == limit));
            saving = saving.and(Saving::of(limit, empty * amount.map_or(issued as f64, |limit| limit.amount as f64)));
        }
    }
    let mut what = Vec::new();
    if empty >= LEAST_EMPTY {
        what.push(format!(
            "blocks of {shape} {} fill {threads} of the {lanes} lanes of {}: {} of each instruction's lanes are never there",
            if threads == 1 { "thread" } else { "threads" },
            words::several(lanes / WARP, "warp", "warps"),
            words::percent(empty),
        ));
    }
    if let Some(worst) = worst {
        what.push(format!(
            "{} {shape} threads split each request to {} into rows of {}: {} sectors of 32 bytes where one row of its lanes would touch {}",
            if what.is_empty() { "blocks of" } else { "and the" },
            facts.target(worst),
            words::several(worst.pattern.row_lanes.unwrap_or(0), "lane", "lanes"),
            words::ratio(worst.sums.sectors, worst.sums.requests),
            words::ratio(worst.sums.sectors - saved_sectors(worst), worst.sums.requests),
        ));
    }
    let cure = if threads == 1 {
        "one thread does the work of a whole block: let the threads of a warp share it, an element or a step each, or let the threads of one block \
         do what blocks of one thread do now; work that has to be done in order by one thread is better done by a thread of the kernel before or \
         after it, or on the host"
            .to_owned()
    } else if worst.is_some() {
        "give the block a width of 32 threads or a multiple, as 32 x 8, so that a warp is one row".to_owned()
    } else {
        "give blocks a multiple of 32 threads; where the data has fewer, let a warp take several pieces".to_owned()
    };
    let excess: f64 = split
        .iter()
        .map(|access| {
            share(saved_sectors(access), access.sums.excess()) * super::super::facts::excess_of_kernel(facts, access)
        })
        .sum();
    let waste = facts.waste(kernel, &saving, excess.max(empty)).max(if empty >= LEAST_EMPTY {
        empty * facts.kernel_share(kernel)
    } else {
        0.0
    });
    // A kernel that sets something up is as small as it should be, and one that does next to nothing has nothing to share.
    if waste < if threads == 1 { WORTH_A_CHANGE } else { LEAST_WASTE } || threads == 1 && is_next_to_nothing(kernel) {
        return None;
    }
    let mut draft = match worst {
        Some(worst) => Draft::new(what.join(", "), cure).at_access(worst),
        None => Draft::new(what.join(", "), cure).at_frame(launch_line(kernel)).of_kernel(kernel),
    };
    if draft.line == 0 {
        draft = draft.at_kernel(kernel);
    }
    Some(
        draft
            .evidence("block_x", block[0].into())
            .evidence("block_y", block[1].into())
            .evidence("block_z", block[2].into())
            .evidence("empty_lanes_share", empty)
            // How much of what one thread does others could do, nobody knows.
            .gain(facts.gain(kernel, &saving, "full warps, whose requests are one row").filter(|_| threads > 1))
            .score(waste),
    )
}

/// Sectors that an access in rows would save, if each request were one row that begins as these do: on a sector, or within one.
fn saved_sectors(access: &Access<'_>) -> u64 {
    let sums = &access.sums;
    let Some(row) = access.pattern.row_lanes.filter(|&lanes| lanes > 0) else { return 0 };
    let aligned = (row * u64::from(access.bytes)).div_ceil(SECTOR_BYTES).max(1);
    let rows = sums.lanes.div_ceil(row);
    // Each row that begins within a sector touches one more at most; what goes beyond has another reason.
    let off = share(sums.sectors.saturating_sub(rows.saturating_mul(aligned)), rows).min(1.0);
    let left = sums.ideal_sectors.saturating_add((off * sums.requests as f64) as u64);
    sums.sectors.saturating_sub(left)
}

fn saved(access: &Access<'_>) -> f64 {
    share(saved_sectors(access), access.sums.sectors)
}

/// Where the kernel is launched.
pub(super) fn launch_line(kernel: &Kernel) -> Option<&Frame> {
    let group = || kernel.launch_groups.first().and_then(|group| innermost(&group.path));
    kernel.launches.first().and_then(|launch| innermost(&launch.path)).or_else(group)
}

/// `256`, `4 x 4`.
pub(super) fn shape(sizes: [u32; 3]) -> String {
    let used = sizes.iter().rposition(|&size| size > 1).map_or(1, |last| last + 1);
    let sizes: Vec<String> = sizes[..used].iter().map(u32::to_string).collect();
    sizes.join(" x ")
}
