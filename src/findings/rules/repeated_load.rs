//! Data that comes from level 2 to level 1 again and again, though a block could keep it in shared memory.

use super::super::access::{Access, share};
use super::super::context::Context;
use super::super::draft::Draft;
use super::super::words;
use crate::profile::model::{Allocation, Severity};

/// Bytes from level 2 for each byte that is touched, at least.
const TIMES: f64 = 8.0;
/// Most of its loads miss level 1, or have to go to level 2 for another reason.
const MOST_L1_HITS: f64 = 0.75;
/// Smaller data stays in level 1 anyway.
const LEAST_BYTES: u64 = 64 << 10;

pub(in super::super) fn find(context: &Context<'_>) -> Vec<Draft> {
    context.profile.allocations.iter().filter_map(|allocation| draft(context, allocation)).collect()
}

fn draft(context: &Context<'_>, allocation: &Allocation) -> Option<Draft> {
    if allocation.touched_bytes < LEAST_BYTES {
        return None;
    }
    // The kernel that asks level 2 for most.
    let l2 = |row: &&crate::profile::model::ByKernel| row.metrics.l2.as_ref().map_or(0, |level| level.load_lookups);
    let row = allocation.by_kernel.iter().max_by_key(l2)?;
    let kernel = context.profile.kernels.iter().find(|kernel| kernel.id == row.kernel)?;
    let launches = kernel.launch_count().max(1);
    let sector = context.profile.run.lookup_bytes.values().next().map_or(32, |bytes| bytes.l2.max(1));
    let loaded = row.metrics.l2.as_ref()?.load_lookups.saturating_mul(sector);
    let times = loaded as f64 / (allocation.touched_bytes.saturating_mul(launches)) as f64;
    let l1 = row.metrics.l1.as_ref()?;
    if times < TIMES || share(l1.load_hits, l1.load_lookups) > MOST_L1_HITS {
        return None;
    }
    let of_it = context
        .accesses_of(kernel.id, "global")
        .filter(|access| access.allocation == Some(allocation.id) && access.op == "load");
    let worst: &Access<'_> =
        of_it.max_by_key(|access| (access.sums.l2_load_lookups, std::cmp::Reverse((access.line, access.column))))?;
    // Strides and gathers have findings of their own.
    if worst.sums.excess_share() >= 0.25 {
        return None;
    }
    let staged = context
        .accesses_of(kernel.id, "shared")
        .any(|access| access.op == "store" && (access.file, access.line) == (worst.file, worst.line));
    let reason = format!(
        "{} comes from level 2 {times:.1} times in a launch: its loads hit level 1 in {} of the lookups, and blocks load the same data \
         after one another",
        context.target(worst),
        words::percent(share(l1.load_hits, l1.load_lookups)),
    );
    let cure = if staged {
        "it is staged in shared memory already: larger tiles, or several results per thread, use each tile more often"
            .to_owned()
    } else {
        format!(
            "let a block load a tile of {} into shared memory once and work on that, or give each thread several results that need the same data",
            worst.variable().map_or_else(|| "it".to_owned(), |name| format!("`{name}`")),
        )
    };
    let all: u64 =
        context.accesses_of(kernel.id, "global").map(|access| access.sums.l2_lookups).fold(0, u64::saturating_add);
    let amount = loaded.saturating_sub(allocation.touched_bytes.saturating_mul(launches));
    let saving = super::super::gain::Saving::of("l2", amount as f64);
    let draft = Draft::new(reason, cure)
        .at_access(worst)
        .evidence("times", times)
        .evidence("loaded_bytes", loaded as f64)
        .evidence("touched_bytes", allocation.touched_bytes as f64)
        .evidence("l1_load_hit_rate", share(l1.load_hits, l1.load_lookups))
        .gain(context.gain(kernel, &saving, "each byte comes from level 2 once a launch"))
        .score(context.waste(kernel, &saving, share(worst.sums.l2_lookups, all)));
    Some(if staged || draft.gain.is_none() { draft.severity(Severity::Note) } else { draft })
}
