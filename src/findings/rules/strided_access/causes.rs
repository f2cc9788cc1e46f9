//! Accesses of a kernel whose neighbouring threads lie apart for one reason: one change cures them all.

use super::super::super::draft::Draft;
use super::super::super::facts::access::Access;
use super::super::super::facts::{Facts, lane_axis};
use super::cure::{self, Cure};
use super::wording;
use crate::profile::model::ThreadStep;

/// Part of the longer of two strides by which they differ, at most, where both are rows of one matrix, crossed along them or along a diagonal.
const ROWS_ALIKE: f64 = 0.02;

/// An access whose neighbouring threads lie apart.
pub(super) struct Strided<'c, 'a> {
    pub(super) access: &'c Access<'a>,
    pub(super) cure: Cure,
    pub(super) draft: Draft,
}

/// Gives the findings of accesses with a common cause one cure, so that they become one.
pub(super) fn joined(facts: &Facts<'_>, mut found: Vec<Strided<'_, '_>>) -> Vec<Draft> {
    lie_across(facts, &mut found);
    are_exchanged(facts, &mut found);
    cross_one_matrix(facts, &mut found);
    have_one_index(facts, &mut found);
    found.into_iter().map(|one| one.draft).collect()
}

/// Gives the accesses of a kernel whose blocks lie across what lies side by side one cure.
fn lie_across(facts: &Facts<'_>, found: &mut [Strided<'_, '_>]) {
    let across = |Strided { access, .. }: &Strided<'_, '_>| {
        Some((access.kernel.id, elements(access)?, cure::blocks_lie_across(facts, access)?))
    };
    let across: Vec<(u32, i64, usize)> = found.iter().filter_map(across).collect();
    for Strided { access, draft, .. } in found {
        let same = |&&(kernel, stride, _): &&(u32, i64, usize)| {
            kernel == access.kernel.id && elements(access).map(i64::abs) == Some(stride.abs())
        };
        let Some(&(_, _, other)) = across.iter().find(same) else { continue };
        let axis = lane_axis(access.kernel);
        // What the code says of another access's index is so of this one's, which it holds within bounds.
        let is_unknown = access.operand.is_some_and(|operand| operand.thread_steps[axis] == ThreadStep::Other);
        if is_unknown && !access.operand.is_some_and(|operand| operand.loaded_index)
            || cure::blocks_lie_across(facts, access).is_some()
        {
            draft.cure = wording::of_all_across(axis, other);
            draft.one_cause = Some(format!("blocks across {other}"));
        }
    }
}

/// Gives accesses that an index of the grid goes along, which the code does not name, the exchange of indices that others of the same array have which
/// lie as far apart: where one of them is clamped at a border, as a neighbour's place, nothing else tells what moves it.
fn are_exchanged(facts: &Facts<'_>, found: &mut [Strided<'_, '_>]) {
    for at in 0..found.len() {
        let Cure::IndexOfGrid { axis, .. } = found[at].cure else { continue };
        let access = found[at].access;
        let known = found.iter().find_map(|one| match one.cure {
            Cure::Exchange { axis: of_other, .. }
                if of_other == axis
                    && one.access.kernel.id == access.kernel.id
                    && (one.access.allocation, one.access.bytes) == (access.allocation, access.bytes)
                    && elements(one.access).map(i64::abs) == elements(access).map(i64::abs) =>
            {
                Some(one.cure.clone())
            }
            _ => None,
        });
        if let Some(cure) = known.filter(|_| found[at].draft.one_cause.is_none()) {
            let one = &mut found[at];
            one.draft.cure = cure.told(facts, access);
            one.draft.alike = Some(format!("{cure:?}"));
            one.cure = cure;
        }
    }
}

/// Gives the accesses of a loop that cross the rows of one matrix, some of them along a diagonal, one cure.
fn cross_one_matrix(facts: &Facts<'_>, found: &mut [Strided<'_, '_>]) {
    for at in 0..found.len() {
        let first = found[at].access;
        let alike: Vec<usize> = (0..found.len()).filter(|&other| crosses_like(first, found[other].access)).collect();
        let differ =
            alike.iter().any(|&other| elements(found[other].access).map(i64::abs) != elements(first).map(i64::abs));
        if !differ || alike.iter().any(|&other| found[other].draft.one_cause.is_some()) {
            continue;
        }
        let name = first.variable().map_or_else(|| facts.target(first), |name| format!("`{name}`"));
        for other in alike {
            let draft = &mut found[other].draft;
            draft.cure = format!(
                "the threads cross the rows of {name} here, along columns or diagonals: let neighbouring threads take neighbouring elements of it in each iteration, or move tiles of it through shared \
                 memory, neighbouring threads at neighbouring words (rows of a tile padded by one element)"
            );
            draft.one_cause = Some(format!("rows of {name}"));
        }
    }
}

/// Joins the accesses of a kernel to several arrays that one index sets apart by as many elements, where the cure is the same for all of them.
fn have_one_index(facts: &Facts<'_>, found: &mut [Strided<'_, '_>]) {
    let is_known = |access: &Access<'_>| {
        let step = access.operand.map(|operand| &operand.thread_steps[lane_axis(access.kernel)]);
        matches!(step, Some(ThreadStep::Bytes(_) | ThreadStep::Times(_)))
    };
    for at in 0..found.len() {
        let Strided { access: first, cure, draft } = &found[at];
        if draft.one_cause.is_some() || !is_known(first) {
            continue;
        }
        let alike = |one: &Strided<'_, '_>| {
            one.access.kernel.id == first.kernel.id
                && one.draft.one_cause.is_none()
                && elements(one.access) == elements(first)
                && (is_known(one.access) || matches!(cure, Cure::Exchange { .. }))
                && one.cure == *cure
        };
        let all: Vec<usize> = (0..found.len()).filter(|&other| alike(&found[other])).collect();
        let arrays = all.iter().filter(|&&other| found[other].access.allocation != first.allocation).count();
        if arrays > 0 {
            let cause = cure.told(facts, first);
            all.into_iter().for_each(|other| found[other].draft.one_cause = Some(cause.clone()));
        }
    }
}

/// Whether an access goes across the same rows as another of the kernel, both again and again.
fn crosses_like(one: &Access<'_>, other: &Access<'_>) -> bool {
    let long = |access: &Access<'_>| access.pattern.stride_bytes.map(|stride| stride.unsigned_abs() as f64);
    let (Some(first), Some(second)) = (long(one), long(other)) else { return false };
    let is_loop = |access: &Access<'_>| access.sums.requests > super::warps(access.kernel);
    one.kernel.id == other.kernel.id
        && one.allocation.is_some()
        && (one.allocation, one.variable(), one.bytes) == (other.allocation, other.variable(), other.bytes)
        && (first - second).abs() <= ROWS_ALIKE * first.max(second)
        && is_loop(one)
        && is_loop(other)
}

/// Elements from a thread to its neighbour.
fn elements(access: &Access<'_>) -> Option<i64> {
    let bytes = i64::from(access.bytes.max(1));
    access.pattern.stride_bytes.filter(|stride| stride % bytes == 0).map(|stride| stride / bytes)
}
