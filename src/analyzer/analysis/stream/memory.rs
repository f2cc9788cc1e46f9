//! The memory that control records describe: allocations, copies, and touched sectors.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use warpline_format::event::{
    Allocation, AllocationId, AllocationKind, Copy, Fault, HostAllocationId, LaunchId, PathId,
};

use super::contents::Contents;
use super::limits::copied_bytes;
use super::refusal::Refusal;
use crate::analysis::results::direction_key;
use crate::analysis::rows::{self, AllocationRows, HostRows};
use crate::analysis::{Analysis, CopyKey, HostAllocationData};
use crate::attribution::{AllocationMap, MapChange};
use crate::patterns::{Touched, TouchedMap};
use crate::requests::Narrowed;
use warpline_simulator::hierarchy::Written;

/// The program's memory at the current position in the stream.
#[derive(Default)]
pub(super) struct Memory {
    /// Allocations by address.
    pub(super) map: AllocationMap,
    /// Touched sectors of live memory.
    pub(super) touched: Touched,
    /// Lower limit of the next launch's number.
    pub(super) next_launch: LaunchId,
    rows: AllocationRows,
    host_rows: HostRows,
    /// Rows of allocations in host memory that kernels access directly.
    in_host_memory: FxHashSet<AllocationId>,
    /// Number of live allocations, by call path.
    live: FxHashMap<PathId, u64>,
    /// Call paths of the live allocations.
    path_of: FxHashMap<AllocationId, PathId>,
    /// Number of live allocations, by name.
    live_by_name: FxHashMap<Arc<str>, u64>,
    /// Names of the live allocations.
    name_of: FxHashMap<AllocationId, Arc<str>>,
    /// Contents of memory that copies write.
    contents: Contents,
    /// Allocations with smaller elements, if there are any.
    narrowed: Option<Arc<Narrowed>>,
}

impl Memory {
    /// Creates the memory before the first record; `narrowed` are allocations with smaller elements.
    pub(super) fn new(narrowed: Option<Arc<Narrowed>>) -> Memory {
        Memory { narrowed, ..Memory::default() }
    }

    /// Records a new allocation.
    pub(super) fn allocated(&mut self, event: Allocation, analysis: &mut Analysis) -> Result<MapChange, Refusal> {
        if analysis.allocations.contains_key(&event.id) {
            return Err(Refusal::Twice { what: "allocation", id: event.id });
        }
        let within = || self.map.find(event.address).allocation;
        let in_host_memory = match event.kind {
            AllocationKind::Host | AllocationKind::Registered => true,
            AllocationKind::Named => within().is_some_and(|around| self.in_host_memory.contains(&around)),
            _ => false,
        };
        let row = self.rows.row(&event);
        self.contents.allocated(row);
        if in_host_memory {
            self.in_host_memory.insert(row);
        }
        let Allocation { id, address, bytes, kind, path, .. } = event;
        self.begin_life(id, path, event.name.as_deref(), analysis);
        if kind != AllocationKind::Named {
            self.touched.clear(address, bytes);
        }
        self.map.insert_for(id, row, address, bytes)?;
        rows::enter(&mut analysis.allocations, row, event, self.next_launch);
        Ok(MapChange::Insert { id, row, address, bytes })
    }

    fn begin_life(&mut self, id: AllocationId, path: PathId, name: Option<&str>, analysis: &mut Analysis) {
        if path == 0 {
            return;
        }
        if let Some(name) = name {
            let known = self.live_by_name.get_key_value(name).map(|(known, _)| known.clone());
            let name = known.unwrap_or_else(|| Arc::from(name));
            let live = self.live_by_name.entry(name.clone()).or_default();
            *live += 1;
            match analysis.live_by_name.get_mut(&*name) {
                Some(most) => *most = (*most).max(*live),
                None => _ = analysis.live_by_name.insert(name.to_string(), *live),
            }
            self.name_of.insert(id, name);
        }
        self.path_of.insert(id, path);
        let live = self.live.entry(path).or_default();
        *live += 1;
        let most = analysis.live_at_once.entry(path).or_default();
        *most = (*most).max(*live);
    }

    /// Records the end of an allocation and of its parts.
    pub(super) fn freed(&mut self, id: AllocationId, analysis: &mut Analysis) -> Result<MapChange, Refusal> {
        self.count_touched(&self.map.with_parts(id), analysis);
        if !self.end_life(id, analysis) {
            return Err(Refusal::NotAnnounced(id));
        }
        for part in self.map.remove(id).into_iter().filter(|part| *part != id) {
            self.end_life(part, analysis);
        }
        Ok(MapChange::Remove(id))
    }

    /// Counts the end of an allocation in its row; returns `false` if the allocation was never declared.
    fn end_life(&mut self, id: AllocationId, analysis: &mut Analysis) -> bool {
        let row = self.rows.find(id, &analysis.allocations).map(|(row, _)| row);
        self.rows.end(id);
        if let Some(path) = self.path_of.remove(&id)
            && let Some(live) = self.live.get_mut(&path)
        {
            *live = live.saturating_sub(1);
        }
        if let Some(name) = self.name_of.remove(&id)
            && let Some(live) = self.live_by_name.get_mut(&name)
        {
            *live = live.saturating_sub(1);
        }
        let Some(data) = row.and_then(|row| analysis.allocations.get_mut(&row)) else { return false };
        data.freed = (data.freed + 1).min(data.count);
        data.last_launch = Some(self.next_launch);
        true
    }

    /// Adds the touched bytes of allocations, each given by row, address and size, to their rows.
    fn count_touched(&self, extents: &[(AllocationId, u64, u64)], analysis: &mut Analysis) {
        for &(row, address, bytes) in extents {
            if let Some(data) = analysis.allocations.get_mut(&row) {
                data.touched_bytes = data.touched_bytes.saturating_add(self.touched.bytes_in(address, bytes));
                if data.count == 1 && data.touched_bytes > 0 {
                    data.touched_map = Some(TouchedMap::new(&self.touched, address, bytes));
                }
            }
        }
    }

    /// Records a host allocation.
    pub(super) fn host_allocated(
        &mut self,
        id: HostAllocationId,
        data: HostAllocationData,
        analysis: &mut Analysis,
    ) -> Result<(), Refusal> {
        let new = self.host_rows.enter(&mut analysis.host_allocations, id, data);
        if new { Ok(()) } else { Err(Refusal::Twice { what: "host allocation", id }) }
    }

    /// Counts a copy for the allocations at both ends. Returns the device memory that it writes, if any.
    pub(super) fn copied(&mut self, copy: &Copy, analysis: &mut Analysis) -> Result<Option<Written>, Refusal> {
        let bytes = copied_bytes(copy)?;
        let written = match copy.destination.filter(|_| bytes != 0) {
            Some(to) => {
                let smaller = self.narrowed.as_ref().and_then(|narrowed| {
                    let (address, width) = narrowed.range(&self.map, to, copy.width)?;
                    let pitch = narrowed.range(&self.map, to, copy.destination_pitch).map_or(0, |(_, pitch)| pitch);
                    Some((address, width, pitch))
                });
                let (address, width, pitch) = smaller.unwrap_or((to, copy.width, copy.destination_pitch));
                let written = Written::new(address, width, copy.height, pitch);
                Some(written.ok_or(Refusal::CopyPastEnd(to))?)
            }
            None => None,
        };
        let ends = [copy.destination, copy.source].map(|end| end.and_then(|at| self.map.find(at).allocation));
        let second = ends[1].filter(|_| ends[0] != ends[1]);
        let host = copy.host.map(|id| self.host_rows.row(id));
        let key = |allocation| (allocation, direction_key(copy.direction), host, copy.path);
        let keys: Vec<CopyKey> = ends[0].into_iter().chain(second).map(key).collect();
        for key in &keys {
            let sum = analysis.copies.entry(*key).or_default();
            if sum.count == 0 {
                sum.first_launch = self.next_launch;
            }
            sum.last_launch = self.next_launch;
            sum.count += 1;
            sum.bytes = sum.bytes.saturating_add(bytes);
        }
        if let (Some(_), Some(source)) = (ends[0], second) {
            let sum = analysis.copies.entry(key(source)).or_default();
            sum.source_count += 1;
            sum.source_bytes = sum.source_bytes.saturating_add(bytes);
        }
        self.contents.copied(&keys, ends[0]);
        Ok(written)
    }

    /// Records that the last copy changed no bytes.
    pub(super) fn unchanged(&mut self, analysis: &mut Analysis) {
        for key in self.contents.unchanged() {
            let sum = analysis.copies.entry(key).or_default();
            sum.unchanged = (sum.unchanged + 1).min(sum.count);
        }
    }

    /// Records that a kernel has stored to an allocation, given by its row.
    pub(super) fn stored(&mut self, row: AllocationId) {
        self.contents.stored(row);
    }

    /// Returns whether an allocation, given by its row, is host memory that kernels access directly.
    pub(super) fn is_in_host_memory(&self, row: AllocationId) -> bool {
        self.in_host_memory.contains(&row)
    }

    /// Returns the row and the address of an allocation.
    pub(super) fn place(&self, id: AllocationId, analysis: &Analysis) -> Option<(AllocationId, u64)> {
        self.rows.find(id, &analysis.allocations)
    }

    /// Returns the row of the allocation nearest to a bad access, and the byte offset from its start.
    pub(super) fn nearest(&self, fault: &Fault, analysis: &Analysis) -> Option<(AllocationId, i64)> {
        let (row, address) = self.rows.find(fault.nearest?, &analysis.allocations)?;
        Some((row, fault.address.wrapping_sub(address) as i64))
    }

    /// Returns the row of an allocation.
    pub(super) fn row(&self, id: AllocationId, analysis: &Analysis) -> Option<AllocationId> {
        self.rows.find(id, &analysis.allocations).map(|(row, _)| row)
    }

    /// Completes the counts at the end of the stream.
    pub(super) fn finish(&self, analysis: &mut Analysis) {
        self.count_touched(&self.map.all(), analysis);
    }
}
