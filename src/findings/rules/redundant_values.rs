//! Data that uses more memory than its values need (`--values`): a single value, few values, a small range, or zeros.
//! (ValueExpert: single value, frequent values, heavy type, single zero.)

use super::super::facts::values::{Wide, loaded};
use super::super::prelude::*;
use super::super::thresholds::values::*;

described! {
    enum Cause {
        Single { memory: Shown, value: Shown, count: Count } => "one-value",
        Zeros { memory: Shown, share: Share } => "blocks-of-zeros",
        Narrow { memory: Shown, element: Name, narrow: Name, count: Count } => "narrow-range",
        Few { memory: Shown, element: Name, number: Count, values: Shown } => "few-values",
    }
    enum Remedy {
        PassValue { value: Shown } => "pass-as-argument",
        SkipZeros => "skip-zeros",
        NarrowType { narrow: Name } => "narrower-type",
        Codes { number: Count } => "store-codes",
    }
}

/// The saved share of the traffic, and whether the saving may be specific to this input.
struct Verdict {
    diagnosis: Diagnosis,
    saved: f64,
    is_note: bool,
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    loaded(facts).iter().filter_map(|wide| draft(facts, wide)).collect()
}

fn verdict(wide: &Wide<'_, '_>) -> Option<Verdict> {
    let (row, values) = (wide.row, &wide.row.values);
    let (memory, count) = (describe(wide.allocation), Count(values.count));
    if let [value] = &values.distinct[..] {
        let value = Shown(value.clone());
        let cause = Cause::Single { memory, value: value.clone(), count };
        let diagnosis = Diagnosis::new(&cause, &Remedy::PassValue { value });
        return Some(Verdict { diagnosis, saved: 1.0, is_note: false });
    }
    let zeros = share(row.zero_sectors, row.sectors);
    if zeros >= LEAST_ZERO_SHARE {
        let diagnosis = Diagnosis::new(&Cause::Zeros { memory, share: Share(zeros) }, &Remedy::SkipZeros);
        return Some(Verdict { diagnosis, saved: zeros, is_note: false });
    }
    let element = Name(values.element.clone());
    let fitting = values.fits.first().and_then(|name| Some((name, narrow_bytes(name)?)));
    if let Some((name, bytes)) = fitting.filter(|&(_, bytes)| bytes < values.element_bytes) {
        let narrow = Name(name.clone());
        let cause = Cause::Narrow { memory, element, narrow: narrow.clone(), count };
        let diagnosis = Diagnosis::new(&cause, &Remedy::NarrowType { narrow });
        let saved = 1.0 - f64::from(bytes) / f64::from(values.element_bytes);
        // Indices of small inputs fit in 16 bits, and round numbers fit in half precision.
        let is_double = values.element == "double";
        return Some(Verdict { diagnosis, saved, is_note: bytes > 1 && !is_double });
    }
    let number = values.distinct.len();
    if number < 2 || values.element_bytes < LEAST_CODED_BYTES {
        return None;
    }
    let listed = Shown(values.distinct.join(", "));
    let number_shown = Count(number as u64);
    let cause = Cause::Few { memory, element, number: number_shown, values: listed };
    let diagnosis = Diagnosis::new(&cause, &Remedy::Codes { number: number_shown });
    let saved = 1.0 - 1.0 / f64::from(values.element_bytes);
    Some(Verdict { diagnosis, saved, is_note: number > FEW_VALUES })
}

/// Returns the number of bytes of a type that can represent the values.
fn narrow_bytes(name: &str) -> Option<u32> {
    Some(match name {
        "int8_t" | "uint8_t" => 1,
        "int16_t" | "uint16_t" | "__half" | "__nv_bfloat16" => 2,
        "int32_t" | "uint32_t" | "float" => 4,
        _ => return None,
    })
}

fn draft(facts: &Facts<'_>, wide: &Wide<'_, '_>) -> Option<Draft> {
    let Verdict { diagnosis, saved, is_note } = verdict(wide)?;
    let (row, load) = (wide.row, wide.load);
    let traffic = Saving::without_traffic(&wide.accesses);
    let of_kernel = share(wide.accesses.iter().map(|one| one.sums.requests).total(), facts.requests(load.kernel));
    let draft = Draft::for_access(facts, diagnosis, load)
        .of_allocation(wide.allocation.id)
        .evidence("values", row.values.count as f64)
        .evidence("zeros", row.values.zeros as f64)
        .evidence("distinct", row.values.distinct.len() as f64)
        .evidence("zero_sectors", row.zero_sectors as f64)
        .evidence("sectors", row.sectors as f64)
        .saves(facts, Saved::new(traffic.times(saved), of_kernel * saved));
    Some(draft.note_if(is_note))
}
