//! Estimates seconds from launches of which only a few blocks ran. `triton.testing` and autotuning receive these times.

use std::collections::BTreeMap;

use warpline_format::event::AllocationId;

use super::estimate::{DRAM, Demand, demands, slowest};
use warpline_analyzer::analysis::{Analysis, KernelData, LaunchData};
use warpline_analyzer::requests::Owner;
use warpline_simulator::geometry::SECTOR_BYTES;
use warpline_simulator::models::Rates;

/// Returns the seconds of all launches that ended without an error, on the first model, which has these rates.
///
/// The blocks that ran represent the others, with the same mean work on each hardware unit. Extrapolated device-memory
/// traffic would be too large, because L2 lacks data that other blocks would have read. Each allocation is therefore
/// counted at most once in each direction.
pub fn seconds_of_all(analysis: &Analysis, rates: &Rates) -> f64 {
    let of_kernel = |kernel: &KernelData| {
        let once = touched_once(analysis, kernel);
        let ended = kernel.all().filter(|launch| launch.error == Some(0));
        ended.map(|launch| seconds(launch, rates, once)).fold(0.0, |sum, one| sum + one)
    };
    analysis.kernels.iter().map(of_kernel).fold(0.0, |sum, one| sum + one)
}

fn seconds(launch: &LaunchData, rates: &Rates, once: u64) -> f64 {
    let share = launch.event.block_share;
    let blocks = launch.event.grid.iter().fold(1u64, |all, &size| all.saturating_mul(size.into()));
    if share == 0 || blocks == 0 {
        return 0.0;
    }
    let mut bytes = super::model::Bytes::default();
    let mut requested = demands(launch, 0, rates, &mut bytes);
    let ran = blocks.div_ceil(share);
    if ran < blocks {
        for (part, demand) in requested.iter_mut().enumerate() {
            let most = if part == DRAM { once.max(demand.amount) } else { u64::MAX };
            *demand = Demand { amount: scaled(demand.amount, blocks, ran).min(most), ..*demand };
        }
    }
    slowest("", rates, true, &[(requested, blocks as f64)], bytes, 1).map_or(0.0, |estimate| estimate.seconds)
}

fn scaled(amount: u64, blocks: u64, ran: u64) -> u64 {
    u64::try_from(u128::from(amount) * u128::from(blocks) / u128::from(ran)).unwrap_or(u64::MAX)
}

/// Returns the bytes of the allocations that a kernel reads from device memory, plus those that it writes.
fn touched_once(analysis: &Analysis, kernel: &KernelData) -> u64 {
    let mut touched: BTreeMap<AllocationId, (bool, bool)> = BTreeMap::new();
    for (key, counters) in kernel.cells.iter() {
        let (Owner::Allocation(id) | Owner::PartOf(id)) = key.owner else { continue };
        let Some(traffic) = counters.traffic.first() else { continue };
        let (read, written) = touched.entry(id).or_default();
        *read |= traffic.dram_reads > 0;
        *written |= traffic.dram_writes > 0;
    }
    let bytes = |(id, &(read, written)): (&AllocationId, &(bool, bool))| {
        let whole = analysis.allocations.get(id).map_or(0, |row| row.event.bytes).next_multiple_of(SECTOR_BYTES);
        whole.saturating_mul(u64::from(read) + u64::from(written))
    };
    touched.iter().map(bytes).fold(0, u64::saturating_add)
}
