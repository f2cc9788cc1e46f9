//! Contents of a snapshot.

use serde::{Deserialize, Serialize};

/// Value of [`Snapshot::schema`].
pub const SCHEMA: &str = "warpline.live";
/// Kernels that a snapshot names, those with most traffic.
pub const MOST_KERNELS: usize = 200;

/// State of a run in progress.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// [`SCHEMA`].
    pub schema: String,
    /// 1.
    pub version: u32,
    /// Process of the analysis.
    pub pid: u32,
    /// Process of the program.
    pub program_pid: u32,
    /// Program and its arguments.
    pub program: Vec<String>,
    /// Where the profile will go.
    pub output: String,
    /// Seconds since the program was started.
    pub seconds: f64,
    /// Launches that were analysed to their end.
    pub launches: u64,
    /// Requests analysed.
    pub requests: u64,
    /// Bytes of the trace that were read.
    pub trace_bytes: u64,
    /// Bytes that wait in the ring for the analysis, and how many it holds; where it is full, the program waits.
    pub waiting_bytes: u64,
    /// See [`Snapshot::waiting_bytes`].
    pub ring_bytes: u64,
    /// Resident memory.
    pub memory: Memory,
    /// Kernel that the trace is at.
    pub current_kernel: Option<String>,
    /// Kernels with most traffic so far; of launches that have ended.
    pub kernels: Vec<KernelRow>,
    /// All kernels.
    pub kernel_count: u64,
}

/// Resident memory of both processes in bytes; `None` where it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Of the analysis.
    pub analysis_bytes: Option<u64>,
    /// Of the program.
    pub program_bytes: Option<u64>,
}

/// A kernel so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelRow {
    /// Demangled name.
    pub name: String,
    /// Launches that have ended.
    pub launches: u64,
    /// Global and local requests.
    pub requests: u64,
    /// Their sectors.
    pub sectors: u64,
    /// Hit rate of loads; `None` without lookups of loads.
    pub l1_hit_rate: Option<f64>,
    /// Hit rate of all lookups of level 2.
    pub l2_hit_rate: Option<f64>,
    /// Sectors read from and written to memory.
    pub dram_sectors: u64,
}

/// Returns whether a process lives.
pub fn is_running(pid: u32) -> bool {
    let Ok(pid) = i32::try_from(pid) else { return false };
    // SAFETY: signal 0 is not delivered; it only tests.
    let answer = unsafe { libc::kill(pid, 0) };
    pid > 0 && (answer == 0 || std::io::Error::last_os_error().raw_os_error() == Some(libc::EPERM))
}
