//! The GPUs in use. Each has its rings, its launch slots and its draining thread, which are created when the program
//! first launches a kernel on the GPU.

use super::drain::session::{Output, Session, Shared};
use super::drain::wire::{FLAG_CAPACITY_SHIFT, FLAG_COUNTS_SHIFT, FLAG_DROP, RingControl, SLOTS, Ticket};
use super::state::ADDRESSES;
use crate::cuda::error::{self, Error};
use crate::output::message::note_once;
use crate::real::functions::{Real, real};
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, PoisonError};
use warpline_format::event::{Event, LaunchId};

/// If the variable is `drop`, a full ring drops and counts records instead of making the kernel wait.
pub const FULL_VARIABLE: &str = "WARPLINE_GPU_FULL";
/// The logarithm of a ring's size in bytes: 1 MiB per SM holds the records of about one millisecond at the speed of the
/// bus.
const LOG2_CAPACITY: u32 = 20;
/// `cudaHostAllocPortable | cudaHostAllocMapped`.
const PINNED: u32 = 3;
/// `cudaDevAttrMultiProcessorCount`.
const ATTRIBUTE_SMS: c_int = 16;
/// `cudaDevAttrReservedSharedMemoryPerBlock`.
const ATTRIBUTE_SHARED_RESERVED: c_int = 111;

/// The trace of the process.
struct ProcessTrace;

impl Output for ProcessTrace {
    fn batch(&self, launch: LaunchId, items: &[u8]) {
        if let Some(mut runtime) = crate::state::runtime::lock() {
            runtime.trace.batch(launch, items);
        }
    }

    fn event(&self, event: Event) {
        if let Some(mut runtime) = crate::state::runtime::lock() {
            runtime.trace.event(event);
        }
    }
}

/// The memory of a launch slot.
#[derive(Clone, Copy, Debug, Default)]
pub struct SlotMemory {
    /// The device address of the count cells.
    pub counts: u64,
    /// The number of allocated cells per SM.
    pub cells: u64,
    /// The device address of the number of blocks of the finish kernel that have finished.
    pub arrived: u64,
    /// The ticket's host address.
    pub ticket: usize,
    /// The ticket's device address.
    pub ticket_device: u64,
}

/// A GPU in use.
pub struct Gpu {
    /// The rings and the launches of the GPU.
    pub session: Arc<Session>,
    /// The number of streaming multiprocessors.
    pub sms: u32,
    /// The number of bytes that the system reserves at the start of each block's shared memory.
    pub shared_reserved: u32,
    rings: u64,
    data: u64,
    drop: bool,
    slots: Mutex<[SlotMemory; SLOTS]>,
}

/// The GPUs, keyed by device number.
static GPUS: Mutex<BTreeMap<c_int, Arc<Gpu>>> = Mutex::new(BTreeMap::new());

/// Returns the number of the device that the calling thread uses.
///
/// # Errors
/// Returns CUDA's error code.
pub fn current_number(real: &Real) -> Result<c_int, Error> {
    let mut number = 0;
    // SAFETY: the result goes to a local variable; this applies to all calls of this file.
    succeed(unsafe { (real.get_device)(&raw mut number) }).map(|()| number)
}

/// Returns the GPU that the calling thread uses, which is set up at its first launch.
///
/// # Errors
/// Returns CUDA's error code.
pub fn current(real: &Real) -> Result<Arc<Gpu>, Error> {
    let number = current_number(real)?;
    let mut gpus = GPUS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(gpu) = gpus.get(&number) {
        return Ok(gpu.clone());
    }
    let gpu = Arc::new(Gpu::new(real, number)?);
    if gpus.is_empty() {
        // The function is registered after the CUDA runtime's own function, so it is called before the runtime shuts
        // down. SAFETY: the function has no arguments.
        unsafe { libc::atexit(at_exit) };
    } else {
        note_once("the program uses several GPUs: caches are modelled as if all launches ran on one".into());
    }
    gpus.insert(number, gpu.clone());
    Ok(gpu)
}

fn in_use() -> Vec<(c_int, Arc<Session>)> {
    let gpus = GPUS.lock().unwrap_or_else(PoisonError::into_inner);
    gpus.iter().map(|(&number, gpu)| (number, gpu.session.clone())).collect()
}

/// Waits until every launch has ended and is in the trace.
pub fn settle() {
    for (_, session) in in_use() {
        session.settle();
    }
}

/// Returns whether an error makes a device's context unusable (driver_types.h), except for the launch time-out of a
/// display GPU.
fn is_final(code: Error) -> bool {
    matches!(code, 700 | 702 | 710 | 714..=719)
}

/// Checks an error code that the real runtime returned: after some errors, no more records arrive from the device.
pub fn returned(code: Error) -> Error {
    if is_final(code) {
        let gpus = in_use();
        if let ([_, _, ..], Some(real)) = (gpus.as_slice(), real()) {
            // The call may have concerned another device than that of the thread, so each device is queried. A device
            // without an error continues, and its warps need the draining thread.
            on_each(real, &gpus, |session| {
                // SAFETY: the stream is the null stream of the device that was just selected.
                let own = unsafe { (real.query_stream)(null_mut()) };
                if is_final(own) {
                    give_up(session, own);
                }
            });
        } else {
            gpus.iter().for_each(|(_, session)| give_up(session, code));
        }
    }
    code
}

fn give_up(session: &Session, code: Error) {
    session.fail(code);
    session.settle();
}

/// Runs an action for each device, with this device as the calling thread's current device, and then restores the
/// thread's own device.
fn on_each(real: &Real, gpus: &[(c_int, Arc<Session>)], action: impl Fn(&Session)) {
    let before = current_number(real);
    for (number, session) in gpus {
        // SAFETY: the call has no pointers; this also applies below. A broken device can be selected like any other; it
        // returns its error at the next call.
        unsafe { (real.set_device)(*number) };
        action(session);
    }
    if let Ok(number) = before {
        unsafe { (real.set_device)(number) };
    }
}

extern "C" fn at_exit() {
    if let Some(real) = real() {
        on_each(real, &in_use(), |session| {
            // SAFETY: the function has no arguments.
            let code = unsafe { (real.synchronise)() };
            if is_final(code) {
                give_up(session, code);
            }
        });
        settle();
    }
}

fn succeed(code: Error) -> Result<(), Error> {
    if code == error::SUCCESS { Ok(()) } else { Err(code) }
}

impl Gpu {
    fn new(real: &Real, number: c_int) -> Result<Gpu, Error> {
        let attribute = |which: c_int| {
            let mut value = 0;
            // SAFETY: the reason in `current_number` applies.
            succeed(unsafe { (real.attribute)(&raw mut value, which, number) }).map(|()| value as u32)
        };
        let sms = attribute(ATTRIBUTE_SMS)?;
        let capacity = 1u64 << LOG2_CAPACITY;
        let (data, data_device) = pinned(real, capacity as usize * sms as usize)?;
        let (tails, tails_device) = pinned(real, 64 * sms as usize)?;
        let rings: Vec<RingControl> = (0..u64::from(sms))
            .map(|sm| RingControl { head: 0, limit: capacity, dropped: 0, tail: tails_device + 64 * sm })
            .collect();
        let bytes = std::mem::size_of_val(rings.as_slice());
        let control = device_memory(real, bytes)?;
        // SAFETY: both sides have `bytes` bytes; 1 is host to device.
        succeed(unsafe { (real.memcpy)(control as *mut c_void, rings.as_ptr().cast(), bytes, 1) })?;
        let shared = Shared { sms, capacity, data, tails };
        Ok(Gpu {
            session: Session::start(shared, &ADDRESSES, Box::new(ProcessTrace)),
            sms,
            shared_reserved: attribute(ATTRIBUTE_SHARED_RESERVED).unwrap_or(0),
            rings: control,
            data: data_device,
            drop: std::env::var(FULL_VARIABLE).is_ok_and(|value| value.eq_ignore_ascii_case("drop")),
            slots: Mutex::new([SlotMemory::default(); SLOTS]),
        })
    }

    /// Returns the memory of a slot, with at least `cells` count cells per SM.
    pub fn slot_memory(&self, real: &Real, slot: u32, cells: u64) -> Result<SlotMemory, Error> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let memory = &mut slots[slot as usize];
        if memory.ticket == 0 || memory.cells < cells {
            // The size grows in powers of two. The slot is free, so nothing uses the old cells; they are few and are
            // never freed.
            let cells = cells.next_power_of_two().max(1024);
            let words = size_of::<Ticket>() as u64 / 8 + 2 * u64::from(self.sms) + cells;
            let (ticket, ticket_device) = pinned(real, 8 * words as usize)?;
            let counts = device_memory(real, 8 * (cells * u64::from(self.sms)) as usize + 8)?;
            // The host writes the ticket's second word; see `Ticket`. SAFETY: the word is within the memory that was
            // just allocated.
            unsafe { ticket.cast::<u64>().add(1).write(u64::from(self.sms)) };
            let arrived = counts + 8 * cells * u64::from(self.sms);
            *memory = SlotMemory { counts, cells, arrived, ticket: ticket as usize, ticket_device };
        }
        Ok(*memory)
    }

    /// Returns the four parameters of a hooked launch.
    pub fn target(&self, slot: u32, memory: &SlotMemory, cells: u64) -> [u64; 4] {
        let flags = u64::from(slot)
            | u64::from(LOG2_CAPACITY) << FLAG_CAPACITY_SHIFT
            | if self.drop { FLAG_DROP } else { 0 }
            | cells << FLAG_COUNTS_SHIFT;
        [self.rings, self.data, memory.counts, flags]
    }
}

/// Returns the host address and the device address of zeroed pinned memory.
fn pinned(real: &Real, bytes: usize) -> Result<(*mut u8, u64), Error> {
    let (mut host, mut device) = (null_mut(), null_mut());
    // SAFETY: the results go to local variables; the memory has `bytes` bytes.
    unsafe {
        succeed((real.host_alloc)(&raw mut host, bytes, PINNED))?;
        std::ptr::write_bytes(host.cast::<u8>(), 0, bytes);
        succeed((real.host_device_pointer)(&raw mut device, host, 0))?;
    }
    Ok((host.cast(), device as u64))
}

/// Allocates zeroed device memory.
fn device_memory(real: &Real, bytes: usize) -> Result<u64, Error> {
    let mut device = null_mut();
    // SAFETY: the reasons of `pinned` apply.
    unsafe {
        succeed((real.malloc)(&raw mut device, bytes))?;
        succeed((real.memset)(device, 0, bytes))?;
    }
    Ok(device as u64)
}
