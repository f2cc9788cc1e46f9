//! Copies that bring nothing new.

use super::super::diagnosis::{Bytes, Count, Diagnosis, Shown, described};
use super::super::draft::Draft;
use super::super::facts::{Copies, Facts, describe};
use super::super::thresholds::transfers::{
    LEAST_COPIED_BYTES, LEAST_UNCHANGED, LEAST_UNCHANGED_OF_VALUES, LEAST_UNCHANGED_SHARE, PAGE_BYTES, VALUE_BYTES,
};
use warpline_profile::copy_seconds;
use warpline_profile::model::Severity;

described! {
    pub(in super::super) enum Cause {
        /// The host has the bytes.
        ToHost { data: Shown, copies: Count, unchanged: Count, bytes: Bytes } => "unchanged-copy-to-host",
        /// Other memory of the device has the bytes.
        HandedOn {
            data: Shown, copies: Count, unchanged: Count, bytes: Bytes, origin: Shown, line: Option<Shown>,
        } => "bytes-of-other-device-memory",
        /// The bytes came from there.
        Returned { data: Shown, copies: Count, unchanged: Count, bytes: Bytes } => "bytes-of-earlier-copy-back",
        /// The device has the bytes, and kernels write the memory.
        InputOverwritten { data: Shown, copies: Count, unchanged: Count, bytes: Bytes } => "unchanged-input-of-written-memory",
        /// The device has the bytes.
        Input { data: Shown, copies: Count, unchanged: Count, bytes: Bytes } => "unchanged-input",
    }
}

described! {
    pub(in super::super) enum Remedy {
        /// One copy, when a kernel has written the memory.
        CopyBackOnce => "copy-back-once",
        /// Pointers in the place of copies.
        ExchangePointers { origin: Shown } => "exchange-pointers",
        /// No copies between launches.
        KeepOnDevice => "keep-on-device",
        /// A second copy on the device.
        RestoreOnDevice => "restore-from-device-copy",
        /// One copy.
        CopyOnce => "copy-once",
    }
}

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let again = facts.bus_copies().into_iter().filter(|copies| copies.unchanged >= LEAST_UNCHANGED);
    again.filter(|copies| !is_chance(facts, copies)).filter_map(|copies| draft(facts, &copies)).collect()
}

/// Returns whether the bytes may be equal by chance, or had to be copied to learn that they are.
fn is_chance(facts: &Facts<'_>, copies: &Copies<'_>) -> bool {
    let at_most = |bytes| copies.bytes <= copies.count.saturating_mul(bytes);
    let is_rare = copies.unchanged_share() < LEAST_UNCHANGED_OF_VALUES;
    let is_result = !copies.to_device() && facts.is_written(copies);
    copies.unchanged_share() < LEAST_UNCHANGED_SHARE
        || is_rare && (at_most(VALUE_BYTES) || is_result && at_most(PAGE_BYTES))
        // The host copies a flag to learn whether it has changed, or one element of an array after the other.
        || !copies.to_device() && at_most(VALUE_BYTES) && (is_result || copies.is_part() || copies.span_launches())
}

fn diagnosis(facts: &Facts<'_>, copies: &Copies<'_>, bytes: u64) -> Diagnosis {
    let data = Shown(copies.describe().0);
    let (count, unchanged, bytes) = (Count(copies.count), Count(copies.unchanged), Bytes(bytes));
    let (cause, remedy) = if !copies.to_device() {
        (Cause::ToHost { data, copies: count, unchanged, bytes }, Remedy::CopyBackOnce)
    } else if let Some(found) = copies.origin(facts) {
        let origin = Shown(describe(found.allocation));
        let line = found.line.map(|line| Shown(line.to_string()));
        (
            Cause::HandedOn { data, copies: count, unchanged, bytes, origin: origin.clone(), line },
            Remedy::ExchangePointers { origin },
        )
    } else if copies.returns_results(facts) {
        (Cause::Returned { data, copies: count, unchanged, bytes }, Remedy::KeepOnDevice)
    } else if facts.is_written(copies) {
        (Cause::InputOverwritten { data, copies: count, unchanged, bytes }, Remedy::RestoreOnDevice)
    } else {
        (Cause::Input { data, copies: count, unchanged, bytes }, Remedy::CopyOnce)
    };
    Diagnosis::new(&cause, &remedy)
}

fn draft(facts: &Facts<'_>, copies: &Copies<'_>) -> Option<Draft> {
    copies.allocation()?;
    let bytes = (copies.bytes as f64 * copies.unchanged_share()) as u64;
    let seconds = copy_seconds(bytes, copies.unchanged);
    let draft = Draft::of(diagnosis(facts, copies, bytes))
        .at_copies(copies)
        .evidence("unchanged_copies", copies.unchanged as f64)
        .evidence("unchanged_bytes", bytes as f64)
        .score(facts.program_share(seconds));
    if bytes >= LEAST_COPIED_BYTES {
        return Some(draft.gain(facts.program_gain(seconds)));
    }
    // One copy of one buffer does for small copies that a function makes together.
    let together = format!("{} {:?} {} {}", copies.function(), copies.to_device(), copies.count, copies.unchanged);
    Some(draft.one_cause(Some(together)).severity(Severity::Note))
}
