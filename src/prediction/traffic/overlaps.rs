//! Moves arrays that would overlap. A predicted launch has its arrays at the addresses of the recorded run; if arrays
//! become larger, they would overlap there.

use std::borrow::Cow;

use super::access::MemoryAccess;
use crate::form::Bounds;

/// Arrays are moved by multiples of this many bytes, so that lines, sectors and the sets of small caches stay the same.
const STEP: i64 = 1 << 30;

/// Returns accesses whose arrays do not overlap. Returns them unchanged if no arrays overlap, or if some address cannot
/// be moved.
pub(super) fn without_overlaps<'a>(accesses: &'a [MemoryAccess], bounds: &Bounds) -> Cow<'a, [MemoryAccess]> {
    if accesses.iter().any(|access| !access.is_affine()) {
        return Cow::Borrowed(accesses);
    }
    // For each array: its number, first and last byte.
    let mut arrays: Vec<(usize, i128, i128)> = Vec::new();
    for access in accesses {
        let (low, high) = access.form.range(bounds);
        let high = high + i128::from(access.bytes) - 1;
        match arrays.iter_mut().find(|array| array.0 == access.allocation) {
            Some((_, first, last)) => (*first, *last) = ((*first).min(low), (*last).max(high)),
            None => arrays.push((access.allocation, low, high)),
        }
    }
    arrays.sort_unstable_by_key(|&(number, first, _)| (first, number));
    let mut moved: Vec<(usize, i64)> = Vec::new();
    let mut end = i128::MIN;
    for (number, first, last) in arrays {
        let by = if first > end { 0 } else { ((end - first) / i128::from(STEP) + 1) * i128::from(STEP) };
        let Ok(by) = i64::try_from(by) else { return Cow::Borrowed(accesses) };
        end = end.max(last + i128::from(by));
        if by > 0 {
            moved.push((number, by));
        }
    }
    if moved.is_empty() {
        return Cow::Borrowed(accesses);
    }
    let mut accesses = accesses.to_vec();
    for access in &mut accesses {
        let by = moved.iter().find(|moved| moved.0 == access.allocation).map_or(0, |moved| moved.1);
        access.form.constant = access.form.constant.saturating_add(by);
    }
    Cow::Owned(accesses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::{Form, Truth};

    #[test]
    fn arrays_that_have_grown_into_each_other_are_moved() {
        let access = |allocation: usize, constant: i64| MemoryAccess {
            allocation,
            ..MemoryAccess::load(Form { constant, terms: vec![(0, 128)] }, Truth::Known(true), 4)
        };
        let all = [access(0, 4096), access(1, 8192), access(0, 4100), access(2, 1 << 40)];
        // Arrays of 4 KiB are adjacent; arrays of 8 KiB overlap.
        let bounds = |count: i64| Bounds(vec![(0, count - 1)]);
        assert!(matches!(without_overlaps(&all, &bounds(32)), Cow::Borrowed(_)));
        let moved = without_overlaps(&all, &bounds(64));
        let constants: Vec<i64> = moved.iter().map(|access| access.form.constant).collect();
        assert_eq!(constants, [4096, 8192 + STEP, 4100, 1 << 40]);
    }
}
