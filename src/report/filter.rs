//! Leaves out of a profile what was not asked for.

use std::collections::BTreeSet;

use regex::Regex;

use super::question::{FindingChoice, LinePlace, keep_findings, keep_line};
use crate::profile::Profile;
use crate::report::words::add;

/// What a report shows.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Kernels whose demangled name matches.
    pub kernel: Option<Regex>,
    /// Lines of files whose path contains this.
    pub source: Option<String>,
    /// Allocations of this name, or else whose name contains it, and the accesses to them.
    pub allocation: Option<String>,
    /// What concerns this line.
    pub line: Option<LinePlace>,
    /// These findings, and what stands at their lines.
    pub finding: Option<FindingChoice>,
    /// Rows per table.
    pub top: usize,
}

/// Numbers of the allocations of a name; where there is none, of those whose name contains it.
pub fn allocations_named(profile: &Profile, name: &str) -> Vec<u64> {
    let ids = |fits: &dyn Fn(&str) -> bool| -> Vec<u64> {
        let named = profile.allocations.iter().filter(|row| row.name.as_deref().is_some_and(fits));
        named.map(|row| row.id).collect()
    };
    let exact = ids(&|known| known == name);
    if exact.is_empty() { ids(&|known| known.contains(name)) } else { exact }
}

/// The profile without the rows that the filter leaves out; `None` when it leaves nothing.
/// Kernel totals stay those of the whole kernel; those of allocations become sums over the kernels that are left.
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
        kept.faults.retain(|row| row.kernel.is_none_or(|kernel| ids.contains(&kernel)));
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
    if let Some(name) = &filter.allocation {
        let ids: BTreeSet<u64> = allocations_named(&kept, name).into_iter().collect();
        if ids.is_empty() {
            return None;
        }
        kept.allocations.retain(|row| ids.contains(&row.id));
        kept.sites
            .retain(|row| row.by_allocation.iter().any(|part| part.allocation.is_some_and(|id| ids.contains(&id))));
        kept.findings.retain(|row| row.allocation.is_some_and(|id| ids.contains(&id)));
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
    Some(kept)
}
