//! Data that several of the kernels load which sweep over other data: one kernel of them all loads it once.

use std::collections::BTreeMap;

use super::super::super::facts::Facts;
use super::super::super::facts::access::Access;
use super::handed_on::{ONCE, accesses, bytes, first_launch, goes_along};
use super::is_swept;
use crate::geometry::SECTOR_BYTES;
use crate::profile::model::{Allocation, Kernel};

/// Inputs of several kernels.
#[derive(Default)]
pub(super) struct Inputs {
    /// As the last kernel's accesses name them.
    pub(super) names: Vec<String>,
    /// Bytes that come from DRAM again, by kernel.
    pub(super) again: BTreeMap<u32, u64>,
}

impl Inputs {
    pub(super) fn bytes(&self) -> u64 {
        self.again.values().copied().fold(0, u64::saturating_add)
    }
}

/// Those of kernels that are launched once each, beside what they sweep over.
pub(super) fn of_all(facts: &Facts<'_>, swept: &Allocation, kernels: &[&Kernel]) -> Inputs {
    let mut found = Inputs::default();
    if kernels.len() < 2 || kernels.iter().any(|kernel| kernel.launch_count() != 1) {
        return found;
    }
    for one in facts.profile.allocations.iter().filter(|one| one.id != swept.id) {
        let Some(loads) = again(facts, one, kernels) else { continue };
        let worst =
            loads.iter().flatten().max_by_key(|access| (access.sums.dram_reads, std::cmp::Reverse(access.line)));
        let sums = loads.iter().map(|of_kernel| {
            let sectors = of_kernel.iter().map(|access| access.sums.dram_reads).fold(0, u64::saturating_add);
            (of_kernel.first().map_or(0, |access| access.kernel.id), sectors.saturating_mul(SECTOR_BYTES))
        });
        let sums: Vec<(u32, u64)> = sums.filter(|(_, bytes)| *bytes > 0).collect();
        if let Some(worst) = worst.filter(|_| !sums.is_empty()) {
            found.names.push(facts.target(worst));
            for (kernel, bytes) in sums {
                let sum = found.again.entry(kernel).or_default();
                *sum = sum.saturating_add(bytes);
            }
        }
    }
    found
}

/// The loads of an allocation in all of the kernels but the first that loads it; `None` where a thread of one kernel may need other elements of it,
/// or of another state.
fn again<'b>(facts: &'b Facts<'_>, one: &Allocation, kernels: &[&Kernel]) -> Option<Vec<Vec<&'b Access<'b>>>> {
    let mut loading: Vec<(u64, &Kernel, Vec<&Access<'_>>)> = Vec::new();
    for kernel in kernels {
        let loads = accesses(facts, kernel, one, "load");
        if !loads.is_empty() {
            loading.push((first_launch(kernel)?, kernel, loads));
        }
    }
    loading.sort_by_key(|(launch, ..)| *launch);
    let (first, last) = (loading.first()?, loading.last()?);
    let is_once = |loads: &[&Access<'_>]| {
        loads.iter().all(goes_along) && ONCE.contains(&(bytes(loads) as f64 / one.touched_bytes.max(1) as f64))
    };
    // What is stored between would be another state.
    let is_stored_between = facts.accesses.iter().any(|access| {
        access.op != "load"
            && access.space == "global"
            && access.allocation == Some(one.id)
            && access.kernel.id != last.1.id
            && first_launch(access.kernel).is_none_or(|launch| launch >= first.0)
    });
    let are_alike = !is_swept(one) && !is_stored_between && loading.iter().all(|(_, _, loads)| is_once(loads));
    are_alike.then(|| loading.into_iter().skip(1).map(|(_, _, loads)| loads).collect())
}
