//! Many small copies from one place: each costs its start, whatever it brings.

use super::super::diagnosis::{Bytes, Choice, Count, Diagnosis, Name, Seconds, Shown, described};
use super::super::draft::Draft;
use super::super::facts::{Copies, Facts};
use super::super::thresholds::transfers::{LEAST_SMALL_COPIES, MOST_SMALL_COPY_BYTES};
use warpline_profile::{SECONDS_PER_COPY, SECONDS_PER_DEVICE_COPY};

described! {
    pub(in super::super) enum Cause {
        /// Each call of an algorithm returns its result to the host.
        LibraryResults { function: Name, copies: Count, each: Bytes, start: Seconds } => "library-result-per-call",
        /// Between host and device.
        OverBus { data: Shown, copies: Count, each: Bytes, start: Seconds, direction: Choice } => "small-bus-copies",
        /// Within the device.
        WithinDevice { data: Shown, copies: Count, each: Bytes, start: Seconds } => "small-device-copies",
    }
}

described! {
    pub(in super::super) enum Remedy {
        /// An algorithm for several inputs, or one that leaves its result on the device.
        LibraryCalls { function: Name } => "batch-library-calls",
        /// One copy to the device.
        OneToDevice => "batch-copies-to-device",
        /// One copy to the host.
        OneToHost => "batch-copies-to-host",
        /// One copy of rows, or a kernel.
        WithinDevice => "batch-device-copies",
    }
}

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let over_bus = facts.bus_copies().into_iter().map(|copies| (copies, true));
    let all = over_bus.chain(facts.device_copies().into_iter().map(|copies| (copies, false)));
    all.filter(|(copies, _)| is_small(copies)).filter_map(|(copies, is_bus)| draft(facts, &copies, is_bus)).collect()
}

/// Returns whether they are many and small. Those to the device that mostly bring nothing new are to be left out, not batched.
fn is_small(copies: &Copies<'_>) -> bool {
    copies.count >= LEAST_SMALL_COPIES
        && copies.bytes_each() <= MOST_SMALL_COPY_BYTES
        && (!copies.to_device() || copies.unchanged <= copies.count / 2)
}

fn draft(facts: &Facts<'_>, copies: &Copies<'_>, is_bus: bool) -> Option<Draft> {
    let algorithm = copies.library_algorithm().filter(|_| is_bus);
    // What an algorithm copies to the device goes with its calls.
    if algorithm.is_some() && copies.to_device() || copies.allocation().is_none() {
        return None;
    }
    let (data, each, count) = (Shown(copies.describe().0), Bytes(copies.bytes_each()), Count(copies.count));
    let seconds_each = if is_bus { SECONDS_PER_COPY } else { SECONDS_PER_DEVICE_COPY };
    let start = Seconds(seconds_each);
    let direction = Choice(u8::from(!copies.to_device()));
    let (cause, remedy) = match &algorithm {
        Some(function) => {
            let function = Name(function.clone());
            (
                Cause::LibraryResults { function: function.clone(), copies: count, each, start },
                Remedy::LibraryCalls { function },
            )
        }
        None if !is_bus => (Cause::WithinDevice { data, copies: count, each, start }, Remedy::WithinDevice),
        None => {
            let remedy = if copies.to_device() { Remedy::OneToDevice } else { Remedy::OneToHost };
            (Cause::OverBus { data, copies: count, each, start, direction }, remedy)
        }
    };
    let seconds = copies.count as f64 * seconds_each;
    let all = facts.kernel_seconds + facts.copy_seconds + if is_bus { 0.0 } else { seconds };
    let draft = Draft::of(Diagnosis::new(&cause, &remedy))
        .at_copies(copies)
        .evidence("bytes_per_copy", copies.bytes as f64 / copies.count.max(1) as f64)
        .score(if all > 0.0 { seconds / all } else { 0.0 });
    // Several allocations of one algorithm are one thing to change.
    Some(if algorithm.is_some() { Draft { allocation: None, object: algorithm, ..draft } } else { draft })
}
