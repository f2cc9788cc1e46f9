//! Finds unordered work of different streams that accesses the same bytes, if at least one side writes. Work is ordered
//! by events, by waits of the host and by the default stream.
//!
//! For each launch and copy that later work may overlap with, the check stores the bytes that it reads, writes and
//! updates atomically, by sectors of 32 bytes. Work that the host has waited for is discarded.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use rustc_hash::FxHashMap;
use warpline_format::access::{Access, Addresses, LANES, Space, bundle_of};
use warpline_format::event::{AllocationId, Copy, CopyHostSide, HostAccess, PathId, WorkOrder};
use warpline_format::site_table::{CacheOp, Op};

use crate::attribution::AllocationMap;
use crate::requests::{LaunchShape, decode};
use warpline_simulator::geometry::Width;

/// Bytes of a sector; each is one bit of a mask.
const SECTOR: u64 = 32;
/// Maximum number of sectors of all work together (40 bytes each). Later sectors are not checked.
const MOST_SECTORS: usize = 1 << 21;
/// Maximum number of rows of copies per piece of work.
const MOST_ROWS: usize = 1 << 16;
/// Maximum number of pieces of work that later work is compared with: the newest ones.
const MOST_WORKS: usize = 512;
/// Number that stands for host code among the streams.
const HOST: u32 = u32::MAX;
/// Maximum number of reported pairs of accesses.
const MOST_FOUND: usize = 1000;

/// An access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StreamAccess {
    /// A memory instruction of a kernel, by the numbers of both.
    Site {
        /// Kernel, as numbered by the analysis.
        kernel: u32,
        /// Site.
        site: u32,
    },
    /// A copy that writes device memory.
    CopyTo,
    /// A copy that reads device memory.
    CopyFrom,
    /// A fill.
    Fill,
    /// Host code that reads.
    HostLoad,
    /// Host code that writes.
    HostStore,
}

/// One side of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamParty {
    /// The access.
    pub access: StreamAccess,
    /// Number of the stream; 0 is the default stream.
    pub stream: u32,
    /// Host call path of the launch or copy, or of the host's access.
    pub path: PathId,
}

/// Conflicting accesses by unordered work of two streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamConflict {
    /// The two sides, in the order of the calls.
    pub parties: [StreamParty; 2],
    /// The accessed allocation.
    pub allocation: AllocationId,
    /// Offset in bytes of the first byte that both access.
    pub offset: u64,
    /// Number of bytes that both access: the maximum over pairs of launches or copies.
    pub bytes: u64,
    /// Number of pairs of launches or copies.
    pub pairs: u64,
}

/// Key of a conflict. Conflicts that differ only in their streams are combined, because programs use a stream for each
/// of many tasks.
type Key = ([(StreamAccess, PathId); 2], AllocationId);

/// Position of work: the stream, and the number within it.
type WorkId = (u32, u64);

/// Accesses to a sector: masks of bytes, and the first access of each kind.
#[derive(Clone, Copy, Debug, Default)]
struct Touched {
    read: u32,
    written: u32,
    updated: u32,
    reader: u32,
    writer: u32,
}

impl Touched {
    /// Returns the bytes for which the order of the two matters. Two atomic operations do not conflict.
    fn conflict(&self, later: &Touched) -> u32 {
        (self.written & (later.read | later.written | later.updated))
            | (self.updated & (later.read | later.written))
            | (self.read & (later.written | later.updated))
    }

    /// Returns the accesses to those bytes on either side.
    fn parties(&self, later: &Touched) -> [u32; 2] {
        let writes = |one: &Touched, other: &Touched| {
            (one.written & (other.read | other.written | other.updated)) | (one.updated & (other.read | other.written))
        };
        let of_later = |mask: u32| if later.read & mask != 0 { later.reader } else { later.writer };
        match writes(self, later) {
            0 => [self.reader, later.writer],
            mask => [self.writer, of_later(mask)],
        }
    }
}

/// A contiguous row of a copy.
#[derive(Clone, Debug)]
struct Row {
    bytes: Range<u64>,
    writes: bool,
    party: u32,
}

impl Row {
    /// Returns the row's accesses to a sector.
    fn touched(&self, sector: u64) -> Touched {
        let (start, end) = (self.bytes.start.max(sector), self.bytes.end.min(sector + SECTOR));
        let mask = mask(start.saturating_sub(sector), end.saturating_sub(start));
        match self.writes {
            true => Touched { written: mask, writer: self.party, ..Touched::default() },
            false => Touched { read: mask, reader: self.party, ..Touched::default() },
        }
    }
}

/// Returns the mask of the bytes `from..from + count` of a sector.
fn mask(from: u64, count: u64) -> u32 {
    (((1u64 << count.min(SECTOR)) - 1) << from.min(SECTOR)) as u32
}

#[derive(Debug, Default)]
struct Work {
    after: BTreeMap<u32, u64>,
    sectors: FxHashMap<u64, Touched>,
    rows: Vec<Row>,
    /// Whether it was compared with earlier work since its last access.
    compared: bool,
}

impl Work {
    fn touch(&mut self, sector: u64, more: Touched) {
        let known = self.sectors.entry(sector).or_default();
        if known.read == 0 {
            known.reader = more.reader;
        }
        if known.written | known.updated == 0 {
            known.writer = more.writer;
        }
        known.read |= more.read;
        known.written |= more.written;
        known.updated |= more.updated;
    }

    /// Adds the rows of a copy: `width` bytes each, `height` of them.
    fn add_rows(&mut self, start: u64, pitch: u64, (width, height): (u64, u64), writes: bool, party: u32) {
        self.compared = false;
        let is_whole = pitch == width || height <= 1;
        let (rows, width) = if is_whole { (1, width.saturating_mul(height)) } else { (height, width) };
        for row in 0..rows.min(MOST_ROWS as u64) {
            let at = start.saturating_add(row.saturating_mul(pitch));
            if self.rows.len() < MOST_ROWS {
                self.rows.push(Row { bytes: at..at.saturating_add(width), writes, party });
            }
        }
    }

    /// Calls `f` with each sector that both access.
    fn meet(&self, later: &Work, f: &mut impl FnMut(u64, &Touched, &Touched)) {
        let (few, many, is_later) = match self.sectors.len() > later.sectors.len() {
            true => (later, self, true),
            false => (self, later, false),
        };
        for (sector, one) in &few.sectors {
            if let Some(other) = many.sectors.get(sector) {
                let (earlier, later) = if is_later { (other, one) } else { (one, other) };
                f(*sector, earlier, later);
            }
        }
        for row in &later.rows {
            self.meet_row(row, &mut |sector, own, of_row| f(sector, own, of_row));
        }
        for row in &self.rows {
            later.meet_row(row, &mut |sector, own, of_row| f(sector, of_row, own));
        }
        for (one, other) in self.rows.iter().flat_map(|one| later.rows.iter().map(move |other| (one, other))) {
            let (start, end) = (one.bytes.start.max(other.bytes.start), one.bytes.end.min(other.bytes.end));
            let mut sector = start & !(SECTOR - 1);
            while sector < end && (one.writes || other.writes) {
                f(sector, &one.touched(sector), &other.touched(sector));
                sector += SECTOR;
            }
        }
    }

    /// Calls `f` with each accessed sector that a row covers.
    fn meet_row(&self, row: &Row, f: &mut impl FnMut(u64, &Touched, &Touched)) {
        let (first, end) = (row.bytes.start & !(SECTOR - 1), row.bytes.end);
        if (end - first).div_ceil(SECTOR) as usize <= self.sectors.len() {
            let mut sector = first;
            while sector < end {
                if let Some(own) = self.sectors.get(&sector) {
                    f(sector, own, &row.touched(sector));
                }
                sector += SECTOR;
            }
        } else {
            for (&sector, own) in self.sectors.iter().filter(|(sector, _)| (first..end).contains(*sector)) {
                f(sector, own, &row.touched(sector));
            }
        }
    }
}

/// Tracks the work of all streams.
#[derive(Debug, Default)]
pub(super) struct StreamWatch {
    /// The work that the current launches and copies belong to.
    current: Option<WorkId>,
    works: BTreeMap<WorkId, Work>,
    /// Positions of work in the order of the calls. Some entries may refer to discarded work.
    calls: VecDeque<WorkId>,
    parties: Vec<StreamParty>,
    numbers: FxHashMap<StreamParty, u32>,
    /// Number of sectors of all work.
    kept: usize,
    /// Accesses of host code so far.
    host_accesses: u64,
    /// Conflicts, each with its last pair of work.
    found: BTreeMap<Key, (StreamConflict, [WorkId; 2])>,
}

impl StreamWatch {
    /// Sets the position of the following launches and copies.
    pub(super) fn order(&mut self, order: WorkOrder, map: &AllocationMap) {
        self.settle(map);
        for (stream, number) in order.finished {
            let over: Vec<WorkId> = self.works.range((stream, 0)..=(stream, number)).map(|(id, _)| *id).collect();
            for id in over {
                self.kept -= self.works.remove(&id).map_or(0, |work| work.sectors.len());
            }
        }
        let id = (order.stream, order.number);
        let work = Work { after: order.after.into_iter().collect(), ..Work::default() };
        if let Some(before) = self.works.insert(id, work) {
            self.kept -= before.sectors.len();
        }
        self.current = Some(id);
        self.calls.push_back(id);
        if self.calls.len() > MOST_WORKS
            && let Some(oldest) = self.calls.pop_front().filter(|oldest| *oldest != id)
        {
            self.kept -= self.works.remove(&oldest).map_or(0, |work| work.sectors.len());
        }
    }

    /// Compares the current work with all earlier work that is not ordered before it.
    pub(super) fn settle(&mut self, map: &AllocationMap) {
        let Some(id) = self.current else { return };
        let Some(mut work) = self.works.remove(&id).filter(|work| !work.compared) else { return };
        let others: Vec<WorkId> = self.works.keys().copied().collect();
        for other in others {
            let is_before = other.0 == id.0 || work.after.get(&other.0).is_some_and(|number| *number >= other.1);
            if !is_before {
                self.compare(other, (id, &work), map);
            }
        }
        work.compared = true;
        self.works.insert(id, work);
    }

    fn compare(&mut self, earlier: WorkId, (id, later): (WorkId, &Work), map: &AllocationMap) {
        let mut pairs: BTreeMap<([u32; 2], AllocationId), (u64, u64)> = BTreeMap::new();
        self.works[&earlier].meet(later, &mut |sector, one, other| {
            let mask = one.conflict(other);
            let address = sector + u64::from(mask.trailing_zeros());
            let Some(allocation) = (mask != 0).then(|| map.find(address).allocation).flatten() else { return };
            let offset = address - map.start(address).unwrap_or(address);
            let (bytes, least) = pairs.entry((one.parties(other), allocation)).or_insert((0, u64::MAX));
            *bytes += u64::from(mask.count_ones());
            *least = offset.min(*least);
        });
        for ((parties, allocation), (bytes, offset)) in pairs {
            let parties = parties.map(|party| self.parties[party as usize]);
            let key = (parties.map(|party| (party.access, party.path)), allocation);
            if self.found.len() >= MOST_FOUND && !self.found.contains_key(&key) {
                continue;
            }
            let fresh = StreamConflict { parties, allocation, offset, bytes, pairs: 0 };
            let known = self.found.entry(key).or_insert((fresh, [(0, 0); 2]));
            known.0.pairs += u64::from(known.1 != [earlier, id]);
            known.0.bytes = known.0.bytes.max(bytes);
            known.1 = [earlier, id];
        }
    }

    fn party(&mut self, access: StreamAccess, stream: u32, path: PathId) -> u32 {
        let party = StreamParty { access, stream, path };
        let next = self.parties.len() as u32;
        let number = *self.numbers.entry(party).or_insert(next);
        if number == next {
            self.parties.push(party);
        }
        number
    }

    /// Records a new allocation. Earlier accesses to its addresses belong to other memory.
    pub(super) fn allocated(&mut self, bytes: Range<u64>) {
        for work in self.works.values_mut() {
            let before = work.sectors.len();
            let (first, end) = (bytes.start & !(SECTOR - 1), bytes.end);
            if (end.saturating_sub(first)).div_ceil(SECTOR) < before as u64 {
                (first..end).step_by(SECTOR as usize).for_each(|sector| _ = work.sectors.remove(&sector));
            } else {
                work.sectors.retain(|sector, _| !(first..end).contains(sector));
            }
            work.rows.retain(|row| row.bytes.end <= bytes.start || row.bytes.start >= bytes.end);
            self.kept -= before - work.sectors.len();
        }
    }

    /// Records a copy or fill of the current work.
    pub(super) fn copied(&mut self, copy: &Copy) {
        let Some(id) = self.current else { return };
        let is_fill = copy.source.is_none() && copy.host.is_none() && copy.destination.is_some();
        let to = if is_fill { StreamAccess::Fill } else { StreamAccess::CopyTo };
        let sides = [
            (copy.destination, copy.destination_pitch, true, to),
            (copy.source, copy.source_pitch, false, StreamAccess::CopyFrom),
        ];
        for (start, pitch, writes, access) in sides {
            let Some(start) = start else { continue };
            let party = self.party(access, id.0, copy.path);
            let Some(work) = self.works.get_mut(&id) else { continue };
            work.add_rows(start, pitch, (copy.width, copy.height), writes, party);
        }
    }

    /// The host's side of the last copy, which belongs to the current work.
    pub(super) fn copied_host_side(&mut self, side: &CopyHostSide) {
        let Some(id) = self.current else { return };
        let access = if side.writes { StreamAccess::CopyFrom } else { StreamAccess::CopyTo };
        let party = self.party(access, id.0, side.path);
        let Some(work) = self.works.get_mut(&id) else { return };
        work.add_rows(side.address, side.pitch, (side.width, side.height), side.writes, party);
    }

    /// Host code accesses a byte: compares it with all work that the host has not waited for. What comes after it is in order.
    pub(super) fn host_access(&mut self, access: HostAccess, map: &AllocationMap) {
        self.settle(map);
        self.host_accesses += 1;
        let id = (HOST, self.host_accesses);
        let kind = if access.is_store { StreamAccess::HostStore } else { StreamAccess::HostLoad };
        let party = self.party(kind, 0, access.path);
        let after: BTreeMap<u32, u64> = access.waited.into_iter().flatten().collect();
        let bytes = access.address..access.address.saturating_add(1);
        let work = Work { rows: vec![Row { bytes, writes: access.is_store, party }], ..Work::default() };
        let is_done = |other: &WorkId| after.get(&other.0).is_some_and(|number| *number >= other.1);
        let others: Vec<WorkId> = self.works.keys().copied().filter(|other| !is_done(other)).collect();
        for other in others {
            self.compare(other, (id, &work), map);
        }
    }

    /// Records a batch of a launch that belongs to the current work.
    pub(super) fn batch(&mut self, shape: &LaunchShape, path: PathId, items: &[u8]) {
        let Some(id) = self.current else { return };
        let table = &shape.module.1.table;
        let mut at = 0;
        while at < items.len() {
            let Some((access, length)) = decode::request(&items[at..]) else {
                let Some((Ok(_), length)) = decode::item(&items[at..]) else { return };
                at += length;
                continue;
            };
            at += length;
            if access.space != Space::Global {
                continue;
            }
            let Some(index) = bundle_of(access.site) else {
                self.request(id, shape, path, &access);
                continue;
            };
            let mut spare = [0; 8 * LANES];
            for member in &table.bundles[index as usize].members {
                self.request(id, shape, path, &access.member(member.site, member.offset, &mut spare));
            }
        }
    }

    fn request(&mut self, id: WorkId, shape: &LaunchShape, path: PathId, access: &Access<'_>) {
        let module = &shape.module.1;
        let site = &module.table.sites[access.site as usize];
        // A volatile access waits for another access, or another access waits for it.
        if site.cache == CacheOp::Volatile || self.kept >= MOST_SECTORS {
            return;
        }
        let party = self.party(StreamAccess::Site { kernel: shape.kernel, site: access.site }, id.0, path);
        let Some(work) = self.works.get_mut(&id) else { return };
        work.compared = false;
        let before = work.sectors.len();
        let touched = |mask: u32| match site.op {
            Op::Load => Touched { read: mask, reader: party, ..Touched::default() },
            Op::Store => Touched { written: mask, writer: party, ..Touched::default() },
            Op::Atomic => Touched { updated: mask, writer: party, ..Touched::default() },
        };
        let width = module.widths[access.site as usize];
        if let Some(bytes) = contiguous(access, width) {
            let mut sector = bytes.start & !(SECTOR - 1);
            while sector < bytes.end {
                let (start, end) = (bytes.start.max(sector), bytes.end.min(sector + SECTOR));
                work.touch(sector, touched(mask(start - sector, end - start)));
                sector += SECTOR;
            }
            self.kept += work.sectors.len() - before;
            return;
        }
        let mut open: Option<(u64, u32)> = None;
        access.for_each_lane(|_, address| {
            for_each_sector(address, width, |sector, mask| match &mut open {
                Some((known, masks)) if *known == sector => *masks |= mask,
                _ => {
                    if let Some((sector, masks)) = open.replace((sector, mask)) {
                        work.touch(sector, touched(masks));
                    }
                }
            });
        });
        if let Some((sector, masks)) = open {
            work.touch(sector, touched(masks));
        }
        self.kept += work.sectors.len() - before;
    }

    /// Returns the bytes of memory in use.
    pub(super) fn bytes(&self) -> u64 {
        self.kept as u64 * 40
    }

    /// Returns the conflicts in an order that depends only on the trace.
    pub(super) fn finish(mut self, map: &AllocationMap) -> Vec<StreamConflict> {
        self.settle(map);
        self.found.into_values().map(|(conflict, _)| conflict).collect()
    }
}

/// Returns the bytes of a request whose lanes access adjacent elements without holes.
fn contiguous(access: &Access<'_>, width: Width) -> Option<Range<u64>> {
    let Addresses::Affine { bases: [low, high], stride } = access.addresses else { return None };
    let step = u64::from(width.bytes);
    let is_whole = access.mask == u32::MAX && width.holes.is_none() && stride > 0;
    let is_row = stride as u64 == step && high == low.wrapping_add(16 * step);
    (is_whole && is_row).then_some(())?;
    Some(low..low.checked_add(LANES as u64 * step)?)
}

/// Calls `f` with each sector that an access of one lane touches, and the mask of the touched bytes.
fn for_each_sector(address: u64, width: Width, mut f: impl FnMut(u64, u32)) {
    let mut done = 0;
    while done < u64::from(width.bytes) {
        let from = address.wrapping_add(done);
        let within = from % SECTOR;
        let count = (SECTOR - within).min(u64::from(width.bytes) - done);
        let held = width.holes.map_or(u64::MAX, |mask| mask.checked_shr(done as u32).unwrap_or(0)) as u32;
        let bytes = held & mask(0, count);
        if bytes != 0 {
            f(from - within, bytes << within);
        }
        done += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compares the sectors that two pieces of work access with single bytes.
        #[test]
        fn conflicts_are_those_of_the_bytes(
            accesses in prop::collection::vec((any::<bool>(), 0u64..200, 1u64..40, 0u8..3, any::<bool>()), 1..12)
        ) {
            let mut works = [Work::default(), Work::default()];
            let mut bytes = [[0u8; 300], [0u8; 300]];
            for &(later, start, length, kind, as_row) in &accesses {
                let work = &mut works[usize::from(later)];
                let kind = if as_row { kind.min(1) } else { kind };
                if as_row {
                    work.rows.push(Row { bytes: start..start + length, writes: kind == 1, party: 0 });
                } else {
                    let width = Width { bytes: length as u32, holes: None };
                    for_each_sector(start, width, |sector, mask| {
                        let mut touched = Touched::default();
                        *[&mut touched.read, &mut touched.written, &mut touched.updated][usize::from(kind)] = mask;
                        work.touch(sector, touched);
                    });
                }
                for byte in start..start + length {
                    bytes[usize::from(later)][byte as usize] |= 1 << kind;
                }
            }
            let is_conflict = |one: u8, other: u8| {
                let both = one != 0 && other != 0;
                let written = (one | other) & 2 != 0;
                let updated = (one & 4 != 0 && other & 3 != 0) || (other & 4 != 0 && one & 3 != 0);
                both && (written || updated)
            };
            let mut want = [false; 300];
            for (at, want) in want.iter_mut().enumerate() {
                *want = is_conflict(bytes[0][at], bytes[1][at]);
            }
            let mut found = [false; 300];
            works[0].meet(&works[1], &mut |sector, one, other| {
                let mask = one.conflict(other);
                for bit in (0..32).filter(|bit| mask >> bit & 1 == 1) {
                    found[(sector + bit) as usize] = true;
                }
            });
            prop_assert_eq!(found, want);
        }
    }
}
