//! Adds the figures of requests.

use std::collections::BTreeMap;

use super::open;
use warpline_profile::model::{
    ByOp, CacheMetrics, DistanceBucket, Distances, DramMetrics, InstructionCount, Instructions, LevelMetrics, Metrics,
    OpMetrics, PassMetrics, ReuseMetrics, Spaces, StageMetrics, WarpBlocks, Wide,
};

/// Returns the nearest integer; 0 for numbers that are not finite or negative.
pub(in crate::merge) fn whole(number: f64) -> u128 {
    number.round() as u128
}

fn sum(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

/// Adds a value to an existing one, or stores it.
fn both<T: Clone>(sum: &mut Option<T>, more: Option<&T>, add: impl FnOnce(&mut T, &T)) {
    match (sum, more) {
        (Some(sum), Some(more)) => add(sum, more),
        (sum @ None, Some(more)) => *sum = Some(more.clone()),
        (_, None) => {}
    }
}

/// Changes the value of a name. Most names already exist, so the name is copied only if it is new.
pub(in crate::merge) fn under<T: Default>(map: &mut BTreeMap<String, T>, name: &str, change: impl FnOnce(&mut T)) {
    match map.get_mut(name) {
        Some(value) => change(value),
        None => change(map.entry(name.to_owned()).or_default()),
    }
}

/// Adds the figures of other requests, and computes means.
pub fn add_with_means(to: &mut Metrics, more: &Metrics) {
    add(to, more);
    open::metrics(to);
}

/// Adds the figures of other requests. [`open::metrics`] computes the means later.
pub(in crate::merge) fn add(to: &mut Metrics, more: &Metrics) {
    sum(&mut to.requests, more.requests);
    sum(&mut to.lanes, more.lanes);
    sum(&mut to.bytes, more.bytes);
    sum(&mut to.sectors, more.sectors);
    sum(&mut to.ideal_sectors, more.ideal_sectors);
    for (size, counts) in &more.lines_touched {
        under(&mut to.lines_touched, size, |to| add_each(to, counts));
    }
    both(&mut to.shared, more.shared.as_ref(), add_passes);
    both(&mut to.constant, more.constant.as_ref(), add_passes);
    both(&mut to.l1_wavefronts, more.l1_wavefronts.as_ref(), add_stages);
    both(&mut to.l1, more.l1.as_ref(), add_level);
    both(&mut to.l2, more.l2.as_ref(), add_level);
    both(&mut to.dram, more.dram.as_ref(), add_dram);
    for (model, caches) in &more.other_models {
        match to.other_models.get_mut(model) {
            Some(sum) => add_caches(sum, caches),
            None => _ = to.other_models.insert(model.clone(), *caches),
        }
    }
    both(&mut to.reuse, more.reuse.as_ref(), add_reuse);
}

/// Adds figures by space.
pub(in crate::merge) fn add_spaces(to: &mut Spaces, more: &Spaces) {
    for (space, metrics) in more {
        match to.get_mut(space) {
            Some(sum) => add(sum, metrics),
            None => _ = to.insert(space.clone(), metrics.clone()),
        }
    }
}

/// Adds counts by position.
pub(in crate::merge) fn add_each(to: &mut Vec<u64>, more: &[u64]) {
    if to.len() < more.len() {
        to.resize(more.len(), 0);
    }
    to.iter_mut().zip(more).for_each(|(to, more)| sum(to, *more));
}

fn add_passes(to: &mut PassMetrics, more: &PassMetrics) {
    sum(&mut to.wavefronts, more.wavefronts);
    sum(&mut to.ideal_wavefronts, more.ideal_wavefronts);
}

fn add_stages(to: &mut StageMetrics, more: &StageMetrics) {
    sum(&mut to.data, more.data);
    sum(&mut to.ideal_data, more.ideal_data);
    sum(&mut to.tag, more.tag);
    sum(&mut to.words, more.words);
}

pub(in crate::merge) fn add_level(to: &mut LevelMetrics, more: &LevelMetrics) {
    sum(&mut to.lookups, more.lookups);
    sum(&mut to.hits, more.hits);
    sum(&mut to.load_lookups, more.load_lookups);
    sum(&mut to.load_hits, more.load_hits);
    sum(&mut to.store_allocations, more.store_allocations);
    sum(&mut to.far, more.far);
}

pub(in crate::merge) fn add_dram(to: &mut DramMetrics, more: &DramMetrics) {
    sum(&mut to.read_sectors, more.read_sectors);
    sum(&mut to.write_sectors, more.write_sectors);
}

fn add_caches(to: &mut CacheMetrics, more: &CacheMetrics) {
    add_level(&mut to.l1, &more.l1);
    add_level(&mut to.l2, &more.l2);
    add_dram(&mut to.dram, &more.dram);
    both(&mut to.l1_wavefronts, more.l1_wavefronts.as_ref(), add_stages);
}

fn add_reuse(to: &mut ReuseMetrics, more: &ReuseMetrics) {
    add_distances(&mut to.element, &more.element);
    add_distances(&mut to.sector, &more.sector);
    add_distances(&mut to.line, &more.line);
    sum(&mut to.streaming, more.streaming);
}

fn add_distances(to: &mut Distances, more: &Distances) {
    let finite =
        |distances: &Distances| distances.buckets.iter().fold(0u64, |sum, bucket| sum.saturating_add(bucket.count));
    let (ours, theirs) = (finite(to), finite(more));
    // Means have nine digits. The first sum is derived from the mean; later sums are exact, so the order of merging
    // does not matter.
    let total = |distances: &Distances, count| match (distances.sum, distances.mean) {
        (Some(sum), _) => sum,
        (None, Some(mean)) => Wide(whole(mean * count as f64)),
        (None, None) => Wide(0),
    };
    if to.mean.is_some() || more.mean.is_some() {
        let sum = total(to, ours).plus(total(more, theirs));
        (to.sum, to.mean) = (Some(sum), Some(open::LATER));
    }
    add_buckets(&mut to.buckets, &more.buckets);
    sum(&mut to.infinite, more.infinite);
    both(&mut to.beyond, more.beyond.as_ref(), |to, more| {
        sum(&mut to.l1, more.l1);
        sum(&mut to.l2, more.l2);
    });
}

/// Adds buckets. Profiles list them up to the last that is not empty, so the longer list contains all of them.
fn add_buckets(to: &mut Vec<DistanceBucket>, more: &[DistanceBucket]) {
    if to.iter().zip(more).all(|(to, more)| to.upto == more.upto) {
        to.iter_mut().zip(more).for_each(|(to, more)| sum(&mut to.count, more.count));
        to.extend(more.iter().skip(to.len()));
        return;
    }
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for bucket in to.iter().chain(more) {
        sum(counts.entry(bucket.upto).or_default(), bucket.count);
    }
    *to = counts.into_iter().map(|(upto, count)| DistanceBucket { upto, count }).collect();
}

/// Adds loads, stores and atomics separately.
pub(in crate::merge) fn add_by_op(to: &mut ByOp, more: &ByOp) {
    for (space, ops) in more {
        under(to, space, |to| {
            for (op, row) in ops {
                under(to, op, |to| add_op(to, row));
            }
        });
    }
}

fn add_op(to: &mut OpMetrics, more: &OpMetrics) {
    sum(&mut to.requests, more.requests);
    sum(&mut to.lanes, more.lanes);
    sum(&mut to.bytes, more.bytes);
    sum(&mut to.sectors, more.sectors);
    sum(&mut to.ideal_sectors, more.ideal_sectors);
    both(&mut to.l1, more.l1.as_ref(), add_level);
    both(&mut to.l2, more.l2.as_ref(), add_level);
    both(&mut to.dram, more.dram.as_ref(), add_dram);
}

pub(in crate::merge) fn add_instructions(sum: &mut Instructions, more: &Instructions) {
    for (class, count) in more {
        under(sum, class, |InstructionCount { warps, lanes }| {
            *warps = warps.saturating_add(count.warps);
            *lanes = lanes.saturating_add(count.lanes);
        });
    }
}

pub(in crate::merge) fn add_warp_blocks(sum: &mut Option<WarpBlocks>, more: Option<WarpBlocks>) {
    let Some(more) = more else { return };
    let sum = sum.get_or_insert_default();
    sum.count = sum.count.saturating_add(more.count);
    sum.divergent = sum.divergent.saturating_add(more.divergent);
    sum.partial = sum.partial.saturating_add(more.partial);
}
