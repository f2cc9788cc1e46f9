//! Creates profiles of fictitious ranks from real ones, to measure the cost of merging thousands of them.

use crate::Profile;
use crate::model::{Distances, LevelMetrics, Metrics, Rank};

/// Returns a profile with at least this many sites. It contains the kernels of the real profiles repeatedly under new
/// names.
pub fn with_sites(real: &[Profile], sites: usize) -> Option<Profile> {
    let first = real.iter().find(|profile| !profile.sites.is_empty())?;
    let mut whole = first.clone();
    whole.faults.clear();
    whole.uninitialised.clear();
    whole.float_exceptions.clear();
    whole.float_origins.clear();
    whole.access_values.clear();
    whole.allocation_values.clear();
    whole.rounded_allocations.clear();
    whole.compared_results.clear();
    whole.conflicts.clear();
    let mut copies = 0u32;
    for part in real.iter().filter(|part| !part.sites.is_empty()).cycle() {
        if whole.sites.len() >= sites {
            break;
        }
        copies += 1;
        add_copy(&mut whole, part, copies, sites);
    }
    Some(whole)
}

/// Adds the kernels of a profile under other names. The allocations are the same.
fn add_copy(whole: &mut Profile, part: &Profile, copy: u32, sites: usize) {
    let kernels = whole.kernels.len() as u32;
    let site = copy.saturating_mul(10_000);
    let file = |file: &str| format!("{file}.{copy}");
    let known = |id: u64| whole.allocations.iter().any(|row| row.id == id);
    for row in &part.sites {
        if whole.sites.len() >= sites {
            break;
        }
        let mut row = row.clone();
        (row.kernel, row.id) = (row.kernel + kernels, row.id + site);
        row.file = file(&row.file);
        row.by_allocation.retain(|owner| owner.allocation.is_none_or(known));
        if let Some(atomics) = row.pattern.as_mut().and_then(|pattern| pattern.atomics.as_mut()) {
            atomics.hottest.retain(|hot| known(hot.allocation));
        }
        whole.sites.push(row);
    }
    for row in &part.kernels {
        let mut row = row.clone();
        row.id += kernels;
        row.mangled = format!("{}.{copy}", row.mangled);
        row.name = format!("{} copy {copy}", row.name);
        whole.kernels.push(row);
    }
    for row in &part.lines {
        let mut row = row.clone();
        row.kernel += kernels;
        row.file = file(&row.file);
        whole.lines.push(row);
    }
    for row in &part.branches {
        let mut row = row.clone();
        row.kernel += kernels;
        row.file = file(&row.file);
        whole.branches.push(row);
    }
    for row in &part.blocks {
        let mut row = row.clone();
        row.kernel += kernels;
        row.file = file(&row.file);
        whole.blocks.push(row);
    }
}

/// Returns the profile of a rank. Each row's counts are scaled by a factor between one and two.
pub fn of_rank(profile: &Profile, index: u32, count: u32) -> Profile {
    let mut state = u64::from(index).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        1024 + (state >> 54)
    };
    let mut own = profile.clone();
    for kernel in &mut own.kernels {
        let times = next();
        kernel.metrics.values_mut().for_each(|metrics| scale(metrics, times));
        for launch in &mut kernel.launches {
            launch.metrics.values_mut().for_each(|metrics| scale(metrics, times));
        }
        for estimate in &mut kernel.estimates {
            estimate.seconds *= times as f64 / 1024.0;
        }
    }
    for line in &mut own.lines {
        let times = next();
        line.metrics.values_mut().for_each(|metrics| scale(metrics, times));
    }
    for site in &mut own.sites {
        let times = next();
        scale(&mut site.metrics, times);
        site.by_allocation.iter_mut().for_each(|row| scale(&mut row.metrics, times));
    }
    for row in &mut own.allocations {
        scale(&mut row.metrics, next());
    }
    own.run.environment.rank = Some(Rank {
        index,
        count: Some(count),
        local_index: Some(index % 64),
        node: Some(format!("node{:04}", index / 64)),
        launcher: "open-mpi".to_owned(),
    });
    own
}

/// Scales metrics by `times` / 1024.
fn scale(metrics: &mut Metrics, times: u64) {
    let scaled = |count: &mut u64| *count = count.saturating_mul(times) / 1024;
    let level = |level: &mut LevelMetrics| {
        [&mut level.lookups, &mut level.hits, &mut level.load_lookups, &mut level.load_hits]
            .into_iter()
            .for_each(scaled);
    };
    [&mut metrics.requests, &mut metrics.lanes, &mut metrics.bytes, &mut metrics.sectors, &mut metrics.ideal_sectors]
        .into_iter()
        .for_each(scaled);
    metrics.lines_touched.values_mut().flatten().for_each(scaled);
    metrics.l1.iter_mut().chain(&mut metrics.l2).for_each(level);
    if let Some(dram) = &mut metrics.dram {
        [&mut dram.read_sectors, &mut dram.write_sectors].into_iter().for_each(scaled);
    }
    if let Some(reuse) = &mut metrics.reuse {
        let distances = |distances: &mut Distances| {
            distances.buckets.iter_mut().for_each(|bucket| scaled(&mut bucket.count));
            scaled(&mut distances.infinite);
        };
        [&mut reuse.element, &mut reuse.sector, &mut reuse.line].into_iter().for_each(distances);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_comes_of_nothing() {
        assert!(with_sites(&[Profile::default()], 10).is_none());
    }
}
