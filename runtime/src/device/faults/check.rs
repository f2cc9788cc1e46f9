//! Slow path of the access check.

use super::access::Access;
use super::base;
use super::message;
use crate::device::execution::cluster::Cluster;
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
    // SAFETY: by the contract.
    let judge = unsafe { Judge::new(warp, range, &access, running, registry) };
    let judged = judge.judge_all();
    let variable = judge.variable;
    // SAFETY: by the contract.
    unsafe { keep_range(running, registry, range, &access, &judged) };
    if let Some(lane) = judged.misaligned_local.filter(|_| judged.bad.is_none() && running.check != Check::Off) {
        // SAFETY: by the contract.
        unsafe { remark(warp, lane, &access, &variable) };
    }
    let Some((lane, kind)) = judged.bad else { return Ok(judged.good) };
    if running.tolerant && kind == FaultKind::OutOfBounds {
        // SAFETY: by the contract.
        if let Some(lanes) = unsafe { tolerated(warp, lane, judged.good, &access, &variable) } {
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
        // SAFETY: by the contract; the accesses at which the program stops are the runtime's own, or null.
        unsafe {
            report(warp, lane, kind, &access, &variable, stopped);
            if let Some(stops) = running.stops.as_mut() {
                stops.at_fault(warp, &access, kind);
            }
        }
    }
    match (stopped, kind) {
        (false, _) => Ok(judged.good),
        (true, FaultKind::Misaligned) => Err(Stop::Misaligned),
        (true, _) => Err(Stop::IllegalAddress),
    }
}

/// The result of the check of an access.
#[derive(Default)]
struct Judged {
    /// The lanes that may continue.
    good: u32,
    /// The first lane that may not, and the reason.
    bad: Option<(usize, FaultKind)>,
    /// The first lane with a misaligned access to a local variable.
    misaligned_local: Option<usize>,
    /// The live allocation of the last lane that accessed one.
    last: Option<SiteRange>,
    /// A range that is valid only for this launch.
    passing: Option<SiteRange>,
}

/// What decides whether the lanes of an access may continue.
struct Judge<'a> {
    access: &'a Access<'a>,
    running: &'a Running,
    registry: &'a Registry,
    /// The cluster of the block, if it has one.
    cluster: Option<&'a Cluster>,
    /// The block's shared memory.
    shared: SiteRange,
    /// The offsets of the reserved shared memory.
    reserved: Range<u64>,
    /// For a local access, the valid range, which lowered code provides.
    variable: SiteRange,
    is_shared: bool,
    is_local: bool,
    /// The stack of lane 0, and the distance of the lanes' stacks.
    stacks: [u64; 2],
}

impl<'a> Judge<'a> {
    /// # Safety
    /// The requirements of [`check`] apply.
    unsafe fn new(
        warp: *mut Warp,
        range: *mut SiteRange,
        access: &'a Access<'a>,
        running: &'a Running,
        registry: &'a Registry,
    ) -> Judge<'a> {
        let is_local = access.space == Space::Local as u32;
        // SAFETY: by the contract; a cluster outlives its warps.
        unsafe {
            let context = &(*warp).context;
            let (shared, reserved) = (context.shared as u64, u64::from(context.reserved_offset));
            Judge {
                access,
                running,
                registry,
                cluster: (*warp).cluster.as_ref(),
                shared: SiteRange { low: shared, high: (shared + context.shared_bytes).saturating_sub(1) },
                reserved: reserved..reserved + reserved_shared::BYTES,
                variable: if is_local { range.read() } else { SiteRange { low: 0, high: 0 } },
                is_shared: access.space == Space::Shared as u32,
                is_local,
                stacks: [context.local as u64, context.local_stride],
            }
        }
    }

    fn judge_all(&self) -> Judged {
        let mut judged = Judged::default();
        let together = match self.running.check {
            Check::Off => None,
            _ => together(self.access, self.running, self.registry, (self.is_shared, &self.shared)),
        };
        match together {
            Some(Together::Shared) => judged.passing = (!self.is_shared).then_some(self.shared),
            Some(Together::Allocation(range)) => judged.last = Some(range),
            None => {}
        }
        if together.is_some() {
            judged.good = self.access.mask;
        }
        for lane in lanes(self.access.mask & !judged.good) {
            match self.judge(lane, &mut judged) {
                None => judged.good |= 1 << lane,
                Some(kind) => {
                    judged.bad.get_or_insert((lane, kind));
                }
            }
        }
        judged
    }

    /// Returns the fault of a lane, if it has one.
    fn judge(&self, lane: usize, judged: &mut Judged) -> Option<FaultKind> {
        let (access, running) = (self.access, self.running);
        let address = access.addresses[lane];
        let bytes = u64::from(access.bytes.max(1));
        let stack = self.stacks[0] + lane as u64 * self.stacks[1];
        // If a local access leads to other memory, the address that it leads to.
        let place = if self.is_local { stack.wrapping_add(address) } else { address };
        let misaligned = access.align > 1 && !address.is_multiple_of(u64::from(access.align));
        let is_local = if self.is_local { !leads_elsewhere(running, place) } else { region(place) == Region::Local };
        if misaligned && is_local {
            judged.misaligned_local.get_or_insert(lane);
        }
        if running.check == Check::Off {
            return None;
        }
        if misaligned && !is_local {
            return Some(FaultKind::Misaligned);
        }
        if self.is_local && inside(&self.variable, address, bytes) {
            return None;
        }
        if self.is_local && is_local {
            return Some(FaultKind::LocalOutOfBounds);
        }
        if self.is_shared || region(place) == Region::Shared {
            return self.judge_shared(place, bytes, judged);
        }
        self.judge_place(place, bytes, judged)
    }

    fn judge_shared(&self, place: u64, bytes: u64, judged: &mut Judged) -> Option<FaultKind> {
        let offset = place.wrapping_sub(self.shared.low);
        let own = inside(&self.shared, place, bytes);
        let elsewhere = || self.cluster.is_some_and(|cluster| cluster.holds(place, bytes));
        let fits = own || is_reserved(self.running, &self.reserved, offset, bytes) || elsewhere();
        judged.passing = (own && !self.is_shared).then_some(self.shared);
        (!fits).then_some(FaultKind::SharedOutOfBounds)
    }

    fn judge_place(&self, place: u64, bytes: u64, judged: &mut Judged) -> Option<FaultKind> {
        let (parameters, registry) = (&self.running.parameters, self.registry);
        if region(place) == Region::Local {
            let stacks = SiteRange { low: windows::LOCAL, high: self.running.stacks_end - 1 };
            let fits = inside(&stacks, place, bytes);
            judged.passing = fits.then_some(stacks);
            return (!fits).then_some(FaultKind::LocalOutOfBounds);
        }
        if region(place) == Region::Arguments {
            let high = windows::ARGUMENTS + windows::ARGUMENTS_BYTES - 1;
            judged.passing = Some(SiteRange { low: windows::ARGUMENTS, high });
            return None;
        }
        if parameters.contains(&place) {
            let found = SiteRange { low: parameters.start, high: parameters.end - 1 };
            judged.passing = Some(found);
            return (!inside(&found, place, bytes)).then_some(FaultKind::OutOfBounds);
        }
        if judged.last.is_some_and(|range| inside(&range, place, bytes)) {
            return None;
        }
        match registry.find(place) {
            Some(live) => {
                let found = SiteRange { low: live.start(), high: live.start() + live.bytes - 1 };
                judged.last = Some(found);
                (!inside(&found, place, bytes)).then_some(FaultKind::OutOfBounds)
            }
            None if registry.find_freed(place).is_some() => Some(FaultKind::Freed),
            None => Some(FaultKind::OutOfBounds),
        }
    }
}

/// Writes the range with which lowered code checks the site's next access, if there is one.
///
/// # Safety
/// `range` belongs to the site, and the module to the launch.
unsafe fn keep_range(
    running: &mut Running,
    registry: &Registry,
    range: *mut SiteRange,
    access: &Access<'_>,
    judged: &Judged,
) {
    // SAFETY: by the contract; the accesses at which the program stops are the runtime's own, or null.
    let (stops, sites) = unsafe { (running.stops.as_ref(), &(*running.module).table.sites) };
    let open = |new: &SiteRange| stops.is_some_and(|stops| stops.keeps_open(access.site, new, registry));
    // If warps take turns, stores call the check each time, and loads call it again after the next store.
    let keeps = !running.interleave || sites.get(access.site as usize).is_some_and(Site::is_plain_load);
    let passing = if running.interleave && running.check == Check::Off {
        Some(SiteRange { low: 0, high: i64::MAX as u64 })
    } else {
        judged.passing
    };
    let is_own = access.space == Space::Shared as u32 || access.space == Space::Local as u32;
    let kept = judged.last.or(passing).filter(|_| !is_own && keeps);
    if let Some(new) = kept.filter(|new| !open(new)) {
        if running.interleave {
            running.open_ranges.push(range);
        }
        // SAFETY: by the contract.
        unsafe {
            range.write(new);
            (*running.module).passing |= judged.last.is_none();
        }
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
    access: &Access<'_>,
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
