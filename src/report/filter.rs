//! Removes the rows that were not selected from a profile.

use std::collections::BTreeSet;

use regex::Regex;

use super::question::{FindingChoice, LinePlace, keep_findings, keep_line};
use crate::words::add;
use warpline_profile::Profile;

/// The selection that a report shows.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Kernels whose demangled name matches this expression.
    pub kernel: Option<Regex>,
    /// Lines of files whose path contains this text.
    pub source: Option<String>,
    /// Allocations with this name, or if there are none, whose name contains it, and the accesses to them.
    pub allocation: Option<String>,
    /// Data about this line.
    pub line: Option<LinePlace>,
    /// These findings, and the data of their lines.
    pub finding: Option<FindingChoice>,
    /// Maximum number of rows per table.
    pub top: usize,
}

/// Ids of allocations with a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// Ids of device allocations.
    pub device: Vec<u64>,
    /// Ids of host allocations.
    pub host: Vec<u64>,
}

impl Named {
    fn is_empty(&self) -> bool {
        self.device.is_empty() && self.host.is_empty()
    }
}

/// Returns the allocations with a name; if there are none, those whose name contains it.
pub fn allocations_named(profile: &Profile, name: &str) -> Named {
    let find = |fits: &dyn Fn(&str) -> bool| {
        let fits = |name: &Option<String>| name.as_deref().is_some_and(fits);
        Named {
            device: profile.allocations.iter().filter(|row| fits(&row.name)).map(|row| row.id).collect(),
            host: profile.host_allocations.iter().filter(|row| fits(&row.name)).map(|row| row.id).collect(),
        }
    };
    let exact = find(&|known| known == name);
    if exact.is_empty() { find(&|known| known.contains(name)) } else { exact }
}

/// Keeps the allocations with a name. For a host allocation, keeps the device allocations that it is copied to or from.
/// Returns `false` if there are none.
fn keep_allocations(kept: &mut Profile, name: &str) -> bool {
    let named = allocations_named(kept, name);
    let hosts: BTreeSet<u64> = named.host.iter().copied().collect();
    let ids: BTreeSet<u64> = named.device.iter().copied().collect();
    let of_host = |row: &warpline_profile::model::Allocation| {
        row.copies.iter().any(|copy| copy.host.is_some_and(|id| hosts.contains(&id)))
    };
    kept.allocations.retain(|row| ids.contains(&row.id) || of_host(row));
    if !hosts.is_empty() {
        kept.host_allocations.retain(|row| hosts.contains(&row.id));
    }
    kept.sites.retain(|row| row.by_allocation.iter().any(|part| part.allocation.is_some_and(|id| ids.contains(&id))));
    kept.findings
        .retain(|row| row.allocation.is_some_and(|id| ids.contains(&id)) || row.object.as_deref() == Some(name));
    !named.is_empty()
}

/// Returns the profile without the rows that the filter excludes; `None` if nothing is left. Totals of kernels still
/// include the whole kernel; those of allocations become sums over the remaining kernels.
pub fn apply(profile: &Profile, filter: &Filter) -> Option<Profile> {
    let mut kept = profile.clone();
    if let Some(pattern) = &filter.kernel {
        kept.kernels.retain(|kernel| pattern.is_match(&kernel.name));
        let ids: BTreeSet<u32> = kept.kernels.iter().map(|kernel| kernel.id).collect();
        if ids.is_empty() {
            return None;
        }
        kept.lines.retain(|row| ids.contains(&row.kernel));
        kept.sites.retain(|row| ids.contains(&row.kernel));
        kept.branches.retain(|row| ids.contains(&row.kernel));
        kept.blocks.retain(|row| ids.contains(&row.kernel));
        kept.conflicts.retain(|row| ids.contains(&row.kernel));
        kept.stream_conflicts
            .retain(|row| row.accesses.iter().any(|access| access.kernel.is_none_or(|kernel| ids.contains(&kernel))));
        kept.faults.retain(|row| row.kernel.is_none_or(|kernel| ids.contains(&kernel)));
        kept.access_values.retain(|row| ids.contains(&row.kernel));
        for row in &mut kept.rounded_allocations {
            row.writes.retain(|row| row.kernel.is_none_or(|kernel| ids.contains(&kernel)));
            row.other_accesses.retain(|other| ids.contains(&other.kernel));
        }
        kept.float_exceptions.retain(|row| ids.contains(&row.kernel));
        kept.float_origins.retain(|row| row.store().is_some_and(|step| ids.contains(&step.kernel)));
        kept.uninitialised.retain(|row| row.kernel.is_none_or(|kernel| ids.contains(&kernel)));
        kept.findings.retain(|row| row.kernel.is_none() || row.all_kernels().any(|kernel| ids.contains(&kernel)));
        for allocation in &mut kept.allocations {
            allocation.by_kernel.retain(|row| ids.contains(&row.kernel));
            let mut figures = allocation.by_kernel.iter().map(|row| &row.metrics);
            if let Some(first) = figures.next() {
                let mut sum = first.clone();
                figures.for_each(|more| add(&mut sum, more));
                allocation.metrics = sum;
            }
        }
        kept.allocations.retain(|allocation| !allocation.by_kernel.is_empty());
    }
    if filter.allocation.as_ref().is_some_and(|name| !keep_allocations(&mut kept, name)) {
        return None;
    }
    if let Some(part) = &filter.source {
        kept.conflicts.retain(|row| row.accesses.iter().any(|access| access.frame.file.contains(part)));
        kept.lines.retain(|row| row.file.contains(part));
        kept.findings.retain(|row| row.file.contains(part));
        kept.sites.retain(|row| row.file.contains(part));
        kept.branches.retain(|row| row.file.contains(part));
        kept.blocks.retain(|row| row.file.contains(part));
        if kept.lines.is_empty() && kept.sites.is_empty() {
            return None;
        }
        let ids: BTreeSet<u32> =
            kept.lines.iter().map(|row| row.kernel).chain(kept.sites.iter().map(|row| row.kernel)).collect();
        kept.kernels.retain(|kernel| ids.contains(&kernel.id));
    }
    if filter.line.as_ref().is_some_and(|place| !keep_line(&mut kept, place)) {
        return None;
    }
    if filter.finding.as_ref().is_some_and(|choice| !keep_findings(&mut kept, choice)) {
        return None;
    }
    kept.memory_divergence = warpline_profile::memory_divergence(&kept);
    kept.arithmetic_intensity = warpline_profile::arithmetic_intensity(&kept);
    Some(kept)
}
