//! A CUDA runtime under the names by which ours calls the real one. Device memory is host memory, and a hooked kernel
//! is host code that sends what the device's hooks would send, through the device's own source: one thread for each of
//! four SMs, two blocks at a time on each, streams next to each other.

#![allow(non_snake_case, reason = "the names are CUDA's")]
#![allow(clippy::missing_safety_doc, clippy::too_many_arguments, reason = "the signatures are CUDA's")]
#![allow(dead_code, reason = "each test uses a part")]

pub mod devices;
pub mod graphs;
pub mod program;
pub mod times;

use super::gpu_producer::{Target, producer};
use devices::{current, fault, status};
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use std::thread::JoinHandle;
use warpline_format::gpu::{BLOCK_CELLS, BRANCH_CELLS, COUNTED_SUFFIX, SITE_CELLS};
use warpline_runtime::cuda::types::{Dim3, LaunchConfig};
use warpline_runtime::gpu::drain::wire::{Kind, MARK, SLOT_BITS, SLOTS};

pub const SMS: u64 = 4;
/// The number of bytes that the system reserves at the start of shared memory.
pub const RESERVED: c_int = 1024;
static FUNCTIONS: LazyLock<Mutex<HashMap<usize, String>>> = LazyLock::new(Mutex::default);
type Streams = HashMap<(usize, usize), JoinHandle<()>>;
/// The last work of each stream, by device and stream.
static STREAMS: LazyLock<Mutex<Streams>> = LazyLock::new(Mutex::default);

/// The stream of the last kernel that was launched.
pub static LAST_STREAM: AtomicUsize = AtomicUsize::new(usize::MAX);

/// The number of launches of kernels without hooks.
pub static ORIGINALS: AtomicUsize = AtomicUsize::new(0);

/// Waits for all streams of the thread's device.
fn join_all() {
    let device = current();
    let all: Vec<JoinHandle<()>> = {
        let mut streams = STREAMS.lock().unwrap();
        let mine: Vec<(usize, usize)> = streams.keys().filter(|key| key.0 == device).copied().collect();
        mine.iter().filter_map(|key| streams.remove(key)).collect()
    };
    all.into_iter().for_each(|last| last.join().unwrap());
}

/// Adds work to a stream, after its earlier work.
fn enqueue(stream: usize, work: impl FnOnce() + Send + 'static) {
    let mut streams = STREAMS.lock().unwrap();
    let key = (current(), stream);
    let before = streams.remove(&key);
    let handle = std::thread::spawn(move || {
        if let Some(before) = before {
            before.join().unwrap();
        }
        work();
    });
    streams.insert(key, handle);
}

struct Launched {
    device: usize,
    target: Target,
    data: u64,
    blocks: u64,
    threads: u32,
    faulty: bool,
    /// Whether the kernel counts its requests instead of sending them.
    counted: bool,
}

// SAFETY: plain addresses of memory that lives as long as the process.
unsafe impl Send for Launched {}
// SAFETY: as above.
unsafe impl Sync for Launched {}

impl Launched {
    fn access(&self, sm: u64, who: u64, space_site: u32, mask: u32, address: impl Fn(u64) -> u64) {
        let addresses: [u64; 32] = std::array::from_fn(|lane| address(lane as u64));
        if self.counted {
            // The cells follow those of one block and of one branch with two sides.
            let first = BLOCK_CELLS + BRANCH_CELLS + 4 + SITE_CELLS * u64::from(space_site & 0xff_ffff);
            let per_sm = self.target.flags >> 32;
            // SAFETY: a site's cells in the set of an SM.
            let cell = unsafe { self.target.counts.add((sm * per_sm + first) as usize) };
            // SAFETY: as above, and 32 addresses.
            return unsafe { (producer().count)(cell, space_site >> 24, mask, 4, addresses.as_ptr()) };
        }
        // SAFETY: as `wire.h` requires.
        unsafe { (producer().access)(&raw const self.target, sm as u32, who, space_site, mask, addresses.as_ptr()) }
    }

    fn mark(&self, sm: u64, who: u64, kind: Kind, mask: u32) {
        if self.counted {
            return;
        }
        // SAFETY: as above.
        unsafe { (producer().mark)(&raw const self.target, sm as u32, who, kind as u32, 0, mask) }
    }

    fn count(&self, sm: u64, cell: u64, value: u64) {
        let per_sm = self.target.flags >> 32;
        // SAFETY: the launch's cells, one set per SM.
        unsafe { &*self.target.counts.add((sm * per_sm + cell) as usize).cast::<AtomicU64>() }
            .fetch_add(value, Ordering::Relaxed);
    }

    /// The work of a thread of the kernel: it reads its element, another element, and shared memory around a barrier.
    fn run(&self, sm: u64) {
        let warps = u64::from(self.threads.div_ceil(32));
        let mine: Vec<u64> = (0..self.blocks).filter(|block| block % SMS == sm).collect();
        for resident in mine.chunks(2) {
            for warp in 0..warps {
                for &block in resident {
                    let lanes = (self.threads - 32 * warp as u32).min(32);
                    let mask = if lanes == 32 { u32::MAX } else { (1 << lanes) - 1 };
                    let who =
                        MARK | block << (SLOT_BITS + 5) | warp << SLOT_BITS | (self.target.flags & (SLOTS as u64 - 1));
                    let first = block * u64::from(self.threads) + 32 * warp;
                    self.count(sm, if lanes == 32 { 0 } else { 1 }, 1);
                    if lanes < 32 {
                        self.count(sm, 2, u64::from(lanes));
                        self.count(sm, 3, 1);
                    }
                    self.access(sm, who, 1 << 24, mask, |lane| self.data + 4 * (first + lane));
                    if self.faulty && block >= self.blocks / 2 {
                        fault(self.device, 700);
                        return;
                    }
                    self.access(sm, who, 1 << 24 | 1, mask, |lane| self.data + 4 * ((first + lane) * 7919 % 4096));
                    self.access(sm, who, 2 << 24 | 2, mask, |lane| RESERVED as u64 + 4 * lane);
                    self.mark(sm, who, Kind::Barrier, mask);
                }
            }
            for warp in 0..warps {
                for &block in resident {
                    let lanes = (self.threads - 32 * warp as u32).min(32);
                    let mask = if lanes == 32 { u32::MAX } else { (1 << lanes) - 1 };
                    let who =
                        MARK | block << (SLOT_BITS + 5) | warp << SLOT_BITS | (self.target.flags & (SLOTS as u64 - 1));
                    self.mark(sm, who, Kind::Exit, mask);
                }
            }
        }
    }
}

/// Implements `__warpline_finish`.
fn finish(target: &Target, ticket: *mut u64) {
    let per_sm = target.flags >> 32;
    // SAFETY: the ticket and the cells have this layout (`wire.h`).
    unsafe {
        for sm in 0..SMS {
            let control = target.rings.add(sm as usize).read();
            ticket.add(2 + sm as usize).write(control.head);
            ticket.add((2 + SMS + sm) as usize).write(control.dropped);
        }
        for cell in 0..per_sm {
            let place = |sm: u64| target.counts.add((sm * per_sm + cell) as usize);
            ticket.add((2 + 2 * SMS + cell) as usize).write((0..SMS).map(|sm| place(sm).replace(0)).sum());
        }
        (*ticket.cast::<AtomicU64>()).store(1, Ordering::Release);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaLaunchKernel(
    stub: *const c_void,
    grid: Dim3,
    block: Dim3,
    arguments: *mut *mut c_void,
    _shared: usize,
    stream: *mut c_void,
) -> c_int {
    if status() != 0 {
        return status();
    }
    let name = FUNCTIONS.lock().unwrap()[&(stub as usize)].clone();
    // SAFETY: one pointer per parameter.
    if unsafe { graphs::capture(stream as usize, stub, grid, block, arguments) } {
        return 0;
    }
    LAST_STREAM.store(stream as usize, Ordering::SeqCst);
    // SAFETY: one pointer per parameter.
    let word = |index: usize| unsafe { (*arguments.add(index)).cast::<u64>().read() };
    let target = |first: usize| Target {
        rings: word(first) as *mut _,
        data: word(first + 1) as *mut u8,
        counts: word(first + 2) as *mut u64,
        flags: word(first + 3),
    };
    let device = current();
    if name == "__warpline_finish" {
        let (target, ticket) = (target(0), word(4));
        let launched = Launched { device, target, data: ticket, blocks: 0, threads: 0, faulty: false, counted: false };
        enqueue(stream as usize, move || {
            let launched = launched;
            if devices::status_of(device) == 0 {
                finish(&launched.target, launched.data as *mut u64);
            }
        });
    } else if name.contains("__warpline") {
        let counted = name.ends_with(COUNTED_SUFFIX);
        let faulty = name.starts_with("faulty");
        let (target, data, blocks) = (target(1), word(0), u64::from(grid.x));
        let launched = Launched { device, target, data, blocks, threads: block.x, faulty, counted };
        enqueue(stream as usize, move || {
            let launched = &launched;
            std::thread::scope(|scope| (0..SMS).for_each(|sm| drop(scope.spawn(move || launched.run(sm)))));
        });
    } else {
        ORIGINALS.fetch_add(1, Ordering::SeqCst);
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaLaunchKernelExC(
    config: *const LaunchConfig,
    stub: *const c_void,
    arguments: *mut *mut c_void,
) -> c_int {
    // SAFETY: valid by the contract.
    let LaunchConfig { grid, block, shared, stream, .. } = unsafe { &*config };
    // SAFETY: handed through.
    unsafe { __wlreal_cudaLaunchKernel(stub, *grid, *block, arguments, *shared, *stream) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaDeviceSynchronize() -> c_int {
    join_all();
    status()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaDeviceGetAttribute(value: *mut c_int, which: c_int, _device: c_int) -> c_int {
    unsafe { value.write(if which == 16 { SMS as c_int } else { RESERVED }) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaGetLastError() -> c_int {
    status()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaMalloc(place: *mut *mut c_void, bytes: usize) -> c_int {
    if status() != 0 {
        return status();
    }
    unsafe { place.write(libc::aligned_alloc(256, bytes.next_multiple_of(256))) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaFree(pointer: *mut c_void) -> c_int {
    join_all();
    unsafe { libc::free(pointer) };
    status()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaMemcpy(to: *mut c_void, from: *const c_void, bytes: usize, _kind: c_int) -> c_int {
    join_all();
    unsafe { std::ptr::copy(from.cast::<u8>(), to.cast(), bytes) };
    status()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaMemset(to: *mut c_void, value: c_int, bytes: usize) -> c_int {
    unsafe { std::ptr::write_bytes(to.cast::<u8>(), value as u8, bytes) };
    status()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaHostAlloc(place: *mut *mut c_void, bytes: usize, _flags: c_uint) -> c_int {
    unsafe { place.write(libc::aligned_alloc(4096, bytes.next_multiple_of(4096))) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaHostGetDevicePointer(
    place: *mut *mut c_void,
    host: *mut c_void,
    _flags: c_uint,
) -> c_int {
    unsafe { place.write(host) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaStreamIsCapturing(stream: *mut c_void, state: *mut c_int) -> c_int {
    unsafe { state.write(graphs::is_capturing(stream as usize).into()) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    blocks: *mut c_int,
    _stub: *const c_void,
    _threads: c_int,
    _shared: usize,
) -> c_int {
    unsafe { blocks.write(2) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal_cudaFuncSetAttribute(_stub: *const c_void, _which: c_int, _value: c_int) -> c_int {
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal___cudaRegisterFatBinary(_wrapper: *const c_void) -> *mut *mut c_void {
    std::ptr::dangling_mut()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal___cudaRegisterFatBinaryEnd(_handle: *mut *mut c_void) {}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal___cudaUnregisterFatBinary(_handle: *mut *mut c_void) {}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal___cudaRegisterFunction(
    _handle: *mut *mut c_void,
    stub: *const c_void,
    _device_function: *mut c_char,
    device_name: *const c_char,
    _limit: c_int,
    _thread: *mut c_void,
    _block: *mut c_void,
    _block_dim: *mut c_void,
    _grid_dim: *mut c_void,
    _warp_size: *mut c_int,
) {
    // SAFETY: a string by the contract.
    let name = unsafe { CStr::from_ptr(device_name) }.to_string_lossy().into_owned();
    FUNCTIONS.lock().unwrap().insert(stub as usize, name);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __wlreal___cudaRegisterManagedVar(
    _handle: *mut *mut c_void,
    _shadow: *mut *mut c_void,
    _address: *mut c_char,
    _name: *const c_char,
    _external: c_int,
    _size: usize,
    _constant: c_int,
    _global: c_int,
) {
}
