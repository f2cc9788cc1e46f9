//! The control flow between the blocks of a warp function.

use super::leaf::Leaf;
use super::{Emitted, Emitter};
use crate::cpu::error::Refusal;
use crate::cpu::shapes::analysis::Version;
use crate::cpu::shapes::flow::End;
use crate::cpu::shapes::shape::Shape;
use crate::llvm::Value;
use std::collections::BTreeSet;

impl<'c> Emitter<'_, 'c> {
    pub(super) fn terminate(&mut self, position: usize) -> Emitted<()> {
        let body = self.body();
        self.look_back(position);
        let end = body.ends(|condition| self.analysis().shape(condition) != Shape::Uniform).swap_remove(position);
        let terminator = body.blocks[position].terminator();
        match end {
            End::Goto(to) => {
                if to == body.end() && !self.results.is_empty() {
                    let leaves = self.leaves(terminator.operand(0))?;
                    let blend = self.accumulates(position, to).then_some(self.mask);
                    let slots = self.results.clone();
                    for (slot, leaf) in slots.iter().zip(&leaves) {
                        self.store_slot(slot, leaf, blend);
                    }
                }
                let values = self.incoming(position, to)?;
                self.assign(position, to, self.mask, values);
                self.close_rounds(position, &[to]);
                self.jump(position, &[to]);
            }
            End::Either(yes, no) => {
                let Some(condition) = terminator.condition() else {
                    return Err(Refusal::new(terminator, "a branch with more than two ways"));
                };
                let Some(condition) = self.leaf(condition)?.scalar() else {
                    return Err(Refusal::new(terminator, "a uniform branch on a varying condition"));
                };
                let (yes_block, no_block) = (self.new_block("yes"), self.new_block("no"));
                // The values for both edges are read before the paths diverge.
                let yes_values = self.incoming(position, yes)?;
                let no_values = self.incoming(position, no)?;
                self.b.branch_if(condition, yes_block, no_block);
                for (block, to, values) in [(yes_block, yes, yes_values), (no_block, no, no_values)] {
                    self.b.at_end(block);
                    self.assign(position, to, self.mask, values);
                    self.close_rounds(position, &[to]);
                    self.jump(position, &[to]);
                }
            }
            End::Split(yes, no) => {
                let Some(condition) = terminator.condition() else {
                    return Err(Refusal::new(terminator, "a branch with more than two ways"));
                };
                let condition = self.vector(condition)?;
                let taken = self.bits(condition);
                let rest = self.b.and(self.mask, self.b.not(taken));
                // The values for both edges are read before either is written, because one edge may read a phi that the
                // other sets.
                let yes_values = self.incoming(position, yes)?;
                let no_values = self.incoming(position, no)?;
                self.assign(position, yes, taken, yes_values);
                self.assign(position, no, rest, no_values);
                self.close_rounds(position, &[yes, no]);
                self.jump(position, &[yes, no]);
            }
            End::Gone => self.jump(position, &[]),
        }
        Ok(())
    }

    /// Returns the values that the phis of `to` receive from `position`.
    fn incoming(&mut self, position: usize, to: usize) -> Emitted<Vec<(Value<'c>, Vec<Leaf<'c>>)>> {
        let body = self.body();
        if to == body.end() {
            return Ok(Vec::new());
        }
        let here = body.blocks[position].block;
        let mut values = Vec::new();
        for phi in body.blocks[to].phis() {
            let sources: Vec<_> = phi.incoming().into_iter().filter(|pair| pair.1 == here).map(|pair| pair.0).collect();
            let Some(&first) = sources.first() else { continue };
            let mut leaves = self.leaves(first)?;
            if let [_, second] = sources[..]
                && second != first
            {
                // Both sides of the branch lead to this block.
                let Some(condition) = body.blocks[position].terminator().condition() else {
                    return Err(Refusal::new(phi, "several edges from a switch"));
                };
                let condition = self.leaf(condition)?;
                let others = self.leaves(second)?;
                let yes_first = body.blocks[position].successors[0] == to;
                debug_assert!(yes_first, "both successors are the same block");
                leaves = (leaves.iter().zip(&others))
                    .map(|(yes, no)| self.select_leaf(&condition, yes, no, self.analysis().shape(phi)))
                    .collect();
            }
            values.push((phi, leaves));
        }
        Ok(values)
    }

    /// Returns whether other lanes may already wait at the target of a block's lanes.
    fn accumulates(&self, position: usize, to: usize) -> bool {
        self.analysis().flow.accumulates(position, to)
    }

    /// Handles the iterations of loops that may wait for other threads, after lanes were passed to `targets` and this
    /// closes an iteration.
    fn close_rounds(&mut self, position: usize, targets: &[usize]) {
        let body = self.body();
        for &to in targets.iter().filter(|&&to| body.closes_spinning_loop(position, to)) {
            self.lose_patience(position, to);
        }
    }

    /// Passes lanes and phi values to a block.
    fn assign(&mut self, position: usize, to: usize, mask: Value<'c>, values: Vec<(Value<'c>, Vec<Leaf<'c>>)>) {
        let accumulates = self.accumulates(position, to);
        let blend = accumulates.then_some(mask);
        for (phi, leaves) in values {
            let Some(slots) = self.slots.get(&phi).cloned() else { continue };
            for (slot, leaf) in slots.iter().zip(&leaves) {
                self.store_slot(slot, leaf, blend);
            }
        }
        self.note_entry(position, to, mask);
        if let Some(&pending) = self.pending.get(&to) {
            let mut all = mask;
            if accumulates {
                all = self.b.or(self.b.load(self.t.int(32), pending, 4), mask);
            }
            self.b.store(all, pending, 4);
        }
    }

    /// Continues at the lowest block with waiting lanes.
    fn jump(&mut self, position: usize, targets: &[usize]) {
        if self.dispatch(position) {
            return;
        }
        let candidates = self.analysis().flow.candidates(position, targets, self.body().end());
        let mut ready = self.analysis().flow.waiting[position].clone();
        ready.extend(targets);
        self.go_on(&candidates, &ready);
    }

    /// Continues at the first of the candidates at which lanes wait; the last candidate needs no test. `ready` contains
    /// the blocks at which lanes can wait.
    pub(super) fn go_on(&self, candidates: &[usize], ready: &BTreeSet<usize>) {
        let end = self.body().end();
        for (index, &next) in candidates.iter().enumerate() {
            let stale: Vec<usize> =
                self.analysis().flow.waiting[next].difference(ready).copied().filter(|&other| other != end).collect();
            if index + 1 < candidates.len() {
                let waiting = self.b.load(self.t.int(32), self.pending[&next], 4);
                let some = self.b.ne(waiting, self.i32(0));
                let otherwise = self.new_block("next");
                if stale.is_empty() {
                    self.b.branch_if(some, self.way_to(next), otherwise);
                } else {
                    let go = self.new_block("go");
                    self.b.branch_if(some, go, otherwise);
                    self.b.at_end(go);
                    self.clear(&stale);
                    self.b.branch(self.way_to(next));
                }
                self.b.at_end(otherwise);
            } else {
                self.clear(&stale);
                self.b.branch(self.way_to(next));
            }
        }
    }

    pub(super) fn clear(&self, stale: &[usize]) {
        for block in stale {
            self.b.store(self.i32(0), self.pending[block], 4);
        }
    }

    pub(super) fn leave(&mut self) {
        self.b.locate_like(None);
        self.leave_frame();
        let slots = self.results.clone();
        let mut values: Vec<Value<'c>> = slots.iter().map(|slot| self.load_slot(slot).lanes(&self.b)).collect();
        match values.len() {
            0 => {
                // Functions of one thread return to a loop over the threads, which does this once.
                if self.kernel().is_some() && self.version() != Version::Serial {
                    self.unit().clear_uppers(&self.b);
                }
                self.b.return_void();
            }
            1 => {
                let only = values.remove(0);
                self.b.return_value(only);
            }
            _ => {
                let ty = self.function().value_type().result();
                let mut whole = Value::poison(ty);
                for (index, value) in values.into_iter().enumerate() {
                    whole = self.b.insert_value(whole, value, index as u32);
                }
                self.b.return_value(whole);
            }
        }
    }
}
