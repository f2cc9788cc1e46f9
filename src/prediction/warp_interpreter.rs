//! Evaluates expressions for all lanes of a warp, one operation at a time. It counts accesses that are not affine, and
//! tests compare affine results with it.

use warpline_format::expression::{Binary, Comparison, ExpressionId, ExpressionKind, LoopId};

use super::form::{FIXED, THREADS, block, counter};
use super::interpret::{Order, bits_of, combine, compare, of_launch, wrap};
use super::launch::Launch;
use warpline_profile::model::Addresses;

/// Number of lanes of a warp.
pub const LANES: usize = 32;

/// The value of each lane, and the lanes in which the value is known.
#[derive(Clone, Copy, Debug)]
struct Values {
    known: u32,
    of: [i64; LANES],
}

impl Values {
    const UNKNOWN: Values = Values { known: 0, of: [0; LANES] };

    fn all(value: Option<i64>) -> Values {
        value.map_or(Values::UNKNOWN, |value| Values { known: u32::MAX, of: [value; LANES] })
    }
}

/// Evaluates expressions of a kernel, one warp at a time.
pub struct WarpInterpreter<'a> {
    addresses: &'a Addresses,
    launch: &'a Launch,
    /// Expressions that depend on the thread, and expressions that depend only on other indices. Both are in ascending
    /// order, so operands come first.
    of_threads: Vec<ExpressionId>,
    of_others: Vec<ExpressionId>,
    values: Vec<Values>,
    /// The index values, without the thread's, for which the latter expressions are evaluated.
    others: Vec<i64>,
    /// Counters that have a separate value in each lane.
    by_lane: Vec<(LoopId, [i64; LANES])>,
}

impl<'a> WarpInterpreter<'a> {
    /// Creates an interpreter for `wanted` expressions and their operands. Counters of the loops `by_lane` have a
    /// separate value in each lane.
    pub fn new(
        addresses: &'a Addresses,
        launch: &'a Launch,
        wanted: impl IntoIterator<Item = ExpressionId>,
        by_lane: &[LoopId],
    ) -> Self {
        let Order { of_launch, of_others, of_threads } = Order::new(addresses, wanted, by_lane);
        let values = vec![Values::UNKNOWN; addresses.expressions.len()];
        let by_lane = by_lane.iter().map(|&loop_id| (loop_id, [0; LANES])).collect();
        let mut found =
            WarpInterpreter { addresses, launch, of_threads, of_others, values, others: Vec::new(), by_lane };
        for id in of_launch {
            found.values[id as usize] = found.node(id, &[], &[]);
        }
        found
    }

    /// Evaluates all expressions. `at` has the indices in the order of [`super::form`]; the threads' indices are taken
    /// from `threads`, one entry per lane.
    pub fn set(&mut self, at: &[i64], threads: &[[i64; THREADS]]) {
        let others = at.get(THREADS..).unwrap_or_default();
        if self.others != others || others.is_empty() {
            self.others.clear();
            self.others.extend_from_slice(others);
            for number in 0..self.of_others.len() {
                let id = self.of_others[number];
                self.values[id as usize] = self.node(id, at, threads);
            }
        }
        for number in 0..self.of_threads.len() {
            let id = self.of_threads[number];
            self.values[id as usize] = self.node(id, at, threads);
        }
    }

    /// Evaluates all expressions for one thread, in lane 0. `at` has the indices in the order of [`super::form`].
    #[cfg(test)]
    pub fn set_thread(&mut self, at: &[i64]) {
        let mut thread = [0; THREADS];
        thread.iter_mut().zip(at).for_each(|(own, at)| *own = *at);
        self.set(at, &[thread]);
    }

    /// Returns the value of an expression in lane 0; `None` if it is unknown.
    #[cfg(test)]
    pub fn value(&self, id: ExpressionId) -> Option<i64> {
        let (values, known) = self.values(id);
        (known & 1 == 1).then_some(values[0])
    }

    /// Sets a lane's own counters for the next call of [`WarpInterpreter::set`], from indices in the same order.
    pub fn set_lane(&mut self, lane: usize, at: &[i64]) {
        for (loop_id, values) in &mut self.by_lane {
            values[lane] = at[counter(*loop_id)];
        }
    }

    /// Returns the value of an expression in each lane, and the lanes in which it is known.
    pub fn values(&self, id: ExpressionId) -> (&[i64; LANES], u32) {
        let found = &self.values[id as usize];
        (&found.of, found.known)
    }

    /// Returns the lanes in which a condition is true.
    pub fn holds(&self, id: ExpressionId) -> u32 {
        let Values { known, of } = &self.values[id as usize];
        known & odd(of)
    }

    fn node(&self, id: ExpressionId, at: &[i64], threads: &[[i64; THREADS]]) -> Values {
        let entry = self.addresses.expressions[id as usize];
        let value = |id: ExpressionId| &self.values[id as usize];
        match entry.kind {
            ExpressionKind::Thread(axis) => {
                let mut of = [0; LANES];
                for (of, thread) in of.iter_mut().zip(threads) {
                    *of = thread[usize::from(axis)];
                }
                Values { known: u32::MAX, of }
            }
            ExpressionKind::Block(axis) => Values::all(at.get(block(axis.into())).copied()),
            ExpressionKind::Counter(loop_id) => match self.by_lane.iter().find(|(own, _)| *own == loop_id) {
                Some((_, values)) => Values { known: u32::MAX, of: *values },
                None => Values::all(at.get(FIXED + loop_id as usize).copied()),
            },
            ExpressionKind::Binary(operation, left, right) if entry.bits == 1 => {
                truths(operation, value(left), value(right))
            }
            ExpressionKind::Binary(operation, left, right) => {
                combined(operation, value(left), value(right), entry.bits)
            }
            ExpressionKind::Signed(of) => each(value(of), |value| wrap(value, entry.bits)),
            ExpressionKind::Unsigned(of) => {
                let inner = self.addresses.expressions[of as usize].bits;
                each(value(of), |value| wrap(bits_of(value, inner) as i64, entry.bits))
            }
            ExpressionKind::Compare(comparison, left, right) => {
                let bits = self.addresses.expressions[left as usize].bits;
                compared(comparison, value(left), value(right), bits)
            }
            ExpressionKind::Choice(condition, one, other) => {
                let (condition, one, other) = (value(condition), value(one), value(other));
                let taken = odd(&condition.of);
                let mut of = other.of;
                for (lane, (of, one)) in of.iter_mut().zip(&one.of).enumerate() {
                    *of = if taken >> lane & 1 == 1 { *one } else { *of };
                }
                Values { known: condition.known & (taken & one.known | !taken & other.known), of }
            }
            kind => Values::all(of_launch(self.addresses, self.launch, kind, entry.bits)),
        }
    }
}

/// Returns the lanes whose numbers are odd.
fn odd(of: &[i64; LANES]) -> u32 {
    (0..).zip(of).fold(0, |all, (lane, value)| all | ((value & 1) as u32) << lane)
}

#[inline(always)]
fn each(one: &Values, of: impl Fn(i64) -> i64) -> Values {
    Values { known: one.known, of: one.of.map(of) }
}

#[inline(always)]
fn both(left: &Values, right: &Values, of: impl Fn(i64, i64) -> i64) -> Values {
    let mut found = Values { known: left.known & right.known, of: left.of };
    for (left, right) in found.of.iter_mut().zip(&right.of) {
        *left = of(*left, *right);
    }
    found
}

/// Applies an operation to two numbers of `bits` bits; lanes that divide by zero are unknown.
fn combined(operation: Binary, left: &Values, right: &Values, bits: u8) -> Values {
    match operation {
        Binary::Sum => both(left, right, |left, right| wrap(left.wrapping_add(right), bits)),
        Binary::Difference => both(left, right, |left, right| wrap(left.wrapping_sub(right), bits)),
        Binary::Product => both(left, right, |left, right| wrap(left.wrapping_mul(right), bits)),
        Binary::And => both(left, right, |left, right| wrap(left & right, bits)),
        Binary::Or => both(left, right, |left, right| wrap(left | right, bits)),
        Binary::Xor => both(left, right, |left, right| wrap(left ^ right, bits)),
        Binary::SignedLeast => both(left, right, |left, right| wrap(left.min(right), bits)),
        Binary::SignedGreatest => both(left, right, |left, right| wrap(left.max(right), bits)),
        _ => {
            let mut found = Values { known: 0, of: [0; LANES] };
            let known = left.known & right.known;
            for lane in (0..LANES).filter(|lane| known >> lane & 1 == 1) {
                if let Some(value) = combine(operation, left.of[lane], right.of[lane], bits) {
                    found.of[lane] = value;
                    found.known |= 1 << lane;
                }
            }
            found
        }
    }
}

/// Combines two conditions. An unknown side may not matter.
fn truths(operation: Binary, left: &Values, right: &Values) -> Values {
    let mut found = combined(operation, left, right, 1);
    let (one, other) = (odd(&left.of), odd(&right.of));
    let (decided, value) = match operation {
        Binary::And => (left.known & !one | right.known & !other, 0),
        Binary::Or => (left.known & one | right.known & other, -1),
        _ => return found,
    };
    for lane in (0..LANES).filter(|lane| decided >> lane & 1 == 1) {
        found.of[lane] = value;
    }
    found.known |= decided;
    found
}

fn compared(comparison: Comparison, left: &Values, right: &Values, bits: u8) -> Values {
    match comparison {
        Comparison::SignedLess => both(left, right, |left, right| -i64::from(left < right)),
        Comparison::SignedLessEqual => both(left, right, |left, right| -i64::from(left <= right)),
        Comparison::Equal => both(left, right, |left, right| -i64::from(left == right)),
        Comparison::NotEqual => both(left, right, |left, right| -i64::from(left != right)),
        _ => both(left, right, |left, right| -i64::from(compare(comparison, left, right, bits))),
    }
}
