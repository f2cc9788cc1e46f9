//! Conflicts between threads: what the accesses have in common, and which barriers exist.

use super::super::prelude::*;
use super::super::thresholds::races::*;
use super::accumulator;
use super::address::terms_and_offset;
use warpline_profile::model::{Conflict, ConflictParty};

/// Substrings of the names by which source code calls a block barrier.
const BARRIERS: [&str; 4] = ["__syncthreads", ".sync(", "bar.sync", "barrier.sync"];

/// A conflict and its kernel.
pub struct Race<'f, 'a> {
    pub facts: &'f Facts<'a>,
    pub conflict: &'f Conflict,
    pub kernel: Option<&'a Kernel>,
}

impl<'f, 'a> Race<'f, 'a> {
    pub fn new(facts: &'f Facts<'a>, conflict: &'f Conflict) -> Race<'f, 'a> {
        Race { facts, conflict, kernel: facts.kernel(Some(conflict.kernel)) }
    }

    pub fn is_triton(&self) -> bool {
        self.kernel.is_some_and(Kernel::is_triton)
    }

    pub fn is_in_block(&self) -> bool {
        is_in_block(self.conflict)
    }

    /// Returns whether lanes of one warp conflict in a single request.
    pub fn is_in_warp(&self) -> bool {
        self.conflict.scope == "warp"
    }

    fn has(&self, op: &str) -> bool {
        self.party(op).is_some()
    }

    fn party(&self, op: &str) -> Option<&'f ConflictParty> {
        self.conflict.accesses.iter().find(|party| party.op == op)
    }

    /// Returns how the store or atomic operation of the conflict depends on a load of its address (`value` or
    /// `condition`).
    pub fn update(&self) -> Option<&'f str> {
        self.conflict.accesses.iter().find_map(|party| party.update.as_ref()).map(|update| &update.by[..])
    }

    /// Returns whether both accesses are atomic operations, and one of them is atomic only within its block.
    pub fn is_of_narrow_atomics(&self) -> bool {
        self.conflict.accesses.iter().all(|party| party.op == "atomic")
    }

    /// Returns whether one side is a load and the other one an atomic operation.
    pub fn is_read_of_atomic(&self) -> bool {
        self.has("atomic") && self.has("load")
    }

    /// Returns whether the loaded value determines whether the atomic operation is executed.
    pub fn is_guard_of_atomic(&self) -> bool {
        self.is_read_of_atomic() && self.update() == Some("condition") && self.is_loaded_for("atomic")
    }

    /// Returns whether the other access depends on the load: it is on the load's line and does not compute its address
    /// differently.
    fn is_loaded_for(&self, op: &str) -> bool {
        let (Some(load), Some(other)) = (self.party("load"), self.party(op)) else { return false };
        let is_there = other.update.as_ref().is_some_and(|update| update.line == load.frame.line);
        let [one, two] = [load, other].map(|party| self.access(party).and_then(terms_and_offset));
        is_there && (one.is_none() || two.is_none() || one == two)
    }

    /// Returns whether several threads update the same element with separate loads and stores.
    pub fn is_update_by_several(&self) -> bool {
        self.is_loaded_for("store") || self.is_of_one_store() && self.update().is_some()
    }

    /// Returns whether both sides are the same store.
    pub fn is_of_one_store(&self) -> bool {
        self.are_on_one_line() && self.conflict.accesses.iter().all(|party| party.op == "store")
    }

    /// Returns whether the statement is in a loop without a barrier. If the compiler unrolled the loop, the statement
    /// has several copies, and a barrier in the loop is executed equally often.
    pub fn is_in_loop_without_barrier(&self) -> bool {
        let Some((party, store)) = self.party("store").and_then(|party| Some((party, self.access(party)?))) else {
            return false;
        };
        if accumulator::loop_lines(self.facts, store).is_some() {
            return !accumulator::has_barrier(self.facts, store);
        }
        let frame = &party.frame;
        let is_copy = |site: &&Site| {
            site.kernel == self.conflict.kernel
                && site.op == party.op
                && (&site.file, site.line, site.column) == (&frame.file, frame.line, frame.column)
        };
        let copies = self.facts.profile.sites.iter().filter(is_copy).count() as u64;
        let warps = self.kernel.map_or(0, warps);
        copies > 1 && !accumulator::has_barriers(self.facts, store, copies.saturating_mul(warps))
    }

    /// Returns the accesses of one side.
    fn accesses(&self, party: &'f ConflictParty) -> impl Iterator<Item = &'f Access<'a>> {
        let conflict = self.conflict;
        self.facts.accesses_of(conflict.kernel, &conflict.space).filter(move |access| {
            (access.file, access.line, access.op) == (&party.frame.file[..], party.frame.line, &party.op[..])
        })
    }

    /// Returns the access of one side at the column of that side.
    fn access(&self, party: &'f ConflictParty) -> Option<&'f Access<'a>> {
        self.accesses(party).find(|access| access.column == party.frame.column)
    }

    /// Returns whether the compiler merged or moved the access, so that its line is the nearest known one.
    pub fn is_near(&self, party: &'f ConflictParty) -> bool {
        self.access(party).is_some_and(|access| access.is_near)
    }

    fn are_on_one_line(&self) -> bool {
        let [one, other] = &self.conflict.accesses;
        (&one.frame.file, one.frame.line) == (&other.frame.file, other.frame.line)
    }

    /// Returns whether both sides are the load and the store of one statement.
    pub fn is_statement(&self) -> bool {
        self.are_on_one_line() && self.has("load") && self.has("store")
    }

    /// Returns whether both sides store, on different lines.
    pub fn is_of_stores(&self) -> bool {
        !self.are_on_one_line() && self.conflict.accesses.iter().all(|party| party.op == "store")
    }

    /// Returns whether one side reads on a different line from the line where the other side writes.
    pub fn is_read_elsewhere(&self) -> bool {
        !self.is_statement() && self.has("load")
    }

    /// Returns whether a store conflicts with an atomic operation.
    pub fn is_store_with_atomic(&self) -> bool {
        self.has("atomic") && self.has("store")
    }

    /// Returns whether each thread stores to its own element and loads elements of other threads, according to the
    /// addresses of the lanes.
    pub fn reads_other_threads(&self) -> bool {
        let side =
            |op: &str| self.conflict.accesses.iter().find(|party| party.op == op).and_then(|party| self.access(party));
        let (Some(store), Some(load)) = (side("store"), side("load")) else { return false };
        let (own, other) = (terms_and_offset(store), terms_and_offset(load));
        own.is_some() && other.is_some() && own != other && self.is_own(store)
    }

    /// Returns whether different threads store to different elements.
    fn is_own(&self, store: &Access<'_>) -> bool {
        let (Some(operand), Some(block)) = (store.operand, self.kernel.and_then(block_of)) else { return false };
        let moves = |axis: usize| match operand.thread_steps[axis] {
            ThreadStep::Bytes(bytes) => bytes.unsigned_abs() >= u64::from(store.bytes),
            // Rows of a matrix whose width is a parameter.
            ThreadStep::Times(_) => true,
            _ => false,
        };
        !operand.loaded_index && (0..3).filter(|&axis| block[axis] > 1).all(moves)
    }

    /// Returns whether a statement that one thread of a block should execute loads before its condition: far more lanes
    /// load than store.
    pub fn is_early_load(&self) -> bool {
        let moved = |party: &&ConflictParty| party.op == "load" && self.is_near(party);
        let Some(party) =
            self.conflict.accesses.iter().find(moved).filter(|_| self.is_in_block() && self.is_statement())
        else {
            return false;
        };
        let lanes = |op: &str| {
            let is_there = |access: &&Access<'_>| {
                (access.file, access.line, access.op) == (&party.frame.file[..], party.frame.line, op)
            };
            let there = self.facts.accesses_of(self.conflict.kernel, &self.conflict.space).filter(is_there);
            there.map(|access| access.sums.lanes).total()
        };
        lanes("load") > lanes("store").saturating_mul(EARLY_LOADS)
    }

    /// Returns a dimension of the block whose index changes neither address, although another index does. Threads along
    /// this dimension do the same work.
    pub fn idle_axis(&self) -> Option<(usize, [u32; 3])> {
        let block = block_of(self.kernel?)?;
        let allocation = self.conflict.allocation;
        let is_still = |access: &Access<'_>, axis: usize| {
            access.operand.is_some_and(|operand| {
                let steps = &operand.thread_steps;
                steps[axis] == ThreadStep::None && steps.iter().any(|step| *step != ThreadStep::None)
            })
        };
        let is_unmoved = |axis: usize| {
            self.conflict.accesses.iter().all(|party| {
                let is_meant = |access: &&Access<'_>| {
                    access.sums.requests != 0 && (allocation.is_none() || access.allocation == allocation)
                };
                let mut accesses = self.accesses(party).filter(is_meant).peekable();
                accesses.peek().is_some() && accesses.all(|access| is_still(access, axis))
            })
        };
        (1..3).find(|&axis| block[axis] > 1 && is_unmoved(axis)).map(|axis| (axis, block))
    }

    /// Returns the line of a barrier that is between the two accesses in the source.
    pub fn barrier_between(&self) -> Option<u32> {
        let [one, other] = self.conflict.accesses.each_ref().map(|party| &party.frame);
        let (first, last) = (one.line.min(other.line), one.line.max(other.line));
        let lines = self.facts.profile.sources.get(&one.file).filter(|_| one.file == other.file)?;
        let is_barrier = |text: &str| BARRIERS.iter().any(|name| text.contains(name));
        let between = lines.iter().filter(|(line, _)| (first.saturating_add(1)..last).contains(line));
        between.filter(|(_, text)| is_barrier(text)).map(|(line, _)| *line).next()
    }

    /// Returns whether the warps of a block reached barriers a different number of times. Otherwise, the number of
    /// arrivals is a multiple of the number of warps per block.
    pub fn has_uneven_barriers(&self) -> bool {
        self.kernel.is_some_and(|kernel| {
            let arrivals = kernel.instructions.get("barrier").map_or(0, |count| count.warps);
            arrivals % warps_of_block(kernel).max(1) != 0
        })
    }
}

/// Returns whether the value of a plain load determines whether an atomic operation is executed. Whether a stale value
/// is harmful depends on the program.
pub fn is_guard(conflict: &Conflict) -> bool {
    let is_made_by_load = |party: &ConflictParty| {
        party.op == "atomic" && party.update.as_ref().is_some_and(|update| update.by == "condition")
    };
    conflict.verdict == "flag" && conflict.accesses.iter().any(is_made_by_load)
}

pub fn is_in_block(conflict: &Conflict) -> bool {
    conflict.scope == "block"
}

/// Returns whether blocks conflict on the same lines as these warps of one block. In that case, only the conflict
/// between blocks is reported, or the value is a bound or a flag for warps as well as for blocks.
pub fn is_between_blocks(other: &Conflict, conflict: &Conflict) -> bool {
    let lines = |conflict: &Conflict| {
        let line = |party: &ConflictParty| (party.op.clone(), party.frame.file.clone(), party.frame.line);
        let mut sides = conflict.accesses.each_ref().map(line);
        sides.sort_unstable();
        (conflict.kernel, conflict.allocation, sides)
    };
    let is_settled = other.severity == "warning" || other.verdict == "flag";
    is_settled && !is_in_block(other) && lines(other) == lines(conflict)
}
