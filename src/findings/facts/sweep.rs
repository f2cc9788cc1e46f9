//! Data that is read from DRAM repeatedly.

use super::super::prelude::*;
use super::super::thresholds::reuse::*;
use super::steps::renewals;

/// Repeated sweeps over an allocation.
pub struct Sweep<'f, 'a> {
    /// Accesses to the allocation; the access with the most reads from DRAM is first.
    pub accesses: Vec<&'f Access<'a>>,
    /// Number of bytes read from DRAM per touched byte.
    pub times: f64,
    /// Number of launches of all kernels that access the allocation.
    pub launches: u64,
    /// Whether successive launches sweep over the allocation.
    pub is_across: bool,
}

impl Sweep<'_, '_> {
    /// Returns whether no loop iterates over the allocation.
    pub fn has_no_loop(&self) -> bool {
        self.accesses.iter().all(|access| access.sums.requests <= warps(access.kernel))
    }
}

/// Returns the sectors of an allocation that are read from DRAM and written to DRAM.
fn dram(allocation: &Allocation) -> (u64, u64) {
    allocation.metrics.dram.as_ref().map_or((0, 0), |dram| (dram.read_sectors, dram.write_sectors))
}

/// Returns the bytes of an allocation that are moved from and to DRAM.
pub fn moved_bytes(allocation: &Allocation) -> u64 {
    let (read, written) = dram(allocation);
    read.saturating_add(written).saturating_mul(SECTOR_BYTES)
}

/// Returns the bytes of an allocation that are read from DRAM.
pub fn read_bytes(allocation: &Allocation) -> u64 {
    dram(allocation).0.saturating_mul(SECTOR_BYTES)
}

/// Returns an allocation's share of all DRAM traffic.
pub fn traffic_share(facts: &Facts<'_>, allocation: &Allocation) -> f64 {
    let all = facts.profile.allocations.iter().map(moved_bytes).total();
    share(moved_bytes(allocation), all)
}

/// Returns whether the allocation is read from DRAM several times.
fn is_swept(allocation: &Allocation) -> bool {
    read_bytes(allocation) as f64 >= LEAST_SWEEPS * allocation.touched_bytes.max(1) as f64
}

/// Returns the sweeps over an allocation; `None` if there are none.
pub fn sweep<'f, 'a>(facts: &'f Facts<'a>, allocation: &Allocation) -> Option<Sweep<'f, 'a>> {
    if allocation.touched_bytes < LEAST_SWEPT_BYTES
        || !is_swept(allocation)
        || traffic_share(facts, allocation) < LEAST_TRAFFIC_SHARE
    {
        return None;
    }
    let of_it = |access: &&Access<'_>| access.space == "global" && access.allocation == Some(allocation.id);
    let mut accesses: Vec<&Access<'_>> = facts.accesses.iter().filter(of_it).collect();
    accesses.sort_by_key(|access| (std::cmp::Reverse(access.sums.dram_reads), access.line, access.column));
    if accesses.first()?.sums.excess_share() >= MOST_SWEPT_EXCESS {
        return None;
    }
    let times = share(read_bytes(allocation), allocation.touched_bytes);
    let is_user = |id: u32| allocation.by_kernel.iter().any(|row| row.kernel == id);
    let users = facts.profile.kernels.iter().filter(|kernel| is_user(kernel.id));
    let launches = users.map(|kernel| kernel.launch_count()).total();
    // Launches of these kernels on other memory do not sweep over this allocation.
    let all = facts.profile.kernels.iter().map(Kernel::launch_count).total();
    let lived = allocation.lifetime.map(|lived| lived.last_launch.unwrap_or(all).saturating_sub(lived.first_launch));
    let launches = launches.min(lived.unwrap_or(u64::MAX));
    let is_across = launches as f64 >= times * LAUNCHES_PER_SWEEP;
    let renewed = renewals(allocation);
    let is_kept = times < LEAST_GONE_LAUNCHES * launches as f64;
    if is_across && (is_kept || renewed as f64 >= MOST_RENEWED * times) {
        return None;
    }
    Some(Sweep { accesses, times, launches, is_across })
}
