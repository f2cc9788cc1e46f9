//! Which branches of a function decide over which of its blocks.

use crate::ir::control::{Decision, decisions};
use crate::llvm::Block;
use std::collections::HashMap;
use warpline_format::site_table;

/// Control flow of a function before it is hooked.
pub(crate) struct Flow {
    decisions: Vec<Vec<Decision>>,
}

impl Flow {
    /// Of a function's blocks in their order, the entry first.
    pub(crate) fn of(blocks: &[Block<'_>]) -> Flow {
        let number: HashMap<_, _> = blocks.iter().enumerate().map(|(index, block)| (*block, index)).collect();
        // A branch's sides are its distinct targets in the order in which they are first met, as its records have them.
        let successors: Vec<Vec<usize>> = blocks
            .iter()
            .map(|block| {
                let ways = block.successors();
                let mut distinct = Vec::new();
                for way in ways.iter().filter_map(|way| number.get(way).copied()) {
                    if !distinct.contains(&way) {
                        distinct.push(way);
                    }
                }
                distinct
            })
            .collect();
        Flow { decisions: decisions(&successors) }
    }

    /// As rows of the table: `first` is the number of the function's first block, `branches` those of the branches that its
    /// blocks end in. What else decides, as an exception would, has no number and is left out.
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
