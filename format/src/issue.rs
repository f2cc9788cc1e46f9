//! Selection of the warp that an SM issues next: one type for each [`crate::warp_order::Order`].

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::budget::mix;
use crate::schedule::{SmState, WarpState};

/// Age of a warp: the start of its block, then its number in the block. The oldest warp has the lowest age.
pub(crate) type Age = (u64, u32);

/// Selects the warps of one SM.
pub(crate) trait Issue {
    /// Adds a warp of a block that starts.
    fn start(&mut self, slot: usize, age: Age);

    /// Adds a warp that has issued and can continue, or whose barrier has opened.
    fn resume(&mut self, slot: usize);

    /// Adds a warp that has issued and yields to other blocks.
    fn give_way(&mut self, slot: usize, step: u64);

    /// Returns the warp that issues in a step, if one is ready. At least one warp of the SM must be able to run.
    fn choose(&mut self, sm: &SmState, step: u64) -> Option<usize>;

    /// Returns the step in which the next waiting warp is ready.
    fn next_ready(&self) -> Option<u64>;
}

/// Loose round robin: selects the next slot that can run, cyclically.
pub(crate) struct LooseRoundRobin {
    /// See [`crate::warp_order::Order::LooseRoundRobin`].
    drift: u32,
    /// Slot from which the search starts.
    next: usize,
}

impl LooseRoundRobin {
    pub(crate) fn new(drift: u32) -> LooseRoundRobin {
        LooseRoundRobin { drift, next: 0 }
    }
}

impl Issue for LooseRoundRobin {
    #[inline(always)]
    fn start(&mut self, _slot: usize, _age: Age) {}

    #[inline(always)]
    fn resume(&mut self, _slot: usize) {}

    #[inline(always)]
    fn give_way(&mut self, _slot: usize, _step: u64) {}

    #[inline(always)]
    fn choose(&mut self, sm: &SmState, step: u64) -> Option<usize> {
        let mut slot = ready_from(sm, self.next);
        if self.drift > 0 {
            // If all warps skip the step, the last one issues.
            for _ in 1..sm.ready {
                let Some(block) = sm.block(slot) else { break };
                if !passes(self.drift, block, slot, step) {
                    break;
                }
                slot = ready_from(sm, after(sm, slot));
            }
        }
        self.next = after(sm, slot);
        Some(slot)
    }

    fn next_ready(&self) -> Option<u64> {
        None
    }
}

fn after(sm: &SmState, slot: usize) -> usize {
    if slot + 1 == sm.states.len() { 0 } else { slot + 1 }
}

/// Returns the first slot from `slot` on that can run; one must exist.
fn ready_from(sm: &SmState, mut slot: usize) -> usize {
    while sm.states[slot] != WarpState::Ready {
        slot = after(sm, slot);
    }
    slot
}

/// Returns whether a block's warp skips an issue slot. The result is pseudo-random but equal in every run.
fn passes(drift: u32, block: u64, slot: usize, step: u64) -> bool {
    random(block ^ step << 20 ^ (slot as u64) << 48) % 100 < passed(drift, block)
}

fn random(value: u64) -> u64 {
    mix(value.wrapping_add(0x9e37_79b9_7f4a_7c15))
}

/// Returns the per cent of issue slots that a block's warps skip, at most `drift`.
pub fn passed(drift: u32, block: u64) -> u64 {
    random(block) % (u64::from(drift) + 1)
}

/// Oldest first, with a wait after each issue slot. Each warp that can run is in one of the two heaps.
pub(crate) struct OldestFirst {
    /// See [`crate::warp_order::Order::OldestFirst`].
    wait: u32,
    /// Ready warps, by age.
    ready: BinaryHeap<Reverse<(Age, usize)>>,
    /// Waiting warps, by the step in which they become ready.
    waiting: BinaryHeap<Reverse<(u64, Age, usize)>>,
    /// Indexed by slot: the step in which the warp becomes ready again, and its age.
    slots: Vec<(u64, Age)>,
}

impl OldestFirst {
    /// Creates an `OldestFirst` for an SM with this number of warp slots.
    pub(crate) fn new(wait: u32, slots: usize) -> OldestFirst {
        OldestFirst { wait, ready: BinaryHeap::new(), waiting: BinaryHeap::new(), slots: vec![(0, (0, 0)); slots] }
    }
}

impl Issue for OldestFirst {
    fn start(&mut self, slot: usize, age: Age) {
        self.slots[slot] = (0, age);
        self.ready.push(Reverse((age, slot)));
    }

    fn resume(&mut self, slot: usize) {
        let (step, age) = self.slots[slot];
        self.waiting.push(Reverse((step, age, slot)));
    }

    /// The warp counts as younger than all others until it issues again, so the warps that it waits for issue first.
    fn give_way(&mut self, slot: usize, step: u64) {
        let (ready, (_, warp)) = self.slots[slot];
        // No grid has as many as half of this number of blocks.
        self.waiting.push(Reverse((ready, (u64::MAX / 2 + step, warp), slot)));
    }

    fn choose(&mut self, _sm: &SmState, step: u64) -> Option<usize> {
        while let Some(&Reverse((_, age, slot))) = self.waiting.peek().filter(|first| first.0.0 <= step) {
            self.waiting.pop();
            self.ready.push(Reverse((age, slot)));
        }
        let Reverse((_, slot)) = self.ready.pop()?;
        self.slots[slot].0 = step + 1 + u64::from(self.wait);
        Some(slot)
    }

    fn next_ready(&self) -> Option<u64> {
        self.waiting.peek().map(|first| first.0.0)
    }
}
