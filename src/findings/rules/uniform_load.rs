//! Loads from global memory of one address by all lanes: broadcasts, which constant memory, shared memory or a register serve
//! better where they are many.

use super::super::access::{Access, share};
use super::super::context::Context;
use super::super::draft::Draft;
use super::super::words;
use crate::profile::model::Severity;

/// Least share of its requests.
const LEAST: f64 = 0.9;
/// Least share of the kernel's requests.
const LEAST_OF_KERNEL: f64 = 0.3;

/// Size of constant memory.
const CONSTANT_BYTES: u64 = 64 << 10;

/// Whether constant memory could hold what is read: no kernel writes it, and it is small.
fn fits_constant(context: &Context<'_>, access: &Access<'_>) -> bool {
    let Some(allocation) = access.allocation.and_then(|id| context.profile.allocation(id)) else { return false };
    let written = |other: &Access<'_>| other.op != "load" && other.allocation == access.allocation;
    allocation.bytes <= CONSTANT_BYTES && !context.accesses.iter().any(written)
}

pub(in super::super) fn find(context: &Context<'_>) -> Vec<Draft> {
    let broadcast = |access: &&Access<'_>| {
        access.space == "global"
            && !access.in_library
            && access.op == "load"
            && share(access.pattern.uniform, access.sums.requests) >= LEAST
    };
    let each = context.accesses.iter().filter(broadcast).filter_map(|access| {
        let of_kernel = share(access.sums.requests, context.requests(access.kernel));
        if of_kernel < LEAST_OF_KERNEL {
            return None;
        }
        let reason = format!(
            "all lanes of a warp load one address of {} from global memory, in {} of the kernel's requests: each takes a pass through L1 \
             to bring {} bytes",
            context.target(access),
            words::percent(of_kernel),
            access.bytes,
        );
        let cure = if fits_constant(context, access) {
            "kernels never write it and it fits into constant memory (64 KiB): keep it there, or load it once into shared memory or registers"
        } else {
            "let the block load a tile of it into shared memory; where it does not change within the loop, load it before into a register"
        };
        Some(
            Draft::new(reason, cure)
                .at_access(access)
                .evidence("requests", access.sums.requests as f64)
                .evidence("share_of_requests", of_kernel)
                .score(of_kernel * context.kernel_share(access.kernel))
                .severity(Severity::Note),
        )
    });
    each.collect()
}
