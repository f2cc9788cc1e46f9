//! Two devices, each with its own streams, copies of variables, and faults. A thread uses the first device until it
//! selects another.

use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{LazyLock, Mutex};

pub const DEVICES: usize = 2;

thread_local! {
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

/// The error codes of faults; every later call on the device returns the code.
static FAULTS: [AtomicI32; DEVICES] = [const { AtomicI32::new(0) }; DEVICES];

/// The bytes of each variable, keyed by the address that represents it on the host.
static VARIABLES: LazyLock<Mutex<HashMap<usize, [usize; DEVICES]>>> = LazyLock::new(Mutex::default);

/// The size of every variable in bytes.
pub const VARIABLE_BYTES: usize = 1 << 18;

pub fn current() -> usize {
    CURRENT.get()
}

pub fn status() -> c_int {
    status_of(current())
}

pub fn status_of(device: usize) -> c_int {
    FAULTS[device].load(Ordering::SeqCst)
}

pub fn fault(device: usize, code: c_int) {
    FAULTS[device].store(code, Ordering::SeqCst);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaGetDevice(device: *mut c_int) -> c_int {
    unsafe { device.write(current() as c_int) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaSetDevice(device: c_int) -> c_int {
    if device < 0 || device as usize >= DEVICES {
        return 101;
    }
    CURRENT.set(device as usize);
    status()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaStreamQuery(_stream: *mut c_void) -> c_int {
    // Work may be unfinished.
    if status() == 0 { 600 } else { status() }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaGetSymbolAddress(place: *mut *mut c_void, symbol: *const c_void) -> c_int {
    let copies = VARIABLES.lock().unwrap().get(&(symbol as usize)).copied();
    let Some(copies) = copies else { return 13 };
    unsafe { place.write(copies[current()] as *mut c_void) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal___cudaRegisterVar(
    _handle: *mut *mut c_void,
    shadow: *mut c_char,
    _address: *mut c_char,
    _name: *const c_char,
    _external: c_int,
    _size: usize,
    _constant: c_int,
    _global: c_int,
) {
    let copies = std::array::from_fn(|_| unsafe { libc::aligned_alloc(256, VARIABLE_BYTES) } as usize);
    VARIABLES.lock().unwrap().insert(shadow as usize, copies);
}
