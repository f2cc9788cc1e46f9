//! Addresses as sums of terms, derived from their expressions.

use std::collections::BTreeSet;

use super::super::prelude::*;
use warpline_format::expression::ExpressionKind as Kind;
use warpline_format::expression::{Binary, Expression, ExpressionId, LoopId, Reason, parts};
use warpline_profile::model::Argument;

/// Maximum number of addends of an address that are examined.
const MOST_ADDENDS: usize = 64;
/// Maximum depth of an expression of constants.
const MOST_DEPTH: usize = 8;

/// The address of an access.
#[derive(Clone, Copy)]
pub struct Address<'a> {
    pub expressions: &'a [Expression],
    pub root: ExpressionId,
    /// Loops around the access, outermost loop first.
    pub loops: &'a [LoopId],
    kernel: &'a Kernel,
}

/// An addend of an address that cannot be divided further into sums or products with constants.
#[derive(Clone, Copy, Debug)]
pub struct Addend {
    pub id: ExpressionId,
    pub kind: Kind,
    /// Constant factor of the addend.
    pub scale: i64,
    /// Number of bytes that enclosing expressions add to the addend.
    pub shift: i64,
    /// Whether an enclosing expression clamps, wraps or selects the addend.
    pub is_held: bool,
    /// Constant factor of the addend's product with a parameter, for example with the length of a row.
    pub row: Option<i64>,
}

/// Options of the division of expressions into terms.
#[derive(Clone, Copy, Default)]
struct Depth {
    /// Whether a parameter is replaced by its value if all launches passed the same value.
    arguments: bool,
    /// Whether minima, maxima, remainders and selections are divided as well.
    bounds: bool,
}

/// The terms of an address except constants, with their factors, and the sum of the constants.
pub type TermsAndOffset = (Vec<(ExpressionId, i64)>, i64);

/// Returns the address of an access, derived from its site with the most sectors.
pub fn address<'a>(access: &Access<'a>) -> Option<Address<'a>> {
    let addresses = access.kernel.addresses.as_ref()?;
    let site = addresses.sites.iter().find(|one| Some(one.site) == access.site)?;
    let (expressions, root) = (&addresses.expressions[..], site.address);
    Some(Address { expressions, root, loops: &site.loops, kernel: access.kernel })
}

/// Returns the terms that are equal for all elements a fixed distance apart, and the offset in bytes.
pub fn terms_and_offset(access: &Access<'_>) -> Option<TermsAndOffset> {
    address(access).map(|address| address.terms_and_offset())
}

/// Returns the terms and the offset of another address of the access's kernel.
pub fn terms_and_offset_at(kernel: &Kernel, root: ExpressionId) -> Option<TermsAndOffset> {
    let expressions = &kernel.addresses.as_ref()?.expressions[..];
    Some(Address { expressions, root, loops: &[], kernel }.terms_and_offset())
}

/// Returns whether neighbouring threads access neighbouring elements except at a border. At a border, the index is
/// clamped (`min(max(i, 0), n - 1)`) or wraps around (`(i + 1) % n`).
pub fn is_held_within(access: &Access<'_>) -> bool {
    let Some(address) = address(access) else { return false };
    let addends = address.thread_addends();
    let by_elements =
        |addend: &Addend| address.is_thread(addend.kind) && addend.scale.unsigned_abs() == u64::from(access.bytes);
    addends.iter().all(by_elements) && addends.iter().any(|addend| addend.is_held)
}

/// Returns whether the access is to an element next to the thread's own element: to the previous element, or to either
/// neighbour if the index is clamped or wraps around.
pub fn is_neighbour(access: &Access<'_>) -> bool {
    address(access).is_some_and(|address| address.is_neighbour())
}

/// Returns the number of bytes by which the thread index is multiplied, if all addends have the same factor.
pub fn thread_factor(access: &Access<'_>) -> Option<u64> {
    let address = address(access)?;
    let length = |addend: &Addend| address.is_thread(addend.kind).then_some(addend.scale.unsigned_abs());
    one_of(address.thread_addends().iter().map(length))
}

/// Returns the number of bytes per row of the accessed data, if a parameter determines it.
pub fn row_bytes(access: &Access<'_>) -> Option<u64> {
    let address = address(access)?;
    let counts_rows = |kind| matches!(kind, Kind::Counter(_) | Kind::Block(_));
    let rows = address.divide(Depth { arguments: true, bounds: false });
    one_of(rows.iter().filter(|addend| address.is_in(addend.id, counts_rows)).filter_map(|addend| addend.row).map(
        |row| {
            let row = row.unsigned_abs();
            (row > 0).then_some(row)
        },
    ))
}

/// Returns whether blocks start within sectors, because the block index is multiplied by the number of elements per
/// block. A parameter as the only factor is the length of a row.
pub fn has_blocks_off_sectors(access: &Access<'_>) -> bool {
    let Some(address) = address(access) else { return false };
    let block = Kind::Block(lane_axis(access.kernel) as u8);
    let is_off = |of: ExpressionId, by: ExpressionId| {
        let by_elements = !matches!(address.plain(by), Some(Kind::Parameter { .. }));
        let bytes = address.number(by, true).map(|(elements, _)| elements.saturating_mul(access.bytes.into()));
        address.plain(of) == Some(block) && by_elements && bytes.is_none_or(|bytes| bytes % SECTOR_BYTES as i64 != 0)
    };
    parts(address.expressions, [address.root]).any(|(_, kind)| match kind {
        Kind::Binary(Binary::Product, left, right) => is_off(left, right) || is_off(right, left),
        _ => false,
    })
}

/// Returns whether the thread index is multiplied or shifted by a value of this kind.
pub fn is_multiplied_by(access: &Access<'_>, what: fn(Kind) -> bool) -> bool {
    let Some(address) = address(access) else { return false };
    let pair = |of, by| address.is_in(of, |kind| address.is_thread(kind)) && address.is_in(by, what);
    parts(address.expressions, [address.root]).any(|(_, kind)| match kind {
        Kind::Binary(Binary::Product, left, right) => pair(left, right) || pair(right, left),
        Kind::Binary(Binary::ShiftLeft, of, by) => pair(of, by),
        _ => false,
    })
}

/// Returns the common value, if all values are equal.
fn one_of(values: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    let mut all = values.collect::<Option<BTreeSet<u64>>>()?;
    let first = all.pop_first()?;
    all.is_empty().then_some(first)
}

impl Address<'_> {
    fn kind(&self, id: ExpressionId) -> Option<Kind> {
        self.expressions.get(id as usize).map(|one| one.kind)
    }

    /// Returns the value without conversions.
    fn plain(&self, id: ExpressionId) -> Option<Kind> {
        match self.kind(id)? {
            Kind::Signed(of) | Kind::Unsigned(of) => self.plain(of),
            kind => Some(kind),
        }
    }

    /// Returns whether a value contains a subexpression of this kind.
    pub fn is_in(&self, id: ExpressionId, what: impl Fn(Kind) -> bool) -> bool {
        parts(self.expressions, [id]).any(|(_, kind)| what(kind))
    }

    /// Returns whether the value is the thread index in the dimension of the lanes.
    fn is_thread(&self, kind: Kind) -> bool {
        kind == Kind::Thread(lane_axis(self.kernel) as u8)
    }

    /// Returns the constant to which a value evaluates, and whether it contains a parameter.
    fn number(&self, id: ExpressionId, arguments: bool) -> Option<(i64, bool)> {
        self.number_below(id, arguments, MOST_DEPTH)
    }

    fn number_below(&self, id: ExpressionId, arguments: bool, depth: usize) -> Option<(i64, bool)> {
        let depth = depth.checked_sub(1)?;
        let of = |id| self.number_below(id, arguments, depth);
        match self.kind(id)? {
            Kind::Constant(value) => Some((value, false)),
            Kind::Signed(value) | Kind::Unsigned(value) => of(value),
            Kind::BlockSize(axis) if arguments => {
                Some((i64::from(block_of(self.kernel)?.get(axis as usize).copied()?), false))
            }
            kind @ Kind::Parameter { .. } if arguments => argument(self.kernel, kind).map(|value| (value, true)),
            Kind::Binary(operation, left, right) if arguments => {
                let ((left, one), (right, other)) = (of(left)?, of(right)?);
                let value = match operation {
                    Binary::Sum => left.checked_add(right),
                    Binary::Difference => left.checked_sub(right),
                    Binary::Product => left.checked_mul(right),
                    _ => None,
                };
                value.map(|value| (value, one || other))
            }
            _ => None,
        }
    }

    /// Returns the factor of a product or shift that is not constant, the constant factor, and whether a parameter is
    /// part of the constant.
    fn scaled(&self, kind: Kind, arguments: bool) -> Option<(ExpressionId, i64, bool)> {
        match kind {
            Kind::Binary(Binary::Product, left, right) => match self.number(right, arguments) {
                Some((by, given)) => Some((left, by, given)),
                None => self.number(left, arguments).map(|(by, given)| (right, by, given)),
            },
            Kind::Binary(Binary::ShiftLeft, of, by) => self
                .number(by, arguments)
                .filter(|(by, _)| (0..62).contains(by))
                .map(|(by, given)| (of, 1 << by, given)),
            _ => None,
        }
    }

    fn divide(&self, depth: Depth) -> Vec<Addend> {
        let mut found = Vec::new();
        let root = Addend { id: self.root, kind: Kind::Constant(0), scale: 1, shift: 0, is_held: false, row: None };
        let mut open = vec![root];
        while let Some(addend) = open.pop() {
            let Some(kind) = self.kind(addend.id).filter(|_| found.len() < MOST_ADDENDS) else { continue };
            let held = |id| Addend { id, is_held: true, ..addend };
            let moved = |by: ExpressionId, sign: i64| {
                let by = self.number(by, false).map_or(0, |(by, _)| by.saturating_mul(sign));
                addend.shift.saturating_add(by.saturating_mul(addend.scale))
            };
            match kind {
                Kind::Signed(id) | Kind::Unsigned(id) => open.push(Addend { id, ..addend }),
                Kind::Binary(operation @ (Binary::Sum | Binary::Difference), left, right) => {
                    let sign = if operation == Binary::Sum { 1 } else { -1 };
                    let scale = addend.scale.saturating_mul(sign);
                    open.push(Addend { id: left, shift: moved(right, sign), ..addend });
                    open.push(Addend { id: right, shift: moved(left, 1), scale, ..addend });
                }
                Kind::Choice(_, one, other) if depth.bounds => open.extend([held(one), held(other)]),
                Kind::Binary(
                    Binary::SignedLeast | Binary::SignedGreatest | Binary::UnsignedLeast | Binary::UnsignedGreatest,
                    left,
                    right,
                ) if depth.bounds => open.extend([held(left), held(right)]),
                Kind::Binary(Binary::SignedRemainder | Binary::UnsignedRemainder | Binary::And, of, by)
                    if depth.bounds && !self.is_in(by, |kind| self.is_thread(kind)) =>
                {
                    open.push(held(of));
                }
                kind => match self.scaled(kind, depth.arguments) {
                    Some((id, by, given)) => {
                        let scale = addend.scale.saturating_mul(by);
                        open.push(Addend { id, scale, row: addend.row.or(given.then_some(scale)), ..addend });
                    }
                    None => found.push(Addend { kind, ..addend }),
                },
            }
        }
        found
    }

    /// Returns the addends that contain the thread index, including those inside clamps, remainders and selections.
    fn thread_addends(&self) -> Vec<Addend> {
        let mut addends = self.divide(Depth { arguments: false, bounds: true });
        addends.retain(|addend| self.is_in(addend.id, |kind| self.is_thread(kind)));
        addends
    }

    fn is_neighbour(&self) -> bool {
        let is_shifted = |addend: &Addend| addend.shift < 0 || addend.is_held && addend.shift != 0;
        self.thread_addends().iter().any(|addend| self.is_thread(addend.kind) && is_shifted(addend))
    }

    fn terms_and_offset(&self) -> TermsAndOffset {
        let (numbers, others): (Vec<Addend>, Vec<Addend>) =
            self.divide(Depth::default()).into_iter().partition(|addend| matches!(addend.kind, Kind::Constant(_)));
        let mut others: Vec<(ExpressionId, i64)> = others.iter().map(|addend| (addend.id, addend.scale)).collect();
        others.sort_unstable();
        let value = |addend: &Addend| {
            if let Kind::Constant(value) = addend.kind { value.saturating_mul(addend.scale) } else { 0 }
        };
        (others, numbers.iter().map(value).fold(0, i64::saturating_add))
    }
}

/// Returns the value that all launches of a kernel passed for a parameter.
fn argument(kernel: &Kernel, kind: Kind) -> Option<i64> {
    let Kind::Parameter { parameter, offset } = kind else { return None };
    let mut launches = kernel.launches.iter().map(|launch| {
        let is_it = |one: &&Argument| (one.parameter, one.offset) == (parameter, offset) && one.allocation.is_none();
        let argument = launch.arguments.iter().find(is_it)?;
        // Parameters of four bytes are interpreted as signed numbers, because most sizes have the type `int`.
        Some(if argument.bytes == 4 { i64::from(argument.value as u32 as i32) } else { argument.value as i64 })
    });
    let first = launches.next()??;
    launches.all(|value| value == Some(first)).then_some(first)
}

/// A term of an address, classified by its contents.
#[derive(Clone, Copy, Debug, Default)]
pub struct Term {
    /// Constant part of the term's factor.
    pub scale: i64,
    /// Whether the term is a product with a value that is known only at run time.
    pub times_unknown: bool,
    pub of_thread: bool,
    pub loaded: bool,
    /// Line of the load of the value, if it is known.
    pub loaded_at: Option<u32>,
    /// Whether the term contains the counter of a loop around the access.
    pub counts: bool,
    /// Whether the term contains the block index.
    pub of_block: bool,
    /// Whether the term was computed in floating point.
    pub of_floats: bool,
    /// Whether the term contains the number of blocks.
    pub of_grid: bool,
    /// Whether the term consists of parameters and constants only, so that it is the same for all threads of a launch.
    pub is_fixed: bool,
    /// Value in bytes, if the term is a constant.
    pub constant: Option<i64>,
}

/// Returns the terms of an access's address, or no terms if they are unknown.
pub fn terms_of(access: &Access<'_>) -> Vec<Term> {
    address(access).map_or_else(Vec::new, |address| address.terms(Depth::default()))
}

/// Returns the terms of an access's address, with parameters replaced by the values that all launches passed.
pub fn terms_of_launches(access: &Access<'_>) -> Vec<Term> {
    address(access).map_or_else(Vec::new, |address| address.terms(Depth { arguments: true, bounds: false }))
}

impl Address<'_> {
    fn terms(&self, depth: Depth) -> Vec<Term> {
        self.divide(depth).iter().map(|addend| self.term(addend)).collect()
    }

    fn term(&self, addend: &Addend) -> Term {
        let is_in = |what: fn(Kind) -> bool| self.is_in(addend.id, what);
        let varies = |kind| matches!(kind, Kind::Unknown(..) | Kind::Counter(_) | Kind::Block(_) | Kind::Thread(_));
        // A counter does not change outside its loop. Remainder loops have such counters of loops that have ended.
        let counts = |kind| matches!(kind, Kind::Counter(id) if self.loops.contains(&id));
        Term {
            scale: addend.scale.saturating_abs(),
            times_unknown: matches!(addend.kind, Kind::Binary(Binary::Product, ..)),
            of_thread: self.is_of_each_thread(addend.id),
            loaded: is_in(|kind| matches!(kind, Kind::Unknown(Reason::Loaded, _))),
            loaded_at: self.loaded_on(addend.id),
            counts: self.is_in(addend.id, counts),
            of_block: is_in(|kind| matches!(kind, Kind::Block(_))),
            of_floats: is_in(|kind| matches!(kind, Kind::Unknown(Reason::Float, _))),
            of_grid: is_in(|kind| matches!(kind, Kind::GridSize(_))),
            is_fixed: !self.is_in(addend.id, varies),
            constant: if let Kind::Constant(value) = addend.kind {
                Some(value.saturating_mul(addend.scale))
            } else {
                None
            },
        }
    }

    /// Returns the line that loads a value, or that loads all alternatives of a selection.
    fn loaded_on(&self, id: ExpressionId) -> Option<u32> {
        let line = |(_, kind)| if let Kind::Unknown(Reason::Loaded, line) = kind { Some(line) } else { None };
        let is_chosen = matches!(self.kind(id)?, Kind::Choice(..) | Kind::Unknown(..));
        let mut lines: BTreeSet<u32> = parts(self.expressions, [id]).filter_map(line).collect();
        let first = lines.pop_first()?;
        (is_chosen && lines.is_empty() && first != 0).then_some(first)
    }

    /// Returns whether each thread has a different value because the value depends on the thread index. Quotients,
    /// remainders and selections that only compare the thread index do not count.
    fn is_of_each_thread(&self, id: ExpressionId) -> bool {
        self.is_made_of(
            id,
            |kind| matches!(kind, Kind::Thread(_)),
            |kind| {
                matches!(
                    kind,
                    Kind::Binary(
                        Binary::SignedQuotient
                            | Binary::UnsignedQuotient
                            | Binary::SignedRemainder
                            | Binary::UnsignedRemainder
                            | Binary::SignedShiftRight
                            | Binary::UnsignedShiftRight,
                        ..
                    )
                )
            },
        )
    }

    /// Returns whether a value contains a subexpression of this kind. Conditions of selections, and subexpressions for
    /// which `stops` returns true, are ignored.
    pub fn is_made_of(&self, id: ExpressionId, what: fn(Kind) -> bool, stops: fn(Kind) -> bool) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            let Some(kind) = self.kind(id).filter(|_| seen.insert(id)) else { continue };
            match kind {
                kind if what(kind) => return true,
                Kind::Compare(..) => {}
                Kind::Choice(_, one, other) => open.extend([one, other]),
                kind if stops(kind) => {}
                kind => open.extend(kind.operands()),
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::Kind::{Choice, Compare, Constant, Thread};
    use super::*;
    use warpline_format::expression::Comparison;

    fn binary(operation: Binary, left: ExpressionId, right: ExpressionId) -> Kind {
        Kind::Binary(operation, left, right)
    }

    fn with<T>(kinds: &[Kind], value: impl Fn(&Address<'_>) -> T) -> T {
        let expressions: Vec<Expression> =
            kinds.iter().map(|&kind| Expression { bits: 32, exact: true, kind }).collect();
        let root = expressions.len() as u32 - 1;
        value(&Address { expressions: &expressions, root, loops: &[], kernel: &Kernel::default() })
    }

    #[test]
    fn bounds_are_divided() {
        let number = [Thread(0), Constant(1), binary(Binary::Sum, 0, 1), Constant(99), Constant(4)];
        let steps = |more: &[Kind]| {
            with(&[&number[..], more].concat(), |address| {
                let addends = address.thread_addends();
                addends.iter().map(|addend| (addend.kind, addend.scale, addend.is_held)).collect::<Vec<_>>()
            })
        };
        // 4 * min(threadIdx.x + 1, 99), 4 * ((threadIdx.x + 1) % 99), 4 * (threadIdx.x == 99 ? 99 : threadIdx.x + 1)
        assert_eq!(steps(&[binary(Binary::SignedLeast, 2, 3), binary(Binary::Product, 5, 4)]), [(Thread(0), 4, true)]);
        assert_eq!(
            steps(&[binary(Binary::UnsignedRemainder, 2, 3), binary(Binary::Product, 5, 4)]),
            [(Thread(0), 4, true)]
        );
        let chosen = [Compare(Comparison::Equal, 0, 3), Choice(5, 3, 2), binary(Binary::Product, 6, 4)];
        assert_eq!(steps(&chosen), [(Thread(0), 4, true)]);
        // 4 * (threadIdx.x + 1) has no bounds, and a quotient is not a thread index.
        assert_eq!(steps(&[binary(Binary::Product, 2, 4)]), [(Thread(0), 4, false)]);
        assert!(!matches!(steps(&[binary(Binary::UnsignedQuotient, 2, 4)])[..], [(Thread(0), ..)]));
    }

    #[test]
    fn the_element_before_is_a_neighbour() {
        let before = [Thread(0), Constant(-1), binary(Binary::Sum, 0, 1), Constant(99), Constant(4)];
        let behind = [Thread(0), Constant(1), binary(Binary::Sum, 0, 1), Constant(99), Constant(4)];
        let beside = |first: &[Kind], more: &[Kind]| with(&[first, more].concat(), |address| address.is_neighbour());
        // 4 * (threadIdx.x - 1), and threadIdx.x == 99 ? 99 : threadIdx.x - 1
        assert!(beside(&before, &[binary(Binary::Product, 2, 4)]));
        assert!(beside(&before, &[Compare(Comparison::Equal, 0, 3), Choice(5, 3, 2)]));
        // The next element counts only if the index is clamped: 4 * (threadIdx.x + 1), min(threadIdx.x + 1, 99).
        assert!(!beside(&behind, &[binary(Binary::Product, 2, 4)]));
        assert!(beside(&behind, &[binary(Binary::SignedLeast, 2, 3)]));
        // 4 * threadIdx.x, and 4 * (threadIdx.x + 1) - 4, which is equal.
        assert!(!beside(&before, &[binary(Binary::Product, 0, 4)]));
        assert!(!beside(&behind, &[binary(Binary::Product, 2, 4), Constant(-4), binary(Binary::Sum, 5, 6)]));
    }
}
