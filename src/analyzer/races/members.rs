//! Accesses that index an array in a structure beyond its end, or before its start: they meet another member, or the
//! next structure, which is no fault.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use warpline_format::access::{Access, Addresses, LANES, Space};
use warpline_format::event::{AllocationId, Fault, FaultKind, LaunchId};
use warpline_format::member::{Base, Overrun};
use warpline_format::site_table::SiteTable;
use warpline_simulator::geometry::Width;

use super::bounds::{Position, SharedBounds};
use crate::analysis::LaunchArgument;
use crate::attribution::AllocationMap;
use crate::requests::LaunchShape;

/// An access outside the member that it indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberFault {
    /// The access.
    pub fault: Fault,
    /// Its position in the structure.
    pub overrun: Overrun,
    /// Row of the allocation, and offset in bytes from its start; `None` in shared memory.
    pub allocation: Option<(AllocationId, i64)>,
}

/// The addresses at which structures start, in running launches, and the sites that leave their members.
#[derive(Debug, Default)]
pub(super) struct MemberBounds {
    /// The addresses at which structures start, in the order of the table's accesses to members, by launch.
    starts: FxHashMap<LaunchId, Vec<Option<u64>>>,
    /// Addresses of variables, by module and number.
    variables: FxHashMap<(u32, u32), u64>,
    /// Kernels and sites that were reported.
    reported: BTreeSet<(u32, u32)>,
    /// Accesses that were not taken yet.
    found: Vec<MemberFault>,
}

impl MemberBounds {
    /// Records the address of a variable.
    pub(super) fn allocated(&mut self, variable: (u32, u32), address: u64) {
        self.variables.insert(variable, address);
    }

    /// Prepares the checks of a launch of a kernel, before its arguments are known.
    pub(super) fn launched(&mut self, shape: &LaunchShape, function: u32, shared: &SharedBounds) {
        let (number, module) = &shape.module;
        let table = &module.table;
        if table.member_accesses.is_empty() {
            return;
        }
        let start = |base: Base| match base {
            Base::Parameter { .. } => None,
            Base::Global(variable) => self.variables.get(&(*number, variable)).copied(),
            Base::Shared(name) => {
                let variable = shared.variable((*number, function), table.shared.get(name as usize)?)?;
                Some(variable.offset.into())
            }
        };
        let starts = table.member_accesses.iter().map(|access| start(access.base)).collect();
        self.starts.insert(shape.id, starts);
    }

    /// Records the arguments of a launch, before its accesses.
    pub(super) fn arguments(&mut self, shape: &LaunchShape, arguments: &[LaunchArgument]) {
        let Some(starts) = self.starts.get_mut(&shape.id) else { return };
        for (access, start) in shape.module.1.table.member_accesses.iter().zip(starts) {
            let Base::Parameter { parameter, offset } = access.base else { continue };
            let is_base = |one: &&LaunchArgument| (one.parameter, one.offset, one.bytes) == (parameter, offset, 8);
            let pointer = arguments.iter().find(is_base).filter(|one| one.allocation.is_some());
            *start = pointer.map(|one| one.value);
        }
    }

    pub(super) fn end(&mut self, launch: LaunchId) {
        self.starts.remove(&launch);
    }

    /// Checks a request.
    pub(super) fn check(
        &mut self,
        table: &SiteTable,
        access: &Access<'_>,
        width: Width,
        position: &Position,
        map: &AllocationMap,
    ) {
        if table.member_accesses.is_empty() {
            return;
        }
        let Some(starts) = self.starts.get(&position.launch) else { return };
        let Ok(row) = table.member_accesses.binary_search_by_key(&access.site, |one| one.site) else { return };
        if self.reported.contains(&(position.kernel, access.site)) {
            return;
        }
        let (Some(start), member) = (starts[row], &table.member_accesses[row]) else { return };
        let mut access = *access;
        if matches!(access.addresses, Addresses::Uniform(_)) {
            access.mask &= access.mask.wrapping_neg();
        }
        let mut first = None;
        access.for_each_lane(|lane, address| {
            if first.is_none() {
                let overrun = table.overrun(member, address.wrapping_sub(start) as i64, width.bytes);
                first = overrun.map(|overrun| (lane, address, overrun));
            }
        });
        let Some((lane, address, overrun)) = first else { return };
        let allocation = match access.space {
            Space::Shared => None,
            // Outside the allocation of the structures, the access is a fault of another kind.
            _ => match map.start(address).filter(|own| map.start(start) == Some(*own)) {
                Some(own) => map.find(address).allocation.map(|row| (row, address.wrapping_sub(own) as i64)),
                None => return,
            },
        };
        self.reported.insert((position.kernel, access.site));
        let fault = Fault {
            launch: position.launch,
            site: access.site,
            kind: FaultKind::Member,
            block: position.block,
            thread: position.warp * LANES as u32 + lane,
            address,
            nearest: None,
            stopped: false,
        };
        self.found.push(MemberFault { fault, overrun, allocation });
    }

    /// Returns the accesses that were found since the last call.
    pub(super) fn take(&mut self) -> Vec<MemberFault> {
        std::mem::take(&mut self.found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use warpline_format::member::{MemberAccess, MemberArray, Structure};

    /// Returns a table with an access to `bytes` bytes at an offset of structures of this size.
    fn table(size: u32, offset: u32, bytes: u32) -> SiteTable {
        let levels = vec![MemberArray { structure: 0, name: 0, offset, bytes }];
        SiteTable {
            structures: vec![Structure { bytes: size, ..Structure::default() }],
            member_accesses: vec![MemberAccess { levels, ..MemberAccess::default() }],
            ..SiteTable::default()
        }
    }

    const LAUNCH: LaunchId = 3;
    const POSITION: Position = Position { launch: LAUNCH, kernel: 0, block: 5, warp: 2 };

    /// Returns the accesses that are found if the structures start at an address.
    fn found(table: &SiteTable, start: u64, access: &Access<'_>, bytes: u32, map: &AllocationMap) -> Vec<MemberFault> {
        let mut bounds = MemberBounds::default();
        bounds.starts.insert(LAUNCH, vec![Some(start)]);
        bounds.check(table, access, Width { bytes, holes: None }, &POSITION, map);
        bounds.take()
    }

    fn memory() -> AllocationMap {
        let mut map = AllocationMap::default();
        map.insert(7, 1000, 400).unwrap();
        map.insert(8, 1400, 200).unwrap();
        map
    }

    proptest! {
        /// An access is found exactly where an active lane leaves the members of all structures of the allocation.
        #[test]
        fn lanes_that_leave_their_member_are_found(
            mask in 1u32.., low in 900u64..1700, high in 900u64..1700, stride in -24i32..24, bytes in 1u32..9,
            (size, offset, length) in (1u32..64, 0u32..64, 1u32..64), start in 1000u64..1400
        ) {
            let offset = offset % size;
            let length = length.min(size - offset);
            let addresses = Addresses::Affine { bases: [low, high], stride };
            let access = Access { site: 0, space: Space::Global, mask, addresses };
            let faults = found(&table(size, offset, length), start, &access, bytes, &memory());
            // The structure that each byte of a member belongs to, in all of memory.
            let first = start - u64::from(size) * (start / u64::from(size));
            let mut owners = vec![None; 4000];
            for (number, at) in (first..4000).step_by(size as usize).enumerate() {
                for byte in at + u64::from(offset)..(at + u64::from(offset + length)).min(4000) {
                    owners[byte as usize] = Some(number);
                }
            }
            let mut want = None;
            access.for_each_lane(|lane, address| {
                let touched: Vec<_> = (address..address + u64::from(bytes)).map(|byte| owners[byte as usize]).collect();
                let fits = touched[0].is_some() && touched.iter().all(|owner| *owner == touched[0]);
                if !fits && want.is_none() {
                    want = Some((64 + lane, address));
                }
            });
            // A fault outside the allocation of the structures is one of another kind.
            let want = want.filter(|(_, address)| (1000..1400).contains(address));
            let faults: Vec<_> = faults.iter().map(|one| (one.fault.thread, one.fault.address)).collect();
            prop_assert_eq!(faults, want.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_access_is_found_once_with_its_position() {
        let (table, map) = (table(32, 0, 16), memory());
        let addresses = Addresses::Affine { bases: [1020, 1020], stride: 0 };
        let access = Access { site: 0, space: Space::Global, mask: 0b1000, addresses };
        let mut bounds = MemberBounds::default();
        bounds.starts.insert(LAUNCH, vec![Some(1000)]);
        for _ in 0..2 {
            bounds.check(&table, &access, Width { bytes: 4, holes: None }, &POSITION, &map);
        }
        let faults = bounds.take();
        assert_eq!(faults.len(), 1);
        assert_eq!(faults[0].overrun, Overrun { level: 0, offset: 20 });
        assert_eq!((faults[0].allocation, faults[0].fault.thread), (Some((7, 20)), 67));
        bounds.end(LAUNCH);
        assert_eq!((bounds.take(), bounds.starts.len()), (Vec::new(), 0));
    }

    #[test]
    fn pointers_without_an_allocation_are_not_compared() {
        let access = Access { site: 0, space: Space::Global, mask: 1, addresses: Addresses::Uniform(1020) };
        // A base in another allocation, and one that is not known.
        assert_eq!(found(&table(32, 0, 16), 1400, &access, 4, &memory()), []);
        let mut bounds = MemberBounds::default();
        bounds.starts.insert(LAUNCH, vec![None]);
        bounds.check(&table(32, 0, 16), &access, Width { bytes: 4, holes: None }, &POSITION, &memory());
        assert_eq!(bounds.take(), []);
    }
}
