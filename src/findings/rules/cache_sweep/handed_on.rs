//! Data that one kernel writes and another reads, each byte once, after it has left L2: what the second makes of a value, the first could make of it
//! while it has it.

use super::super::super::draft::Draft;
use super::super::super::facts::Facts;
use super::super::super::facts::access::{Access, share};
use super::super::super::gain::Saving;
use super::super::super::words;
use super::{LEAST_BYTES, dram, is_swept};
use crate::geometry::SECTOR_BYTES;
use crate::profile::is_system;
use crate::profile::model::{Allocation, CopyRow, Gain, Kernel, Severity};

/// Bytes that the second kernel loads for each byte that the first has stored, about: others load neighbours again, or a part.
pub(super) const ONCE: std::ops::RangeInclusive<f64> = 0.9..=1.02;
/// Least part of them that comes from DRAM.
const LEAST_GONE: f64 = 0.4;
/// Least share of the traffic of DRAM of the second kernel.
const LEAST_OF_KERNEL: f64 = 0.25;
/// Least share of all traffic of DRAM.
const LEAST_OF_TRAFFIC: f64 = 0.1;
/// Sectors that requests waste, at most.
const MOST_EXCESS: f64 = 0.1;
/// Bytes of an allocation of a few scalars, as those of a solver's step, at most.
const MOST_OF_SCALARS: u64 = 256;
/// What else comes from another kernel is as large, at least: of a few sums each thread may need what all have made.
const AS_LARGE: f64 = 0.25;

pub(super) fn draft(facts: &Facts<'_>, allocation: &Allocation) -> Option<Draft> {
    if allocation.touched_bytes < LEAST_BYTES || is_little_of(facts, allocation) {
        return None;
    }
    // The one that comes first writes it, and the other one reads it, and may change it in place.
    let mut users: Vec<&Kernel> = kernels(facts, |access| is_of(access, allocation));
    users.sort_by_key(|kernel| first_launch(kernel));
    let [writer, reader] = users[..] else { return None };
    let changed = accesses(facts, reader, allocation, "store");
    let is_changed = !changed.is_empty();
    if is_system(&writer.file)
        || is_system(&reader.file)
        || !comes_first(facts, allocation, writer, reader)
        || !follows(facts, allocation, writer, reader)
    {
        return None;
    }
    let stores = accesses(facts, writer, allocation, "store");
    let loads = accesses(facts, reader, allocation, "load");
    let (stored, loaded) = (bytes(&stores), bytes(&loads));
    let gone = loads.iter().map(|access| access.sums.dram_reads).fold(0, u64::saturating_add);
    let traffic = facts
        .accesses_of(reader.id, "global")
        .map(|access| access.sums.dram_reads.saturating_add(access.sums.dram_writes))
        .fold(0, u64::saturating_add);
    let inputs = inputs_of_both(facts, allocation, writer, reader);
    let again = inputs.iter().map(|(_, bytes)| *bytes).fold(0, u64::saturating_add);
    if !ONCE.contains(&(loaded as f64 / stored.max(1) as f64))
        || stored as f64 > ONCE.end() * (allocation.touched_bytes.saturating_mul(writer.launch_count())) as f64
        || (gone.saturating_mul(SECTOR_BYTES) as f64) < LEAST_GONE * loaded as f64
        || share(gone.saturating_add(again / SECTOR_BYTES), traffic) < LEAST_OF_KERNEL
        || !stores.iter().chain(&loads).chain(&changed).all(goes_along)
        || is_changed && !ONCE.contains(&(bytes(&changed) as f64 / loaded.max(1) as f64))
        || has_atomics(facts, allocation)
    {
        return None;
    }
    let worst = *loads.iter().max_by_key(|access| (access.sums.dram_reads, std::cmp::Reverse(access.line)))?;
    let read = gone.saturating_mul(SECTOR_BYTES);
    let saving = Saving::of("dram", read.saturating_add(again) as f64);
    let assumption = if inputs.is_empty() {
        "what the kernel before it has written is still in registers"
    } else {
        "what the kernel before it has written or loaded is still in registers"
    };
    let gain = facts.gain(reader, &saving, assumption)?;
    // Nobody else needs it in memory, either.
    let is_kept = !is_changed
        && (allocation.copies.iter().any(|copy| copy.direction == "device_to_host")
            || !accesses(facts, writer, allocation, "load").is_empty());
    let written = stores.iter().map(|access| access.sums.dram_writes).fold(0, u64::saturating_add);
    let written = if is_kept { 0 } else { written.saturating_mul(SECTOR_BYTES) };
    let of_writer = Saving::of("dram", written as f64);
    let waste = facts.waste(reader, &saving, LEAST_OF_KERNEL) + facts.waste(writer, &of_writer, LEAST_OF_KERNEL);
    let gain = match facts.gain(writer, &of_writer, "") {
        Some(more) => Gain {
            assumption: format!(
                "{}; {} more of `{}` where nobody else needs it in memory",
                gain.assumption,
                words::time(more.seconds),
                words::kernel(writer)
            ),
            ..gain
        },
        None => gain,
    };
    let reason = format!(
        "{} is written by `{}` and read by `{}`, each byte once, after it has left L2: {} come back from DRAM",
        facts.target(worst),
        words::kernel(writer),
        words::kernel(reader),
        words::bytes(read),
    );
    let inputs: Vec<String> = inputs.into_iter().map(|(name, _)| name).collect();
    let reason = match &inputs[..] {
        [] => reason,
        inputs => format!("{reason}, and {} more of what both load ({})", words::bytes(again), inputs.join(", "),),
    };
    // What a program makes for itself once, in the place of data from elsewhere.
    let is_generated =
        writer.launch_count() == 1 && !facts.accesses_of(writer.id, "global").any(|access| access.op == "load");
    let cure = "make one kernel of both where a thread needs no more of it than what it makes itself, so that the values stay in registers; else let both go over one part of the data that L2 \
                holds before the next part";
    let draft = Draft::new(reason, cure)
        .at_access(worst)
        .evidence("times", read as f64 / loaded.max(1) as f64)
        .evidence("dram_read_bytes", read as f64)
        .evidence("touched_bytes", allocation.touched_bytes as f64)
        .evidence("inputs_read_bytes", again as f64)
        .evidence("saved_bytes", read.saturating_add(again).saturating_add(written) as f64)
        .evidence("launches", writer.launch_count().saturating_add(reader.launch_count()) as f64)
        .gain(Some(gain))
        .score(waste);
    Some(if is_generated { draft.severity(Severity::Note) } else { draft })
}

/// Other data that both kernels load, each byte once and side by side, as the reader's accesses name it, with the bytes that come from DRAM
/// for the reader.
fn inputs_of_both(facts: &Facts<'_>, handed_on: &Allocation, writer: &Kernel, reader: &Kernel) -> Vec<(String, u64)> {
    // What is swept again has a finding of its own.
    let is_other = |one: &&Allocation| one.id != handed_on.id && !is_swept(one);
    let each = facts.profile.allocations.iter().filter(is_other);
    let found = each.filter_map(|one| {
        let (first, second) = (accesses(facts, writer, one, "load"), accesses(facts, reader, one, "load"));
        let is_once = !first.is_empty()
            && accesses(facts, writer, one, "store").is_empty()
            && first.iter().chain(&second).all(goes_along)
            && ONCE.contains(&(bytes(&second) as f64 / bytes(&first).max(1) as f64))
            && bytes(&second) as f64 <= ONCE.end() * one.touched_bytes.saturating_mul(reader.launch_count()) as f64;
        let worst = second.iter().max_by_key(|access| (access.sums.dram_reads, std::cmp::Reverse(access.line)))?;
        let sectors = second.iter().map(|access| access.sums.dram_reads).fold(0, u64::saturating_add);
        (is_once && sectors > 0).then(|| (facts.target(worst), sectors.saturating_mul(SECTOR_BYTES)))
    });
    found.collect()
}

/// Whether the lanes of its requests go along the data.
pub(super) fn goes_along(access: &&Access<'_>) -> bool {
    share(access.pattern.contiguous, access.pattern.requests) >= 0.9 && access.sums.excess_share() <= MOST_EXCESS
}

fn is_of(access: &Access<'_>, allocation: &Allocation) -> bool {
    access.space == "global" && access.allocation == Some(allocation.id)
}

/// Whether anybody updates it atomically: several threads come to one element.
fn has_atomics(facts: &Facts<'_>, allocation: &Allocation) -> bool {
    facts.accesses.iter().any(|access| access.op == "atomic" && is_of(access, allocation))
}

/// Whether each thread of the kernel comes to an element of its own there, once a launch.
fn is_own(facts: &Facts<'_>, kernel: &Kernel, id: u64) -> bool {
    let Some(one) = facts.profile.allocation(id) else { return false };
    let most = ONCE.end() * one.touched_bytes.saturating_mul(kernel.launch_count()) as f64;
    let is_once = |op| {
        let all = accesses(facts, kernel, one, op);
        all.iter().all(goes_along) && bytes(&all) as f64 <= most
    };
    is_once("load") && is_once("store") && accesses(facts, kernel, one, "atomic").is_empty()
}

/// Whether it is a small part of all traffic of DRAM.
fn is_little_of(facts: &Facts<'_>, allocation: &Allocation) -> bool {
    let traffic = |one: &Allocation| dram(one).0.saturating_add(dram(one).1);
    let all = facts.profile.allocations.iter().map(traffic).fold(0, u64::saturating_add);
    share(traffic(allocation), all) < LEAST_OF_TRAFFIC
}

/// Kernels that make such an access.
fn kernels<'a>(facts: &Facts<'a>, is_meant: impl Fn(&Access<'_>) -> bool) -> Vec<&'a Kernel> {
    let makes = |kernel: &&Kernel| facts.accesses_of(kernel.id, "global").any(&is_meant);
    facts.profile.kernels.iter().filter(makes).collect()
}

pub(super) fn accesses<'b>(
    facts: &'b Facts<'_>,
    kernel: &Kernel,
    allocation: &Allocation,
    op: &str,
) -> Vec<&'b Access<'b>> {
    let there = |access: &&Access<'_>| access.op == op && is_of(access, allocation);
    facts.accesses.iter().filter(|access| access.kernel.id == kernel.id).filter(there).collect()
}

pub(super) fn bytes(accesses: &[&Access<'_>]) -> u64 {
    accesses.iter().map(|access| access.sums.bytes).fold(0, u64::saturating_add)
}

/// Whether the reader's first launch comes after the writer's, and nothing from the host comes between: neither other data, nor, from what
/// the writer has stored elsewhere, what the host makes of it.
fn comes_first(facts: &Facts<'_>, allocation: &Allocation, writer: &Kernel, reader: &Kernel) -> bool {
    let (Some(wrote), Some(read)) = (first_launch(writer), first_launch(reader)) else { return false };
    let between =
        |copy: &CopyRow| copy.last_launch.is_none_or(|at| at > wrote) && copy.first_launch.is_none_or(|at| at <= read);
    let renews = |copy: &CopyRow| matches!(&copy.direction[..], "host_to_device" | "set") && between(copy);
    let asks = |copy: &CopyRow| copy.direction == "device_to_host" && between(copy);
    let stored = |id: u64| {
        let mut of_writer = facts.accesses_of(writer.id, "global");
        of_writer.any(|access| access.op != "load" && access.allocation == Some(id))
    };
    let mut others = facts.profile.allocations.iter().filter(|one| one.id != allocation.id && stored(one.id));
    wrote < read && !allocation.copies.iter().any(renews) && !others.any(|one| one.copies.iter().any(asks))
}

/// Number of a kernel's first launch.
pub(super) fn first_launch(kernel: &Kernel) -> Option<u64> {
    kernel.launches.iter().map(|launch| launch.id).chain(kernel.launch_groups.iter().map(|group| group.first)).min()
}

/// Whether an element of the reader needs no more than one of the writer: it writes nothing that the writer loads, as the next step's input whose
/// neighbours others still want, but sums that all add to and what each thread has for itself, and loads nothing else of other kernels but arrays as large, of which each thread has its own element.
fn follows(facts: &Facts<'_>, allocation: &Allocation, writer: &Kernel, reader: &Kernel) -> bool {
    let loads = |kernel: &Kernel, id: u64| {
        facts.accesses_of(kernel.id, "global").any(|access| access.op == "load" && access.allocation == Some(id))
    };
    let is_other = |id: &u64| *id != allocation.id;
    let is_scalar = |id| facts.profile.allocation(id).is_some_and(|one| one.bytes <= MOST_OF_SCALARS);
    let mut of_reader = facts.accesses_of(reader.id, "global");
    of_reader.all(|access| {
        let Some(id) = access.allocation.filter(is_other) else { return true };
        if access.op != "load" {
            // What the writer reads of a few scalars is not what the next launch is to find there.
            let is_sum = access.op == "atomic" && is_scalar(id);
            let is_own = || is_own(facts, writer, id) && is_own(facts, reader, id);
            return is_sum || !loads(writer, id) || is_own();
        }
        let is_made = facts.accesses.iter().any(|one| {
            one.op != "load" && one.kernel.id != reader.id && one.space == "global" && one.allocation == Some(id)
        });
        let is_large = facts
            .profile
            .allocation(id)
            .is_some_and(|one| one.touched_bytes as f64 >= AS_LARGE * allocation.touched_bytes as f64);
        !is_made || is_large && share(access.pattern.contiguous, access.pattern.requests) >= 0.9
    })
}
