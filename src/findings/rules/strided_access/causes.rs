//! Accesses of a kernel whose neighbouring threads lie apart for one reason: one change cures them all.

use super::super::super::access::Access;
use super::super::super::context::{Context, lane_axis};
use super::super::super::draft::Draft;
use super::cure;
use crate::profile::model::ThreadStep;

/// Part of the longer of two strides by which they differ, at most, where both are rows of one matrix, crossed along them or along a diagonal.
const ROWS_ALIKE: f64 = 0.02;

/// Gives the findings of accesses with a common cause one cure, so that they become one.
pub(super) fn joined(context: &Context<'_>, mut found: Vec<(&Access<'_>, Draft)>) -> Vec<Draft> {
    let across: Vec<(u32, i64, usize)> = found
        .iter()
        .filter_map(|(access, _)| {
            Some((access.kernel.id, elements(access)?, cure::blocks_lie_across(context, access)?))
        })
        .collect();
    for (access, draft) in &mut found {
        let same = |&&(kernel, stride, _): &&(u32, i64, usize)| {
            kernel == access.kernel.id && elements(access).map(i64::abs) == Some(stride.abs())
        };
        let Some(&(_, _, other)) = across.iter().find(same) else { continue };
        let axis = lane_axis(access.kernel);
        // What the code says of another access's index is so of this one's, which it holds within bounds.
        let is_unknown = access.operand.is_some_and(|operand| operand.thread_steps[axis] == ThreadStep::Other);
        if is_unknown && !access.operand.is_some_and(|operand| operand.loaded_index)
            || cure::blocks_lie_across(context, access).is_some()
        {
            draft.cure = cure::of_all_across(axis, other);
            draft.one_cause = Some(format!("blocks across {other}"));
        }
    }
    cross_one_matrix(context, &mut found);
    have_one_index(&mut found);
    found.into_iter().map(|(_, draft)| draft).collect()
}

/// Gives the accesses of a loop that cross the rows of one matrix, some of them along a diagonal, one cure.
fn cross_one_matrix(context: &Context<'_>, found: &mut [(&Access<'_>, Draft)]) {
    for at in 0..found.len() {
        let (first, _) = &found[at];
        let first = *first;
        let alike: Vec<usize> = (0..found.len()).filter(|&other| crosses_like(first, found[other].0)).collect();
        let differ = alike.iter().any(|&other| elements(found[other].0).map(i64::abs) != elements(first).map(i64::abs));
        if !differ || alike.iter().any(|&other| found[other].1.one_cause.is_some()) {
            continue;
        }
        let name = first.variable().map_or_else(|| context.target(first), |name| format!("`{name}`"));
        for other in alike {
            let draft = &mut found[other].1;
            draft.cure = format!(
                "the threads cross the rows of {name} here, along columns or diagonals: let neighbouring threads take neighbouring elements of it in each iteration, or move tiles of it through shared \
                 memory, neighbouring threads at neighbouring words (rows of a tile padded by one element)"
            );
            draft.one_cause = Some(format!("rows of {name}"));
        }
    }
}

/// Joins the accesses of a kernel to several arrays that one index sets apart by as many elements, where the cure is the same for all of them.
fn have_one_index(found: &mut [(&Access<'_>, Draft)]) {
    let plain = |access: &Access<'_>, draft: &Draft| {
        let cure = draft.cure.replace("write", "read");
        access.variable().map_or(cure.clone(), |name| cure.replace(&format!("`{name}`"), "_"))
    };
    for at in 0..found.len() {
        if found[at].1.one_cause.is_some() {
            continue;
        }
        let (first, draft) = &found[at];
        let (first, cure) = (*first, plain(first, draft));
        let is_known = |access: &Access<'_>| {
            let step = access.operand.map(|operand| &operand.thread_steps[lane_axis(access.kernel)]);
            matches!(step, Some(ThreadStep::Bytes(_) | ThreadStep::Times(_)))
        };
        let alike = |(access, draft): &(&Access<'_>, Draft)| {
            access.kernel.id == first.kernel.id
                && draft.one_cause.is_none()
                && elements(access) == elements(first)
                && is_known(access)
                && plain(access, draft) == cure
        };
        let all: Vec<usize> = (0..found.len()).filter(|&other| is_known(first) && alike(&found[other])).collect();
        let arrays = all.iter().filter(|&&other| found[other].0.allocation != first.allocation).count();
        if arrays > 0 {
            all.into_iter().for_each(|other| found[other].1.one_cause = Some(cure.clone()));
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
