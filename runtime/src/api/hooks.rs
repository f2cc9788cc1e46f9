//! Functions that hooked host code calls (`docs/design/borders.md`, section 6), and the function of `warpline.h`.

use crate::call_paths::{Entry, capture};
use crate::memory::host::{HostAllocation, PATH_FROM};
use crate::modules::module::name as text;
use crate::modules::names;
use crate::state::runtime::lock;
use std::ffi::{c_char, c_void};
use warpline_format::event::{Allocation, AllocationKind, Event};

/// Sets the name of the thread's next allocation.
///
/// # Safety
/// `name` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __warpline_name(name: *const c_char) {
    names::set_name((!name.is_null()).then(|| text(name)));
}

/// Sets the name of the thread's next allocation: the name of the object that was entered last, followed by `suffix`,
/// or `alone` if the object has no name. `flags` are those of `warpline_format::hooks`.
///
/// # Safety
/// `suffix` is null or a string, `alone` a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __warpline_name_member(suffix: *const c_char, alone: *const c_char, flags: u32) {
    let suffix = (!suffix.is_null()).then(|| text(suffix));
    names::set_member(suffix.as_deref(), &text(alone), flags);
}

/// Records that an object may allocate from now on, until `__warpline_leave` is called with the result. A name with a
/// leading dot, such as `.field`, is a part of the object that was entered before.
///
/// # Safety
/// `name` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __warpline_enter(name: *const c_char, has_elements: u32) -> u32 {
    let name = (!name.is_null()).then(|| text(name));
    u32::try_from(names::enter(name.as_deref(), has_elements != 0)).unwrap_or(u32::MAX)
}

/// Ends what `__warpline_enter` began.
///
/// # Safety
/// None.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __warpline_leave(depth: u32) {
    names::leave(depth as usize);
}

/// Records a host allocation.
///
/// # Safety
/// The strings are null or zero-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __warpline_host_allocated(
    pointer: *mut c_void,
    bytes: usize,
    kind: *const c_char,
    name: *const c_char,
) {
    let here = 0u8;
    let entry = Entry::new(std::hint::black_box(&here));
    if pointer.is_null() {
        return;
    }
    let Some(mut runtime) = lock() else { return };
    if !runtime.trace.is_on() {
        return;
    }
    let frames = if bytes as u64 >= PATH_FROM { capture(entry) } else { Vec::new() };
    let name = (!name.is_null()).then(|| text(name));
    let all = runtime.options.all_host_allocations && bytes as u64 >= PATH_FROM;
    runtime
        .host
        .insert(pointer as u64, HostAllocation { bytes: bytes as u64, kind: text(kind), name, frames, id: None });
    if all {
        runtime.host_allocation(pointer as u64);
    }
}

/// Removes a host allocation from the records.
///
/// # Safety
/// None.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __warpline_host_freed(pointer: *mut c_void) {
    if pointer.is_null() {
        return;
    }
    if let Some(mut runtime) = lock() {
        runtime.host.remove(pointer as u64);
    }
}

/// Names a device or host allocation, or a part of an allocation. See `warpline.h`.
///
/// # Safety
/// `name` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpline_name(pointer: *const c_void, bytes: usize, name: *const c_char) {
    let here = 0u8;
    let entry = Entry::new(std::hint::black_box(&here));
    let Some(mut runtime) = lock() else { return };
    let (address, label) = (pointer as u64, text(name));
    let Some(live) = runtime.memory.registry.find(address) else {
        if let Some(host) = runtime.host.find(address) {
            host.name = Some(label);
        }
        return;
    };
    let synthetic = live.address + (address - live.start());
    let bytes = (bytes as u64).min(live.bytes - (address - live.start()));
    let id = runtime.memory.registry.next_id();
    let path = runtime.path(entry);
    runtime.trace.event(Event::Allocation(Allocation {
        id,
        kind: AllocationKind::Named,
        address: synthetic,
        bytes,
        name: Some(label),
        path,
        global: None,
    }));
}
