//! Unordered work in two streams that touches the same bytes (`src/analyzer/races/streams.rs`).

use super::super::phrase::Phrase;
use super::super::prelude::*;
use super::super::words;
use warpline_profile::model::{StreamAccess, StreamConflict};

described! {
    enum Cause {
        Kernels { memory: Shown, first: Shown, second: Shown, bytes: Bytes } => "unordered-kernels",
        Copy { memory: Shown, first: Shown, second: Shown, bytes: Bytes } => "unordered-copy",
        Host { memory: Shown, first: Shown, is_store: Choice } => "unordered-host-access",
    }
    enum Remedy {
        Order { from: Shown, to: Shown } => "order-streams",
        Wait { from: Shown } => "wait-before-access",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    facts.profile.stream_conflicts.iter().filter_map(|conflict| draft(facts, conflict)).collect()
}

fn draft(facts: &Facts<'_>, conflict: &StreamConflict) -> Option<Draft> {
    let allocation = facts.profile.allocation(conflict.allocation)?;
    let [first, second] = conflict.accesses.each_ref().map(|access| shown(facts, access));
    let (memory, bytes) = (describe(allocation), Bytes(conflict.bytes));
    let are_kernels = conflict.accesses.iter().all(|access| access.kernel.is_some());
    let later = &conflict.accesses[1];
    let is_of_host = later.op.starts_with("host");
    let cause = match (is_of_host, are_kernels) {
        (true, _) => Cause::Host { memory, first, is_store: Choice(u8::from(later.op == "host_store")) },
        (_, true) => Cause::Kernels { memory, first, second, bytes },
        (_, false) => Cause::Copy { memory, first, second, bytes },
    };
    let [from, to] = conflict.accesses.each_ref().map(|access| stream(access.stream));
    let remedy = if is_of_host { Remedy::Wait { from } } else { Remedy::Order { from, to } };
    let draft = Draft::new(Diagnosis::new(&cause, &remedy))
        .at_frame(place(later))
        .of_allocation(conflict.allocation)
        .object(allocation.name.clone())
        .evidence("bytes", conflict.bytes as f64)
        .evidence("pairs", conflict.pairs as f64)
        .score(1.0)
        .severity(Severity::Warning);
    Some(Draft { kernel: later.kernel, ..draft })
}

/// Returns the source position of an access, or of the call that makes a copy.
fn place(access: &StreamAccess) -> Option<&Frame> {
    if access.kernel.is_some() { Some(&access.frame) } else { innermost(&access.path) }
}

/// Formats an access as "store by `scale` on line 8 in stream 2".
fn shown(facts: &Facts<'_>, access: &StreamAccess) -> Shown {
    let kernel = access.kernel.and_then(|id| facts.kernel(Some(id)));
    Phrase::StreamParty {
        op: Shown(match &access.op[..] {
            "copy_to" => "copy to the device".to_owned(),
            "copy_from" => "copy from the device".to_owned(),
            other => other.to_owned(),
        }),
        kernel: kernel.map(|kernel| Name(words::kernel(kernel))),
        line: Shown(place(access).map_or_else(|| "?".to_owned(), |frame| frame.line.to_string())),
        stream: stream(access.stream),
    }
    .shown()
}

fn stream(number: u32) -> Shown {
    Shown(if number == 0 { "the default stream".to_owned() } else { format!("stream {number}") })
}
