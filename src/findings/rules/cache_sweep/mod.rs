//! Data that is swept again after it left L2: each sweep reads it from DRAM.

mod handed_on;
mod inputs;
mod steps;

use std::collections::BTreeMap;

use inputs::Inputs;
use steps::Needs;

use super::super::draft::{About, Draft, Saved};
use super::super::facts::access::{Access, share};
use super::super::facts::{Facts, warps};
use super::super::gain::Saving;
use super::super::words;
use crate::geometry::SECTOR_BYTES;
use crate::profile::model::{Allocation, Kernel, Severity};

/// Bytes read from DRAM for each byte that is touched, at least.
const TIMES: f64 = 2.5;
/// Least share of all traffic of DRAM.
const LEAST_OF_TRAFFIC: f64 = 0.1;
/// Copies to the data for each sweep, at most: with more it is not the same data that is swept again.
const MOST_RENEWED: f64 = 0.5;
/// Share of the launches that find it gone, at least: else L2 keeps it for most of them.
const LEAST_GONE: f64 = 0.25;
/// Smaller data does not leave L2 for its own size.
const LEAST_BYTES: u64 = 256 << 10;

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let each = facts.profile.allocations.iter().filter(|allocation| !allocation.kind.contains("Host"));
    // What lies in host memory has a finding of its own.
    let found = each.filter_map(|allocation| match steps::is_made_anew(facts, allocation) {
        true => handed_on::draft(facts, allocation).or_else(|| draft(facts, allocation, true)),
        false => draft(facts, allocation, false).or_else(|| handed_on::draft(facts, allocation)),
    });
    found.collect()
}

/// Whether it is read from DRAM so often that it is told.
fn is_swept(allocation: &Allocation) -> bool {
    dram(allocation).0.saturating_mul(SECTOR_BYTES) as f64 >= TIMES * allocation.touched_bytes.max(1) as f64
}

fn dram(allocation: &Allocation) -> (u64, u64) {
    allocation.metrics.dram.as_ref().map_or((0, 0), |dram| (dram.read_sectors, dram.write_sectors))
}

fn draft(facts: &Facts<'_>, allocation: &Allocation, is_made_anew: bool) -> Option<Draft> {
    let touched = allocation.touched_bytes;
    let (reads, writes) = dram(allocation);
    let read = reads.saturating_mul(SECTOR_BYTES);
    let times = read as f64 / touched.max(1) as f64;
    let all: u64 = facts
        .profile
        .allocations
        .iter()
        .map(|allocation| dram(allocation).0.saturating_add(dram(allocation).1))
        .fold(0, u64::saturating_add);
    if touched < LEAST_BYTES || times < TIMES || share(reads + writes, all) < LEAST_OF_TRAFFIC {
        return None;
    }
    let mut of_it: Vec<&Access<'_>> = facts
        .accesses
        .iter()
        .filter(|access| access.space == "global" && access.allocation == Some(allocation.id))
        .collect();
    of_it.sort_by_key(|access| (std::cmp::Reverse(access.sums.dram_reads), access.line, access.column));
    let worst = *of_it.first()?;
    // Where requests waste sectors, data leaves the caches for that reason first.
    if worst.sums.excess_share() >= 0.5 {
        return None;
    }
    let kernels: u64 = allocation
        .by_kernel
        .iter()
        .filter_map(|row| facts.profile.kernels.iter().find(|kernel| kernel.id == row.kernel))
        .map(|kernel| kernel.launch_count())
        .fold(0, u64::saturating_add);
    // Launches of these kernels on other memory sweep nothing of this.
    let all_launches = facts.profile.kernels.iter().map(Kernel::launch_count).fold(0, u64::saturating_add);
    let kernels = allocation.lifetime.map_or(kernels, |lifetime| {
        kernels.min(lifetime.last_launch.unwrap_or(all_launches).saturating_sub(lifetime.first_launch))
    });
    let across = kernels as f64 >= times * 0.7;
    // What is copied or filled anew for the next launch is other data.
    let renewed = allocation.copies.iter().filter(|copy| matches!(&copy.direction[..], "host_to_device" | "set"));
    let renewed = renewed.map(|copy| copy.count).fold(0, u64::saturating_add);
    let kept = times < LEAST_GONE * kernels as f64;
    if across && (kept || renewed as f64 >= MOST_RENEWED * times) {
        return None;
    }
    let reason = if across {
        format!(
            "{} launches sweep {} of {} one after the other, more than L2 keeps with what else they touch: it was read from DRAM {times:.1} \
             times over",
            words::count(kernels),
            words::bytes(touched),
            facts.target(worst),
        )
    } else {
        format!(
            "a launch goes over {} of {} again after it has left L2: it was read from DRAM {times:.1} times over",
            words::bytes(touched),
            facts.target(worst),
        )
    };
    let needs = if across { steps::needs(facts, &of_it) } else { Needs::Itself };
    // No thread can make several steps on what another kernel makes anew for each.
    if across && is_made_anew && needs == Needs::Itself {
        return None;
    }
    let cure = if across && needs == Needs::Nothing {
        "no launch needs what another one has made: one launch that does the work of several reads the data once for all of them; where they repeat the same work, as a benchmark does, leave it"
    } else if across && needs == Needs::Everything {
        "each step needs what another kernel has made everywhere, so that launches stay apart: make the data smaller (narrower types, a format without what is zero or follows \
         from the rest), or keep the part that L2 has room for there (a persisting access window, __ldcs for what streams past)"
    } else if across && needs == Needs::Neighbours {
        "let a block make several steps on its tile in shared memory or registers: loaded with as many neighbours on each side as it makes steps, it needs nobody else's results meanwhile \
         (temporal blocking)"
    } else if across {
        "fuse the launches, so that a thread or block makes several steps on its data while it is there, or let all steps go over one part \
         of the data that L2 holds before the next part"
    } else if of_it.iter().all(|access| access.sums.requests <= warps(access.kernel)) {
        "no loop goes over it, and blocks that need the same part run far apart: let a thread or block go along the dimension in which they do, with what it needs again in registers or shared memory, or \
         number the blocks so that those that share a part run together"
    } else {
        "block the loops, so that a part of the data that fits into L2 or shared memory is used up before the next one comes"
    };
    // One sweep is left, of the writes too.
    let once = 1.0 / times;
    let saved = (1.0 - once) * (reads + writes) as f64 * SECTOR_BYTES as f64;
    let kernel = worst.kernel;
    let mut by_kernel: BTreeMap<u32, Saving> = allocation
        .by_kernel
        .iter()
        .map(|row| {
            let moved = row.metrics.dram.as_ref().map_or(0, |dram| dram.read_sectors + dram.write_sectors);
            (row.kernel, Saving::of("dram", (1.0 - once) * (moved * SECTOR_BYTES) as f64))
        })
        .collect();
    // One kernel of all of them loads the rest of what they need once, too.
    let inputs =
        if across && needs == Needs::Itself { inputs_of(facts, allocation, &of_it) } else { Inputs::default() };
    for (&kernel, &bytes) in &inputs.again {
        let sum = by_kernel.entry(kernel).or_default();
        *sum = std::mem::take(sum).and(Saving::of("dram", bytes as f64));
    }
    let reason = match &inputs.names[..] {
        [] => reason,
        names => format!(
            "{reason}, and {} more of what several of them load ({})",
            words::bytes(inputs.bytes()),
            names.join(", ")
        ),
    };
    let saved = saved + inputs.bytes() as f64;
    let saving = by_kernel.remove(&kernel.id)?;
    let draft = Draft::new(reason, cure)
        .at_access(worst)
        .evidence("times", times)
        .evidence("dram_read_bytes", read as f64)
        .evidence("touched_bytes", touched as f64)
        .evidence("saved_bytes", saved)
        .evidence("launches", kernels as f64);
    let draft = match needs {
        // Nobody knows how small the data can be.
        Needs::Everything | Needs::Nothing => draft.score(facts.waste(kernel, &saving, 1.0 - once)),
        // What launches sweep together, one launch that makes all steps keeps together.
        Needs::Itself | Needs::Neighbours => {
            let assumption = "the data comes from DRAM once and goes back once";
            let elsewhere = if across { by_kernel } else { BTreeMap::new() };
            let draft = draft.saves(facts, Saved { saving, otherwise: 1.0 - once, assumption, elsewhere });
            if across { draft.about(About::Data).one_cause(Some(format!("launches, {needs:?}"))) } else { draft }
        }
    };
    // Steps that need what others make are written otherwise by few, and at some cost.
    Some(if needs == Needs::Itself { draft } else { draft.severity(Severity::Note) })
}

/// What the kernels of these accesses load beside the data.
fn inputs_of(facts: &Facts<'_>, allocation: &Allocation, of_it: &[&Access<'_>]) -> Inputs {
    let mut kernels: Vec<&Kernel> = of_it.iter().map(|access| access.kernel).collect();
    kernels.sort_by_key(|kernel| kernel.id);
    kernels.dedup_by_key(|kernel| kernel.id);
    inputs::of_all(facts, allocation, &kernels)
}
