//! Decides whether a compound condition is true at each point of a box. An example is a condition whose parts are true
//! on different sides of a border.

use super::form::{Bounds, Form, Index, Truth};

/// Maximum number of different directions of the condition's forms.
const MOST_DIRECTIONS: usize = 3;
/// Maximum number of combinations of values that are tried.
const MOST_COMBINATIONS: usize = 1 << 9;

/// A linear term that several forms of a condition share, up to a constant and the sign.
struct Direction {
    terms: Vec<(Index, i64)>,
    /// Values of the term that represent all others as far as these forms distinguish them.
    values: Vec<i128>,
}

/// Returns whether a condition is true at every point of a box. If forms of different directions decide together, the
/// function may miss that; a positive answer is always correct.
pub fn is_true_throughout(truth: &Truth, bounds: &Bounds) -> bool {
    match truth.over(bounds) {
        Some(known) => known,
        None => by_directions(truth, bounds).unwrap_or(false),
    }
}

/// Returns `None` if there are too many combinations.
fn by_directions(truth: &Truth, bounds: &Bounds) -> Option<bool> {
    let mut directions: Vec<Direction> = Vec::new();
    let mut forms = Vec::new();
    truth.forms(&mut |form| forms.push(form));
    for form in forms {
        let (terms, sign) = directed(form);
        let place = match directions.iter().position(|known| known.terms == terms) {
            Some(place) => place,
            None if directions.len() == MOST_DIRECTIONS => return None,
            None => {
                let low = Form { constant: 0, terms: terms.clone() }.range(bounds).0;
                directions.push(Direction { terms, values: vec![low] });
                directions.len() - 1
            }
        };
        // Values at which the form becomes 0, and at which it becomes positive.
        let zero = -i128::from(sign) * i128::from(form.constant);
        directions[place].values.extend([zero - 1, zero, zero + 1]);
    }
    for direction in &mut directions {
        let (low, high) = Form { constant: 0, terms: direction.terms.clone() }.range(bounds);
        direction.values.retain(|value| (low..=high).contains(value));
        direction.values.sort_unstable();
        direction.values.dedup();
    }
    let all: usize = directions.iter().map(|direction| direction.values.len()).product();
    if all > MOST_COMBINATIONS {
        return None;
    }
    for number in 0..all {
        let mut rest = number;
        let at: Vec<(&[(Index, i64)], i128)> = directions
            .iter()
            .map(|Direction { terms, values }| {
                let value = values[rest % values.len()];
                rest /= values.len();
                (&terms[..], value)
            })
            .collect();
        if !holds(truth, &at) {
            return Some(false);
        }
    }
    Some(true)
}

/// Returns a form's terms with a positive first factor, and the sign that was applied.
fn directed(form: &Form) -> (Vec<(Index, i64)>, i64) {
    let sign = form.terms.first().map_or(1, |(_, factor)| factor.signum());
    (form.terms.iter().map(|(index, factor)| (*index, factor * sign)).collect(), sign)
}

/// Returns whether a condition is true if the directions of its forms have these values.
fn holds(truth: &Truth, at: &[(&[(Index, i64)], i128)]) -> bool {
    let value = |form: &Form| {
        let (terms, sign) = directed(form);
        let known = at.iter().find(|(direction, _)| *direction == terms).map_or(0, |(_, value)| *value);
        i128::from(sign) * known + i128::from(form.constant)
    };
    match truth {
        Truth::Known(known) => *known,
        Truth::AtLeast(form) => value(form) >= 0,
        Truth::Zero(form) => value(form) == 0,
        Truth::All(parts) => parts.iter().all(|part| holds(part, at)),
        Truth::Any(parts) => parts.iter().any(|part| holds(part, at)),
        Truth::Not(part) => !holds(part, at),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sides_of_a_border_are_all() {
        let form = |constant, x| Form { constant, terms: vec![(0, x)] };
        let bounds = Bounds(vec![(0, 9), (0, 9)]);
        // The first condition is `x >= 5` or `x < 5`; the second one has a gap at 5.
        let sides = |below| Truth::Any(vec![Truth::AtLeast(form(-5, 1)), Truth::AtLeast(form(below, -1))]);
        assert!(is_true_throughout(&sides(4), &bounds));
        assert!(!is_true_throughout(&sides(3), &bounds));
        let with = |truth| Truth::Any(vec![Truth::All(vec![sides(4), truth]), Truth::AtLeast(form(-20, 1))]);
        assert!(is_true_throughout(&with(Truth::AtLeast(form(0, 1))), &bounds));
        assert!(!is_true_throughout(&with(Truth::Zero(Form { constant: 0, terms: vec![(1, 1)] })), &bounds));
    }

    fn truth() -> impl Strategy<Value = Truth> {
        let form = (-6i64..6, prop_oneof![Just((1, 0)), Just((-1, 0)), Just((0, 1)), Just((-1, 1)), Just((1, -1))]);
        let form = form.prop_map(|(constant, (x, y))| Form {
            constant,
            terms: [(0, x), (1, y)].into_iter().filter(|term| term.1 != 0).collect(),
        });
        let leaf = prop_oneof![3 => form.clone().prop_map(Truth::AtLeast), 1 => form.prop_map(Truth::Zero)];
        leaf.prop_recursive(3, 10, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 1..3).prop_map(Truth::All),
                prop::collection::vec(inner.clone(), 1..4).prop_map(Truth::Any),
                inner.prop_map(|part| Truth::Not(Box::new(part))),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_said_to_hold_does(truth in truth()) {
            let bounds = Bounds(vec![(-2, 4), (0, 3)]);
            let said = is_true_throughout(&truth, &bounds);
            let everywhere = (-2..=4).all(|x| (0..=3).all(|y| truth.over(&Bounds(vec![(x, x), (y, y)])) == Some(true)));
            prop_assert!(!said || everywhere);
        }
    }
}
