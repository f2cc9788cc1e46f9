//! Compares L1 with GPUs: the miss rate of a random chain of dependent loads with 64 bytes between elements, by the
//! size of the array. The measured latencies are from te42kyfo/gpu-benches 1c36d509 (gpu-latency). They are converted
//! to miss rates by interpolation between the latencies of L1 and L2.

use warpline_simulator::hierarchy::pointer_chase::random_walk;
use warpline_simulator::hierarchy::{HierarchyConfig, L1Config};
use warpline_simulator::models;

/// Model, KiB, and misses in per cent.
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

/// Returns the hierarchy for a kernel of small blocks without shared memory, such as a chain of one thread. The
/// carve-out must fit the shared memory that the system reserves for each block, for all blocks that an SM can hold.
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
