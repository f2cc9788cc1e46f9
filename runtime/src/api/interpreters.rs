//! Functions that Warpline's Python package calls in addition to the driver API, for programs whose frames and arrays
//! an interpreter holds.

use super::put;
use crate::cuda::error::{self, Error};
use crate::memory::Description;
use crate::memory::registry::Elements;
use crate::modules::loaded::Handle;
use crate::modules::module::name as text;
use crate::paths::{Entry, interpreted};
use crate::state::runtime::{Runtime, call, memory_error};
use std::ffi::{c_char, c_int, c_void};
use warpline_format::event::{Allocation, AllocationKind, Event};
use warpline_format::options::Check;

/// Sets the calling thread's path, innermost frame first: a line each of function, file and line number with the unit
/// separator (0x1f) between them. Null or empty text takes it away.
///
/// # Safety
/// `frames` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __warpline_interpreted_path(frames: *const c_char) {
    interpreted::set(&text(frames));
}

/// Loads a module as `cuModuleLoadData` does. Its only kernel is called `shown`.
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
        // SAFETY: by the contract.
        unsafe {
            let handle = runtime.load_image(image.cast(), shown.as_deref())?;
            put(module, handle)
        }
    })
}

/// Makes an array of the program's reachable for kernels, under its own address, as an allocation called `name`. What
/// was known of its bytes before ends, unless it is an array of the same place and size, which is this one.
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

/// Records the contents of an array's memory, for messages: `shape` is type and shape as text, the first element is
/// `offset` bytes after the start, each has `element` bytes.
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

/// Notes that the program's array that starts at `pointer` is gone.
///
/// # Safety
/// None: the address is only compared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __warpline_tensor_gone(pointer: *mut c_void) -> Error {
    let here = 0u8;
    let entry = Entry::new(std::hint::black_box(&here));
    // An array may outlive what a bad access made of the device.
    crate::state::runtime::call_any(|runtime| match runtime.free(pointer as u64, &[AllocationKind::Tensor], entry) {
        Err(error::INVALID_VALUE) => Ok(()),
        other => other,
    })
}

/// Accesses are checked (`always` is not 0) also in launches that are not recorded, unless the run's options turn
/// checks off: the arrays of an interpreted program lie among its other memory.
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

/// From now on at most `blocks` blocks of a launch run, spread over its grid, for sections that are only estimated; 0:
/// all. Launches whose blocks may wait for each other run whole.
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

/// Begins a section of the program with a trace of its own, in this file; `estimating`: whatever the run's filters
/// leave out is in it, too.
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

/// Ends the section that was begun last; its file is complete.
///
/// # Safety
/// None.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __warpline_section_end() -> Error {
    crate::state::runtime::call_any(Runtime::end_section)
}

/// Ends the arrays that share bytes with a range: their memory has another owner now.
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
