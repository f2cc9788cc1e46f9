//! Exceptional floating-point results, and where NaNs and infinities in memory come from.

use std::collections::BTreeMap;

use warpline_format::event::{AllocationId, LaunchId, PathId};
use warpline_format::operation::{FloatClass, FloatException, FloatKind, FloatStep};

/// Most operations that have exceptional results, and most allocations with an origin.
const MOST_PLACES: usize = 10_000;

/// Results of one operation that are exceptional alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExceptionKey {
    /// Kernel, by number.
    pub kernel: u32,
    /// Index into the site table's operations.
    pub operation: u32,
    /// What they are.
    pub kind: FloatKind,
}

/// All launches' results of one key.
#[derive(Clone, Debug, PartialEq)]
pub struct ExceptionSum {
    /// The first, with the counts of all.
    pub first: FloatException,
    /// Host call path of its launch.
    pub path: PathId,
}

/// A step, in the numbers of the analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OriginStep {
    /// As announced.
    pub step: FloatStep,
    /// Kernel, by number.
    pub kernel: u32,
    /// Row of the allocation.
    pub allocation: Option<AllocationId>,
}

/// The first exceptional value in an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// What it is.
    pub class: FloatClass,
    /// From the store back.
    pub steps: Vec<OriginStep>,
    /// Host call path of the launch that stored it.
    pub path: PathId,
}

/// All that the floating-point check reported.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Floats {
    /// The run had the check.
    pub checked: bool,
    /// Keyed by kernel, operation and kind.
    pub exceptions: BTreeMap<ExceptionKey, ExceptionSum>,
    /// In order of stores; one per row of allocations and class.
    pub origins: Vec<Origin>,
    /// Kernels of launches that were over when a later step named them.
    pub kernels: BTreeMap<LaunchId, u32>,
    /// Places beyond [`MOST_PLACES`].
    pub more: u64,
}

impl Floats {
    /// Adds the results of a launch.
    pub(super) fn add(&mut self, key: ExceptionKey, found: FloatException, path: PathId) {
        self.kernels.insert(found.launch, key.kernel);
        if self.exceptions.len() >= MOST_PLACES && !self.exceptions.contains_key(&key) {
            self.more = self.more.saturating_add(1);
            return;
        }
        let first = FloatException { requests: 0, lanes: 0, ..found };
        let sum = &mut self.exceptions.entry(key).or_insert(ExceptionSum { first, path }).first;
        sum.requests = sum.requests.saturating_add(found.requests);
        sum.lanes = sum.lanes.saturating_add(found.lanes);
    }

    /// Adds an origin, unless one of the same row and class is there.
    pub(super) fn add_origin(&mut self, origin: Origin) {
        let row = |origin: &Origin| (origin.class, origin.steps.first().and_then(|step| step.allocation));
        if self.origins.iter().any(|known| row(known) == row(&origin)) {
            return;
        }
        match self.origins.len() < MOST_PLACES {
            true => self.origins.push(origin),
            false => self.more = self.more.saturating_add(1),
        }
    }
}
