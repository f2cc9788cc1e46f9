//! Causes of reads of uninitialised bytes.

use super::super::prelude::*;
use warpline_profile::model::Uninitialised;

/// Classification of a read or copy of unwritten bytes.
pub enum Unset {
    /// A copy that contains short unwritten gaps.
    CopiedGaps,
    /// A copy that contains longer unwritten ranges.
    Copied,
    /// Reads of unwritten gaps within elements.
    Gaps,
    /// Another warp of the block writes the shared variable, on this line, and no barrier separates it from the read.
    NoBarrier { line: u32 },
    /// A read of shared memory.
    Shared,
    /// The kernel updates the uninitialised value.
    Update,
    /// A kernel that is launched later writes the memory.
    Order,
    /// Another allocation used the memory earlier.
    Reused { earlier: Shown },
    /// No byte of the allocation is written.
    Never,
    /// A part of the allocation is written; `all` is its size in bytes.
    PartlyWritten { all: u64 },
}

impl Unset {
    /// Returns the first classification that applies.
    pub fn classify(facts: &Facts<'_>, row: &Uninitialised) -> Unset {
        match (&row.kind[..], row.partial) {
            ("copy", true) => return Unset::CopiedGaps,
            ("copy", false) => return Unset::Copied,
            (_, true) => return Unset::Gaps,
            _ => (),
        }
        if row.space == "shared" {
            return race_with(facts, row).map_or(Unset::Shared, |line| Unset::NoBarrier { line });
        }
        if row.op == "atomic" || is_updated(facts, row) {
            return Unset::Update;
        }
        if row.written == 0 && later_writer(facts, row).is_some() {
            return Unset::Order;
        }
        let earlier = row.earlier.and_then(|id| facts.profile.allocation(id)).map(describe);
        match (row.written, earlier) {
            (0, Some(earlier)) => Unset::Reused { earlier },
            (0, None) => Unset::Never,
            _ => Unset::PartlyWritten {
                all: facts.profile.allocation(row.allocation.unwrap_or(0)).map_or(0, |row| row.bytes),
            },
        }
    }
}

/// Returns the line of an unordered store to the shared variable by another warp.
fn race_with(facts: &Facts<'_>, row: &Uninitialised) -> Option<u32> {
    let is_same = |file: &str, line: u32| (file, line) == (&row.frame.file[..], row.frame.line);
    facts.profile.conflicts.iter().filter(|conflict| Some(conflict.kernel) == row.kernel).find_map(|conflict| {
        let reads = conflict.accesses.iter().any(|one| one.op == "load" && is_same(&one.frame.file, one.frame.line));
        let store = conflict.accesses.iter().find(|one| one.op != "load")?;
        (conflict.space == "shared" && reads && conflict.variable == row.variable).then_some(store.frame.line)
    })
}

fn stores_of<'a>(facts: &'a Facts<'_>, row: &'a Uninitialised) -> impl Iterator<Item = &'a Site> {
    facts.profile.sites.iter().filter(move |site| {
        site.op != "load" && site.by_allocation.iter().any(|part| part.allocation == row.allocation)
    })
}

/// Returns whether the line that reads the allocation also stores to it, as `a[i] += b` does.
fn is_updated(facts: &Facts<'_>, row: &Uninitialised) -> bool {
    stores_of(facts, row)
        .any(|site| Some(site.kernel) == row.kernel && (&site.file, site.line) == (&row.frame.file, row.frame.line))
}

/// Returns the kernel that writes the allocation, if it is a different kernel and all its launches come later.
pub fn later_writer(facts: &Facts<'_>, row: &Uninitialised) -> Option<String> {
    let own = |site: &&Site| Some(site.kernel) != row.kernel;
    let writer = stores_of(facts, row).find(own)?.kernel;
    let kernel = facts.profile.kernels.iter().find(|kernel| kernel.id == writer)?;
    let first = kernel.launches.iter().map(|launch| launch.id).min()?;
    let name = kernel.name.split('(').next().unwrap_or_default();
    (Some(first) > row.launch).then(|| format!("`{name}`"))
}
