//! A graph of expressions that stores equal expressions once.

use rustc_hash::FxHashMap;
use warpline_format::expression::{Binary, Expression, ExpressionId, ExpressionKind};

/// An expression graph to which expressions can be added.
pub struct Graph {
    /// Expressions; operands precede the expressions that use them.
    pub expressions: Vec<Expression>,
    numbers: FxHashMap<Expression, ExpressionId>,
}

impl Graph {
    /// Creates a graph that contains the given expressions.
    pub fn new(expressions: &[Expression]) -> Graph {
        let numbers = expressions.iter().zip(0..).map(|(one, number)| (*one, number)).collect();
        Graph { expressions: expressions.to_vec(), numbers }
    }

    /// Adds an expression if it is new, and returns its number.
    pub fn add(&mut self, one: Expression) -> ExpressionId {
        let next = self.expressions.len() as ExpressionId;
        *self.numbers.entry(one).or_insert_with(|| {
            self.expressions.push(one);
            next
        })
    }

    /// Adds a constant with the width of an expression.
    pub fn constant(&mut self, value: i64, bits: u8) -> ExpressionId {
        self.add(Expression { bits, exact: false, kind: ExpressionKind::Constant(value) })
    }

    /// Adds an arithmetic operation that does not overflow its width.
    pub fn exact(&mut self, operation: Binary, left: ExpressionId, right: ExpressionId, bits: u8) -> ExpressionId {
        self.add(Expression { bits, exact: true, kind: ExpressionKind::Binary(operation, left, right) })
    }

    /// Returns an expression with its operands replaced.
    pub fn again(&mut self, one: Expression, operand: impl Fn(ExpressionId) -> ExpressionId) -> ExpressionId {
        self.add(Expression { kind: one.kind.with_operands(operand), ..one })
    }
}
