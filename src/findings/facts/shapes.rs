//! Block shapes of as many threads that move less data, by prediction.

use std::collections::BTreeSet;

use super::super::thresholds::launches::{
    AS_FAST, LEAST_KERNEL_SHARE, LEAST_SHAPE_GAIN, LEAST_TRAFFIC_BYTES, LEAST_TRAFFIC_FACTOR, MOST_MORE_DRAM,
    MOST_PREDICTION_ERROR, MOST_SHAPES, WARP,
};
use super::profile::Facts;
use warpline_prediction::configurations::{Grids, all_blocks};
use warpline_prediction::count::Basis;
use warpline_prediction::evaluate::{Evaluated, Value};
use warpline_prediction::form::{Form, block, thread};
use warpline_prediction::launch::Launch;
use warpline_prediction::predict::{Model, Prediction, predict};
use warpline_prediction::subject::Subject;
use warpline_prediction::tiling::tiled_axes;
use warpline_profile::model::{Estimate, Kernel};
use warpline_simulator::models;

/// Where the traffic is that another shape has less of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Between L1 and L2: loads.
    L2,
    /// Between L2 and DRAM.
    Dram,
}

/// A shape that is better.
#[derive(Clone, Debug)]
pub struct Better {
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
    pub fn factor(&self) -> f64 {
        self.moved.0 / self.moved.1
    }
}

/// The best shape of as many threads, where it is better by DRAM traffic, or by what comes from L2 where that limits the kernel.
pub fn better(facts: &Facts<'_>, kernel: &Kernel) -> Option<Better> {
    let known = facts.shapes.borrow().get(&kernel.id).cloned();
    known.unwrap_or_else(|| {
        let found = search(facts, kernel);
        facts.shapes.borrow_mut().insert(kernel.id, found.clone());
        found
    })
}

/// What shapes are predicted with.
struct Search<'s> {
    subject: &'s Subject<'s>,
    grids: &'s Grids<'s>,
    model: Model<'s>,
    /// The recorded launch.
    now: Prediction,
}

/// A way to compare shapes.
struct Comparison<'c> {
    level: Level,
    /// Axes whose size may change.
    tiled: [bool; 3],
    /// Shapes whose warps are rows come first.
    prefers_rows: bool,
    seconds: &'c dyn Fn(&Prediction) -> f64,
    is_valid: &'c dyn Fn(&Prediction) -> bool,
    moved: fn(&Prediction) -> f64,
}

fn search(facts: &Facts<'_>, kernel: &Kernel) -> Option<Better> {
    if kernel.addresses.is_none() || facts.kernel_share(kernel) < LEAST_KERNEL_SHARE || !facts.profile.run.complete {
        return None;
    }
    let subject = Subject::new(facts.profile, kernel).ok()?;
    // Shared memory is laid out for a shape, and so is code that does not use the size of its blocks.
    let grids = Grids::new(&subject, [1; 3]);
    let recorded = subject.recorded;
    if recorded.static_shared_bytes > 0 || recorded.dynamic_shared_bytes > 0 || !grids.tiling.is_free() {
        return None;
    }
    let (simulated_l2, simulated_dram) = simulated(facts, &subject)?;
    let key = facts.profile.run.models.first()?;
    let found = models::find(key).ok()?;
    let (device, hierarchy, rates) = (found.run_device().ok()?.device, found.hierarchy().ok()?, found.rates());
    if u64::from(hierarchy.wave_lanes) != WARP || simulated_l2.max(simulated_dram) < LEAST_TRAFFIC_BYTES {
        return None;
    }
    let model = Model { key, device: &device, hierarchy: &hierarchy, rates: &rates, stated: Default::default() };
    let now = predict(&subject, &subject.launch, &model).ok()?;
    let search = Search { subject: &subject, grids: &grids, model, now };
    let estimate = kernel.estimates.first();
    search.by_dram(simulated_dram).or_else(|| search.by_l2(estimate?, simulated_l2))
}

/// Returns whether a prediction is accurate enough.
fn is_accurate(predicted: f64, simulated: f64) -> bool {
    (predicted - simulated).abs() <= MOST_PREDICTION_ERROR * simulated
}

impl Search<'_> {
    fn by_dram(&self, simulated: f64) -> Option<Better> {
        if !is_sure(&self.now) || simulated < LEAST_TRAFFIC_BYTES || !is_accurate(dram(&self.now), simulated) {
            return None;
        }
        self.better(&Comparison {
            level: Level::Dram,
            tiled: tiled_axes(self.subject),
            prefers_rows: false,
            seconds: &|one| one.seconds.unwrap_or(f64::INFINITY),
            is_valid: &is_sure,
            moved: dram,
        })
    }

    /// By what limits the run: a prediction starts with empty caches, and the run's data may be in L2 already.
    fn by_l2(&self, estimate: &Estimate, simulated: f64) -> Option<Better> {
        let is_limit = estimate.limiter == "l2" && is_accurate(self.now.l2_loads, simulated);
        if !is_limit || !have_siblings(self.subject, &self.now) {
            return None;
        }
        self.better(&Comparison {
            level: Level::L2,
            tiled: tiled_by_siblings(self.subject),
            prefers_rows: true,
            seconds: &|one| as_measured(estimate, &self.now, one),
            is_valid: &|one| dram(one) <= MOST_MORE_DRAM * dram(&self.now),
            moved: |one| one.l2_loads,
        })
    }

    fn better(&self, by: &Comparison<'_>) -> Option<Better> {
        let best = self.best(by)?;
        let found = Better {
            recorded: self.subject.recorded.block,
            block: best.block,
            level: by.level,
            moved: ((by.moved)(&self.now), (by.moved)(&best)),
            gain: (by.seconds)(&self.now) / (by.seconds)(&best),
            at_least: self.now.affine_share + self.now.computed_share < 1.0,
        };
        (found.factor() >= LEAST_TRAFFIC_FACTOR && found.gain >= LEAST_SHAPE_GAIN).then_some(found)
    }

    /// The fastest shape; of those that are about as fast, one whose warps are rows where these are preferred.
    fn best(&self, by: &Comparison<'_>) -> Option<Prediction> {
        let (launch, recorded) = (&self.subject.launch, self.subject.recorded.block);
        let is_candidate = |block: &[u32; 3]| {
            *block != recorded
                && block.iter().product::<u32>() == launch.threads()
                && (0..3).all(|axis| by.tiled[axis] || block[axis] == recorded[axis])
        };
        let is_row = |block: [u32; 3]| u64::from(block[0]) >= WARP;
        let candidates = all_blocks(launch, &self.grids.tiling).into_iter().filter(is_candidate);
        let (rows, shapes): (Vec<_>, Vec<_>) = candidates.partition(|block| by.prefers_rows && is_row(*block));
        let predicted = spread(rows).chain(spread(shapes)).filter_map(|block| {
            let (grid, _) = self.grids.grid_for(self.subject, launch, block);
            let launch = Launch::new(block, grid, launch.arguments.clone());
            predict(self.subject, &launch, &self.model).ok().filter(by.is_valid)
        });
        let predicted: Vec<Prediction> = predicted.collect();
        let least = predicted.iter().map(by.seconds).fold(f64::INFINITY, f64::min);
        let is_odd = |one: &Prediction| by.prefers_rows && !(is_row(one.block) && (by.seconds)(one) <= AS_FAST * least);
        predicted.into_iter().min_by(|one, other| {
            let by_time = is_odd(one).cmp(&is_odd(other)).then((by.seconds)(one).total_cmp(&(by.seconds)(other)));
            by_time.then((by.moved)(one).total_cmp(&(by.moved)(other))).then(one.block.cmp(&other.block))
        })
    }
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

/// Returns whether what is taken from the launch as it was are copies of statements of which others follow from the launch, so that they go through the
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
