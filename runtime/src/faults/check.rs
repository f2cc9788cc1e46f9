//! Slow path of the access check.

use super::message;
use crate::execution::warp::{Stop, Warp};
use crate::memory::windows::{Region, region};
use warpline_format::abi::{SiteRange, windows};
use warpline_format::access::{LANES, Space};
use warpline_format::event::{Fault, FaultKind};
use warpline_format::options::Check;

/// The access that did not fit its site's range.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// Site.
    pub site: u32,
    /// Space as the compiler knew it.
    pub space: u32,
    /// Active lanes.
    pub mask: u32,
    /// Their addresses.
    pub addresses: &'a [u64; LANES],
    /// Bytes per lane.
    pub bytes: u32,
    /// Alignment it needs.
    pub align: u32,
}

/// Checks each lane; returns those that may go on, or why the kernel stops.
///
/// # Safety
/// `warp` is the running one; `range` belongs to the site.
pub unsafe fn check(warp: *mut Warp, range: *mut SiteRange, access: Access) -> Result<u32, Stop> {
    // SAFETY: by the contract; the memory's registry is changed by nobody while the kernel runs but
    // by the device heap, on this very thread.
    let (running, registry) = unsafe { (&mut *(*warp).running, &(*(*(*warp).running).memory).registry) };
    let shared_site = access.space == Space::Shared as u32;
    // SAFETY: by the contract.
    let (shared, shared_bytes) = unsafe { ((*warp).context.shared as u64, (*warp).context.shared_bytes) };
    let mut good = 0;
    let mut bad: Option<(usize, FaultKind)> = None;
    let mut last = None;
    // A range that is good for this launch only.
    let mut passing = None;
    for lane in 0..LANES {
        if access.mask >> lane & 1 == 0 {
            continue;
        }
        let address = access.addresses[lane];
        let bytes = u64::from(access.bytes.max(1));
        let kind = if access.align > 1 && !address.is_multiple_of(u64::from(access.align)) {
            Some(FaultKind::Misaligned)
        } else if running.check == Check::Off {
            None
        } else if shared_site || region(address) == Region::Shared {
            let offset = if region(address) == Region::Shared { address.wrapping_sub(shared) } else { address };
            let fits = offset.checked_add(bytes).is_some_and(|end| end <= shared_bytes);
            passing = (fits && !shared_site).then_some(SiteRange { low: shared, high: shared + shared_bytes - 1 });
            (!fits).then_some(FaultKind::SharedOutOfBounds)
        } else if region(address) == Region::Local {
            passing = Some(SiteRange { low: windows::LOCAL, high: windows::LOCAL + windows::LOCAL_BYTES - 1 });
            None
        } else if region(address) == Region::Arguments {
            passing =
                Some(SiteRange { low: windows::ARGUMENTS, high: windows::ARGUMENTS + windows::ARGUMENTS_BYTES - 1 });
            None
        } else if running.parameters.contains(&address) {
            let found = SiteRange { low: running.parameters.start, high: running.parameters.end - 1 };
            passing = Some(found);
            (!inside(&found, address, bytes)).then_some(FaultKind::OutOfBounds)
        } else {
            match last.filter(|range: &SiteRange| inside(range, address, bytes)) {
                Some(_) => None,
                None => match registry.find(address) {
                    Some(live) => {
                        let found = SiteRange { low: live.start(), high: live.start() + live.bytes - 1 };
                        last = Some(found);
                        (!inside(&found, address, bytes)).then_some(FaultKind::OutOfBounds)
                    }
                    None if registry.find_freed(address).is_some() => Some(FaultKind::Freed),
                    None => Some(FaultKind::OutOfBounds),
                },
            }
        };
        match kind {
            None => good |= 1 << lane,
            Some(kind) => {
                bad.get_or_insert((lane, kind));
            }
        }
    }
    if let Some(new) = last.or(passing).filter(|_| !shared_site) {
        // SAFETY: by the contract; the module belongs to the launch.
        unsafe {
            range.write(new);
            (*running.module).passing |= last.is_none();
        }
    }
    let Some((lane, kind)) = bad else { return Ok(good) };
    let stops = running.check == Check::Stop || (running.check == Check::Off && kind == FaultKind::Misaligned);
    if running.told.insert(access.site) {
        // SAFETY: by the contract.
        unsafe { tell(warp, lane, kind, &access, stops) };
    }
    match (stops, kind) {
        (false, _) => Ok(good),
        (true, FaultKind::Misaligned) => Err(Stop::Misaligned),
        (true, _) => Err(Stop::IllegalAddress),
    }
}

fn inside(range: &SiteRange, address: u64, bytes: u64) -> bool {
    address >= range.low && address <= range.high && range.high - address >= bytes - 1
}

/// Tells the user and the trace of a fault.
///
/// # Safety
/// As for [`check`].
unsafe fn tell(warp: *mut Warp, lane: usize, kind: FaultKind, access: &Access, stopped: bool) {
    // SAFETY: by the contract.
    unsafe {
        message::access(warp, lane, kind, access, stopped);
        note(warp, lane, kind, access.site, access.addresses[lane], stopped);
    }
}

/// Enters a fault for the trace.
///
/// # Safety
/// `warp` is the running one.
pub unsafe fn note(warp: *mut Warp, lane: usize, kind: FaultKind, site: u32, address: u64, stopped: bool) {
    // SAFETY: by the contract.
    unsafe {
        let running = &mut *(*warp).running;
        let registry = &(*running.memory).registry;
        // Host addresses differ from run to run and stay out of the trace.
        let known = match region(address) {
            Region::Host if address < Fault::NULL_PAGE => address,
            Region::Host => {
                registry.find(address).map_or(Fault::HOST_MEMORY, |live| live.address + (address - live.start()))
            }
            Region::Shared => address - (*warp).context.shared as u64,
            _ => address,
        };
        let nearest = if kind == FaultKind::Freed {
            registry.find_freed(address).map(|old| old.id)
        } else if region(address) == Region::Device {
            registry.find(address).or_else(|| registry.nearest(address).map(|near| near.allocation)).map(|live| live.id)
        } else {
            None
        };
        running.faults.push(Fault {
            launch: running.launch,
            site,
            kind,
            block: (*warp).context.block,
            thread: (*warp).context.warp * LANES as u32 + lane as u32,
            address: known,
            nearest,
            stopped,
        });
    }
}

/// A device-side `free` of what the heap did not give.
///
/// # Safety
/// `warp` is the running one.
pub unsafe fn bad_free(warp: *mut Warp, lane: usize, address: u64) {
    // SAFETY: by the contract.
    unsafe {
        message::pointer(warp, lane, &format!("Device-side free of {address:#x}, which is no live device-side malloc"));
        note(warp, lane, FaultKind::OutOfBounds, u32::MAX, address, true);
    }
}

/// A call through a pointer that leads to no device function.
///
/// # Safety
/// `warp` is the running one.
pub unsafe fn bad_call(warp: *mut Warp, lane: usize, target: u64) {
    // SAFETY: by the contract.
    unsafe {
        message::pointer(warp, lane, &format!("Call through a pointer that is no device function ({target:#x})"));
    }
}
