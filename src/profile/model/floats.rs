//! Exceptional floating-point values.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::frames::Frame;

/// Results of one operation that are exceptional, though no operand is so in the same way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FloatException {
    /// `nan`, `division_by_zero`, `overflow`, `conversion_overflow`, `subnormal`, or `loaded_nan` (a NaN in memory that no
    /// operation was seen to store).
    pub kind: String,
    /// Kernel.
    pub kernel: u32,
    /// User frame.
    pub frame: Frame,
    /// Name of the operation, as `multiply-add`.
    pub operation: String,
    /// Format of the results: `half`, `bfloat16`, `float` or `double`.
    pub format: String,
    /// Executions by a warp with such a result.
    pub requests: u64,
    /// Such results.
    pub lanes: u64,
    /// Launch of the first.
    pub launch: u64,
    /// Linear block of the first.
    pub block: u64,
    /// Linear thread in the block of the first.
    pub thread: u32,
    /// Operands of the first, in decimal, `inf` or `nan`.
    pub operands: Vec<String>,
    /// Host call path of the launch of the first.
    pub path: Vec<Frame>,
}

/// Where the first NaN or infinity that kernels stored to an allocation came from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FloatOrigin {
    /// `nan` or `infinity`.
    pub kind: String,
    /// From the store back to the operation that made the value, or to the load that found it in memory.
    pub steps: Vec<FloatStep>,
    /// Host call path of the launch that stored it.
    pub path: Vec<Frame>,
}

/// A place that a value came through.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FloatStep {
    /// `store`, `load`, or the name of an operation.
    pub operation: String,
    /// Kernel.
    pub kernel: u32,
    /// User frame.
    pub frame: Frame,
    /// Launch.
    pub launch: u64,
    /// Linear block.
    pub block: u64,
    /// Linear thread in the block.
    pub thread: u32,
    /// Allocation that a load reads or a store writes; `None` in shared memory and for operations.
    pub allocation: Option<u64>,
    /// Bytes from its start.
    pub offset: u64,
}

impl FloatException {
    /// Sorts rows by kernel and place.
    pub fn sort(rows: &mut [FloatException]) {
        rows.sort_by(FloatException::order);
    }

    /// Returns whether both are results of one operation.
    pub fn is_like(&self, other: &FloatException) -> bool {
        self.order(other).is_eq()
    }

    /// Adds the results of another run, or of a copy of the operation at the same place.
    pub fn add(&mut self, more: &FloatException) {
        let example = |row: &FloatException| (row.launch, row.block, row.thread);
        let (requests, lanes) = (self.requests.saturating_add(more.requests), self.lanes.saturating_add(more.lanes));
        if example(more) < example(self) {
            *self = more.clone();
        }
        (self.requests, self.lanes) = (requests, lanes);
    }

    /// Order by what rows are about.
    fn order(&self, other: &FloatException) -> Ordering {
        let [one, other] = [self, other].map(|row| (row.kernel, &row.frame, &row.kind, &row.operation, &row.format));
        one.cmp(&other)
    }
}

impl FloatOrigin {
    /// Returns the store.
    pub fn store(&self) -> Option<&FloatStep> {
        self.steps.first()
    }

    /// Returns the operation that made the value, or the load that found it.
    pub fn source(&self) -> Option<&FloatStep> {
        self.steps.last()
    }
}
