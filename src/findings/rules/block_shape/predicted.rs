//! What the predictor says of other shapes of a kernel's blocks.

use std::collections::BTreeSet;

use super::super::super::facts::Facts;
use crate::models;
use crate::prediction::configurations::{Grids, all_blocks};
use crate::prediction::count::Basis;
use crate::prediction::evaluate::{Evaluated, Value};
use crate::prediction::form::{Form, block, thread};
use crate::prediction::launch::Launch;
use crate::prediction::predict::{Model, Prediction, predict};
use crate::prediction::subject::Subject;
use crate::prediction::tiling::tiled_axes;
use crate::profile::model::{Estimate, Kernel};

/// Least share of the kernel in the time of all.
const LEAST_SHARE: f64 = 0.1;
/// Least traffic, times that of the best shape.
const LEAST_FACTOR: f64 = 1.3;
/// Least gain of estimated time.
const LEAST_GAIN: f64 = 1.15;
/// Times that of the fastest shape, at most, for a shape that is about as fast.
const AS_FAST: f64 = 1.1;
/// Most that the prediction of the launch as it was may be apart from what was simulated.
const MOST_APART: f64 = 0.25;
/// DRAM traffic of a shape by which less comes from L2, over that of the launch as it was, at most.
const MORE_DRAM: f64 = 1.1;
/// Threads of a row of the block that fill a warp.
const ROW: u32 = 32;
/// Shapes that are looked at, at most, and as many whose rows fill warps.
const MOST_SHAPES: usize = 12;
/// Bytes of traffic below which nothing is looked at.
const LEAST_BYTES: f64 = (1 << 20) as f64;

/// Where the traffic is that another shape has less of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::findings) enum Level {
    /// Between L1 and L2: loads.
    L2,
    /// Between L2 and DRAM.
    Dram,
}

/// A shape that is better.
#[derive(Clone, Debug)]
pub(in crate::findings) struct Better {
    pub recorded: [u32; 3],
    pub block: [u32; 3],
    pub level: Level,
    /// Bytes of the launch as it was, and of the better one.
    pub moved: (f64, f64),
    /// How many times faster it is by the estimate.
    pub gain: f64,
    /// Some addresses were taken from the launch as it was, so that the gain is a lower bound.
    pub at_least: bool,
}

impl Better {
    /// How many times as much the launch as it was moves.
    pub(in crate::findings) fn factor(&self) -> f64 {
        self.moved.0 / self.moved.1
    }
}

/// The best shape of as many threads, where it is better by DRAM traffic, or by what comes from L2 where that limits the kernel.
pub(in crate::findings) fn better(facts: &Facts<'_>, kernel: &Kernel) -> Option<Better> {
    let known = facts.shapes.borrow().get(&kernel.id).cloned();
    known.unwrap_or_else(|| {
        let found = looked_for(facts, kernel);
        facts.shapes.borrow_mut().insert(kernel.id, found.clone());
        found
    })
}

fn looked_for(facts: &Facts<'_>, kernel: &Kernel) -> Option<Better> {
    if kernel.addresses.is_none() || facts.kernel_share(kernel) < LEAST_SHARE || !facts.profile.run.complete {
        return None;
    }
    let subject = Subject::new(facts.profile, kernel).ok()?;
    // Shared memory is laid out for a shape, and so is code that does not ask for the size of its blocks.
    let grids = Grids::new(&subject, [1; 3]);
    let recorded = subject.recorded;
    if recorded.static_shared_bytes > 0 || recorded.dynamic_shared_bytes > 0 || !grids.tiling.is_free() {
        return None;
    }
    let (simulated_l2, simulated_dram) = simulated(facts, &subject)?;
    let key = facts.profile.run.models.first()?;
    let found = models::find(key).ok()?;
    let (device, hierarchy, rates) = (found.run_device().ok()?.device, found.hierarchy().ok()?, found.rates());
    if hierarchy.wave_lanes != 32 || simulated_l2.max(simulated_dram) < LEAST_BYTES {
        return None;
    }
    let model = Model { key, device: &device, hierarchy: &hierarchy, rates: &rates, stated: Default::default() };
    let now = predict(&subject, &subject.launch, &model).ok()?;
    let is_near = |predicted: f64, simulated: f64| (predicted - simulated).abs() <= MOST_APART * simulated;
    let by_dram = is_sure(&now) && simulated_dram >= LEAST_BYTES && is_near(dram(&now), simulated_dram);
    // By what limits the run: a prediction begins with empty caches, and the run's data may be in L2 already.
    let of_l2 = kernel.estimates.first().filter(|estimate| {
        estimate.limiter == "l2" && is_near(now.l2_loads, simulated_l2) && have_siblings(&subject, &now)
    });
    let predicted = |one: &Prediction| one.seconds.unwrap_or(f64::INFINITY);
    let best = |tiled: [bool; 3],
                by_rows: bool,
                time: &dyn Fn(&Prediction) -> f64,
                is_meant: &dyn Fn(&Prediction) -> bool,
                moved: fn(&Prediction) -> f64| {
        let alike = |block: &[u32; 3]| {
            *block != recorded.block
                && block.iter().product::<u32>() == subject.launch.threads()
                && (0..3).all(|axis| tiled[axis] || block[axis] == recorded.block[axis])
        };
        let is_row = |block: &[u32; 3]| by_rows && block[0] >= ROW;
        let (rows, shapes): (Vec<[u32; 3]>, Vec<[u32; 3]>) =
            all_blocks(&subject.launch, &grids.tiling).into_iter().filter(alike).partition(is_row);
        let others: Vec<Prediction> = spread(rows)
            .chain(spread(shapes))
            .filter_map(|block| {
                let (grid, _) = grids.grid_for(&subject, &subject.launch, block);
                let launch = Launch::new(block, grid, subject.launch.arguments.clone());
                predict(&subject, &launch, &model).ok().filter(is_meant)
            })
            .collect();
        let least = others.iter().map(time).fold(f64::INFINITY, f64::min);
        // Of those that are about as fast, one whose warps are rows: what the code was written for.
        let is_usual = |one: &Prediction| one.block[0] >= ROW && time(one) <= AS_FAST * least;
        let is_odd = |one: &Prediction| by_rows && !is_usual(one);
        others.into_iter().min_by(|one, other| {
            let by_time = is_odd(one).cmp(&is_odd(other)).then(time(one).total_cmp(&time(other)));
            by_time.then(moved(one).total_cmp(&moved(other))).then(one.block.cmp(&other.block))
        })
    };
    let of_dram = by_dram.then(|| {
        let best = best(tiled_axes(&subject), false, &predicted, &is_sure, dram)?;
        let gain = predicted(&now) / predicted(&best);
        Some((Level::Dram, best, gain, dram as fn(&Prediction) -> f64)).filter(|_| gain >= LEAST_GAIN)
    });
    let of_l2 = || {
        let estimate = of_l2?;
        let seconds = |one: &Prediction| as_measured(estimate, &now, one);
        let is_meant = |one: &Prediction| dram(one) <= MORE_DRAM * dram(&now);
        let best = best(tiled_by_siblings(&subject), true, &seconds, &is_meant, |one| one.l2_loads)?;
        let gain = seconds(&now) / seconds(&best);
        Some((Level::L2, best, gain, (|one| one.l2_loads) as fn(&Prediction) -> f64))
    };
    let (level, best, gain, moved) = of_dram.flatten().or_else(of_l2)?;
    let found = Better {
        recorded: recorded.block,
        block: best.block,
        level,
        moved: (moved(&now), moved(&best)),
        gain,
        at_least: now.affine_share + now.computed_share < 1.0,
    };
    (found.factor() >= LEAST_FACTOR && found.gain >= LEAST_GAIN).then_some(found)
}

/// A few of the shapes, evenly spread over those that there are.
fn spread(shapes: Vec<[u32; 3]>) -> impl Iterator<Item = [u32; 3]> {
    let step = shapes.len().div_ceil(MOST_SHAPES).max(1);
    shapes.into_iter().step_by(step)
}

/// Seconds of the kernel if its blocks had another shape: what the run asked of each part of the GPU, by how much more or less that shape asks of it; of DRAM what it was.
fn as_measured(estimate: &Estimate, now: &Prediction, one: &Prediction) -> f64 {
    let ratio = |value: &dyn Fn(&Prediction) -> f64| if value(now) > 0.0 { value(one) / value(now) } else { 1.0 };
    let seconds = estimate.limits.iter().map(|limit| {
        let times = match &limit.name[..] {
            "l2" => ratio(&|one| one.l2_loads + one.l2_stores),
            "l1_tag" => ratio(&|one| one.global.tags),
            "l1_data" => ratio(&|one| one.global.wavefronts),
            "l1_lanes" => ratio(&|one| one.global.words),
            _ => 1.0,
        };
        limit.seconds * times
    });
    seconds.fold(0.0, f64::max)
}

/// Bytes that the recorded launch loads from L2, and all that it moves between L2 and DRAM.
fn simulated(facts: &Facts<'_>, subject: &Subject<'_>) -> Option<(f64, f64)> {
    let metrics = subject.recorded.metrics.get("global")?;
    let (l2, dram) = (metrics.l2?, metrics.dram?);
    let sector = facts.profile.run.lookup_bytes.values().next().map_or(32, |bytes| bytes.l2.max(1));
    Some(((l2.load_lookups * sector) as f64, (dram.read_sectors + dram.write_sectors) as f64 * 32.0))
}

fn dram(one: &Prediction) -> f64 {
    one.dram_loads + one.dram_stores
}

/// All of it follows from affine addresses, and nothing was left out of account.
fn is_sure(one: &Prediction) -> bool {
    one.affine_share >= 1.0 && !one.rough && one.sites.iter().all(|site| site.basis == Basis::Affine)
}

/// Line, operation and data of a site: copies of an unrolled statement have them in common.
type Statement<'a> = (&'a str, u32, &'a str, usize);

fn statement<'a>(subject: &Subject<'a>, number: usize) -> Option<Statement<'a>> {
    let row = subject.rows[number]?;
    Some((&row.file, row.line, &row.op, subject.allocations[number]))
}

/// Whether what is taken from the launch as it was are copies of statements of which others follow from the launch, so that they go through the
/// same data in the same way.
fn have_siblings(subject: &Subject<'_>, now: &Prediction) -> bool {
    let is_lost = |number: usize| matches!(now.sites[number].basis, Basis::Lost(_));
    let numbers = || (0..now.sites.len()).filter(|&number| subject.rows[number].is_some());
    let known: BTreeSet<Statement<'_>> =
        numbers().filter(|&number| !is_lost(number)).filter_map(|number| statement(subject, number)).collect();
    subject.others.iter().all(|row| row.space != "global")
        && numbers()
            .filter(|&number| is_lost(number))
            .all(|number| statement(subject, number).is_some_and(|one| known.contains(&one)))
}

/// Axes along which blocks of another size cover the same elements, by those copies of each statement whose addresses are affine; none where a
/// statement has no such copy.
fn tiled_by_siblings(subject: &Subject<'_>) -> [bool; 3] {
    // Where there is one block along an axis, its number is 0 whatever it is multiplied by.
    let several = |sizes: [u32; 3]| sizes.map(|size| size.max(2));
    let launch =
        Launch::new(several(subject.launch.block), several(subject.launch.grid), subject.launch.arguments.clone());
    let evaluated = Evaluated::new(subject.addresses, &launch);
    let numbers = || (0..subject.addresses.sites.len()).filter(|&number| subject.rows[number].is_some());
    // Of an index that is held within bounds, those at a bound move with no thread.
    let forms = |number: usize| -> Vec<&Form> {
        match evaluated.value(subject.addresses.sites[number].address) {
            Value::Form(form) => vec![form],
            Value::Cases(cases) => cases.iter().map(|(_, form)| form).collect(),
            _ => Vec::new(),
        }
    };
    let told: BTreeSet<Statement<'_>> =
        numbers().filter(|&number| !forms(number).is_empty()).filter_map(|number| statement(subject, number)).collect();
    let are_told = numbers().all(|number| statement(subject, number).is_some_and(|one| told.contains(&one)));
    std::array::from_fn(|axis| {
        are_told
            && numbers().flat_map(forms).all(|form| {
                let of_threads = form.factor(thread(axis)).checked_mul(i64::from(launch.block[axis]));
                of_threads == Some(form.factor(block(axis)))
            })
    })
}
