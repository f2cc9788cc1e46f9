//! Loops that start at the thread's own index: accesses are expressed in the loop variable instead of the iteration
//! number (loop skewing: Wolfe, Parallel Computing 3(1), 1986).
//!
//! In `for (j = i; j < n; j++) a[j * n + i]` the address moves by `n + 1` elements from thread to thread and by `n`
//! from iteration to iteration. A box of such multiples does not show that threads share sectors in different
//! iterations. Expressed in `j` instead of `j - i`, the accesses are rows and columns that end at the loop's bound.

use super::footprints::conjuncts;
use crate::form::{Bounds, FIXED, Form, Index, Truth};
use crate::traffic::access::MemoryAccess;

/// A loop variable: a multiple of the loop's counter plus indices of threads and blocks.
struct Counted {
    counter: Index,
    step: i64,
    start: Form,
}

/// Returns accesses that use loop variables as counters wherever this makes strides smaller, and the ranges of these
/// variables. Returns `None` if it makes no stride smaller.
pub fn skewed(accesses: &[MemoryAccess], bounds: &Bounds) -> Option<(Vec<MemoryAccess>, Bounds)> {
    let mut found: Option<(Vec<MemoryAccess>, Bounds)> = None;
    for counter in FIXED..bounds.0.len() {
        let (now, ranges) = found.as_ref().map_or((accesses, bounds), |(accesses, bounds)| (accesses, bounds));
        let next = numbers(now, counter).into_iter().find_map(|number| number.in_place(now, ranges));
        found = next.or(found);
    }
    found
}

/// Finds the loop variables that a loop's bounds compare with a value that is equal for all threads.
fn numbers(accesses: &[MemoryAccess], counter: Index) -> Vec<Counted> {
    let mut found: Vec<Counted> = Vec::new();
    for access in accesses.iter().filter(|access| access.counters.contains(&counter)) {
        conjuncts(&access.condition, &mut |part| {
            let Truth::AtLeast(form) = part else { return };
            let step = form.factor(counter);
            let others: Vec<(Index, i64)> = form.terms.iter().copied().filter(|term| term.0 != counter).collect();
            if step == 0 || others.is_empty() || others.iter().any(|(index, _)| *index >= FIXED) {
                return;
            }
            let others = Form { constant: 0, terms: others };
            // Variables that do not fit into 64 bits are ignored.
            let (Some(start), Some(step)) = (others.times(step.signum()), step.checked_abs()) else { return };
            if found.iter().all(|known| known.start != start) {
                found.push(Counted { counter, step, start });
            }
        });
    }
    found
}

impl Counted {
    /// Replaces the counter in a form by this variable; `None` if the factor is not divisible by the step.
    fn substitute(&self, form: &Form) -> Option<Form> {
        let factor = form.factor(self.counter);
        if factor % self.step != 0 {
            return None;
        }
        // `factor · counter = each · (number - start)`.
        let each = factor / self.step;
        let rest = form.at(self.counter, 0)?.plus(&self.start, each.checked_neg()?)?;
        rest.plus(&Form::index(self.counter), each)
    }

    /// Returns all accesses in this variable; `None` if no stride becomes smaller, or if some stride becomes larger.
    fn in_place(&self, accesses: &[MemoryAccess], bounds: &Bounds) -> Option<(Vec<MemoryAccess>, Bounds)> {
        let range = self.start.range(bounds);
        let (low, high) = bounds.range(self.counter);
        let first = i64::try_from(range.0).ok()?.checked_add(low.checked_mul(self.step)?)?;
        let last = i64::try_from(range.1).ok()?.checked_add(high.checked_mul(self.step)?)?;
        // The variable has its start value in the first iteration.
        let number = Form::index(self.counter).plus(&self.start, -1)?;
        let begun = Truth::AtLeast(number.plus(&Form::number(low.checked_mul(self.step)?), -1)?);
        let ended = Truth::AtLeast(Form::number(high.checked_mul(self.step)?).plus(&number, -1)?);
        let mut bounds = bounds.clone();
        bounds.0[self.counter] = (first, last);
        let mut is_smaller = false;
        let each = accesses.iter().map(|access| {
            if !access.counters.contains(&self.counter) {
                return Some(access.clone());
            }
            let form = self.substitute(&access.form)?;
            for (index, _) in &self.start.terms {
                let (before, after) = (access.form.factor(*index).unsigned_abs(), form.factor(*index).unsigned_abs());
                // Indices with equal strides are already merged.
                is_smaller |= 0 < after && after < before;
                if after > before {
                    return None;
                }
            }
            let condition = access.condition.map(&|form| self.substitute(form))?;
            let condition = Truth::All(vec![condition, begun.clone(), ended.clone()]);
            Some(MemoryAccess { form, condition, ..access.clone() })
        });
        let found: Vec<MemoryAccess> = each.collect::<Option<_>>()?;
        // The range of the variable is the range that all conditions imply.
        let ends = |access: &MemoryAccess| {
            let mut most = last;
            conjuncts(&access.condition, &mut |part| {
                if let Truth::AtLeast(Form { constant, terms }) = part
                    && let [(index, -1)] = terms[..]
                    && index == self.counter
                {
                    most = most.min(*constant);
                }
            });
            most
        };
        let own = found.iter().filter(|access| access.counters.contains(&self.counter));
        bounds.0[self.counter].1 = own.map(ends).max().unwrap_or(last);
        let within = |access: MemoryAccess| MemoryAccess { condition: access.condition.within(&bounds), ..access };
        is_smaller.then(|| (found.into_iter().map(within).collect(), bounds.clone()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::form::THREADS;
    use crate::traffic::footprint::{Footprints, boxes};

    /// Tests `for (j = i; j < n; j++) a[j * n + i]` with blocks of 32 threads.
    #[test]
    fn upper_triangles_are_rows_and_columns() {
        let (n, threads) = (300i64, 32i64);
        let blocks = (n + threads - 1) / threads;
        let own = |factor: i64| vec![(0, factor), (THREADS, factor * threads)];
        let with = |mut terms: Vec<(Index, i64)>, factor: i64| {
            terms.push((FIXED, factor));
            terms
        };
        let goes_on = Truth::AtLeast(Form { constant: n - 1, terms: with(own(-1), -1) });
        let inside = Truth::AtLeast(Form { constant: n - 1, terms: own(-1) });
        let form = Form { constant: 1 << 20, terms: with(own(4 * (n + 1)), 4 * n) };
        let access =
            MemoryAccess { counters: vec![FIXED], ..MemoryAccess::load(form, Truth::All(vec![inside, goes_on]), 4) };
        let mut bounds = Bounds(vec![(0, 0); FIXED + 1]);
        (bounds.0[0], bounds.0[THREADS], bounds.0[FIXED]) = ((0, threads - 1), (0, blocks - 1), (0, n - 1));
        let (found, ranges) = skewed(&[access], &bounds).expect("it is a triangle");
        assert_eq!(ranges.range(FIXED), (0, n - 1));
        let want: BTreeSet<i64> =
            (0..n).flat_map(|i| (i..n).map(move |j| ((1 << 20) + 4 * (j * n + i)) / 32)).collect();
        let all = boxes(0, blocks as u64, [blocks as u32, 1, 1]);
        let got = Footprints::new(&found, &ranges).union(|_| true, &all, 32).sectors;
        let want = want.len() as f64;
        assert!(got >= 0.99 * want && got <= 1.1 * want, "{got} of {want}");
    }

    /// In a lower triangle that is read along its rows, this substitution would increase the distance between rows.
    #[test]
    fn larger_strides_are_left_alone() {
        let inside = Truth::AtLeast(Form { constant: 0, terms: vec![(0, 1), (FIXED, -1)] });
        let form = Form { constant: 0, terms: vec![(0, 400), (FIXED, 4)] };
        let access = MemoryAccess { counters: vec![FIXED], ..MemoryAccess::load(form, inside, 4) };
        let bounds = Bounds(vec![(0, 99); FIXED + 1]);
        assert!(skewed(&[access], &bounds).is_none());
    }
}
