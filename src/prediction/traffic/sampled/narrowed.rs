//! Ranges of indices that a condition leaves.

use crate::form::{Bounds, Form, Truth};
use crate::traffic::volumes::conjuncts;

/// Rounds in which one range narrows the others.
const ROUNDS: usize = 3;

/// Calls `visit` for each form that is not negative where a condition holds. Whether these say all of it.
pub(super) fn forms(condition: &Truth, visit: &mut impl FnMut(&Form)) -> bool {
    let mut all = true;
    conjuncts(condition, &mut |part| match part {
        Truth::Known(true) => {}
        Truth::AtLeast(form) => visit(form),
        Truth::Zero(form) => match Form::number(0).plus(form, -1) {
            Some(negative) => {
                visit(form);
                visit(&negative);
            }
            None => all = false,
        },
        _ => all = false,
    });
    all
}

/// Ranges without values for which a condition cannot hold, whatever the others are; some are empty where it holds nowhere.
pub(super) fn narrowed(condition: &Truth, bounds: &Bounds) -> Bounds {
    let mut found = bounds.clone();
    for _ in 0..ROUNDS {
        let before = found.clone();
        forms(condition, &mut |form| narrow(form, &mut found));
        if found == before || found.0.iter().any(|(low, high)| low > high) {
            break;
        }
    }
    found
}

/// Leaves out values of each index for which a form is negative.
fn narrow(form: &Form, bounds: &mut Bounds) {
    for &(index, factor) in &form.terms {
        // What the others come to at most.
        let own = Form { constant: 0, terms: vec![(index, factor)] };
        let others = form.range(bounds).1 - own.range(bounds).1;
        let Some(range) = bounds.0.get_mut(index) else { continue };
        let factor = i128::from(factor);
        let (low, high) = (i128::from(range.0), i128::from(range.1));
        let (low, high) = match factor.signum() {
            1 => (low.max(-others.div_euclid(factor)), high),
            -1 => (low, high.min(others.div_euclid(-factor))),
            _ => continue,
        };
        // No value is left where they cross.
        *range = if low > high { (1, 0) } else { (low as i64, high as i64) };
        if low > high {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn edges_are_single_values() {
        // 32 threads in each of 16 blocks, of which the first thread of all, and the last one but two.
        let x = |factor| vec![(0, factor), (6, 32 * factor)];
        let mut bounds = Bounds(vec![(0, 0); 9]);
        (bounds.0[0], bounds.0[6]) = ((0, 31), (0, 15));
        let first = narrowed(&Truth::Zero(Form { constant: 0, terms: x(1) }), &bounds);
        assert_eq!((first.0[0], first.0[6]), ((0, 0), (0, 0)));
        let late = narrowed(&Truth::AtLeast(Form { constant: -509, terms: x(1) }), &bounds);
        assert_eq!((late.0[0], late.0[6]), ((29, 31), (15, 15)));
        let nowhere = narrowed(&Truth::AtLeast(Form { constant: -512, terms: x(1) }), &bounds);
        assert!(nowhere.0.iter().any(|(low, high)| low > high));
    }

    proptest! {
        /// Against all values: none that meets the condition is left out.
        #[test]
        fn no_value_is_lost(constants in [-20i64..20, -20i64..20], factors in [[-3i64..4, -9i64..10], [-3i64..4, -9i64..10]], zero in any::<bool>()) {
            let form = |number: usize| {
                let terms = (0..2).map(|index| (index, factors[number][index])).filter(|term| term.1 != 0).collect();
                Form { constant: constants[number], terms }
            };
            let second = if zero { Truth::Zero(form(1)) } else { Truth::AtLeast(form(1)) };
            let condition = Truth::All(vec![Truth::AtLeast(form(0)), second]);
            let bounds = Bounds(vec![(0, 7), (-2, 5)]);
            let found = narrowed(&condition, &bounds);
            for one in 0..8 {
                for two in -2..6 {
                    let inside = found.0.iter().zip([one, two]).all(|(range, at)| range.0 <= at && at <= range.1);
                    let here = Bounds(vec![(one, one), (two, two)]);
                    prop_assert!(inside || condition.over(&here) != Some(true), "{one} {two}: {:?}", found);
                }
            }
        }
    }
}
