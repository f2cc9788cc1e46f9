//! Accesses of one byte per thread to consecutive bytes, although a thread could access four of them at once (CUDA C++
//! Best Practices Guide, "Coalesced Access to Global Memory"; NVIDIA, "CUDA Pro Tip: Increase Performance with
//! Vectorized Memory Access").

use super::super::prelude::*;
use super::super::thresholds::coalescing::*;

described! {
    enum Cause {
        OneBytePerThread { share: Share } => "one-byte-per-thread",
    }
    enum Remedy {
        FourBytesPerThread { rest: Choice } => "four-bytes-per-thread",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let narrow = facts.accesses.iter().filter(|access| is_narrow(access));
    let with_share = narrow.map(|access| (access, share(access.sums.requests, facts.requests(access.kernel))));
    let large = with_share.filter(|(_, of_kernel)| *of_kernel >= LEAST_NARROW_SHARE);
    large.map(|(access, of_kernel)| draft(facts, access, of_kernel)).collect()
}

/// Returns whether neighbouring lanes access neighbouring bytes in nearly all requests.
fn is_narrow(access: &Access<'_>) -> bool {
    access.space == "global"
        && access.bytes == NARROW_BYTES
        && matches!(access.op, "load" | "store")
        && !access.in_library
        && !access.is_opaque
        && !access.by_texture
        && access.sums.lanes >= LEAST_NARROW_LANES * access.sums.requests
        && access.pattern.contiguous as f64 >= LEAST_CONTIGUOUS_SHARE * access.sums.requests as f64
}

fn draft(facts: &Facts<'_>, access: &Access<'_>, of_kernel: f64) -> Draft {
    let rest = Choice(u8::from(!access.is_load()));
    let diagnosis =
        Diagnosis::new(&Cause::OneBytePerThread { share: Share(of_kernel) }, &Remedy::FourBytesPerThread { rest });
    let sums = &access.sums;
    let part = 1.0 - f64::from(NARROW_BYTES) / f64::from(WIDE_BYTES);
    let saved = Saved::new(Saving::without_requests(&[access]).times(part), of_kernel);
    Draft::for_access(facts, diagnosis, access)
        .evidence("requests", sums.requests as f64)
        .evidence("bytes_per_thread", access.bytes.into())
        .evidence("contiguous_share", share(access.pattern.contiguous, sums.requests))
        .evidence("share_of_requests", of_kernel)
        .severity(Severity::Note)
        .saves(facts, saved)
}
