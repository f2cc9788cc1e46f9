//! A device function in the form that the lowering uses: reachable blocks in warp order, and the end of each block.

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
    /// The instructions of the block, including phis and the terminator.
    pub instructions: Vec<Value<'c>>,
    /// The positions of the successors, in the order of the terminator.
    pub successors: Vec<usize>,
}

/// A loop, in positions of the warp order.
pub struct BodyLoop {
    /// The position of the loop's entry.
    pub header: usize,
    /// The positions of the loop's blocks in ascending order; they are adjacent.
    pub blocks: Vec<usize>,
}

/// Blocks in warp order.
pub struct Body<'c> {
    /// The function.
    pub function: Value<'c>,
    /// The reachable blocks of the function.
    pub blocks: Vec<BodyBlock<'c>>,
    /// The position of each block.
    pub positions: HashMap<Block<'c>, usize>,
    /// The loops, outer loops first.
    pub loops: Vec<BodyLoop>,
    /// For each loop, whether it may wait for other threads, see [`super::spin`].
    pub spins: Vec<bool>,
    /// Ranges of blocks that are lowered in the cautious way, see [`super::cautious`].
    pub regions: Vec<Range<usize>>,
}

impl<'c> Body<'c> {
    /// Reads a function after the preparation passes; the spinning loops and the cautious regions are determined later.
    /// Returns `None` if the function is irreducible after all.
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

    /// Returns the position of the function's end.
    pub fn end(&self) -> usize {
        self.blocks.len()
    }

    /// Returns the end of each block; `splits` states which branches may make lanes diverge.
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
