//! Address expressions: what an access's address is made of, as a graph that is evaluated once the launch is known.
//!
//! The pass does not decide what is affine. `blockIdx.x * blockDim.x` is a product of two registers until the block's
//! size is a number, and a row length is an argument until the launch; so products, quotients and comparisons stay
//! symbolic.

use crate::site_table::SiteTable;
use serde::{Deserialize, Serialize};

/// Index into [`crate::site_table::SiteTable::expressions`].
pub type ExpressionId = u32;
/// Index into [`crate::site_table::SiteTable::loops`].
pub type LoopId = u32;

/// A value of device code. Its operands are before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Expression {
    /// Width in bits, 1 to 64. Values are signed numbers of this width; pointers have 64 bits.
    pub bits: u8,
    /// The result does not wrap in lanes that use it (`nsw`, `nneg`, `inbounds`).
    pub exact: bool,
    /// What it is.
    pub kind: ExpressionKind,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ExpressionKind {
    /// A number.
    Constant(i64),
    /// `threadIdx`, axis 0 to 2.
    Thread(u8),
    /// `blockIdx`.
    Block(u8),
    /// `blockDim`.
    BlockSize(u8),
    /// `gridDim`.
    GridSize(u8),
    /// Bytes of a kernel parameter from `offset` on, as wide as the expression.
    Parameter {
        /// Number of the parameter, from 0.
        parameter: u32,
        /// Bytes from its start.
        offset: u32,
    },
    /// Address of a variable, an index into [`crate::site_table::SiteTable::globals`].
    Global(u32),
    /// Start of the variable of this number in shared memory, an index into [`crate::site_table::SiteTable::shared`].
    Shared(u32),
    /// Iterations of a loop that have ended, from 0.
    Counter(LoopId),
    /// Arithmetic.
    Binary(Binary, ExpressionId, ExpressionId),
    /// Sign extension or truncation to this width.
    Signed(ExpressionId),
    /// Zero extension.
    Unsigned(ExpressionId),
    /// 1 where the comparison holds.
    Compare(Comparison, ExpressionId, ExpressionId),
    /// The second where the first is 1, else the third.
    Choice(ExpressionId, ExpressionId, ExpressionId),
    /// A value that does not follow from a launch's numbers.
    Unknown(Reason, u32),
}

impl ExpressionKind {
    /// Returns the values that it is made of, in the order in which they stand.
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

    /// Returns the same of other values.
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

/// Returns the expressions that `roots` are made of, themselves among them, each once. Numbers that lead nowhere are left out.
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

/// Arithmetic on two values of one width.
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

/// How two values compare.
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

/// Why a value is not known; the number next to it in [`ExpressionKind::Unknown`] is the source line, 0 where that is
/// not known.
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
    /// It changes from iteration to iteration by more than a constant.
    Recurrence,
    /// It depends on the way that led here.
    Path,
    /// A register of the machine, as the SM's number or a clock.
    Register,
    /// Local memory, of which each thread has its own.
    Local,
    /// An operation, or a number of them, that expressions do not cover.
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
    /// The address of its first byte; from the variable's start on in shared memory.
    pub address: ExpressionId,
    /// 1 in threads that make the access, in each iteration of its loops; `None`: all.
    pub guard: Option<ExpressionId>,
    /// Loops around it, outermost first.
    pub loops: Vec<LoopId>,
}

/// A loop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopExpression {
    /// Source line of its head, 0 where unknown.
    pub line: u32,
    /// Loops around it, outermost first.
    pub around: Vec<LoopId>,
    /// Values that are 1 in the iteration that is the last: the loop ends with the first one in which any of them is.
    pub ends: Vec<ExpressionId>,
}

/// Compares every index with what it leads to, so that evaluation need not: operands are before what uses them, and a
/// loop after those around it.
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
