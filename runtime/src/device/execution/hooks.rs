//! The functions that lowered device code calls (`docs/design/borders.md`, section 3).
//!
//! They run on a warp's fibre. A kernel that is stopped never comes back to them, so nothing that
//! needs to be dropped may be alive on the fibre at that point.

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

/// Makes room in the record buffer.
///
/// # Safety
/// Called by lowered code with its own context, as are all functions here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wl_flush(context: *mut WarpContext) {
    // SAFETY: by the contract.
    unsafe { pause(warp_of(context), Pause::Full) }
}

/// Block-wide barrier.
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

/// Part of a warp reaches `__syncthreads`, and lanes of it that are elsewhere will continue.
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

/// A loop that may wait for another warp has run for a while.
///
/// # Safety
/// See [`__wl_flush`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wl_yield(context: *mut WarpContext) {
    // SAFETY: by the contract.
    unsafe {
        (*context).patience = PATIENCE;
        let warp = warp_of(context);
        // In direct mode no warp of the kernel waits for another.
        if (*(*warp).running).mode == Mode::Scheduled {
            pause(warp, Pause::Yield);
        }
    }
}

/// Lanes of a warp have waited for long in the loop that a branch leaves; `others` of it are elsewhere and continue ahead.
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

/// Hands over to the next warp before a store, an atomic operation or a volatile load, and before the first load after
/// one. Loads in a row are one step, which those of other warps on the same way cannot come between, and come here no
/// more after the first.
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

/// Slow path of the access check; returns the lanes that may continue.
///
/// # Safety
/// See [`__wl_flush`]; `range` is the site's, `addresses` has 32 entries.
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
        let values = (*(*warp).running).values;
        if let Some(values) = values.as_mut() {
            values.settle();
        }
        if let Some(stops) = (*(*warp).running).stops.as_mut() {
            stops.at_access(warp, &access);
        }
        // Ranges of local sites come from lowered code.
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

/// A failed device-side `assert`.
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
            // The format of CUDA's own message.
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

/// Device-side `malloc`; a lane that gets nothing gets null.
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
        // A site may still take the freed memory for good.
        if (*running).check != Check::Off {
            (*(*running).module).clear_ranges();
        }
    }
}

/// A lane's stack is full.
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

/// A call through a pointer that is not a device function.
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

/// `%globaltimer`: virtual time, one instruction a nanosecond.
///
/// # Safety
/// See [`__wl_flush`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wl_globaltimer(context: *mut WarpContext) -> u64 {
    // SAFETY: by the contract.
    unsafe { (*(*warp_of(context)).running).clock_base + (*context).clock }
}
