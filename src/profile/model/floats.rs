//! Exceptional floating-point values.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::frames::Frame;

/// Exceptional results of one operation whose operands are not exceptional in the same way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FloatException {
    /// `nan`, `division_by_zero`, `overflow`, `conversion_overflow`, `subnormal`, or `loaded_nan` (a NaN in memory that
    /// no recorded operation stored).
    pub kind: String,
    /// Kernel.
    pub kernel: u32,
    /// User frame.
    pub frame: Frame,
    /// Name of the operation, for example `multiply-add`.
    pub operation: String,
    /// Format of the results: `half`, `bfloat16`, `float` or `double`.
    pub format: String,
    /// Number of executions by a warp with such a result.
    pub requests: u64,
    /// Number of such results.
    pub lanes: u64,
    /// Launch of the first result.
    pub launch: u64,
    /// Linear index of the first result's block.
    pub block: u64,
    /// Linear index of the first result's thread in the block.
    pub thread: u32,
    /// Operands of the first result, as decimal numbers, `inf` or `nan`.
    pub operands: Vec<String>,
    /// Host call path of the first result's launch.
    pub path: Vec<Frame>,
}

/// Origin of the first NaN or infinity that kernels stored to an allocation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FloatOrigin {
    /// `nan` or `infinity`.
    pub kind: String,
    /// Steps from the store back to the operation that produced the value, or to the load that read it from memory.
    pub steps: Vec<FloatStep>,
    /// Host call path of the launch that stored the value.
    pub path: Vec<Frame>,
}

/// An instruction that the value passed through.
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
    /// Linear index of the block.
    pub block: u64,
    /// Linear index of the thread in the block.
    pub thread: u32,
    /// Allocation that a load reads or a store writes; `None` for shared memory and for operations.
    pub allocation: Option<u64>,
    /// Offset in bytes from its start.
    pub offset: u64,
    /// Whether it passes on the value of an operand, as a matrix product with a NaN factor does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub passes: bool,
}

impl FloatException {
    /// Sorts rows by kernel and source position.
    pub fn sort(rows: &mut [FloatException]) {
        rows.sort_by(FloatException::order);
    }

    /// Returns whether both are results of one operation.
    pub fn is_like(&self, other: &FloatException) -> bool {
        self.order(other).is_eq()
    }

    /// Adds the results of another run, or of a copy of the operation at the same source position.
    pub fn add(&mut self, more: &FloatException) {
        let example = |row: &FloatException| (row.launch, row.block, row.thread);
        let (requests, lanes) = (self.requests.saturating_add(more.requests), self.lanes.saturating_add(more.lanes));
        if example(more) < example(self) {
            *self = more.clone();
        }
        (self.requests, self.lanes) = (requests, lanes);
    }

    /// Compares rows by their subjects.
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

    /// Returns the operation that produced the value, or the load that read it.
    pub fn source(&self) -> Option<&FloatStep> {
        self.steps.last()
    }
}
