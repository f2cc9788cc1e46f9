//! The state of a merge.

use std::collections::{BTreeMap, BTreeSet};

use super::ids::MergedRows;
use super::over::{KernelOver, RowOver};
use super::run::Facts;
use warpline_profile::Profile;

/// The profiles merged so far.
#[derive(Debug)]
pub(super) struct Merged {
    pub(super) known: MergedRows,
    pub(super) whole: Profile,
    pub(super) facts: Facts,
    /// Kernels that occurred.
    pub(super) met: BTreeSet<u32>,
    pub(super) over: Over,
}

/// Figures over ranks, indexed like the rows.
#[derive(Debug, Default)]
pub(super) struct Over {
    pub(super) kernels: Vec<KernelOver>,
    pub(super) lines: Vec<RowOver>,
    pub(super) sites: Vec<RowOver>,
    pub(super) names: BTreeMap<String, RowOver>,
}
