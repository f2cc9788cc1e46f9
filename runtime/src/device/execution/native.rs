//! Runs a launch block by block, without records. It is used for kernels that the filters exclude, and for programs
//! compiled or run without profiling.

use super::arena::Arena;
use super::fibre::switch;
use super::scheduled::Plan;
use super::warp::{Block, Mode, PATIENCE, Pause, Running, Stop, Votes, Warp, pause, warp_main};
use std::ptr::{null, null_mut};
use warpline_format::abi::{WarpContext, WarpFunction};

/// The work of the single fibre of a kernel without barriers.
struct Plain<'a> {
    plan: &'a Plan<'a>,
    entry: WarpFunction,
    warp: *mut Warp,
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
    warp: u32,
) {
    let geometry = &plan.geometry;
    let threads = &plan.threads[warp as usize];
    let context = WarpContext {
        record_cursor: null_mut(),
        record_end: null_mut(),
        arguments: plan.arguments,
        shared: arena.shared(geometry, 0),
        shared_bytes: geometry.shared_bytes,
        dynamic_shared: geometry.dynamic_shared,
        reserved_offset: geometry.reserved_offset() as u32,
        local: arena.local(geometry, u64::from(warp)),
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
        shared_range: geometry.shared_range(arena.shared(geometry, 0), false),
        shared_stores: geometry.shared_range(arena.shared(geometry, 0), false),
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
    let plain: *const Plain = argument.cast();
    // SAFETY: `run_plain` keeps all referenced data alive until this fibre pauses for the last time.
    unsafe {
        let Plain { plan, entry, warp } = *plain;
        let context = &raw mut (*warp).context;
        let warps = plan.geometry.warps();
        for block in 0..plan.geometry.blocks() {
            (*context).block = block;
            (*context).block_index = plan.geometry.block_index(block);
            plan.geometry.clear_reserved((*context).shared);
            for number in 0..warps {
                if warps > 1 {
                    let threads = &plan.threads[number as usize];
                    (*context).thread_x = threads[0];
                    (*context).thread_y = threads[1];
                    (*context).thread_z = threads[2];
                    (*context).warp = number;
                    (*context).warp_slot = number;
                }
                // Lanes of the previous block may have left by `exit`.
                (*context).live = plan.geometry.live(number);
                (*context).local_used = 0;
                entry(context);
            }
        }
        pause(warp, Pause::Finished);
    }
    std::process::abort()
}

/// Runs a kernel whose warps reach no barrier and never wait, with plain calls on one stack.
///
/// # Safety
/// `running` is valid and not used elsewhere; the arena was prepared for one block.
pub unsafe fn run_plain(plan: &Plan, entry: WarpFunction, running: *mut Running, arena: &mut Arena) {
    let warp = arena.warps.get(0);
    let block: *mut Block = &mut Block::new();
    // SAFETY: by the contract; all that the fibre uses lives until it has paused for the last time.
    unsafe {
        (*running).mode = Mode::Scheduled;
        let Ok(mut stack) = arena.stacks.take(plan.stack_bytes) else {
            (*running).stop = Some(Stop::OutOfMemory);
            return;
        };
        fill(warp, plan, arena, entry, running, block, 0);
        let plain = Plain { plan, entry, warp };
        let fibre = stack.prepare(plain_main, (&raw const plain).cast_mut().cast());
        (*warp).guard = stack.guard();
        (*running).current = warp;
        switch(&raw mut (*running).scheduler, fibre);
        (*running).current = null_mut();
        (*running).clock_end = (*running).clock_end.max((*warp).context.clock);
        arena.stacks.give(stack);
    }
}

/// Runs a kernel with barriers, one block after the other; its warps switch directly from one to the next.
///
/// # Safety
/// The requirements of [`run_plain`] apply.
pub unsafe fn run_direct(plan: &Plan, entry: WarpFunction, running: *mut Running, arena: &mut Arena) {
    let warps = plan.geometry.warps();
    let block: *mut Block = &mut Block::new();
    let mut stacks = Vec::with_capacity(warps as usize);
    // SAFETY: by the contract; warps, stacks and block state outlive the fibres that use them.
    unsafe {
        (*running).mode = Mode::Direct;
        for warp in 0..warps {
            let Ok(stack) = arena.stacks.take(plan.stack_bytes) else {
                (*running).stop = Some(Stop::OutOfMemory);
                break;
            };
            let place = arena.warps.get(warp as usize);
            fill(place, plan, arena, entry, running, block, warp);
            (*place).guard = stack.guard();
            stacks.push(stack);
        }
        for number in 0..plan.geometry.blocks() {
            if (*running).stop.is_some() {
                break;
            }
            block.write(Block::new());
            let block_index = plan.geometry.block_index(number);
            plan.geometry.clear_reserved(arena.shared(&plan.geometry, 0));
            for (index, stack) in stacks.iter_mut().enumerate() {
                let warp = arena.warps.get(index);
                (*warp).fibre = stack.prepare(warp_main, warp.cast());
                (*warp).barriers = 0;
                (*warp).next = arena.warps.get((index + 1) % warps as usize);
                (*warp).previous = arena.warps.get((index + warps as usize - 1) % warps as usize);
                (*warp).context.block = number;
                (*warp).context.block_index = block_index;
                (*warp).context.local_used = 0;
                (*warp).context.live = plan.geometry.live(index as u32);
            }
            let first = arena.warps.get(0);
            (*running).current = first;
            switch(&raw mut (*running).scheduler, (*first).fibre);
            (*running).current = null_mut();
        }
    }
    for stack in stacks {
        arena.stacks.give(stack);
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
