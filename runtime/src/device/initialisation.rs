//! The initialisation check: finds reads of bytes of global and shared memory that nothing has written.
//!
//! Site ranges stay empty, so all accesses of a launch reach the access check (`__wl_check`). In this file, the
//! accesses read and write the [shadow](crate::memory::shadow) of memory. The check needs no special device code.

use crate::device::execution::lanes::lanes;
use crate::device::execution::warp::{Running, Warp};
use crate::device::faults::access::Access;
use crate::memory::DeviceMemory;
use crate::memory::shadow::{MOST, Shadow};
use crate::memory::windows::{Region, region};
use crate::modules::module::Module;
use std::collections::BTreeMap;
use warpline_format::abi::{NOWHERE, SiteRange};
use warpline_format::access::LANES;
use warpline_format::condition::AtomicKind;
use warpline_format::event::{AllocationId, UninitialisedRead};
use warpline_format::site_table::{NotSeen, Op, Site, SiteTable};

/// The properties that reads must share to be counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    site: u32,
    /// `None` means shared memory.
    allocation: Option<AllocationId>,
    partial: bool,
}

/// The initialisation check of one launch.
pub struct Initialisation {
    /// The range of each site's last access, in the form that the access check uses. Ranges that lowered code reads
    /// stay empty.
    ranges: Vec<SiteRange>,
    reads: BTreeMap<Key, UninitialisedRead>,
    /// Whether reads are reported. Otherwise only writes are recorded, for `--values`.
    reports: bool,
}

impl Initialisation {
    /// Creates the check for a launch of a module with this number of sites.
    pub fn new(sites: usize, reports: bool) -> Initialisation {
        Initialisation {
            ranges: vec![SiteRange { low: NOWHERE, high: NOWHERE }; sites],
            reads: BTreeMap::new(),
            reports,
        }
    }

    /// Returns the range of a site, for the access check.
    pub fn range(&mut self, site: u32) -> Option<*mut SiteRange> {
        self.ranges.get_mut(site as usize).map(|range| range as *mut SiteRange)
    }

    /// Returns the launch's uninitialised reads, by site.
    pub fn into_reads(self) -> impl Iterator<Item = UninitialisedRead> {
        self.reads.into_values()
    }
}

/// Returns whether the check sees all memory accesses of a kernel. Otherwise it cannot determine what the kernel has
/// written.
pub fn sees_all(module: &Module, kernel: usize) -> bool {
    let Some(kernel) = module.kernels().get(kernel) else { return false };
    let table = &module.table;
    let calls = table.calls.iter().any(|call| call.caller == kernel.function);
    // Barrier objects are tracked. Textures are only read, and surfaces are in arrays, which are not tracked.
    const HARMLESS: [&str; 3] = ["barrier object", "texture", "surface"];
    let unseen = |entry: &&NotSeen| {
        (calls || entry.function == kernel.function)
            && entry.concerns(true)
            && !HARMLESS.iter().any(|what| entry.what.starts_with(what))
    };
    module.is_hooked() && !table.not_seen.iter().any(|entry| unseen(&entry))
}

/// Returns how an access uses the bytes that it reads.
fn uses(table: &SiteTable, number: u32, site: &Site) -> (bool, bool) {
    match site.op {
        Op::Load => (true, false),
        Op::Store => (false, true),
        Op::Atomic => {
            let replaces = table.atomic(number) == Some(AtomicKind::Exchange);
            let unused = table.hint(number).unused;
            (!(replaces && unused), true)
        }
    }
}

/// Processes an access of the lanes in `mask` before it is performed.
///
/// # Safety
/// `warp` is the running one, and its launch has the check.
pub unsafe fn follow(warp: *mut Warp, access: &Access, mask: u32) {
    // SAFETY: by the contract; only this launch changes memory.
    let (running, memory) = unsafe { (&mut *(*warp).running, &*(*(*warp).running).memory) };
    // SAFETY: the module belongs to the launch.
    let table = unsafe { &(*running.module).table };
    let (Some(shadow), Some(site)) = (&memory.shadow, table.sites.get(access.site as usize)) else { return };
    let (reads, writes) = uses(table, access.site, site);
    let reads = reads && running.initialisation.as_ref().is_some_and(|check| check.reports);
    let bytes = u64::from(access.bytes.max(1)).min(MOST);
    let touched = site.byte_mask.unwrap_or(u64::MAX) & ((1 << bytes) - 1);
    if let Some(start) = row_of(access, mask, bytes).filter(|_| site.byte_mask.is_none()) {
        let length = bytes * LANES as u64;
        if !reads || shadow.count(start, length).0 == 0 {
            if writes {
                shadow.write(start, length);
            }
            return;
        }
    }
    let mut found: BTreeMap<Key, u32> = BTreeMap::new();
    for lane in lanes(mask).filter(|_| reads) {
        let address = access.addresses[lane];
        let missing = shadow.unwritten(address, bytes) & touched;
        if missing != 0 {
            let allocation = memory.registry.find(address).map(|live| live.id);
            let partial = missing != touched;
            *found.entry(Key { site: access.site, allocation, partial }).or_default() |= 1 << lane;
        }
    }
    for (key, lanes) in found {
        // SAFETY: by the contract.
        unsafe { note(warp, running, memory, shadow, key, (lanes, access)) };
    }
    if writes {
        for lane in lanes(mask) {
            write(shadow, access.addresses[lane], bytes, touched);
        }
    }
}

/// Marks the bytes that a lane writes; `touched` has a bit per byte.
fn write(shadow: &Shadow, address: u64, bytes: u64, touched: u64) {
    if touched == (1 << bytes) - 1 {
        shadow.write(address, bytes);
    } else {
        (0..bytes).filter(|byte| touched >> byte & 1 != 0).for_each(|byte| shadow.write(address + byte, 1));
    }
}

/// Returns the first address of an access whose lanes are all consecutive.
#[inline]
fn row_of(access: &Access, mask: u32, bytes: u64) -> Option<u64> {
    let first = access.addresses[0];
    let follows = |(lane, &address): (usize, &u64)| address == first.wrapping_add(lane as u64 * bytes);
    (mask == u32::MAX && access.addresses.iter().enumerate().all(follows)).then_some(first)
}

/// Counts the reads of some lanes, and stores the first read of each kind.
///
/// # Safety
/// The requirements of [`follow`] apply.
unsafe fn note(
    warp: *mut Warp,
    running: &mut Running,
    memory: &DeviceMemory,
    shadow: &Shadow,
    key: Key,
    (mask, access): (u32, &Access),
) {
    let Some(check) = &mut running.initialisation else { return };
    let launch = running.launch;
    let first = || {
        let lane = mask.trailing_zeros() as usize;
        let address = access.addresses[lane];
        let live = memory.registry.find(address);
        // SAFETY: by the contract.
        let context = unsafe { &(*warp).context };
        let start = live.map_or(context.shared as u64, |live| live.start());
        UninitialisedRead {
            launch,
            site: key.site,
            allocation: key.allocation,
            earlier: key.allocation.and_then(|id| memory.earlier.get(&id).copied()),
            partial: key.partial,
            requests: 0,
            lanes: 0,
            block: context.block,
            thread: context.warp * LANES as u32 + lane as u32,
            offset: address.wrapping_sub(start),
            written: live.map_or(0, |live| live.bytes - shadow.count(live.start(), live.bytes).0),
        }
    };
    let row = check.reads.entry(key).or_insert_with(first);
    row.requests += 1;
    row.lanes += u64::from(mask.count_ones());
}

/// Marks the bytes of a barrier object as written.
///
/// # Safety
/// `warp` is the running one.
pub unsafe fn write_object(warp: *mut Warp, address: u64, bytes: u64) {
    // SAFETY: by the contract.
    let memory = unsafe { &*(*(*warp).running).memory };
    if let Some(shadow) = &memory.shadow
        && region(address) != Region::Host
    {
        shadow.write(address, bytes);
    }
}
