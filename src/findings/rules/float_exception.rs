//! NaNs, infinities and subnormal numbers (`--check-float`; IEEE 754-2019, section 7, "Exceptions").

use std::collections::BTreeSet;

use super::super::prelude::*;
use warpline_profile::model::{FloatException, FloatOrigin, FloatStep};

described! {
    enum Cause {
        ZeroByZero { memory: Shown, operation: Name, operands: Shown, thread: Count, block: Count, way: Option<Shown> } => "zero-divided-by-zero",
        OfInfinity {
            memory: Shown, operation: Name, operands: Shown, thread: Count, block: Count, way: Option<Shown>, infinity: Option<Shown>,
        } => "nan-from-infinity",
        Invalid { memory: Shown, operation: Name, operands: Shown, thread: Count, block: Count, way: Option<Shown> } => "nan-from-invalid-operand",
        Loaded { memory: Shown, source: Shown, offset: Count, thread: Count, block: Count, way: Option<Shown> } => "nan-in-input",
        Operand { memory: Shown, operation: Name, thread: Count, block: Count, way: Option<Shown> } => "nan-in-operand",
        Stored { memory: Shown, thread: Count, block: Count } => "nan-stored",
        Division { memory: Shown, operation: Name, operands: Shown, thread: Count, block: Count, way: Option<Shown> } => "division-by-zero",
        Overflow { memory: Shown, operation: Name, operands: Shown, thread: Count, block: Count, way: Option<Shown> } => "overflow",
        Conversion { operation: Name, operands: Shown, format: Name, times: Count } => "overflow-on-conversion",
        NotStored { operation: Name, operands: Shown, times: Count } => "nan-not-stored",
        Subnormal { operation: Name, format: Name, times: Count } => "subnormal-results",
    }
    enum Remedy {
        GuardDivisor => "guard-divisor",
        AvoidInfinity => "avoid-infinity",
        GuardOperand => "guard-operand",
        CheckInput { source: Shown } => "check-input",
        CheckOperand => "check-operand",
        CheckValue => "check-stored-value",
        ScaleOrWiden => "scale-or-widen",
        Clamp { format: Name } => "scale-before-conversion",
        CheckUse => "check-use-of-nan",
        FlushToZero => "flush-to-zero",
    }
}

/// Score of exceptional values that reach no allocation, which ranks them below findings that cost time.
const UNSEEN_SCORE: f64 = 0.02;

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let origins = &facts.profile.float_origins;
    let stored = origins.iter().filter_map(|origin| of_origin(facts, origin));
    // Operations whose value reaches memory are reported at the store.
    let stored_by: BTreeSet<(u32, &Frame)> =
        origins.iter().flat_map(|one| &one.steps).map(|step| (step.kernel, &step.frame)).collect();
    let is_new = |row: &&FloatException| !stored_by.contains(&(row.kernel, &row.frame));
    let others = facts.profile.float_exceptions.iter().filter(is_new).filter_map(of_exception);
    stored.chain(others).collect()
}

/// Returns the exceptional results of a step's operation.
fn results_of<'a>(facts: &'a Facts<'_>, step: &FloatStep, kinds: &[&str]) -> Option<&'a FloatException> {
    let is_same = |row: &&FloatException| {
        (row.kernel, &row.frame, &row.operation) == (step.kernel, &step.frame, &step.operation)
            && kinds.contains(&&row.kind[..])
    };
    facts.profile.float_exceptions.iter().find(is_same)
}

fn operands(row: &FloatException) -> Shown {
    Shown(row.operands.join(", "))
}

/// Returns the lines between the last step, which computed the value, and the store; none if both are on one line.
fn way(steps: &[FloatStep]) -> Option<Shown> {
    let source = steps.last()?;
    let mut lines: Vec<u32> = steps.iter().rev().map(|step| step.frame.line).filter(|&line| line != 0).collect();
    lines.dedup();
    let between: Vec<String> =
        lines.iter().skip_while(|&&line| line == source.frame.line).map(|line| line.to_string()).collect();
    (!between.is_empty()).then(|| Shown(between.join(", then ")))
}

fn of_origin(facts: &Facts<'_>, origin: &FloatOrigin) -> Option<Draft> {
    let store = origin.store()?;
    // If a NaN comes from an infinity, the previous steps lead to the operation that created the infinity.
    let makes = |step: &FloatStep| origin.kind == "nan" && !step.passes && results_of(facts, step, &["nan"]).is_some();
    let made = origin.steps.iter().position(makes);
    let steps = made.map_or(&origin.steps[..], |at| &origin.steps[..=at]);
    let source = steps.last()?;
    let first = origin.source().filter(|first| !std::ptr::eq(*first, source));
    let infinity = first.map(|first| Shown(first.frame.line.to_string()));
    let name = |id: Option<u64>| describe_known(id.and_then(|id| facts.profile.allocation(id)));
    let memory = name(store.allocation);
    let (thread, block) = (Count(source.thread.into()), Count(source.block));
    let way = way(steps);
    let is_loaded = source.operation == "load";
    if origin.kind == "infinity" {
        let row = results_of(facts, source, &["division_by_zero", "overflow", "conversion_overflow"])?;
        let (operation, operands) = (Name(row.operation.clone()), operands(row));
        let (cause, remedy) = match &row.kind[..] {
            "division_by_zero" => {
                (Cause::Division { memory, operation, operands, thread, block, way }, Remedy::GuardDivisor)
            }
            "overflow" => (Cause::Overflow { memory, operation, operands, thread, block, way }, Remedy::ScaleOrWiden),
            _ => {
                let format = Name(row.format.clone());
                let times = Count(row.lanes);
                let cause = Cause::Conversion { operation, operands, format: format.clone(), times };
                (cause, Remedy::Clamp { format })
            }
        };
        return Some(draft(Diagnosis::new(&cause, &remedy), store, source, Severity::Warning, row.lanes));
    }
    let row = results_of(facts, source, &["nan"]).filter(|_| !source.passes);
    let (cause, remedy) = match row {
        Some(row) => {
            let (operation, shown) = (Name(row.operation.clone()), operands(row));
            let zero = |at: usize| row.operands.get(at).is_some_and(|text| text == "0" || text == "-0");
            if row.operands.len() == 2 && zero(0) && zero(1) {
                (Cause::ZeroByZero { memory, operation, operands: shown, thread, block, way }, Remedy::GuardDivisor)
            } else if row.operands.iter().any(|text| text.ends_with("inf")) {
                let cause = Cause::OfInfinity { memory, operation, operands: shown, thread, block, way, infinity };
                (cause, Remedy::AvoidInfinity)
            } else {
                (Cause::Invalid { memory, operation, operands: shown, thread, block, way }, Remedy::GuardOperand)
            }
        }
        // The initialisation check fills memory with NaNs, so the finding about uninitialised memory is sufficient.
        None if is_loaded && is_uninitialised(facts, source) => return None,
        None if is_loaded => {
            let from = name(source.allocation);
            let cause =
                Cause::Loaded { memory, source: from.clone(), offset: Count(source.offset), thread, block, way };
            (cause, Remedy::CheckInput { source: from })
        }
        None if source.passes => {
            let operation = Name(source.operation.clone());
            (Cause::Operand { memory, operation, thread, block, way }, Remedy::CheckOperand)
        }
        None => (Cause::Stored { memory, thread, block }, Remedy::CheckValue),
    };
    let lanes = row.map_or(1, |row| row.lanes);
    Some(draft(Diagnosis::new(&cause, &remedy), store, source, Severity::Error, lanes))
}

/// Returns whether the load reads uninitialised memory, according to the initialisation check.
fn is_uninitialised(facts: &Facts<'_>, load: &FloatStep) -> bool {
    facts.profile.uninitialised.iter().any(|row| {
        row.kernel == Some(load.kernel) && (&row.frame.file, row.frame.line) == (&load.frame.file, load.frame.line)
    })
}

fn draft(diagnosis: Diagnosis, store: &FloatStep, source: &FloatStep, severity: Severity, lanes: u64) -> Draft {
    let draft = Draft::new(diagnosis).at_frame(Some(&source.frame)).score(1.0).severity(severity);
    let draft = Draft { kernel: Some(source.kernel), allocation: store.allocation, ..draft };
    draft.evidence("lanes", lanes as f64).evidence("offset", store.offset as f64)
}

/// Creates the finding for an exceptional value that, as far as the check has observed, reaches no allocation.
fn of_exception(row: &FloatException) -> Option<Draft> {
    let (operation, operands, times) = (Name(row.operation.clone()), operands(row), Count(row.lanes));
    let format = Name(row.format.clone());
    let (cause, remedy, severity) = match &row.kind[..] {
        "conversion_overflow" => {
            let cause = Cause::Conversion { operation, operands, format: format.clone(), times };
            (cause, Remedy::Clamp { format }, Severity::Warning)
        }
        "nan" => (Cause::NotStored { operation, operands, times }, Remedy::CheckUse, Severity::Note),
        "subnormal" => (Cause::Subnormal { operation, format, times }, Remedy::FlushToZero, Severity::Note),
        _ => return None,
    };
    let score = if severity == Severity::Note { UNSEEN_SCORE } else { 1.0 };
    let draft = Draft::new(Diagnosis::new(&cause, &remedy)).at_frame(Some(&row.frame)).score(score).severity(severity);
    let draft = Draft { kernel: Some(row.kernel), ..draft };
    Some(draft.evidence("lanes", row.lanes as f64))
}
