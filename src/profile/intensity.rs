//! Arithmetic intensity by allocation: floating-point results of kernels per byte of an allocation that they transfer.
//!
//! An operation belongs to no allocation, so the results are those of the whole kernel. For one kernel, the reciprocal
//! of its intensity is the sum of the reciprocals of its allocations.

use std::collections::BTreeMap;

use warpline_simulator::geometry::SECTOR_BYTES;

use crate::model::{Allocation, Intensity, Kernel, Metrics, Profile};

/// Classes of instructions whose results are floating-point numbers, without products of tensor cores.
const ARITHMETIC: [&str; 4] = ["fp16", "fp32", "fp64", "special"];

/// Returns the floating-point results of a kernel's active lanes.
fn results(kernel: &Kernel) -> u64 {
    let lanes = ARITHMETIC.iter().filter_map(|class| Some(kernel.instructions.get(*class)?.lanes));
    lanes.fold(0, u64::saturating_add)
}

/// Returns the intensity of each allocation that kernels with floating-point results access, in the order of the
/// allocations: first over all of these kernels, then for each. It is empty if requests were counted without addresses,
/// or if the figures are those of a sample.
pub fn arithmetic_intensity(profile: &Profile) -> Vec<Intensity> {
    if profile.run.sampled {
        return Vec::new();
    }
    let kernels: BTreeMap<u32, u64> = profile.kernels.iter().map(|kernel| (kernel.id, results(kernel))).collect();
    profile.allocations.iter().flat_map(|allocation| of_allocation(allocation, &kernels)).collect()
}

fn of_allocation(allocation: &Allocation, kernels: &BTreeMap<u32, u64>) -> Vec<Intensity> {
    let mut rows: Vec<Intensity> = Vec::new();
    for part in allocation.by_kernel.iter().filter(|part| part.metrics.sectors > 0) {
        if let Some(&results) = kernels.get(&part.kernel).filter(|results| **results > 0) {
            rows.push(row(allocation.id, part.kernel, results, &part.metrics));
        }
    }
    let Some(mut sum) = rows.first().cloned() else { return rows };
    sum.kernel = None;
    for row in &rows[1..] {
        sum.results = sum.results.saturating_add(row.results);
        sum.requested_bytes = sum.requested_bytes.saturating_add(row.requested_bytes);
        sum.dram_bytes = sum.dram_bytes.zip(row.dram_bytes).map(|(sum, more)| sum.saturating_add(more));
    }
    rows.insert(0, sum);
    for row in &mut rows {
        row.per_requested_byte = per_byte(row.results, row.requested_bytes);
        row.per_dram_byte = row.dram_bytes.and_then(|bytes| per_byte(row.results, bytes));
    }
    rows
}

fn per_byte(results: u64, bytes: u64) -> Option<f64> {
    (bytes > 0).then(|| results as f64 / bytes as f64)
}

fn row(allocation: u64, kernel: u32, results: u64, metrics: &Metrics) -> Intensity {
    let bytes = |sectors: u64| sectors.saturating_mul(SECTOR_BYTES);
    Intensity {
        allocation,
        kernel: Some(kernel),
        results,
        requested_bytes: bytes(metrics.sectors),
        dram_bytes: metrics.dram.map(|dram| bytes(dram.read_sectors.saturating_add(dram.write_sectors))),
        ..Intensity::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ByKernel, DramMetrics, InstructionCount};

    fn kernel(id: u32, counts: &[(&str, u64)]) -> Kernel {
        let count = |lanes| InstructionCount { warps: lanes / 32, lanes };
        let instructions = counts.iter().map(|&(class, lanes)| (class.to_owned(), count(lanes))).collect();
        Kernel { id, instructions, ..Kernel::default() }
    }

    fn part(kernel: u32, sectors: u64, dram: Option<u64>) -> ByKernel {
        let dram = dram.map(|read_sectors| DramMetrics { read_sectors, write_sectors: 1 });
        ByKernel { kernel, metrics: Metrics { sectors, dram, ..Metrics::default() } }
    }

    fn profile() -> Profile {
        let allocation = |id, by_kernel| Allocation { id, by_kernel, ..Allocation::default() };
        Profile {
            kernels: vec![
                kernel(0, &[("fp32", 6400), ("special", 640), ("int", 9999), ("tensor", 32)]),
                kernel(1, &[("fp64", 320)]),
                kernel(2, &[("int", 320)]),
            ],
            allocations: vec![
                allocation(4, vec![part(0, 10, Some(9)), part(1, 5, Some(0)), part(2, 7, None)]),
                allocation(6, vec![part(0, 30, None)]),
                allocation(8, vec![part(2, 30, None)]),
            ],
            ..Profile::default()
        }
    }

    #[test]
    fn results_of_kernels_are_divided_by_the_bytes_of_allocations() {
        let found = arithmetic_intensity(&profile());
        let figures: Vec<_> = found.iter().map(|row| (row.allocation, row.kernel, row.results)).collect();
        let wanted = [(4, None, 7360), (4, Some(0), 7040), (4, Some(1), 320), (6, None, 7040), (6, Some(0), 7040)];
        assert_eq!(figures, wanted);
        assert_eq!((found[0].requested_bytes, found[0].dram_bytes), (480, Some(352)));
        assert_eq!((found[0].per_requested_byte, found[1].per_dram_byte), (Some(7360.0 / 480.0), Some(22.0)));
        assert_eq!((found[2].dram_bytes, found[3].per_dram_byte), (Some(32), None));
    }

    /// The bytes per result of a kernel are those of its allocations together.
    #[test]
    fn reciprocals_add_up_to_those_of_the_kernel() {
        let found = arithmetic_intensity(&profile());
        let parts = found.iter().filter(|row| row.kernel == Some(0)).map(|row| 1.0 / row.per_requested_byte.unwrap());
        assert!((parts.sum::<f64>() - 40.0 * 32.0 / 7040.0).abs() < 1e-12);
    }

    #[test]
    fn samples_have_no_intensity() {
        let mut sampled = profile();
        sampled.run.sampled = true;
        assert_eq!(arithmetic_intensity(&sampled), []);
    }
}
