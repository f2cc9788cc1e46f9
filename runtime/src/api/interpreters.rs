//! Functions that Warpline's Python package calls in addition to the driver API. They serve programs whose call stacks
//! and arrays belong to an interpreter.

use super::put;
use crate::call_paths::{Entry, interpreted};
use crate::cuda::error::{self, Error};
use crate::memory::Description;
use crate::memory::registry::Elements;
use crate::modules::loaded::Handle;
use crate::modules::module::name as text;
use crate::state::runtime::{Runtime, call, memory_error};
use std::ffi::{c_char, c_int, c_void};
use warpline_format::event::{Allocation, AllocationKind, Event};
use warpline_format::options::Check;

/// Sets the calling thread's call path, innermost frame first. Each line contains function, file and line number,
/// separated by the unit separator (0x1f). Null or empty text removes the path.
///
/// # Safety
/// `frames` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __warpline_interpreted_path(frames: *const c_char) {
    interpreted::set(&text(frames));
}

/// Loads a module as `cuModuleLoadData` does. Its only kernel gets the display name `shown`.
///
/// # Safety
/// The requirements of `cuModuleLoadData` apply; `shown` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __warpline_load_module(
    module: *mut Handle,
    image: *const c_void,
    shown: *const c_char,
) -> Error {
    call(|runtime| {
        let shown = (!shown.is_null()).then(|| text(shown));
        // SAFETY: by the contract of the API function.
        unsafe {
            let handle = runtime.load_image(image.cast(), shown.as_deref())?;
            put(module, handle)
        }
    })
}

/// Makes an array of the program accessible to kernels under its own address, as an allocation called `name`. This ends
/// all earlier allocations that share its bytes, except an array with the same address and size, which is the same
/// array.
///
/// # Safety
/// The program's memory from `pointer` on has `bytes` bytes; `name` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __warpline_tensor(pointer: *mut c_void, bytes: usize, name: *const c_char) -> Error {
    let here = 0u8;
    let entry = Entry::new(std::hint::black_box(&here));
    call(|runtime| {
        if pointer.is_null() || bytes == 0 {
            return Err(error::INVALID_VALUE);
        }
        let (start, bytes) = (pointer as u64, bytes as u64);
        if runtime.memory.registry.at(start).is_some_and(|live| live.bytes == bytes) {
            return Ok(());
        }
        end_tensors_in(runtime, start, bytes, entry)?;
        let name = (!name.is_null()).then(|| text(name));
        let path = runtime.path(entry);
        let what = Description { kind: AllocationKind::Tensor, name: name.clone(), path };
        let live = runtime.memory.register(start, bytes, what).map_err(memory_error)?;
        let (id, kind, address) = (live.id, live.kind, live.address);
        runtime.trace.event(Event::Allocation(Allocation { id, kind, address, bytes, name, path, global: None }));
        Ok(())
    })
}

/// Records what an array's memory contains, for messages. `shape` is the type and the shape as text, the first element
/// is `offset` bytes after the start, and each element has `element` bytes.
///
/// # Safety
/// `shape` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __warpline_tensor_shape(
    pointer: *mut c_void,
    offset: u64,
    element: u32,
    shape: *const c_char,
) -> Error {
    call(|runtime| {
        let elements = Elements { bytes: element, shape: text(shape), offset };
        runtime.memory.registry.describe(pointer as u64, elements);
        Ok(())
    })
}

/// Records that the program's array that starts at `pointer` no longer exists.
///
/// # Safety
/// None: the address is only compared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __warpline_tensor_gone(pointer: *mut c_void) -> Error {
    let here = 0u8;
    let entry = Entry::new(std::hint::black_box(&here));
    // An array may exist longer than a device that a bad access made unusable.
    crate::state::runtime::call_any(|runtime| match runtime.free(pointer as u64, &[AllocationKind::Tensor], entry) {
        Err(error::INVALID_VALUE) => Ok(()),
        other => other,
    })
}

/// If `always` is not 0, accesses are checked also in launches that are not recorded, unless the run's options turn
/// checks off. This is needed because the arrays of an interpreted program are between its other memory.
///
/// # Safety
/// None.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __warpline_always_check(always: c_int) -> Error {
    crate::state::runtime::call_any(|runtime| {
        runtime.always_check = always != 0 && runtime.options.check != Check::Off;
        Ok(())
    })
}

/// From now on, at most `blocks` blocks of a launch run, distributed over its grid; 0 means all. This is for sections
/// that are only estimated. Launches whose blocks may wait for each other run completely.
///
/// # Safety
/// None.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __warpline_most_blocks(blocks: u64) -> Error {
    crate::state::runtime::call_any(|runtime| {
        runtime.most_blocks = blocks;
        Ok(())
    })
}

/// Begins a section of the program with its own trace, in this file. If `estimating` is set, the section also contains
/// what the run's filters exclude.
///
/// # Safety
/// `file` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __warpline_section_begin(file: *const c_char, estimating: c_int) -> Error {
    call(|runtime| {
        if file.is_null() {
            return Err(error::INVALID_VALUE);
        }
        runtime.begin_section(text(file), estimating != 0);
        Ok(())
    })
}

/// Ends the section that was begun last, and completes its file.
///
/// # Safety
/// None.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __warpline_section_end() -> Error {
    crate::state::runtime::call_any(Runtime::end_section)
}

/// Ends the arrays that share bytes with a range, because their memory now has another owner.
fn end_tensors_in(runtime: &mut Runtime, start: u64, bytes: u64, entry: Entry) -> Result<(), Error> {
    let end = start.saturating_add(bytes);
    let overlaps = |from: u64, bytes: u64| from < end && start < from.saturating_add(bytes);
    let stale: Vec<(u64, AllocationKind)> = (runtime.memory.registry.iter())
        .filter(|live| overlaps(live.start(), live.bytes))
        .map(|live| (live.start(), live.kind))
        .collect();
    for (start, kind) in stale {
        if kind != AllocationKind::Tensor {
            return Err(error::HOST_MEMORY_ALREADY_REGISTERED);
        }
        runtime.free(start, &[AllocationKind::Tensor], entry)?;
    }
    Ok(())
}
