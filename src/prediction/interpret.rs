//! The value of expressions for one thread: slow and obvious. What is not affine is counted with it, and what is affine is
//! tested against it.

use warpline_format::expression::{Binary, Comparison, ExpressionId, ExpressionKind, LoopId, parts};

use super::form::{Bounds, FIXED, THREADS, block};
use super::launch::Launch;
use warpline_profile::model::Addresses;

/// A number as one of `bits` bits with a sign.
#[inline(always)]
pub fn wrap(value: i64, bits: u8) -> i64 {
    let unused = 64 - u32::from(bits.clamp(1, 64));
    value << unused >> unused
}

/// The bits of a number of `bits` bits.
#[inline(always)]
pub fn bits_of(value: i64, bits: u8) -> u64 {
    if bits >= 64 { value as u64 } else { value as u64 & ((1 << bits) - 1) }
}

/// Two numbers of `bits` bits; `None` for a division by zero.
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

/// Whether two numbers of `bits` bits compare so.
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

/// Evaluates some expressions of a kernel for one thread after the other.
pub struct Interpreter<'a> {
    addresses: &'a Addresses,
    launch: &'a Launch,
    /// Those that are needed and depend on the thread, and those that depend on other indices alone: rising, so that operands come first.
    of_threads: Vec<ExpressionId>,
    of_others: Vec<ExpressionId>,
    values: Vec<Option<i64>>,
    /// The indices for which the latter have their values, behind the thread's.
    others: Vec<i64>,
}

/// Expressions by what their values depend on, each rising, so that operands come first.
#[derive(Debug, Default)]
pub struct Order {
    /// On the launch.
    pub of_launch: Vec<ExpressionId>,
    /// On blocks or iterations.
    pub of_others: Vec<ExpressionId>,
    /// On threads.
    pub of_threads: Vec<ExpressionId>,
}

impl Order {
    /// Of `wanted` expressions and what they are made of. Counters of the loops `by_thread` are each thread's own.
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
                ExpressionKind::Counter(lap) if by_thread.contains(&lap) => Depends::Thread,
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

/// What the value of an expression depends on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Depends {
    Nothing,
    Others,
    Thread,
}

/// A value that the launch gives, of a kind without operands.
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

impl<'a> Interpreter<'a> {
    /// For `wanted` expressions and what they are made of.
    pub fn new(addresses: &'a Addresses, launch: &'a Launch, wanted: impl IntoIterator<Item = ExpressionId>) -> Self {
        let Order { of_launch, of_others, of_threads } = Order::new(addresses, wanted, &[]);
        let values = vec![None; addresses.expressions.len()];
        let mut found = Interpreter { addresses, launch, of_threads, of_others, values, others: Vec::new() };
        for id in of_launch {
            found.values[id as usize] = found.node(id, &[]);
        }
        found
    }

    /// Evaluates them all at a point: `at` has the indices in the order of [`super::form`].
    pub fn set(&mut self, at: &[i64]) {
        let others = at.get(THREADS..).unwrap_or_default();
        if self.others != others || others.is_empty() {
            self.others.clear();
            self.others.extend_from_slice(others);
            for number in 0..self.of_others.len() {
                let id = self.of_others[number];
                self.values[id as usize] = self.node(id, at);
            }
        }
        for number in 0..self.of_threads.len() {
            let id = self.of_threads[number];
            self.values[id as usize] = self.node(id, at);
        }
    }

    /// The value of an expression at that point; `None` where it is not known.
    pub fn value(&self, id: ExpressionId) -> Option<i64> {
        self.values.get(id as usize).copied().flatten()
    }

    #[inline(always)]
    fn node(&self, id: ExpressionId, at: &[i64]) -> Option<i64> {
        let entry = self.addresses.expressions[id as usize];
        let value = |id: ExpressionId| self.values[id as usize];
        match entry.kind {
            ExpressionKind::Thread(axis) => at.get(usize::from(axis)).copied(),
            ExpressionKind::Block(axis) => at.get(block(axis.into())).copied(),
            ExpressionKind::Counter(lap) => at.get(FIXED + lap as usize).copied(),
            ExpressionKind::Binary(operation, left, right) if entry.bits == 1 => {
                // A side that is not known may not matter.
                let known = |of: ExpressionId| value(of).map(|of| of & 1);
                match (operation, known(left), known(right)) {
                    (Binary::And, Some(0), _) | (Binary::And, _, Some(0)) => Some(0),
                    (Binary::Or, Some(1), _) | (Binary::Or, _, Some(1)) => Some(-1),
                    (_, Some(_), Some(_)) => combine(operation, value(left)?, value(right)?, 1),
                    _ => None,
                }
            }
            ExpressionKind::Binary(operation, left, right) => {
                combine(operation, value(left)?, value(right)?, entry.bits)
            }
            ExpressionKind::Signed(of) => Some(wrap(value(of)?, entry.bits)),
            ExpressionKind::Unsigned(of) => {
                let inner = self.addresses.expressions[of as usize].bits;
                Some(wrap(bits_of(value(of)?, inner) as i64, entry.bits))
            }
            ExpressionKind::Compare(comparison, left, right) => {
                let bits = self.addresses.expressions[left as usize].bits;
                Some(-i64::from(compare(comparison, value(left)?, value(right)?, bits)))
            }
            ExpressionKind::Choice(condition, one, other) => {
                if value(condition)? & 1 == 1 {
                    value(one)
                } else {
                    value(other)
                }
            }
            kind => of_launch(self.addresses, self.launch, kind, entry.bits),
        }
    }

    /// All indices of the first thread of a block, with loop counters 0.
    pub fn origin(&self, place: [u32; 3]) -> Vec<i64> {
        let mut at = vec![0; FIXED + self.addresses.loops.len()];
        for (axis, &number) in place.iter().enumerate() {
            at[block(axis)] = i64::from(number);
        }
        at
    }
}

/// Ranges of all indices of a launch; loop counters have one value until their loops are known.
pub fn bounds_of(launch: &Launch, loops: usize) -> Bounds {
    let sizes = launch.indices.iter().chain(&launch.grid);
    let fixed = sizes.map(|&size| (0, i64::from(size) - 1));
    Bounds(fixed.chain(std::iter::repeat_n((0, 0), loops)).collect())
}
