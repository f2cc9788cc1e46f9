//! Allocations, and copies to and from them.

use serde::{Deserialize, Serialize};

use super::frames::Frame;
use super::metrics::Metrics;
use super::number::{is_one, one};

/// A device allocation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Allocation {
    /// Number.
    pub id: u64,
    /// Variable's name.
    pub name: Option<String>,
    /// `cudaMalloc`, …, `device_global`, `constant`, `compiler`.
    pub kind: String,
    /// Size.
    pub bytes: u64,
    /// Call path of the allocation; for a device variable, its declaration.
    pub path: Vec<Frame>,
    /// Whether all allocations of the row were freed before the end.
    pub freed: bool,
    /// Number of allocations that share this row, because they have the same name, kind, path and size. `bytes` and all
    /// other figures are sums over them.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub count: u64,
    /// Number of these that were freed before the end.
    #[serde(default, skip_serializing_if = "super::number::is_zero")]
    pub freed_count: u64,
    /// Maximum number of simultaneously live allocations from its call path; 0 if the path is unknown.
    #[serde(default, skip_serializing_if = "super::number::is_zero")]
    pub live_at_once: u64,
    /// Bytes of the distinct 32-byte sectors that kernels touched; 0 if nothing was simulated.
    #[serde(default, skip_serializing_if = "super::number::is_zero")]
    pub touched_bytes: u64,
    /// Touched bytes by part of the allocation; absent for a shared row, or if nothing was touched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub touched_map: Option<TouchedMap>,
    /// Lifetime in launches of the program; absent in merged profiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<Lifetime>,
    /// Copies and fills.
    pub copies: Vec<CopyRow>,
    /// Sums over all spaces; absent if requests were counted without addresses.
    #[serde(default, skip_serializing_if = "Metrics::is_unreported")]
    pub metrics: Metrics,
    /// Sums by kernel, sorted by kernel.
    pub by_kernel: Vec<ByKernel>,
}

/// Touched bytes of each part of an allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TouchedMap {
    /// Bytes of a part. The last part may be shorter.
    pub part_bytes: u64,
    /// Bytes of the touched 32-byte sectors in each part, in address order.
    pub touched: Vec<u64>,
    /// Partly touched rows, if the touched sectors have this pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<TouchedRows>,
}

/// Equidistant rows, each with one contiguous touched part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TouchedRows {
    /// Bytes from one row to the next, at the precision of sectors.
    pub pitch_bytes: u64,
    /// Whether the touched parts of all rows have the same length.
    pub equal: bool,
}

/// Lifetime of an allocation, as numbers of launches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lifetime {
    /// Number of the launch after the allocation; in a shared row, of the first allocation.
    pub first_launch: u64,
    /// Number of the launch after the last free; `None` if not all were freed.
    pub last_launch: Option<u64>,
}

/// Copies of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CopyRow {
    /// `host_to_device`, `device_to_host`, `device_to_device`, `host_to_host`, `set`.
    pub direction: String,
    /// Bytes of all copies.
    pub bytes: u64,
    /// Number of copies.
    pub count: u64,
    /// Number of copies that transferred no new data. Their bytes were already at the destination and no kernel had
    /// stored there since the previous copy, or the bytes were still in the device memory from which they had been
    /// copied to the host.
    #[serde(default, skip_serializing_if = "super::number::is_zero")]
    pub unchanged_count: u64,
    /// Number of copies from this allocation to other device memory. The destination's row also counts them.
    #[serde(default, skip_serializing_if = "super::number::is_zero")]
    pub source_count: u64,
    /// Bytes of those copies.
    #[serde(default, skip_serializing_if = "super::number::is_zero")]
    pub source_bytes: u64,
    /// Number of the launch after the first copy; absent in merged profiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_launch: Option<u64>,
    /// Number of the launch after the last copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_launch: Option<u64>,
    /// Host allocation on the other side, if known.
    pub host: Option<u64>,
    /// Call path of the copies.
    pub path: Vec<Frame>,
}

/// The figures of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ByKernel {
    /// Kernel.
    pub kernel: u32,
    /// Sums.
    pub metrics: Metrics,
}

/// Arithmetic intensity by allocation: floating-point results of kernels per byte of the allocation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Intensity {
    /// Allocation.
    pub allocation: u64,
    /// Kernel; `None` for the sum over the kernels that access the allocation and have floating-point results.
    pub kernel: Option<u32>,
    /// Floating-point results of the active lanes of these kernels, without products of tensor cores.
    pub results: u64,
    /// Bytes of the sectors of the allocation that requests touch, before any cache.
    pub requested_bytes: u64,
    /// Bytes of the allocation that DRAM transfers, if the caches were simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dram_bytes: Option<u64>,
    /// Results divided by requested bytes.
    pub per_requested_byte: Option<f64>,
    /// Results divided by bytes of DRAM; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_dram_byte: Option<f64>,
}

/// A host allocation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostAllocation {
    /// Number.
    pub id: u64,
    /// Variable's name.
    pub name: Option<String>,
    /// `malloc`, `new`, ….
    pub kind: String,
    /// Size in bytes, summed over a shared row.
    pub bytes: u64,
    /// Call path of the allocation.
    pub path: Vec<Frame>,
    /// Number of allocations that share this row.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub count: u64,
}
