//! Runs blocks of a launch one after the other, without records. It is used for kernels that the filters exclude, and for programs
//! compiled or run without profiling.

use super::arena::Arena;
use super::fibre::{Stack, switch};
use super::scheduled::Plan;
use super::warp::{Block, Mode, PATIENCE, Pause, Running, Votes, Warp, pause, warp_main};
use std::ptr::{null, null_mut};
use warpline_format::abi::{WarpContext, WarpFunction};

/// The memory and the stacks with which one thread runs blocks.
pub struct Room {
    /// Position of the thread's block in the arena; the warps and lane stacks follow from it.
    slot: u64,
    stacks: Vec<Stack>,
}

impl Room {
    /// Takes stacks for the warps that exist at the same time: all of a block with barriers, otherwise one.
    pub fn take(plan: &Plan, slot: u64, barrier: bool, arena: &mut Arena) -> std::io::Result<Room> {
        let count = if barrier { plan.geometry.warps() } else { 1 };
        let mut room = Room { slot, stacks: Vec::with_capacity(count as usize) };
        for _ in 0..count {
            match arena.stacks.take(plan.stack_bytes) {
                Ok(stack) => room.stacks.push(stack),
                Err(cause) => {
                    room.give(arena);
                    return Err(cause);
                }
            }
        }
        Ok(room)
    }

    /// Returns the stacks to the arena.
    pub fn give(self, arena: &mut Arena) {
        self.stacks.into_iter().for_each(|stack| arena.stacks.give(stack));
    }
}

/// The work of the single fibre of a kernel without barriers.
struct Plain<'a> {
    plan: &'a Plan<'a>,
    entry: WarpFunction,
    /// The warps of a block with their lanes. Each has its own context, so that only what differs between blocks has to
    /// be written.
    warps: Vec<(*mut Warp, u32)>,
    running: *mut Running,
    blocks: &'a mut dyn Iterator<Item = u64>,
}

/// Initializes a warp for its first block.
///
/// # Safety
/// `place` is unused memory for a warp.
unsafe fn fill(
    place: *mut Warp,
    plan: &Plan,
    arena: &Arena,
    entry: WarpFunction,
    running: *mut Running,
    block: *mut Block,
    (slot, warp): (u64, u32),
) {
    let geometry = &plan.geometry;
    let threads = &plan.threads[warp as usize];
    let shared = arena.shared(geometry, slot);
    let context = WarpContext {
        record_cursor: null_mut(),
        record_end: null_mut(),
        arguments: plan.arguments,
        shared,
        shared_bytes: geometry.shared_bytes,
        dynamic_shared: geometry.dynamic_shared,
        reserved_offset: geometry.reserved_offset() as u32,
        local: arena.local(geometry, slot * u64::from(geometry.warps()) + u64::from(warp)),
        local_stride: geometry.local_stride,
        local_used: 0,
        local_limit: geometry.local_limit,
        counts: plan.counts,
        clock: 0,
        patience: PATIENCE,
        runtime: place.cast(),
        block_index: [0; 3],
        block_dim: geometry.block,
        grid_dim: geometry.grid,
        cluster_dim: geometry.cluster,
        warp,
        live: geometry.live(warp),
        sm: 0,
        warp_slot: warp,
        block: 0,
        workspace: geometry.workspace,
        shared_range: geometry.shared_range(shared, false),
        shared_stores: geometry.shared_range(shared, false),
        barrier: null(),
        thread_x: threads[0],
        thread_y: threads[1],
        thread_z: threads[2],
    };
    // SAFETY: by the contract.
    unsafe {
        place.write(Warp {
            context,
            running,
            block,
            entry,
            fibre: null_mut(),
            guard: 0,
            barriers: 0,
            cluster: null_mut(),
            cluster_barrier: u64::MAX,
            votes: Votes::NONE,
            next: place,
            previous: place,
            hooked: false,
            has_stored: false,
            filled_for: 0,
        });
    }
}

extern "C" fn plain_main(argument: *mut u8) -> ! {
    let plain: *mut Plain = argument.cast();
    // SAFETY: `run_plain` keeps all referenced data alive until this fibre pauses for the last time.
    unsafe {
        let Plain { plan, entry, ref warps, running, ref mut blocks } = *plain;
        let (first, mut clock) = (warps[0].0, 0);
        for block in blocks.by_ref() {
            let block_index = plan.geometry.block_index(block);
            plan.geometry.clear_reserved((*first).context.shared);
            for &(warp, live) in warps {
                let context = &raw mut (*warp).context;
                (*context).block = block;
                (*context).block_index = block_index;
                // Lanes of the previous block may have left by `exit`.
                (*context).live = live;
                (*context).local_used = 0;
                (*context).clock = clock;
                (*running).current = warp;
                entry(context);
                clock = (*context).clock;
            }
        }
        (*first).context.clock = clock;
        pause(first, Pause::Finished);
    }
    std::process::abort()
}

/// Runs blocks of a kernel whose warps reach no barrier and never wait, with plain calls on one stack.
///
/// # Safety
/// `running` is valid and not used elsewhere; the arena was prepared for the room's slot.
pub unsafe fn run_plain(
    plan: &Plan,
    entry: WarpFunction,
    running: *mut Running,
    arena: &Arena,
    room: &mut Room,
    blocks: &mut dyn Iterator<Item = u64>,
) {
    let count = plan.geometry.warps();
    let place = room.slot as usize * count as usize;
    let warp = |number: u32| (arena.warps.get(place + number as usize), plan.geometry.live(number));
    let warps: Vec<(*mut Warp, u32)> = (0..count).map(warp).collect();
    let first = warps[0].0;
    let block: *mut Block = &mut Block::new();
    let Some(stack) = room.stacks.first_mut() else { return };
    // SAFETY: by the contract; all that the fibre uses lives until it has paused for the last time.
    unsafe {
        (*running).mode = Mode::Scheduled;
        for (number, &(warp, _)) in (0..).zip(&warps) {
            fill(warp, plan, arena, entry, running, block, (room.slot, number));
            // Only one warp exists at a time, so all use the same lane stacks, which then stay in the host's cache.
            (*warp).context.local = (*first).context.local;
            (*warp).guard = stack.guard();
        }
        let mut plain = Plain { plan, entry, warps, running, blocks };
        let fibre = stack.prepare(plain_main, (&raw mut plain).cast());
        (*running).current = first;
        switch(&raw mut (*running).scheduler, fibre);
        (*running).current = null_mut();
        (*running).clock_end = (*running).clock_end.max((*first).context.clock);
    }
}

/// Runs blocks of a kernel with barriers, one after the other; the warps of a block switch directly from one to the
/// next.
///
/// # Safety
/// The requirements of [`run_plain`] apply.
pub unsafe fn run_direct(
    plan: &Plan,
    entry: WarpFunction,
    running: *mut Running,
    arena: &Arena,
    room: &mut Room,
    blocks: &mut dyn Iterator<Item = u64>,
) {
    let warps = plan.geometry.warps() as usize;
    let block: *mut Block = &mut Block::new();
    let place = |index: usize| arena.warps.get(room.slot as usize * warps + index % warps);
    // SAFETY: by the contract; warps, stacks and block state outlive the fibres that use them.
    unsafe {
        (*running).mode = Mode::Direct;
        for (index, stack) in room.stacks.iter().enumerate() {
            fill(place(index), plan, arena, entry, running, block, (room.slot, index as u32));
            (*place(index)).guard = stack.guard();
        }
        while (*running).stop.is_none()
            && let Some(number) = blocks.next()
        {
            block.write(Block::new());
            let block_index = plan.geometry.block_index(number);
            plan.geometry.clear_reserved(arena.shared(&plan.geometry, room.slot));
            for (index, stack) in room.stacks.iter_mut().enumerate() {
                let warp = place(index);
                (*warp).fibre = stack.prepare(warp_main, warp.cast());
                (*warp).barriers = 0;
                (*warp).next = place(index + 1);
                (*warp).previous = place(index + warps - 1);
                (*warp).context.block = number;
                (*warp).context.block_index = block_index;
                (*warp).context.local_used = 0;
                (*warp).context.live = plan.geometry.live(index as u32);
            }
            (*running).current = place(0);
            switch(&raw mut (*running).scheduler, (*place(0)).fibre);
            (*running).current = null_mut();
        }
    }
}

/// At a barrier, switches to the next unfinished warp of the block. When control returns, all warps have arrived.
///
/// # Safety
/// Called on the fibre of `warp`, in direct mode.
#[inline(always)]
pub unsafe fn next_warp(warp: *mut Warp) {
    // SAFETY: the ring contains the block's unfinished warps, whose fibres are prepared or suspended.
    unsafe {
        let next = (*warp).next;
        if next != warp {
            (*(*warp).running).current = next;
            switch(&raw mut (*warp).fibre, (*next).fibre);
        }
    }
}
