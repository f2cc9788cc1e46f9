//! Loops that step by a size that the launch gives.

use std::collections::BTreeSet;

use super::super::super::thresholds::launches::{LEAST_BLOCK_ITERATIONS, LEAST_GRID_ITERATIONS};
use super::super::profile::{Facts, warps};
use warpline_format::expression::{Binary, Expression, ExpressionId, ExpressionKind, parts};
use warpline_profile::model::Kernel;

/// Returns whether a kernel's threads step by the grid's size: then more blocks would each do less.
pub(super) fn by_grid(facts: &Facts<'_>, kernel: &Kernel) -> bool {
    steps_by(facts, kernel, has_grid, LEAST_GRID_ITERATIONS)
}

/// Returns whether they step by their block's size, and not by the grid's, through much.
pub(super) fn by_block(facts: &Facts<'_>, kernel: &Kernel) -> bool {
    steps_by(facts, kernel, has_block, LEAST_BLOCK_ITERATIONS)
}

/// Returns whether an address moves by such a size from iteration to iteration of a loop, and threads make so many of these. Where the grid covers the
/// data, its size follows from that.
fn steps_by(
    facts: &Facts<'_>,
    kernel: &Kernel,
    is_size: fn(&[Expression], ExpressionId) -> bool,
    iterations: f64,
) -> bool {
    let Some(addresses) = &kernel.addresses else { return false };
    let expressions = &addresses.expressions;
    let counter_of_size = |one: &Expression| match one.kind {
        ExpressionKind::Binary(Binary::Product, step, counter) if is_size(expressions, step) => {
            match expressions.get(counter as usize)?.kind {
                ExpressionKind::Counter(id) => Some(id),
                _ => None,
            }
        }
        _ => None,
    };
    let counters: BTreeSet<_> = expressions.iter().filter_map(counter_of_size).collect();
    // Accesses of which no other loop makes several.
    let alone = addresses.sites.iter().filter(|site| matches!(site.loops[..], [only] if counters.contains(&only)));
    let sites: BTreeSet<u32> = alone.map(|site| site.site).collect();
    let global =
        facts.accesses_of(kernel.id, "global").filter(|access| access.site.is_some_and(|site| sites.contains(&site)));
    let most = global.map(|access| access.most_requests).max();
    !counters.is_empty() && most.is_none_or(|requests| requests as f64 >= iterations * warps(kernel) as f64)
}

/// Returns whether the grid's size is a part of a value.
fn has_grid(expressions: &[Expression], root: ExpressionId) -> bool {
    parts(expressions, [root]).any(|(_, kind)| matches!(kind, ExpressionKind::GridSize(_)))
}

/// Returns whether the block's size is a part of a value, and the grid's is none.
fn has_block(expressions: &[Expression], root: ExpressionId) -> bool {
    let is_block = |(_, kind): (ExpressionId, ExpressionKind)| matches!(kind, ExpressionKind::BlockSize(_));
    !has_grid(expressions, root) && parts(expressions, [root]).any(is_block)
}
