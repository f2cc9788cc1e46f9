//! Exceptional floating-point results, and the origins of NaNs and infinities in memory.

use std::collections::BTreeMap;

use warpline_format::event::{AllocationId, LaunchId, PathId};
use warpline_format::operation::{FloatClass, FloatException, FloatKind, FloatStep};

/// Maximum number of kept operations with exceptional results, and of allocations with an origin.
const MOST_PLACES: usize = 10_000;

/// Identifies exceptional results of one kind by one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExceptionKey {
    /// Number of the kernel.
    pub kernel: u32,
    /// Index into the site table's operations.
    pub operation: u32,
    /// Kind of the exceptional value.
    pub kind: FloatKind,
}

/// Results of all launches with one key.
#[derive(Clone, Debug, PartialEq)]
pub struct ExceptionSum {
    /// The first result, with the counts of all.
    pub first: FloatException,
    /// Host call path of the first result's launch.
    pub path: PathId,
}

/// A step of an origin, in the analysis's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OriginStep {
    /// The step as recorded.
    pub step: FloatStep,
    /// Number of the kernel.
    pub kernel: u32,
    /// Row of the allocation.
    pub allocation: Option<AllocationId>,
    /// Whether it passes on the value of an operand.
    pub passes: bool,
}

/// The first exceptional value in an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Class of the value.
    pub class: FloatClass,
    /// Steps from the store back to the cause.
    pub steps: Vec<OriginStep>,
    /// Host call path of the launch that stored the value.
    pub path: PathId,
}

/// All results of the floating-point check.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Floats {
    /// Whether the run included the check.
    pub checked: bool,
    /// Exceptional results by kernel, operation and kind.
    pub exceptions: BTreeMap<ExceptionKey, ExceptionSum>,
    /// Origins in the order of their stores; one per allocation row and class.
    pub origins: Vec<Origin>,
    /// Kernels of launches that had ended when a later step referred to them.
    pub kernels: BTreeMap<LaunchId, u32>,
    /// Number of operations beyond [`MOST_PLACES`].
    pub more: u64,
}

impl Floats {
    /// Adds the exceptional results of a launch.
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

    /// Adds an origin, unless one with the same row and class exists.
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
