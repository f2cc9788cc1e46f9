//! The control flow of a function as expressions need it: its loops, and the branches that decide whether a block runs
//! within one iteration of the loops around it.

use crate::ir::control::{Decision, decisions};
use crate::ir::graph::{Graph, Loop};
use crate::llvm::Block;
use std::collections::HashMap;

/// The control flow of a function.
pub(super) struct Control<'c> {
    pub(super) blocks: Vec<Block<'c>>,
    pub(super) numbers: HashMap<Block<'c>, usize>,
    /// The distinct successors of each block.
    pub(super) successors: Vec<Vec<usize>>,
    /// The loops, outer loops before inner loops.
    pub(super) loops: Vec<Loop>,
    /// The loops around each block, outermost first.
    pub(super) around: Vec<Vec<usize>>,
    /// The dependences of each block within an iteration. A side is an index into [`Control::within`].
    pub(super) decisions: Vec<Vec<Decision>>,
    /// The successors, in which every back edge is redirected to the loop's exit.
    pub(super) within: Vec<Vec<usize>>,
    dominators: Vec<Option<usize>>,
}

impl<'c> Control<'c> {
    /// Returns `None` for control flow with loops that have two entries.
    pub(super) fn new(blocks: Vec<Block<'c>>) -> Option<Control<'c>> {
        let numbers: HashMap<_, _> = blocks.iter().enumerate().map(|(index, &block)| (block, index)).collect();
        let successors: Vec<Vec<usize>> = blocks
            .iter()
            .map(|block| distinct(block.successors().iter().filter_map(|next| numbers.get(next).copied())))
            .collect();
        let graph = Graph { successors };
        let loops = graph.loops().ok()?;
        let dominators = graph.dominators();
        let successors = graph.successors;
        let mut around = vec![Vec::new(); blocks.len()];
        for (index, natural) in loops.iter().enumerate() {
            for &block in &natural.blocks {
                around[block].push(index);
            }
        }
        let inside = |index: usize, block: usize| loops[index].blocks.binary_search(&block).is_ok();
        let exits = |index: usize| {
            let blocks = loops[index].blocks.iter().flat_map(|&block| &successors[block]);
            distinct(blocks.copied().filter(|&next| !inside(index, next)))
        };
        let within: Vec<Vec<usize>> = successors
            .iter()
            .enumerate()
            .map(|(block, ways)| {
                let led = ways.iter().flat_map(|&next| {
                    let back = loops.iter().position(|one| one.header == next && one.blocks.contains(&block));
                    back.map_or_else(|| vec![next], exits)
                });
                // The exit of an inner loop may be the header of an outer loop.
                distinct(led.filter(|&next| !dominates(&dominators, next, block)))
            })
            .collect();
        let decisions = decisions(&within);
        Some(Control { blocks, numbers, successors, loops, around, decisions, within, dominators })
    }

    /// Returns whether a block is in a loop.
    pub(super) fn inside(&self, natural: usize, block: usize) -> bool {
        self.loops[natural].blocks.binary_search(&block).is_ok()
    }

    /// Returns whether a block runs in each iteration of a loop except the last.
    pub(super) fn always(&self, natural: usize, block: usize) -> bool {
        let header = self.loops[natural].header;
        let mut latches = self.loops[natural].blocks.iter().filter(|&&one| self.successors[one].contains(&header));
        latches.all(|&latch| dominates(&self.dominators, block, latch))
    }
}

fn dominates(dominators: &[Option<usize>], above: usize, mut below: usize) -> bool {
    loop {
        if above == below {
            return true;
        }
        match dominators[below] {
            Some(up) => below = up,
            None => return false,
        }
    }
}

fn distinct(blocks: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut found = Vec::new();
    for block in blocks {
        if !found.contains(&block) {
            found.push(block);
        }
    }
    found
}
