//! Indices that move an address along one direction of an array.

use crate::form::{Bounds, Form, Index};

/// One or two indices that move an address along one direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Direction {
    pub(super) thread: Option<Index>,
    pub(super) block: Option<Index>,
    /// Number of values of the thread's index; the block's index continues after them.
    pub(super) size: i64,
    pub(super) factor: i64,
    /// Range of both indices combined.
    pub(super) low: i64,
    pub(super) high: i64,
    /// Minimum and maximum that the later directions add.
    pub(super) rest: (i64, i64),
    inverse: f64,
}

impl Direction {
    pub(super) fn new(
        thread: Option<Index>,
        block: Option<Index>,
        size: i64,
        factor: i64,
        (low, high): (i64, i64),
    ) -> Direction {
        Direction { thread, block, size, factor, low, high, rest: (0, 0), inverse: 1.0 / factor.unsigned_abs() as f64 }
    }

    /// Returns whether two directions move an address in the same way, regardless of their ranges.
    pub(super) fn is_like(&self, other: &Direction) -> bool {
        let own = |one: &Direction| (one.thread, one.block, one.size, one.factor);
        own(self) == own(other)
    }

    /// Returns this direction with its values increased by `by`.
    pub(super) fn shifted(&self, by: i64) -> Direction {
        Direction { low: self.low + by, high: self.high + by, ..*self }
    }

    /// Removes values for which a form is negative. Returns whether that was possible; the form must depend on this
    /// direction only.
    pub(super) fn cut(&mut self, form: &Form, bounds: &Bounds) -> bool {
        let (factor, step) = match (self.thread, self.block) {
            (Some(thread), Some(block)) => {
                (form.factor(thread), Some((block, form.factor(thread).checked_mul(self.size))))
            }
            (Some(index), None) | (None, Some(index)) => (form.factor(index), None),
            (None, None) => return false,
        };
        let is_own = |index: Index| Some(index) == self.thread || Some(index) == self.block;
        let goes_on = step.is_none_or(|(block, step)| Some(form.factor(block)) == step);
        if factor == 0 || !goes_on || form.terms.iter().any(|&(index, _)| !is_own(index) && bounds.extent(index) > 1) {
            return false;
        }
        let others = form.terms.iter().filter(|term| !is_own(term.0));
        let constant = others.fold(i128::from(form.constant), |sum, &(index, factor)| {
            sum + i128::from(factor) * i128::from(bounds.range(index).0)
        });
        let each = i128::from(factor);
        // The lower bound is rounded up, the upper bound down.
        let (low, high) = (i128::from(self.low), i128::from(self.high));
        let (low, high) = match each > 0 {
            true => (low.max(-constant.div_euclid(each)), high),
            false => (low, high.min(constant.div_euclid(-each))),
        };
        // No value is left if the bounds cross.
        (self.low, self.high) = if low > high { (1, 0) } else { (low as i64, high as i64) };
        true
    }

    /// Returns the values whose multiples lie in a window.
    #[inline(always)]
    pub(super) fn within(&self, (least, most): (i64, i64)) -> (i64, i64) {
        let (first, last) = match self.factor > 0 {
            true => (-self.floor(-least), self.floor(most)),
            false => (-self.floor(most), self.floor(-least)),
        };
        (first.max(self.low), last.min(self.high))
    }

    /// Returns the quotient by the factor's absolute value, rounded down. Values are below 2^53, so the floating-point
    /// result is off by at most one.
    #[inline(always)]
    fn floor(&self, value: i64) -> i64 {
        let by = self.factor.abs();
        let near = (value as f64 * self.inverse) as i64;
        let left = value - near * by;
        near - i64::from(left < 0) + i64::from(left >= by)
    }

    #[inline(always)]
    pub(super) fn set(&self, value: i64, at: &mut [i64]) {
        match (self.thread, self.block) {
            (Some(thread), Some(block)) => {
                let (whole, rest) = ((value as u32) / (self.size as u32), (value as u32) % (self.size as u32));
                (at[block], at[thread]) = (whole.into(), rest.into());
            }
            (Some(index), None) | (None, Some(index)) => at[index] = value,
            (None, None) => {}
        }
    }
}
