//! Collects call stacks with their costs, from `main` through the launch to the line, for the formats of other tools.

use std::collections::BTreeMap;

use warpline_profile::Profile;
use warpline_profile::model::{Frame, Kernel, Metrics};

/// Kinds of cost, with their units.
pub const COSTS: [(&str, &str); 6] = [
    ("sectors", "none"),
    ("avoidable_sectors", "none"),
    ("requests", "none"),
    ("lanes", "none"),
    ("bytes", "bytes"),
    ("shared_passes", "none"),
];

/// One cost of each kind.
pub type Costs = [u64; COSTS.len()];

/// Returns exclusive costs by stack, given with the outermost frame first. The first frame on the device is the kernel.
pub(crate) fn stacks(profile: &Profile) -> BTreeMap<Vec<Frame>, Costs> {
    let mut found: BTreeMap<Vec<Frame>, Costs> = BTreeMap::new();
    for site in &profile.sites {
        let Some(kernel) = profile.kernels.iter().find(|kernel| kernel.id == site.kernel) else { continue };
        let own =
            Frame { function: site.function.clone(), file: site.file.clone(), line: site.line, column: site.column };
        let inlined: Vec<Frame> = site.inlined_at.iter().rev().cloned().chain([own]).collect();
        let mut add = |calls: &[Frame], metrics: &Metrics| {
            let mut device: Vec<Frame> = calls.iter().chain(&inlined).cloned().collect();
            // The function of the first frame is the kernel, regardless of its name in the debug information.
            if let Some(first) = device.first_mut() {
                first.function.clone_from(&kernel.name);
            }
            let stack = host_path(kernel).iter().cloned().chain(device).collect();
            let sums = found.entry(stack).or_default();
            for (sum, more) in sums.iter_mut().zip(costs(metrics, &site.space)) {
                *sum = sum.saturating_add(more);
            }
        };
        if site.contexts.is_empty() {
            add(&[], &site.metrics);
        }
        for context in &site.contexts {
            add(&context.calls, &context.metrics);
        }
    }
    found
}

/// Returns the call path of the launches, if all have the same.
pub(crate) fn host_path(kernel: &Kernel) -> &[Frame] {
    let launches = kernel.launches.iter().map(|launch| &launch.path);
    let mut paths = launches.chain(kernel.launch_groups.iter().map(|group| &group.path));
    match paths.next() {
        Some(first) if paths.all(|path| path == first) => first,
        _ => &[],
    }
}

/// Returns the costs of requests. Shared memory has no sectors; its cost is passes.
pub(crate) fn costs(metrics: &Metrics, space: &str) -> Costs {
    let passes = metrics.shared.as_ref().map_or(0, |shared| shared.wavefronts);
    let (sectors, ideal) = if space == "shared" { (0, 0) } else { (metrics.sectors, metrics.ideal_sectors) };
    [sectors, sectors.saturating_sub(ideal), metrics.requests, metrics.lanes, metrics.bytes, passes]
}

/// Returns the function and position of a frame as one text.
pub(crate) fn frame_name(frame: &Frame) -> String {
    let file = frame.file.rsplit('/').next().unwrap_or(&frame.file);
    match (frame.function.is_empty(), file.is_empty()) {
        (true, true) => "?".to_owned(),
        (true, false) => format!("{file}:{}", frame.line),
        (false, true) => frame.function.clone(),
        (false, false) => format!("{} ({file}:{})", frame.function, frame.line),
    }
}
