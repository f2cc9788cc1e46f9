//! Contents of a snapshot.

use serde::{Deserialize, Serialize};

/// Value of [`Snapshot::schema`].
pub const SCHEMA: &str = "warpline.live";
/// Maximum number of kernels in a snapshot; those with the most traffic are kept.
pub const MOST_KERNELS: usize = 200;

/// State of a run in progress.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// [`SCHEMA`].
    pub schema: String,
    /// The version, which is 1.
    pub version: u32,
    /// Process of the analysis.
    pub pid: u32,
    /// Process of the program.
    pub program_pid: u32,
    /// Program and its arguments.
    pub program: Vec<String>,
    /// Path of the profile to be written.
    pub output: String,
    /// Seconds since the program was started.
    pub seconds: f64,
    /// Number of launches whose analysis is complete.
    pub launches: u64,
    /// Number of analysed requests.
    pub requests: u64,
    /// Bytes of the trace that were read.
    pub trace_bytes: u64,
    /// Bytes in the ring that wait for the analysis. If the ring is full, the program waits.
    pub waiting_bytes: u64,
    /// Capacity of the ring in bytes.
    pub ring_bytes: u64,
    /// Resident memory of both processes.
    pub memory: Memory,
    /// Kernel at the current position of the analysis.
    pub current_kernel: Option<String>,
    /// Kernels with the most traffic so far, over ended launches.
    pub kernels: Vec<KernelRow>,
    /// Number of all kernels.
    pub kernel_count: u64,
}

/// Resident memory of both processes in bytes; `None` if unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Memory of the analysis.
    pub analysis_bytes: Option<u64>,
    /// Memory of the program.
    pub program_bytes: Option<u64>,
}

/// Figures of a kernel so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelRow {
    /// Demangled name.
    pub name: String,
    /// Number of ended launches.
    pub launches: u64,
    /// Global and local requests.
    pub requests: u64,
    /// Sectors of these requests.
    pub sectors: u64,
    /// Hit rate of L1 for loads; `None` if there were no lookups of loads.
    pub l1_hit_rate: Option<f64>,
    /// Hit rate of L2 for all lookups.
    pub l2_hit_rate: Option<f64>,
    /// Sectors read from and written to device memory.
    pub dram_sectors: u64,
}

/// Returns whether a process exists.
pub fn is_running(pid: u32) -> bool {
    let Ok(pid) = i32::try_from(pid) else { return false };
    // SAFETY: signal 0 is not delivered; it only tests.
    let answer = unsafe { libc::kill(pid, 0) };
    pid > 0 && (answer == 0 || std::io::Error::last_os_error().raw_os_error() == Some(libc::EPERM))
}
