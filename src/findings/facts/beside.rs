//! What an access takes beside a thread's own element: how its index is held within the data, neighbours, rows, and parts of each thread's own.

use std::collections::BTreeSet;

use warpline_format::expression::{Binary, Expression, ExpressionId, ExpressionKind, parts};

use super::access::Access;
use super::index::address;
use super::profile::lane_axis;
use super::terms::argument;

/// Parts of an address that are looked at, at most.
const MOST_PARTS: usize = 64;

/// Whether neighbouring threads take neighbouring elements but for those at a border: the index is held within the array
/// (`min(max(i, 0), n - 1)`) or goes round (`(i + 1) % n`). What a few lanes of each request do there is neither a stride nor at random.
pub(in super::super) fn is_held_within(access: &Access<'_>) -> bool {
    let Some((expressions, root)) = address(access) else { return false };
    let mut steps = Steps { expressions, axis: lane_axis(access.kernel) as u8, found: Vec::new(), is_known: true };
    steps.follow(root, 1, false);
    let by_elements = |(scale, _): &(i64, bool)| scale.unsigned_abs() == u64::from(access.bytes);
    steps.is_known && steps.found.iter().all(by_elements) && steps.found.iter().any(|(_, is_held)| *is_held)
}

/// Whether it takes an element beside the thread's own: before it, or on either side where the index is held within the array.
pub(in super::super) fn is_neighbour(access: &Access<'_>) -> bool {
    address(access).is_some_and(|(expressions, root)| leads_beside(expressions, root, lane_axis(access.kernel) as u8))
}

fn leads_beside(expressions: &[Expression], root: ExpressionId, axis: u8) -> bool {
    let has_thread =
        |id: &ExpressionId| parts(expressions, [*id]).any(|(_, kind)| kind == ExpressionKind::Thread(axis));
    let constant = |id: ExpressionId| match expressions.get(id as usize)?.kind {
        ExpressionKind::Constant(value) => Some(value),
        _ => None,
    };
    // What an expression of the thread's number is multiplied by, the bytes that are added to it so far, and whether it is held within bounds.
    let mut open = vec![(root, 1i64, 0i64, false)];
    for _ in 0..MOST_PARTS {
        let Some((id, scale, shift, is_held)) = open.pop() else { return false };
        let Some(kind) = expressions.get(id as usize).map(|one| one.kind) else { return false };
        let moved = |by: ExpressionId, sign: i64| {
            let by = constant(by).unwrap_or(0).saturating_mul(sign);
            shift.saturating_add(by.saturating_mul(scale))
        };
        match kind {
            ExpressionKind::Thread(_) if shift < 0 || is_held && shift != 0 => return true,
            ExpressionKind::Signed(of) | ExpressionKind::Unsigned(of) => open.push((of, scale, shift, is_held)),
            ExpressionKind::Binary(Binary::Sum, left, right) => {
                let sides = [(left, right), (right, left)].into_iter().filter(|(side, _)| has_thread(side));
                open.extend(sides.map(|(side, other)| (side, scale, moved(other, 1), is_held)));
            }
            ExpressionKind::Binary(Binary::Difference, of, by) if has_thread(&of) => {
                open.push((of, scale, moved(by, -1), is_held));
            }
            ExpressionKind::Binary(Binary::Product, left, right) => match (constant(left), constant(right)) {
                (_, Some(by)) => open.push((left, scale.saturating_mul(by), shift, is_held)),
                (Some(by), None) => open.push((right, scale.saturating_mul(by), shift, is_held)),
                (None, None) => {}
            },
            ExpressionKind::Binary(Binary::ShiftLeft, of, by) => {
                if let Some(by @ 0..62) = constant(by) {
                    open.push((of, scale.saturating_mul(1 << by), shift, is_held));
                }
            }
            ExpressionKind::Binary(
                Binary::SignedLeast | Binary::SignedGreatest | Binary::UnsignedLeast | Binary::UnsignedGreatest,
                left,
                right,
            )
            | ExpressionKind::Choice(_, left, right) => {
                open.extend([left, right].into_iter().filter(has_thread).map(|side| (side, scale, shift, true)));
            }
            ExpressionKind::Binary(Binary::SignedRemainder | Binary::UnsignedRemainder, of, by) if !has_thread(&by) => {
                open.push((of, scale, shift, true));
            }
            _ => {}
        }
    }
    false
}

/// Bytes that the thread's number is multiplied by on every way to the address that is known, where they are the same on all of them.
pub(in super::super) fn part_of_thread(access: &Access<'_>) -> Option<u64> {
    let (expressions, root) = address(access)?;
    let axis = lane_axis(access.kernel) as u8;
    let constant = |id: ExpressionId| match expressions.get(id as usize)?.kind {
        ExpressionKind::Constant(value) => Some(value),
        _ => None,
    };
    let has_thread =
        |id: &ExpressionId| parts(expressions, [*id]).any(|(_, kind)| kind == ExpressionKind::Thread(axis));
    let mut lengths = BTreeSet::new();
    let mut open = vec![(root, 1i64)];
    for _ in 0..MOST_PARTS {
        let Some((id, scale)) = open.pop() else { break };
        match expressions.get(id as usize)?.kind {
            ExpressionKind::Thread(_) => _ = lengths.insert(scale.unsigned_abs()),
            ExpressionKind::Binary(Binary::Sum | Binary::Difference, left, right) => {
                open.extend([left, right].into_iter().filter(has_thread).map(|side| (side, scale)));
            }
            ExpressionKind::Signed(of) | ExpressionKind::Unsigned(of) => open.push((of, scale)),
            ExpressionKind::Binary(Binary::Product, left, right) => match (constant(left), constant(right)) {
                (_, Some(by)) => open.push((left, scale.saturating_mul(by))),
                (Some(by), None) => open.push((right, scale.saturating_mul(by))),
                (None, None) => return None,
            },
            ExpressionKind::Binary(Binary::ShiftLeft, of, by) => match constant(by) {
                Some(by @ 0..62) => open.push((of, scale.saturating_mul(1 << by))),
                _ => return None,
            },
            // What chooses is no part of the place.
            ExpressionKind::Choice(_, left, right) => open.extend([(left, scale), (right, scale)]),
            ExpressionKind::Unknown(..) => {}
            _ => return None,
        }
    }
    let first = lengths.pop_first()?;
    lengths.is_empty().then_some(first)
}

/// Bytes of the rows that an access goes to, where a number that all launches were given is what the row's number is multiplied by.
pub(in super::super) fn row_bytes(access: &Access<'_>) -> Option<u64> {
    let (expressions, root) = address(access)?;
    let kind = |id: ExpressionId| expressions.get(id as usize).map(|one| one.kind);
    let number = |mut id: ExpressionId| loop {
        match kind(id)? {
            ExpressionKind::Constant(value) => break Some((value, false)),
            ExpressionKind::Signed(of) | ExpressionKind::Unsigned(of) => id = of,
            kind => break argument(access.kernel, kind).map(|value| (value, true)),
        }
    };
    let counts_rows = |id: ExpressionId| {
        parts(expressions, [id]).any(|(_, kind)| matches!(kind, ExpressionKind::Counter(_) | ExpressionKind::Block(_)))
    };
    let mut lengths = BTreeSet::new();
    let mut open = vec![(root, 1i64)];
    for _ in 0..MOST_PARTS {
        let Some((id, scale)) = open.pop() else { break };
        match kind(id)? {
            ExpressionKind::Binary(Binary::Sum | Binary::Difference, left, right) => {
                open.extend([(left, scale), (right, scale)]);
            }
            ExpressionKind::Signed(of) | ExpressionKind::Unsigned(of) => open.push((of, scale)),
            ExpressionKind::Binary(Binary::Product, left, right) => {
                let (of, by) = match (number(left), number(right)) {
                    (_, Some(by)) => (left, by),
                    (Some(by), None) => (right, by),
                    (None, None) => continue,
                };
                let (by, is_given) = by;
                let scale = scale.saturating_mul(by);
                // What is counted within a row moves by elements.
                if is_given && counts_rows(of) {
                    lengths.insert(scale.unsigned_abs());
                } else {
                    open.push((of, scale));
                }
            }
            ExpressionKind::Binary(Binary::ShiftLeft, of, by) => {
                if let Some((by @ 0..62, _)) = number(by) {
                    open.push((of, scale.saturating_mul(1 << by)));
                }
            }
            _ => {}
        }
    }
    let first = lengths.pop_first()?;
    lengths.is_empty().then_some(first)
}

/// Walks from an address to the thread's number.
struct Steps<'a> {
    expressions: &'a [Expression],
    axis: u8,
    /// Bytes by which the address moves with the thread's number, and whether that is held within bounds on the way.
    found: Vec<(i64, bool)>,
    /// It moves by nothing else.
    is_known: bool,
}

impl Steps<'_> {
    fn has_thread(&self, id: ExpressionId) -> bool {
        parts(self.expressions, [id]).any(|(_, kind)| kind == ExpressionKind::Thread(self.axis))
    }

    fn constant(&self, id: ExpressionId) -> Option<i64> {
        match self.expressions.get(id as usize)?.kind {
            ExpressionKind::Constant(value) => Some(value),
            _ => None,
        }
    }

    fn follow(&mut self, id: ExpressionId, scale: i64, is_held: bool) {
        if !self.is_known || !self.has_thread(id) {
            return;
        }
        let Some(one) = self.expressions.get(id as usize).filter(|_| self.found.len() < MOST_PARTS) else {
            self.is_known = false;
            return;
        };
        match one.kind {
            ExpressionKind::Thread(_) => self.found.push((scale, is_held)),
            ExpressionKind::Signed(of) | ExpressionKind::Unsigned(of) => self.follow(of, scale, is_held),
            ExpressionKind::Binary(Binary::Sum, left, right) => {
                self.follow(left, scale, is_held);
                self.follow(right, scale, is_held);
            }
            ExpressionKind::Binary(Binary::Difference, left, right) => {
                self.follow(left, scale, is_held);
                self.follow(right, scale.saturating_neg(), is_held);
            }
            ExpressionKind::Binary(Binary::Product, left, right) => match (self.constant(left), self.constant(right)) {
                (_, Some(by)) => self.follow(left, scale.saturating_mul(by), is_held),
                (Some(by), _) => self.follow(right, scale.saturating_mul(by), is_held),
                (None, None) => self.is_known = false,
            },
            ExpressionKind::Binary(Binary::ShiftLeft, of, by) => match self.constant(by) {
                Some(by @ 0..62) => self.follow(of, scale.saturating_mul(1 << by), is_held),
                _ => self.is_known = false,
            },
            ExpressionKind::Binary(
                Binary::SignedLeast | Binary::SignedGreatest | Binary::UnsignedLeast | Binary::UnsignedGreatest,
                left,
                right,
            ) => {
                self.follow(left, scale, true);
                self.follow(right, scale, true);
            }
            ExpressionKind::Binary(Binary::SignedRemainder | Binary::UnsignedRemainder | Binary::And, of, by)
                if !self.has_thread(by) =>
            {
                self.follow(of, scale, true);
            }
            ExpressionKind::Choice(_, one, other) => {
                self.follow(one, scale, true);
                self.follow(other, scale, true);
            }
            _ => self.is_known = false,
        }
    }
}

#[cfg(test)]
mod tests {
    use warpline_format::expression::Comparison;
    use warpline_format::expression::ExpressionKind::{Choice, Compare, Constant, Thread};

    use super::*;

    fn of(operation: Binary, left: ExpressionId, right: ExpressionId) -> ExpressionKind {
        ExpressionKind::Binary(operation, left, right)
    }

    /// Steps of the last of these values.
    fn steps(kinds: &[ExpressionKind]) -> (bool, Vec<(i64, bool)>) {
        let expressions: Vec<Expression> =
            kinds.iter().map(|&kind| Expression { bits: 32, exact: true, kind }).collect();
        let mut steps = Steps { expressions: &expressions, axis: 0, found: Vec::new(), is_known: true };
        steps.follow(expressions.len() as u32 - 1, 1, false);
        (steps.is_known, steps.found)
    }

    #[test]
    fn indices_that_are_held_within_an_array_are_known() {
        let number = [Thread(0), Constant(1), of(Binary::Sum, 0, 1), Constant(99), Constant(4)];
        let then = |more: &[ExpressionKind]| steps(&[&number[..], more].concat());
        // 4 * min(threadIdx.x + 1, 99)
        let clamped = then(&[of(Binary::SignedLeast, 2, 3), of(Binary::Product, 5, 4)]);
        assert_eq!(clamped, (true, vec![(4, true)]));
        // 4 * ((threadIdx.x + 1) % 99)
        let wrapped = then(&[of(Binary::UnsignedRemainder, 2, 3), of(Binary::Product, 5, 4)]);
        assert_eq!(wrapped, (true, vec![(4, true)]));
        // 4 * (threadIdx.x == 99 ? 99 : threadIdx.x + 1)
        let chosen = then(&[Compare(Comparison::Equal, 0, 3), Choice(5, 3, 2), of(Binary::Product, 6, 4)]);
        assert_eq!(chosen, (true, vec![(4, true)]));
        // 4 * (threadIdx.x + 1) is held nowhere, and 99 * threadIdx.x % 4 goes from place to place.
        assert_eq!(then(&[of(Binary::Product, 2, 4)]), (true, vec![(4, false)]));
        let hashed = then(&[of(Binary::Product, 0, 3), of(Binary::UnsignedRemainder, 5, 4)]);
        assert_eq!(hashed, (true, vec![(99, true)]));
        assert!(!then(&[of(Binary::UnsignedQuotient, 2, 4)]).0);
    }

    #[test]
    fn the_element_before_is_a_neighbour() {
        let number = [Thread(0), Constant(-1), of(Binary::Sum, 0, 1), Constant(99), Constant(4)];
        let beside = |first: &[ExpressionKind], more: &[ExpressionKind]| {
            let all: Vec<Expression> =
                first.iter().chain(more).map(|&kind| Expression { bits: 32, exact: true, kind }).collect();
            leads_beside(&all, all.len() as u32 - 1, 0)
        };
        // 4 * (threadIdx.x - 1), and threadIdx.x == 99 ? 99 : threadIdx.x - 1
        assert!(beside(&number, &[of(Binary::Product, 2, 4)]));
        assert!(beside(&number, &[Compare(Comparison::Equal, 0, 3), Choice(5, 3, 2)]));
        // The one behind only where it is held within the data: 4 * (threadIdx.x + 1), min(threadIdx.x + 1, 99).
        let behind = [Thread(0), Constant(1), of(Binary::Sum, 0, 1), Constant(99), Constant(4)];
        assert!(!beside(&behind, &[of(Binary::Product, 2, 4)]));
        assert!(beside(&behind, &[of(Binary::SignedLeast, 2, 3)]));
        // 4 * threadIdx.x, and 4 * (threadIdx.x + 1) - 4 is the same.
        assert!(!beside(&number, &[of(Binary::Product, 0, 4)]));
        assert!(!beside(&behind, &[of(Binary::Product, 2, 4), Constant(-4), of(Binary::Sum, 5, 6)]));
    }
}
