//! Solves the ends of loops that the compiler unrolled and whose trip count differs between threads.
//!
//! Such a loop ends when its variable equals the trip count rounded down, as in `8·c + 8 == n & -8`, which is not an
//! affine condition. But the variable increases, and both sides are multiples of 8. For threads that reach the loop, it
//! therefore ends in the first iteration in which `n` exceeds the variable by less than 8, and this stays true in later
//! iterations.

use warpline_format::expression::{Binary, Comparison, ExpressionId, ExpressionKind, LoopId};

use super::form::{Bounds, Form, Truth, counter};
use super::value::Value;
use warpline_profile::model::Addresses;

/// Returns an affine condition that replaces such an end of a loop, given the values of earlier expressions; `None` for
/// other ends.
pub fn end(
    addresses: &Addresses,
    values: &[Value],
    bounds: &Bounds,
    loop_id: LoopId,
    end: ExpressionId,
) -> Option<Truth> {
    let ExpressionKind::Compare(Comparison::Equal, left, right) = addresses.expressions[end as usize].kind else {
        return None;
    };
    [(left, right), (right, left)].into_iter().find_map(|(variable, number)| {
        let Value::Form(variable) = &values[variable as usize] else { return None };
        let (number, step) = rounded_down(addresses, values, bounds, number)?;
        let index = counter(loop_id);
        let in_step = |factor: i64| factor % step == 0;
        if variable.factor(index) <= 0
            || number.factor(index) != 0
            || !in_step(variable.constant)
            || !variable.terms.iter().all(|(_, factor)| in_step(*factor))
        {
            return None;
        }
        let beyond = variable.plus(&Form::number(step - 1), 1)?.plus(number, -1)?;
        Some(Truth::AtLeast(beyond).within(bounds))
    })
}

/// Recognises a non-affine number with its lowest bits cleared. Returns the original number, and the divisor of the
/// result.
fn rounded_down<'a>(
    addresses: &Addresses,
    values: &'a [Value],
    bounds: &Bounds,
    id: ExpressionId,
) -> Option<(&'a Form, i64)> {
    let ExpressionKind::Binary(Binary::And, number, mask) = addresses.expressions[id as usize].kind else {
        return None;
    };
    let (Value::Form(number), Value::Form(mask)) = (&values[number as usize], &values[mask as usize]) else {
        return None;
    };
    if matches!(values[id as usize], Value::Form(_)) {
        return None;
    }
    let mask = mask.as_number().filter(|mask| *mask != 0)?;
    let step = 1i64.checked_shl(mask.trailing_zeros()).filter(|step| *step > 0)?;
    let above = mask.wrapping_add(step);
    let (low, high) = number.range(bounds);
    // The mask keeps all bits from its lowest bit up, or all bits that the number can have.
    let keeps_rest = above == 0 || above > 0 && above & (above - 1) == 0 && low >= 0 && high < i128::from(above);
    keeps_rest.then_some((number, step))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use warpline_format::expression::{Expression, LoopExpression};

    use super::*;
    use crate::evaluated::Evaluated;
    use crate::launch::Launch;

    proptest! {
        /// Checks that each thread's trip count equals its number of complete groups. Thread `x` processes `x + more`
        /// elements in groups of a power of two.
        #[test]
        fn threads_come_to_as_many_iterations_as_they_have_groups(log in 1u32..5, more in 0i64..40, positive in any::<bool>(), size in 1u32..100) {
            let step = 1i64 << log;
            let mut code = Vec::new();
            let mut node = |bits, kind| {
                code.push(Expression { bits, exact: false, kind });
                code.len() as ExpressionId - 1
            };
            let loop_id = node(32, ExpressionKind::Counter(0));
            let by = node(32, ExpressionKind::Constant(step));
            let first = node(32, ExpressionKind::Binary(Binary::Product, loop_id, by));
            let next = node(32, ExpressionKind::Binary(Binary::Sum, first, by));
            let thread = node(32, ExpressionKind::Thread(0));
            let more_of_it = node(32, ExpressionKind::Constant(more));
            let number = node(32, ExpressionKind::Binary(Binary::Sum, thread, more_of_it));
            let mask = if positive { i64::from(i32::MAX) - (step - 1) } else { -step };
            let mask = node(32, ExpressionKind::Constant(mask));
            let whole = node(32, ExpressionKind::Binary(Binary::And, number, mask));
            let end = node(1, ExpressionKind::Compare(Comparison::Equal, whole, next));
            let loops = vec![LoopExpression { line: 1, around: Vec::new(), ends: vec![end] }];
            let addresses = Addresses { expressions: code, loops, ..Addresses::default() };
            let launch = Launch::new([size, 1, 1], [1; 3], Default::default());
            let evaluated = Evaluated::new(&addresses, &launch);
            // A number that is affine or equal for all threads does not need this rule, and a thread without a complete
            // group does not reach the loop.
            prop_assume!((i64::from(size) - 1 + more) / step > more / step);
            let Ok(reached) = &evaluated.loops[0] else { panic!("{:?}", evaluated.loops[0]) };
            let most = evaluated.bounds.range(counter(0)).1;
            for x in 0..i64::from(size) {
                let groups = (x + more) / step;
                // Threads without a complete group do not reach the loop.
                for loop_id in 0..=most {
                    let mut here = evaluated.bounds.clone();
                    here.0[0] = (x, x);
                    here.0[counter(0)] = (loop_id, loop_id);
                    let comes = reached.as_ref().is_none_or(|truth| truth.over(&here) == Some(true));
                    prop_assert!(groups == 0 || comes == (loop_id < groups), "thread {}, iteration {} of {}", x, loop_id, groups);
                }
                prop_assert!(groups <= most + 1);
            }
        }
    }
}
