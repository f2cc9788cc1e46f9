//! Thread coarsening: each thread does the work of several adjacent points.
//!
//! Along a folded axis, a thread processes the points `F · i` to `F · i + F - 1`. The index becomes `F · threadIdx +
//! j`, and a block covers `F · blockDim` points. Code that depends on `j` exists once for each `j`; other code exists
//! once.

use warpline_format::expression::{AddressExpression, Binary, ExpressionKind, LoopExpression, LoopId};

use super::graph::Graph;
use super::{ChangeError, Origin};
use warpline_profile::model::Addresses;

/// Maximum number of points per thread.
const MOST_POINTS: u64 = 64;

/// Returns the expressions of folded code, and the origin of each of its sites.
///
/// # Errors
/// [`ChangeError::TooMany`].
pub fn folded(addresses: &Addresses, fold: [u32; 3]) -> Result<(Addresses, Vec<Origin>), ChangeError> {
    let points: u64 = fold.iter().map(|&points| u64::from(points)).product();
    if points > MOST_POINTS {
        return Err(ChangeError::TooMany { points, most: MOST_POINTS });
    }
    let changing = changing(addresses, fold);
    let mut graph = Graph::new(&addresses.expressions);
    let mut loops = addresses.loops.clone();
    let (mut sites, mut origins) = (Vec::new(), Vec::new());
    for copy in 0..points as u32 {
        let at = [copy % fold[0], copy / fold[0] % fold[1], copy / fold[0] / fold[1]];
        let first = loops.len() as LoopId;
        let mut loop_ids: Vec<LoopId> = Vec::with_capacity(changing.len());
        for (loop_id, _) in (0..).zip(&addresses.loops) {
            let own = changing[..loop_id as usize].iter().filter(|changes| **changes).count() as LoopId;
            loop_ids.push(if changing[loop_id as usize] { first + own } else { loop_id });
        }
        let mut numbers = Vec::with_capacity(addresses.expressions.len());
        for &one in &addresses.expressions {
            let number = match one.kind {
                ExpressionKind::Thread(axis) | ExpressionKind::BlockSize(axis) if fold[usize::from(axis)] > 1 => {
                    let axis = usize::from(axis);
                    let index = graph.add(one);
                    let factor = graph.constant(i64::from(fold[axis]), one.bits);
                    let many = graph.exact(Binary::Product, index, factor, one.bits);
                    let more = graph.constant(i64::from(at[axis]), one.bits);
                    match one.kind {
                        ExpressionKind::Thread(_) => graph.exact(Binary::Sum, many, more, one.bits),
                        _ => many,
                    }
                }
                ExpressionKind::Counter(loop_id) => {
                    let kind = ExpressionKind::Counter(loop_ids[loop_id as usize]);
                    graph.add(warpline_format::expression::Expression { kind, ..one })
                }
                _ => graph.again(one, |operand| numbers[operand as usize]),
            };
            numbers.push(number);
        }
        for (one, _) in addresses.loops.iter().zip(&changing).filter(|(_, changes)| **changes) {
            loops.push(LoopExpression {
                line: one.line,
                around: one.around.iter().map(|&loop_id| loop_ids[loop_id as usize]).collect(),
                ends: one.ends.iter().map(|&end| numbers[end as usize]).collect(),
            });
        }
        for (number, site) in addresses.sites.iter().enumerate() {
            sites.push(AddressExpression {
                site: site.site,
                address: numbers[site.address as usize],
                guard: site.guard.map(|guard| numbers[guard as usize]),
                loops: site.loops.iter().map(|&loop_id| loop_ids[loop_id as usize]).collect(),
            });
            origins.push(Origin { site: number, copy, bytes: None });
        }
    }
    Ok((Addresses { expressions: graph.expressions, sites, loops, ..addresses.clone() }, origins))
}

/// Returns, for each loop, whether its trip count differs between the points of a thread.
fn changing(addresses: &Addresses, fold: [u32; 3]) -> Vec<bool> {
    let mut changing = vec![false; addresses.loops.len()];
    loop {
        let mut differs: Vec<bool> = Vec::with_capacity(addresses.expressions.len());
        for one in &addresses.expressions {
            let differ = match one.kind {
                ExpressionKind::Thread(axis) | ExpressionKind::BlockSize(axis) => fold[usize::from(axis)] > 1,
                ExpressionKind::Counter(loop_id) => changing[loop_id as usize],
                kind => kind.operands().any(|of| differs[of as usize]),
            };
            differs.push(differ);
        }
        let next: Vec<bool> = addresses
            .loops
            .iter()
            .zip(&changing)
            .map(|(one, changes)| {
                *changes
                    || one.ends.iter().any(|&end| differs[end as usize])
                    || one.around.iter().any(|&loop_id| changing[loop_id as usize])
            })
            .collect();
        if next == changing {
            return changing;
        }
        changing = next;
    }
}
