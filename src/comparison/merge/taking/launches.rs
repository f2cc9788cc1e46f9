//! Merges launches: listed separately if there are few of them, otherwise in groups.

use crate::merge::ids::Ids;
use crate::merge::sums::metrics::{add_by_op, add_spaces};
use warpline_profile::model::{ByOp, Frame, Kernel, Launch, LaunchGroup, Spaces};

/// Maximum number of separately listed launches of all kernels. If there are more, all launches are in groups, so that
/// the result does not depend on the parts in which profiles are merged.
pub(in crate::merge) const MOST_LISTED: usize = 4096;
/// Maximum number of groups of a kernel. If there are more, shapes are not distinguished.
const MOST_GROUPS: usize = 256;

/// Adds a profile's launches of a kernel.
pub(in crate::merge) fn take(sum: &mut Kernel, kernel: &Kernel, ids: &Ids, in_groups: bool) {
    if kernel.exact.shapes_left_out {
        leave_shapes_out(sum);
    }
    for launch in &kernel.launches {
        if in_groups {
            add_lot(sum, &Lot::of_launch(launch));
            continue;
        }
        let mut launch = launch.clone();
        launch.own_id = launch.own_id.or(Some(launch.id));
        launch.rank = launch.rank.or(ids.rank);
        launch.arguments.clear();
        sum.launches.push(launch);
    }
    for group in &kernel.launch_groups {
        add_lot(sum, &Lot::of_group(group));
    }
}

/// Moves all launches of a kernel into groups.
pub(in crate::merge) fn put_into_groups(kernel: &mut Kernel) {
    for launch in std::mem::take(&mut kernel.launches) {
        add_lot(kernel, &Lot::of_launch(&launch));
    }
}

/// Grid, block and dynamic shared memory of a group's launches.
type Shape = (Option<[u32; 3]>, Option<[u32; 3]>, Option<u32>);

fn shape(group: &LaunchGroup) -> Shape {
    (group.grid, group.block, group.dynamic_shared_bytes)
}

/// Launches that are added to a group: a single launch, or those of another group.
struct Lot<'a> {
    launches: u64,
    first: u64,
    last: u64,
    failed: u64,
    shape: Shape,
    static_shared_bytes: u32,
    registers: u32,
    block_share: u64,
    path: &'a [Frame],
    metrics: &'a Spaces,
    by_op: &'a ByOp,
}

impl<'a> Lot<'a> {
    fn of_launch(launch: &'a Launch) -> Lot<'a> {
        let own = launch.own_id.unwrap_or(launch.id);
        Lot {
            launches: 1,
            first: own,
            last: own,
            failed: u64::from(launch.error.is_some_and(|error| error != 0)),
            shape: (Some(launch.grid), Some(launch.block), Some(launch.dynamic_shared_bytes)),
            static_shared_bytes: launch.static_shared_bytes,
            registers: launch.registers,
            block_share: launch.block_share,
            path: &launch.path,
            metrics: &launch.metrics,
            by_op: &launch.by_op,
        }
    }

    fn of_group(group: &'a LaunchGroup) -> Lot<'a> {
        Lot {
            launches: group.launches,
            first: group.first,
            last: group.last,
            failed: group.failed,
            shape: shape(group),
            static_shared_bytes: group.static_shared_bytes,
            registers: group.registers,
            block_share: group.block_share,
            path: &group.path,
            metrics: &group.metrics,
            by_op: &group.by_op,
        }
    }
}

/// Adds launches to the group with the same shape and path. The spread of its figures cannot be computed from the
/// groups alone.
fn add_lot(kernel: &mut Kernel, more: &Lot<'_>) {
    let shapes_left_out = kernel.exact.shapes_left_out;
    let wanted = if shapes_left_out { (None, None, None) } else { more.shape };
    let like = |group: &&mut LaunchGroup| {
        shape(group) == wanted
            && (group.static_shared_bytes, group.registers, group.block_share)
                == (more.static_shared_bytes, more.registers, more.block_share)
            && group.path == more.path
    };
    match kernel.launch_groups.iter_mut().find(like) {
        Some(sum) => {
            sum.launches = sum.launches.saturating_add(more.launches);
            sum.failed = sum.failed.saturating_add(more.failed);
            (sum.first, sum.last) = (sum.first.min(more.first), sum.last.max(more.last));
            add_spaces(&mut sum.metrics, more.metrics);
            add_by_op(&mut sum.by_op, more.by_op);
        }
        None => {
            let (grid, block, dynamic_shared_bytes) = wanted;
            kernel.launch_groups.push(LaunchGroup {
                launches: more.launches,
                first: more.first,
                last: more.last,
                failed: more.failed,
                grid,
                block,
                dynamic_shared_bytes,
                static_shared_bytes: more.static_shared_bytes,
                registers: more.registers,
                block_share: more.block_share,
                path: more.path.to_vec(),
                metrics: more.metrics.clone(),
                by_op: more.by_op.clone(),
                over_launches: Default::default(),
                ratios_over_launches: Default::default(),
            });
            if kernel.launch_groups.len() > MOST_GROUPS && !shapes_left_out {
                leave_shapes_out(kernel);
            }
        }
    }
}

fn leave_shapes_out(kernel: &mut Kernel) {
    kernel.exact.shapes_left_out = true;
    for group in std::mem::take(&mut kernel.launch_groups) {
        add_lot(kernel, &Lot::of_group(&group));
    }
}

/// Numbers launches by rank, their original numbers and their keys, and sorts groups.
pub(in crate::merge) fn number(kernels: &mut [Kernel]) {
    type Key = (u32, u64, u32);
    let mut all: Vec<(Key, usize, usize)> = Vec::new();
    for (place, kernel) in kernels.iter().enumerate() {
        let key = |launch: &Launch| (launch.rank.unwrap_or(0), launch.own_id.unwrap_or(launch.id), kernel.id);
        all.extend(kernel.launches.iter().enumerate().map(|(index, launch)| (key(launch), place, index)));
    }
    let text = |(_, place, index): &(Key, usize, usize)| {
        let mut launch = kernels[*place].launches[*index].clone();
        launch.id = 0;
        serde_json::to_string(&launch).unwrap_or_default()
    };
    all.sort_by(|one, other| one.0.cmp(&other.0).then_with(|| text(one).cmp(&text(other))));
    for (id, (_, place, index)) in (0..).zip(all) {
        kernels[place].launches[index].id = id;
    }
    for kernel in kernels {
        kernel.launches.sort_by_key(|launch| launch.id);
        kernel.launch_groups.sort_by_cached_key(|group| {
            let shape = (group.grid, group.block, group.dynamic_shared_bytes);
            (group.first, shape, group.static_shared_bytes, group.registers, group.block_share, group.path.clone())
        });
    }
}
