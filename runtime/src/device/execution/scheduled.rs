//! Runs a launch in the scheduler's order. When the scheduler gives a turn to a warp, the next items of this warp are
//! moved to the trace. Only when the warp's buffer is empty does its block continue to run.

use super::arena::Arena;
use super::cluster::Cluster;
use super::drain::turn_end;
use super::items::{close_turn, open_turn, push_block_start};
use super::slot::{Cold, Hot, Placed, flags};
use super::warp::{Block, Geometry, Running, Stop, Warp};
use super::warp_blocks::WarpBlocks;
use crate::device::faults::message;
use crate::trace::Trace;
use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use warpline_format::abi::{Lanes, WarpContext, WarpFunction};
use warpline_format::access::Space;
use warpline_format::cluster;
use warpline_format::event::WarpBlockCount;
use warpline_format::rendezvous::Rendezvous;
use warpline_format::schedule::{TurnEnd, WarpStreams};

/// A batch is written when it has this number of bytes.
const BATCH_BYTES: usize = 256 << 10;
/// The size of a slot's shelf in words. When a warp ends with few items, they move to the shelf, so that the next warp
/// can use its buffer, which is still in the host's cache.
pub(super) const SHELF_WORDS: usize = 48;
/// The space after these bytes for the turn that fills the batch.
pub(super) const BATCH_SPARE: usize = 64 << 10;

/// The kernel that runs, and how it runs.
pub struct Plan<'a> {
    /// The shape of the launch.
    pub geometry: Geometry,
    /// The warp function with hooks; if it is `None`, everything runs without hooks.
    pub hooked: Option<WarpFunction>,
    /// The warp function without hooks.
    pub native: Option<WarpFunction>,
    /// In each group of this number of blocks, the first block is traced; 0 means that no block is traced.
    pub share: u64,
    /// The blocks that run, if not all blocks run. If any block is traced, these are the traced blocks.
    pub sample: Option<&'a BTreeSet<u64>>,
    /// Kernel parameters.
    pub arguments: *const u8,
    /// Count cells.
    pub counts: *mut u64,
    /// The number of count cells; 0 if nothing is counted.
    pub cells: usize,
    /// The basic blocks that the hooked kernel may run.
    pub counted_blocks: Range<u64>,
    /// The size of a fibre's stack in bytes.
    pub stack_bytes: usize,
    /// The number of warp slots per SM.
    pub slots_per_sm: u32,
    /// The thread positions of each warp.
    pub threads: &'a [[Lanes; 3]],
    /// Whether the kernel may wait for other blocks, so that no block may run far ahead of the others.
    pub waits: bool,
    /// Whether blocks of a cluster wait for each other.
    pub clusters: bool,
    /// Whether warps take turns at their accesses; then all run with hooks.
    pub interleave: bool,
    /// Whether reads of memory that nothing has written are reported.
    pub initialisation: bool,
    /// Whether blocks that are not traced run with hooks as well; their records are discarded.
    pub all_hooked: bool,
}

/// Reports that the kernel was stopped; the launch contains the reason.
#[derive(Debug, PartialEq, Eq)]
pub struct Stopped;

/// A launch that the scheduler runs.
pub struct Scheduled<'a> {
    pub(super) plan: Plan<'a>,
    pub(super) running: *mut Running,
    pub(super) arena: &'a mut Arena,
    pub(super) trace: *mut Trace,
    pub(super) hot: Vec<Hot>,
    pub(super) cold: Vec<Cold>,
    /// [`SHELF_WORDS`] words per slot.
    pub(super) shelves: Vec<u64>,
    pub(super) blocks: Vec<Block>,
    pub(super) placed: Vec<Option<Placed>>,
    /// The running clusters, by number.
    clusters: HashMap<u64, Box<Cluster>>,
    /// The number of warps per block.
    pub(super) warps: u32,
    pub(super) warp_blocks: WarpBlocks,
    pub(super) registered: bool,
    /// A bit for each space whose addresses are translated one by one.
    pub(super) foreign: u32,
    /// Whether blocks access the shared memory of other blocks.
    pub(super) clustered: bool,
}

impl<'a> Scheduled<'a> {
    /// Prepares for `residents` resident blocks on the whole device.
    ///
    /// # Safety
    /// `running` and `trace` live as long as the result and are not used elsewhere during that time; the arena
    /// was prepared for this number of blocks.
    pub unsafe fn new(
        plan: Plan<'a>,
        running: *mut Running,
        trace: *mut Trace,
        arena: &'a mut Arena,
        residents: usize,
    ) -> Scheduled<'a> {
        let warps = plan.geometry.warps() as usize;
        let hot = vec![Hot::EMPTY; residents * warps];
        let cold = (0..residents * warps).map(|_| Cold::default()).collect();
        let mut shelves = std::mem::take(&mut arena.shelves);
        shelves.resize(shelves.len().max(residents * warps * SHELF_WORDS), 0);
        let blocks = (0..residents).map(|_| Block::new()).collect();
        let placed = vec![None; residents];
        let warps_per_block = plan.geometry.warps();
        let warp_blocks = WarpBlocks::new(plan.counted_blocks.clone(), residents * warps);
        // SAFETY: by the contract.
        let registered = unsafe { (*(*running).memory).registry.registered > 0 };
        arena.batch.clear();
        arena.batch.reserve(BATCH_BYTES + BATCH_SPARE);
        let clustered = cluster::blocks(plan.geometry.cluster) > 1;
        let others = u32::from(clustered) << Space::Shared as u32;
        let foreign = others | 1 << Space::Generic as u32 | u32::from(registered) << Space::Global as u32;
        Scheduled {
            plan,
            running,
            arena,
            trace,
            hot,
            cold,
            shelves,
            blocks,
            placed,
            clusters: HashMap::new(),
            warps: warps_per_block,
            warp_blocks,
            registered,
            foreign,
            clustered,
        }
    }

    /// Writes the remaining items and returns stacks and buffers to their pools. If `stopped` is set, the kernel did
    /// not end on its own, and the items that its warps recorded are written in slot order. Returns the counts of blocks
    /// by warp.
    pub fn finish(mut self, stopped: bool) -> Vec<WarpBlockCount> {
        for index in 0..self.hot.len() {
            if stopped {
                let at = open_turn(&mut self.arena.batch, index as u32);
                while matches!(self.drain(index, u32::MAX), Ok(TurnEnd::Barrier | TurnEnd::Named(_))) {}
                self.end_turn(index, at);
                self.write_full_batch();
            }
            self.release(index);
        }
        self.write_batch();
        self.arena.shelves = std::mem::take(&mut self.shelves);
        self.warp_blocks.finish()
    }

    fn write_batch(&mut self) {
        if !self.arena.batch.is_empty() {
            // SAFETY: by the contract of `new`.
            unsafe { (*self.trace).batch((*self.running).launch, &self.arena.batch) };
            self.arena.batch.clear();
        }
    }

    fn write_full_batch(&mut self) {
        if self.arena.batch.len() >= BATCH_BYTES {
            self.write_batch();
        }
    }

    /// Prefetches the memory that the next turn of a slot will need. Its turn comes after turns on all other SMs, and
    /// by then its memory would no longer be in the first levels of the cache.
    #[inline(always)]
    fn fetch_ahead(&self, index: usize) {
        let Some(hot) = self.hot.get(index) else { return };
        // SAFETY: prefetching affects only the cache, whatever the address is.
        unsafe {
            let lines = if hot.read < hot.limit { hot.read } else { hot.stack };
            for line in 0..4 {
                _mm_prefetch::<_MM_HINT_T0>(lines.wrapping_add(64 * line).cast());
            }
        }
    }

    /// Returns whether the block of a slot is traced. Blocks that are not traced have items only if all blocks run with
    /// hooks.
    pub(super) fn is_traced(&self, index: usize) -> bool {
        self.placed[index / self.warps as usize].is_some_and(|placed| placed.traced)
    }

    /// Returns whether the block of a slot is excluded from the run.
    fn is_left_out(&self, index: usize) -> bool {
        self.placed[index / self.warps as usize].is_some_and(|placed| placed.left_out)
    }

    /// Closes the turn that was opened at `at`, or removes it if the block is not traced.
    fn end_turn(&mut self, index: usize, at: usize) {
        if self.plan.all_hooked && !self.is_traced(index) {
            self.arena.batch.truncate(at);
        } else {
            close_turn(&mut self.arena.batch, at);
        }
    }

    /// Runs one turn of a warp that takes turns with all others at its accesses. When the requests of its last step
    /// have been passed on, one by one as time passes, it continues to the end of the next step.
    fn step(&mut self, index: usize, mut requests: u32) -> Result<TurnEnd, Stopped> {
        let mut moved = false;
        loop {
            match self.drain(index, requests) {
                Ok(end) => return Ok(end),
                Err(left) => requests = left,
            }
            let hot = &mut self.hot[index];
            if hot.flags & flags::FINISHED != 0 {
                self.release(index);
                return Ok(TurnEnd::Finished);
            }
            hot.flags &= !flags::YIELDED;
            if moved {
                return Ok(TurnEnd::Budget);
            }
            self.resume(index)?;
            // A full buffer is empty when it is checked again.
            moved = self.hot[index].flags & flags::FULL == 0;
        }
    }

    /// Adds a block that starts, with its shared memory, to its cluster.
    fn join_cluster(&mut self, sequence: u64, shared: u64) {
        if !self.plan.clusters {
            return;
        }
        let blocks = cluster::blocks(self.plan.geometry.cluster);
        let (warps, bytes) = (self.warps, self.plan.geometry.shared_bytes);
        let fresh = || Box::new(Cluster::new(blocks as usize, warps, bytes));
        let cluster = self.clusters.entry(sequence / blocks).or_insert_with(fresh);
        cluster.shared[(sequence % blocks) as usize] = shared;
    }

    /// Returns the cluster of a running block, or null if the blocks have no clusters.
    pub(super) fn cluster_at(&mut self, sequence: u64) -> *mut Cluster {
        let number = sequence / cluster::blocks(self.plan.geometry.cluster);
        self.clusters.get_mut(&number).map_or(std::ptr::null_mut(), |cluster| &raw mut **cluster)
    }

    #[inline]
    fn turn_items(&mut self, index: usize, mut requests: u32) -> Result<TurnEnd, Stopped> {
        loop {
            match self.drain(index, requests) {
                Ok(end) => return Ok(end),
                Err(left) => requests = left,
            }
            let hot = &mut self.hot[index];
            if hot.flags & flags::FINISHED != 0 {
                self.release(index);
                return Ok(TurnEnd::Finished);
            }
            if hot.flags & flags::YIELDED != 0 {
                hot.flags &= !flags::YIELDED;
                return Ok(TurnEnd::GaveWay);
            }
            if hot.flags & flags::WAITS != 0 {
                hot.flags &= !flags::WAITS;
                return Ok(turn_end(self.cold[index].meeting));
            }
            self.run_ahead(index)?;
        }
    }
}

impl WarpStreams for Scheduled<'_> {
    type Error = Stopped;

    fn start_block(&mut self, sequence: u64, first_slot: u32) -> Result<(), Stopped> {
        let geometry = self.plan.geometry;
        let block = cluster::block_at(geometry.grid, geometry.cluster, sequence);
        let warps = self.warps;
        let resident = first_slot / warps;
        let share = self.plan.share;
        let chosen =
            self.plan.sample.map_or(share != 0 && block.is_multiple_of(share), |sample| sample.contains(&block));
        let traced = self.plan.hooked.is_some() && share != 0 && chosen;
        let hooked = traced || self.plan.all_hooked;
        let entry = if hooked { self.plan.hooked } else { self.plan.native };
        let Some(entry) = entry.or(self.plan.hooked) else {
            // SAFETY: by the contract of `new`.
            unsafe { (*self.running).stop = Some(Stop::IllegalInstruction) };
            return Err(Stopped);
        };
        self.blocks[resident as usize] = Block::new();
        let shared = self.arena.shared(&geometry, u64::from(resident));
        // SAFETY: the arena was prepared for this geometry.
        unsafe { geometry.clear_reserved(shared) };
        if self.plan.initialisation {
            // SAFETY: by the contract of `new`.
            unsafe {
                // The last store may have been to the shared memory of the previous block.
                if let Some(values) = (*self.running).values.as_mut() {
                    values.settle();
                }
            }
            // SAFETY: by the contract of `new`.
            unsafe { (*(*self.running).memory).begin_shared(shared as u64, geometry.shared_bytes) };
        }
        self.join_cluster(sequence, shared as u64);
        self.placed[resident as usize] = Some(Placed {
            number: block,
            sequence,
            index: geometry.block_index(block),
            sm: first_slot / self.plan.slots_per_sm,
            first_slot,
            first_on_sm: first_slot % self.plan.slots_per_sm,
            entry,
            hooked,
            traced,
            left_out: self.plan.sample.is_some() && !chosen,
        });
        self.hot[first_slot as usize..][..warps as usize].fill(Hot::EMPTY);
        if traced {
            push_block_start(&mut self.arena.batch, first_slot, warps, block);
        }
        Ok(())
    }

    fn turn(&mut self, slot: u32, requests: u32) -> Result<TurnEnd, Stopped> {
        if self.plan.sample.is_some() && self.is_left_out(slot as usize) {
            return Ok(TurnEnd::Finished);
        }
        self.fetch_ahead(slot as usize + 1);
        let at = open_turn(&mut self.arena.batch, slot);
        let end = if self.plan.interleave {
            self.step(slot as usize, requests)
        } else {
            self.turn_items(slot as usize, requests)
        };
        self.end_turn(slot as usize, at);
        self.write_full_batch();
        end
    }

    fn end_block(&mut self, sequence: u64, _first_slot: u32) -> Result<(), Stopped> {
        let number = sequence / cluster::blocks(self.plan.geometry.cluster);
        if let Some(cluster) = self.clusters.get_mut(&number) {
            cluster.ended += 1;
            if cluster.ended == cluster.shared.len() {
                self.clusters.remove(&number);
            }
        }
        Ok(())
    }

    fn stuck(&mut self, slot: u32, meeting: Rendezvous, arrived: u32) -> Result<(), Stopped> {
        let Some(warp) = self.cold[slot as usize].warp else { return Ok(()) };
        // SAFETY: by the contract of `new`; the warp waits, so it is one of this launch.
        unsafe {
            message::never_opens(warp, meeting, arrived);
            (*self.running).stop = Some(Stop::Deadlock);
            (*self.running).fault_warp = warp;
        }
        Err(Stopped)
    }
}

/// Returns the warp of a context, for messages.
///
/// # Safety
/// `context` was created by `start_block` or by the direct mode.
#[inline(always)]
pub unsafe fn warp_of(context: *mut WarpContext) -> *mut Warp {
    // SAFETY: by the contract.
    unsafe { (*context).runtime.cast() }
}
