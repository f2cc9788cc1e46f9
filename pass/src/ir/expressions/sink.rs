//! The expressions of a module, each stored once, with operations on constants evaluated.

use std::collections::{BTreeSet, HashMap};
use warpline_format::expression::{
    AddressExpression, Binary, Comparison, Expression, ExpressionId, ExpressionKind, LoopExpression, LoopId, Reason,
};

/// The expressions for the addresses of a module; unused expressions are removed at the end.
#[derive(Default)]
pub(crate) struct Sink {
    expressions: Vec<Expression>,
    known: HashMap<Expression, ExpressionId>,
    pub(crate) addresses: Vec<AddressExpression>,
    pub(crate) loops: Vec<LoopExpression>,
    /// The (function, parameter, offset, bytes) that expressions read, with the name in the source.
    pub(crate) parameters: HashMap<(u32, u32, u32, u32), Option<String>>,
    /// Conditions whose parts are evaluated in order, by the original condition.
    pub(super) in_turn: HashMap<ExpressionId, ExpressionId>,
}

/// The expressions for a module's site table.
pub(crate) struct TableExpressions {
    pub(crate) expressions: Vec<Expression>,
    pub(crate) addresses: Vec<AddressExpression>,
    pub(crate) loops: Vec<LoopExpression>,
}

impl Sink {
    pub(crate) fn get(&self, id: ExpressionId) -> Expression {
        self.expressions[id as usize]
    }

    pub(crate) fn node(&mut self, bits: u32, exact: bool, kind: ExpressionKind) -> ExpressionId {
        let bits = bits as u8;
        let entry = Expression { bits, exact, kind };
        let expressions = &mut self.expressions;
        *self.known.entry(entry).or_insert_with(|| {
            expressions.push(entry);
            expressions.len() as u32 - 1
        })
    }

    pub(crate) fn constant(&mut self, bits: u32, value: i64) -> ExpressionId {
        let unused = 64 - bits.clamp(1, 64);
        self.node(bits, false, ExpressionKind::Constant(value << unused >> unused))
    }

    pub(crate) fn unknown(&mut self, bits: u32, reason: Reason, line: u32) -> ExpressionId {
        self.node(bits.clamp(1, 64), false, ExpressionKind::Unknown(reason, line))
    }

    fn number(&self, id: ExpressionId) -> Option<i64> {
        match self.get(id).kind {
            ExpressionKind::Constant(value) => Some(value),
            _ => None,
        }
    }

    pub(crate) fn binary(
        &mut self,
        bits: u32,
        exact: bool,
        operation: Binary,
        left: ExpressionId,
        right: ExpressionId,
    ) -> ExpressionId {
        match (operation, self.number(left), self.number(right)) {
            (Binary::Sum | Binary::Or | Binary::Xor, Some(0), _) | (Binary::Product, Some(1), _) => return right,
            (Binary::Sum | Binary::Difference | Binary::Or | Binary::Xor, _, Some(0)) => return left,
            (Binary::Product, _, Some(1)) => return left,
            (Binary::Product, _, Some(0)) | (Binary::Product, Some(0), _) => return self.constant(bits, 0),
            (Binary::Sum, Some(one), Some(two)) => return self.constant(bits, one.wrapping_add(two)),
            (Binary::Product, Some(one), Some(two)) => return self.constant(bits, one.wrapping_mul(two)),
            _ => {}
        }
        self.node(bits, exact, ExpressionKind::Binary(operation, left, right))
    }

    /// Returns an expression sign-extended or truncated to `bits` bits.
    pub(crate) fn signed(&mut self, bits: u32, exact: bool, of: ExpressionId) -> ExpressionId {
        match self.number(of) {
            Some(value) => self.constant(bits, value),
            None if u32::from(self.get(of).bits) == bits => of,
            None => self.node(bits, exact, ExpressionKind::Signed(of)),
        }
    }

    /// Returns a choice between two expressions, or the expression itself if both are the same.
    pub(crate) fn choice(
        &mut self,
        bits: u32,
        condition: ExpressionId,
        one: ExpressionId,
        other: ExpressionId,
    ) -> ExpressionId {
        if one == other { one } else { self.node(bits, false, ExpressionKind::Choice(condition, one, other)) }
    }

    /// Returns a comparison, which is 1 if it is true. If it tests which of two numbers was chosen, it becomes the
    /// condition of this choice.
    pub(crate) fn compare(&mut self, comparison: Comparison, left: ExpressionId, right: ExpressionId) -> ExpressionId {
        let equal = match comparison {
            Comparison::Equal => true,
            Comparison::NotEqual => false,
            _ => return self.node(1, false, ExpressionKind::Compare(comparison, left, right)),
        };
        let Some(number) = self.number(right) else {
            return self.node(1, false, ExpressionKind::Compare(comparison, left, right));
        };
        if self.get(left).bits == 1 {
            return if (number & 1 == 1) == equal { left } else { self.opposite(left) };
        }
        if let ExpressionKind::Unsigned(of) | ExpressionKind::Signed(of) = self.get(left).kind
            && self.get(of).bits == 1
            && number == 0
        {
            return if equal { self.opposite(of) } else { of };
        }
        if let ExpressionKind::Choice(condition, one, other) = self.get(left).kind
            && let (Some(one), Some(other)) = (self.number(one), self.number(other))
            && (one == number) != (other == number)
        {
            return if (one == number) == equal { condition } else { self.opposite(condition) };
        }
        self.node(1, false, ExpressionKind::Compare(comparison, left, right))
    }

    /// Returns that both conditions are true; `None` is always true.
    pub(crate) fn and(&mut self, one: Option<ExpressionId>, other: Option<ExpressionId>) -> Option<ExpressionId> {
        match (one, other) {
            (Some(one), Some(other)) if one != other => Some(self.binary(1, false, Binary::And, one, other)),
            (one, other) => one.or(other),
        }
    }

    /// Returns that at least one condition is true; `None` is always true.
    pub(crate) fn or(&mut self, one: Option<ExpressionId>, other: Option<ExpressionId>) -> Option<ExpressionId> {
        let (one, other) = (one?, other?);
        if self.opposite(one) == other {
            return None;
        }
        Some(if one == other { one } else { self.binary(1, false, Binary::Or, one, other) })
    }

    /// Returns that a condition is false.
    pub(crate) fn opposite(&mut self, of: ExpressionId) -> ExpressionId {
        let truth = self.constant(1, 1);
        let kind = match self.get(of).kind {
            ExpressionKind::Constant(value) => return self.constant(1, !value),
            ExpressionKind::Binary(Binary::Xor, inner, one) if one == truth => return inner,
            ExpressionKind::Compare(comparison, left, right) => match comparison {
                Comparison::Equal => ExpressionKind::Compare(Comparison::NotEqual, left, right),
                Comparison::NotEqual => ExpressionKind::Compare(Comparison::Equal, left, right),
                Comparison::SignedLess => ExpressionKind::Compare(Comparison::SignedLessEqual, right, left),
                Comparison::SignedLessEqual => ExpressionKind::Compare(Comparison::SignedLess, right, left),
                Comparison::UnsignedLess => ExpressionKind::Compare(Comparison::UnsignedLessEqual, right, left),
                Comparison::UnsignedLessEqual => ExpressionKind::Compare(Comparison::UnsignedLess, right, left),
            },
            _ => ExpressionKind::Binary(Binary::Xor, of, truth),
        };
        self.node(1, false, kind)
    }

    /// Returns whether the value of an expression depends on the iteration of a loop.
    pub(crate) fn counts(&self, id: ExpressionId, lap: LoopId) -> bool {
        self.any(id, |kind| match kind {
            ExpressionKind::Counter(own) => own == lap,
            // An unknown value may depend on anything.
            kind => matches!(kind, ExpressionKind::Unknown(..)),
        })
    }

    /// Returns whether an expression has no unknown part.
    pub(crate) fn is_known(&self, id: ExpressionId) -> bool {
        !self.any(id, |kind| matches!(kind, ExpressionKind::Unknown(..)))
    }

    /// Returns whether `wanted` is true for a part of an expression.
    fn any(&self, id: ExpressionId, wanted: impl Fn(ExpressionKind) -> bool) -> bool {
        self.any_of(id, &mut BTreeSet::new(), wanted)
    }

    /// The variant of [`Self::any`] that adds the inspected parts to `seen`.
    fn any_of(
        &self,
        id: ExpressionId,
        seen: &mut BTreeSet<ExpressionId>,
        wanted: impl Fn(ExpressionKind) -> bool,
    ) -> bool {
        let mut work = vec![id];
        while let Some(next) = work.pop() {
            if !seen.insert(next) {
                continue;
            }
            let kind = self.get(next).kind;
            if wanted(kind) {
                return true;
            }
            work.extend(kind.operands());
        }
        false
    }

    /// Returns the value of an expression in the previous iteration of a loop.
    pub(crate) fn before(&mut self, id: ExpressionId, lap: LoopId) -> ExpressionId {
        self.rebuilt(id, |sink, old, _| match sink.get(old) {
            Expression { bits, kind: ExpressionKind::Counter(own), .. } if own == lap => {
                let back = sink.constant(bits.into(), -1);
                Some(sink.binary(bits.into(), true, Binary::Sum, old, back))
            }
            _ => None,
        })
    }

    /// Returns an expression in which parts are replaced: `other` returns the replacement of a part, and receives the
    /// new operands.
    pub(super) fn rebuilt(
        &mut self,
        id: ExpressionId,
        mut other: impl FnMut(&mut Self, ExpressionId, &dyn Fn(ExpressionId) -> ExpressionId) -> Option<ExpressionId>,
    ) -> ExpressionId {
        let mut own = BTreeSet::new();
        self.any_of(id, &mut own, |_| false);
        let mut new: HashMap<ExpressionId, ExpressionId> = HashMap::new();
        // Operands precede the expressions that use them.
        for old in own {
            let Expression { bits, exact, kind } = self.get(old);
            let at = |id: ExpressionId| new[&id];
            let now = match other(self, old, &at) {
                Some(now) => now,
                None if kind.operands().all(|operand| at(operand) == operand) => old,
                None => match kind {
                    ExpressionKind::Binary(operation, left, right) => {
                        self.binary(bits.into(), exact, operation, at(left), at(right))
                    }
                    ExpressionKind::Signed(of) => self.signed(bits.into(), exact, at(of)),
                    kind => self.node(bits.into(), exact, kind.with_operands(at)),
                },
            };
            new.insert(old, now);
        }
        new[&id]
    }

    /// Returns the expressions without those that no address needs.
    pub(crate) fn finish(mut self) -> TableExpressions {
        let mut needed = vec![false; self.expressions.len()];
        let mut work: Vec<ExpressionId> = Vec::new();
        let mut laps: Vec<bool> = vec![false; self.loops.len()];
        let mut open: Vec<LoopId> = Vec::new();
        for address in &self.addresses {
            work.push(address.address);
            work.extend(address.guard);
            open.extend(&address.loops);
        }
        loop {
            if let Some(next) = work.pop() {
                if !std::mem::replace(&mut needed[next as usize], true) {
                    let kind = self.get(next).kind;
                    work.extend(kind.operands());
                    if let ExpressionKind::Counter(lap) = kind {
                        open.push(lap);
                    }
                }
            } else if let Some(lap) = open.pop() {
                if !std::mem::replace(&mut laps[lap as usize], true) {
                    work.extend(&self.loops[lap as usize].ends);
                    open.extend(&self.loops[lap as usize].around);
                }
            } else {
                break;
            }
        }
        let new_laps = places(&laps);
        let new = places(&needed);
        let at = |id: &mut ExpressionId| *id = new[*id as usize];
        let lap_at = |id: &mut LoopId| *id = new_laps[*id as usize];
        let kept = |(index, entry): (usize, Expression)| needed[index].then_some(entry);
        let mut expressions: Vec<Expression> =
            std::mem::take(&mut self.expressions).into_iter().enumerate().filter_map(kept).collect();
        for entry in &mut expressions {
            match &mut entry.kind {
                ExpressionKind::Binary(_, left, right) | ExpressionKind::Compare(_, left, right) => {
                    at(left);
                    at(right);
                }
                ExpressionKind::Signed(of) | ExpressionKind::Unsigned(of) => at(of),
                ExpressionKind::Choice(condition, one, other) => [condition, one, other].into_iter().for_each(at),
                ExpressionKind::Counter(lap) => lap_at(lap),
                _ => {}
            }
        }
        for address in &mut self.addresses {
            at(&mut address.address);
            address.guard.iter_mut().for_each(at);
            address.loops.iter_mut().for_each(lap_at);
        }
        let mut loops: Vec<LoopExpression> =
            self.loops.into_iter().zip(laps).filter_map(|(lap, needed)| needed.then_some(lap)).collect();
        for lap in &mut loops {
            lap.around.iter_mut().for_each(lap_at);
            lap.ends.iter_mut().for_each(at);
        }
        TableExpressions { expressions, addresses: self.addresses, loops }
    }
}

fn places(kept: &[bool]) -> Vec<u32> {
    let mut next = 0;
    kept.iter()
        .map(|&kept| {
            next += u32::from(kept);
            next.saturating_sub(1)
        })
        .collect()
}
