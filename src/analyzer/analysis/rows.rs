//! Rows of allocations: which have one of their own, and which share one.

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::FxHashMap;
use warpline_format::event::{Allocation, AllocationId, AllocationKind, HostAllocationId, LaunchId, PathId};

use super::sharing::{ALLOCATIONS, Kind, RowPlace, Sharing};
use crate::patterns::TouchedMap;

/// Ended allocations whose rows are still known, for faults that name them; the runtime remembers no more.
const REMEMBERED: usize = 4096;

/// What allocations that share a row have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Common<K> {
    kind: K,
    place: Option<(Option<String>, PathId)>,
    bytes: Option<u64>,
}

impl<K: Clone + Eq + std::hash::Hash> Kind for Common<K> {
    fn coarser(&self) -> Option<Self> {
        match (&self.place, self.bytes) {
            (_, Some(_)) => Some(Common { bytes: None, ..self.clone() }),
            (Some(_), None) => Some(Common { place: None, ..self.clone() }),
            (None, None) => None,
        }
    }
}

/// An allocation, or several that share a row.
#[derive(Clone, Debug)]
pub struct AllocationData {
    /// As announced; for several, the first one's with the bytes of all, and without name or path where these differ.
    pub event: Allocation,
    /// How many.
    pub count: u64,
    /// How many of them were freed before the stream's end.
    pub freed: u64,
    /// Bytes of the sectors that kernels touched, of all of them.
    pub touched_bytes: u64,
    /// The same by part of the allocation; `None` where several share the row, or nothing was touched.
    pub touched_map: Option<TouchedMap>,
    /// Number of the launch that follows its start; the first one's.
    pub first_launch: LaunchId,
    /// Number of the launch that follows its end; the last one's.
    pub last_launch: Option<LaunchId>,
}

/// Host memory, or several pieces that share a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostAllocationData {
    /// Call that made it.
    pub kind: String,
    /// Size; of all of them.
    pub bytes: u64,
    /// Variable's name; `None` where it is not known or differs.
    pub name: Option<String>,
    /// Where; 0 where it differs.
    pub path: PathId,
    /// How many.
    pub count: u64,
}

/// The row of an allocation that shares it.
#[derive(Clone, Copy, Debug)]
struct Shared {
    row: AllocationId,
    address: u64,
}

/// Finds the rows of device allocations.
#[derive(Debug)]
pub struct AllocationRows {
    sharing: Sharing<Common<AllocationKind>>,
    /// First allocation of each shared row, by row number.
    firsts: Vec<AllocationId>,
    live: FxHashMap<AllocationId, Shared>,
    ended: VecDeque<(AllocationId, Shared)>,
}

impl Default for AllocationRows {
    fn default() -> Self {
        AllocationRows {
            sharing: Sharing::new(ALLOCATIONS),
            firsts: Vec::new(),
            live: FxHashMap::default(),
            ended: VecDeque::new(),
        }
    }
}

impl AllocationRows {
    /// Returns the row that a new allocation goes to: a new one by its own number, or one that it shares.
    pub fn row(&mut self, event: &Allocation) -> AllocationId {
        // Variables are as many as the program's text has.
        if event.global.is_some() {
            return event.id;
        }
        let place = Some((event.name.clone(), event.path));
        match self.sharing.place(&Common { kind: event.kind, place, bytes: Some(event.bytes) }) {
            RowPlace::Own => event.id,
            RowPlace::Shared(number) => {
                if self.firsts.len() == number as usize {
                    self.firsts.push(event.id);
                }
                let row = self.firsts.get(number as usize).copied().unwrap_or(event.id);
                self.live.insert(event.id, Shared { row, address: event.address });
                row
            }
        }
    }

    /// Row and address of an allocation.
    pub fn find(&self, id: AllocationId, own: &BTreeMap<AllocationId, AllocationData>) -> Option<(AllocationId, u64)> {
        let ended = || self.ended.iter().rev().find(|(ended, _)| *ended == id).map(|(_, shared)| shared);
        if let Some(shared) = self.live.get(&id).or_else(ended) {
            return Some((shared.row, shared.address));
        }
        own.get(&id).map(|data| (id, data.event.address))
    }

    /// An allocation has ended.
    pub fn end(&mut self, id: AllocationId) {
        if let Some(shared) = self.live.remove(&id) {
            if self.ended.len() >= REMEMBERED {
                self.ended.pop_front();
            }
            self.ended.push_back((id, shared));
        }
    }
}

/// Enters an allocation into its row.
pub fn enter(
    rows: &mut BTreeMap<AllocationId, AllocationData>,
    row: AllocationId,
    event: Allocation,
    first_launch: LaunchId,
) {
    match rows.get_mut(&row) {
        Some(data) if row != event.id => {
            data.count += 1;
            data.touched_map = None;
            let common = &mut data.event;
            common.bytes = common.bytes.saturating_add(event.bytes);
            if common.path != event.path {
                common.path = 0;
            }
            if common.name != event.name {
                common.name = None;
            }
        }
        _ => {
            _ = rows.insert(
                row,
                AllocationData {
                    event,
                    count: 1,
                    freed: 0,
                    touched_bytes: 0,
                    touched_map: None,
                    first_launch,
                    last_launch: None,
                },
            )
        }
    }
}

/// Finds the rows of host memory.
#[derive(Debug)]
pub struct HostRows {
    sharing: Sharing<Common<String>>,
    firsts: Vec<HostAllocationId>,
    /// Those that share one.
    rows: FxHashMap<HostAllocationId, HostAllocationId>,
}

impl Default for HostRows {
    fn default() -> Self {
        HostRows { sharing: Sharing::new(ALLOCATIONS), firsts: Vec::new(), rows: FxHashMap::default() }
    }
}

impl HostRows {
    /// Enters host memory into its row; `false` where its number is known already.
    pub fn enter(
        &mut self,
        rows: &mut BTreeMap<HostAllocationId, HostAllocationData>,
        id: HostAllocationId,
        data: HostAllocationData,
    ) -> bool {
        if rows.contains_key(&id) || self.rows.contains_key(&id) {
            return false;
        }
        let place = Some((data.name.clone(), data.path));
        let common = Common { kind: data.kind.clone(), place, bytes: Some(data.bytes) };
        if let RowPlace::Shared(number) = self.sharing.place(&common) {
            if self.firsts.len() == number as usize {
                self.firsts.push(id);
            }
            let row = self.firsts.get(number as usize).copied().unwrap_or(id);
            self.rows.insert(id, row);
            if let Some(known) = rows.get_mut(&row).filter(|_| row != id) {
                known.count += data.count;
                known.bytes = known.bytes.saturating_add(data.bytes);
                if known.path != data.path {
                    known.path = 0;
                }
                if known.name != data.name {
                    known.name = None;
                }
                return true;
            }
        }
        rows.insert(id, data);
        true
    }

    /// Returns the row of host memory.
    pub fn row(&self, id: HostAllocationId) -> HostAllocationId {
        self.rows.get(&id).copied().unwrap_or(id)
    }
}
