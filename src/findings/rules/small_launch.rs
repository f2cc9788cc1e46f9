//! Launches with so few blocks that most SMs have none.

use super::super::context::{Context, warps_of_block};
use super::super::draft::Draft;
use super::super::gain::gain_of;
use super::super::words;
use super::partial_warps::{launch_line, shape};
use crate::profile::model::{Kernel, Severity};

/// A launch leaves more than this share of the SMs without a block.
const LEAST_IDLE: f64 = 0.75;
/// Least share of the kernel in the time of all: a last small step of a reduction is none.
const LEAST_SHARE: f64 = 0.1;
/// Seconds of a launch, by the estimate, from which on it is worth a change.
const LEAST_SECONDS: f64 = 20e-6;

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
    if sms == 0 || blocks as f64 > (1.0 - LEAST_IDLE) * sms as f64 || of_time < LEAST_SHARE {
        return None;
    }
    let reason = format!(
        "launches of at most {} use {blocks} of the {sms} SMs: the others have nothing to do for {} of the estimated time of all kernels",
        words::several(blocks, "block", "blocks"),
        words::percent(of_time),
    );
    let cure = "launch at least as many blocks as there are SMs, better several times as many: smaller blocks, less work per thread, or several \
                small launches at a time in streams";
    // Parts that each SM has for itself are as much faster as more SMs work.
    let estimate = context.estimate(kernel)?;
    // How many blocks there are is free where the kernel steps by the grid's size; else the problem's size says it, and a warp
    // is not divided.
    let steps_by_grid = context.profile.lines.iter().filter(|line| line.kernel == kernel.id).any(|line| {
        let text = context.profile.sources.get(&line.file).and_then(|lines| lines.get(&line.line));
        text.is_some_and(|text| text.contains("gridDim"))
    });
    let warps = blocks.saturating_mul(warps_of_block(kernel));
    let reached = if steps_by_grid { sms } else { sms.min(warps).max(blocks) };
    let factor = reached as f64 / blocks as f64;
    let whole_gpu = ["l2", "dram", "bus"];
    let then = estimate
        .limits
        .iter()
        .map(|limit| if whole_gpu.contains(&&limit.name[..]) { limit.seconds } else { limit.seconds / factor });
    let now = estimate.limits.iter().map(|limit| limit.seconds).fold(0.0, f64::max);
    let assumption =
        if reached < sms { "the same warps, each on an SM of its own" } else { "the same work, spread over all SMs" };
    let gain = gain_of(now, then.fold(0.0, f64::max), estimate.seconds, assumption);
    let idle = 1.0 - blocks as f64 / sms as f64;
    let draft = Draft::new(reason, cure).at_frame(launch_line(kernel)).of_kernel(kernel);
    let draft = if draft.line == 0 { draft.at_kernel(kernel) } else { draft };
    let long = estimate.seconds / kernel.launch_count().max(1) as f64 >= LEAST_SECONDS;
    let draft = draft
        .object(Some(format!("grid {}", shape(grid))))
        .evidence("blocks", blocks as f64)
        .evidence("sms", sms as f64)
        .evidence("share_of_time", of_time)
        .gain(gain)
        .score(idle * of_time * 0.9);
    Some(if steps_by_grid && long { draft } else { draft.severity(Severity::Note) })
}
