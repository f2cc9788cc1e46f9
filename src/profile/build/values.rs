//! Builds the profile's rows of the values that accesses transfer.

use std::collections::BTreeMap;

use super::rows::{chain_place, op_name};
use crate::model::{AccessValues, AllocationValues, ValueSet};
use warpline_analyzer::analysis::{Analysis, ValueKey, ValueSum};
use warpline_format::values::{Narrow, ValueSet as Recorded};

/// Returns accesses by source position and allocation.
pub(super) fn accesses(analysis: &Analysis) -> Vec<AccessValues> {
    let mut rows: Vec<AccessValues> =
        analysis.values.sites.iter().filter_map(|(key, sum)| access(analysis, key, sum)).collect();
    AccessValues::sort(&mut rows);
    let mut whole: Vec<AccessValues> = Vec::new();
    for row in rows {
        // Copies of an access in an unrolled loop are combined.
        match whole.last_mut().filter(|last| last.is_like(&row)) {
            Some(last) => last.add_copy(&row),
            None => whole.push(row),
        }
    }
    whole
}

/// Returns allocations by number.
pub(super) fn allocations(analysis: &Analysis) -> Vec<AllocationValues> {
    let mut sets: BTreeMap<u64, Recorded> = BTreeMap::new();
    for (key, row) in &analysis.values.sites {
        if let Some(allocation) = key.allocation {
            sets.entry(allocation).or_default().merge(&row.sum.values);
        }
    }
    let row = |(allocation, values): (u64, Recorded)| {
        let zeros = analysis.values.zeros.get(&allocation).copied().unwrap_or_default();
        AllocationValues {
            allocation,
            values: shown(&values),
            sectors: zeros.sectors,
            zero_sectors: zeros.zero_sectors,
            lines: zeros.lines,
            zero_lines: zeros.zero_lines,
        }
    };
    sets.into_iter().map(row).collect()
}

fn access(analysis: &Analysis, key: &ValueKey, row: &ValueSum) -> Option<AccessValues> {
    let kernel = analysis.kernels.get(key.kernel as usize)?;
    let module = analysis.modules.get(&kernel.module)?;
    let site = module.table.sites.get(key.site as usize)?;
    let variable = module.table.hint(key.site).shared.filter(|_| key.allocation.is_none());
    let sum = &row.sum;
    Some(AccessValues {
        kernel: key.kernel,
        frame: chain_place(module, &site.chain).user,
        op: op_name(site.op).to_owned(),
        bytes: site.bytes,
        space: if key.allocation.is_some() { "global" } else { "shared" }.to_owned(),
        variable: variable.and_then(|name| module.table.shared.get(name as usize)).cloned(),
        allocation: key.allocation,
        launches: row.launches,
        silent_launches: row.silent_launches,
        requests: sum.requests,
        lanes: sum.lanes,
        uniform_requests: sum.uniform,
        silent_requests: sum.silent_requests,
        silent_lanes: sum.silent_lanes,
        values: shown(&sum.values),
    })
}

fn shown(set: &Recorded) -> ValueSet {
    let is_number = set.element.is_number();
    ValueSet {
        element: set.element.name(),
        element_bytes: if is_number { set.element.bytes } else { 0 },
        count: set.count,
        zeros: set.zeros,
        distinct: set.distinct.iter().filter(|_| is_number).map(|&bits| set.element.text(bits)).collect(),
        fits: set.fitting().map(Narrow::name).map(str::to_owned).collect(),
    }
}
