//! Grid-stride loops.

use super::super::super::prelude::*;
use super::super::super::thresholds::launches::*;
use std::collections::BTreeSet;
use warpline_format::expression::{Binary, Expression, ExpressionKind, parts};

/// Returns whether a kernel has grid-stride loops, so that each block would do less work if there were more blocks. The
/// address changes by the grid's size in each iteration of a loop, and threads execute several iterations. If the grid
/// covers the data, the number of blocks depends on the size of the data.
pub(super) fn by_grid(facts: &Facts<'_>, kernel: &Kernel) -> bool {
    let Some(addresses) = &kernel.addresses else { return false };
    let expressions = &addresses.expressions;
    let has_grid = |id| parts(expressions, [id]).any(|(_, kind)| matches!(kind, ExpressionKind::GridSize(_)));
    let counter_of_size = |one: &Expression| match one.kind {
        ExpressionKind::Binary(Binary::Product, step, counter) if has_grid(step) => {
            match expressions.get(counter as usize)?.kind {
                ExpressionKind::Counter(id) => Some(id),
                _ => None,
            }
        }
        _ => None,
    };
    let counters: BTreeSet<_> = expressions.iter().filter_map(counter_of_size).collect();
    // Accesses that no other loop contains.
    let alone = addresses.sites.iter().filter(|site| matches!(site.loops[..], [only] if counters.contains(&only)));
    let sites: BTreeSet<u32> = alone.map(|site| site.site).collect();
    let global =
        facts.accesses_of(kernel.id, "global").filter(|access| access.site.is_some_and(|site| sites.contains(&site)));
    let most = global.map(|access| access.most_requests).max();
    let least = LEAST_GRID_ITERATIONS * warps(kernel) as f64;
    !counters.is_empty() && most.is_none_or(|requests| requests as f64 >= least)
}
