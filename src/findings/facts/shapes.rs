//! Block shapes with the same number of threads for which the prediction shows less traffic between L2 and DRAM.

use super::super::prelude::*;
use super::super::thresholds::launches::*;
use warpline_prediction::configurations::{Grids, all_blocks};
use warpline_prediction::count::Basis;
use warpline_prediction::launch::Launch as Predicted;
use warpline_prediction::model::Model;
use warpline_prediction::outcome::Prediction;
use warpline_prediction::predict::predict;
use warpline_prediction::subject::Subject;
use warpline_prediction::tiling::tiled_axes;
use warpline_simulator::models;

/// A better block shape.
#[derive(Clone, Debug)]
pub struct Better {
    pub recorded: [u32; 3],
    pub block: [u32; 3],
    /// Bytes of DRAM traffic of the recorded launch, and of the launch with the better shape.
    pub moved: (f64, f64),
    /// Estimated speed-up factor.
    pub gain: f64,
}

impl Better {
    /// Returns the DRAM traffic of the recorded launch divided by that of the better shape.
    pub fn factor(&self) -> f64 {
        self.moved.0 / self.moved.1
    }
}

/// Returns the best shape with the same number of threads, if it reduces the DRAM traffic.
pub fn better(facts: &Facts<'_>, kernel: &Kernel) -> Option<Better> {
    let known = facts.shapes.borrow().get(&kernel.id).cloned();
    known.unwrap_or_else(|| {
        let found = search(facts, kernel);
        facts.shapes.borrow_mut().insert(kernel.id, found.clone());
        found
    })
}

fn search(facts: &Facts<'_>, kernel: &Kernel) -> Option<Better> {
    if kernel.addresses.is_none() || facts.kernel_share(kernel) < LEAST_KERNEL_SHARE || !facts.profile.run.complete {
        return None;
    }
    let subject = Subject::new(facts.profile, kernel).ok()?;
    // Shared memory is laid out for a shape, and code that does not use its block size works for one shape only.
    let grids = Grids::new(&subject, [1; 3]);
    let recorded = subject.recorded;
    let has_shared = recorded.static_shared_bytes > 0 || recorded.dynamic_shared_bytes > 0;
    let simulated = recorded.metrics.get("global")?.dram?;
    let simulated = (simulated.read_sectors + simulated.write_sectors) as f64 * SECTOR_BYTES as f64;
    if has_shared || !grids.tiling.is_free() || simulated < LEAST_TRAFFIC_BYTES {
        return None;
    }
    let key = facts.profile.run.models.first()?;
    let found = models::find(key).ok()?;
    let (device, hierarchy, rates) = (found.run_device().ok()?.device, found.hierarchy().ok()?, found.rates());
    if u64::from(hierarchy.wave_lanes) != WARP {
        return None;
    }
    let model = Model { key, device: &device, hierarchy: &hierarchy, rates: &rates, stated: Default::default() };
    let now = predict(&subject, &subject.launch, &model).ok().filter(is_sure)?;
    if (dram(&now) - simulated).abs() > MOST_PREDICTION_ERROR * simulated {
        return None;
    }
    let best = best(&subject, &grids, &model)?;
    let (moved, gain) = ((dram(&now), dram(&best)), seconds(&now) / seconds(&best));
    let better = Better { recorded: recorded.block, block: best.block, moved, gain };
    (better.factor() >= LEAST_TRAFFIC_FACTOR && gain >= LEAST_SHAPE_GAIN).then_some(better)
}

/// Returns the fastest shape with the same number of threads that covers the same elements.
fn best(subject: &Subject<'_>, grids: &Grids<'_>, model: &Model<'_>) -> Option<Prediction> {
    let (launch, recorded, tiled) = (&subject.launch, subject.recorded.block, tiled_axes(subject));
    let is_candidate = |block: &[u32; 3]| {
        *block != recorded
            && block.iter().product::<u32>() == launch.threads()
            && (0..3).all(|axis| tiled[axis] || block[axis] == recorded[axis])
    };
    let shapes: Vec<[u32; 3]> = all_blocks(launch, &grids.tiling).into_iter().filter(is_candidate).collect();
    // Selects a limited number of evenly distributed shapes.
    let step = shapes.len().div_ceil(MOST_SHAPES).max(1);
    let predicted = shapes.into_iter().step_by(step).filter_map(|block| {
        let (grid, _) = grids.grid_for(subject, launch, block);
        predict(subject, &Predicted::new(block, grid, launch.arguments.clone()), model).ok().filter(is_sure)
    });
    predicted.min_by(|one, other| {
        let by_time = seconds(one).total_cmp(&seconds(other)).then(dram(one).total_cmp(&dram(other)));
        by_time.then(one.block.cmp(&other.block))
    })
}

fn seconds(one: &Prediction) -> f64 {
    one.seconds.unwrap_or(f64::INFINITY)
}

fn dram(one: &Prediction) -> f64 {
    one.dram_loads + one.dram_stores
}

/// Returns whether the prediction relies only on affine addresses, and omits no access.
fn is_sure(one: &Prediction) -> bool {
    one.affine_share >= 1.0 && !one.rough && one.sites.iter().all(|site| site.basis == Basis::Affine)
}
