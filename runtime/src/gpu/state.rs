//! The back end in this process: whether it is used, its modules and kernels, and its devices.

use super::addresses::{AddressMap, Range};
use super::driver::first_device;
use super::real::{Real, real};
use super::session::{Output, Session, Shared};
use super::wire::{FLAG_CAPACITY_SHIFT, FLAG_COUNTS_SHIFT, FLAG_DROP, RingControl, SLOTS, Ticket};
use crate::cuda::error::{self, Error};
use crate::message;
use std::collections::{HashMap, HashSet};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use warpline_format::device::Device as DeviceNumbers;
use warpline_format::event::{Event, LaunchId};
use warpline_format::gpu::CountLayout;
use warpline_format::options::DEVICE_VARIABLE;

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

/// Allocations of all GPUs: their addresses never overlap.
pub static ADDRESSES: LazyLock<AddressMap> = LazyLock::new(AddressMap::default);

/// The GPU that is used, decided at first use.
static CHOICE: OnceLock<Option<DeviceNumbers>> = OnceLock::new();

/// Whether kernels run on a real GPU.
pub fn active() -> bool {
    chosen().is_some()
}

/// The GPU that kernels run on, if they do.
pub fn chosen() -> Option<&'static DeviceNumbers> {
    CHOICE.get_or_init(choose).as_ref()
}

fn choose() -> Option<DeviceNumbers> {
    let wish = std::env::var(DEVICE_VARIABLE).unwrap_or_default();
    let asked = wish.eq_ignore_ascii_case("gpu");
    if wish.eq_ignore_ascii_case("cpu") || (real().is_none() && !asked) {
        return None;
    }
    if !asked && !wish.is_empty() {
        message::note(&format!(
            "{DEVICE_VARIABLE}={wish} is neither `cpu` nor `gpu`; a GPU is used where there is one"
        ));
    }
    let cause = if real().is_none() {
        "this executable carries no GPU code: build it with `warpline cc --device=gpu`".to_owned()
    } else {
        match first_device(&DeviceNumbers::rtx_2080_ti()) {
            Ok(device) => return Some(device),
            Err(error) => error.to_string(),
        }
    };
    if asked {
        // Asked for by name: nothing else will do, and a program that went on would measure something else.
        message::note(&format!("{DEVICE_VARIABLE}=gpu: {cause}; without the variable the CPU device is used"));
        std::process::exit(125);
    }
    message::note(&format!("{cause}; kernels run on the CPU device"));
    None
}

/// A kernel in all forms.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// Index of its module in the runtime.
    pub module: usize,
    /// Index in the module's descriptor.
    pub index: usize,
    /// Stands for the form that sends records in calls of the real runtime.
    pub traced: usize,
    /// Stands for the form that counts.
    pub counted: usize,
    /// Stands for the module's finish kernel.
    pub finish: usize,
}

/// What the program registered.
#[derive(Debug, Default)]
pub struct Registry {
    /// By the handle that the program has: the real one, and the module and finish kernel where it is one of ours.
    pub handles: Vec<(usize, Option<(usize, usize)>)>,
    /// By host stub.
    pub kernels: HashMap<usize, Kernel>,
    /// Names of kernels that were compiled without Warpline, by host stub.
    pub foreign: HashMap<usize, String>,
    /// Variables of modules: host shadow, module, index of the global; until their address is known.
    pub variables: Vec<(usize, usize, usize)>,
    /// Layout of each module's count cells.
    pub layouts: HashMap<usize, Arc<CountLayout>>,
    /// Numbers of the streams in the trace.
    pub streams: HashMap<usize, u32>,
    /// What has been told already.
    pub told: HashSet<String>,
}

/// The registry.
pub fn registry() -> MutexGuard<'static, Registry> {
    static REGISTRY: LazyLock<Mutex<Registry>> = LazyLock::new(Mutex::default);
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A stream's number in the trace: 0 for the default ones, else in order of first use.
pub fn stream_number(handle: usize) -> u32 {
    // Null, `cudaStreamLegacy`, `cudaStreamPerThread`.
    if handle < 3 {
        return 0;
    }
    let mut registry = registry();
    let next = registry.streams.len() as u32 + 1;
    *registry.streams.entry(handle).or_insert(next)
}

/// Tells the user something once.
pub fn note_once(text: String) {
    let new = registry().told.insert(text.clone());
    if new {
        message::note(&text);
    }
}

/// The process's trace.
struct ProcessTrace;

impl Output for ProcessTrace {
    fn batch(&self, launch: LaunchId, items: &[u8]) {
        if let Some(mut runtime) = crate::runtime::lock() {
            runtime.trace.batch(launch, items);
        }
    }

    fn event(&self, event: Event) {
        if let Some(mut runtime) = crate::runtime::lock() {
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

/// The GPU that the calling thread uses, set up at its first launch.
pub fn current(real: &Real) -> Result<Arc<Gpu>, Error> {
    static GPUS: LazyLock<Mutex<HashMap<c_int, Arc<Gpu>>>> = LazyLock::new(Mutex::default);
    let mut number = 0;
    // SAFETY: a result through a pointer to a local; so for all calls of this file.
    succeed(unsafe { (real.get_device)(&raw mut number) })?;
    let mut gpus = GPUS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(gpu) = gpus.get(&number) {
        return Ok(gpu.clone());
    }
    let gpu = Arc::new(Gpu::new(real, number)?);
    if gpus.is_empty() {
        // Registered behind the CUDA runtime's own, and so called before it shuts down.
        // SAFETY: a function without arguments.
        unsafe { libc::atexit(at_exit) };
    }
    gpus.insert(number, gpu.clone());
    SESSIONS.lock().unwrap_or_else(PoisonError::into_inner).push(gpu.session.clone());
    Ok(gpu)
}

static SESSIONS: Mutex<Vec<Arc<Session>>> = Mutex::new(Vec::new());

fn sessions() -> Vec<Arc<Session>> {
    SESSIONS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Waits until every launch is over and in the trace.
pub fn settle() {
    for session in sessions() {
        session.settle();
    }
}

/// Looks at a code that the real runtime returned: after some nothing more comes from the device.
pub fn returned(code: Error) -> Error {
    // Errors that leave the context unusable (driver_types.h), but for the launch time-out of a display GPU.
    if matches!(code, 700 | 702 | 710 | 714..=719) {
        for session in sessions() {
            session.fail(code);
            session.settle();
        }
    }
    code
}

extern "C" fn at_exit() {
    if let Some(real) = real() {
        // SAFETY: no arguments.
        returned(unsafe { (real.synchronise)() });
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

    /// The memory of a slot, with room for `cells` count cells per SM.
    pub fn slot_memory(&self, real: &Real, slot: u32, cells: u64) -> Result<SlotMemory, Error> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let memory = &mut slots[slot as usize];
        if memory.ticket == 0 || memory.cells < cells {
            // Grown in powers of two; the slot is free, so nobody uses the old ones, which are few and stay.
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

    /// The four parameters of a hooked launch.
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

/// Enters an allocation for the translation of addresses.
pub fn know(device: u64, bytes: u64, synthetic: u64) {
    ADDRESSES.insert(Range { device, bytes, synthetic });
}
