//! Waiting in loops: how long the lanes of a warp stay together in a loop, and what happens after that.
//!
//! Hardware reconverges lanes at the exit of a loop, so lanes that have left the loop wait there for the lanes in it.
//! If the lanes in the loop wait for lanes after it that hold a lock, this would last forever. Therefore:
//!
//! - An iteration in which a lane leaves the loop does not reduce the patience counter. A loop that ends without other
//!   lanes therefore never makes the lanes diverge, whatever its number of iterations is.
//! - When the patience counter is used up, the lanes after the loop continue, block by block. After they have done
//!   something that others can observe, the loop runs again for one iteration, so its lanes leave as soon as they can.
//! - Lanes that have returned to the code before the loop wait there until no lane is left in it and after it. They
//!   continue only if the loop has used up the patience counter again in the meantime, and no lane has left it.

use super::Emitter;
use super::context;
use crate::cpu::shapes::body::BodyLoop;
use crate::ir::class::{Call, classify};
use crate::ir::threads::is_seen_by_others;
use crate::llvm::Value;
use crate::llvm::value::IntPredicate;
use warpline_format::hooks::Hook;

/// The number by which one iteration of a waiting loop reduces the warp's patience counter. Iterations are expensive:
/// each is recorded, and the event for which it waits cannot happen during it.
const ROUND: u64 = 128;

impl<'c> Emitter<'_, 'c> {
    /// Handles an iteration of a loop that may wait for other threads, after its lanes were passed to their targets.
    /// After enough iterations, other lanes get a turn: other warps, and in a cautious region the lanes of this warp
    /// that are elsewhere.
    pub(super) fn lose_patience(&mut self, position: usize, header: usize) {
        let stuck = self.is_cautious(position).then(|| self.stuck(position, header));
        let cost = match stuck {
            Some(stuck) => self.b.select(stuck, self.i64(ROUND), self.i64(0)),
            None => self.i64(ROUND),
        };
        let left = self.b.sub(self.field_now(context::PATIENCE), cost);
        self.set_field(context::PATIENCE, left);
        let out = self.b.icmp(IntPredicate::LLVMIntSLT, left, self.i64(0));
        let (wait, go) = (self.new_block("wait"), self.new_block("go_on"));
        self.branch_unlikely(out, wait, go);
        self.b.at_end(wait);
        self.b.call(self.unit().quiet(self.unit().runtime().yield_now()), &[self.context()]);
        if stuck.is_some() {
            self.note_parting(header);
            self.look_behind(position, header);
        }
        self.b.branch(go);
        self.b.at_end(go);
    }

    /// Returns whether no lane has left a loop of a cautious region since the loop's last iteration.
    fn stuck(&mut self, position: usize, header: usize) -> Value<'c> {
        let inside = self.body().loop_at(header).map(|one| self.waiting_in(&one.blocks)).unwrap_or(self.i32(0));
        let held = self.held(header);
        let before = self.b.load(self.t.int(32), held, 4);
        self.b.store(inside, held, 4);
        let stuck = self.b.eq(self.b.and(before, self.b.not(inside)), self.i32(0));
        if let Some(dispatcher) = self.dispatcher(position) {
            let tired = self.b.load(self.t.int(32), dispatcher.tired, 4);
            self.b.store(self.b.select(stuck, tired, self.i32(0)), dispatcher.tired, 4);
        }
        stuck
    }

    /// Returns the lanes that wait in some blocks.
    fn waiting_in(&self, blocks: &[usize]) -> Value<'c> {
        let masks = blocks.iter().filter_map(|block| self.pending.get(block));
        masks.fold(self.i32(0), |all, &mask| self.b.or(all, self.b.load(self.t.int(32), mask, 4)))
    }

    /// Returns the lanes that were in a loop at its last iteration, or have arrived since.
    fn held(&mut self, header: usize) -> Value<'c> {
        let (entry, t) = (&self.entry, self.t);
        *self.held.entry(header).or_insert_with(|| {
            let held = entry.alloca(t.int(32), 4);
            entry.store(Value::int(t.int(32), 0), held, 4);
            held
        })
    }

    /// Records that lanes go to a block, which may be a loop in which they may have to wait.
    pub(super) fn note_entry(&mut self, position: usize, to: usize, mask: Value<'c>) {
        if self.body().enters_spinning_loop(position, to) && self.is_cautious(to) {
            let held = self.held(to);
            self.b.store(self.b.or(self.b.load(self.t.int(32), held, 4), mask), held, 4);
        }
    }

    /// Reports to the runtime that lanes wait in a loop without effect, if other lanes of the warp will continue before
    /// them. From here on, the order of the lanes is an assumption.
    fn note_parting(&self, header: usize) {
        let (Some(one), Some(region)) = (self.body().loop_at(header), self.analysis().flow.region(header)) else {
            return;
        };
        let Some(branch) = self.branch_of(one).filter(|_| self.hooked()) else { return };
        let outside: Vec<usize> =
            self.analysis().flow.blocks(region).filter(|block| one.blocks.binary_search(block).is_err()).collect();
        let others = self.waiting_in(&outside);
        let parted = self.unit().quiet(self.unit().runtime().parted());
        self.b.call(parted, &[self.context(), self.i32(branch), others]);
    }

    /// Returns the number of the branch that leaves a loop.
    fn branch_of(&self, one: &BodyLoop) -> Option<u32> {
        let inside = |to: &usize| one.blocks.binary_search(to).is_ok();
        let leaving = one.blocks.iter().filter(|&&block| !self.body().blocks[block].successors.iter().all(inside));
        leaving.flat_map(|&block| &self.body().blocks[block].instructions).find_map(|value| {
            let name = value.direct_callee()?.name();
            let hook = matches!(classify(&name), Call::Hook(Hook::Branch | Hook::Switch));
            hook.then(|| value.operand(0).as_u64()).flatten().map(|number| number as u32)
        })
    }

    /// After a block whose lanes continued before others: if the block did something that others can observe, the
    /// waiting lanes try again.
    pub(super) fn look_back(&self, position: usize) {
        let Some(dispatcher) = self.dispatcher(position) else { return };
        if !self.body().blocks[position].instructions.iter().any(|value| is_seen_by_others(*value)) {
            return;
        }
        let (b, word) = (&self.b, self.t.int(32));
        let again = b.load(word, dispatcher.again, 4);
        let ahead = b.ne(again, self.i32(0));
        let floor = b.load(word, dispatcher.floor, 4);
        b.store(b.select(ahead, again, floor), dispatcher.floor, 4);
        b.store(self.i32(0), dispatcher.again, 4);
        let tired = b.load(word, dispatcher.tired, 4);
        b.store(b.select(ahead, self.i32(0), tired), dispatcher.tired, 4);
        // One iteration without success is enough to run the blocks after the loop once more.
        let patience = self.field_now(context::PATIENCE);
        self.set_field(context::PATIENCE, b.select(ahead, self.i64(0), patience));
    }
}
