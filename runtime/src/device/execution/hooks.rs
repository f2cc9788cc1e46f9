//! The functions that lowered device code calls (`docs/design/borders.md`, section 3).
//!
//! They run on a warp's fibre. Control never returns to the fibre of a kernel that was stopped, so no value on the
//! fibre at that point may need to be dropped.

use super::lanes::lanes;
use super::native;
use super::scheduled::warp_of;
use super::warp::{Mode, PATIENCE, Pause, Stop, Warp, pause, stop};
use crate::device::faults::access::Access;
use crate::device::faults::check;
use crate::device::faults::message;
use crate::device::initialisation;
use crate::device::stops::Stops;
use crate::output::printf;
use std::ffi::c_char;
use warpline_format::abi::{NOWHERE, SiteRange, WarpContext};
use warpline_format::access::Space;
use warpline_format::options::Check;
use warpline_format::rendezvous::Rendezvous;
use warpline_format::site_table::Site;

/// Empties the record buffer.
///
/// # Safety
/// Lowered code calls this function, like all functions here, with its own context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wl_flush(context: *mut WarpContext) {
    // SAFETY: by the contract.
    unsafe { pause(warp_of(context), Pause::Full) }
}

/// A block-wide barrier.
///
/// # Safety
/// See [`__wl_flush`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wl_barrier(context: *mut WarpContext, mask: u32, kind: u32, predicates: u32) -> u32 {
    // SAFETY: by the contract.
    unsafe {
        let warp = warp_of(context);
        let number = (*warp).barriers;
        (*warp).barriers += 1;
        (*(*warp).block).arrive(number, mask, predicates);
        let place = (*context).barrier;
        if !place.is_null()
            && let Some((other, of)) = (*(*warp).block).place(number, place, (*context).warp)
        {
            crate::device::faults::barrier::different(warp, place, other, of);
        }
        match (*(*warp).running).mode {
            Mode::Scheduled => pause(warp, Pause::Barrier),
            Mode::Direct => native::next_warp(warp),
        }
        (*(*warp).block).leave(number, kind)
    }
}

/// Arrives at a barrier that has a number or a count of threads.
///
/// # Safety
/// See [`__wl_flush`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wl_named_barrier(
    context: *mut WarpContext,
    mask: u32,
    kind: u32,
    predicates: u32,
    meeting: u32,
) -> u32 {
    let meeting = Rendezvous::from_word(meeting);
    if meeting == Rendezvous::BLOCK {
        // SAFETY: by the contract.
        return unsafe { __wl_barrier(context, mask, kind, predicates) };
    }
    // SAFETY: by the contract; kernels that come here run in the scheduler's order.
    unsafe {
        let warp = warp_of(context);
        (*(*warp).block).arrive_named(warp, meeting, mask, predicates);
        pause(warp, Pause::Named(meeting));
        (*(*warp).block).leave_named(warp, meeting.number);
        (*warp).votes.result(kind)
    }
}

/// Reports that a part of a warp has reached `__syncthreads`, while other lanes of the warp will continue elsewhere.
///
/// # Safety
/// See [`__wl_flush`]; `file` is a zero-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wl_divergent_barrier(
    context: *mut WarpContext,
    mask: u32,
    absent: u32,
    file: *const u8,
    line: u32,
) {
    // SAFETY: by the contract.
    unsafe {
        crate::device::faults::barrier::divergent(warp_of(context), mask, absent, &printf::c_text(file.cast()), line)
    }
}

/// Lets other warps run. Lowered code calls this function when a loop that may wait for another warp has run for many
/// iterations.
///
/// # Safety
/// See [`__wl_flush`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wl_yield(context: *mut WarpContext) {
    // SAFETY: by the contract.
    unsafe {
        (*context).patience = PATIENCE;
        let warp = warp_of(context);
        // In direct mode, no warp of the kernel waits for another.
        if (*(*warp).running).mode == Mode::Scheduled {
            pause(warp, Pause::Yield);
        }
    }
}

/// Reports that lanes of a warp have waited for a long time in a loop, which `branch` leaves, while the lanes `others`
/// of the warp are elsewhere and continue before them.
///
/// # Safety
/// See [`__wl_flush`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wl_parted(context: *mut WarpContext, branch: u32, others: u32) {
    if others != 0 {
        // SAFETY: by the contract.
        unsafe { (*(*warp_of(context)).running).parted.insert(branch) };
    }
}

/// Switches to the next warp before a store, an atomic operation or a volatile load, and before the first load after
/// one of these. Consecutive loads are one step that other warps with turns cannot interrupt; they do not call this
/// function after the first load.
///
/// # Safety
/// `warp` is the running one.
unsafe fn take_turn(warp: *mut Warp, site: u32) {
    // SAFETY: by the contract; the launch and its module outlive the warp.
    unsafe {
        let running = (*warp).running;
        let sites = &(*(*running).module).table.sites;
        let plain = sites.get(site as usize).is_some_and(Site::is_plain_load);
        if !plain || (*warp).has_stored {
            pause(warp, Pause::Turn);
        }
        (*warp).has_stored = !plain;
        let context = &raw mut (*warp).context;
        let watched = (*running).stops.as_ref().is_some_and(Stops::watches_shared);
        let watched = watched || (*running).initialisation.is_some();
        if plain && !watched && (*context).shared_bytes != 0 {
            let first = (*context).shared as u64;
            (*context).shared_range = [first, first + (*context).shared_bytes - 1];
        } else {
            (*context).shared_range = [NOWHERE; 2];
        }
        if !plain {
            for range in (*running).open_ranges.drain(..) {
                range.write(SiteRange { low: NOWHERE, high: NOWHERE });
            }
        }
    }
}

/// The slow path of the access check; returns the lanes that may continue.
///
/// # Safety
/// See [`__wl_flush`]; `range` belongs to the site, and `addresses` has 32 entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wl_check(
    context: *mut WarpContext,
    range: *mut SiteRange,
    site: u32,
    space: u32,
    mask: u32,
    addresses: *const [u64; 32],
    bytes: u32,
    align: u32,
) -> u32 {
    // SAFETY: by the contract.
    unsafe {
        let warp = warp_of(context);
        if (*(*warp).running).interleave && mask != 0 && space != Space::Local as u32 {
            take_turn(warp, site);
        }
        let access = Access { site, space, mask, addresses: &*addresses, bytes, align };
        let roundings = (*(*warp).running).roundings;
        if let Some(roundings) = roundings.as_mut() {
            roundings.settle();
        }
        let values = (*(*warp).running).values;
        if let Some(values) = values.as_mut() {
            values.settle();
        }
        if let Some(stops) = (*(*warp).running).stops.as_mut() {
            stops.at_access(warp, &access);
        }
        // Lowered code sets the ranges of sites in local memory.
        let kept = if space == Space::Local as u32 { None } else { (*(*warp).running).initialisation.as_mut() };
        let range = kept.and_then(|check| check.range(site)).unwrap_or(range);
        match check::check(warp, range, access) {
            Ok(lanes) => {
                if (*(*warp).running).initialisation.is_some() && space != Space::Local as u32 {
                    if let Some(values) = values.as_mut() {
                        values.follow(warp, &access, lanes);
                    }
                    initialisation::follow(warp, &access, lanes);
                }
                if let Some(roundings) = roundings.as_mut().filter(|_| space != Space::Local as u32)
                    && roundings.follow(warp, &access, lanes)
                {
                    range.write(SiteRange { low: NOWHERE, high: NOWHERE });
                }
                lanes
            }
            Err(why) => stop(warp, why),
        }
    }
}

/// Device-side `printf`.
///
/// # Safety
/// See [`__wl_flush`]; the arrays have 32 entries, of which the active ones are defined.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wl_vprintf(
    context: *mut WarpContext,
    mask: u32,
    formats: *const [u64; 32],
    arguments: *const [u64; 32],
    results: *mut [i32; 32],
) {
    // SAFETY: by the contract; the output buffer is used by the running launch alone.
    unsafe {
        let running = (*warp_of(context)).running;
        let mut text = Vec::new();
        for lane in lanes(mask) {
            let format = (*formats)[lane] as *const c_char;
            let (result, bytes) = printf::print(&mut text, format, (*arguments)[lane] as *const u8);
            (*results)[lane] = result;
            (*(*running).printed).add(&text, bytes, (*running).printed_limit);
            text.clear();
        }
    }
}

/// Reports a failed device-side `assert`.
///
/// # Safety
/// See [`__wl_flush`]; the arrays have 32 entries, of which the active ones are defined.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wl_assert(
    context: *mut WarpContext,
    mask: u32,
    message: *const [u64; 32],
    file: *const [u64; 32],
    line: *const [u32; 32],
    function: *const [u64; 32],
) {
    // SAFETY: by the contract.
    unsafe {
        let warp = warp_of(context);
        for lane in lanes(mask) {
            let text = |pointers: *const [u64; 32]| printf::c_text((*pointers)[lane] as *const c_char);
            let [bx, by, bz] = (*context).block_index;
            let thread = [(*context).thread_x, (*context).thread_y, (*context).thread_z].map(|axis| axis.0[lane]);
            // This is the format of CUDA's own message.
            crate::output::message::raw(&format!(
                "{}:{}: {}: block: [{bx},{by},{bz}], thread: [{},{},{}] Assertion `{}` failed.\n",
                text(file),
                (*line)[lane],
                text(function),
                thread[0],
                thread[1],
                thread[2],
                text(message)
            ));
        }
        stop(warp, Stop::Assert)
    }
}

/// `trap`.
///
/// # Safety
/// See [`__wl_flush`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wl_trap(context: *mut WarpContext, mask: u32) {
    // SAFETY: by the contract; the launch's module lives as long as it runs.
    unsafe {
        let warp = warp_of(context);
        let running = (*warp).running;
        let kernel = (*(*running).module).kernel_name((*running).kernel);
        let [bx, by, bz] = (*context).block_index;
        let lane = mask.trailing_zeros() as usize & 31;
        let [tx, ty, tz] = [(*context).thread_x, (*context).thread_y, (*context).thread_z].map(|axis| axis.0[lane]);
        crate::output::message::note(&format!(
            "kernel {kernel} trapped in block ({bx},{by},{bz}), thread ({tx},{ty},{tz}): __trap, abort or a check of \
             CUDA's headers{}",
            if (*context).workspace == 0 { " (grid.sync() traps unless the launch is cooperative)" } else { "" }
        ));
        stop(warp, Stop::Trap)
    }
}

/// Device-side `malloc`; returns null for a lane whose allocation fails.
///
/// # Safety
/// See [`__wl_flush`]; the arrays have 32 entries, of which the active ones are defined.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wl_malloc(
    context: *mut WarpContext,
    mask: u32,
    sizes: *const [u64; 32],
    results: *mut [u64; 32],
) {
    // SAFETY: by the contract.
    unsafe {
        let running = (*warp_of(context)).running;
        for lane in lanes(mask) {
            (*results)[lane] = (*(*running).heap).allocate(&mut *(*running).memory, (*sizes)[lane]);
        }
        crate::device::execution::heap::write_heap_events(running);
    }
}

/// Device-side `free`.
///
/// # Safety
/// See [`__wl_flush`]; the array has 32 entries, of which the active ones are defined.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wl_free(context: *mut WarpContext, mask: u32, pointers: *const [u64; 32]) {
    // SAFETY: by the contract.
    unsafe {
        let running = (*warp_of(context)).running;
        for lane in lanes(mask) {
            if !(*(*running).heap).free(&mut *(*running).memory, (*pointers)[lane]) {
                check::bad_free(warp_of(context), lane, (*pointers)[lane]);
                stop(warp_of(context), Stop::IllegalAddress);
            }
        }
        // The range of a site may still permit the freed memory, so the cached ranges are cleared.
        if (*running).check != Check::Off {
            (*(*running).module).clear_ranges();
        }
    }
}

/// Reports that a lane's stack is full.
///
/// # Safety
/// See [`__wl_flush`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wl_stack_overflow(context: *mut WarpContext) {
    // SAFETY: by the contract.
    unsafe {
        let warp = warp_of(context);
        message::stack_overflow(warp, (*context).local_limit);
        stop(warp, Stop::StackOverflow)
    }
}

/// Reports a call through a pointer that is not a device function.
///
/// # Safety
/// See [`__wl_flush`]; the array has 32 entries, of which the active ones are defined.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wl_bad_call(context: *mut WarpContext, mask: u32, targets: *const [u64; 32]) {
    // SAFETY: by the contract.
    unsafe {
        let warp: *mut Warp = warp_of(context);
        if let Some(lane) = lanes(mask).next() {
            check::bad_call(warp, lane, (*targets)[lane]);
        }
        stop(warp, Stop::IllegalInstruction)
    }
}

/// `%globaltimer`: returns the virtual time, in which one instruction takes one nanosecond.
///
/// # Safety
/// See [`__wl_flush`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wl_globaltimer(context: *mut WarpContext) -> u64 {
    // SAFETY: by the contract.
    unsafe { (*(*warp_of(context)).running).clock_base + (*context).clock }
}
