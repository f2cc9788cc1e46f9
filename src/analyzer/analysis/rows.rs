//! Assigns allocations to rows: separate rows, or rows that several allocations share.

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::FxHashMap;
use warpline_format::event::{Allocation, AllocationId, AllocationKind, HostAllocationId, LaunchId, PathId};

use super::sharing::{ALLOCATIONS, Kind, RowPlace, Sharing};
use crate::patterns::TouchedMap;

/// Number of ended allocations whose rows are kept, because later faults may refer to them. The runtime keeps no more
/// either.
const REMEMBERED: usize = 4096;

/// The properties that allocations of a shared row have in common.
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

/// An allocation, or several allocations that share a row.
#[derive(Clone, Debug)]
pub struct AllocationData {
    /// The allocation as recorded. In a shared row, it is the first one with the total bytes; name and path are absent
    /// if they differ.
    pub event: Allocation,
    /// Number of allocations.
    pub count: u64,
    /// Number of allocations that were freed before the stream ended.
    pub freed: u64,
    /// Bytes of the sectors that kernels touched, summed over the allocations.
    pub touched_bytes: u64,
    /// Touched bytes by part of the allocation; `None` for a shared row, or if nothing was touched.
    pub touched_map: Option<TouchedMap>,
    /// Number of the launch after the allocation; in a shared row, of the first allocation.
    pub first_launch: LaunchId,
    /// Number of the launch after the free; in a shared row, of the last free.
    pub last_launch: Option<LaunchId>,
}

/// A host allocation, or several that share a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostAllocationData {
    /// The function that allocated it.
    pub kind: String,
    /// Size in bytes, summed over a shared row.
    pub bytes: u64,
    /// Name of the variable; `None` if it is unknown or differs.
    pub name: Option<String>,
    /// Call path; 0 if it differs.
    pub path: PathId,
    /// Number of allocations.
    pub count: u64,
}

/// The row of an allocation in a shared row.
#[derive(Clone, Copy, Debug)]
struct Shared {
    row: AllocationId,
    address: u64,
}

/// Maps device allocations to rows.
#[derive(Debug)]
pub struct AllocationRows {
    sharing: Sharing<Common<AllocationKind>>,
    /// First allocation of each shared row, by number of the row.
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
    /// Returns the row of a new allocation: its own number, or the number of a shared row.
    pub fn row(&mut self, event: &Allocation) -> AllocationId {
        // The number of variables is limited by the program's source code.
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

    /// Returns the row and the address of an allocation.
    pub fn find(&self, id: AllocationId, own: &BTreeMap<AllocationId, AllocationData>) -> Option<(AllocationId, u64)> {
        let ended = || self.ended.iter().rev().find(|(ended, _)| *ended == id).map(|(_, shared)| shared);
        if let Some(shared) = self.live.get(&id).or_else(ended) {
            return Some((shared.row, shared.address));
        }
        own.get(&id).map(|data| (id, data.event.address))
    }

    /// Records the end of an allocation.
    pub fn end(&mut self, id: AllocationId) {
        if let Some(shared) = self.live.remove(&id) {
            if self.ended.len() >= REMEMBERED {
                self.ended.pop_front();
            }
            self.ended.push_back((id, shared));
        }
    }
}

/// Adds an allocation to its row.
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

/// Maps host allocations to rows.
#[derive(Debug)]
pub struct HostRows {
    sharing: Sharing<Common<String>>,
    firsts: Vec<HostAllocationId>,
    /// Rows of the allocations in shared rows.
    rows: FxHashMap<HostAllocationId, HostAllocationId>,
}

impl Default for HostRows {
    fn default() -> Self {
        HostRows { sharing: Sharing::new(ALLOCATIONS), firsts: Vec::new(), rows: FxHashMap::default() }
    }
}

impl HostRows {
    /// Adds a host allocation to its row; returns `false` if its number already exists.
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

    /// Returns the row of a host allocation.
    pub fn row(&self, id: HostAllocationId) -> HostAllocationId {
        self.rows.get(&id).copied().unwrap_or(id)
    }
}
