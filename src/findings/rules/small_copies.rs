//! Many small copies from one source position, each of which has a start cost that is independent of its size.

use super::super::prelude::*;
use super::super::thresholds::transfers::*;
use warpline_profile::{SECONDS_PER_COPY, SECONDS_PER_DEVICE_COPY};

described! {
    enum Cause {
        LibraryResults { function: Name } => "library-result-per-call",
        ReturnedUnchanged { line: Option<Shown> } => "small-copies-returned-unchanged",
        OverBus { direction: Choice } => "small-bus-copies",
        WithinDevice => "small-device-copies",
    }
    enum Remedy {
        LibraryCalls { function: Name } => "batch-library-calls",
        Elements => "copy-container-once",
        OneToDevice => "batch-copies-to-device",
        OneToHost => "batch-copies-to-host",
        KeepOnDevice => "keep-small-data-on-device",
        WithinDevice => "batch-device-copies",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let over_bus = facts.bus_copies().into_iter().map(|copies| (copies, true));
    let all = over_bus.chain(facts.device_copies().into_iter().map(|copies| (copies, false)));
    all.filter(|(copies, _)| is_small(copies)).filter_map(|(copies, is_bus)| draft(facts, &copies, is_bus)).collect()
}

/// Returns whether the copies are many and small. Copies to the device that mostly transfer no new data should be
/// removed and not batched.
fn is_small(copies: &Copies<'_>) -> bool {
    copies.count >= LEAST_SMALL_COPIES
        && copies.bytes_each() <= MOST_SMALL_COPY_BYTES
        && (!copies.to_device() || copies.unchanged <= copies.count / 2)
}

/// Returns the copies that transfer data from the host back to the device, mostly unchanged and about as often as it
/// was copied to the host.
fn returned_unchanged<'a>(facts: &Facts<'a>, back: &Copies<'a>) -> Option<Copies<'a>> {
    let returns = |forth: &Copies<'_>| {
        forth.to_device()
            && forth.count.saturating_mul(2) >= back.count
            && forth.unchanged > forth.count / 2
            && forth.bytes_each() > VALUE_BYTES
            && back.shares_host_memory(forth)
    };
    facts.bus_copies().into_iter().find(returns)
}

fn draft(facts: &Facts<'_>, copies: &Copies<'_>, is_bus: bool) -> Option<Draft> {
    let algorithm = copies.library_algorithm().filter(|_| is_bus);
    // Copies of an algorithm to the device belong to its calls.
    if algorithm.is_some() && copies.to_device() || copies.allocation().is_none() {
        return None;
    }
    let seconds_each = if is_bus { SECONDS_PER_COPY } else { SECONDS_PER_DEVICE_COPY };
    let direction = Choice(u8::from(!copies.to_device()));
    let (cause, remedy) = match &algorithm {
        Some(function) => {
            // An operator of a container's element represents one element, independent of the number of calls.
            let is_element = function.contains("::operator");
            let function = Name(function.clone());
            let cause = Cause::LibraryResults { function: function.clone() };
            (cause, if is_element { Remedy::Elements } else { Remedy::LibraryCalls { function } })
        }
        None if !is_bus => (Cause::WithinDevice, Remedy::WithinDevice),
        None if copies.to_device() => (Cause::OverBus { direction }, Remedy::OneToDevice),
        None => match returned_unchanged(facts, copies) {
            Some(forth) => {
                let line = forth.line().map(|line| Shown(line.to_string()));
                (Cause::ReturnedUnchanged { line }, Remedy::KeepOnDevice)
            }
            None => (Cause::OverBus { direction }, Remedy::OneToHost),
        },
    };
    let mut diagnosis = Diagnosis::new(&cause, &remedy);
    let figures = &mut diagnosis.figures;
    figures.set("data", copies.describe());
    figures.set("copies", Count(copies.count));
    figures.set("each", Bytes(copies.bytes_each()));
    figures.set("start", Seconds(seconds_each));
    let seconds = copies.count as f64 * seconds_each;
    let all = facts.kernel_seconds + facts.copy_seconds + if is_bus { 0.0 } else { seconds };
    let draft = Draft::new(diagnosis)
        .at_copies(copies)
        .evidence("bytes_per_copy", copies.bytes as f64 / copies.count.max(1) as f64)
        .score(if all > 0.0 { seconds / all } else { 0.0 });
    // Several allocations of one algorithm are one change.
    Some(if algorithm.is_some() { Draft { allocation: None, object: algorithm, ..draft } } else { draft })
}
