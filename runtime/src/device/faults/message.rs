//! The text of a fault report, in the style of a memory checker.

use super::access::Access;
use super::base;
use crate::device::execution::warp::Warp;
use crate::memory::registry::{Live, Near, Registry};
use crate::memory::windows::{Region, region};
use std::fmt::Write;
use warpline_format::abi::SiteRange;
use warpline_format::access::LANES;
use warpline_format::event::{Fault, FaultKind};
use warpline_format::rendezvous::Rendezvous;
use warpline_format::site_table::{Op, SiteTable};

/// cudaMalloc allocates memory in units of this number of bytes. A GPU tolerates accesses after an allocation's end up
/// to the end of the last unit.
const PADDING: u64 = 512;

/// Reports a bad access.
///
/// # Safety
/// `warp` is the running one.
pub unsafe fn access(
    warp: *mut Warp,
    lane: usize,
    kind: FaultKind,
    access: &Access,
    variable: &SiteRange,
    outcome: Outcome,
) {
    // SAFETY: by the contract.
    let (module, registry) = unsafe {
        let running = &*(*warp).running;
        (&*running.module, &(*running.memory).registry)
    };
    let address = access.addresses[lane];
    let op = match module.table.sites.get(access.site as usize).map(|site| site.op) {
        Some(Op::Load) => "read",
        Some(Op::Store) => "write",
        Some(Op::Atomic) => "atomic operation",
        None => "access",
    };
    let what = match kind {
        FaultKind::Misaligned => format!("Misaligned {op} of {} bytes", access.bytes),
        FaultKind::SharedOutOfBounds => format!("Invalid shared memory {op} of {} bytes", access.bytes),
        // The analysis finds these.
        FaultKind::SharedVariable | FaultKind::Member => {
            format!("Invalid shared memory {op} of {} bytes", access.bytes)
        }
        FaultKind::LocalOutOfBounds => format!("Invalid local memory {op} of {} bytes", access.bytes),
        FaultKind::Freed => format!("Invalid {op} of {} bytes in freed memory", access.bytes),
        _ => format!("Invalid {op} of {} bytes", access.bytes),
    };
    let mut text = what;
    // SAFETY: by the contract.
    unsafe { place(&mut text, warp, lane) };
    source(&mut text, &module.table, access.site);
    // SAFETY: by the contract.
    let (shared, shared_bytes) = unsafe { ((*warp).context.shared as u64, (*warp).context.shared_bytes) };
    match kind {
        FaultKind::Misaligned if outcome == Outcome::Aligned && region(address) != Region::Local => {
            let _ = write!(text, "\n    offset {address} of the thread's stack is not a multiple of {}", access.align);
        }
        FaultKind::Misaligned => {
            let _ = write!(text, "\n    address {address:#x} is not a multiple of {}", access.align);
        }
        FaultKind::SharedOutOfBounds => {
            text.push_str(&shared_place(address.wrapping_sub(shared) as i64, shared_bytes));
        }
        FaultKind::LocalOutOfBounds if region(address) == Region::Local => {
            let _ = write!(text, "\n    address {address:#x} is outside the stacks of all threads");
        }
        FaultKind::LocalOutOfBounds => {
            // SAFETY: by the contract.
            let used = unsafe { (*warp).context.local_used };
            text.push_str(&local_place(address as i64, variable, used));
        }
        _ => {
            // SAFETY: by the contract.
            let meant = unsafe { base::meant(&*(*warp).running, registry, access.site, address) };
            neighbourhood(&mut text, registry, meant, address, u64::from(access.bytes));
        }
    }
    text.push_str(how_on(outcome));
    crate::output::message::note(&text);
}

/// Describes the position of an offset outside the block's shared memory.
fn shared_place(offset: i64, bytes: u64) -> String {
    /// If the distance is larger than this, the value is not an offset but some other address.
    const FAR: u64 = 1 << 40;
    let memory = format!("the block's {bytes} bytes of shared memory");
    match offset {
        _ if offset.unsigned_abs() >= FAR => format!("\n    the address is not in {memory}, nor near it"),
        ..0 => format!("\n    offset {offset}: {} bytes before the start of {memory}", offset.unsigned_abs()),
        _ => format!("\n    offset {offset} of {memory}"),
    }
}

/// Describes the position of an offset in a thread's stack that is outside its variable, or outside the part in use
/// (`used` bytes).
fn local_place(offset: i64, variable: &SiteRange, used: u64) -> String {
    let (low, bytes) = (variable.low as i64, variable.high - variable.low + 1);
    let what = if low == 0 && bytes >= used { "the thread's local memory" } else { "a local variable" };
    let from_start = offset.wrapping_sub(low);
    match from_start {
        ..0 => format!("\n    {} bytes before the start of {what} of {bytes} bytes", from_start.unsigned_abs()),
        _ => format!("\n    offset {from_start} of {what} of {bytes} bytes"),
    }
}

/// Reports a warp that waits forever at a barrier at which `arrived` warps have arrived.
///
/// # Safety
/// `warp` belongs to the running launch.
pub unsafe fn never_opens(warp: *mut Warp, meeting: Rendezvous, arrived: u32) {
    // SAFETY: by the contract.
    let (live, threads) = unsafe {
        let [x, y, z] = (*warp).context.block_dim;
        ((*warp).context.live, x * y * z)
    };
    let wanted = if meeting.warps == 0 { threads } else { meeting.warps * LANES as u32 };
    let text = format!(
        "Barrier {} never opens: it is for {wanted} threads, of which {} have arrived, and no other warp can go on (a GPU would \
         hang)",
        meeting.number,
        arrived * LANES as u32
    );
    // SAFETY: by the contract.
    unsafe { pointer(warp, live.trailing_zeros() as usize & 31, &text) };
}

/// Reports a bad pointer in an operation that is not a memory access.
///
/// # Safety
/// `warp` is the running one.
pub unsafe fn pointer(warp: *mut Warp, lane: usize, what: &str) {
    let mut text = what.to_owned();
    // SAFETY: by the contract.
    unsafe { place(&mut text, warp, lane) };
    crate::output::message::note(&text);
}

/// Reports a texture fetch or surface access that cannot be performed.
///
/// # Safety
/// `warp` is the running one.
pub unsafe fn at_site(warp: *mut Warp, lane: usize, what: &str, site: u32, stopped: bool) {
    let mut text = what.to_owned();
    // SAFETY: by the contract.
    unsafe {
        place(&mut text, warp, lane);
        source(&mut text, &(*(*(*warp).running).module).table, site);
    }
    text.push_str(how_on(if stopped { Outcome::Stopped } else { Outcome::LeftOut }));
    crate::output::message::note(&text);
}

/// Reports that a lane's stack is full: `limit` bytes were not enough.
///
/// # Safety
/// `warp` is the running one.
pub unsafe fn stack_overflow(warp: *mut Warp, limit: u64) {
    let what = format!(
        "Stack overflow in device code: {limit} bytes per thread are not enough; \
         cudaDeviceSetLimit(cudaLimitStackSize, …) gives more"
    );
    // SAFETY: by the contract; a warp that runs has a live lane.
    unsafe { pointer(warp, ((*warp).context.live.trailing_zeros() & 31) as usize, &what) }
}

/// The consequence of a fault for the access and its kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The kernel ended.
    Stopped,
    /// The affected lanes skipped the access.
    LeftOut,
    /// The access was performed, as on a GPU.
    Passed,
    /// The access was performed on a local variable that is less aligned than the access requires.
    Aligned,
}

fn how_on(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Stopped => "\n    The kernel was stopped. To go on past bad accesses: warpline run --check report",
        Outcome::LeftOut => {
            "\n    The lanes concerned did not perform it. Further faults of this line are not reported."
        }
        Outcome::Passed => {
            "\n    The read was done and gave what lies there; `warpline run --check stop` ends the kernel instead."
        }
        Outcome::Aligned => {
            "\n    The access was carried out: it is to a local variable, which nvcc aligns or keeps in registers. \
             Declare the variable with __align__."
        }
    }
}

/// Appends the kernel, block and thread.
///
/// # Safety
/// `warp` is the running one.
unsafe fn place(text: &mut String, warp: *mut Warp, lane: usize) {
    // SAFETY: by the contract.
    unsafe {
        let running = &*(*warp).running;
        let context = &(*warp).context;
        let [x, y, z] = context.block_index;
        let thread = [&context.thread_x, &context.thread_y, &context.thread_z].map(|axis| axis.0[lane]);
        let _ = write!(
            text,
            "\n    in {}, block ({x},{y},{z}), thread ({},{},{}), launch {}",
            (*running.module).kernel_name(running.kernel),
            thread[0],
            thread[1],
            thread[2],
            running.launch,
        );
    }
}

/// Appends the site's source position: the line in the user's source, and the chain of inlined calls.
fn source(text: &mut String, table: &SiteTable, site: u32) {
    let Some(site) = table.sites.get(site as usize) else { return };
    let frames = site.chain.iter().filter_map(|&frame| table.frames.get(frame as usize));
    let system = |frame: &&warpline_format::site_table::Frame| {
        frame.line == 0 || table.files.get(frame.file as usize).is_none_or(|file| file.system)
    };
    let mut shown = false;
    for frame in frames.skip_while(system) {
        let path = table.files.get(frame.file as usize).map_or("?", |file| file.path.as_str());
        let how = if shown { "inlined at" } else { "at" };
        let _ = write!(text, "\n    {how} {path}:{}:{} in {}", frame.line, frame.column, frame.function);
        shown = true;
    }
    if !shown {
        text.push_str("\n    at an unknown source line");
    }
}

/// Appends the position of the address among the allocations. If `meant` is set, the position is relative to the array
/// that the address was intended for.
pub fn neighbourhood(text: &mut String, registry: &Registry, meant: Option<Near<'_>>, address: u64, bytes: u64) {
    let size = |live: &Live| format!("{} ({} bytes)", live.label(), live.bytes);
    if let Some(live) = registry.find(address) {
        let left = live.bytes - (address - live.start());
        let _ = write!(
            text,
            "\n    address {address:#x} is {left} bytes before the end of {}: the access is longer",
            size(live)
        );
        padding(text, registry, live, address, bytes);
    } else if let Some(old) = registry.find_freed(address) {
        let _ = write!(text, "\n    address {address:#x} is {} bytes into {}", address - old.start(), size(old));
        text.push_str(", which was freed");
    } else if address < Fault::NULL_PAGE {
        let _ = write!(text, "\n    address {address:#x}: a null pointer");
    } else if let Some(near) = meant.filter(|_| region(address) != Region::Device) {
        // The array's address is a host address, which has no meaning for the user.
        let side = if near.offset < 0 { "before the start" } else { "past the end" };
        let _ = write!(text, "\n    {} bytes {side} of {}", near.offset.unsigned_abs(), size(near.allocation));
        text.push_str(&element(near.allocation, address));
    } else if region(address) != Region::Device {
        let _ = write!(text, "\n    address {address:#x} is ordinary host memory, which a kernel cannot reach");
    } else if let Some(near) = registry.nearest(address) {
        let side = if near.offset < 0 { "before the start" } else { "past the end" };
        let _ = write!(
            text,
            "\n    address {address:#x} is {} bytes {side} of {}",
            near.offset.unsigned_abs(),
            size(near.allocation)
        );
        padding(text, registry, near.allocation, address, bytes);
    } else {
        let _ = write!(text, "\n    address {address:#x}: there is no allocation");
    }
}

/// Names the element of an array that an address would belong to.
fn element(live: &Live, address: u64) -> String {
    let Some(elements) = &live.elements else { return String::new() };
    let from_first = address.wrapping_sub(live.start() + elements.offset) as i64;
    let number = from_first.div_euclid(i64::from(elements.bytes.max(1)));
    format!(": element {number} of {}, counted from 0", elements.shape)
}

/// Adds a note if a GPU would tolerate the access.
fn padding(text: &mut String, registry: &Registry, live: &Live, address: u64, bytes: u64) {
    let padded = live.bytes.next_multiple_of(PADDING);
    if !(address >= live.start() && address - live.start() + bytes <= padded) {
        if registry.tolerates(address, bytes) {
            text.push_str(
                "\n    A GPU would hardly notice a read there: it maps memory in pages of 2 MiB. The access is wrong all the same.",
            );
        }
    } else {
        let _ = write!(
            text,
            "\n    A GPU would not notice: it pads the allocation to {padded} bytes. \
             The access is wrong all the same."
        );
    }
}
