//! Applies operations of expressions to numbers, and determines the indices that expressions depend on.

use warpline_format::expression::{Binary, Comparison, ExpressionId, ExpressionKind, LoopId, parts};

use super::form::{Bounds, FIXED, block};
use super::launch::Launch;
use warpline_profile::model::Addresses;

/// Wraps a number to a signed number of `bits` bits.
#[inline(always)]
pub fn wrap(value: i64, bits: u8) -> i64 {
    let unused = 64 - u32::from(bits.clamp(1, 64));
    value << unused >> unused
}

/// Returns the bits of a number of `bits` bits.
#[inline(always)]
pub fn bits_of(value: i64, bits: u8) -> u64 {
    if bits >= 64 { value as u64 } else { value as u64 & ((1 << bits) - 1) }
}

/// Applies an operation to two numbers of `bits` bits; `None` for a division by zero.
#[inline(always)]
pub fn combine(operation: Binary, left: i64, right: i64, bits: u8) -> Option<i64> {
    let (natural, other) = (bits_of(left, bits), bits_of(right, bits));
    let shift = (other < u64::from(bits)).then_some(other as u32);
    let result = match operation {
        Binary::Sum => left.wrapping_add(right),
        Binary::Difference => left.wrapping_sub(right),
        Binary::Product => left.wrapping_mul(right),
        Binary::SignedQuotient => left.checked_div(right)?,
        Binary::SignedRemainder => left.checked_rem(right)?,
        Binary::UnsignedQuotient => natural.checked_div(other)? as i64,
        Binary::UnsignedRemainder => natural.checked_rem(other)? as i64,
        Binary::And => left & right,
        Binary::Or => left | right,
        Binary::Xor => left ^ right,
        Binary::ShiftLeft => left << shift?,
        Binary::SignedShiftRight => left >> shift?,
        Binary::UnsignedShiftRight => (natural >> shift?) as i64,
        Binary::SignedLeast => left.min(right),
        Binary::SignedGreatest => left.max(right),
        Binary::UnsignedLeast => natural.min(other) as i64,
        Binary::UnsignedGreatest => natural.max(other) as i64,
    };
    Some(wrap(result, bits))
}

/// Returns the result of a comparison of two numbers of `bits` bits.
#[inline(always)]
pub fn compare(comparison: Comparison, left: i64, right: i64, bits: u8) -> bool {
    let (natural, other) = (bits_of(left, bits), bits_of(right, bits));
    match comparison {
        Comparison::Equal => left == right,
        Comparison::NotEqual => left != right,
        Comparison::SignedLess => left < right,
        Comparison::SignedLessEqual => left <= right,
        Comparison::UnsignedLess => natural < other,
        Comparison::UnsignedLessEqual => natural <= other,
    }
}

/// Expressions grouped by the indices that they depend on. Each group is in ascending order, so operands come first.
#[derive(Debug, Default)]
pub struct Order {
    /// Expressions that depend only on the launch.
    pub of_launch: Vec<ExpressionId>,
    /// Expressions that depend on blocks or iterations.
    pub of_others: Vec<ExpressionId>,
    /// Expressions that depend on threads.
    pub of_threads: Vec<ExpressionId>,
}

impl Order {
    /// Groups `wanted` expressions and their operands. The counters of the loops `by_thread` depend on the thread.
    pub fn new(addresses: &Addresses, wanted: impl IntoIterator<Item = ExpressionId>, by_thread: &[LoopId]) -> Order {
        let mut needed: Vec<ExpressionId> = parts(&addresses.expressions, wanted).map(|(id, _)| id).collect();
        needed.sort_unstable();
        needed.dedup();
        let mut found = Order::default();
        let mut depends = vec![Depends::Nothing; addresses.expressions.len()];
        for id in needed {
            let kind = addresses.expressions[id as usize].kind;
            let own = match kind {
                ExpressionKind::Thread(_) => Depends::Thread,
                ExpressionKind::Counter(loop_id) if by_thread.contains(&loop_id) => Depends::Thread,
                ExpressionKind::Block(_) | ExpressionKind::Counter(_) => Depends::Others,
                _ => kind.operands().map(|operand| depends[operand as usize]).max().unwrap_or(Depends::Nothing),
            };
            depends[id as usize] = own;
            let list = match own {
                Depends::Nothing => &mut found.of_launch,
                Depends::Others => &mut found.of_others,
                Depends::Thread => &mut found.of_threads,
            };
            list.push(id);
        }
        found
    }
}

/// The indices that the value of an expression depends on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Depends {
    Nothing,
    Others,
    Thread,
}

/// Returns the value of an expression without operands that depends only on the launch.
pub fn of_launch(addresses: &Addresses, launch: &Launch, kind: ExpressionKind, bits: u8) -> Option<i64> {
    match kind {
        ExpressionKind::Constant(number) => Some(number),
        ExpressionKind::BlockSize(axis) => launch.block.get(usize::from(axis)).map(|&size| i64::from(size)),
        ExpressionKind::GridSize(axis) => launch.grid.get(usize::from(axis)).map(|&size| i64::from(size)),
        ExpressionKind::Parameter { parameter, offset } => {
            launch.arguments.get(&(parameter, offset)).map(|&value| wrap(value as i64, bits))
        }
        ExpressionKind::Global(number) => {
            addresses.globals.iter().find(|one| one.number == number).map(|one| one.address as i64)
        }
        // Each variable starts at a multiple of all banks.
        ExpressionKind::Shared(_) => Some(0),
        _ => None,
    }
}

/// Returns all indices of the first thread of a block, with loop counters at 0.
pub fn origin(place: [u32; 3], loops: usize) -> Vec<i64> {
    let mut at = vec![0; FIXED + loops];
    for (axis, &number) in place.iter().enumerate() {
        at[block(axis)] = i64::from(number);
    }
    at
}

/// Returns the ranges of all indices of a launch. Loop counters have one value until their loops are solved.
pub fn bounds_of(launch: &Launch, loops: usize) -> Bounds {
    let sizes = launch.indices.iter().chain(&launch.grid);
    let fixed = sizes.map(|&size| (0, i64::from(size) - 1));
    Bounds(fixed.chain(std::iter::repeat_n((0, 0), loops)).collect())
}
