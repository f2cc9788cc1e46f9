//! Allocations, and what was copied to and from them.

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
    /// Where it was made; for a device variable its declaration.
    pub path: Vec<Frame>,
    /// Freed before the end; all of them.
    pub freed: bool,
    /// How many allocations share this row, as they have its name, kind, path and size; `bytes` and all other figures
    /// are sums over them.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub count: u64,
    /// How many of these were freed before the end.
    #[serde(default, skip_serializing_if = "super::number::is_zero")]
    pub freed_count: u64,
    /// Most allocations from its call path that were live at the same time; 0 where its path is not known.
    #[serde(default, skip_serializing_if = "super::number::is_zero")]
    pub live_at_once: u64,
    /// Bytes of the 32-byte sectors that kernels touched, each once; 0 where nothing was simulated.
    #[serde(default, skip_serializing_if = "super::number::is_zero")]
    pub touched_bytes: u64,
    /// The same by part of the allocation; absent where several share the row, or nothing was touched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub touched_map: Option<TouchedMap>,
    /// Among the launches of the program; absent where runs were merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<Lifetime>,
    /// Copies and fills.
    pub copies: Vec<CopyRow>,
    /// Over all spaces; absent where requests were counted without their addresses.
    #[serde(default, skip_serializing_if = "Metrics::is_unreported")]
    pub metrics: Metrics,
    /// Sorted by kernel.
    pub by_kernel: Vec<ByKernel>,
}

/// How much kernels touched of each part of an allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TouchedMap {
    /// Bytes of a part; the last one may be shorter.
    pub part_bytes: u64,
    /// Bytes of the 32-byte sectors of each part that were touched, from the allocation's first byte on.
    pub touched: Vec<u64>,
    /// Rows at one distance of each of which a part was touched without a gap; absent where it does not look like that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<TouchedRows>,
}

/// Rows of which a part was touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TouchedRows {
    /// Bytes from a row to the next one, at the precision of sectors.
    pub pitch_bytes: u64,
    /// The parts of all rows are as long.
    pub equal: bool,
}

/// When an allocation was there, by numbers of launches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lifetime {
    /// The launch that follows its start; where several share the row, the first one's.
    pub first_launch: u64,
    /// The launch that follows its end, the last one's; `None` where not all were freed.
    pub last_launch: Option<u64>,
}

/// Copies of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CopyRow {
    /// `host_to_device`, `device_to_host`, `device_to_device`, `host_to_host`, `set`.
    pub direction: String,
    /// All of them.
    pub bytes: u64,
    /// Copies.
    pub count: u64,
    /// Those of them that brought nothing new: their bytes were at the destination already, although no kernel had
    /// stored there since the copy before, or still in the device memory that they had come to the host from.
    #[serde(default, skip_serializing_if = "super::number::is_zero")]
    pub unchanged_count: u64,
    /// Those of them of which this is the source and other device memory the destination, whose row counts them, too.
    #[serde(default, skip_serializing_if = "super::number::is_zero")]
    pub source_count: u64,
    /// Bytes of those.
    #[serde(default, skip_serializing_if = "super::number::is_zero")]
    pub source_bytes: u64,
    /// Number of the launch that follows the first of them; absent where runs were merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_launch: Option<u64>,
    /// Number of the launch that follows the last of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_launch: Option<u64>,
    /// Host allocation on the other side, when known.
    pub host: Option<u64>,
    /// Where.
    pub path: Vec<Frame>,
}

/// What falls to one kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ByKernel {
    /// Kernel.
    pub kernel: u32,
    /// Sums.
    pub metrics: Metrics,
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
    /// Size; of all of them.
    pub bytes: u64,
    /// Where.
    pub path: Vec<Frame>,
    /// How many allocations share this row.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub count: u64,
}
