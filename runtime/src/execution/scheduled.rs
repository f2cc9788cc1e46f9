//! Runs a launch in the scheduler's order: whenever the scheduler gives a warp its turn, the next
//! items of that warp go into the trace; only when its buffer is empty its fibre runs on.

use super::arena::{Arena, BUFFER_BYTES, Buffer};
use super::fibre::{Stack, switch};
use super::items::{Places, close_turn, open_turn, push_block_start, take};
use super::warp::{Block, Geometry, PATIENCE, Pause, Running, Stop, Warp, warp_main};
use crate::trace::Trace;
use std::ptr::null_mut;
use warpline_format::abi::{Lanes, WarpContext, WarpFunction};
use warpline_format::access::{Kind, item_bytes};
use warpline_format::schedule::{TurnEnd, WarpStreams};

/// Bytes of items after which a batch is written.
const BATCH_BYTES: usize = 256 << 10;

/// What runs, and how.
pub struct Plan<'a> {
    /// Shape.
    pub geometry: Geometry,
    /// Warp function with hooks; `None` runs everything without.
    pub hooked: Option<WarpFunction>,
    /// Warp function without hooks.
    pub native: Option<WarpFunction>,
    /// Of every so many blocks the first is traced.
    pub share: u64,
    /// Kernel parameters.
    pub arguments: *const u8,
    /// Count cells.
    pub counts: *mut u64,
    /// Bytes of a fibre's stack.
    pub stack_bytes: usize,
    /// Warp slots per SM.
    pub slots_per_sm: u32,
    /// Thread positions by warp.
    pub threads: &'a [[Lanes; 3]],
}

/// A warp slot, apart from the warp itself.
#[derive(Default)]
struct Slot {
    /// Items not yet taken.
    read: usize,
    /// End of the items.
    limit: usize,
    buffer: Option<Box<Buffer>>,
    stack: Option<Stack>,
    /// Rest of an access that was split.
    rest: Vec<u8>,
    /// The warp function has returned.
    finished: bool,
    /// It waits for another warp, and gives up the rest of its turn.
    yielded: bool,
    /// It waits at a barrier, and nothing in the buffer says so.
    waits: bool,
}

/// The kernel was stopped; the reason is in the launch.
#[derive(Debug, PartialEq, Eq)]
pub struct Stopped;

/// A launch in the scheduler's hands.
pub struct Scheduled<'a> {
    plan: Plan<'a>,
    running: *mut Running,
    arena: &'a mut Arena,
    trace: *mut Trace,
    slots: Vec<Slot>,
    blocks: Vec<Block>,
    registered: bool,
}

impl<'a> Scheduled<'a> {
    /// Prepares for `residents` resident blocks on the whole device.
    ///
    /// # Safety
    /// `running` and `trace` live as long and are used by nobody else meanwhile; the arena was
    /// prepared for as many blocks.
    pub unsafe fn new(
        plan: Plan<'a>,
        running: *mut Running,
        trace: *mut Trace,
        arena: &'a mut Arena,
        residents: usize,
    ) -> Scheduled<'a> {
        let warps = plan.geometry.warps() as usize;
        let slots = (0..residents * warps).map(|_| Slot::default()).collect();
        let blocks = (0..residents).map(|_| Block::new()).collect();
        // SAFETY: by the contract.
        let registered = unsafe { (*(*running).memory).registry.registered > 0 };
        arena.batch.clear();
        Scheduled { plan, running, arena, trace, slots, blocks, registered }
    }

    /// Writes what is left and takes stacks and buffers back. `stopped`: the kernel did not end by
    /// itself, and what its warps had recorded is written in slot order.
    pub fn finish(mut self, stopped: bool) {
        for index in 0..self.slots.len() {
            if stopped {
                let at = open_turn(&mut self.arena.batch, index as u32);
                let _ = self.drain(index, u32::MAX);
                close_turn(&mut self.arena.batch, at);
            }
            let slot = &mut self.slots[index];
            if let Some(stack) = slot.stack.take() {
                self.arena.stacks.give(stack);
            }
            if let Some(buffer) = slot.buffer.take() {
                self.arena.give_buffer(buffer);
            }
        }
        self.write_batch();
    }

    fn write_batch(&mut self) {
        if !self.arena.batch.is_empty() {
            // SAFETY: by the contract of `new`.
            unsafe { (*self.trace).batch((*self.running).launch, &self.arena.batch) };
            self.arena.batch.clear();
        }
    }

    /// Runs the warp's fibre until it comes back.
    fn resume(&mut self, index: usize) -> Result<(), Stopped> {
        let warp = self.arena.warps.get(index);
        let slot = &mut self.slots[index];
        // SAFETY: `start_block` filled the warp; the launch lives; one flow runs at a time.
        unsafe {
            let running = self.running;
            if (*warp).fibre.is_null() {
                let Ok(mut stack) = self.arena.stacks.take(self.plan.stack_bytes) else {
                    (*running).stop = Some(Stop::OutOfMemory);
                    return Err(Stopped);
                };
                (*warp).fibre = stack.prepare(warp_main, warp.cast());
                (*warp).guard = stack.guard();
                slot.stack = Some(stack);
                if (*warp).hooked {
                    slot.buffer = Some(self.arena.take_buffer());
                }
            }
            let start = slot.buffer.as_mut().map_or(null_mut(), |buffer| buffer.0.as_mut_ptr());
            (*warp).context.record_cursor = start;
            (*warp).context.record_end = start.wrapping_add(if start.is_null() { 0 } else { BUFFER_BYTES });
            (*running).current = warp;
            switch(&raw mut (*running).scheduler, (*warp).fibre);
            (*running).current = null_mut();
            slot.read = 0;
            slot.limit = (*warp).context.record_cursor as usize - start as usize;
            if (*running).stop.is_some() {
                return Err(Stopped);
            }
            match (*running).pause {
                Pause::Full => (),
                Pause::Yield => slot.yielded = true,
                Pause::Barrier => slot.waits = !(*warp).hooked,
                Pause::Finished => {
                    slot.finished = true;
                    if let Some(stack) = slot.stack.take() {
                        self.arena.stacks.give(stack);
                    }
                }
            }
        }
        Ok(())
    }

    /// Moves items of the slot to the batch: at most `requests` requests, or up to a barrier.
    /// Returns how the turn ended, or the requests left when the items ran out.
    fn drain(&mut self, index: usize, mut requests: u32) -> Result<TurnEnd, u32> {
        let slot = &mut self.slots[index];
        let out = &mut self.arena.batch;
        while !slot.rest.is_empty() {
            let length = item_length(&slot.rest);
            out.extend_from_slice(&slot.rest[..length]);
            slot.rest.drain(..length);
            requests -= 1;
            if requests == 0 {
                return Ok(TurnEnd::Budget);
            }
        }
        let Some(buffer) = slot.buffer.as_ref() else { return Err(requests) };
        let start = buffer.0.as_ptr();
        if slot.read == slot.limit {
            return Err(requests);
        }
        let warp = self.arena.warps.get(index);
        // SAFETY: `start_block` filled the warp; the registry is only read here.
        let places = unsafe {
            Places {
                shared: (*warp).context.shared as u64,
                local: (*warp).context.local as u64,
                local_stride: (*warp).context.local_stride,
                registered: self.registered.then(|| &(*(*self.running).memory).registry),
            }
        };
        while slot.read < slot.limit {
            // SAFETY: lowered code writes whole items, up to `limit`.
            let item = unsafe { start.add(slot.read) };
            // SAFETY: an item has at least eight bytes.
            let first = unsafe { item.cast::<u64>().read() };
            let (head, second) = (first as u32, (first >> 32) as u32);
            let Some(length) = item_bytes(head, second) else {
                debug_assert!(false, "lowered code wrote the unknown item {head:#x}");
                slot.read = slot.limit;
                break;
            };
            slot.read += length;
            match Kind::from_head(head) {
                Some(Kind::Barrier) => {
                    out.extend_from_slice(&first.to_le_bytes());
                    return Ok(TurnEnd::Barrier);
                }
                Some(Kind::Call | Kind::Return) => out.extend_from_slice(&first.to_le_bytes()),
                _ => {
                    // SAFETY: a whole access item.
                    unsafe { take(item, length, &places, out, &mut slot.rest) };
                    requests -= 1;
                    if requests == 0 {
                        return Ok(TurnEnd::Budget);
                    }
                    while !slot.rest.is_empty() {
                        let length = item_length(&slot.rest);
                        out.extend_from_slice(&slot.rest[..length]);
                        slot.rest.drain(..length);
                        requests -= 1;
                        if requests == 0 {
                            return Ok(TurnEnd::Budget);
                        }
                    }
                }
            }
        }
        Err(requests)
    }

    fn turn_items(&mut self, index: usize, mut requests: u32) -> Result<TurnEnd, Stopped> {
        loop {
            match self.drain(index, requests) {
                Ok(end) => return Ok(end),
                Err(left) => requests = left,
            }
            let slot = &mut self.slots[index];
            if slot.finished {
                if let Some(buffer) = slot.buffer.take() {
                    self.arena.give_buffer(buffer);
                }
                return Ok(TurnEnd::Finished);
            }
            if std::mem::take(&mut slot.yielded) {
                return Ok(TurnEnd::Budget);
            }
            if std::mem::take(&mut slot.waits) {
                return Ok(TurnEnd::Barrier);
            }
            self.resume(index)?;
        }
    }
}

/// Length of the first item of whole items.
fn item_length(items: &[u8]) -> usize {
    let word = |at: usize| items.get(at..at + 4).map_or(0, |w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]));
    item_bytes(word(0), word(4)).unwrap_or(items.len()).min(items.len())
}

impl WarpStreams for Scheduled<'_> {
    type Error = Stopped;

    fn start_block(&mut self, block: u64, first_slot: u32) -> Result<(), Stopped> {
        let geometry = self.plan.geometry;
        let warps = geometry.warps();
        let resident = u64::from(first_slot / warps);
        let traced = self.plan.hooked.is_some() && block.is_multiple_of(self.plan.share.max(1));
        let entry = if traced { self.plan.hooked } else { self.plan.native };
        let Some(entry) = entry.or(self.plan.hooked) else {
            // SAFETY: by the contract of `new`.
            unsafe { (*self.running).stop = Some(Stop::IllegalInstruction) };
            return Err(Stopped);
        };
        self.blocks[resident as usize] = Block::new();
        let block_state: *mut Block = &raw mut self.blocks[resident as usize];
        let block_index = geometry.block_index(block);
        for warp in 0..warps {
            let index = first_slot as usize + warp as usize;
            let place = self.arena.warps.get(index);
            let threads = &self.plan.threads[warp as usize];
            let context = WarpContext {
                record_cursor: null_mut(),
                record_end: null_mut(),
                arguments: self.plan.arguments,
                shared: self.arena.shared(&geometry, resident),
                shared_bytes: geometry.shared_bytes,
                local: self.arena.local(&geometry, index as u64),
                local_stride: geometry.local_stride,
                local_used: 0,
                local_limit: geometry.local_limit,
                counts: self.plan.counts,
                clock: 0,
                patience: PATIENCE,
                runtime: place.cast(),
                block_index,
                block_dim: geometry.block,
                grid_dim: geometry.grid,
                warp,
                live: geometry.live(warp),
                sm: first_slot / self.plan.slots_per_sm,
                warp_slot: index as u32 % self.plan.slots_per_sm,
                block,
                thread_x: threads[0],
                thread_y: threads[1],
                thread_z: threads[2],
            };
            // SAFETY: the slot is free, and its memory belongs to the arena.
            unsafe {
                place.write(Warp {
                    context,
                    running: self.running,
                    block: block_state,
                    entry,
                    fibre: null_mut(),
                    guard: 0,
                    barriers: 0,
                    next: null_mut(),
                    previous: null_mut(),
                    hooked: traced,
                });
            }
            let slot = &mut self.slots[index];
            slot.finished = false;
            slot.read = 0;
            slot.limit = 0;
        }
        if traced {
            push_block_start(&mut self.arena.batch, first_slot, warps, block);
        }
        Ok(())
    }

    fn turn(&mut self, slot: u32, requests: u32) -> Result<TurnEnd, Stopped> {
        let at = open_turn(&mut self.arena.batch, slot);
        let end = self.turn_items(slot as usize, requests);
        close_turn(&mut self.arena.batch, at);
        if self.arena.batch.len() >= BATCH_BYTES {
            self.write_batch();
        }
        end
    }

    fn end_block(&mut self, _block: u64, _first_slot: u32) -> Result<(), Stopped> {
        Ok(())
    }
}

/// For messages: the pointer of a warp's context leads back to the warp.
///
/// # Safety
/// `context` is one that `start_block` or the direct mode made.
#[inline(always)]
pub unsafe fn warp_of(context: *mut WarpContext) -> *mut Warp {
    // SAFETY: by the contract.
    unsafe { (*context).runtime.cast() }
}
