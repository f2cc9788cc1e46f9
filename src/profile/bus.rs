//! Assumed transfer times of copies, because no model describes the machine's bus.

use super::model::{CopyRow, Kernel, Profile};

/// Assumed bytes per second between host and device: approximately the rate of large copies over PCIe 3.0 x16
/// (<https://developer.nvidia.com/blog/how-optimize-data-transfers-cuda-cc/>).
pub const BUS_BYTES_PER_SECOND: f64 = 12e9;
/// Assumed minimum seconds of a copy, independent of its size.
pub const SECONDS_PER_COPY: f64 = 10e-6;

/// Assumed minimum seconds of a copy within the device, independent of its size. It is the start cost of a launch.
pub const SECONDS_PER_DEVICE_COPY: f64 = 3e-6;

/// Assumed minimum seconds of a launch: its start cost, and the latencies of its first and last accesses.
pub const SECONDS_PER_LAUNCH: f64 = 3e-6;
/// Minimum total start cost in seconds that is reported. Smaller values are typical for tests.
pub const LEAST_START_SECONDS: f64 = 1e-3;

/// Returns the number of launches and the seconds of their start costs, if these are relevant and exceed the time of
/// the kernels.
pub fn dominant_starts(profile: &Profile, kernel_seconds: f64) -> Option<(u64, f64)> {
    let launches = profile.kernels.iter().map(Kernel::launch_count).fold(0, u64::saturating_add);
    let seconds = launches as f64 * SECONDS_PER_LAUNCH;
    (seconds >= LEAST_START_SECONDS && seconds > kernel_seconds).then_some((launches, seconds))
}

/// Returns whether a copy is a transfer over the bus.
pub fn over_bus(copy: &CopyRow) -> bool {
    matches!(&copy.direction[..], "host_to_device" | "device_to_host")
}

/// Returns the seconds of copies over the bus.
pub fn copy_seconds(bytes: u64, count: u64) -> f64 {
    bytes as f64 / BUS_BYTES_PER_SECOND + count as f64 * SECONDS_PER_COPY
}

/// Returns the seconds of all copies of a program over the bus.
pub fn bus_seconds(profile: &Profile) -> f64 {
    seconds(profile, over_bus)
}

/// Returns the seconds of all copies over the bus, plus the start costs of copies within the device. The transfers
/// within the device are ignored, because they are as fast as kernels.
pub fn seconds_of_copies(profile: &Profile) -> f64 {
    seconds(profile, |_| true)
}

/// Returns [`seconds_of_copies`] for copies between launches only, excluding those before the first launch or after the
/// last.
pub fn seconds_between_launches(profile: &Profile) -> f64 {
    let launches = profile.kernels.iter().map(Kernel::launch_count).fold(0, u64::saturating_add);
    seconds(profile, |copy| {
        copy.last_launch.is_some_and(|last| last > 0) && copy.first_launch.is_some_and(|first| first < launches)
    })
}

fn seconds(profile: &Profile, are_meant: impl Fn(&CopyRow) -> bool) -> f64 {
    let copies = profile.allocations.iter().flat_map(|allocation| &allocation.copies).filter(|copy| are_meant(copy));
    let each = copies.map(|copy| {
        if over_bus(copy) {
            copy_seconds(copy.bytes, copy.count)
        } else if copy.direction == "device_to_device" {
            copy.count.saturating_sub(copy.source_count) as f64 * SECONDS_PER_DEVICE_COPY
        } else {
            0.0
        }
    });
    // The sum of no elements is -0, which would be printed as a negative time.
    each.sum::<f64>() + 0.0
}
