//! Seconds that copies take, as assumed: no model contains the machine's bus.

use super::model::{CopyRow, Kernel, Profile};

/// Bytes per second between host and device: what PCIe 3.0 x16 gives to large copies, about
/// (<https://developer.nvidia.com/blog/how-optimize-data-transfers-cuda-cc/>).
pub const BUS_BYTES_PER_SECOND: f64 = 12e9;
/// Seconds that a copy takes however small it is, about.
pub const SECONDS_PER_COPY: f64 = 10e-6;

/// Seconds that a copy within the device takes however small it is, about: its start, as that of a launch.
pub const SECONDS_PER_DEVICE_COPY: f64 = 3e-6;

/// Seconds that a launch takes whatever it does: its start, and the latencies of what it waits for first and last,
/// about; an assumption.
pub const SECONDS_PER_LAUNCH: f64 = 3e-6;
/// Least seconds of starts that matter. Policy: less is the size of a test.
pub const LEAST_START_SECONDS: f64 = 1e-3;

/// Returns the number of launches and the seconds of their starts, where these matter and exceed the time of kernels.
pub fn dominant_starts(profile: &Profile, kernel_seconds: f64) -> Option<(u64, f64)> {
    let launches = profile.kernels.iter().map(Kernel::launch_count).fold(0, u64::saturating_add);
    let seconds = launches as f64 * SECONDS_PER_LAUNCH;
    (seconds >= LEAST_START_SECONDS && seconds > kernel_seconds).then_some((launches, seconds))
}

/// Returns whether a copy crosses the bus.
pub fn over_bus(copy: &CopyRow) -> bool {
    matches!(&copy.direction[..], "host_to_device" | "device_to_host")
}

/// Seconds of copies over the bus.
pub fn copy_seconds(bytes: u64, count: u64) -> f64 {
    bytes as f64 / BUS_BYTES_PER_SECOND + count as f64 * SECONDS_PER_COPY
}

/// Seconds of all copies over the bus of a program.
pub fn bus_seconds(profile: &Profile) -> f64 {
    seconds(profile, over_bus)
}

/// The same with the starts of those within the device. What moves there is as fast as kernels, and left out.
pub fn seconds_of_copies(profile: &Profile) -> f64 {
    seconds(profile, |_| true)
}

/// Returns the same of copies between launches: not of what comes before the first one, or goes after the last.
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
    // A sum of nothing is -0, which reads as a negative time.
    each.sum::<f64>() + 0.0
}
