//! Host memory that kernels reach where it is, again and again: each miss goes over the bus.

use super::super::draft::Draft;
use super::super::facts::{Facts, describe};
use super::super::words;
use crate::geometry::SECTOR_BYTES;
use crate::profile::BUS_BYTES_PER_SECOND;
use crate::profile::model::{Allocation, Severity};

/// Bytes over the bus for each byte that is touched, at least, for more than a note.
const TIMES: f64 = 1.5;
/// Uses of each byte, on average, from which on a copy to the device pays.
const USES: f64 = 2.0;
/// Bytes over the bus, at least; or that lanes ask for, where they use each byte several times.
const LEAST_BYTES: u64 = 1 << 20;
/// Bytes that caches brought in any case.
const LEAST_MOVED: u64 = 1 << 16;

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let mapped = |allocation: &&Allocation| {
        matches!(&allocation.kind[..], "cudaMallocHost" | "cudaHostAlloc" | "cudaHostRegister")
    };
    facts.profile.allocations.iter().filter(mapped).filter_map(|allocation| draft(facts, allocation)).collect()
}

fn draft(facts: &Facts<'_>, allocation: &Allocation) -> Option<Draft> {
    let dram = allocation.metrics.dram.as_ref()?;
    let moved = (dram.read_sectors + dram.write_sectors) * SECTOR_BYTES;
    // Lanes that ask for each byte: what caches keep of host memory from launch to launch, no program can rely on.
    let uses = allocation.metrics.bytes as f64 / allocation.touched_bytes.max(1) as f64;
    let asked = if uses >= USES { allocation.metrics.bytes } else { 0 };
    if moved.max(asked) < LEAST_BYTES || moved < LEAST_MOVED {
        return None;
    }
    let times = moved as f64 / allocation.touched_bytes.max(1) as f64;
    let accesses = facts.accesses.iter().filter(|access| access.allocation == Some(allocation.id));
    let traffic = |access: &&super::super::facts::access::Access<'_>| access.sums.dram_reads + access.sums.dram_writes;
    let worst = accesses.max_by_key(|access| (traffic(access), std::cmp::Reverse((access.line, access.column))))?;
    let again = if uses >= USES { format!("; lanes use each byte {uses:.0} times in all") } else { String::new() };
    let reason = format!(
        "kernels reach {} in host memory where it is: {} go over the bus, {times:.1} times the bytes that they touch{again}",
        describe(allocation),
        words::bytes(moved),
    );
    let once = times < TIMES && uses < USES;
    let cure = if once {
        "each byte crosses the bus about once, as a copy would take it, which mapped memory is right for: leave it so, unless a longer run uses the data again; \
         then copy it to device memory once (cudaMemcpyAsync), and back if kernels change it"
    } else {
        "copy it to device memory once (cudaMemcpyAsync), and back if kernels change it; keep it mapped only where each byte is used once"
    };
    let draft = Draft::new(reason, cure)
        .at_access(worst)
        .evidence("bus_bytes", moved as f64)
        .evidence("touched_bytes", allocation.touched_bytes as f64)
        .evidence("uses", uses)
        .score(facts.program_share(moved as f64 / BUS_BYTES_PER_SECOND));
    Some(if once { draft.severity(Severity::Note) } else { draft })
}
