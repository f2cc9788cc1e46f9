//! Launches with so few blocks that most SMs have none, or so short that their starts take longer.

mod in_place;
mod steps;
mod together;

use std::collections::BTreeMap;

use super::super::draft::Draft;
use super::super::facts::access::Access;
use super::super::facts::{Facts, warps_of_block};
use super::super::gain::{OF_ALL_SMS, SECONDS_PER_LAUNCH, gain_of};
use super::super::words;
use super::partial_warps::{launch_line, shape};
use crate::profile::library_call;
use crate::profile::model::{Gain, Kernel, Severity};

/// A launch leaves more than this share of the SMs without a block.
const LEAST_IDLE: f64 = 0.75;
/// The same where the kernel steps by the grid's size, so that its number of blocks is free.
const LEAST_IDLE_OF_STEPS: f64 = 0.1;
/// Least share of the kernel in the time of all: a last small step of a reduction is none.
const LEAST_SHARE: f64 = 0.1;
/// Seconds of a launch, by the estimate, from which on it is worth a change.
const LEAST_SECONDS: f64 = 20e-6;

/// The same against what its start takes, at least: below, as where a kernel only sets a value, it does next to nothing.
const LEAST_OF_START: f64 = 0.05;

/// A final step leaves at most one of so many bytes that it loads.
const LEAST_TIMES_LESS: u64 = 8;

/// Share of the time of all kernels that such a step takes, at most, where it is no short one.
const MOST_OF_LAST: f64 = 0.5;

/// Launches that make it worthwhile to make one of them, at least.
const MANY_LAUNCHES: u64 = 32;

/// Launches of a kernel.
struct Launches {
    /// Of the largest.
    grid: [u32; 3],
    /// Of the largest.
    blocks: u64,
    sms: u64,
    /// Share of the SMs that have no block.
    idle: f64,
    /// The kernel's share of the time of all.
    of_time: f64,
    /// Seconds of one, by the estimate.
    each: f64,
    way: Way,
}

/// What could be done about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// All are one launch of so many blocks.
    Together(u64),
    /// The same, where some may need what others wrote.
    InPart(u64),
    /// Steps that each thread could make one after the other.
    InPlace,
    /// A final step, which the kernel before it could do.
    Last,
    /// Any number of blocks does the work.
    StepsByGrid,
    /// Several blocks could share what one does.
    StepsByBlock,
    /// The problem's size says how many blocks there are.
    Other,
}

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    facts.profile.kernels.iter().filter_map(|kernel| draft(facts, kernel)).collect()
}

fn draft(facts: &Facts<'_>, kernel: &Kernel) -> Option<Draft> {
    let launches = Launches::of(facts, kernel)?;
    let Launches { blocks, sms, idle, of_time, each, way, .. } = launches;
    // Launches whose starts take longer than they do are too many, however they fill the GPU.
    let are_starts = each < SECONDS_PER_LAUNCH && blocks <= at_once(facts, kernel);
    let is_free = way == Way::StepsByGrid && idle >= LEAST_IDLE_OF_STEPS && each >= LEAST_SECONDS;
    let is_small = idle >= LEAST_IDLE || is_free;
    let is_one = matches!(way, Way::Together(_) | Way::InPart(_) | Way::InPlace);
    if !(is_small || are_starts && is_one) {
        return None;
    }
    // A library takes as many blocks as the data needs: of a few calls there is nothing to say.
    if library_call(kernel).is_some() && kernel.launch_count() < MANY_LAUNCHES {
        return None;
    }
    // What takes less than its start is the size of a test, or as small as it should be; a launch that another kernel could do is one less.
    if !is_one && (is_next_to_nothing(kernel) || way != Way::Last && each < SECONDS_PER_LAUNCH) {
        return None;
    }
    let count = words::several(kernel.launch_count(), "launch", "launches");
    let reason = if is_small && way != Way::InPlace {
        format!(
            "launches of at most {} use {blocks} of the {sms} SMs: the others have nothing to do for {} of the estimated time of all kernels",
            words::several(blocks, "block", "blocks"),
            words::percent(of_time),
        )
    } else {
        format!(
            "{count} of at most {} one after the other take {} each by the estimate, and the start of each about {:.0} us: {} in all",
            words::several(blocks, "block", "blocks"),
            words::time(each),
            SECONDS_PER_LAUNCH * 1e6,
            words::time(kernel.launch_count() as f64 * SECONDS_PER_LAUNCH),
        )
    };
    let draft = Draft::new(reason, cure(kernel, way, &count)).at_frame(launch_line(kernel)).of_kernel(kernel);
    let draft = if draft.line == 0 { draft.at_kernel(kernel) } else { draft };
    let draft = draft
        .object(Some(format!("grid {}", shape(launches.grid))))
        .evidence("blocks", blocks as f64)
        .evidence("sms", sms as f64)
        .evidence("share_of_time", of_time)
        .gain(gain(facts, kernel, &launches))
        .score(if is_small { idle * of_time * 0.9 } else { of_time * 0.9 });
    let worth = match way {
        Way::Together(_) => draft.gain.is_some() || are_starts,
        Way::InPlace => are_starts && in_place::are_steps(kernel),
        Way::StepsByGrid | Way::StepsByBlock => each >= LEAST_SECONDS,
        Way::InPart(_) | Way::Last | Way::Other => false,
    };
    Some(if worth { draft } else { draft.severity(Severity::Note) })
}

impl Launches {
    /// Of a kernel with a share of the time.
    fn of(facts: &Facts<'_>, kernel: &Kernel) -> Option<Launches> {
        let sms = u64::from(facts.rates?.sms);
        let size = |grid: &[u32; 3]| grid.iter().map(|&size| u64::from(size)).fold(1, u64::saturating_mul);
        let grouped = kernel.launch_groups.iter().filter_map(|group| group.grid);
        let grid = kernel.launches.iter().map(|launch| launch.grid).chain(grouped).max_by_key(size)?;
        let (blocks, of_time) = (size(&grid), facts.kernel_share(kernel));
        if sms == 0 || of_time < LEAST_SHARE {
            return None;
        }
        let each = facts.estimate(kernel)?.seconds / kernel.launch_count().max(1) as f64;
        let way = match together::blocks_of_all(facts, kernel).filter(|all| *all > blocks) {
            // What a launch loads may be what one before it has stored, as along the rows of a table.
            Some(all) if together::loads_what_it_stores(facts, kernel) => Way::InPart(all),
            Some(all) => Way::Together(all),
            None if each < SECONDS_PER_LAUNCH && in_place::are_in_place(facts, kernel) => Way::InPlace,
            // A long one is no mere final step.
            None if each < LEAST_SECONDS && is_last_step(facts, kernel, grid) => Way::Last,
            None if blocks < sms && steps::by_grid(facts, kernel) => Way::StepsByGrid,
            None if of_time < MOST_OF_LAST && is_last_step(facts, kernel, grid) => Way::Last,
            None if blocks < sms && !is_together(kernel) && steps::by_block(facts, kernel) => Way::StepsByBlock,
            None => Way::Other,
        };
        Some(Launches { grid, blocks, sms, idle: 1.0 - blocks as f64 / sms as f64, of_time, each, way })
    }
}

/// What to do. `count` are the launches in words.
fn cure(kernel: &Kernel, way: Way, count: &str) -> String {
    match way {
        Way::InPart(_) => format!(
            "look at which of the {count} need what another wrote, as they load memory that they store to: those that do not could be one launch, with a dimension of the grid (blockIdx.y) \
             for what the loop on the host counts; where each needs the one before it, let a launch make several steps (a block on its tile in shared memory, or a cooperative \
             launch), or record the launches in a CUDA graph, whose starts are shorter"
        ),
        Way::Together(_) => format!(
            "make one launch of the {count}, which write different memory: let a dimension of the grid (blockIdx.y) count what the loop on the host counts; \
             where one needs what another wrote, at least launch those that do not at the same time, in streams"
        ),
        Way::InPlace => format!(
            "let each thread make all steps in one launch: a loop in the kernel over what the loop on the host counts, as a thread loads of what the {count} change only what it has stored \
             itself (which then stays in registers from step to step); where the host needs to see a step, launch as many at once as lie between two of these"
        ),
        Way::Last => {
            "where this launch ends what a kernel before it began, as the sum of what its blocks have left, let the last block of that kernel do it (a counter that each block raises \
             when it has finished), or leave it; where the number of blocks follows from the size of the data, larger data fills the GPU by itself"
                .to_owned()
        }
        Way::StepsByGrid => {
            "the kernel steps by the grid's size, so that any number of blocks does its work: launch at least as many blocks as there are SMs \
             (cudaDeviceGetAttribute), better as many as the GPU holds at a time (times cudaOccupancyMaxActiveBlocksPerMultiprocessor)"
                .to_owned()
        }
        Way::StepsByBlock => {
            "the threads of a block step by its size through many elements each: let several blocks share what one does now, with a dimension of the grid for the piece and another one \
             for its parts, and a step of gridDim.x * blockDim.x"
                .to_owned()
        }
        Way::Other => {
            let smaller = if warps_of_block(kernel) > 1 && !is_together(kernel) { "smaller blocks, " } else { "" };
            format!(
                "where the number of blocks follows from the size of the data, larger data fills the GPU by itself; else launch at least as many blocks as there are SMs, better several times as many: {smaller}less work per thread, or several \
                 small launches at a time in streams"
            )
        }
    }
}

/// What more SMs bring: the parts that each has for itself are as much faster.
fn gain(facts: &Facts<'_>, kernel: &Kernel, launches: &Launches) -> Option<Gain> {
    let &Launches { blocks, sms, each, way, .. } = launches;
    let estimate = facts.estimate(kernel)?;
    // A warp is not divided.
    let warps = blocks.saturating_mul(warps_of_block(kernel));
    let (reached, before) = match way {
        Way::InPart(_) | Way::InPlace => return None,
        // Launches of several sizes take as long as one of their blocks each.
        Way::Together(all) => (sms.min(all), (all as f64 / kernel.launch_count().max(1) as f64).min(sms as f64)),
        Way::StepsByGrid | Way::StepsByBlock => (sms, blocks as f64),
        Way::Last | Way::Other if is_together(kernel) => (blocks, blocks as f64),
        Way::Last | Way::Other => (sms.min(warps).max(blocks), blocks as f64),
    };
    let factor = reached as f64 / before;
    let then = estimate
        .limits
        .iter()
        .map(|limit| if OF_ALL_SMS.contains(&&limit.name[..]) { limit.seconds } else { limit.seconds / factor });
    let (now, then) = (estimate.limits.iter().map(|limit| limit.seconds).fold(0.0, f64::max), then.fold(0.0, f64::max));
    let assumption = match way {
        Way::Together(_) => "the blocks of all launches at once, spread over the SMs",
        _ if reached < sms => "the same warps, each on an SM of its own",
        _ => "the same work, spread over all SMs",
    };
    let gain = gain_of(now, then, estimate.seconds, assumption);
    match way {
        Way::Together(_) => gain.map(|gain| together::with_starts(gain, kernel, estimate.seconds)),
        // What is shorter than a launch takes anyway gains nothing that anybody could measure.
        _ => gain.filter(|_| each >= SECONDS_PER_LAUNCH),
    }
}

/// Blocks that the GPU holds at a time.
fn at_once(facts: &Facts<'_>, kernel: &Kernel) -> u64 {
    let resident = kernel.launches.first().map_or(1, |launch| launch.resident_blocks);
    facts.rates.map_or(0, |rates| u64::from(rates.sms)).saturating_mul(resident.max(1).into())
}

/// Whether all launches have one block, whose threads work together on what another kernel has written: its final step.
fn is_last_step(facts: &Facts<'_>, kernel: &Kernel, largest: [u32; 3]) -> bool {
    let stores = |access: &Access<'_>| access.op != "load";
    // Bytes that the kernel loads from each allocation and stores there.
    let mut moved: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for access in facts.accesses_of(kernel.id, "global") {
        let Some(id) = access.allocation else { continue };
        let (loaded, stored) = moved.entry(id).or_default();
        let bytes = if stores(access) { stored } else { loaded };
        *bytes = bytes.saturating_add(access.sums.bytes);
    }
    // What it changes in place, as the first tile of a matrix, others go on with; a sum is less than what it is made of.
    let is_made_less =
        |id| moved.get(&id).is_some_and(|&(loaded, stored)| loaded > stored.saturating_mul(LEAST_TIMES_LESS));
    let is_written = |other: &Access<'_>| {
        other.kernel.id != kernel.id && stores(other) && other.allocation.is_some_and(is_made_less)
    };
    largest == [1; 3] && is_together(kernel) && facts.accesses.iter().any(is_written)
}

/// Whether the threads of a block work with one another, so that they cannot be spread over several blocks just so.
fn is_together(kernel: &Kernel) -> bool {
    kernel.metrics.contains_key("shared") || kernel.instructions.get("barrier").is_some_and(|count| count.warps > 0)
}

/// Whether the launches take so little that their starts are all there is: nobody spreads, or shares among threads, what is not there.
pub(super) fn is_next_to_nothing(kernel: &Kernel) -> bool {
    let seconds = kernel.estimates.first().map(|estimate| estimate.seconds);
    let start = kernel.launch_count().max(1) as f64 * SECONDS_PER_LAUNCH;
    seconds.is_some_and(|seconds| seconds < LEAST_OF_START * start)
}
