//! The warps of a launch between their first turn and their end.

use super::fibre::switch;
use super::scheduled::{SHELF_WORDS, Scheduled, Stopped};
use super::slot::flags;
use super::warp::{PATIENCE, Pause, Stop, Votes, Warp, warp_main};
use crate::device::stops::Stops;
use std::ptr::{null, null_mut};
use warpline_format::abi::WarpContext;
use warpline_format::rendezvous::Rendezvous;

impl Scheduled<'_> {
    /// Returns a slot's stack and buffer to their pools.
    pub(super) fn release(&mut self, index: usize) {
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

    /// Runs the block of a warp that has no more items, as far as the buffers of the block's warps allow: each warp
    /// runs to the next barrier, and then beyond it. In this way, the memory that a block needs is loaded into the
    /// cache once for a long time.
    pub(super) fn run_ahead(&mut self, index: usize) -> Result<(), Stopped> {
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

    /// Returns whether a warp's buffer has enough room to make a switch worthwhile. A full buffer must be emptied
    /// first.
    pub(super) fn has_room(&self, index: usize) -> bool {
        let hot = &self.hot[index];
        if hot.flags & flags::FULL != 0 {
            return hot.read == hot.limit;
        }
        let Some(buffer) = self.cold[index].buffer else { return true };
        let used = hot.limit.addr() - buffer.start.addr();
        hot.read == hot.limit || used <= buffer.bytes / 2
    }

    /// Returns whether the program has stop points at accesses to shared memory.
    fn watches_shared(&self) -> bool {
        // SAFETY: by the contract of `new`; the runtime's own, or null.
        unsafe { (*self.running).stops.as_ref().is_some_and(Stops::watches_shared) }
    }

    /// Creates the warp of a slot for its first turn.
    pub(super) fn start(&mut self, index: usize) -> Result<*mut Warp, Stop> {
        let geometry = self.plan.geometry;
        let resident = (index as u32 / self.warps) as usize;
        let placed = self.placed[resident].ok_or(Stop::IllegalInstruction)?;
        let number = index as u32 - placed.first_slot;
        let hooked = placed.hooked;
        let counts = if placed.traced { self.plan.counts } else { self.arena.spare_counts.as_mut_ptr() };
        let place = self.arena.warps.take().ok_or(Stop::OutOfMemory)?;
        let mut stack = self.arena.stacks.take(self.plan.stack_bytes).map_err(|_| Stop::OutOfMemory)?;
        let (shared, local) =
            (self.arena.shared(&geometry, resident as u64), self.arena.local(&geometry, index as u64));
        let watched = self.watches_shared() || self.plan.initialisation;
        let range = geometry.shared_range(shared, watched);
        let stores = geometry.shared_range(shared, watched || self.plan.interleave);
        let fibre = stack.prepare(warp_main, place.cast());
        let block = &raw mut self.blocks[resident];
        let threads = &self.plan.threads[number as usize];
        let cluster = self.cluster_at(placed.sequence);
        // SAFETY: the arena owns the memory, which was zeroed at first and was just taken; the block's state outlives
        // its warps. If this launch has already written a warp there, the memory contains a complete warp.
        unsafe {
            let launch = (*self.running).launch + 1;
            if (&raw const (*place).filled_for).read() == launch {
                let warp = &mut *place;
                let context = &mut warp.context;
                (context.shared, context.local, context.local_used) = (shared, local, 0);
                (context.shared_range, context.shared_stores, context.counts) = (range, stores, counts);
                (context.clock, context.patience, context.barrier) = (0, PATIENCE, null());
                (context.block_index, context.block) = (placed.index, placed.number);
                (context.sm, context.warp_slot) = (placed.sm, placed.first_on_sm + number);
                // Lanes of the previous block may have left by `exit`.
                context.live = geometry.live(number);
                if context.warp != number {
                    context.warp = number;
                    context.thread_x = threads[0];
                    if geometry.block[1] * geometry.block[2] != 1 {
                        (context.thread_y, context.thread_z) = (threads[1], threads[2]);
                    }
                }
                (warp.block, warp.entry, warp.hooked) = (block, placed.entry, hooked);
                (warp.fibre, warp.guard, warp.barriers) = (fibre, stack.guard(), 0);
                warp.has_stored = false;
                (warp.cluster, warp.cluster_barrier) = (cluster, u64::MAX);
            } else {
                place.write(Warp {
                    context: WarpContext {
                        record_cursor: null_mut(),
                        record_end: null_mut(),
                        arguments: self.plan.arguments,
                        shared,
                        shared_bytes: geometry.shared_bytes,
                        dynamic_shared: geometry.dynamic_shared,
                        reserved_offset: geometry.reserved_offset() as u32,
                        local,
                        local_stride: geometry.local_stride,
                        local_used: 0,
                        local_limit: geometry.local_limit,
                        counts,
                        clock: 0,
                        patience: PATIENCE,
                        runtime: place.cast(),
                        block_index: placed.index,
                        block_dim: geometry.block,
                        grid_dim: geometry.grid,
                        cluster_dim: geometry.cluster,
                        warp: number,
                        live: geometry.live(number),
                        sm: placed.sm,
                        warp_slot: placed.first_on_sm + number,
                        block: placed.number,
                        workspace: geometry.workspace,
                        shared_range: range,
                        shared_stores: stores,
                        barrier: null(),
                        thread_x: threads[0],
                        thread_y: threads[1],
                        thread_z: threads[2],
                    },
                    running: self.running,
                    block,
                    entry: placed.entry,
                    fibre,
                    guard: stack.guard(),
                    barriers: 0,
                    cluster,
                    cluster_barrier: u64::MAX,
                    votes: Votes::NONE,
                    next: null_mut(),
                    previous: null_mut(),
                    hooked,
                    has_stored: false,
                    filled_for: launch,
                });
            }
        }
        let cold = &mut self.cold[index];
        cold.warp = Some(place);
        cold.stack = Some(stack);
        if hooked {
            cold.buffer = self.arena.buffers.take();
        }
        Ok(place)
    }

    /// Runs the warp's fibre until the fibre pauses.
    pub(super) fn resume(&mut self, index: usize) -> Result<(), Stopped> {
        let warp = match self.cold[index].warp {
            Some(warp) => warp,
            None => self.start(index).map_err(|why| {
                // SAFETY: by the contract of `new`.
                unsafe { (*self.running).stop = Some(why) };
                Stopped
            })?,
        };
        let (hot, cold) = (&mut self.hot[index], &mut self.cold[index]);
        // SAFETY: `start` initialized the warp; the launch lives; only one flow runs at a time.
        unsafe {
            let running = self.running;
            let (start, bytes) = cold.buffer.map_or((null_mut(), 0), |buffer| (buffer.start, buffer.bytes));
            if hot.read == hot.limit && hot.flags & flags::MIDST == 0 {
                (hot.read, hot.limit) = (start, start);
            }
            (*warp).context.record_cursor = hot.limit.cast_mut();
            (*warp).context.record_end = start.wrapping_add(bytes);
            (*running).current = warp;
            if let Some(stops) = (*running).stops.as_mut() {
                stops.resumed(hot.limit);
            }
            switch(&raw mut (*running).scheduler, (*warp).fibre);
            (*running).current = null_mut();
            if let Some(stops) = (*running).stops.as_mut() {
                stops.paused(warp as usize, (*warp).context.record_cursor, (*running).pause == Pause::Finished);
            }
            hot.limit = (*warp).context.record_cursor;
            hot.stack = (*warp).fibre;
            hot.flags &= !(flags::FULL | flags::MIDST);
            if (*warp).hooked
                && (!self.plan.all_hooked || self.placed[index / self.warps as usize].is_some_and(|one| one.traced))
            {
                let cells = std::slice::from_raw_parts(self.plan.counts, self.plan.cells);
                self.warp_blocks.ran(index, cells, (*running).pause == Pause::Finished);
            }
            if (*running).stop.is_some() {
                return Err(Stopped);
            }
            match (*running).pause {
                Pause::Full => hot.flags |= flags::FULL,
                Pause::Yield => hot.flags |= flags::YIELDED,
                Pause::Turn => hot.flags |= flags::MIDST,
                Pause::Barrier if !self.plan.waits => hot.flags |= flags::AT_BARRIER,
                Pause::Barrier if (*warp).hooked => (),
                Pause::Barrier => {
                    hot.flags |= flags::WAITS;
                    cold.meeting = Rendezvous::BLOCK;
                }
                // The item in the buffer already represents the arrival.
                Pause::Named(_) if (*warp).hooked => (),
                Pause::Named(meeting) => {
                    hot.flags |= flags::WAITS;
                    cold.meeting = meeting;
                }
                Pause::Finished => {
                    if let Some(cluster) = (*warp).cluster.as_mut() {
                        cluster.end_warp();
                    }
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

    /// If the items of a warp that has ended fit on its shelf, moves them there and returns the buffer to the pool.
    pub(super) fn shelve(&mut self, index: usize) {
        let hot = &mut self.hot[index];
        let bytes = hot.limit.addr() - hot.read.addr();
        if bytes > 8 * SHELF_WORDS {
            return;
        }
        let Some(buffer) = self.cold[index].buffer.take() else { return };
        let shelf = &mut self.shelves[index * SHELF_WORDS..][..SHELF_WORDS];
        let place: *mut u8 = shelf.as_mut_ptr().cast();
        // SAFETY: the items are in the buffer, which is another allocation, and they fit on the shelf.
        unsafe { std::ptr::copy_nonoverlapping(hot.read, place, bytes) };
        (hot.read, hot.limit) = (place, place.wrapping_add(bytes));
        self.arena.buffers.give(buffer);
    }
}
