//! The GPUs in use: each has its rings, its launch slots and its draining thread, set up when the program first
//! launches a kernel there.

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

/// `drop`: a full ring loses records and counts them, instead of making the kernel wait.
pub const FULL_VARIABLE: &str = "WARPLINE_GPU_FULL";
/// Logarithm of a ring's bytes: 1 MiB for each SM holds about a millisecond of records at the speed of the bus.
const LOG2_CAPACITY: u32 = 20;
/// `cudaHostAllocPortable | cudaHostAllocMapped`.
const PINNED: u32 = 3;
/// `cudaDevAttrMultiProcessorCount`.
const ATTRIBUTE_SMS: c_int = 16;
/// `cudaDevAttrReservedSharedMemoryPerBlock`.
const ATTRIBUTE_SHARED_RESERVED: c_int = 111;

/// The process's trace.
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

/// Memory of a launch slot.
#[derive(Clone, Copy, Debug, Default)]
pub struct SlotMemory {
    /// Count cells, on the device.
    pub counts: u64,
    /// Cells that there is room for, per SM.
    pub cells: u64,
    /// Blocks of the finish kernel that are through, on the device.
    pub arrived: u64,
    /// The ticket as the host sees it.
    pub ticket: usize,
    /// The ticket as the device sees it.
    pub ticket_device: u64,
}

/// A GPU in use.
pub struct Gpu {
    /// Its rings and launches.
    pub session: Arc<Session>,
    /// Streaming multiprocessors.
    pub sms: u32,
    /// Bytes that the system keeps at the start of each block's shared memory.
    pub shared_reserved: u32,
    rings: u64,
    data: u64,
    drop: bool,
    slots: Mutex<[SlotMemory; SLOTS]>,
}

/// Keyed by number.
static GPUS: Mutex<BTreeMap<c_int, Arc<Gpu>>> = Mutex::new(BTreeMap::new());

/// Number of the device that the calling thread uses.
///
/// # Errors
/// What CUDA returned.
pub fn current_number(real: &Real) -> Result<c_int, Error> {
    let mut number = 0;
    // SAFETY: a result through a pointer to a local; so for all calls of this file.
    succeed(unsafe { (real.get_device)(&raw mut number) }).map(|()| number)
}

/// Returns the GPU that the calling thread uses, set up at its first launch.
///
/// # Errors
/// What CUDA returned.
pub fn current(real: &Real) -> Result<Arc<Gpu>, Error> {
    let number = current_number(real)?;
    let mut gpus = GPUS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(gpu) = gpus.get(&number) {
        return Ok(gpu.clone());
    }
    let gpu = Arc::new(Gpu::new(real, number)?);
    if gpus.is_empty() {
        // Registered after the CUDA runtime's own, and so called before it shuts down.
        // SAFETY: a function without arguments.
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

/// Waits until every launch has ended and in the trace.
pub fn settle() {
    for (_, session) in in_use() {
        session.settle();
    }
}

/// Returns whether an error leaves a device's context unusable (driver_types.h), but for the launch time-out of a
/// display GPU.
fn is_final(code: Error) -> bool {
    matches!(code, 700 | 702 | 710 | 714..=719)
}

/// Inspects a code that the real runtime returned: after some errors no more records come from the device.
pub fn returned(code: Error) -> Error {
    if is_final(code) {
        let gpus = in_use();
        if let ([_, _, ..], Some(real)) = (gpus.as_slice(), real()) {
            // The call may have been about another device than the thread's: each is queried. One without an error goes
            // on, and its warps need the draining thread.
            on_each(real, &gpus, |session| {
                // SAFETY: the null stream of the device just chosen.
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

/// Does something with each device as the calling thread's, which then has its own again.
fn on_each(real: &Real, gpus: &[(c_int, Arc<Session>)], action: impl Fn(&Session)) {
    let before = current_number(real);
    for (number, session) in gpus {
        // SAFETY: no pointers; so below. A broken device is chosen like any other, and returns its error at the next
        // call.
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
            // SAFETY: no arguments.
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
            // SAFETY: see `current`.
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

    /// Returns the memory of a slot, with room for `cells` count cells per SM.
    pub fn slot_memory(&self, real: &Real, slot: u32, cells: u64) -> Result<SlotMemory, Error> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let memory = &mut slots[slot as usize];
        if memory.ticket == 0 || memory.cells < cells {
            // Grown in powers of two; the slot is free, so the old ones, which are few and stay, are unused.
            let cells = cells.next_power_of_two().max(1024);
            let words = size_of::<Ticket>() as u64 / 8 + 2 * u64::from(self.sms) + cells;
            let (ticket, ticket_device) = pinned(real, 8 * words as usize)?;
            let counts = device_memory(real, 8 * (cells * u64::from(self.sms)) as usize + 8)?;
            // The ticket's second word is the host's; see `Ticket`.
            // SAFETY: within the memory just made.
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

/// Zeroed pinned memory: its host and its device address.
fn pinned(real: &Real, bytes: usize) -> Result<(*mut u8, u64), Error> {
    let (mut host, mut device) = (null_mut(), null_mut());
    // SAFETY: results through pointers to locals; the memory has `bytes` bytes.
    unsafe {
        succeed((real.host_alloc)(&raw mut host, bytes, PINNED))?;
        std::ptr::write_bytes(host.cast::<u8>(), 0, bytes);
        succeed((real.host_device_pointer)(&raw mut device, host, 0))?;
    }
    Ok((host.cast(), device as u64))
}

/// Zeroed device memory.
fn device_memory(real: &Real, bytes: usize) -> Result<u64, Error> {
    let mut device = null_mut();
    // SAFETY: as above.
    unsafe {
        succeed((real.malloc)(&raw mut device, bytes))?;
        succeed((real.memset)(device, 0, bytes))?;
    }
    Ok(device as u64)
}
