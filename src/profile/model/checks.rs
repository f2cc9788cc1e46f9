//! Results of checks: bad accesses, conflicts between threads, and missing launches.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};
use warpline_format::event::LaunchId;

use super::frames::Frame;

/// A bad access.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// `out_of_bounds`, `misaligned`, `misaligned_local` (an access to a local variable, which was executed), `freed`,
    /// `shared_out_of_bounds`, `shared_variable` (inside the block's shared memory, but outside the variable that the
    /// access is based on), `member` (outside the member of a structure that the access indexes), `local_out_of_bounds`, `hardware`, or `divergent_barrier` or `different_barriers` (which
    /// are not accesses and have no address).
    pub kind: String,
    /// Kernel; `None` when unknown.
    pub kernel: Option<u32>,
    /// Launch.
    pub launch: u64,
    /// User frame; unknown fields are empty.
    pub frame: Frame,
    /// For two different barriers: the one at which warps of the block were already waiting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<Frame>,
    /// `load`, `store`, `atomic`; empty when unknown.
    pub op: String,
    /// Bytes per lane; 0 if unknown.
    pub bytes: u32,
    /// Linear index of the block.
    pub block: u64,
    /// Linear index of the thread in the block.
    pub thread: u32,
    /// Hexadecimal device address; `host` for ordinary host memory, whose addresses differ between runs.
    pub address: String,
    /// The nearest allocation.
    pub allocation: Option<u64>,
    /// Offset in bytes from its start; negative if the address is before it.
    pub offset: Option<i64>,
    /// Name of the shared variable that the access left for another one; the offset is from its start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// Size of that variable in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable_bytes: Option<u32>,
    /// The member of a structure that the access indexes but does not meet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<FaultMember>,
    /// Whether the kernel was stopped.
    pub stopped: bool,
    /// Host call path of the launch.
    pub path: Vec<Frame>,
    /// Rank of the process, in profiles of several ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
}

/// A member of a structure that an access indexes, and the position of the access in the structure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultMember {
    /// Name of the member with its variable, for example `particles.velocity`.
    pub name: String,
    /// Name of the structure; empty if it has none.
    pub structure: String,
    /// Size of the structure in bytes.
    pub structure_bytes: u32,
    /// Offset in bytes of the member from the start of the structure.
    pub start: u32,
    /// Size of the member in bytes.
    pub bytes: u32,
    /// Offset in bytes of the access from the start of the structure.
    pub offset: u32,
    /// Path of the member that the access meets, for example `.mass` or `.keys[]`; empty for padding, or if it is unknown.
    pub met: String,
}

/// Reads by one access, or copies from one line, of uninitialised bytes of one allocation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Uninitialised {
    /// `read`, or `copy` for a copy to the host.
    pub kind: String,
    /// For reads: each lane also reads written bytes. For copies: no run of uninitialised bytes is 8 bytes or longer.
    /// Both may be padding of structures.
    pub partial: bool,
    /// Kernel that reads the bytes.
    pub kernel: Option<u32>,
    /// Launch of the first read.
    pub launch: Option<u64>,
    /// User frame of the access; unknown fields are empty. For copies, all fields are empty; the position is the
    /// innermost frame of the path.
    pub frame: Frame,
    /// `load` or `atomic`; empty for copies.
    pub op: String,
    /// Bytes per lane of a read; 0 for copies.
    pub bytes: u32,
    /// `global` or `shared`.
    pub space: String,
    /// Variable in shared memory, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// Allocation that contains the bytes.
    pub allocation: Option<u64>,
    /// Freed allocation that previously occupied the memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<u64>,
    /// Offset in bytes of the first byte from the start of the allocation or of the block's shared memory.
    pub offset: u64,
    /// Bytes of the allocation that had been written at the time of the first read.
    pub written: u64,
    /// Number of copies, or of requests with a lane that reads uninitialised bytes.
    pub count: u64,
    /// Number of such lanes, summed over requests.
    pub lanes: u64,
    /// Uninitialised bytes of the copies.
    pub copied_uninitialised: u64,
    /// Total bytes of the copies.
    pub copied: u64,
    /// Linear index of the first read's block.
    pub block: u64,
    /// Linear index of the first read's thread in the block.
    pub thread: u32,
    /// Host call path of the launch, or of the copy.
    pub path: Vec<Frame>,
}

impl Uninitialised {
    /// Sorts rows by their subjects.
    pub fn sort(rows: &mut [Uninitialised]) {
        rows.sort_by(|one, other| one.order(other).then_with(|| one.path.cmp(&other.path)));
    }

    /// Returns whether two rows describe the same access or copy in different runs.
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

    /// Compares rows by their subjects.
    fn order(&self, other: &Uninitialised) -> Ordering {
        let [one, other] = [self, other].map(|row| {
            let place = (&row.kind, row.kernel, &row.frame, row.partial);
            (place, &row.op, row.bytes, &row.space, &row.variable, row.allocation)
        });
        one.cmp(&other)
    }
}

/// Failed API calls from one source position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailedCall {
    /// API function, for example `cudaFree`.
    pub function: String,
    /// CUDA error code.
    pub error: i32,
    /// Name of the error, for example `cudaErrorInvalidValue`.
    pub name: String,
    /// Text of the error, as `cudaGetErrorString` returns it.
    pub text: String,
    /// The specific cause, such as the limit that a launch exceeds; empty if unknown.
    pub detail: String,
    /// Number of calls.
    pub calls: u64,
    /// Host call path.
    pub path: Vec<Frame>,
}

impl FailedCall {
    /// Sorts rows by source position, function and error.
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

    /// Returns whether both are calls of one function from one source position with the same error.
    pub fn is_like(&self, other: &FailedCall) -> bool {
        (&self.path, &self.function, self.error, &self.detail)
            == (&other.path, &other.function, other.error, &other.detail)
    }
}

/// Two unordered accesses to the same bytes by different threads; at least one of them writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conflict {
    /// `warning`, or `note` if the conflict may be intended or harmless.
    pub severity: String,
    /// `race`; `one_store`: all stores have the same source position and may store the same value; `flag`: other blocks
    /// read a stored constant, or a load reads a value that others replace by compare-and-swap; `maybe_ordered`:
    /// atomics or volatile accesses in between may order the accesses.
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
    /// Variable in shared memory, if known.
    pub variable: Option<String>,
    /// Offset in bytes from the start of the allocation, or of the block's shared memory.
    pub offset: u64,
    /// Number of conflicting 4-byte words, counted at each conflict.
    pub count: u64,
    /// Host call path of the launch.
    pub path: Vec<Frame>,
}

/// Host code that accesses memory which only the device can access (`--check-host`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostAccess {
    /// What it accesses.
    pub allocation: u64,
    /// `load` or `store`.
    pub op: String,
    /// Bytes from the start of the allocation to the first access.
    pub offset: u64,
    /// Accesses: the first between each two calls of the CUDA API.
    pub count: u64,
    /// Call path of the access.
    pub path: Vec<Frame>,
}

impl HostAccess {
    /// Returns whether both are accesses of one kind from one place to one allocation.
    pub fn is_like(&self, other: &HostAccess) -> bool {
        (self.allocation, &self.op, &self.path) == (other.allocation, &other.op, &other.path)
    }

    /// Adds a row that is like this one.
    pub fn add(&mut self, other: &HostAccess) {
        self.count = self.count.saturating_add(other.count);
        self.offset = self.offset.min(other.offset);
    }

    /// Sorts rows by allocation and place.
    pub fn sort(rows: &mut [HostAccess]) {
        rows.sort_by(|one, other| {
            (one.allocation, &one.path, &one.op).cmp(&(other.allocation, &other.path, &other.op))
        });
    }
}

/// Unordered accesses to the same bytes by launches or copies of two streams; at least one of them writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamConflict {
    /// The two sides, in the order of the calls.
    pub accesses: [StreamAccess; 2],
    /// The accessed allocation.
    pub allocation: u64,
    /// Offset in bytes of the first byte that both access.
    pub offset: u64,
    /// Number of bytes that both access: the maximum over pairs of launches or copies.
    pub bytes: u64,
    /// Number of pairs of launches or copies.
    pub pairs: u64,
}

impl StreamConflict {
    /// Returns whether both describe the same lines and memory.
    pub fn is_like(&self, other: &StreamConflict) -> bool {
        let accesses = |row: &StreamConflict| {
            let place = |one: &StreamAccess| if one.kernel.is_some() { Vec::new() } else { one.path.clone() };
            row.accesses.each_ref().map(|one| (one.op.clone(), one.kernel, one.frame.clone(), place(one)))
        };
        self.allocation == other.allocation && accesses(self) == accesses(other)
    }

    /// Adds a matching row of other launches or of another run.
    pub fn add(&mut self, other: &StreamConflict) {
        self.pairs = self.pairs.saturating_add(other.pairs);
        self.bytes = self.bytes.max(other.bytes);
        self.offset = self.offset.min(other.offset);
    }

    /// Sorts rows in descending order of the touched bytes.
    pub fn sort(rows: &mut [StreamConflict]) {
        rows.sort_by_cached_key(|row| (std::cmp::Reverse(row.bytes), serde_json::to_string(row).unwrap_or_default()));
    }
}

/// One side of a conflict between streams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamAccess {
    /// `load`, `store` or `atomic` of a kernel; `copy_to` or `copy_from` device memory; `fill`; `host_load` or `host_store`
    /// of host code.
    pub op: String,
    /// Kernel; `None` for copies, fills and host code.
    pub kernel: Option<u32>,
    /// User frame of the access. Without a kernel it is empty; the position is the innermost frame of the path.
    pub frame: Frame,
    /// Number of the stream; 0 is the default stream.
    pub stream: u32,
    /// Host call path of the launch or copy, or of the host's access.
    pub path: Vec<Frame>,
}

/// One of two conflicting accesses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConflictParty {
    /// `load`, `store` or `atomic`.
    pub op: String,
    /// User frame.
    pub frame: Frame,
    /// Number of the site in its module.
    pub site: u32,
    /// Linear index of the block.
    pub block: u64,
    /// Number of the warp in the block.
    pub warp: u32,
    /// Dependence of a store or an atomic operation on a load of the same address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<ConflictUpdate>,
    /// Whether it is an atomic operation of block scope.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub block_scope: bool,
}

/// Dependence of a store or an atomic operation on a load of the same address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConflictUpdate {
    /// `value`: its value is computed from the loaded one, or it is a compare-and-swap that expects the loaded value.
    /// `condition`: the loaded value decides whether it is executed.
    pub by: String,
    /// Line of the load; 0 if unknown.
    pub line: u32,
}

/// Work that is missing in the figures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// `ended_early`, `after_stop` (launches that did not start because of the error of an earlier one),
    /// `not_instrumented` or `refused`.
    pub what: String,
    /// The kernel, if the profile contains it.
    #[serde(default)]
    pub kernel: Option<u32>,
    /// Name of the kernel, if the profile does not contain it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The launch that ended early; absent in a row that combines several launches of one kernel.
    #[serde(default)]
    pub launch: Option<LaunchId>,
    /// Number of launches that are missing or incomplete.
    pub launches: u64,
    /// CUDA error code.
    #[serde(default)]
    pub error: Option<i32>,
    /// The reason as text.
    pub reason: String,
}

impl Missing {
    /// Returns whether a GPU would have done more of this work. Work that a GPU also refuses is not missing.
    pub fn is_work(&self) -> bool {
        self.what != "refused"
    }

    /// Returns whether the row describes a launch that ended early.
    pub fn ended_early(&self) -> bool {
        self.what == "ended_early"
    }
}
