//! Builds the profile's launches: the first launches of each call path and shape separately, and the others in groups.

use super::spread;
use crate::build::rows::{Paths, caches, op_name, rows};
use crate::model::{Argument, ByOp, Launch, LaunchGroup, OpMetrics};
use warpline_analyzer::analysis::{KernelData, LaunchArgument, LaunchData, space_name};

/// Returns launches that are reported separately, in order.
pub(in crate::build) fn rows(kernel: &KernelData, paths: &mut Paths<'_>) -> Vec<Launch> {
    let mut launches: Vec<&LaunchData> = kernel.launches.iter().collect();
    launches.sort_by_key(|launch| launch.event.id);
    let row = |launch: &LaunchData| Launch {
        id: launch.event.id,
        rank: None,
        own_id: None,
        grid: launch.event.grid,
        block: launch.event.block,
        dynamic_shared_bytes: launch.event.dynamic_shared,
        static_shared_bytes: launch.event.static_shared,
        registers: launch.event.registers,
        resident_blocks: launch.event.resident_blocks,
        block_share: launch.event.block_share,
        stream: launch.event.stream,
        error: launch.error,
        path: paths.host(launch.event.path),
        metrics: rows::spaces(&launch.spaces),
        by_op: by_op(launch),
        arguments: launch.arguments.iter().map(argument).collect(),
    };
    launches.into_iter().map(row).collect()
}

fn argument(argument: &LaunchArgument) -> Argument {
    let LaunchArgument { parameter, offset, bytes, value, allocation } = *argument;
    Argument { parameter, offset, bytes, value, allocation }
}

/// Returns the groups of the other launches, in the order of their first launches.
pub(in crate::build) fn groups(kernel: &KernelData, paths: &mut Paths<'_>) -> Vec<LaunchGroup> {
    let mut groups: Vec<_> = kernel.groups.values().collect();
    groups.sort_by_key(|group| group.sum.event.id);
    let row = |group: &warpline_analyzer::analysis::LaunchGroup| {
        let event = &group.sum.event;
        LaunchGroup {
            launches: group.launches,
            first: event.id,
            last: group.last,
            failed: group.failed,
            grid: group.same_shape.then_some(event.grid),
            block: group.same_shape.then_some(event.block),
            dynamic_shared_bytes: group.same_shape.then_some(event.dynamic_shared),
            static_shared_bytes: event.static_shared,
            registers: event.registers,
            block_share: event.block_share,
            path: if group.same_path { paths.host(event.path) } else { Vec::new() },
            metrics: rows::spaces(&group.sum.spaces),
            by_op: by_op(&group.sum),
            over_launches: spread::counts(&group.figures),
            ratios_over_launches: spread::ratios(&group.figures),
        }
    };
    groups.into_iter().map(row).collect()
}

/// Returns separate sums of loads, stores and atomics.
fn by_op(launch: &LaunchData) -> ByOp {
    let mut all = ByOp::new();
    for (&(space, op), sum) in &launch.by_op {
        let figures = sum.traffic.as_ref().map(caches::caches);
        let row = OpMetrics {
            requests: sum.requests,
            lanes: sum.lanes,
            bytes: sum.bytes,
            sectors: sum.sectors,
            ideal_sectors: sum.ideal_sectors,
            l1: figures.map(|figures| figures.l1),
            l2: figures.map(|figures| figures.l2),
            dram: figures.map(|figures| figures.dram),
        };
        all.entry(space_name(space).to_owned()).or_default().insert(op_name(op).to_owned(), row);
    }
    all
}
