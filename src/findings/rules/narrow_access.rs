//! Accesses of one byte per thread to consecutive bytes, where a thread could take four of them in one access (CUDA C++ Best Practices
//! Guide, "Coalesced Access to Global Memory"; NVIDIA, "CUDA Pro Tip: Increase Performance with Vectorized Memory Access").

use super::super::diagnosis::{Choice, Diagnosis, Share, described};
use super::super::draft::{Draft, Saved};
use super::super::facts::Facts;
use super::super::facts::access::{Access, share};
use super::super::gain::Saving;
use super::super::thresholds::coalescing::{
    LEAST_CONTIGUOUS_SHARE, LEAST_NARROW_LANES, LEAST_NARROW_SHARE, NARROW_BYTES, WIDE_BYTES,
};
use warpline_profile::model::{Kernel, Severity};

described! {
    pub(in super::super) enum Cause {
        /// Consecutive threads access consecutive bytes, one each.
        OneBytePerThread { share: Share } => "one-byte-per-thread",
    }
}

described! {
    pub(in super::super) enum Remedy {
        /// A word per thread.
        FourBytesPerThread { rest: Choice } => "four-bytes-per-thread",
    }
}

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    facts.profile.kernels.iter().flat_map(|kernel| of_kernel(facts, kernel)).collect()
}

fn of_kernel(facts: &Facts<'_>, kernel: &Kernel) -> Vec<Draft> {
    let of_kernel = |access: &Access<'_>| share(access.sums.requests, facts.requests(kernel));
    facts
        .accesses_of(kernel.id, "global")
        .filter(|access| is_narrow(access) && of_kernel(access) >= LEAST_NARROW_SHARE)
        .map(|access| draft(facts, access, of_kernel(access)))
        .collect()
}

/// Returns whether neighbouring lanes take neighbouring bytes, in nearly all requests.
fn is_narrow(access: &Access<'_>) -> bool {
    access.bytes == NARROW_BYTES
        && matches!(access.op, "load" | "store")
        && !access.in_library
        && !access.is_opaque
        && !access.by_texture
        && access.sums.lanes >= LEAST_NARROW_LANES * access.sums.requests
        && access.pattern.contiguous as f64 >= LEAST_CONTIGUOUS_SHARE * access.sums.requests as f64
}

fn draft(facts: &Facts<'_>, access: &Access<'_>, of_kernel: f64) -> Draft {
    let rest = Choice(u8::from(access.op != "load"));
    let diagnosis =
        Diagnosis::new(&Cause::OneBytePerThread { share: Share(of_kernel) }, &Remedy::FourBytesPerThread { rest });
    let sums = &access.sums;
    let saving = Saving::of("l1_tag", sums.stages.tag as f64)
        .and(Saving::of("l1_data", sums.stages.data as f64))
        .and(Saving::of("l1_lanes", (sums.stages.words * 32) as f64));
    let saved = Saved {
        saving: saving.times(1.0 - f64::from(NARROW_BYTES) / f64::from(WIDE_BYTES)),
        otherwise: of_kernel,
        ..Saved::default()
    };
    Draft::of_access(facts, diagnosis, access)
        .evidence("requests", sums.requests as f64)
        .evidence("bytes_per_thread", access.bytes.into())
        .evidence("contiguous_share", share(access.pattern.contiguous, sums.requests))
        .evidence("share_of_requests", of_kernel)
        .severity(Severity::Note)
        .saves(facts, saved)
}
