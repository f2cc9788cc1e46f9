//! The sum that an access's address is.

use warpline_format::expression::{
    AddressExpression, Binary, Expression, ExpressionId, ExpressionKind, LoopId, Reason, parts,
};

use super::access::Access;
use warpline_profile::model::{Argument, Kernel};

/// Terms of an address that are looked at, at most.
const MOST_TERMS: usize = 64;

/// A term of a sum.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Term {
    /// What it is multiplied by, as far as that is a number.
    pub scale: i64,
    /// It is a product with a value that is known when the program runs.
    pub times_unknown: bool,
    pub of_thread: bool,
    pub loaded: bool,
    /// The line that loads it, where that is known.
    pub loaded_at: Option<u32>,
    /// The counter of a loop around the access is a part of it.
    pub counts: bool,
    /// The counter of a loop that is over is a part of it.
    pub counted: bool,
    /// It was computed in floating point.
    pub of_floats: bool,
    /// The block's number is a part of it.
    pub of_block: bool,
    /// It is multiplied by the block's size alone.
    pub times_block_size: bool,
    /// The number of blocks is a part of it.
    pub of_grid: bool,
    /// Parameters and numbers alone, the same for all threads of a launch.
    pub is_fixed: bool,
    /// Bytes, where it is a number.
    pub constant: Option<i64>,
    /// Why a part of it is not known, and the line that it comes from; not where that says nothing that a reader could look for.
    pub unknown: Option<(Reason, u32)>,
}

/// Whether a product has the block's size as one of its factors, and no other unknown one but the block's number.
fn is_times_block_size(expressions: &[Expression], kind: ExpressionKind) -> bool {
    let ExpressionKind::Binary(Binary::Product, left, right) = kind else { return false };
    let plain = |mut id: ExpressionId| {
        loop {
            match expressions.get(id as usize)?.kind {
                ExpressionKind::Signed(of) | ExpressionKind::Unsigned(of) => id = of,
                kind => return Some(kind),
            }
        }
    };
    let is_size = |kind| matches!(kind, Some(ExpressionKind::BlockSize(_)));
    let is_block = |kind| matches!(kind, Some(ExpressionKind::Block(_)));
    let (left, right) = (plain(left), plain(right));
    is_size(left) && is_block(right) || is_block(left) && is_size(right)
}

/// An address without its numbers, as the expressions that it is a sum of with their factors: those of elements a fixed distance apart are the same.
pub(in super::super) fn without_numbers(expressions: &[Expression], address: ExpressionId) -> Vec<(ExpressionId, i64)> {
    apart(expressions, address).0
}

/// The same, and the sum of the numbers.
pub(in super::super) fn apart(expressions: &[Expression], address: ExpressionId) -> (Vec<(ExpressionId, i64)>, i64) {
    let (mut found, mut numbers) = (Vec::new(), 0i64);
    let mut open = vec![(address, 1i64)];
    while let Some((id, scale)) = open.pop() {
        let Some(one) = expressions.get(id as usize).filter(|_| found.len() < MOST_TERMS) else { continue };
        let constant = |id: ExpressionId| match expressions.get(id as usize)?.kind {
            ExpressionKind::Constant(value) => Some(value),
            _ => None,
        };
        match one.kind {
            ExpressionKind::Constant(value) => numbers = numbers.saturating_add(value.saturating_mul(scale)),
            ExpressionKind::Binary(Binary::Sum, left, right) => open.extend([(left, scale), (right, scale)]),
            ExpressionKind::Binary(Binary::Difference, left, right) => {
                open.extend([(left, scale), (right, scale.saturating_neg())]);
            }
            ExpressionKind::Signed(of) | ExpressionKind::Unsigned(of) => open.push((of, scale)),
            kind if let Some((of, by)) = scaled(kind, &constant) => open.push((of, scale.saturating_mul(by))),
            _ => found.push((id, scale)),
        }
    }
    found.sort_unstable();
    (found, numbers)
}

/// What a product or a shift multiplies, and the number that it does so by.
fn scaled(kind: ExpressionKind, constant: &dyn Fn(ExpressionId) -> Option<i64>) -> Option<(ExpressionId, i64)> {
    match kind {
        ExpressionKind::Binary(Binary::Product, left, right) => match (constant(left), constant(right)) {
            (_, Some(by)) => Some((left, by)),
            (Some(by), None) => Some((right, by)),
            (None, None) => None,
        },
        ExpressionKind::Binary(Binary::ShiftLeft, of, by) => {
            constant(by).filter(|by| (0..62).contains(by)).map(|by| (of, 1 << by))
        }
        _ => None,
    }
}

/// The terms of an access's address; none where they are not known.
pub(in super::super) fn terms_of(access: &Access<'_>) -> Vec<Term> {
    let Some(addresses) = &access.kernel.addresses else { return Vec::new() };
    let site = addresses.sites.iter().find(|one| Some(one.site) == access.site);
    site.map_or_else(Vec::new, |site| terms(&addresses.expressions, site, &|_| None))
}

/// The same with what all launches of the kernel gave for its parameters in their place.
pub(in super::super) fn terms_of_launches(access: &Access<'_>) -> Vec<Term> {
    let Some(addresses) = &access.kernel.addresses else { return Vec::new() };
    let site = addresses.sites.iter().find(|one| Some(one.site) == access.site);
    site.map_or_else(Vec::new, |site| terms(&addresses.expressions, site, &|kind| argument(access.kernel, kind)))
}

/// The number that all launches of a kernel gave for a parameter.
pub(in super::super) fn argument(kernel: &Kernel, kind: ExpressionKind) -> Option<i64> {
    let ExpressionKind::Parameter { parameter, offset } = kind else { return None };
    let mut launches = kernel.launches.iter().map(|launch| {
        let is_it = |one: &&Argument| (one.parameter, one.offset) == (parameter, offset) && one.allocation.is_none();
        let argument = launch.arguments.iter().find(is_it)?;
        // Of four bytes they are signed numbers, as almost all sizes are.
        Some(if argument.bytes == 4 { i64::from(argument.value as u32 as i32) } else { argument.value as i64 })
    });
    let first = launches.next()??;
    launches.all(|value| value == Some(first)).then_some(first)
}

/// The terms that an address is the sum of; `argument` is what is known of a parameter.
fn terms(
    expressions: &[Expression],
    address: &AddressExpression,
    argument: &dyn Fn(ExpressionKind) -> Option<i64>,
) -> Vec<Term> {
    let mut found = Vec::new();
    let mut open = vec![(address.address, 1i64)];
    while let Some((id, scale)) = open.pop() {
        let Some(one) = expressions.get(id as usize).filter(|_| found.len() < MOST_TERMS) else { continue };
        let constant = |mut id: ExpressionId| loop {
            match expressions.get(id as usize)?.kind {
                ExpressionKind::Constant(value) => break Some(value),
                ExpressionKind::Signed(of) | ExpressionKind::Unsigned(of) => id = of,
                kind => break argument(kind),
            }
        };
        match one.kind {
            ExpressionKind::Binary(Binary::Sum | Binary::Difference, left, right) => {
                open.extend([(left, scale), (right, scale)]);
            }
            ExpressionKind::Signed(of) | ExpressionKind::Unsigned(of) => open.push((of, scale)),
            kind if let Some((of, by)) = scaled(kind, &constant) => open.push((of, scale.saturating_mul(by))),
            kind => {
                let times_unknown = matches!(kind, ExpressionKind::Binary(Binary::Product, ..));
                let loaded_at = match kind {
                    ExpressionKind::Unknown(Reason::Loaded, line) if line != 0 => Some(line),
                    ExpressionKind::Choice(..) => loaded_on(expressions, id),
                    _ => None,
                };
                let constant = match kind {
                    ExpressionKind::Constant(value) => Some(value.saturating_mul(scale)),
                    _ => None,
                };
                let scale = scale.saturating_abs();
                let times_block_size = is_times_block_size(expressions, kind);
                found.push(Term {
                    scale,
                    times_unknown,
                    loaded_at,
                    times_block_size,
                    constant,
                    ..made_of(expressions, id, &address.loops)
                });
            }
        }
    }
    found
}

/// The one line that loads what a value is chosen from, whatever chooses.
fn loaded_on(expressions: &[Expression], root: ExpressionId) -> Option<u32> {
    let (mut open, mut lines) = (vec![root], std::collections::BTreeSet::new());
    for _ in 0..MOST_TERMS {
        let Some(id) = open.pop() else { break };
        match expressions.get(id as usize)?.kind {
            ExpressionKind::Choice(_, one, other) => open.extend([one, other]),
            ExpressionKind::Unknown(Reason::Loaded, line) => _ = lines.insert(line),
            kind => open.extend(kind.operands()),
        }
    }
    let first = lines.pop_first()?;
    (lines.is_empty() && first != 0).then_some(first)
}

/// What a value is made of. The counter of a loop that is over, as of the iterations that unrolling puts before the loop, moves nothing any more.
fn made_of(expressions: &[Expression], root: ExpressionId, loops: &[LoopId]) -> Term {
    let mut term = Term { of_thread: is_of_each_thread(expressions, root), is_fixed: true, ..Term::default() };
    for (_, kind) in parts(expressions, [root]) {
        term.is_fixed &= !matches!(
            kind,
            ExpressionKind::Unknown(..)
                | ExpressionKind::Counter(_)
                | ExpressionKind::Block(_)
                | ExpressionKind::Thread(_)
        );
        if let ExpressionKind::Unknown(reason, line) = kind
            && !matches!(reason, Reason::Complex | Reason::Local | Reason::Argument)
        {
            term.unknown = term.unknown.or(Some((reason, line)));
        }
        match kind {
            ExpressionKind::Block(_) => term.of_block = true,
            ExpressionKind::GridSize(_) => term.of_grid = true,
            ExpressionKind::Unknown(Reason::Loaded, _) => term.loaded = true,
            ExpressionKind::Unknown(Reason::Float, _) => term.of_floats = true,
            ExpressionKind::Counter(id) if loops.contains(&id) => term.counts = true,
            ExpressionKind::Counter(_) => term.counted = true,
            _ => {}
        }
    }
    term
}

/// Whether a value is made of the thread's number so that each thread has one of its own: not by a quotient or a remainder, nor by a choice
/// that only depends on it.
fn is_of_each_thread(expressions: &[Expression], root: ExpressionId) -> bool {
    let mut seen = std::collections::BTreeSet::new();
    let mut open = vec![root];
    while let Some(id) = open.pop() {
        let Some(one) = expressions.get(id as usize).filter(|_| seen.insert(id)) else { continue };
        match one.kind {
            ExpressionKind::Thread(_) => return true,
            ExpressionKind::Binary(
                Binary::SignedQuotient
                | Binary::UnsignedQuotient
                | Binary::SignedRemainder
                | Binary::UnsignedRemainder
                | Binary::SignedShiftRight
                | Binary::UnsignedShiftRight,
                ..,
            )
            | ExpressionKind::Compare(..) => {}
            ExpressionKind::Choice(_, one, other) => open.extend([one, other]),
            kind => open.extend(kind.operands()),
        }
    }
    false
}
