//! Builds the profile's rows of exceptional floating-point values.

use super::rows::{Paths, chain_place};
use crate::model::{FloatException, FloatOrigin, FloatStep, Frame};
use warpline_analyzer::analysis::{Analysis, ExceptionKey, ExceptionSum, Origin, OriginStep};
use warpline_analyzer::attribution::Module;
use warpline_format::operation::{FloatClass, FloatFormat, FloatKind, Operation};

/// Returns exceptional results by source position.
pub(super) fn exceptions(analysis: &Analysis, paths: &mut Paths<'_>) -> Vec<FloatException> {
    let mut rows: Vec<FloatException> = Vec::new();
    for row in analysis.floats.exceptions.iter().filter_map(|(key, sum)| exception(analysis, paths, key, sum)) {
        // Copies of an operation in an unrolled loop are combined.
        match rows.iter_mut().find(|known| known.is_like(&row)) {
            Some(known) => known.add(&row),
            None => rows.push(row),
        }
    }
    FloatException::sort(&mut rows);
    rows
}

/// Returns the origins of exceptional values in allocations, in the order of their stores.
pub(super) fn origins(analysis: &Analysis, paths: &mut Paths<'_>) -> Vec<FloatOrigin> {
    analysis.floats.origins.iter().filter_map(|one| origin(analysis, paths, one)).collect()
}

/// Returns an operation of a kernel's module.
fn operation(analysis: &Analysis, kernel: u32, number: u32) -> Option<(&Module, &Operation)> {
    let kernel = analysis.kernels.get(kernel as usize)?;
    let module = analysis.modules.get(&kernel.module)?;
    Some((module, module.table.operations.get(number as usize)?))
}

fn frame(module: &Module, operation: &Operation) -> Frame {
    if operation.chain.is_empty() { Frame::default() } else { chain_place(module, &operation.chain).user }
}

fn shown(bits: u64) -> String {
    match f64::from_bits(bits) {
        value if value.is_nan() => "nan".to_owned(),
        value if value.is_infinite() => if value > 0.0 { "inf" } else { "-inf" }.to_owned(),
        value if value == 0.0 || (1e-4..1e7).contains(&value.abs()) => format!("{value}"),
        value => format!("{value:e}"),
    }
}

fn exception(
    analysis: &Analysis,
    paths: &mut Paths<'_>,
    key: &ExceptionKey,
    sum: &ExceptionSum,
) -> Option<FloatException> {
    let (module, operation) = operation(analysis, key.kernel, key.operation)?;
    let first = &sum.first;
    Some(FloatException {
        kind: match key.kind {
            FloatKind::NotANumber => "nan",
            FloatKind::DivisionByZero => "division_by_zero",
            FloatKind::Overflow => "overflow",
            FloatKind::ConversionOverflow => "conversion_overflow",
            FloatKind::Subnormal => "subnormal",
            FloatKind::LoadedNotANumber => "loaded_nan",
        }
        .to_owned(),
        kernel: key.kernel,
        frame: frame(module, operation),
        operation: operation.name.clone(),
        format: match first.format {
            FloatFormat::Half => "half",
            FloatFormat::Brain => "bfloat16",
            FloatFormat::Single => "float",
            FloatFormat::Double => "double",
        }
        .to_owned(),
        requests: first.requests,
        lanes: first.lanes,
        launch: first.launch,
        block: first.block,
        thread: first.thread,
        operands: first.values.iter().take(first.operands as usize).map(|&bits| shown(bits)).collect(),
        path: paths.host(sum.path),
    })
}

fn origin(analysis: &Analysis, paths: &mut Paths<'_>, origin: &Origin) -> Option<FloatOrigin> {
    let steps: Option<Vec<FloatStep>> = origin.steps.iter().map(|one| step(analysis, one)).collect();
    Some(FloatOrigin {
        kind: if origin.class == FloatClass::Infinite { "infinity" } else { "nan" }.to_owned(),
        steps: steps?,
        path: paths.host(origin.path),
    })
}

fn step(analysis: &Analysis, one: &OriginStep) -> Option<FloatStep> {
    let (module, operation) = operation(analysis, one.kernel, one.step.operation)?;
    Some(FloatStep {
        operation: operation.name.clone(),
        kernel: one.kernel,
        frame: frame(module, operation),
        launch: one.step.launch,
        block: one.step.block,
        thread: one.step.thread,
        allocation: one.allocation,
        offset: one.step.offset,
        passes: one.passes,
    })
}
