//! Block shapes that move more data between L2 and DRAM than another shape of as many threads would, by prediction.

use super::super::context::Context;
use super::super::draft::Draft;
use super::super::gain::gain_of_kernel;
use super::super::words;
use super::partial_warps::{launch_line, shape};
use crate::models;
use crate::prediction::configurations::{Grids, all_blocks};
use crate::prediction::count::Basis;
use crate::prediction::launch::Launch;
use crate::prediction::predict::{Model, Prediction, predict};
use crate::prediction::subject::Subject;
use crate::prediction::tiling::tiled_axes;
use crate::profile::model::{Kernel, Severity};

/// Least share of the kernel in the time of all.
const LEAST_SHARE: f64 = 0.1;
/// Least DRAM traffic, times that of the best shape.
const LEAST_FACTOR: f64 = 1.3;
/// Least gain of estimated time.
const LEAST_GAIN: f64 = 1.15;
/// Most that the prediction of the launch as it was may be apart from what was simulated.
const MOST_APART: f64 = 0.25;
/// Shapes that are looked at, at most.
const MOST_SHAPES: usize = 12;
/// Bytes of DRAM traffic below which nothing is looked at.
const LEAST_BYTES: f64 = (1 << 20) as f64;

pub(in super::super) fn find(context: &Context<'_>) -> Vec<Draft> {
    context.profile.kernels.iter().filter_map(|kernel| draft(context, kernel)).collect()
}

fn draft(context: &Context<'_>, kernel: &Kernel) -> Option<Draft> {
    if kernel.addresses.is_none() || context.kernel_share(kernel) < LEAST_SHARE || !context.profile.run.complete {
        return None;
    }
    let subject = Subject::new(context.profile, kernel).ok()?;
    let recorded = subject.recorded;
    // Shared memory is laid out for a shape.
    if recorded.static_shared_bytes > 0 || recorded.dynamic_shared_bytes > 0 {
        return None;
    }
    let simulated = recorded.metrics.get("global")?.dram?;
    let simulated = (simulated.read_sectors + simulated.write_sectors) as f64 * 32.0;
    if simulated < LEAST_BYTES {
        return None;
    }
    // So is code that does not ask for the size of its blocks.
    let grids = Grids::new(&subject, [1; 3]);
    if !grids.tiling.is_free() {
        return None;
    }
    let key = context.profile.run.models.first()?;
    let found = models::find(key).ok()?;
    let (device, hierarchy, rates) = (found.run_device().ok()?.device, found.hierarchy().ok()?, found.rates());
    if hierarchy.wave_lanes != 32 {
        return None;
    }
    let model = Model { key, device: &device, hierarchy: &hierarchy, rates: &rates, stated: Default::default() };
    let now = predict(&subject, &subject.launch, &model).ok()?;
    let moved = |one: &Prediction| one.dram_loads + one.dram_stores;
    if !is_sure(&now) || (moved(&now) - simulated).abs() > MOST_APART * simulated {
        return None;
    }
    let tiled = tiled_axes(&subject);
    let alike = |block: &[u32; 3]| {
        *block != recorded.block
            && block.iter().product::<u32>() == subject.launch.threads()
            && (0..3).all(|axis| tiled[axis] || block[axis] == recorded.block[axis])
    };
    let shapes: Vec<[u32; 3]> = all_blocks(&subject.launch, &grids.tiling).into_iter().filter(alike).collect();
    // Evenly spread over those that there are.
    let step = shapes.len().div_ceil(MOST_SHAPES).max(1);
    let others = shapes.into_iter().step_by(step).filter_map(|block| {
        let (grid, _) = grids.grid_for(&subject, &subject.launch, block);
        let launch = Launch::new(block, grid, subject.launch.arguments.clone());
        predict(&subject, &launch, &model).ok().filter(is_sure)
    });
    let best = others.min_by(|one, other| {
        let time = |one: &Prediction| one.seconds.unwrap_or(f64::INFINITY);
        time(one).total_cmp(&time(other)).then(moved(one).total_cmp(&moved(other))).then(one.block.cmp(&other.block))
    })?;
    let (factor, gain) = (moved(&now) / moved(&best), now.seconds? / best.seconds?);
    if !(factor >= LEAST_FACTOR && gain >= LEAST_GAIN) {
        return None;
    }
    let reason = format!(
        "blocks of {} threads fit this kernel worse than {} would: {factor:.1} times the DRAM traffic ({} instead of {}), predicted \
         from the addresses that the compiler told",
        shape(recorded.block),
        shape(best.block),
        words::bytes(moved(&now) as u64),
        words::bytes(moved(&best) as u64),
    );
    let cure = format!(
        "launch blocks of {} and as many of them as cover the same indices; `warpline predict --kernel` tells what all shapes would do, \
         and `--check` runs some",
        shape(best.block)
    );
    context.estimate(kernel)?;
    let assumption =
        "caches that are empty when the kernel starts, and the instructions and registers of the launch as it was";
    let draft = Draft::new(reason, cure).at_frame(launch_line(kernel)).of_kernel(kernel);
    let draft = if draft.line == 0 { draft.at_kernel(kernel) } else { draft };
    let draft = draft
        .object(Some(format!("block {}", shape(recorded.block))))
        .evidence("dram_bytes", moved(&now))
        .evidence("best_dram_bytes", moved(&best))
        .evidence("dram_factor", factor)
        .evidence("best_block_x", f64::from(best.block[0]))
        .evidence("best_block_y", f64::from(best.block[1]))
        .evidence("best_block_z", f64::from(best.block[2]))
        .gain(gain_of_kernel(kernel, gain, 1.0, assumption))
        .score((1.0 - 1.0 / gain) * context.kernel_share(kernel));
    // Another shape was never run.
    Some(draft.severity(Severity::Note))
}

/// All of it follows from affine addresses, and nothing was left out of account.
fn is_sure(one: &Prediction) -> bool {
    one.affine_share >= 1.0 && !one.rough && one.sites.iter().all(|(_, basis)| *basis == Basis::Affine)
}
