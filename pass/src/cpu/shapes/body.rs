//! A device function as the lowering sees it: reachable blocks in warp order, and how each ends.

use super::flow::End;
use crate::ir::graph::Graph;
use crate::ir::threads::is_thread_exit;
use crate::llvm::value::Opcode;
use crate::llvm::{Block, Value};
use std::collections::HashMap;
use std::ops::Range;

/// A block of the source function.
pub struct BodyBlock<'c> {
    /// The block.
    pub block: Block<'c>,
    /// Its instructions, phis and terminator among them.
    pub instructions: Vec<Value<'c>>,
    /// Positions of the blocks it goes to, in the order of its terminator.
    pub successors: Vec<usize>,
}

/// A loop, in positions of the warp order.
pub struct BodyLoop {
    /// Its entry.
    pub header: usize,
    /// Its blocks, ascending; they are neighbours.
    pub blocks: Vec<usize>,
}

/// Blocks in warp order.
pub struct Body<'c> {
    /// The function.
    pub function: Value<'c>,
    /// Its reachable blocks.
    pub blocks: Vec<BodyBlock<'c>>,
    /// Position of each block.
    pub positions: HashMap<Block<'c>, usize>,
    /// Loops, outer ones first.
    pub loops: Vec<BodyLoop>,
    /// For each loop, whether it may wait for other threads, see [`super::spin`].
    pub spins: Vec<bool>,
    /// Stretches of blocks that are lowered in the cautious way, see [`super::cautious`].
    pub regions: Vec<Range<usize>>,
}

impl<'c> Body<'c> {
    /// Reads a function that the preparation passes have seen; which loops spin and which regions are cautious comes later.
    /// `None`: it is irreducible after all.
    pub fn new(function: Value<'c>) -> Option<Body<'c>> {
        let source = function.blocks();
        let index: HashMap<Block<'c>, usize> = source.iter().enumerate().map(|(at, block)| (*block, at)).collect();
        let instructions: Vec<Vec<Value<'c>>> = source.iter().map(|block| block.instructions()).collect();
        let ends_thread = |at: usize| instructions[at].iter().any(|value| is_thread_exit(*value));
        let successors: Vec<Vec<usize>> = (source.iter().enumerate())
            .map(|(at, block)| {
                let all = if ends_thread(at) { Vec::new() } else { block.successors() };
                all.iter().map(|next| index[next]).collect()
            })
            .collect();
        let graph = Graph { successors };
        let order = graph.warp_order().ok()?;
        let natural = graph.loops().ok()?;
        let mut position = vec![usize::MAX; source.len()];
        for (at, &block) in order.iter().enumerate() {
            position[block] = at;
        }
        let loops: Vec<BodyLoop> = natural
            .iter()
            .map(|one| {
                let mut blocks: Vec<usize> = one.blocks.iter().map(|&block| position[block]).collect();
                blocks.sort_unstable();
                BodyLoop { header: position[one.header], blocks }
            })
            .collect();
        let blocks = (order.iter())
            .map(|&block| BodyBlock {
                block: source[block],
                instructions: instructions[block].clone(),
                successors: graph.successors[block].iter().map(|&next| position[next]).collect(),
            })
            .collect();
        let positions = order.iter().enumerate().map(|(at, &block)| (source[block], at)).collect();
        Some(Body { function, blocks, positions, loops, spins: Vec::new(), regions: Vec::new() })
    }

    /// Returns whether the edge closes a loop that may wait for other threads.
    pub fn closes_spinning_loop(&self, from: usize, to: usize) -> bool {
        to <= from && self.loops.iter().zip(&self.spins).any(|(one, spins)| *spins && one.header == to)
    }

    /// Returns the loop with this header.
    pub fn loop_at(&self, header: usize) -> Option<&BodyLoop> {
        self.loops.iter().find(|one| one.header == header)
    }

    /// Returns whether the edge leads from outside into a loop that may wait for other threads.
    pub fn enters_spinning_loop(&self, from: usize, to: usize) -> bool {
        let loops = self.loops.iter().zip(&self.spins);
        loops
            .filter(|(one, spins)| **spins && one.header == to)
            .any(|(one, _)| one.blocks.binary_search(&from).is_err())
    }

    /// Position of the function's end.
    pub fn end(&self) -> usize {
        self.blocks.len()
    }

    /// How each block ends, given which branches may take the lanes apart.
    pub fn ends(&self, splits: impl Fn(Value<'c>) -> bool) -> Vec<End> {
        (self.blocks.iter())
            .map(|block| match block.successors[..] {
                [] if returns(block) => End::Goto(self.end()),
                [] => End::Gone,
                [to] => End::Goto(to),
                [yes, no, ..] if yes == no => End::Goto(yes),
                [yes, no, ..] => match block.terminator().condition() {
                    Some(condition) if splits(condition) => End::Split(yes, no),
                    _ => End::Either(yes, no),
                },
            })
            .collect()
    }
}

impl<'c> BodyBlock<'c> {
    /// Returns the terminator.
    pub fn terminator(&self) -> Value<'c> {
        self.instructions[self.instructions.len() - 1]
    }

    /// Returns the block's phis.
    pub fn phis(&self) -> impl Iterator<Item = Value<'c>> + '_ {
        self.instructions.iter().copied().take_while(|value| value.is_phi())
    }
}

fn returns(block: &BodyBlock<'_>) -> bool {
    block.terminator().opcode() == Some(Opcode::LLVMRet)
        && !block.instructions.iter().any(|value| is_thread_exit(*value))
}
