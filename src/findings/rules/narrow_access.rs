//! Accesses of one byte per thread to consecutive bytes, where a thread could take four of them in one access (CUDA C++ Best Practices
//! Guide, "Coalesced Access to Global Memory"; NVIDIA, "CUDA Pro Tip: Increase Performance with Vectorized Memory Access").

use super::super::access::{Access, share};
use super::super::context::Context;
use super::super::draft::{Draft, Saved};
use super::super::gain::Saving;
use super::super::words;
use crate::profile::model::{Kernel, Severity};

/// Bytes that a thread takes now.
const NARROW: u32 = 1;
/// Bytes that a thread could take: `char4`, or a word of bytes.
const WIDE: u32 = 4;
/// Least share of the requests whose lanes take consecutive bytes.
const LEAST_CONTIGUOUS: f64 = 0.9;
/// Least mean number of active lanes, of 32: fewer leave nothing to combine.
const LEAST_LANES: u64 = 24;
/// Least share of the kernel's requests: for less it is not worth a change of the code.
const LEAST_OF_KERNEL: f64 = 0.1;

pub(in super::super) fn find(context: &Context<'_>) -> Vec<Draft> {
    context.profile.kernels.iter().flat_map(|kernel| of_kernel(context, kernel)).collect()
}

fn of_kernel(context: &Context<'_>, kernel: &Kernel) -> Vec<Draft> {
    let of_kernel = |access: &Access<'_>| share(access.sums.requests, context.requests(kernel));
    context
        .accesses_of(kernel.id, "global")
        .filter(|access| is_narrow(access) && of_kernel(access) >= LEAST_OF_KERNEL)
        .map(|access| draft(context, access, of_kernel(access)))
        .collect()
}

/// Returns whether neighbouring lanes take neighbouring bytes, in nearly all requests.
fn is_narrow(access: &Access<'_>) -> bool {
    access.bytes == NARROW
        && matches!(access.op, "load" | "store")
        && !access.in_library
        && !access.is_opaque
        && !access.by_texture
        && access.sums.lanes >= LEAST_LANES * access.sums.requests
        && access.pattern.contiguous as f64 >= LEAST_CONTIGUOUS * access.sums.requests as f64
}

fn draft(context: &Context<'_>, access: &Access<'_>, of_kernel: f64) -> Draft {
    let (does, of_op) = if access.op == "load" { ("loads", "loads") } else { ("stores", "stores") };
    let reason = format!(
        "each thread {does} one byte of {}, its neighbour the next: a request moves 32 bytes where it could move 128; these are {} of \
         the kernel's requests",
        context.target(access),
        words::percent(of_kernel),
    );
    let cure = format!(
        "let each thread take four consecutive bytes in one access (uchar4, or a 32-bit word), with a quarter of the threads or \
         iterations; the first byte must be aligned to 4, and up to three bytes at the end need {of_op} of their own"
    );
    let sums = &access.sums;
    let saving = Saving::of("l1_tag", sums.stages.tag as f64)
        .and(Saving::of("l1_data", sums.stages.data as f64))
        .and(Saving::of("l1_lanes", (sums.stages.words * 32) as f64));
    let saved = Saved {
        saving: saving.times(1.0 - f64::from(NARROW) / f64::from(WIDE)),
        otherwise: of_kernel,
        assumption: "a quarter of the requests, each of four bytes per thread",
        ..Saved::default()
    };
    Draft::new(reason, cure)
        .at_access(access)
        .evidence("requests", sums.requests as f64)
        .evidence("bytes_per_thread", access.bytes.into())
        .evidence("contiguous_share", share(access.pattern.contiguous, sums.requests))
        .evidence("share_of_requests", of_kernel)
        .severity(Severity::Note)
        .saves(context, saved)
}
