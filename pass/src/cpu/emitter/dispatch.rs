//! Cautious regions: a dispatcher selects among their blocks, and the values of lanes that are elsewhere are kept.

use super::Emitter;
use super::dispatcher::Dispatcher;
use crate::llvm::value::IntPredicate;
use crate::llvm::{Block, Value};
use std::collections::BTreeSet;

/// The limit for the number of slots and masks of a region, multiplied by its number of blocks. Above it, they stay in
/// memory. Otherwise, LLVM would convert them to registers, which all meet at the dispatcher with an edge from every
/// block.
const IN_REGISTERS: usize = 4_000;

impl<'c> Emitter<'_, 'c> {
    /// Creates the blocks of the dispatchers, which [`Emitter::emit_dispatchers`] fills.
    pub(super) fn make_dispatchers(&mut self) {
        let body = self.body();
        for region in &body.regions {
            let [floor, again, tired] = [(); 3].map(|()| self.entry.alloca(self.t.int(32), 4));
            let outside = (0..body.end()).filter(|position| !region.contains(position));
            let mut entered: BTreeSet<usize> = outside
                .flat_map(|position| &body.blocks[position].successors)
                .copied()
                .filter(|to| region.contains(to))
                .collect();
            if region.start == 0 {
                entered.insert(0);
            }
            let entries = entered.into_iter().map(|position| (position, self.new_block("enter"))).collect();
            let choice = self.new_block("dispatch");
            self.dispatchers.push(Dispatcher { choice, floor, again, tired, entries });
        }
    }

    /// Keeps the values between the blocks of a large region in memory.
    pub(super) fn keep_in_memory(&self) {
        for region in &self.body().regions {
            let inside = self.body().blocks[region.clone()].iter().flat_map(|block| &block.instructions).copied();
            let successors = self.body().blocks[region.clone()].iter().flat_map(|block| &block.successors);
            let left: BTreeSet<usize> = successors.copied().filter(|to| !region.contains(to)).collect();
            let handed = left.iter().filter_map(|&to| self.body().blocks.get(to)).flat_map(|block| block.phis());
            let slots = inside.chain(handed).filter_map(|value| self.slots.get(&value)).flatten();
            let masks = region.clone().chain(left.iter().copied()).filter_map(|to| self.pending.get(&to).copied());
            let places: Vec<Value<'c>> = slots.flat_map(|slot| slot.places()).chain(masks).collect();
            if places.len() * region.len() > IN_REGISTERS {
                // LLVM does not convert memory to registers if one access is volatile.
                for place in places {
                    self.entry.load(self.t.int(8), place, 1).set_volatile(true);
                }
            }
        }
    }

    /// Returns whether a block is in a cautious region.
    pub(super) fn is_cautious(&self, position: usize) -> bool {
        self.analysis().flow.region(position).is_some()
    }

    pub(super) fn dispatcher(&self, position: usize) -> Option<&Dispatcher<'c>> {
        self.analysis().flow.region(position).map(|region| &self.dispatchers[region])
    }

    /// Returns the block that control must reach to run a block: for a block in a region, one of the region's entries.
    pub(super) fn way_to(&self, position: usize) -> Block<'c> {
        let entries = self.dispatcher(position).map(|one| one.entries.as_slice()).unwrap_or_default();
        entries.iter().find(|entry| entry.0 == position).map_or(self.runs[position], |entry| entry.1)
    }

    /// Continues within a region; returns whether the block is in a region.
    pub(super) fn dispatch(&self, position: usize) -> bool {
        self.dispatcher(position).map(|dispatcher| self.b.branch(dispatcher.choice)).is_some()
    }

    /// After a long wait, the blocks after a loop run first, because a lane there may hold what others wait for. Then
    /// the loop runs again, before the lanes that have returned to the code before it.
    pub(super) fn look_behind(&self, position: usize, header: usize) {
        if let Some(dispatcher) = self.dispatcher(position) {
            self.b.store(self.i32(position as u32 + 1), dispatcher.floor, 4);
            let tired = self.b.ne(self.b.load(self.t.int(32), dispatcher.tired, 4), self.i32(0));
            let again = self.b.select(tired, self.i32(0), self.i32(header as u32));
            self.b.store(again, dispatcher.again, 4);
            self.b.store(self.i32(1), dispatcher.tired, 4);
        }
    }

    pub(super) fn emit_dispatchers(&self) {
        for (number, dispatcher) in self.dispatchers.iter().enumerate() {
            for &(position, block) in &dispatcher.entries {
                self.b.at_end(block);
                self.enter(number, position);
            }
            self.choose(number);
        }
    }

    /// On entry to a region, no lanes wait in it except those that enter; on exit, only lanes wait that waited before.
    fn enter(&self, number: usize, position: usize) {
        let flow = &self.analysis().flow;
        let valid = |place: &usize| *place == position || flow.waiting[position].contains(place);
        let places = flow.blocks(number).chain(flow.behind(number));
        let stale: Vec<usize> = places.filter(|place| *place < self.body().end() && !valid(place)).collect();
        self.clear(&stale);
        let dispatcher = &self.dispatchers[number];
        for slot in [dispatcher.floor, dispatcher.again, dispatcher.tired] {
            self.b.store(self.i32(0), slot, 4);
        }
        self.b.branch(dispatcher.choice);
    }

    /// Selects the next block: the lowest block with waiting lanes, from the floor on. If there is none, the floor is
    /// reset to the loop that must be tried again, then to the start. Blocks in which lanes meet (barriers, warp-wide
    /// operations) come last, so that all lanes that can reach them have arrived. If no lanes wait, the region is done.
    fn choose(&self, number: usize) {
        let (b, dispatcher) = (&self.b, &self.dispatchers[number]);
        let blocks = self.analysis().flow.blocks(number);
        let waiting = |position: usize| b.ne(b.load(self.t.int(32), self.pending[&position], 4), self.i32(0));
        let (meetings, others): (Vec<_>, Vec<_>) = blocks.partition(|position| self.meets(*position));
        b.at_end(dispatcher.choice);
        let from = b.load(self.t.int(32), dispatcher.floor, 4);
        for position in others {
            let high_enough = b.icmp(IntPredicate::LLVMIntULE, from, self.i32(position as u32));
            let next = self.new_block("next");
            b.branch_if(b.and(waiting(position), high_enough), self.runs[position], next);
            b.at_end(next);
        }
        let (again, meet) = (self.new_block("again"), self.new_block("meet"));
        b.branch_if(b.eq(from, self.i32(0)), meet, again);
        b.at_end(again);
        b.store(b.load(self.t.int(32), dispatcher.again, 4), dispatcher.floor, 4);
        b.store(self.i32(0), dispatcher.again, 4);
        b.branch(dispatcher.choice);
        b.at_end(meet);
        for position in meetings {
            let next = self.new_block("next");
            b.branch_if(waiting(position), self.runs[position], next);
            b.at_end(next);
        }
        let behind = self.analysis().flow.behind(number);
        let mut candidates: Vec<usize> = behind.iter().copied().collect();
        // All lanes may have ended.
        if !candidates.contains(&self.body().end()) {
            candidates.push(self.body().end());
        }
        self.go_on(&candidates, &behind);
    }

    /// Returns whether lanes of a warp wait for each other in a block, or whether the block reads which lanes are
    /// active.
    fn meets(&self, position: usize) -> bool {
        const MEETINGS: [&str; 7] = ["barrier", "bar.warp", "shfl.sync", "vote", "match", "redux", "activemask"];
        let Some(block) = self.body().blocks.get(position) else { return false };
        let looks = |value: Value<'c>| value.is_inline_asm() && value.asm_text().contains("activemask");
        if block.instructions.iter().filter_map(|value| value.called_value()).any(looks) {
            return true;
        }
        block.instructions.iter().filter_map(|value| value.direct_callee()).any(|callee| {
            let name = callee.name();
            let intrinsic = name.strip_prefix("llvm.nvvm.");
            intrinsic.is_some_and(|rest| MEETINGS.iter().any(|one| rest.starts_with(one)))
                || (intrinsic.is_none() && self.unit().reach.has_barrier(callee))
        })
    }
}
