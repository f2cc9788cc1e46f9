//! Large copies from or to host memory that is not pinned, which the driver copies through an internal buffer (CUDA C++
//! Best Practices Guide, "Pinned Memory").

use super::super::phrase::Unnamed;
use super::super::prelude::*;
use super::super::thresholds::transfers::*;

described! {
    enum Cause {
        Asynchronous { call: Name, host: Shown, bytes: Bytes, all: Bytes } => "asynchronous-pageable-copy",
        Synchronous { bytes: Bytes } => "synchronous-pageable-copies",
    }
    enum Remedy {
        Pin { host: Shown } => "pin-host-memory",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let pageable = facts.bus_copies().into_iter().filter(|copies| copies.is_pageable(facts));
    let (asynchronous, synchronous): (Vec<_>, Vec<_>) =
        pageable.partition(|copies| copies.asynchronous_call(facts).is_some());
    let kinds = [(asynchronous, LEAST_ASYNCHRONOUS_BYTES), (synchronous, LEAST_PAGEABLE_BYTES)];
    kinds.into_iter().filter_map(|(copies, least)| draft(facts, &copies, least)).collect()
}

/// Returns the finding for all copies of a kind, at the position of the largest copies.
fn draft(facts: &Facts<'_>, copies: &[Copies<'_>], least: u64) -> Option<Draft> {
    let all = copies.iter().map(|copies| copies.bytes).total();
    let largest = copies.iter().max_by_key(|copies| copies.bytes).filter(|_| all >= least)?;
    let name = largest.host_name(facts);
    let host = name.map_or_else(|| Unnamed::HostMemory.shown(), |name| Shown(format!("`{name}`")));
    let (cause, severity, score) = match largest.asynchronous_call(facts) {
        Some(call) => (
            Cause::Asynchronous {
                call: Name(call.to_owned()),
                host: host.clone(),
                bytes: Bytes(largest.bytes),
                all: Bytes(all),
            },
            Severity::Warning,
            SAVED_BY_PINNING * facts.program_share(copy_seconds(all, 0)),
        ),
        None => (Cause::Synchronous { bytes: Bytes(all) }, Severity::Note, 0.0),
    };
    let object = name.filter(|_| severity == Severity::Warning);
    let draft = Draft::new(Diagnosis::new(&cause, &Remedy::Pin { host })).at_frame(innermost(largest.path));
    Some(draft.object(object).evidence("bytes", all as f64).score(score).severity(severity))
}
