//! Builds the profile's rows of allocations whose elements were rounded.

use std::collections::BTreeMap;

use super::rows::{Paths, chain_place, op_name};
use crate::model::{ComparedResult, RoundedAllocation, RoundedElement, RoundedWrites, RoundingErrors, UnroundedAccess};
use warpline_analyzer::analysis::{Analysis, ComparedSum, RoundedWriter};
use warpline_format::operation::FloatFormat;
use warpline_format::rounding::{Example, RoundingErrors as Recorded};
use warpline_format::values::{Element, ElementKind};

/// Returns the allocations with their errors.
pub(super) fn rows(analysis: &Analysis, paths: &mut Paths<'_>) -> Vec<RoundedAllocation> {
    let mut rows: BTreeMap<u64, RoundedAllocation> = BTreeMap::new();
    for (&allocation, &(from, to)) in &analysis.roundings.allocations {
        let row = rows.entry(allocation).or_default();
        (row.from, row.to) = (format_name(from), to.name().to_owned());
    }
    for (&(allocation, writer), errors) in &analysis.roundings.errors {
        if let Some(row) = writes(analysis, paths, writer, errors) {
            rows.entry(allocation).or_default().add_writes(row);
        }
    }
    for &(allocation, kernel, site) in &analysis.roundings.others {
        if let Some(other) = other(analysis, kernel, site) {
            rows.entry(allocation).or_default().add_other(other);
        }
    }
    let numbered = |(allocation, row)| RoundedAllocation { allocation, ..row };
    let mut rows: Vec<RoundedAllocation> = rows.into_iter().map(numbered).collect();
    RoundedAllocation::sort(&mut rows);
    rows
}

/// Returns the copies to the host that were compared with a run without rounding.
pub(super) fn results(analysis: &Analysis, paths: &mut Paths<'_>) -> Vec<ComparedResult> {
    let finite = |value: f64| if value.is_finite() { value } else { 0.0 };
    let row = |(&(allocation, path), sum): (&(u64, u32), &ComparedSum)| {
        let differences = &sum.differences;
        let mut row = ComparedResult {
            allocation,
            path: paths.host(path),
            copies: sum.copies,
            element: sum.element.name(),
            elements: differences.elements,
            different: differences.different,
            not_finite: differences.not_finite,
            from_zero: differences.from_zero,
            largest_difference: finite(differences.largest),
            mean_difference: 0.0,
            difference_sum: finite(differences.sum),
            worst: differences.worst.map(element),
        };
        row.set_mean();
        row
    };
    let mut rows: Vec<ComparedResult> = analysis.roundings.results.iter().map(row).collect();
    ComparedResult::sort(&mut rows);
    rows
}

fn element(example: Example) -> RoundedElement {
    let value = if example.value.is_finite() { example.value } else { 0.0 };
    RoundedElement { element: example.element, value, launch: example.launch }
}

fn format_name(format: FloatFormat) -> String {
    Element { kind: ElementKind::Float(format), bytes: format.bits() / 8 }.name()
}

fn writes(
    analysis: &Analysis,
    paths: &mut Paths<'_>,
    writer: RoundedWriter,
    recorded: &Recorded,
) -> Option<RoundedWrites> {
    let errors = errors(recorded);
    let named = |writer: &str| RoundedWrites { writer: writer.to_owned(), errors, ..RoundedWrites::default() };
    Some(match writer {
        RoundedWriter::Site(kernel, site) => {
            let module = analysis.modules.get(&analysis.kernels.get(kernel as usize)?.module)?;
            let site = module.table.sites.get(site as usize)?;
            let frame = chain_place(module, &site.chain).user;
            RoundedWrites { kernel: Some(kernel), frame, ..named("store") }
        }
        RoundedWriter::Kernel(kernel) => RoundedWrites { kernel: Some(kernel), ..named("kernel") },
        RoundedWriter::Copy(path) => RoundedWrites { path: paths.host(path), ..named("copy") },
        RoundedWriter::Fill(path) => RoundedWrites { path: paths.host(path), ..named("fill") },
        RoundedWriter::Host => named("host"),
    })
}

fn other(analysis: &Analysis, kernel: u32, site: u32) -> Option<UnroundedAccess> {
    let module = analysis.modules.get(&analysis.kernels.get(kernel as usize)?.module)?;
    let element = module.table.element(site).name();
    let site = module.table.sites.get(site as usize)?;
    let frame = chain_place(module, &site.chain).user;
    Some(UnroundedAccess { kernel, frame, op: op_name(site.op).to_owned(), element })
}

/// Returns errors with finite numbers, whatever the trace contains.
fn errors(recorded: &Recorded) -> RoundingErrors {
    let finite = |value: f64| if value.is_finite() { value } else { 0.0 };
    let mut errors = RoundingErrors {
        elements: recorded.elements,
        inexact: recorded.inexact,
        overflows: recorded.overflows,
        zeros: recorded.zeros,
        subnormals: recorded.subnormals,
        largest_error: finite(recorded.largest),
        error_sum: finite(recorded.sum),
        mean_error: 0.0,
        worst: recorded.worst.map(element),
        first_overflow: recorded.first_overflow.map(element),
        first_underflow: recorded.first_underflow.map(element),
    };
    errors.set_mean();
    errors
}
