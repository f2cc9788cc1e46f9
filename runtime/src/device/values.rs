//! Values of loads, stores and atomic operations (`--values`): what accesses read, and which stores do not change
//! memory.
//!
//! As for the [initialisation check](super::initialisation), each access reaches the access check before it is
//! performed. A load reads what memory contains at that time. For a store, the runtime keeps the bytes that the store
//! replaces, and compares them with memory at the next access; nothing else runs in between.

use crate::device::execution::lanes::lanes;
use crate::device::execution::warp::Warp;
use crate::device::faults::access::Access;
use crate::memory::DeviceMemory;
use crate::memory::registry::Live;
use crate::memory::shadow::MOST;
use crate::memory::windows::{Region, region};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use warpline_format::abi::windows;
use warpline_format::access::LANES;
use warpline_format::event::{AllocationId, AllocationKind, Event, LaunchId};
use warpline_format::site_table::{Op, Site, SiteTable};
use warpline_format::values::{Element, ElementKind, SiteValues, ValueSet, ZeroBlocks};

/// The sizes of a sector and a line in bytes; zeros are counted in these units.
const SECTOR: u64 = 32;
const LINE: u64 = 128;

/// The lanes of an access that touch one allocation.
#[derive(Clone, Copy, Debug)]
struct AllocationLanes {
    /// An index into [`Values::rows`].
    row: usize,
    lanes: u32,
}

/// A store whose result is not known yet.
#[derive(Debug)]
struct Pending {
    parts: Vec<AllocationLanes>,
    /// The lanes for which all bytes had been written before.
    written: u32,
    addresses: [u64; LANES],
    bytes: u64,
    /// The bytes that the store replaces, lane by lane.
    before: Vec<u8>,
}

/// Tracks the values of a run's accesses.
#[derive(Debug, Default)]
pub struct Values {
    launch: LaunchId,
    rows: Vec<SiteValues>,
    numbers: HashMap<(u32, Option<AllocationId>), usize>,
    /// The memory that each site touched last, and its row.
    last: Vec<Option<(Touched, usize)>>,
    pending: Option<Pending>,
    /// Memory that is reused for the next [`Pending`].
    spare: (Vec<AllocationLanes>, Vec<u8>),
    /// For each allocation, the number of launches that used it.
    uses: HashMap<AllocationId, u64>,
    /// For each filled allocation, the range that was filled last.
    filled: HashMap<AllocationId, Range<u64>>,
}

/// Memory that an access touches.
#[derive(Clone, Debug)]
struct Touched {
    allocation: Option<AllocationId>,
    bytes: Range<u64>,
    /// Whether the host can write the memory without a call.
    on_both_sides: bool,
    /// Whether the memory lives as long as the launch.
    lasts: bool,
}

impl Touched {
    fn at(memory: &DeviceMemory, address: u64) -> Option<Touched> {
        if is_shared(address) {
            let bytes = windows::SHARED..windows::SHARED + windows::SHARED_BYTES;
            return Some(Touched { allocation: None, bytes, on_both_sides: false, lasts: true });
        }
        let live = memory.registry.find(address)?;
        Some(Touched {
            allocation: Some(live.id),
            bytes: live.start()..live.start() + live.bytes,
            on_both_sides: is_on_both_sides(live),
            lasts: live.kind != AllocationKind::DeviceHeap,
        })
    }
}

fn is_on_both_sides(live: &Live) -> bool {
    use AllocationKind::{Host, Managed, Registered};
    matches!(live.kind, Host | Managed | Registered)
}

/// Returns the bytes of a lane.
///
/// # Safety
/// The access check has permitted the access of the lane.
unsafe fn bytes_at<'a>(address: u64, bytes: u64) -> &'a [u8] {
    // SAFETY: by the contract; the kernel runs on this thread, which is here.
    unsafe { std::slice::from_raw_parts(address as *const u8, bytes as usize) }
}

impl Values {
    /// Begins a launch.
    pub fn begin_launch(&mut self, launch: LaunchId) {
        self.launch = launch;
        self.pending = None;
        self.rows.clear();
        self.numbers.clear();
        self.last.clear();
    }

    /// Returns what the launch's accesses moved, and the zeros in the memory that they used.
    pub fn end_launch(&mut self, memory: &DeviceMemory) -> Vec<Event> {
        self.settle();
        let mut rows = std::mem::take(&mut self.rows);
        self.numbers.clear();
        rows.sort_by_key(|row| (row.site, row.allocation));
        let used: BTreeSet<AllocationId> = rows.iter().filter_map(|row| row.allocation).collect();
        let zeros: Vec<Event> =
            used.into_iter().filter_map(|id| self.zero_blocks(memory, id)).map(Event::ZeroBlocks).collect();
        rows.into_iter().map(Event::SiteValues).chain(zeros).collect()
    }

    /// Returns the zeros in an allocation at the end of its first, second, fourth, eighth … use, or `None` while some
    /// of its bytes are unwritten.
    fn zero_blocks(&mut self, memory: &DeviceMemory, id: AllocationId) -> Option<ZeroBlocks> {
        let uses = self.uses.entry(id).or_default();
        *uses += 1;
        if !uses.is_power_of_two() {
            return None;
        }
        let live = memory.registry.iter().find(|live| live.id == id)?;
        let unwritten = memory.shadow.as_ref().map_or(0, |shadow| shadow.count(live.start(), live.bytes).0);
        if unwritten != 0 {
            return None;
        }
        // SAFETY: the allocation is live, and no kernel runs.
        let bytes = unsafe { bytes_at(live.start(), live.bytes) };
        let mut blocks = ZeroBlocks { allocation: id, ..ZeroBlocks::default() };
        for line in bytes.chunks(LINE as usize) {
            let sectors = line.chunks(SECTOR as usize);
            let zero = sectors.clone().filter(|sector| sector.iter().all(|byte| *byte == 0)).count() as u64;
            let all = sectors.len() as u64;
            blocks.sectors += all;
            blocks.zero_sectors += zero;
            blocks.lines += 1;
            blocks.zero_lines += u64::from(zero == all);
        }
        Some(blocks)
    }

    /// Counts what the last store changed; the store is complete now.
    pub fn settle(&mut self) {
        let Some(pending) = self.pending.take() else { return };
        let bytes = pending.bytes as usize;
        let mut silent = 0u32;
        for (lane, &address) in pending.addresses.iter().enumerate() {
            let is_active = pending.parts.iter().any(|part| part.lanes >> lane & 1 != 0);
            // SAFETY: the check permitted the access, and an allocation lives as long as the launch or is freed in a
            // call of the launch.
            if is_active && unsafe { bytes_at(address, pending.bytes) } == &pending.before[lane * bytes..][..bytes] {
                silent |= 1 << lane;
            }
        }
        silent &= pending.written;
        for part in &pending.parts {
            let row = &mut self.rows[part.row];
            row.silent_lanes += u64::from((silent & part.lanes).count_ones());
            row.silent_requests += u64::from(silent & part.lanes == part.lanes);
            // SAFETY: the reasons of the last block apply.
            unsafe { summarise(row, part.lanes, &pending.addresses, pending.bytes) };
        }
        self.spare = (pending.parts, pending.before);
    }

    /// Processes an access of the lanes in `mask`, before it is performed and before its bytes are marked as written.
    ///
    /// # Safety
    /// `warp` is the running one; the lanes may perform the access.
    pub unsafe fn follow(&mut self, warp: *mut Warp, access: &Access, mask: u32) {
        // SAFETY: by the contract; only this launch changes memory.
        let (memory, table) = unsafe {
            let running = (*warp).running;
            (&*(*running).memory, &(*(*running).module).table)
        };
        let Some(site) = table.sites.get(access.site as usize) else { return };
        let element = table.element(access.site);
        let bytes = u64::from(access.bytes);
        if element.kind == ElementKind::NotFollowed || !(1..=MOST).contains(&bytes) {
            return;
        }
        let mut parts = std::mem::take(&mut self.spare.0);
        let host_writes = self.divide(memory, access, mask, element_of(table, access.site, site), &mut parts);
        if site.op == Op::Load || parts.is_empty() {
            for part in &parts {
                // SAFETY: by the contract.
                unsafe { summarise(&mut self.rows[part.row], part.lanes, access.addresses, bytes) };
            }
            self.spare.0 = parts;
            return;
        }
        let mut before = std::mem::take(&mut self.spare.1);
        before.clear();
        before.resize(LANES * bytes as usize, 0);
        let mut written = 0;
        for lane in parts.iter().flat_map(|part| lanes(part.lanes)) {
            let address = access.addresses[lane];
            // SAFETY: by the contract.
            let old = unsafe { bytes_at(address, bytes) };
            before[lane * bytes as usize..][..bytes as usize].copy_from_slice(old);
            let is_written = memory.shadow.as_ref().is_none_or(|shadow| shadow.unwritten(address, bytes) == 0);
            // Bytes of the host's own memory that the host has not written are zero.
            let is_set = host_writes >> lane & 1 == 0 || old.iter().any(|byte| *byte != 0);
            written |= u32::from(is_written && is_set) << lane;
        }
        self.pending = Some(Pending { parts, written, addresses: *access.addresses, bytes, before });
    }

    /// Groups the lanes of an access by allocation, and counts them; returns the lanes whose memory the host writes
    /// without a call.
    fn divide(
        &mut self,
        memory: &DeviceMemory,
        access: &Access,
        mask: u32,
        element: Element,
        parts: &mut Vec<AllocationLanes>,
    ) -> u32 {
        parts.clear();
        let (mut left, mut on_both_sides) = (mask, 0);
        while left != 0 {
            let first = left.trailing_zeros() as usize;
            let address = access.addresses[first];
            let Some((touched, row)) = self.find(memory, access.site, address, element) else {
                left &= !(1 << first);
                continue;
            };
            let mut inside = 1 << first;
            for lane in lanes(left) {
                inside |= u32::from(touched.bytes.contains(&access.addresses[lane])) << lane;
            }
            left &= !inside;
            on_both_sides |= if touched.on_both_sides { inside } else { 0 };
            let row = *row;
            self.rows[row].requests += 1;
            self.rows[row].lanes += u64::from(inside.count_ones());
            parts.push(AllocationLanes { row, lanes: inside });
        }
        on_both_sides
    }

    /// Returns the memory that an access touches, and its row.
    fn find(&mut self, memory: &DeviceMemory, site: u32, address: u64, element: Element) -> Option<&(Touched, usize)> {
        let is_known = |(touched, _): &(Touched, usize)| touched.lasts && touched.bytes.contains(&address);
        let number = site as usize;
        if self.last.len() <= number {
            self.last.resize(number + 1, None);
        }
        if !self.last[number].as_ref().is_some_and(is_known) {
            let touched = Touched::at(memory, address)?;
            let row = self.row(site, touched.allocation, element);
            self.last[number] = Some((touched, row));
        }
        self.last[number].as_ref()
    }

    fn row(&mut self, site: u32, allocation: Option<AllocationId>, element: Element) -> usize {
        let (rows, launch) = (&mut self.rows, self.launch);
        *self.numbers.entry((site, allocation)).or_insert_with(|| {
            rows.push(SiteValues { launch, site, allocation, values: ValueSet::new(element), ..SiteValues::default() });
            rows.len() - 1
        })
    }

    /// Records a fill. Returns whether it writes bytes that an earlier fill of the same memory wrote and nothing has
    /// changed since.
    pub fn fills_again(&mut self, live: &Live, at: Range<u64>, is_there: impl FnOnce() -> bool) -> bool {
        let before = self.filled.get(&live.id).is_some_and(|range| range.start <= at.start && at.end <= range.end);
        let again = before && is_there();
        if !before {
            self.filled.insert(live.id, at);
        }
        again
    }
}

fn is_shared(address: u64) -> bool {
    region(address) == Region::Shared
}

/// Returns the type of a site's elements. For an element with gaps, whose bytes are not contiguous, there is no type.
fn element_of(table: &SiteTable, number: u32, site: &Site) -> Element {
    let element = table.element(number);
    let whole = site.byte_mask.is_none() && element.bytes != 0 && site.bytes.is_multiple_of(element.bytes);
    if whole && element.is_number() { element } else { Element { kind: ElementKind::Untyped, bytes: site.bytes } }
}

/// Counts the values in the memory that lanes touch.
///
/// # Safety
/// The access check has permitted the accesses of the lanes.
unsafe fn summarise(row: &mut SiteValues, mask: u32, addresses: &[u64; LANES], bytes: u64) {
    let element = row.values.element;
    // SAFETY: by the contract.
    unsafe {
        match (element.is_number() && u64::from(element.bytes) == bytes, bytes) {
            (true, 1) => summarise_elements::<1>(row, mask, addresses),
            (true, 2) => summarise_elements::<2>(row, mask, addresses),
            (true, 4) => summarise_elements::<4>(row, mask, addresses),
            (true, 8) => summarise_elements::<8>(row, mask, addresses),
            _ => summarise_bytes(row, mask, addresses, bytes),
        }
    }
}

/// The variant of [`summarise`] for one element per lane. This is the most frequent case; values are compared as
/// numbers.
///
/// # Safety
/// The requirements of [`summarise`] apply; `BYTES` is at most 8.
unsafe fn summarise_elements<const BYTES: usize>(row: &mut SiteValues, mask: u32, addresses: &[u64; LANES]) {
    let bits_at = |address: u64| {
        let mut bits = [0; 8];
        // SAFETY: by the contract; bytes have no alignment.
        bits[..BYTES].copy_from_slice(unsafe { &*(address as *const [u8; BYTES]) });
        u64::from_le_bytes(bits)
    };
    let first = addresses[mask.trailing_zeros() as usize];
    let first_bits = bits_at(first);
    let (mut equal, mut elsewhere) = (true, false);
    if row.values.is_settled() {
        let mut zeros = 0;
        for lane in lanes(mask) {
            let bits = bits_at(addresses[lane]);
            equal &= bits == first_bits;
            elsewhere |= addresses[lane] != first;
            zeros += u64::from(bits == 0);
        }
        row.values.add_counts(u64::from(mask.count_ones()), zeros);
        row.uniform += u64::from(equal && elsewhere);
        return;
    }
    // Equal values of neighbouring lanes are added together.
    let (mut value, mut times) = (first_bits, 0);
    for lane in lanes(mask) {
        let bits = bits_at(addresses[lane]);
        equal &= bits == first_bits;
        elsewhere |= addresses[lane] != first;
        if bits != value {
            row.values.add_repeated(value, times);
            (value, times) = (bits, 0);
        }
        times += 1;
    }
    row.values.add_repeated(value, times);
    row.uniform += u64::from(equal && elsewhere);
}

/// The variant of [`summarise`] for any number of elements, and for bytes of unknown type.
///
/// # Safety
/// The requirements of [`summarise`] apply.
unsafe fn summarise_bytes(row: &mut SiteValues, mask: u32, addresses: &[u64; LANES], bytes: u64) {
    let first = mask.trailing_zeros() as usize;
    // SAFETY: by the contract.
    let first_bytes = unsafe { bytes_at(addresses[first], bytes) };
    let (mut equal, mut elsewhere) = (true, false);
    let element = row.values.element;
    for lane in lanes(mask) {
        // SAFETY: by the contract.
        let own = unsafe { bytes_at(addresses[lane], bytes) };
        equal = equal && own == first_bytes;
        elsewhere |= addresses[lane] != addresses[first];
        if element.is_number() {
            for part in own.chunks_exact(element.bytes as usize) {
                let mut bits = [0; 8];
                bits[..part.len()].copy_from_slice(part);
                row.values.add(u64::from_le_bytes(bits));
            }
        }
    }
    row.uniform += u64::from(equal && elsewhere);
}
