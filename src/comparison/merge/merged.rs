//! What has been merged so far.

use std::collections::{BTreeMap, BTreeSet};

use super::ids::MergedRows;
use super::over::{KernelOver, RowOver};
use super::run::Facts;
use warpline_profile::Profile;

/// What there is so far.
#[derive(Debug)]
pub(super) struct Merged {
    pub(super) known: MergedRows,
    pub(super) whole: Profile,
    pub(super) facts: Facts,
    /// Kernels that were met.
    pub(super) met: BTreeSet<u32>,
    pub(super) over: Over,
}

/// Figures over ranks, by the places of rows.
#[derive(Debug, Default)]
pub(super) struct Over {
    pub(super) kernels: Vec<KernelOver>,
    pub(super) lines: Vec<RowOver>,
    pub(super) sites: Vec<RowOver>,
    pub(super) names: BTreeMap<String, RowOver>,
}
