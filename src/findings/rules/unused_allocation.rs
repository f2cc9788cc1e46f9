//! Device memory that nothing ever uses.

use super::super::access::share;
use super::super::context::{Context, describe, innermost};
use super::super::draft::Draft;
use super::super::words;
use crate::profile::model::{Allocation, Severity};

/// Smaller ones are a note.
const LEAST_BYTES: u64 = 1 << 20;

pub(in super::super) fn find(context: &Context<'_>) -> Vec<Draft> {
    let run = &context.profile.run;
    if run.sampled || !run.complete || run.mode != "trace" || run.lookup_bytes.is_empty() {
        return Vec::new();
    }
    let unused = |allocation: &&Allocation| {
        allocation.metrics.requests == 0
            && allocation.by_kernel.iter().all(|row| row.metrics.requests == 0)
            && allocation.copies.iter().all(|copy| copy.direction == "set")
            && allocation.kind.starts_with("cuda")
            && !matches!(&allocation.kind[..], "cudaMallocHost" | "cudaHostAlloc" | "cudaHostRegister")
            && allocation.bytes > 0
    };
    let all: u64 = context.profile.allocations.iter().map(|allocation| allocation.bytes).sum();
    let each = context.profile.allocations.iter().filter(unused).map(|allocation| {
        let filled = if allocation.copies.is_empty() { "" } else { " but for being filled" };
        let many = if allocation.count > 1 {
            format!(", {} allocations,", words::count(allocation.count))
        } else {
            String::new()
        };
        let reason = format!(
            "{}{many} is never used{filled}: {} of all device memory that the program allocates",
            describe(allocation),
            words::percent(share(allocation.bytes, all)),
        );
        let draft = Draft::new(reason, "leave the allocation out, or allocate it where it is first needed")
            .at_frame(innermost(&allocation.path))
            .of_allocation(allocation.id)
            .object(allocation.name.clone())
            .evidence("bytes", allocation.bytes as f64)
            .evidence("share_of_memory", share(allocation.bytes, all));
        let severity = if allocation.bytes >= LEAST_BYTES { Severity::Warning } else { Severity::Note };
        // It costs memory, not time.
        Draft { severity, score: 0.01 * share(allocation.bytes, all), ..draft }
    });
    each.collect()
}
