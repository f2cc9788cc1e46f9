//! Runs a launch in the scheduler's order: whenever the scheduler gives a warp its turn, the next
//! items of that warp go into the trace; only when its buffer is empty its block runs on.

use super::arena::Arena;
use super::buffers::Buffer;
use super::fibre::{Stack, switch};
use super::items::{Places, close_turn, open_turn, push_block_start, take};
use super::warp::{Block, Geometry, PATIENCE, Pause, Running, Stop, Warp, warp_main};
use super::warp_blocks::WarpBlocks;
use crate::trace::Trace;
use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
use std::ops::Range;
use std::ptr::{null, null_mut};
use warpline_format::abi::{Lanes, WarpContext, WarpFunction};
use warpline_format::access::{Kind, SITE_BITS, Space, item_bytes};
use warpline_format::event::WarpBlockCount;
use warpline_format::schedule::{TurnEnd, WarpStreams};

/// Bytes of items after which a batch is written.
const BATCH_BYTES: usize = 256 << 10;
/// Words of a slot's shelf: where the items of a warp go that is over and had few, so that its buffer, still in the
/// host's cache, serves the next warp.
const SHELF_WORDS: usize = 48;
/// Room behind them for the turn that fills it.
const BATCH_SPARE: usize = 64 << 10;

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
    /// Their number; 0 when nothing is counted.
    pub cells: usize,
    /// Basic blocks that the hooked kernel may run.
    pub counted_blocks: Range<u64>,
    /// Bytes of a fibre's stack.
    pub stack_bytes: usize,
    /// Warp slots per SM.
    pub slots_per_sm: u32,
    /// Thread positions by warp.
    pub threads: &'a [[Lanes; 3]],
    /// The kernel may wait for other blocks, so that none may run far ahead of them.
    pub waits: bool,
}

/// What every turn of a slot looks at; small, so that those of a whole device stay in the cache.
#[derive(Clone, Copy)]
struct Hot {
    /// Next item to take.
    read: *const u8,
    /// End of the items.
    limit: *const u8,
    /// Stack pointer of the suspended fibre, to have its frame fetched ahead.
    stack: *const u8,
    /// Bits of [`flags`].
    flags: u32,
}

impl Hot {
    const EMPTY: Hot = Hot { read: null(), limit: null(), stack: null(), flags: 0 };
}

mod flags {
    /// The warp function has returned.
    pub const FINISHED: u32 = 1;
    /// It waits for another warp, and gives up the rest of its turn.
    pub const YIELDED: u32 = 2;
    /// It waits at a barrier, and nothing in the buffer says so.
    pub const WAITS: u32 = 4;
    /// The rest of a split access is still to come.
    pub const REST: u32 = 8;
    /// It stands at a barrier that its block has not passed yet.
    pub const AT_BARRIER: u32 = 16;
    /// Its buffer had no room left.
    pub const FULL: u32 = 32;
}

/// A resident block before its warps start.
#[derive(Clone, Copy)]
struct Placed {
    number: u64,
    index: [u32; 3],
    sm: u32,
    /// Slot of warp 0, over all SMs and on its own.
    first_slot: u32,
    first_on_sm: u32,
    entry: WarpFunction,
    traced: bool,
}

/// What only a slot's first and last turns look at, and rare ones between.
#[derive(Default)]
struct Cold {
    /// From the warp's first turn to its end. Warps that soon are over follow each other in the same memory.
    warp: Option<*mut Warp>,
    buffer: Option<Buffer>,
    stack: Option<Stack>,
    /// Rest of an access that was split.
    rest: Vec<u8>,
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
    hot: Vec<Hot>,
    cold: Vec<Cold>,
    /// [`SHELF_WORDS`] per slot.
    shelves: Vec<u64>,
    blocks: Vec<Block>,
    placed: Vec<Option<Placed>>,
    /// Warps per block.
    warps: u32,
    warp_blocks: WarpBlocks,
    registered: bool,
    /// Bit per space whose addresses have to be looked at one by one.
    foreign: u32,
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
        let foreign = 1 << Space::Generic as u32 | u32::from(registered) << Space::Global as u32;
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
            warps: warps_per_block,
            warp_blocks,
            registered,
            foreign,
        }
    }

    /// Writes what is left and takes stacks and buffers back. `stopped`: the kernel did not end by
    /// itself, and what its warps had recorded is written in slot order. Returns the counts of blocks by warp.
    pub fn finish(mut self, stopped: bool) -> Vec<WarpBlockCount> {
        for index in 0..self.hot.len() {
            if stopped {
                let at = open_turn(&mut self.arena.batch, index as u32);
                while self.drain(index, u32::MAX) == Ok(TurnEnd::Barrier) {}
                close_turn(&mut self.arena.batch, at);
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

    /// Takes a slot's stack and buffer back.
    fn release(&mut self, index: usize) {
        let cold = &mut self.cold[index];
        if let Some(stack) = cold.stack.take() {
            self.arena.stacks.give(stack);
        }
        if let Some(buffer) = cold.buffer.take() {
            self.arena.buffers.give(buffer);
        }
        if let Some(warp) = cold.warp.take() {
            self.arena.warps.give(warp);
        }
    }

    /// Runs the block of a warp whose items have run out, as far as its warps' buffers go: warp after warp to the next
    /// barrier, and through it. The memory that a block needs is fetched once for a long stretch then.
    fn run_ahead(&mut self, index: usize) -> Result<(), Stopped> {
        if self.plan.waits {
            return self.resume(index);
        }
        let warps = self.warps as usize;
        let first = (index as u32 / self.warps * self.warps) as usize;
        loop {
            let (mut unfinished, mut waiting, mut full) = (0, 0, false);
            for warp in first..first + warps {
                let before = self.hot[warp].flags;
                if before & flags::FINISHED != 0 {
                    continue;
                }
                if before & flags::AT_BARRIER == 0 && self.has_room(warp) {
                    self.resume(warp)?;
                }
                let now = self.hot[warp].flags;
                unfinished += usize::from(now & flags::FINISHED == 0);
                waiting += usize::from(now & flags::AT_BARRIER != 0);
                full |= now & flags::FULL != 0;
            }
            if waiting == 0 || waiting < unfinished {
                return Ok(());
            }
            for warp in first..first + warps {
                self.hot[warp].flags &= !flags::AT_BARRIER;
                full |= !self.has_room(warp);
            }
            if full {
                return Ok(());
            }
        }
    }

    /// Whether a warp's buffer has room for a stretch worth a switch. A full one must be emptied first.
    fn has_room(&self, index: usize) -> bool {
        let hot = &self.hot[index];
        if hot.flags & flags::FULL != 0 {
            return hot.read == hot.limit;
        }
        let Some(buffer) = self.cold[index].buffer else { return true };
        let used = hot.limit.addr() - buffer.start.addr();
        hot.read == hot.limit || used <= buffer.bytes / 2
    }

    /// Makes the warp of a slot that has its first turn.
    fn start(&mut self, index: usize) -> Result<*mut Warp, Stop> {
        let geometry = self.plan.geometry;
        let resident = (index as u32 / self.warps) as usize;
        let placed = self.placed[resident].ok_or(Stop::IllegalInstruction)?;
        let number = index as u32 - placed.first_slot;
        let traced = placed.traced;
        let place = self.arena.warps.take().ok_or(Stop::OutOfMemory)?;
        let mut stack = self.arena.stacks.take(self.plan.stack_bytes).map_err(|_| Stop::OutOfMemory)?;
        let threads = &self.plan.threads[number as usize];
        let context = WarpContext {
            record_cursor: null_mut(),
            record_end: null_mut(),
            arguments: self.plan.arguments,
            shared: self.arena.shared(&geometry, resident as u64),
            shared_bytes: geometry.shared_bytes,
            local: self.arena.local(&geometry, index as u64),
            local_stride: geometry.local_stride,
            local_used: 0,
            local_limit: geometry.local_limit,
            counts: self.plan.counts,
            clock: 0,
            patience: PATIENCE,
            runtime: place.cast(),
            block_index: placed.index,
            block_dim: geometry.block,
            grid_dim: geometry.grid,
            warp: number,
            live: geometry.live(number),
            sm: placed.sm,
            warp_slot: placed.first_on_sm + number,
            block: placed.number,
            thread_x: threads[0],
            thread_y: threads[1],
            thread_z: threads[2],
        };
        // SAFETY: the memory is the arena's and was just taken; the block's state outlives its warps.
        unsafe {
            place.write(Warp {
                context,
                running: self.running,
                block: &raw mut self.blocks[resident],
                entry: placed.entry,
                fibre: stack.prepare(warp_main, place.cast()),
                guard: stack.guard(),
                barriers: 0,
                next: null_mut(),
                previous: null_mut(),
                hooked: traced,
            });
        }
        let cold = &mut self.cold[index];
        cold.warp = Some(place);
        cold.stack = Some(stack);
        if traced {
            cold.buffer = self.arena.buffers.take();
        }
        Ok(place)
    }

    /// Runs the warp's fibre until it comes back.
    fn resume(&mut self, index: usize) -> Result<(), Stopped> {
        let warp = match self.cold[index].warp {
            Some(warp) => warp,
            None => self.start(index).map_err(|why| {
                // SAFETY: by the contract of `new`.
                unsafe { (*self.running).stop = Some(why) };
                Stopped
            })?,
        };
        let (hot, cold) = (&mut self.hot[index], &mut self.cold[index]);
        // SAFETY: `start` filled the warp; the launch lives; one flow runs at a time.
        unsafe {
            let running = self.running;
            let (start, bytes) = cold.buffer.map_or((null_mut(), 0), |buffer| (buffer.start, buffer.bytes));
            if hot.read == hot.limit {
                (hot.read, hot.limit) = (start, start);
            }
            (*warp).context.record_cursor = hot.limit.cast_mut();
            (*warp).context.record_end = start.wrapping_add(bytes);
            (*running).current = warp;
            switch(&raw mut (*running).scheduler, (*warp).fibre);
            (*running).current = null_mut();
            hot.limit = (*warp).context.record_cursor;
            hot.stack = (*warp).fibre;
            hot.flags &= !flags::FULL;
            if (*warp).hooked {
                let cells = std::slice::from_raw_parts(self.plan.counts, self.plan.cells);
                self.warp_blocks.ran(index, cells, (*running).pause == Pause::Finished);
            }
            if (*running).stop.is_some() {
                return Err(Stopped);
            }
            match (*running).pause {
                Pause::Full => hot.flags |= flags::FULL,
                Pause::Yield => hot.flags |= flags::YIELDED,
                Pause::Barrier if !self.plan.waits => hot.flags |= flags::AT_BARRIER,
                Pause::Barrier if (*warp).hooked => (),
                Pause::Barrier => hot.flags |= flags::WAITS,
                Pause::Finished => {
                    hot.flags |= flags::FINISHED;
                    hot.stack = null();
                    if let Some(stack) = cold.stack.take() {
                        self.arena.stacks.give(stack);
                    }
                    if let Some(warp) = cold.warp.take() {
                        self.arena.warps.give(warp);
                    }
                    self.shelve(index);
                }
            }
        }
        Ok(())
    }

    /// Moves the items of a warp that is over to its shelf, if they fit, and takes the buffer back.
    fn shelve(&mut self, index: usize) {
        let hot = &mut self.hot[index];
        let bytes = hot.limit.addr() - hot.read.addr();
        if bytes > 8 * SHELF_WORDS {
            return;
        }
        let Some(buffer) = self.cold[index].buffer.take() else { return };
        let shelf = &mut self.shelves[index * SHELF_WORDS..][..SHELF_WORDS];
        let place: *mut u8 = shelf.as_mut_ptr().cast();
        // SAFETY: the items lie in the buffer, which is another allocation, and fit the shelf.
        unsafe { std::ptr::copy_nonoverlapping(hot.read, place, bytes) };
        (hot.read, hot.limit) = (place, place.wrapping_add(bytes));
        self.arena.buffers.give(buffer);
    }

    /// Fetches what the next turn of a slot will need. Its turn comes after those of all other SMs,
    /// and by then its memory would have left the cache's first levels.
    #[inline(always)]
    fn fetch_ahead(&self, index: usize) {
        let Some(hot) = self.hot.get(index) else { return };
        // SAFETY: prefetching has no effect but on the cache, whatever the address.
        unsafe {
            let lines = if hot.read < hot.limit { hot.read } else { hot.stack };
            for line in 0..4 {
                _mm_prefetch::<_MM_HINT_T0>(lines.wrapping_add(64 * line).cast());
            }
        }
    }

    /// Moves what is left of a split access to the batch, one request per item.
    #[cold]
    fn drain_rest(&mut self, index: usize, requests: &mut u32) {
        let rest = &mut self.cold[index].rest;
        while !rest.is_empty() && *requests > 0 {
            let length = item_length(rest);
            self.arena.batch.extend_from_slice(&rest[..length]);
            rest.drain(..length);
            *requests -= 1;
        }
        if rest.is_empty() {
            self.hot[index].flags &= !flags::REST;
        }
    }

    /// An access that is not simply copied.
    #[inline(never)]
    fn take_access(&mut self, index: usize, item: *const u8, length: usize) {
        let geometry = &self.plan.geometry;
        // SAFETY: the registry is only read here; the item is whole.
        unsafe {
            let places = Places {
                shared: self.arena.shared(geometry, u64::from(index as u32 / self.warps)) as u64,
                local: self.arena.local(geometry, index as u64) as u64,
                local_stride: geometry.local_stride,
                registered: self.registered.then(|| &(*(*self.running).memory).registry),
            };
            let rest = &mut self.cold[index].rest;
            take(item, length, &places, &mut self.arena.batch, rest);
            if !rest.is_empty() {
                self.hot[index].flags |= flags::REST;
            }
        }
    }

    /// Moves items of the slot to the batch: at most `requests` requests, or up to a barrier.
    /// Returns how the turn ended, or the requests left when the items ran out.
    #[inline]
    fn drain(&mut self, index: usize, mut requests: u32) -> Result<TurnEnd, u32> {
        loop {
            if self.hot[index].flags & flags::REST != 0 {
                self.drain_rest(index, &mut requests);
            }
            if requests == 0 {
                return Ok(TurnEnd::Budget);
            }
            let Hot { read: item, limit, .. } = self.hot[index];
            if item == limit {
                return Err(requests);
            }
            // SAFETY: lowered code writes whole items, up to `limit`; an item has eight bytes or more.
            let first = unsafe { item.cast::<u64>().read() };
            let (head, second) = (first as u32, (first >> 32) as u32);
            let kind = Kind::from_head(head);
            let plain = self.foreign >> ((head >> SITE_BITS) & 0xf) & 1 == 0;
            let length = match kind {
                Some(Kind::Affine) if plain && second & 0xffff != 0 && second >> 16 != 0 => {
                    // SAFETY: an affine item has 32 bytes.
                    let words = unsafe { item.cast::<[u64; 4]>().read() };
                    append(&mut self.arena.batch, words);
                    requests -= 1;
                    32
                }
                Some(Kind::Uniform) if plain && second != 0 => {
                    // SAFETY: a uniform item has 16 bytes.
                    let words = unsafe { item.cast::<[u64; 2]>().read() };
                    append(&mut self.arena.batch, words);
                    requests -= 1;
                    16
                }
                Some(Kind::Barrier) => {
                    append(&mut self.arena.batch, [first]);
                    self.hot[index].read = item.wrapping_add(8);
                    return Ok(TurnEnd::Barrier);
                }
                Some(Kind::Call | Kind::Return) => {
                    append(&mut self.arena.batch, [first]);
                    8
                }
                _ => {
                    let Some(length) = item_bytes(head, second) else {
                        debug_assert!(false, "lowered code wrote the unknown item {head:#x}");
                        self.hot[index].read = limit;
                        return Err(requests);
                    };
                    // An access without lanes is none.
                    if second != 0 {
                        self.take_access(index, item, length);
                        requests -= 1;
                    }
                    length
                }
            };
            self.hot[index].read = item.wrapping_add(length);
        }
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
                return Ok(TurnEnd::Budget);
            }
            if hot.flags & flags::WAITS != 0 {
                hot.flags &= !flags::WAITS;
                return Ok(TurnEnd::Barrier);
            }
            self.run_ahead(index)?;
        }
    }
}

/// Appends words to the batch.
#[inline(always)]
fn append<const N: usize>(batch: &mut Vec<u8>, words: [u64; N]) {
    if batch.capacity() - batch.len() < 8 * N {
        batch.reserve(BATCH_SPARE);
    }
    // SAFETY: the room was made sure of; items are 8 bytes or a multiple, in memory that may be unaligned.
    unsafe {
        batch.as_mut_ptr().add(batch.len()).cast::<[u64; N]>().write_unaligned(words);
        batch.set_len(batch.len() + 8 * N);
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
        let warps = self.warps;
        let resident = first_slot / warps;
        let traced = self.plan.hooked.is_some() && block.is_multiple_of(self.plan.share.max(1));
        let entry = if traced { self.plan.hooked } else { self.plan.native };
        let Some(entry) = entry.or(self.plan.hooked) else {
            // SAFETY: by the contract of `new`.
            unsafe { (*self.running).stop = Some(Stop::IllegalInstruction) };
            return Err(Stopped);
        };
        self.blocks[resident as usize] = Block::new();
        self.placed[resident as usize] = Some(Placed {
            number: block,
            index: geometry.block_index(block),
            sm: first_slot / self.plan.slots_per_sm,
            first_slot,
            first_on_sm: first_slot % self.plan.slots_per_sm,
            entry,
            traced,
        });
        self.hot[first_slot as usize..][..warps as usize].fill(Hot::EMPTY);
        if traced {
            push_block_start(&mut self.arena.batch, first_slot, warps, block);
        }
        Ok(())
    }

    fn turn(&mut self, slot: u32, requests: u32) -> Result<TurnEnd, Stopped> {
        self.fetch_ahead(slot as usize + 1);
        let at = open_turn(&mut self.arena.batch, slot);
        let end = self.turn_items(slot as usize, requests);
        close_turn(&mut self.arena.batch, at);
        self.write_full_batch();
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
