//! Address expressions: a graph that computes the address of an access, and is evaluated when the launch is known.
//!
//! The pass does not decide whether an expression is affine. `blockIdx.x * blockDim.x` is a product of two registers
//! until the block size is known, and a row length is an argument until the launch. Products, quotients and comparisons
//! therefore stay symbolic.

use crate::site_table::SiteTable;
use serde::{Deserialize, Serialize};

/// Index into [`crate::site_table::SiteTable::expressions`].
pub type ExpressionId = u32;
/// Index into [`crate::site_table::SiteTable::loops`].
pub type LoopId = u32;

/// A value of device code. Its operands have lower indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Expression {
    /// Width in bits, 1 to 64. Values are signed numbers of this width; pointers have 64 bits.
    pub bits: u8,
    /// Whether the result is known not to overflow in lanes that use it (`nsw`, `nneg`, `inbounds`).
    pub exact: bool,
    /// Kind of the value.
    pub kind: ExpressionKind,
}

/// Kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ExpressionKind {
    /// A constant.
    Constant(i64),
    /// `threadIdx`, axis 0 to 2.
    Thread(u8),
    /// `blockIdx`.
    Block(u8),
    /// `blockDim`.
    BlockSize(u8),
    /// `gridDim`.
    GridSize(u8),
    /// A part of a kernel parameter, starting at `offset`, with the width of the expression.
    Parameter {
        /// Number of the parameter, counted from 0.
        parameter: u32,
        /// Offset in bytes within the parameter.
        offset: u32,
    },
    /// Address of a variable, an index into [`crate::site_table::SiteTable::globals`].
    Global(u32),
    /// Start of a shared variable, given by its index into [`crate::site_table::SiteTable::shared`].
    Shared(u32),
    /// Number of completed iterations of a loop.
    Counter(LoopId),
    /// An arithmetic operation.
    Binary(Binary, ExpressionId, ExpressionId),
    /// Sign extension or truncation to this width.
    Signed(ExpressionId),
    /// Zero extension.
    Unsigned(ExpressionId),
    /// 1 if the comparison is true, otherwise 0.
    Compare(Comparison, ExpressionId, ExpressionId),
    /// The second operand if the first is 1; otherwise, the third.
    Choice(ExpressionId, ExpressionId, ExpressionId),
    /// A value that cannot be computed from the launch, with the reason and the source line.
    Unknown(Reason, u32),
}

impl ExpressionKind {
    /// Returns the operands in their order.
    pub fn operands(self) -> impl Iterator<Item = ExpressionId> {
        let operands = match self {
            ExpressionKind::Binary(_, left, right) | ExpressionKind::Compare(_, left, right) => {
                [Some(left), Some(right), None]
            }
            ExpressionKind::Signed(of) | ExpressionKind::Unsigned(of) => [Some(of), None, None],
            ExpressionKind::Choice(condition, one, other) => [Some(condition), Some(one), Some(other)],
            _ => [None; 3],
        };
        operands.into_iter().flatten()
    }

    /// Returns the same operation with other operands.
    #[must_use]
    pub fn with_operands(self, mut other: impl FnMut(ExpressionId) -> ExpressionId) -> ExpressionKind {
        match self {
            ExpressionKind::Binary(operation, left, right) => {
                ExpressionKind::Binary(operation, other(left), other(right))
            }
            ExpressionKind::Compare(comparison, left, right) => {
                ExpressionKind::Compare(comparison, other(left), other(right))
            }
            ExpressionKind::Signed(of) => ExpressionKind::Signed(other(of)),
            ExpressionKind::Unsigned(of) => ExpressionKind::Unsigned(other(of)),
            ExpressionKind::Choice(condition, one, two) => {
                ExpressionKind::Choice(other(condition), other(one), other(two))
            }
            leaf => leaf,
        }
    }
}

/// Returns the expressions that `roots` depend on, including the roots, each once. Invalid numbers are ignored.
pub fn parts(
    expressions: &[Expression],
    roots: impl IntoIterator<Item = ExpressionId>,
) -> impl Iterator<Item = (ExpressionId, ExpressionKind)> {
    let mut open: Vec<ExpressionId> = roots.into_iter().collect();
    let mut seen = vec![false; expressions.len()];
    std::iter::from_fn(move || {
        while let Some(id) = open.pop() {
            let Some(seen) = seen.get_mut(id as usize) else { continue };
            if !std::mem::replace(seen, true) {
                let kind = expressions[id as usize].kind;
                open.extend(kind.operands());
                return Some((id, kind));
            }
        }
        None
    })
}

/// An arithmetic operation on two values of the same width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Binary {
    Sum,
    Difference,
    Product,
    SignedQuotient,
    UnsignedQuotient,
    SignedRemainder,
    UnsignedRemainder,
    And,
    Or,
    Xor,
    ShiftLeft,
    SignedShiftRight,
    UnsignedShiftRight,
    SignedLeast,
    SignedGreatest,
    UnsignedLeast,
    UnsignedGreatest,
}

/// A comparison of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Comparison {
    Equal,
    NotEqual,
    SignedLess,
    SignedLessEqual,
    UnsignedLess,
    UnsignedLessEqual,
}

/// Reason why a value is unknown. [`ExpressionKind::Unknown`] also contains the source line, or 0 if that is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Reason {
    /// It was loaded from memory.
    Loaded,
    /// A function returned it.
    Called,
    /// An argument of a function that was not inlined.
    Argument,
    /// An atomic operation returned it.
    Atomic,
    /// Lanes of the warp exchanged it.
    Exchanged,
    /// It was computed in floating point.
    Float,
    /// It changes between iterations by more than a constant.
    Recurrence,
    /// It depends on the control flow.
    Path,
    /// It is a special register, such as the SM's number or a clock.
    Register,
    /// It is in local memory, which is different for each thread.
    Local,
    /// It uses an operation that expressions do not support, or too many operations.
    Complex,
}

impl Reason {
    /// Returns the reason in words, such as "loaded from memory".
    pub fn text(self) -> &'static str {
        match self {
            Reason::Loaded => "loaded from memory",
            Reason::Called => "returned by a function",
            Reason::Argument => "an argument of a function that was not inlined",
            Reason::Atomic => "returned by an atomic operation",
            Reason::Exchanged => "exchanged between lanes",
            Reason::Float => "computed in floating point",
            Reason::Recurrence => "changed by more than a constant from iteration to iteration",
            Reason::Path => "dependent on the way through the code",
            Reason::Register => "read from a register of the machine",
            Reason::Local => "in local memory",
            Reason::Complex => "computed by operations that expressions do not cover",
        }
    }
}

/// The address of one access.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressExpression {
    /// Index into [`crate::site_table::SiteTable::sites`].
    pub site: u32,
    /// Address of the first byte; in shared memory, relative to the start of the variable.
    pub address: ExpressionId,
    /// 1 in threads that make the access, in each iteration of its loops; `None` if all threads do.
    pub guard: Option<ExpressionId>,
    /// Loops around the access, outermost first.
    pub loops: Vec<LoopId>,
}

/// A loop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopExpression {
    /// Source line of its header; 0 if unknown.
    pub line: u32,
    /// Loops around this loop, outermost first.
    pub around: Vec<LoopId>,
    /// End conditions. The loop ends with the first iteration in which any of them is 1.
    pub ends: Vec<ExpressionId>,
}

/// Validates every index, so that evaluation need not: operands precede the expressions that use them, and loops follow
/// the loops around them.
pub(crate) fn check_expressions(table: &SiteTable) -> Result<(), &'static str> {
    let count = table.expressions.len();
    let expression = |id: &ExpressionId| (*id as usize) < count;
    let laps = |around: &[LoopId], limit: usize| around.iter().all(|id| (*id as usize) < limit);
    for (index, entry) in table.expressions.iter().enumerate() {
        let before = |id: ExpressionId| (id as usize) < index;
        let good = match entry.kind {
            ExpressionKind::Constant(_) | ExpressionKind::Parameter { .. } | ExpressionKind::Unknown(..) => true,
            ExpressionKind::Thread(axis)
            | ExpressionKind::Block(axis)
            | ExpressionKind::BlockSize(axis)
            | ExpressionKind::GridSize(axis) => axis < 3,
            ExpressionKind::Global(global) => (global as usize) < table.globals.len(),
            ExpressionKind::Shared(shared) => (shared as usize) < table.shared.len(),
            ExpressionKind::Counter(id) => (id as usize) < table.loops.len(),
            ExpressionKind::Binary(..)
            | ExpressionKind::Compare(..)
            | ExpressionKind::Signed(_)
            | ExpressionKind::Unsigned(_)
            | ExpressionKind::Choice(..) => entry.kind.operands().all(before),
        };
        if !good || !(1..=64).contains(&entry.bits) {
            return Err("an expression of values that it does not have");
        }
    }
    let rising = table.addresses.windows(2).all(|pair| pair[0].site < pair[1].site);
    let address = |one: &AddressExpression| {
        (one.site as usize) < table.sites.len()
            && expression(&one.address)
            && one.guard.iter().all(expression)
            && laps(&one.loops, table.loops.len())
    };
    let lap = |(index, one): (usize, &LoopExpression)| laps(&one.around, index) && one.ends.iter().all(expression);
    if !rising || !table.addresses.iter().all(address) || !table.loops.iter().enumerate().all(lap) {
        return Err("addresses of sites, or loops, that it does not have");
    }
    Ok(())
}
