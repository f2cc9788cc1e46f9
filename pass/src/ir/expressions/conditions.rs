//! Simplifies expressions under a condition.
//!
//! The remainder loop of an unrolled loop starts at 0 if the unrolled loop was not entered, and after its last
//! iteration otherwise. This choice is evaluated only in lanes that reach the remainder loop, but its condition repeats
//! the condition for this. Without the repetition, only the launch decides the choice.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use warpline_format::expression::{Binary, Expression, ExpressionId, ExpressionKind};

use super::sink::Sink;

/// The facts that each condition implies.
type ImpliedFacts = HashMap<ExpressionId, Rc<BTreeSet<ExpressionId>>>;

impl Sink {
    /// Simplifies an expression under a condition: choices that the condition decides are made, and facts that it
    /// implies are removed from their conditions.
    pub(crate) fn where_holds(&mut self, id: ExpressionId, condition: ExpressionId) -> ExpressionId {
        let holds = self.implied_by(condition, &mut ImpliedFacts::new());
        self.rebuilt(id, |sink, old, at| match sink.get(old) {
            Expression { kind: ExpressionKind::Choice(condition, one, other), .. } => {
                // The rest of the condition may also be implied.
                let rest = at(condition);
                let rest = if sink.is_known(rest) { rest } else { condition };
                let mut is_said = |of: ExpressionId| (holds.contains(&of), holds.contains(&sink.opposite(of)));
                match (is_said(condition), is_said(rest)) {
                    ((true, _), _) | (_, (true, _)) => Some(at(one)),
                    ((_, true), _) | (_, (_, true)) => Some(at(other)),
                    _ => None,
                }
            }
            Expression { bits: 1, kind: ExpressionKind::Binary(Binary::And, one, other), .. } => {
                let is_said = |of: ExpressionId| holds.contains(&of) && sink.is_known(of);
                match (is_said(one), is_said(other)) {
                    (true, _) => Some(at(other)),
                    (_, true) => Some(at(one)),
                    _ => None,
                }
            }
            _ => None,
        })
    }

    /// Rewrites a condition so that each part is evaluated only if the parts before it are true.
    pub(crate) fn in_turn(&mut self, condition: ExpressionId) -> ExpressionId {
        if let Some(&known) = self.in_turn.get(&condition) {
            return known;
        }
        let found = match self.get(condition) {
            Expression { bits: 1, kind: ExpressionKind::Binary(Binary::And, one, other), .. } => {
                let (first, second) = (self.in_turn(one), self.where_holds(other, one));
                self.binary(1, false, Binary::And, first, second)
            }
            _ => condition,
        };
        self.in_turn.insert(condition, found);
        found
    }

    /// Returns the facts that a condition implies: its parts, or, for an alternative, the facts that both sides imply.
    fn implied_by(&self, condition: ExpressionId, known: &mut ImpliedFacts) -> Rc<BTreeSet<ExpressionId>> {
        if let Some(known) = known.get(&condition) {
            return known.clone();
        }
        let mut found = BTreeSet::from([condition]);
        match self.get(condition) {
            Expression { bits: 1, kind: ExpressionKind::Binary(Binary::And, one, other), .. } => {
                found.extend(self.implied_by(one, known).iter());
                found.extend(self.implied_by(other, known).iter());
            }
            Expression { bits: 1, kind: ExpressionKind::Binary(Binary::Or, one, other), .. } => {
                let (one, other) = (self.implied_by(one, known), self.implied_by(other, known));
                found.extend(one.intersection(&other).filter(|&&both| self.is_known(both)));
            }
            _ => {}
        }
        let found = Rc::new(found);
        known.insert(condition, found.clone());
        found
    }
}

#[cfg(test)]
mod tests {
    use warpline_format::expression::{Comparison, Reason};

    use super::*;

    /// Creates `index < of`, with a constant in place of the parameter.
    fn less(sink: &mut Sink, axis: u8, than: i64) -> ExpressionId {
        let index = sink.node(32, false, ExpressionKind::Thread(axis));
        let number = sink.constant(32, than);
        sink.node(1, false, ExpressionKind::Compare(Comparison::SignedLess, index, number))
    }

    #[test]
    fn conditions_are_asked_where_others_hold() {
        let mut sink = Sink::default();
        let (inside, few) = (less(&mut sink, 0, 80), less(&mut sink, 1, 4));
        let many = sink.opposite(few);
        let and = |sink: &mut Sink, one, other| sink.binary(1, false, Binary::And, one, other);
        // A loop that lanes for which `inside` is true reach, either if there are few iterations or after many.
        let (alone, behind) = (and(&mut sink, inside, few), and(&mut sink, inside, many));
        let reached = sink.binary(1, false, Binary::Or, alone, behind);
        let (zero, eight) = (sink.constant(32, 0), sink.constant(32, 8));
        let first = sink.choice(32, alone, zero, eight);
        let simpler = sink.choice(32, few, zero, eight);
        assert_eq!(sink.where_holds(first, reached), simpler);
        assert_eq!(sink.where_holds(first, alone), zero);
        assert_eq!(sink.where_holds(first, behind), eight);
        // A guard that tests the choice.
        let above = sink.node(1, false, ExpressionKind::Compare(Comparison::SignedLess, zero, first));
        let above_simpler = sink.node(1, false, ExpressionKind::Compare(Comparison::SignedLess, zero, simpler));
        let guard = and(&mut sink, reached, above);
        let want = and(&mut sink, reached, above_simpler);
        assert_eq!(sink.in_turn(guard), want);
        assert_eq!(sink.in_turn(reached), reached);
    }

    /// A slot of a hash table that is found at the first probed position or at a later one: the loads are on one line.
    #[test]
    fn loads_of_a_line_are_no_one_value() {
        let mut sink = Sink::default();
        let flag = sink.unknown(1, Reason::Loaded, 7);
        let inside = less(&mut sink, 0, 80);
        let first = sink.binary(1, false, Binary::And, inside, flag);
        let again = less(&mut sink, 1, 4);
        let later = sink.binary(1, false, Binary::And, again, flag);
        let reached = sink.binary(1, false, Binary::Or, first, later);
        let (start, moved) = (sink.constant(32, 0), sink.unknown(32, Reason::Recurrence, 9));
        let slot = sink.choice(32, first, start, moved);
        assert_eq!(sink.where_holds(slot, reached), slot);
        assert_eq!(sink.where_holds(slot, flag), slot);
    }
}
