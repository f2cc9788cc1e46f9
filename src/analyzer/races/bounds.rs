//! Accesses to a shared variable that leave it for the next one of the block: its index is out of bounds, though no fault shows it.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use warpline_format::access::{Access, Addresses, LANES};
use warpline_format::event::{Fault, FaultKind, LaunchId, SharedVariable};
use warpline_simulator::geometry::Width;

use super::watch::MOST_SHARED;
use crate::requests::LaunchShape;

/// What the sites of a module may access in one kernel.
#[derive(Debug)]
pub(super) struct SiteBounds {
    /// Bytes of the variable that each site accesses, where it is known.
    sites: Vec<Option<Range<u64>>>,
    /// End of the variables. What is beyond it is a fault of its own, or in another block of a cluster.
    end: u64,
}

/// The shared variables of kernels, and the sites that leave theirs.
#[derive(Debug, Default)]
pub(super) struct SharedBounds {
    /// By module and function.
    variables: FxHashMap<(u32, u32), Vec<SharedVariable>>,
    /// By kernel of the analysis.
    sites: FxHashMap<u32, Arc<SiteBounds>>,
    /// Kernels and sites that were reported.
    reported: BTreeSet<(u32, u32)>,
    /// Accesses that nobody has taken yet.
    found: Vec<Fault>,
}

/// An access of a warp, for the report.
pub(super) struct Position {
    pub launch: LaunchId,
    pub kernel: u32,
    pub block: u64,
    pub warp: u32,
}

impl SharedBounds {
    pub(super) fn describe(&mut self, kernel: (u32, u32), variables: Vec<SharedVariable>) {
        self.variables.insert(kernel, variables);
    }

    /// Returns the variable of a kernel that has this name, if there is exactly one.
    pub(super) fn variable(&self, kernel: (u32, u32), name: &str) -> Option<&SharedVariable> {
        only_named(self.variables.get(&kernel)?, name)
    }

    /// Returns whether an access of a site of a kernel was outside its variable.
    pub(super) fn is_reported(&self, kernel: u32, site: u32) -> bool {
        self.reported.contains(&(kernel, site))
    }

    /// Computes the bounds of the sites of a kernel that is launched, if it has several variables.
    pub(super) fn launched(&mut self, shape: &LaunchShape, function: u32) {
        let (number, module) = &shape.module;
        let Some(variables) = self.variables.get(&(*number, function)) else { return };
        self.sites.entry(shape.kernel).or_insert_with(|| {
            let table = &module.table;
            let range = |site: usize| {
                let name = table.shared.get(table.hint(site as u32).shared? as usize)?;
                let variable = only_named(variables, name).filter(|variable| variable.bytes > 0)?;
                let start = u64::from(variable.offset);
                Some(start..start + u64::from(variable.bytes))
            };
            let end = variables.iter().map(|one| u64::from(one.offset) + u64::from(one.bytes)).max().unwrap_or(0);
            let is_open = variables.iter().any(|one| one.bytes == 0);
            let end = if is_open { MOST_SHARED } else { end };
            Arc::new(SiteBounds { sites: (0..table.sites.len()).map(range).collect(), end })
        });
    }

    /// Returns the bounds of the sites of a kernel.
    pub(super) fn of_kernel(&self, kernel: u32) -> Option<Arc<SiteBounds>> {
        self.sites.get(&kernel).cloned()
    }

    /// Checks a request to shared memory.
    pub(super) fn check(&mut self, bounds: &SiteBounds, access: &Access<'_>, width: Width, position: &Position) {
        let Some(Some(range)) = bounds.sites.get(access.site as usize) else { return };
        let bytes = u64::from(width.bytes);
        let ends_within = |last: u64| last.checked_add(bytes).is_some_and(|end| end <= range.end);
        if hull(access).is_some_and(|hull| range.start <= hull.start && ends_within(hull.end - 1)) {
            return;
        }
        let mut outside: Option<(u32, u64)> = None;
        access.for_each_lane(|lane, address| {
            let fits = address >= range.start && ends_within(address);
            if !fits && address < bounds.end {
                outside.get_or_insert((lane, address));
            }
        });
        let Some((lane, address)) = outside else { return };
        if self.reported.insert((position.kernel, access.site)) {
            self.found.push(Fault {
                launch: position.launch,
                site: access.site,
                kind: FaultKind::SharedVariable,
                block: position.block,
                thread: position.warp * LANES as u32 + lane,
                address,
                nearest: None,
                stopped: false,
            });
        }
    }

    /// Returns what was found since the last call.
    pub(super) fn take(&mut self) -> Vec<Fault> {
        std::mem::take(&mut self.found)
    }
}

/// Returns the variable with a name. If two have the name, it is not known which is meant.
fn only_named<'v>(variables: &'v [SharedVariable], name: &str) -> Option<&'v SharedVariable> {
    let mut named = variables.iter().filter(|variable| variable.name == name);
    named.next().filter(|_| named.next().is_none())
}

/// Returns a range that contains the first bytes of all lanes of a request with evenly spaced lanes; idle lanes may make it larger.
fn hull(access: &Access<'_>) -> Option<Range<u64>> {
    match access.addresses {
        Addresses::Uniform(address) => Some(address..address.checked_add(1)?),
        Addresses::Affine { bases: [low, high], stride } => {
            let last = 15i64.checked_mul(i64::from(stride))?;
            let ends = [low, low.checked_add_signed(last)?, high, high.checked_add_signed(last)?];
            let (least, most) = (ends.iter().min()?, ends.iter().max()?);
            Some(*least..most.checked_add(1)?)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use warpline_format::access::Space;

    proptest! {
        /// An access is found exactly where an active lane leaves the variable for another one.
        #[test]
        fn lanes_that_leave_their_variable_are_found(
            mask in 1u32.., low in (0u64..500).prop_map(|low| low.wrapping_sub(100)), high in 0u64..400, stride in -8i32..16, bytes in 1u32..17,
            start in 0u64..200, size in 1u64..200, end in 200u64..500
        ) {
            let range = start..start + size;
            let bounds = SiteBounds { sites: vec![Some(range.clone())], end };
            let addresses = Addresses::Affine { bases: [low, high], stride };
            let access = Access { site: 0, space: Space::Shared, mask, addresses };
            let mut found = SharedBounds::default();
            let position = Position { launch: 0, kernel: 0, block: 3, warp: 2 };
            found.check(&bounds, &access, Width { bytes, holes: None }, &position);
            let mut first = None;
            access.for_each_lane(|lane, address| {
                let leaves = (0..u64::from(bytes)).any(|byte| !range.contains(&address.wrapping_add(byte)));
                if leaves && address < end && first.is_none() {
                    first = Some((64 + lane, address));
                }
            });
            let faults: Vec<_> = found.take().iter().map(|fault| (fault.thread, fault.address)).collect();
            prop_assert_eq!(faults, first.into_iter().collect::<Vec<_>>());
        }
    }
}
