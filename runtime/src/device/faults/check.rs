//! Slow path of the access check.

use super::access::Access;
use super::base;
use super::message;
use crate::device::execution::lanes::lanes;
use crate::device::execution::warp::{Running, Stop, Warp};
use crate::memory::registry::Registry;
use crate::memory::windows::{Region, region};
use std::ops::Range;
use warpline_format::abi::{SiteRange, reserved_shared, windows};
use warpline_format::access::{LANES, Space};
use warpline_format::event::{Fault, FaultKind};
use warpline_format::options::Check;
use warpline_format::site_table::{Op, Site};

/// Checks each lane. Returns the lanes that may continue, or the reason for which the kernel stops.
///
/// # Safety
/// `warp` is the running one; `range` belongs to the site.
pub unsafe fn check(warp: *mut Warp, range: *mut SiteRange, access: Access) -> Result<u32, Stop> {
    // SAFETY: by the contract; the memory's registry is not changed while the kernel runs, except
    // by the device heap, on this very thread.
    let (running, registry) = unsafe { (&mut *(*warp).running, &(*(*(*warp).running).memory).registry) };
    let shared_site = access.space == Space::Shared as u32;
    // SAFETY: by the contract.
    let (shared, shared_bytes) = unsafe { ((*warp).context.shared as u64, (*warp).context.shared_bytes) };
    // SAFETY: by the contract.
    let reserved = unsafe { u64::from((*warp).context.reserved_offset) };
    let reserved = reserved..reserved + reserved_shared::BYTES;
    let local_site = access.space == Space::Local as u32;
    // For a local access, lowered code provides the valid range.
    let variable = if local_site { unsafe { range.read() } } else { SiteRange { low: 0, high: 0 } };
    let mut good = 0;
    let mut bad: Option<(usize, FaultKind)> = None;
    let mut misaligned_local = None;
    let mut last = None;
    // A range that is valid only for this launch.
    let mut passing = None;
    let shared_range = SiteRange { low: shared, high: (shared + shared_bytes).saturating_sub(1) };
    let together = match running.check {
        Check::Off => None,
        _ => together(&access, running, registry, (shared_site, &shared_range)),
    };
    match together {
        Some(Together::Shared) => passing = (!shared_site).then_some(shared_range),
        Some(Together::Allocation(range)) => last = Some(range),
        None => {}
    }
    if together.is_some() {
        good = access.mask;
    }
    for lane in lanes(access.mask & !good) {
        let address = access.addresses[lane];
        let bytes = u64::from(access.bytes.max(1));
        // SAFETY: by the contract.
        let stack = unsafe { (*warp).context.local as u64 + lane as u64 * (*warp).context.local_stride };
        // If a local access leads to other memory, the address that it leads to.
        let place = if local_site { stack.wrapping_add(address) } else { address };
        let misaligned = access.align > 1 && !address.is_multiple_of(u64::from(access.align));
        let is_local = if local_site { !leads_elsewhere(running, place) } else { region(place) == Region::Local };
        if misaligned && is_local {
            misaligned_local.get_or_insert(lane);
        }
        let kind = if running.check == Check::Off {
            None
        } else if misaligned && !is_local {
            Some(FaultKind::Misaligned)
        } else if local_site && inside(&variable, address, bytes) {
            None
        } else if local_site && is_local {
            Some(FaultKind::LocalOutOfBounds)
        } else if shared_site || region(place) == Region::Shared {
            let offset = place.wrapping_sub(shared);
            let own = offset.checked_add(bytes).is_some_and(|end| end <= shared_bytes);
            // SAFETY: by the contract; a cluster outlives its warps.
            let cluster = unsafe { (*warp).cluster.as_ref() };
            let elsewhere = || cluster.is_some_and(|cluster| cluster.holds(place, bytes));
            let fits = own || is_reserved(running, &reserved, offset, bytes) || elsewhere();
            passing = (own && !shared_site).then_some(SiteRange { low: shared, high: shared + shared_bytes - 1 });
            (!fits).then_some(FaultKind::SharedOutOfBounds)
        } else if region(place) == Region::Local {
            let stacks = SiteRange { low: windows::LOCAL, high: running.stacks_end - 1 };
            let fits = inside(&stacks, place, bytes);
            passing = fits.then_some(stacks);
            (!fits).then_some(FaultKind::LocalOutOfBounds)
        } else if region(place) == Region::Arguments {
            passing =
                Some(SiteRange { low: windows::ARGUMENTS, high: windows::ARGUMENTS + windows::ARGUMENTS_BYTES - 1 });
            None
        } else if running.parameters.contains(&place) {
            let found = SiteRange { low: running.parameters.start, high: running.parameters.end - 1 };
            passing = Some(found);
            (!inside(&found, place, bytes)).then_some(FaultKind::OutOfBounds)
        } else {
            match last.filter(|range: &SiteRange| inside(range, place, bytes)) {
                Some(_) => None,
                None => match registry.find(place) {
                    Some(live) => {
                        let found = SiteRange { low: live.start(), high: live.start() + live.bytes - 1 };
                        last = Some(found);
                        (!inside(&found, place, bytes)).then_some(FaultKind::OutOfBounds)
                    }
                    None if registry.find_freed(place).is_some() => Some(FaultKind::Freed),
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
    // SAFETY: by the contract; the runtime's own, or null.
    let stops = unsafe { running.stops.as_mut() };
    let open = |new: &SiteRange| stops.as_ref().is_some_and(|stops| stops.keeps_open(access.site, new, registry));
    // If warps take turns, stores call this function each time, and loads call it again after the next store. SAFETY:
    // the contract guarantees it; the module belongs to the launch.
    let sites = unsafe { &(*running.module).table.sites };
    let keeps = !running.interleave || sites.get(access.site as usize).is_some_and(Site::is_plain_load);
    if running.interleave && running.check == Check::Off {
        passing = Some(SiteRange { low: 0, high: i64::MAX as u64 });
    }
    let kept = last.or(passing).filter(|_| !shared_site && !local_site && keeps);
    if let Some(new) = kept.filter(|new| !open(new)) {
        if running.interleave {
            running.open_ranges.push(range);
        }
        // SAFETY: by the contract; the module belongs to the launch.
        unsafe {
            range.write(new);
            (*running.module).passing |= last.is_none();
        }
    }
    if let Some(lane) = misaligned_local.filter(|_| bad.is_none() && running.check != Check::Off) {
        // SAFETY: by the contract.
        unsafe { remark(warp, lane, &access, &variable) };
    }
    let Some((lane, kind)) = bad else { return Ok(good) };
    if running.tolerant && kind == FaultKind::OutOfBounds {
        // SAFETY: by the contract.
        if let Some(lanes) = unsafe { tolerated(warp, lane, good, &access, &variable) } {
            return Ok(lanes);
        }
    }
    let stopped = running.check == Check::Stop;
    // SAFETY: by the contract; the module belongs to the launch.
    let module = unsafe { &mut *running.module };
    // A kernel that is stopped reports the reason each time.
    let is_reported = if stopped {
        running.reported.insert(access.site)
    } else {
        module.reported.is_first(access.site, &module.table)
    };
    if is_reported {
        // SAFETY: by the contract.
        unsafe {
            report(warp, lane, kind, &access, &variable, stopped);
            if let Some(stops) = stops {
                stops.at_fault(warp, &access, kind);
            }
        }
    }
    match (stopped, kind) {
        (false, _) => Ok(good),
        (true, FaultKind::Misaligned) => Err(Stop::Misaligned),
        (true, _) => Err(Stop::IllegalAddress),
    }
}

/// Returns whether all lanes of a read may perform it, in a program that was started without `warpline run`. This is
/// the case if the lanes that are out of bounds exceed them by no more than a GPU tolerates. Such a read is reported
/// once.
///
/// # Safety
/// The requirements of [`check`] apply.
unsafe fn tolerated(warp: *mut Warp, lane: usize, good: u32, access: &Access, variable: &SiteRange) -> Option<u32> {
    // SAFETY: by the contract.
    let (running, registry) = unsafe { (&mut *(*warp).running, &(*(*(*warp).running).memory).registry) };
    // SAFETY: by the contract; the module belongs to the launch.
    let module = unsafe { &mut *running.module };
    let op = module.table.sites.get(access.site as usize).map(|site| site.op);
    let passes = |lane: usize| {
        let address = access.addresses[lane];
        address.is_multiple_of(u64::from(access.align.max(1)))
            && registry.find_freed(address).is_none()
            && registry.tolerates(address, u64::from(access.bytes.max(1)))
    };
    let strays = access.mask & !good;
    if op != Some(Op::Load) || !lanes(strays).all(passes) {
        return None;
    }
    if module.reported.is_first(access.site, &module.table) {
        // SAFETY: by the contract.
        unsafe { message::access(warp, lane, FaultKind::OutOfBounds, access, variable, message::Outcome::Passed) };
    }
    Some(access.mask)
}

/// Reports, once per site, a misaligned access to a local variable. The access is performed, because nvcc aligns the
/// variable as its accesses require, or keeps it in registers.
///
/// # Safety
/// The requirements of [`check`] apply.
unsafe fn remark(warp: *mut Warp, lane: usize, access: &Access, variable: &SiteRange) {
    // SAFETY: by the contract; the module belongs to the launch.
    let module = unsafe { &mut *(*(*warp).running).module };
    if module.reported.is_first(access.site, &module.table) {
        // SAFETY: by the contract.
        unsafe {
            message::access(warp, lane, FaultKind::Misaligned, access, variable, message::Outcome::Aligned);
            note(warp, lane, FaultKind::Misaligned, access.site, access.addresses[lane], false);
        }
    }
}

/// Returns whether an access that seems to be local is to a structure that a function takes by value. The compiler may
/// leave such a structure in the kernel's parameters or in a constant.
fn leads_elsewhere(running: &Running, address: u64) -> bool {
    running.parameters.contains(&address) || region(address) == Region::Device
}

/// Returns whether an access is in the reserved shared memory of a kernel that reads its position.
fn is_reserved(running: &Running, reserved: &Range<u64>, offset: u64, bytes: u64) -> bool {
    running.reserved_shared
        && offset >= reserved.start
        && offset.checked_add(bytes).is_some_and(|end| end <= reserved.end)
}

/// The memory that all lanes of an access touch.
#[derive(Clone, Copy)]
enum Together {
    /// The block's shared memory.
    Shared,
    /// An allocation.
    Allocation(SiteRange),
}

/// Returns the memory that all lanes of an access touch, aligned, if the lowest and the highest address are enough to
/// determine it. This is the usual case, in which the lanes need not be checked one by one.
fn together(
    access: &Access,
    running: &Running,
    registry: &Registry,
    (shared_site, shared): (bool, &SiteRange),
) -> Option<Together> {
    if access.space == Space::Local as u32 || access.mask == 0 {
        return None;
    }
    let (mut low, mut high, mut bits) = (u64::MAX, 0, 0);
    for lane in lanes(access.mask) {
        let address = access.addresses[lane];
        (low, high, bits) = (low.min(address), high.max(address), bits | address);
    }
    if access.align > 1 && !(access.align.is_power_of_two() && bits & u64::from(access.align - 1) == 0) {
        return None;
    }
    let last = high.checked_add(u64::from(access.bytes.max(1)) - 1)?;
    let is_within = |range: &SiteRange| range.low <= low && last <= range.high;
    match region(low) {
        Region::Shared => is_within(shared).then_some(Together::Shared),
        Region::Local | Region::Arguments => None,
        _ if shared_site || running.parameters.start <= last && low < running.parameters.end => None,
        _ => {
            let live = registry.find(low)?;
            let range = SiteRange { low: live.start(), high: live.start() + live.bytes - 1 };
            is_within(&range).then_some(Together::Allocation(range))
        }
    }
}

fn inside(range: &SiteRange, address: u64, bytes: u64) -> bool {
    address >= range.low && address <= range.high && range.high - address >= bytes - 1
}

/// Reports a fault to the user and the trace.
///
/// # Safety
/// The requirements of [`check`] apply.
unsafe fn report(warp: *mut Warp, lane: usize, kind: FaultKind, access: &Access, variable: &SiteRange, stopped: bool) {
    // SAFETY: by the contract.
    unsafe {
        let outcome = if stopped { message::Outcome::Stopped } else { message::Outcome::LeftOut };
        message::access(warp, lane, kind, access, variable, outcome);
        note(warp, lane, kind, access.site, access.addresses[lane], stopped);
    }
}

/// Adds a fault to the trace.
///
/// # Safety
/// `warp` is the running one.
pub unsafe fn note(warp: *mut Warp, lane: usize, kind: FaultKind, site: u32, address: u64, stopped: bool) {
    // SAFETY: by the contract.
    unsafe {
        let running = &mut *(*warp).running;
        let registry = &(*running.memory).registry;
        let meant = base::meant(running, registry, site, address).map(|near| near.allocation);
        // Host addresses differ between runs, so the trace does not contain them.
        let known = match region(address) {
            // Offsets in the block's shared memory may be negative; offsets of local accesses are relative to the
            // lane's stack.
            _ if kind == FaultKind::SharedOutOfBounds => address.wrapping_sub((*warp).context.shared as u64),
            _ if kind == FaultKind::LocalOutOfBounds => address,
            Region::Host if address < Fault::NULL_PAGE => address,
            Region::Host => {
                let known = registry.find(address).or(meant);
                known.map_or(Fault::HOST_MEMORY, |live| live.address.wrapping_add(address.wrapping_sub(live.start())))
            }
            Region::Shared => address - (*warp).context.shared as u64,
            _ => address,
        };
        let nearest = if matches!(kind, FaultKind::SharedOutOfBounds | FaultKind::LocalOutOfBounds) {
            None
        } else if kind == FaultKind::Freed {
            registry.find_freed(address).map(|old| old.id)
        } else if region(address) == Region::Device {
            registry.find(address).or_else(|| registry.nearest(address).map(|near| near.allocation)).map(|live| live.id)
        } else {
            registry.find(address).or(meant).map(|live| live.id)
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

/// Reports a device-side `free` of an address that the device heap did not return.
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

/// Reports a call through a pointer that does not refer to a device function.
///
/// # Safety
/// `warp` is the running one.
pub unsafe fn bad_call(warp: *mut Warp, lane: usize, target: u64) {
    // SAFETY: by the contract.
    unsafe {
        message::pointer(warp, lane, &format!("Call through a pointer that is no device function ({target:#x})"));
    }
}
