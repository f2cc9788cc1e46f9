//! Launches with so few blocks that most SMs have none.

use std::collections::{BTreeMap, BTreeSet};

use super::super::access::Access;
use super::super::context::{Context, warps, warps_of_block};
use super::super::draft::Draft;
use super::super::gain::{SECONDS_PER_LAUNCH, gain_of};
use super::super::words;
use super::partial_warps::{launch_line, shape};
use crate::geometry::SECTOR_BYTES;
use crate::profile::library_call;
use crate::profile::model::{Frame, Gain, Kernel, Severity};
use warpline_format::expression::{Binary, Expression, ExpressionId, ExpressionKind, parts};

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

/// Iterations of a loop that steps by the grid's size, for each warp, from which on more blocks have something to do.
const LEAST_ITERATIONS: f64 = 2.0;
/// The same of a loop that steps by the block's size: several blocks share it only where it is long.
const MANY_ITERATIONS: f64 = 32.0;

/// A final step leaves at most one of so many bytes that it loads.
const LEAST_TIMES_LESS: u64 = 8;

/// Launches that make it worthwhile to make one of them, at least.
const MANY_LAUNCHES: u64 = 32;

pub(in super::super) fn find(context: &Context<'_>) -> Vec<Draft> {
    context.profile.kernels.iter().filter_map(|kernel| draft(context, kernel)).collect()
}

fn draft(context: &Context<'_>, kernel: &Kernel) -> Option<Draft> {
    let sms = u64::from(context.rates?.sms);
    let grids = kernel
        .launches
        .iter()
        .map(|launch| launch.grid)
        .chain(kernel.launch_groups.iter().filter_map(|group| group.grid));
    let grid = grids.max_by_key(|grid| grid.iter().map(|&size| u64::from(size)).fold(1, u64::saturating_mul))?;
    let blocks: u64 = grid.iter().map(|&size| u64::from(size)).fold(1, u64::saturating_mul);
    let of_time = context.kernel_share(kernel);
    if sms == 0 || of_time < LEAST_SHARE {
        return None;
    }
    let each = context.estimate(kernel)?.seconds / kernel.launch_count().max(1) as f64;
    let idle = 1.0 - blocks as f64 / sms as f64;
    let steps_by_grid = idle > 0.0 && steps_by(context, kernel, has_grid, LEAST_ITERATIONS);
    let steps_by_block = idle > 0.0 && !is_together(kernel) && steps_by(context, kernel, has_block, MANY_ITERATIONS);
    // Launches whose starts take longer than they do are too many, however they fill the GPU.
    let are_starts = each < SECONDS_PER_LAUNCH && blocks <= at_once(context, kernel);
    let is_small = idle >= LEAST_IDLE || steps_by_grid && idle >= LEAST_IDLE_OF_STEPS && each >= LEAST_SECONDS;
    if !is_small && !are_starts {
        return None;
    }
    // A library takes as many blocks as the data needs: of a few calls there is nothing to say.
    if library_call(kernel).is_some() && kernel.launch_count() < MANY_LAUNCHES {
        return None;
    }
    let together = launched_together(context, kernel)
        .filter(|all| *all > blocks && is_named(context, kernel, launch_line(kernel)));
    if !is_small && together.is_none() {
        return None;
    }
    let reason = if is_small {
        format!(
            "launches of at most {} use {blocks} of the {sms} SMs: the others have nothing to do for {} of the estimated time of all kernels",
            words::several(blocks, "block", "blocks"),
            words::percent(of_time),
        )
    } else {
        format!(
            "{} of at most {} one after the other take {} each by the estimate, and the start of each about {:.0} us: {} in all",
            words::several(kernel.launch_count(), "launch", "launches"),
            words::several(blocks, "block", "blocks"),
            words::time(each),
            SECONDS_PER_LAUNCH * 1e6,
            words::time(kernel.launch_count() as f64 * SECONDS_PER_LAUNCH),
        )
    };
    let is_last = together.is_none() && is_last_step(context, kernel, grid);
    // What a launch loads may be what one before it has stored, as along the diagonals of a table.
    let may_depend = together.is_some() && loads_what_it_stores(context, kernel);
    let cure = match together {
        Some(_) if may_depend => format!(
            "look at which of the {} need what another wrote, as they load memory that they store to: those that do not could be one launch, with a dimension of the grid (blockIdx.y) \
             for what the loop on the host counts; where each needs the one before it, let a launch make several steps (a block on its tile in shared memory, or a cooperative \
             launch), or record the launches in a CUDA graph, whose starts are shorter",
            words::several(kernel.launch_count(), "launch", "launches"),
        ),
        Some(_) => format!(
            "make one launch of the {}, which write different memory: let a dimension of the grid (blockIdx.y) count what the loop on the host counts; \
             where one needs what another wrote, at least launch those that do not at the same time, in streams",
            words::several(kernel.launch_count(), "launch", "launches"),
        ),
        None if is_last => {
            "where this launch ends what a kernel before it began, as the sum of what its blocks have left, let the last block of that kernel do it (a counter that each block raises \
             when it has finished), or leave it; where the number of blocks follows from the size of the data, larger data fills the GPU by itself"
                .to_owned()
        }
        None if steps_by_grid => {
            "the kernel steps by the grid's size, so that any number of blocks does its work: launch at least as many blocks as there are SMs \
             (cudaDeviceGetAttribute), better as many as the GPU holds at a time (times cudaOccupancyMaxActiveBlocksPerMultiprocessor)"
                .to_owned()
        }
        None if steps_by_block => {
            "the threads of a block step by its size through many elements each: let several blocks share what one does now, with a dimension of the grid for the piece and another one \
             for its parts, and a step of gridDim.x * blockDim.x"
                .to_owned()
        }
        None => {
            let smaller = if warps_of_block(kernel) > 1 && !is_together(kernel) { "smaller blocks, " } else { "" };
            format!(
                "where the number of blocks follows from the size of the data, larger data fills the GPU by itself; else launch at least as many blocks as there are SMs, better several times as many: {smaller}less work per thread, or several \
                 small launches at a time in streams"
            )
        }
    };
    // What takes less than its start is the size of a test, or as small as it should be; a launch that another kernel could do is one less.
    if together.is_none() && (is_next_to_nothing(kernel) || !is_last && each < SECONDS_PER_LAUNCH) {
        return None;
    }
    // Parts that each SM has for itself are as much faster as more SMs work.
    let estimate = context.estimate(kernel)?;
    // How many blocks there are is free where the kernel steps by the grid's size; else the problem's size says it, and a warp
    // is not divided.
    let warps = blocks.saturating_mul(warps_of_block(kernel));
    let reached = match together {
        Some(all) => sms.min(all),
        None if steps_by_grid || steps_by_block => sms,
        None if is_together(kernel) => blocks,
        None => sms.min(warps).max(blocks),
    };
    // Launches of several sizes take as long as one of their blocks each.
    let before =
        together.map_or(blocks as f64, |all| (all as f64 / kernel.launch_count().max(1) as f64).min(sms as f64));
    let factor = reached as f64 / before;
    let whole_gpu = ["l2", "dram", "bus", "atomic_address"];
    let then = estimate
        .limits
        .iter()
        .map(|limit| if whole_gpu.contains(&&limit.name[..]) { limit.seconds } else { limit.seconds / factor });
    let now = estimate.limits.iter().map(|limit| limit.seconds).fold(0.0, f64::max);
    let assumption = match together {
        Some(_) => "the blocks of all launches at once, spread over the SMs",
        None if reached < sms => "the same warps, each on an SM of its own",
        None => "the same work, spread over all SMs",
    };
    // What is shorter than a launch takes anyway gains nothing that anybody could measure.
    let then = then.fold(0.0, f64::max);
    let gain = gain_of(now, then, estimate.seconds, assumption)
        .filter(|_| !may_depend && (together.is_some() || each >= SECONDS_PER_LAUNCH))
        .map(|gain| if together.is_some() { with_starts(gain, kernel, estimate.seconds) } else { gain });
    let draft = Draft::new(reason, cure).at_frame(launch_line(kernel)).of_kernel(kernel);
    let draft = if draft.line == 0 { draft.at_kernel(kernel) } else { draft };
    let long = each >= LEAST_SECONDS;
    let draft = draft
        .object(Some(format!("grid {}", shape(grid))))
        .evidence("blocks", blocks as f64)
        .evidence("sms", sms as f64)
        .evidence("share_of_time", of_time)
        .gain(gain)
        .score(if is_small { idle * of_time * 0.9 } else { of_time * 0.9 });
    let worth = together.is_some() && !may_depend && (draft.gain.is_some() || are_starts)
        || (steps_by_grid || steps_by_block) && long;
    Some(if worth { draft } else { draft.severity(Severity::Note) })
}

/// Blocks that the GPU holds at a time.
fn at_once(context: &Context<'_>, kernel: &Kernel) -> u64 {
    let resident = kernel.launches.first().map_or(1, |launch| launch.resident_blocks);
    context.rates.map_or(0, |rates| u64::from(rates.sms)).saturating_mul(resident.max(1).into())
}

/// The gain of one launch instead of many, told with the starts that fall away, too: the estimate has none.
fn with_starts(gain: Gain, kernel: &Kernel, seconds: f64) -> Gain {
    let starts = kernel.launch_count() as f64 * SECONDS_PER_LAUNCH;
    let factor = (seconds + starts) / (seconds / gain.factor + SECONDS_PER_LAUNCH);
    let assumption = format!(
        "{}; about {factor:.0} x with {:.0} us for the start of each launch",
        gain.assumption,
        SECONDS_PER_LAUNCH * 1e6
    );
    Gain { assumption, ..gain }
}

/// Whether all launches have one block, whose threads work together on what another kernel has written: its final step.
fn is_last_step(context: &Context<'_>, kernel: &Kernel, largest: [u32; 3]) -> bool {
    let stores = |access: &Access<'_>| access.op != "load";
    // Bytes that the kernel loads from each allocation and stores there.
    let mut moved: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for access in context.accesses_of(kernel.id, "global") {
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
    largest == [1; 3] && is_together(kernel) && context.accesses.iter().any(is_written)
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

/// Whether an address moves by a size that the launch gives from iteration to iteration of a loop, and threads make so many of these: then more
/// blocks would each do less. Where the grid covers the data, its size follows from that.
fn steps_by(
    context: &Context<'_>,
    kernel: &Kernel,
    is_size: fn(&[Expression], ExpressionId) -> bool,
    iterations: f64,
) -> bool {
    let Some(addresses) = &kernel.addresses else { return false };
    let expressions = &addresses.expressions;
    let counter_of_size = |one: &Expression| match one.kind {
        ExpressionKind::Binary(Binary::Product, step, counter) if is_size(expressions, step) => {
            match expressions.get(counter as usize)?.kind {
                ExpressionKind::Counter(id) => Some(id),
                _ => None,
            }
        }
        _ => None,
    };
    let counters: BTreeSet<_> = expressions.iter().filter_map(counter_of_size).collect();
    // Accesses of which no other loop makes several.
    let alone = addresses.sites.iter().filter(|site| matches!(site.loops[..], [only] if counters.contains(&only)));
    let sites: BTreeSet<u32> = alone.map(|site| site.site).collect();
    let global =
        context.accesses_of(kernel.id, "global").filter(|access| access.site.is_some_and(|site| sites.contains(&site)));
    let most = global.map(|access| access.most_requests).max();
    !counters.is_empty() && most.is_none_or(|requests| requests as f64 >= iterations * warps(kernel) as f64)
}

/// Whether the grid's size is a part of a value.
fn has_grid(expressions: &[Expression], root: ExpressionId) -> bool {
    parts(expressions, [root]).any(|(_, kind)| matches!(kind, ExpressionKind::GridSize(_)))
}

/// Whether the block's size is a part of a value, and the grid's is none.
fn has_block(expressions: &[Expression], root: ExpressionId) -> bool {
    let is_block = |(_, kind): (ExpressionId, ExpressionKind)| matches!(kind, ExpressionKind::BlockSize(_));
    !has_grid(expressions, root) && parts(expressions, [root]).any(is_block)
}

/// Whether the line that launches has the kernel's name: it has another one where that kernel launched this one.
fn is_named(context: &Context<'_>, kernel: &Kernel, frame: Option<&Frame>) -> bool {
    let text = frame.and_then(|frame| context.profile.sources.get(&frame.file)?.get(&frame.line));
    let plain = kernel.name.split(['(', '<']).next().unwrap_or_default();
    let name = plain.rsplit([':', ' ']).next().unwrap_or_default();
    text.is_none_or(|text| !text.contains("<<<") || text.contains(name))
}

/// Whether it loads an allocation that it stores to, elsewhere than where it stores.
fn loads_what_it_stores(context: &Context<'_>, kernel: &Kernel) -> bool {
    let address = |access: &Access<'_>| {
        let sites = kernel.addresses.as_ref().map_or(&[][..], |addresses| &addresses.sites);
        sites.iter().find(|site| Some(site.site) == access.site).map(|site| &site.address)
    };
    let stores: Vec<&Access<'_>> =
        context.accesses_of(kernel.id, "global").filter(|access| access.op != "load").collect();
    let mut loads = context.accesses_of(kernel.id, "global").filter(|access| access.op == "load");
    loads.any(|load| {
        let mut there = stores.iter().filter(|store| store.allocation == load.allocation).peekable();
        there.peek().is_some() && !there.any(|store| address(store).is_some() && address(store) == address(load))
    })
}

/// Blocks of all launches of a kernel, where these are many, come from one place and each writes memory of its own: so they could
/// be one launch.
fn launched_together(context: &Context<'_>, kernel: &Kernel) -> Option<u64> {
    let size = |grid: [u32; 3]| grid.iter().map(|&size| u64::from(size)).fold(1, u64::saturating_mul);
    let line = |path: &[Frame]| path.last().map(|frame| (frame.file.clone(), frame.line, frame.column));
    let alone = kernel.launches.iter().map(|launch| (line(&launch.path), size(launch.grid)));
    let grouped = kernel
        .launch_groups
        .iter()
        .map(|group| (line(&group.path), group.grid.map_or(1, size).saturating_mul(group.launches)));
    let all: Vec<_> = alone.chain(grouped).collect();
    let first = all.first()?.0.clone()?;
    if kernel.launch_count() < MANY_LAUNCHES || all.iter().any(|(line, _)| line.as_ref() != Some(&first)) {
        return None;
    }
    let stores = || context.accesses_of(kernel.id, "global").filter(|access| access.op != "load");
    let written: BTreeSet<u64> = stores().filter_map(|access| access.allocation).collect();
    let touched =
        written.iter().filter_map(|&id| context.profile.allocation(id)).map(|allocation| allocation.touched_bytes);
    let stored =
        stores().map(|access| access.sums.ideal_sectors.saturating_mul(SECTOR_BYTES)).fold(0, u64::saturating_add);
    let apart = !written.is_empty()
        && stores().all(|access| access.op == "store" && access.allocation.is_some())
        && stored <= touched.fold(0u64, u64::saturating_add);
    // What another kernel writes between the launches, as each step of an elimination, keeps them apart.
    let loaded: BTreeSet<u64> = context
        .accesses_of(kernel.id, "global")
        .filter(|access| access.op == "load")
        .filter_map(|access| access.allocation)
        .collect();
    let is_fed = context.accesses.iter().any(|other| {
        other.kernel.id != kernel.id
            && other.kernel.launch_count() > 1
            && other.op != "load"
            && other.allocation.is_some_and(|id| loaded.contains(&id))
    });
    (apart && !is_fed).then(|| all.iter().map(|(_, blocks)| *blocks).fold(0, u64::saturating_add))
}
