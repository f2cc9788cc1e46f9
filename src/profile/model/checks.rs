//! What went wrong: bad accesses, conflicts between warps, launches that are missing.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};
use warpline_format::event::LaunchId;

use super::frames::Frame;

/// A bad access.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// `out_of_bounds`, `misaligned`, `misaligned_local` (to a local variable, which was carried out), `freed`,
    /// `shared_out_of_bounds`, `local_out_of_bounds`, `hardware`, or `divergent_barrier` or `different_barriers` (which are no
    /// accesses and have no address).
    pub kind: String,
    /// Kernel; `None` when unknown.
    pub kernel: Option<u32>,
    /// Launch.
    pub launch: u64,
    /// User frame; unknown fields are empty.
    pub frame: Frame,
    /// The other of two barriers, at which warps of the block waited already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<Frame>,
    /// `load`, `store`, `atomic`; empty when unknown.
    pub op: String,
    /// Per lane; 0 unknown.
    pub bytes: u32,
    /// Linear block.
    pub block: u64,
    /// Linear thread in the block.
    pub thread: u32,
    /// Device address, hexadecimal; `host` for ordinary host memory, whose addresses differ from run to run.
    pub address: String,
    /// Nearest allocation.
    pub allocation: Option<u64>,
    /// Bytes from its start; negative before it.
    pub offset: Option<i64>,
    /// The kernel was stopped.
    pub stopped: bool,
    /// Host call path of the launch.
    pub path: Vec<Frame>,
    /// Rank that made it, in profiles of several ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
}

/// Reads by one access, or copies from one line, of bytes of one allocation that nothing has written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Uninitialised {
    /// `read`, or `copy` of bytes to the host.
    pub kind: String,
    /// Reads: each lane reads written bytes as well. Copies: no run of uninitialised bytes is as long as 8 bytes. Both may be
    /// padding of structures.
    pub partial: bool,
    /// Kernel that reads.
    pub kernel: Option<u32>,
    /// Launch of the first read.
    pub launch: Option<u64>,
    /// User frame of the access; unknown fields are empty, as all are for copies, whose place is the innermost frame of the path.
    pub frame: Frame,
    /// `load` or `atomic`; empty for copies.
    pub op: String,
    /// Bytes per lane of a read; 0 for copies.
    pub bytes: u32,
    /// `global` or `shared`.
    pub space: String,
    /// Variable in shared memory, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// Allocation that holds the bytes.
    pub allocation: Option<u64>,
    /// Allocation that held the same memory before and was freed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<u64>,
    /// Bytes from the start of the allocation, or of the block's shared memory, to the first one.
    pub offset: u64,
    /// Bytes of the allocation that had been written at the first read.
    pub written: u64,
    /// Requests with a lane that reads such bytes, or copies.
    pub count: u64,
    /// Such lanes, summed over requests.
    pub lanes: u64,
    /// Uninitialised bytes of the copies.
    pub copied_uninitialised: u64,
    /// All bytes of the copies.
    pub copied: u64,
    /// Linear block of the first read.
    pub block: u64,
    /// Linear thread in the block of the first read.
    pub thread: u32,
    /// Host call path of the launch, or of the copy.
    pub path: Vec<Frame>,
}

impl Uninitialised {
    /// Sorts rows by what they are about.
    pub fn sort(rows: &mut [Uninitialised]) {
        rows.sort_by(|one, other| one.order(other).then_with(|| one.path.cmp(&other.path)));
    }

    /// Returns whether both are the same access or copy, in different runs.
    pub fn is_like(&self, other: &Uninitialised) -> bool {
        self.order(other).is_eq() && (self.kind == "read" || self.path == other.path)
    }

    /// Adds the reads or copies of another run.
    pub fn add(&mut self, more: &Uninitialised) {
        let example = |row: &Uninitialised| (row.launch, row.block, row.thread, row.offset);
        let mut sum = if example(more) < example(self) { more.clone() } else { self.clone() };
        sum.count = self.count.saturating_add(more.count);
        sum.lanes = self.lanes.saturating_add(more.lanes);
        sum.copied_uninitialised = self.copied_uninitialised.saturating_add(more.copied_uninitialised);
        sum.copied = self.copied.saturating_add(more.copied);
        *self = sum;
    }

    /// Order by what rows are about.
    fn order(&self, other: &Uninitialised) -> Ordering {
        let [one, other] = [self, other].map(|row| {
            let place = (&row.kind, row.kernel, &row.frame, row.partial);
            (place, &row.op, row.bytes, &row.space, &row.variable, row.allocation)
        });
        one.cmp(&other)
    }
}

/// Calls of CUDA's API from one place that returned an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailedCall {
    /// API function, as `cudaFree`.
    pub function: String,
    /// CUDA error code.
    pub error: i32,
    /// Its name, as `cudaErrorInvalidValue`.
    pub name: String,
    /// Its text, as `cudaGetErrorString` returns it.
    pub text: String,
    /// What in particular is wrong, as the limit that a launch exceeds; empty where nothing more is known.
    pub detail: String,
    /// Number of calls.
    pub calls: u64,
    /// Host call path.
    pub path: Vec<Frame>,
}

impl FailedCall {
    /// Sorts rows by place, function and error.
    pub fn sort(rows: &mut [FailedCall]) {
        rows.sort_by(|one, other| {
            (&one.path, &one.function, one.error, &one.detail).cmp(&(
                &other.path,
                &other.function,
                other.error,
                &other.detail,
            ))
        });
    }

    /// Returns whether both are calls of one function from one place that failed alike.
    pub fn is_like(&self, other: &FailedCall) -> bool {
        (&self.path, &self.function, self.error, &self.detail)
            == (&other.path, &other.function, other.error, &other.detail)
    }
}

/// Two accesses of the same bytes by different threads, at least one of them writing, that nothing orders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conflict {
    /// `warning`, or `note` for what may be meant or harmless.
    pub severity: String,
    /// `race`; `one_store`: all stores are of one place and may store the same value; `flag`: a constant that
    /// other blocks read, or a load of what others replace by compare-and-swap; `maybe_ordered`: atomics or volatile accesses in between may order them.
    pub verdict: String,
    /// `warp`: lanes of one warp in one request; `block`: warps of one block between the same barriers; `grid`: warps of different blocks.
    pub scope: String,
    /// `global` or `shared`.
    pub space: String,
    /// Kernel.
    pub kernel: u32,
    /// Launch of the example.
    pub launch: u64,
    /// The example: first the access that writes.
    pub accesses: [ConflictParty; 2],
    /// Allocation that the bytes belong to.
    pub allocation: Option<u64>,
    /// Variable in shared memory, where it is known.
    pub variable: Option<String>,
    /// Bytes from the start of the allocation, or of the block's shared memory.
    pub offset: u64,
    /// Words of four bytes, each as often as it was met.
    pub count: u64,
    /// Host call path of the launch.
    pub path: Vec<Frame>,
}

/// Accesses of the same bytes by launches or copies of two streams, at least one of them writing, that nothing orders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamConflict {
    /// In the order of the calls.
    pub accesses: [StreamAccess; 2],
    /// What they access.
    pub allocation: u64,
    /// Bytes from its start to the first that both access.
    pub offset: u64,
    /// Bytes that both access, in the pair of launches or copies where they are most.
    pub bytes: u64,
    /// Pairs of launches or copies.
    pub pairs: u64,
}

impl StreamConflict {
    /// Returns whether both are about the same lines and memory.
    pub fn is_like(&self, other: &StreamConflict) -> bool {
        let accesses = |row: &StreamConflict| {
            let place = |one: &StreamAccess| if one.kernel.is_some() { Vec::new() } else { one.path.clone() };
            row.accesses.each_ref().map(|one| (one.op.clone(), one.kernel, one.frame.clone(), place(one)))
        };
        self.allocation == other.allocation && accesses(self) == accesses(other)
    }

    /// Adds a row of other launches, or of another run, that is like this one.
    pub fn add(&mut self, other: &StreamConflict) {
        self.pairs = self.pairs.saturating_add(other.pairs);
        self.bytes = self.bytes.max(other.bytes);
        self.offset = self.offset.min(other.offset);
    }

    /// Sorts rows: those that touch most bytes first.
    pub fn sort(rows: &mut [StreamConflict]) {
        rows.sort_by_cached_key(|row| (std::cmp::Reverse(row.bytes), serde_json::to_string(row).unwrap_or_default()));
    }
}

/// One side of a conflict between streams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamAccess {
    /// `load`, `store` or `atomic` of a kernel; `copy_to` or `copy_from` device memory; `fill`.
    pub op: String,
    /// Kernel; `None` for copies and fills.
    pub kernel: Option<u32>,
    /// User frame of the access; empty for copies and fills, whose place is the innermost frame of the path.
    pub frame: Frame,
    /// Stream, 0 the default.
    pub stream: u32,
    /// Host call path of the launch or copy.
    pub path: Vec<Frame>,
}

/// One of the two accesses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConflictParty {
    /// `load`, `store` or `atomic`.
    pub op: String,
    /// User frame.
    pub frame: Frame,
    /// Number of the site in its module.
    pub site: u32,
    /// Linear block.
    pub block: u64,
    /// Warp in the block.
    pub warp: u32,
    /// How a store or an atomic operation depends on a load of the same address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<ConflictUpdate>,
    /// An atomic operation of block scope.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub block_scope: bool,
}

/// How a store or an atomic operation depends on a load of the same address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConflictUpdate {
    /// `value`: its value is computed from the loaded one, or it is a compare-and-swap that expects it; `condition`: whether it
    /// happens depends on the loaded value.
    pub by: String,
    /// Line of the load; 0 where it is unknown.
    pub line: u32,
}

/// Something that is missing in the figures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// `ended_early`, `after_stop` (launches that an earlier one's error kept from beginning), `not_instrumented` or `refused`.
    pub what: String,
    /// Kernel, where it is in the profile.
    #[serde(default)]
    pub kernel: Option<u32>,
    /// Kernel's name, where it is not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The launch that ended early; several of one kernel beyond the first ones are in one row and have none.
    #[serde(default)]
    pub launch: Option<LaunchId>,
    /// Launches that are missing, or missing in part.
    pub launches: u64,
    /// CUDA error code.
    #[serde(default)]
    pub error: Option<i32>,
    /// In words.
    pub reason: String,
}

impl Missing {
    /// Returns whether a GPU would have done it, or more of it. What a GPU refuses as well is not work of the program.
    pub fn is_work(&self) -> bool {
        self.what != "refused"
    }

    /// Returns whether it is a launch that ended early.
    pub fn ended_early(&self) -> bool {
        self.what == "ended_early"
    }
}
