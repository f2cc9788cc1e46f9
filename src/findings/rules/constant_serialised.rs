//! Constant memory that lanes read at different addresses: it serves one address per pass (CUDA C++ Best Practices Guide,
//! "Constant Memory").

use super::super::access::{Access, share};
use super::super::context::Context;
use super::super::draft::{Draft, Saved};
use super::super::gain::Saving;
use super::super::words;

/// Passes per request, at least.
const PASSES: f64 = 1.5;
/// Least share of the kernel's requests.
const LEAST_OF_KERNEL: f64 = 0.02;

pub(in super::super) fn find(context: &Context<'_>) -> Vec<Draft> {
    let serial = |access: &&Access<'_>| {
        access.space == "constant" && access.sums.passes as f64 >= PASSES * access.sums.ideal_passes.max(1) as f64
    };
    context.accesses.iter().filter(serial).filter_map(|access| draft(context, access)).collect()
}

fn draft(context: &Context<'_>, access: &Access<'_>) -> Option<Draft> {
    let sums = &access.sums;
    let of_kernel = share(sums.requests, context.requests(access.kernel));
    if of_kernel < LEAST_OF_KERNEL {
        return None;
    }
    let excess = sums.passes.saturating_sub(sums.ideal_passes);
    let name = context.target(access);
    let reason = format!(
        "the lanes of a warp read {name} in constant memory at {} different addresses a request; constant memory serves one address per \
         pass, so that {} take {} passes",
        words::ratio(sums.passes, sums.requests),
        words::several(sums.requests, "request", "requests"),
        words::count(sums.passes),
    );
    let cure = format!(
        "read {} through global memory (const __restrict__, where neighbouring lanes are one request) or shared memory, or make its index \
         the same for all lanes of a warp",
        access.variable().map_or_else(|| "it".to_owned(), |name| format!("`{name}`")),
    );
    let all: u64 =
        context.accesses_of(access.kernel.id, "constant").map(|access| access.sums.passes).fold(0, u64::saturating_add);
    let saved = Saved {
        saving: Saving::of("constant", excess as f64),
        otherwise: share(excess, all),
        assumption: "one address per clock, and requests at one address take no time",
    };
    Some(
        Draft::new(reason, cure)
            .at_access(access)
            .evidence("requests", sums.requests as f64)
            .evidence("passes", sums.passes as f64)
            .saves(context, saved),
    )
}
