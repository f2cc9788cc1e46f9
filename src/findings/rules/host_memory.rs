//! Host memory that kernels access repeatedly without a copy, so that each miss uses the bus.

use super::super::prelude::*;
use super::super::thresholds::transfers::*;
use warpline_profile::BUS_BYTES_PER_SECOND;

described! {
    enum Cause {
        Reused { memory: Shown, bus: Bytes, times: Ratio, uses: Ratio } => "reused-host-memory",
        Refetched { memory: Shown, bus: Bytes, times: Ratio } => "refetched-host-memory",
        Streamed { memory: Shown, bus: Bytes, times: Ratio } => "streamed-host-memory",
    }
    enum Remedy {
        CopyToDevice => "copy-to-device",
        KeepMapped => "keep-mapped",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let is_mapped = |allocation: &&Allocation| {
        matches!(&allocation.kind[..], "cudaMallocHost" | "cudaHostAlloc" | "cudaHostRegister")
    };
    facts.profile.allocations.iter().filter(is_mapped).filter_map(|allocation| draft(facts, allocation)).collect()
}

fn draft(facts: &Facts<'_>, allocation: &Allocation) -> Option<Draft> {
    let dram = allocation.metrics.dram.as_ref()?;
    let moved = dram.read_sectors.saturating_add(dram.write_sectors).saturating_mul(SECTOR_BYTES);
    let per_touched = |bytes: u64| bytes as f64 / allocation.touched_bytes.max(1) as f64;
    // No program can rely on host memory remaining in caches between launches, so requested bytes determine the number
    // of uses.
    let (times, uses) = (per_touched(moved), per_touched(allocation.metrics.bytes));
    let requested = if uses >= LEAST_USES { allocation.metrics.bytes } else { 0 };
    if moved.max(requested) < LEAST_MAPPED_BYTES || moved < LEAST_BUS_BYTES {
        return None;
    }
    let traffic = |access: &&Access<'_>| access.sums.dram_reads.saturating_add(access.sums.dram_writes);
    let accesses = facts.accesses.iter().filter(|access| access.allocation == Some(allocation.id));
    let worst = accesses.max_by_key(|access| (traffic(access), std::cmp::Reverse((access.line, access.column))))?;
    let (memory, bus) = (describe(allocation), Bytes(moved));
    let rounded = |value: f64| Ratio((10.0 * value).round() / 10.0);
    let (cause, remedy) = if uses >= LEAST_USES {
        let uses = Ratio(uses.round());
        (Cause::Reused { memory, bus, times: rounded(times), uses }, Remedy::CopyToDevice)
    } else if times >= LEAST_BUS_PER_BYTE {
        (Cause::Refetched { memory, bus, times: rounded(times) }, Remedy::CopyToDevice)
    } else {
        (Cause::Streamed { memory, bus, times: rounded(times) }, Remedy::KeepMapped)
    };
    let draft = Draft::for_access(facts, Diagnosis::new(&cause, &remedy), worst)
        .evidence("bus_bytes", moved as f64)
        .evidence("touched_bytes", allocation.touched_bytes as f64)
        .evidence("uses", uses)
        .score(facts.program_share(moved as f64 / BUS_BYTES_PER_SECOND));
    Some(draft.note_if(remedy == Remedy::KeepMapped))
}
