//! Loops whose variable halves or doubles: no affine form has it, but each iteration by itself is affine, and they are few.

use warpline_format::expression::{Binary, ExpressionId, ExpressionKind, LoopId};

use super::form::{FIXED, counter};
use super::interpret::Interpreter;
use super::launch::Launch;
use crate::profile::model::Addresses;

/// Most iterations that such a loop has: a bit is left with each.
const MOST: i64 = 64;

/// Iterations of a loop that ends for all threads at once, by a condition that is no form; `None` where that is not so.
pub fn iterations(addresses: &Addresses, launch: &Launch, lap: LoopId) -> Option<i64> {
    let ends = &addresses.loops[lap as usize].ends;
    let alone = |kind: ExpressionKind| match kind {
        ExpressionKind::Thread(_) | ExpressionKind::Block(_) | ExpressionKind::Unknown(..) => false,
        ExpressionKind::Counter(own) => own == lap,
        _ => true,
    };
    if ends.is_empty() || !ends.iter().all(|&end| all(addresses, end, alone)) {
        return None;
    }
    let mut interpreter = Interpreter::new(addresses, launch, ends.iter().copied());
    let mut at = interpreter.origin([0; 3]);
    for number in 0..MOST {
        at[counter(lap)] = number;
        interpreter.set(&at);
        let mut over = false;
        for &end in ends {
            over |= interpreter.value(end)? & 1 == 1;
        }
        if over {
            return Some(number + 1);
        }
    }
    None
}

/// Counters that shift something in some expressions.
pub fn shifting(addresses: &Addresses, expressions: impl IntoIterator<Item = ExpressionId>) -> Vec<usize> {
    let mut found = Vec::new();
    for id in expressions {
        all(addresses, id, |kind| {
            if let ExpressionKind::Binary(operation, _, by) = kind
                && matches!(operation, Binary::ShiftLeft | Binary::SignedShiftRight | Binary::UnsignedShiftRight)
            {
                all(addresses, by, |kind| {
                    if let ExpressionKind::Counter(lap) = kind {
                        found.push(FIXED + lap as usize);
                    }
                    true
                });
            }
            true
        });
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether all that an expression is made of is as `wanted` says; stops at what is not.
fn all(addresses: &Addresses, id: ExpressionId, mut wanted: impl FnMut(ExpressionKind) -> bool) -> bool {
    let mut seen = vec![false; id as usize + 1];
    let mut work = vec![id];
    while let Some(id) = work.pop() {
        if std::mem::replace(&mut seen[id as usize], true) {
            continue;
        }
        let kind = addresses.expressions[id as usize].kind;
        if !wanted(kind) {
            return false;
        }
        match kind {
            ExpressionKind::Binary(_, left, right) | ExpressionKind::Compare(_, left, right) => {
                work.extend([left, right]);
            }
            ExpressionKind::Signed(of) | ExpressionKind::Unsigned(of) => work.push(of),
            ExpressionKind::Choice(condition, one, other) => work.extend([condition, one, other]),
            _ => {}
        }
    }
    true
}
