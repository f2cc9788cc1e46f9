//! Large copies from or to host memory that is not pinned: the driver copies them through a buffer of its own (CUDA C++ Best
//! Practices Guide, "Pinned Memory").

use super::super::context::{Context, innermost, over_bus};
use super::super::draft::Draft;
use super::super::words;
use crate::profile::model::{HostAllocation, Severity};

/// Bytes in all, at least.
const LEAST_BYTES: u64 = 64 << 20;

pub(in super::super) fn find(context: &Context<'_>) -> Vec<Draft> {
    let copies = context.profile.allocations.iter().flat_map(|allocation| &allocation.copies);
    let pageable: Vec<_> = copies
        .filter(|copy| over_bus(copy))
        .filter(|copy| {
            let host = copy.host.and_then(|id| context.profile.host_allocations.iter().find(|host| host.id == id));
            let registered = |host: &HostAllocation| {
                let rows = &context.profile.allocations;
                rows.iter().any(|row| row.kind == "cudaHostRegister" && row.name == host.name)
            };
            host.is_some_and(|host| !host.kind.starts_with("cu") && !registered(host))
        })
        .collect();
    let bytes: u64 = pageable.iter().map(|copy| copy.bytes).fold(0, u64::saturating_add);
    let Some(largest) = pageable.iter().max_by_key(|copy| copy.bytes).filter(|_| bytes >= LEAST_BYTES) else {
        return Vec::new();
    };
    let reason = format!(
        "{} cross the bus from or to pageable host memory: the driver copies them through a pinned buffer first, and such copies do not \
         overlap with kernels",
        words::bytes(bytes)
    );
    let cure = "allocate what is copied often with cudaMallocHost, or pin it with cudaHostRegister";
    vec![
        Draft::new(reason, cure)
            .at_frame(innermost(&largest.path))
            .evidence("bytes", bytes as f64)
            .score(0.0)
            .severity(Severity::Note),
    ]
}
