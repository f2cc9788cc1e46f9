//! What the user reads about a fault, in the manner of a memory checker.

use super::check::Access;
use crate::execution::warp::Warp;
use crate::memory::registry::{Live, Registry};
use crate::memory::windows::{Region, region};
use std::fmt::Write;
use warpline_format::event::{Fault, FaultKind};
use warpline_format::site_table::{Op, SiteTable};

/// cudaMalloc gives out memory in units of this many bytes; behind an allocation's end a GPU
/// tolerates accesses up to there.
const PADDING: u64 = 512;

/// Tells of a bad access.
///
/// # Safety
/// `warp` is the running one.
pub unsafe fn access(warp: *mut Warp, lane: usize, kind: FaultKind, access: &Access, stopped: bool) {
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
        FaultKind::Misaligned => {
            let _ = write!(text, "\n    address {address:#x} is not a multiple of {}", access.align);
        }
        FaultKind::SharedOutOfBounds => {
            let offset = if region(address) == Region::Shared { address.wrapping_sub(shared) } else { address };
            let _ = write!(text, "\n    offset {offset} of the block's {shared_bytes} bytes of shared memory");
        }
        _ => neighbourhood(&mut text, registry, address, u64::from(access.bytes)),
    }
    text.push_str(how_on(stopped));
    crate::message::note(&text);
}

/// Tells of a bad pointer that is not a memory access.
///
/// # Safety
/// `warp` is the running one.
pub unsafe fn pointer(warp: *mut Warp, lane: usize, what: &str) {
    let mut text = what.to_owned();
    // SAFETY: by the contract.
    unsafe { place(&mut text, warp, lane) };
    crate::message::note(&text);
}

/// Tells of a texture fetch or surface access that cannot be done.
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
    text.push_str(how_on(stopped));
    crate::message::note(&text);
}

/// A lane's stack is full: `limit` bytes were not enough.
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

/// What became of the kernel.
fn how_on(stopped: bool) -> &'static str {
    if stopped {
        "\n    The kernel was stopped. To go on past bad accesses: warpline run --check report"
    } else {
        "\n    The lanes concerned did not perform it; further ones at this place are not told."
    }
}

/// Kernel, block and thread.
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

/// The site's source position: the user's line, and what was inlined on the way.
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

/// Where the address lies among the allocations.
pub fn neighbourhood(text: &mut String, registry: &Registry, address: u64, bytes: u64) {
    let size = |live: &Live| format!("{} ({} bytes)", live.label(), live.bytes);
    if let Some(live) = registry.find(address) {
        let left = live.bytes - (address - live.start());
        let _ = write!(
            text,
            "\n    address {address:#x} is {left} bytes before the end of {}: the access is longer",
            size(live)
        );
        padding(text, live, address, bytes);
    } else if let Some(old) = registry.find_freed(address) {
        let _ = write!(text, "\n    address {address:#x} is {} bytes into {}", address - old.start(), size(old));
        text.push_str(", which was freed");
    } else if address < Fault::NULL_PAGE {
        let _ = write!(text, "\n    address {address:#x}: a null pointer");
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
        padding(text, near.allocation, address, bytes);
    } else {
        let _ = write!(text, "\n    address {address:#x}: there is no allocation");
    }
}

/// Says so where a GPU would have tolerated the access.
fn padding(text: &mut String, live: &Live, address: u64, bytes: u64) {
    let padded = live.bytes.next_multiple_of(PADDING);
    if address >= live.start() && address - live.start() + bytes <= padded {
        let _ = write!(
            text,
            "\n    A GPU would not notice: it pads the allocation to {padded} bytes. \
             The access is wrong all the same."
        );
    }
}
