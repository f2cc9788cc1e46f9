//! Determines which branches of a function decide whether each of its blocks runs.

use crate::ir::control::{Decision, decisions};
use crate::ir::graph::Graph;
use crate::llvm::Block;
use std::collections::HashMap;
use warpline_format::site_table;

/// Returns a function's blocks in the order in which warps run them, if there is one. In LLVM's order, an unrolled loop
/// comes after its remainder loop; in the warp order, the accesses in the table have the order of execution.
pub(crate) fn in_warp_order<'c>(blocks: &[Block<'c>]) -> Vec<Block<'c>> {
    let Ok(order) = (Graph { successors: successors(blocks) }).warp_order() else { return blocks.to_vec() };
    let mut reached = vec![false; blocks.len()];
    order.iter().for_each(|&block| reached[block] = true);
    let unreached = (0..blocks.len()).filter(|&block| !reached[block]);
    order.iter().copied().chain(unreached).map(|block| blocks[block]).collect()
}

/// Returns, for each block, the sides of its branch: its distinct targets in the order of their first occurrence, as
/// records number them.
fn successors(blocks: &[Block<'_>]) -> Vec<Vec<usize>> {
    let number: HashMap<_, _> = blocks.iter().enumerate().map(|(index, block)| (*block, index)).collect();
    let of = |block: &Block<'_>| {
        let ways = block.successors();
        let mut distinct = Vec::new();
        for way in ways.iter().filter_map(|way| number.get(way).copied()) {
            if !distinct.contains(&way) {
                distinct.push(way);
            }
        }
        distinct
    };
    blocks.iter().map(of).collect()
}

/// The control flow of a function before it is hooked.
pub(crate) struct Flow {
    decisions: Vec<Vec<Decision>>,
}

impl Flow {
    /// Creates a `Flow` for a function's blocks in their order, with the entry first.
    pub(crate) fn new(blocks: &[Block<'_>]) -> Flow {
        Flow { decisions: decisions(&successors(blocks)) }
    }

    /// Returns rows for the table: `first` is the number of the function's first block, and `branches` are the numbers
    /// of the branches at the ends of its blocks. Other decisions, such as exceptions, have no number and are not
    /// included.
    pub(crate) fn decisions(&self, first: u32, branches: &[Option<u32>]) -> Vec<site_table::Decision> {
        let rows = (first..).zip(&self.decisions).flat_map(|(block, decisions)| {
            decisions.iter().filter_map(move |decision| {
                let branch = (*branches.get(decision.block)?)?;
                Some(site_table::Decision { block, branch, side: decision.side as u32 })
            })
        });
        rows.collect()
    }
}
