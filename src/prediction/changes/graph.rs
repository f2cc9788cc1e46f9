//! Expressions that are added to others, each once.

use rustc_hash::FxHashMap;
use warpline_format::expression::{Binary, Expression, ExpressionId, ExpressionKind};

/// A graph that grows.
pub struct Graph {
    /// Each after its operands.
    pub expressions: Vec<Expression>,
    numbers: FxHashMap<Expression, ExpressionId>,
}

impl Graph {
    /// Of what there is.
    pub fn new(expressions: &[Expression]) -> Graph {
        let numbers = expressions.iter().zip(0..).map(|(one, number)| (*one, number)).collect();
        Graph { expressions: expressions.to_vec(), numbers }
    }

    /// Returns the number of an expression.
    pub fn add(&mut self, one: Expression) -> ExpressionId {
        let next = self.expressions.len() as ExpressionId;
        *self.numbers.entry(one).or_insert_with(|| {
            self.expressions.push(one);
            next
        })
    }

    /// Returns a number as wide as an expression.
    pub fn constant(&mut self, value: i64, bits: u8) -> ExpressionId {
        self.add(Expression { bits, exact: false, kind: ExpressionKind::Constant(value) })
    }

    /// Arithmetic that keeps to its width.
    pub fn exact(&mut self, operation: Binary, left: ExpressionId, right: ExpressionId, bits: u8) -> ExpressionId {
        self.add(Expression { bits, exact: true, kind: ExpressionKind::Binary(operation, left, right) })
    }

    /// Returns an expression with other operands.
    pub fn again(&mut self, one: Expression, operand: impl Fn(ExpressionId) -> ExpressionId) -> ExpressionId {
        self.add(Expression { kind: one.kind.with_operands(operand), ..one })
    }
}
