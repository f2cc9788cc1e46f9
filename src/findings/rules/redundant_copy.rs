//! Copies that transfer no new data.

use super::super::prelude::*;
use super::super::thresholds::transfers::*;

described! {
    enum Cause {
        ToHost => "unchanged-copy-to-host",
        HandedOn { origin: Shown, line: Option<Shown> } => "bytes-of-other-device-memory",
        InputOverwritten => "unchanged-input-of-written-memory",
        Input => "unchanged-input",
    }
    enum Remedy {
        CopyBackOnce => "copy-back-once",
        ExchangePointers { origin: Shown } => "exchange-pointers",
        KeepOnDevice => "keep-on-device",
        CopyOnce => "copy-once",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let again = facts.bus_copies().into_iter().filter(|copies| copies.unchanged >= LEAST_UNCHANGED);
    again.filter(|copies| !is_chance(facts, copies)).filter_map(|copies| draft(facts, &copies)).collect()
}

/// Returns whether the bytes may be equal by chance, or had to be copied to detect that they are equal.
fn is_chance(facts: &Facts<'_>, copies: &Copies<'_>) -> bool {
    let at_most = |bytes| copies.bytes <= copies.count.saturating_mul(bytes);
    let is_rare = copies.unchanged_share() < LEAST_UNCHANGED_OF_VALUES;
    let is_result = !copies.to_device() && facts.is_written(copies);
    copies.unchanged_share() < LEAST_UNCHANGED_SHARE
        || is_rare && (at_most(VALUE_BYTES) || is_result && at_most(PAGE_BYTES))
        // The host copies a flag to detect a change, or copies the elements of an array one by one.
        || !copies.to_device() && at_most(VALUE_BYTES) && (is_result || copies.is_part() || copies.span_launches())
}

fn diagnosis(facts: &Facts<'_>, copies: &Copies<'_>, bytes: u64) -> Diagnosis {
    let (cause, remedy) = if !copies.to_device() {
        (Cause::ToHost, Remedy::CopyBackOnce)
    } else if let Some(found) = copies.origin(facts) {
        let (origin, line) = (describe(found.allocation), found.line.map(|line| Shown(line.to_string())));
        (Cause::HandedOn { origin: origin.clone(), line }, Remedy::ExchangePointers { origin })
    } else if facts.is_written(copies) {
        (Cause::InputOverwritten, Remedy::KeepOnDevice)
    } else {
        (Cause::Input, Remedy::CopyOnce)
    };
    let mut diagnosis = Diagnosis::new(&cause, &remedy);
    diagnosis.figures.set("data", copies.describe());
    diagnosis.figures.set("copies", Count(copies.count));
    diagnosis.figures.set("unchanged", Count(copies.unchanged));
    diagnosis.figures.set("bytes", Bytes(bytes));
    diagnosis
}

fn draft(facts: &Facts<'_>, copies: &Copies<'_>) -> Option<Draft> {
    copies.allocation()?;
    let bytes = (copies.bytes as f64 * copies.unchanged_share()) as u64;
    let seconds = copy_seconds(bytes, copies.unchanged);
    let draft = Draft::new(diagnosis(facts, copies, bytes))
        .at_copies(copies)
        .evidence("unchanged_copies", copies.unchanged as f64)
        .evidence("unchanged_bytes", bytes as f64)
        .score(facts.program_share(seconds));
    if bytes >= LEAST_COPIED_BYTES {
        return Some(draft.gain(facts.program_gain(seconds)));
    }
    // If a function makes several small copies, one copy of one buffer can replace them.
    let together = format!(
        "{} {:?} {} {}",
        innermost(copies.path).map_or("", |frame| &frame.function),
        copies.to_device(),
        copies.count,
        copies.unchanged
    );
    Some(draft.one_cause(Some(together)).severity(Severity::Note))
}
