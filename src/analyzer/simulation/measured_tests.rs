//! L1 against GPUs: misses of a random chain of dependent loads, 64 bytes between its places, by the size of its array.
//! Measured latencies of te42kyfo/gpu-benches 1c36d509 (gpu-latency), as the share of the way from L1's latency to
//! L2's.

use warpline_simulator::hierarchy::pointer_chase::random_walk;
use warpline_simulator::hierarchy::{HierarchyConfig, L1Config};
use warpline_simulator::models;

/// Model, KiB, per cent of misses.
const MEASURED: [(&str, u64, f64); 13] = [
    ("v100", 118, 0.2),
    ("v100", 130, 32.2),
    ("v100", 144, 63.3),
    ("v100", 160, 87.0),
    ("a100", 160, 24.6),
    ("a100", 177, 66.2),
    ("a100", 196, 87.9),
    ("h100", 239, 43.2),
    ("h100", 264, 74.2),
    ("h100", 291, 87.6),
    ("rtx4090", 95, 33.5),
    ("rtx4090", 101, 54.5),
    ("rtx4090", 113, 81.3),
];

/// The hierarchy as a kernel of small blocks without shared memory finds it, which a chain of one thread is: the carve-out
/// holds what the system keeps of each of all blocks that an SM could take.
fn small_blocks(model: &models::Model) -> HierarchyConfig {
    let mut config = model.hierarchy().unwrap();
    let device = model.run_device().unwrap().device;
    let shared = u64::from(device.shared_taken(0)) * u64::from(device.blocks_per_sm);
    let bytes = u64::from(config.l1.lines(shared)) * u64::from(config.l1.line_bytes);
    config.l1 = L1Config { bytes, reserved_bytes: 0, shared_options: Vec::new(), ..config.l1 };
    config
}

#[test]
fn random_chains_miss_as_measured() {
    let mut sum = 0.0;
    for (name, kib, measured) in MEASURED {
        let config = small_blocks(&models::find(name).unwrap());
        let traffic = random_walk(&config, kib << 10, 64, 6);
        let misses = 100.0 * (traffic.l1.lookups - traffic.l1.hits) as f64 / traffic.l1.lookups as f64;
        assert!((misses - measured).abs() < 12.0, "{name}, {kib} KiB: {misses:.1}, measured {measured}");
        sum += (misses - measured).abs();
    }
    let mean = sum / MEASURED.len() as f64;
    assert!(mean < 5.0, "mean error {mean:.1} points");
    eprintln!("mean error {mean:.2} points");
}
