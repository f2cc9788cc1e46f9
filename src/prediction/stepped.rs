//! Loops whose variable halves or doubles: no affine form has it, but each iteration by itself is affine, and they are few.

use warpline_format::expression::{Binary, ExpressionId, ExpressionKind, LoopId, parts};

use super::form::{FIXED, counter};
use super::interpret::Interpreter;
use super::launch::Launch;
use warpline_profile::model::Addresses;

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
    let mut made_of = parts(&addresses.expressions, ends.iter().copied());
    if ends.is_empty() || !made_of.all(|(_, kind)| alone(kind)) {
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
    for (_, kind) in parts(&addresses.expressions, expressions) {
        if let ExpressionKind::Binary(operation, _, by) = kind
            && matches!(operation, Binary::ShiftLeft | Binary::SignedShiftRight | Binary::UnsignedShiftRight)
        {
            found.extend(parts(&addresses.expressions, [by]).filter_map(|(_, kind)| match kind {
                ExpressionKind::Counter(lap) => Some(FIXED + lap as usize),
                _ => None,
            }));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
