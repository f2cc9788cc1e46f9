//! Affine forms over the indices of a launch, and the ranges of these indices.

/// Number of an index. Indices of threads come first (`threadIdx.x`, `.y`, `.z`, and further ones if a thread number is
/// divided), then `blockIdx.x`, `.y`, `.z`, then loop counters.
pub type Index = usize;

/// Number of thread indices.
pub const THREADS: usize = 6;
/// Number of indices before the loop counters.
pub const FIXED: usize = THREADS + 3;

/// Returns the index number of `threadIdx` along an axis.
pub fn thread(axis: usize) -> Index {
    axis
}

/// Returns the index number of `blockIdx` along an axis.
pub fn block(axis: usize) -> Index {
    THREADS + axis
}

/// Returns the index number of a loop's counter.
pub fn counter(loop_id: u32) -> Index {
    FIXED + loop_id as usize
}

/// An affine form: a constant plus multiples of indices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Form {
    /// The constant.
    pub constant: i64,
    /// Index and factor of each term, sorted by index. No factor is 0.
    pub terms: Vec<(Index, i64)>,
}

impl Form {
    /// Returns a constant form.
    pub fn number(constant: i64) -> Form {
        Form { constant, terms: Vec::new() }
    }

    /// Returns the form of a single index.
    pub fn index(index: Index) -> Form {
        Form { constant: 0, terms: vec![(index, 1)] }
    }

    /// Returns the constant if the form has no indices.
    pub fn as_number(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// Returns the factor of an index.
    pub fn factor(&self, index: Index) -> i64 {
        self.terms.binary_search_by_key(&index, |term| term.0).map_or(0, |at| self.terms[at].1)
    }

    /// Returns `self + factor · other`; `None` on overflow of 64 bits.
    pub fn plus(&self, other: &Form, factor: i64) -> Option<Form> {
        let constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut left, mut right) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let next = match (left.peek(), right.peek()) {
                (Some(&&(one, by)), Some(&&(two, of))) if one == two => {
                    left.next();
                    right.next();
                    (one, by.checked_add(of.checked_mul(factor)?)?)
                }
                (Some(&&(one, _)), Some(&&(two, of))) if two < one => {
                    right.next();
                    (two, of.checked_mul(factor)?)
                }
                (Some(&&(one, by)), _) => {
                    left.next();
                    (one, by)
                }
                (None, Some(&&(two, of))) => {
                    right.next();
                    (two, of.checked_mul(factor)?)
                }
                (None, None) => break,
            };
            if next.1 != 0 {
                terms.push(next);
            }
        }
        Some(Form { constant, terms })
    }

    /// Returns a multiple of the form.
    pub fn times(&self, factor: i64) -> Option<Form> {
        Form::default().plus(self, factor)
    }

    /// Returns the form in which an index is replaced by `index + by`.
    pub fn shifted(&self, index: Index, by: i64) -> Option<Form> {
        let moved = self.factor(index).checked_mul(by)?;
        Some(Form { constant: self.constant.checked_add(moved)?, terms: self.terms.clone() })
    }

    /// Returns the form in which an index is replaced by a number.
    pub fn at(&self, index: Index, value: i64) -> Option<Form> {
        let moved = self.factor(index).checked_mul(value)?;
        let terms = self.terms.iter().copied().filter(|term| term.0 != index).collect();
        Some(Form { constant: self.constant.checked_add(moved)?, terms })
    }

    /// Returns the smallest and the largest value over a box.
    pub fn range(&self, bounds: &Bounds) -> (i128, i128) {
        let mut range = (i128::from(self.constant), i128::from(self.constant));
        for &(index, factor) in &self.terms {
            let (low, high) = bounds.range(index);
            let (one, two) = (i128::from(low) * i128::from(factor), i128::from(high) * i128::from(factor));
            range = (range.0 + one.min(two), range.1 + one.max(two));
        }
        range
    }
}

/// Inclusive ranges of all indices. The high end of an empty range is below its low end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds(pub Vec<(i64, i64)>);

impl Bounds {
    /// Returns the range of an index.
    pub fn range(&self, index: Index) -> (i64, i64) {
        self.0.get(index).copied().unwrap_or((0, 0))
    }

    /// Returns the first value of each index.
    pub fn firsts(&self) -> Vec<i64> {
        self.0.iter().map(|range| range.0).collect()
    }

    /// Returns the number of values in the range of an index.
    pub fn extent(&self, index: Index) -> i64 {
        let (low, high) = self.range(index);
        (high - low + 1).max(0)
    }
}

/// A condition on indices.
#[derive(Clone, Debug, PartialEq)]
pub enum Truth {
    /// The condition is always or never true.
    Known(bool),
    /// The form is not negative.
    AtLeast(Form),
    /// The form is 0.
    Zero(Form),
    /// All parts are true.
    All(Vec<Truth>),
    /// At least one part is true.
    Any(Vec<Truth>),
    /// The part is false.
    Not(Box<Truth>),
}

impl Truth {
    /// Returns the truth value over a whole box; `None` if it differs within the box.
    pub fn over(&self, bounds: &Bounds) -> Option<bool> {
        match self {
            Truth::Known(known) => Some(*known),
            Truth::AtLeast(form) => match form.range(bounds) {
                (low, _) if low >= 0 => Some(true),
                (_, high) if high < 0 => Some(false),
                _ => None,
            },
            Truth::Zero(form) => match form.range(bounds) {
                (0, 0) => Some(true),
                (low, high) if low > 0 || high < 0 => Some(false),
                _ => None,
            },
            Truth::All(parts) => {
                let mut all = Some(true);
                for part in parts {
                    match part.over(bounds) {
                        Some(false) => return Some(false),
                        None => all = None,
                        Some(true) => {}
                    }
                }
                all
            }
            Truth::Any(parts) => {
                let mut any = Some(false);
                for part in parts {
                    match part.over(bounds) {
                        Some(true) => return Some(true),
                        None => any = None,
                        Some(false) => {}
                    }
                }
                any
            }
            Truth::Not(part) => part.over(bounds).map(|known| !known),
        }
    }

    /// Returns the negated condition. Negations are moved inwards as far as possible, so that conjuncts are direct
    /// parts of it.
    pub fn opposite(self) -> Truth {
        match self {
            Truth::Known(known) => Truth::Known(!known),
            Truth::AtLeast(form) => match form.times(-1).and_then(|form| form.plus(&Form::number(1), -1)) {
                Some(below) => Truth::AtLeast(below),
                None => Truth::Not(Box::new(Truth::AtLeast(form))),
            },
            Truth::All(parts) => Truth::Any(parts.into_iter().map(Truth::opposite).collect()),
            Truth::Any(parts) => Truth::All(parts.into_iter().map(Truth::opposite).collect()),
            Truth::Not(part) => *part,
            zero @ Truth::Zero(_) => Truth::Not(Box::new(zero)),
        }
    }

    /// Returns the condition without the parts that are constant in a box.
    pub fn within(&self, bounds: &Bounds) -> Truth {
        if let Some(known) = self.over(bounds) {
            return Truth::Known(known);
        }
        match self {
            Truth::All(parts) => {
                let left = parts.iter().map(|part| part.within(bounds)).filter(|part| *part != Truth::Known(true));
                one_of(left.collect(), Truth::All)
            }
            Truth::Any(parts) => {
                let left = parts.iter().map(|part| part.within(bounds)).filter(|part| *part != Truth::Known(false));
                one_of(left.collect(), Truth::Any)
            }
            Truth::Not(part) => Truth::Not(Box::new(part.within(bounds))),
            simple => simple.clone(),
        }
    }

    /// Returns conditions without [`Truth::Any`] that exclude each other and together are equivalent to this condition;
    /// `None` if there would be more than `most`, or if they cannot be shown to exclude each other.
    pub fn alternatives(&self, most: usize) -> Option<Vec<Truth>> {
        match self {
            whole if !whole.has_any() => Some(vec![whole.clone()]),
            Truth::All(parts) => {
                let mut found = vec![Vec::new()];
                for part in parts {
                    let further = part.alternatives(most)?;
                    let each = found.iter().flat_map(|before: &Vec<Truth>| {
                        further.iter().map(move |part| before.iter().chain([part]).cloned().collect())
                    });
                    found = each.collect();
                    if found.len() > most {
                        return None;
                    }
                }
                Some(found.into_iter().map(|parts| one_of(parts, Truth::All)).collect())
            }
            Truth::Any(parts) => {
                let mut found = Vec::new();
                for (number, part) in parts.iter().enumerate() {
                    let before = parts[..number].iter().filter(|before| !before.excludes(part));
                    let not: Vec<Truth> = before.map(|before| before.clone().opposite()).collect();
                    if not.iter().any(|not| !matches!(not, Truth::AtLeast(_) | Truth::Zero(_) | Truth::Not(_))) {
                        return None;
                    }
                    found.extend(Truth::All(not.into_iter().chain([part.clone()]).collect()).alternatives(most)?);
                    if found.len() > most {
                        return None;
                    }
                }
                Some(found)
            }
            simple => Some(vec![simple.clone()]),
        }
    }

    fn has_any(&self) -> bool {
        match self {
            Truth::Any(_) => true,
            Truth::All(parts) => parts.iter().any(Truth::has_any),
            _ => false,
        }
    }

    /// Returns whether one condition contains the negation of the other, so that they are never both true.
    fn excludes(&self, other: &Truth) -> bool {
        fn parts(truth: &Truth) -> &[Truth] {
            match truth {
                Truth::All(parts) => parts,
                one => std::slice::from_ref(one),
            }
        }
        parts(self).iter().any(|one| {
            let opposite = one.clone().opposite();
            parts(other).contains(&opposite)
        })
    }

    /// Calls `visit` for each form in the condition.
    pub fn forms<'a>(&'a self, visit: &mut dyn FnMut(&'a Form)) {
        match self {
            Truth::Known(_) => {}
            Truth::AtLeast(form) | Truth::Zero(form) => visit(form),
            Truth::All(parts) | Truth::Any(parts) => parts.iter().for_each(|part| part.forms(visit)),
            Truth::Not(part) => part.forms(visit),
        }
    }

    /// Returns the condition with every form changed; `None` if a form cannot be changed.
    pub fn map(&self, change: &dyn Fn(&Form) -> Option<Form>) -> Option<Truth> {
        Some(match self {
            Truth::Known(known) => Truth::Known(*known),
            Truth::AtLeast(form) => Truth::AtLeast(change(form)?),
            Truth::Zero(form) => Truth::Zero(change(form)?),
            Truth::All(parts) => Truth::All(parts.iter().map(|part| part.map(change)).collect::<Option<_>>()?),
            Truth::Any(parts) => Truth::Any(parts.iter().map(|part| part.map(change)).collect::<Option<_>>()?),
            Truth::Not(part) => Truth::Not(Box::new(part.map(change)?)),
        })
    }
}

/// Combines several conditions, or returns the only one.
pub(super) fn one_of(mut parts: Vec<Truth>, all: fn(Vec<Truth>) -> Truth) -> Truth {
    match parts.len() {
        1 => parts.remove(0),
        _ => all(parts),
    }
}

/// Returns the greatest common divisor.
pub(super) fn gcd(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { gcd(other, one % other) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sums_have_no_zero_factors() {
        let one = Form { constant: 3, terms: vec![(0, 4), (3, 8)] };
        let two = Form { constant: 1, terms: vec![(0, 2), (1, 5)] };
        let sum = one.plus(&two, -2).unwrap();
        assert_eq!(sum, Form { constant: 1, terms: vec![(1, -10), (3, 8)] });
        assert_eq!(Form::number(i64::MAX).plus(&Form::number(1), 1), None);
        assert_eq!(one.shifted(3, -1).unwrap().constant, -5);
        assert_eq!(one.at(3, 2).unwrap(), Form { constant: 19, terms: vec![(0, 4)] });
    }

    fn form() -> impl Strategy<Value = Form> {
        (-20i64..20, prop::collection::vec(-5i64..5, 3)).prop_map(|(constant, factors)| {
            let terms = factors.into_iter().enumerate().filter(|term| term.1 != 0).collect();
            Form { constant, terms }
        })
    }

    fn truth() -> impl Strategy<Value = Truth> {
        let leaf = prop_oneof![form().prop_map(Truth::AtLeast), form().prop_map(Truth::Zero)];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 1..3).prop_map(Truth::All),
                prop::collection::vec(inner.clone(), 1..3).prop_map(Truth::Any),
                inner.prop_map(|part| Truth::Not(Box::new(part))),
            ]
        })
    }

    proptest! {
        /// Checks that a truth value over a box is correct at each of its points, and that a simplified condition has
        /// the same value there.
        #[test]
        fn decisions_hold_everywhere(truth in truth(), low in prop::collection::vec(-3i64..3, 3)) {
            let bounds = Bounds(low.iter().map(|&low| (low, low + 2)).collect());
            let (decided, left) = (truth.over(&bounds), truth.within(&bounds));
            let alternatives = truth.alternatives(8);
            for point in 0..27i64 {
                let at: Vec<i64> = [point % 3, point / 3 % 3, point / 9].iter().zip(&low).map(|(by, low)| low + by).collect();
                let here = Bounds(at.iter().map(|&at| (at, at)).collect());
                let value = truth.over(&here).unwrap();
                prop_assert!(decided.is_none_or(|decided| decided == value));
                prop_assert_eq!(left.over(&here), Some(value));
                prop_assert_eq!(truth.clone().opposite().over(&here), Some(!value));
                // Exactly one alternative is true where the condition is true.
                let holding = |all: &Vec<Truth>| all.iter().filter(|one| one.over(&here) == Some(true)).count();
                prop_assert!(alternatives.as_ref().is_none_or(|all| holding(all) == usize::from(value)));
            }
        }
    }
}
