//! The predicted figures of a configuration, and the reasons why a configuration cannot be predicted.

use super::count::SiteRequests;
use super::request::Requests;
use super::shared_memory::Outside;
use super::traffic::moved::{Distinct, Replayed, Sampled};

/// Relative error of sampled L2 loads besides the sampling error, calibrated
/// (docs/benchmarks/2026-11-29-prediction.md).
const L2_MODEL_ERROR: f64 = 0.02;
/// Relative error of sampled DRAM loads besides the sampling error, calibrated likewise.
const DRAM_MODEL_ERROR: f64 = 0.02;
/// Relative error of DRAM traffic that is estimated from footprints, calibrated.
const ESTIMATE_ERROR: f64 = 0.17;
/// Relative error of sampled DRAM stores: ten times the mean over the same sets.
const STORE_MODEL_ERROR: f64 = 0.01;
/// Relative error of the instruction count, which is scaled from the run in proportion to the requests. It is half of
/// the largest error in 179 shapes of four kernels on three models (12 %, a column sum). The error occurs if a loop
/// over rows grows or shrinks with the block.
pub(super) const INSTRUCTION_ERROR: f64 = 0.06;
/// Standard errors on each side of an interval; 2 corresponds to 95 % of a normal distribution.
pub(super) const INTERVAL_ERRORS: f64 = 2.0;

/// The prediction of a configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Threads per block.
    pub block: [u32; 3],
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Number of resident blocks per SM.
    pub blocks_per_sm: u32,
    /// Requests to global memory.
    pub global: Requests,
    /// Requests to shared memory.
    pub shared: Requests,
    /// Mean number of distinct 32-byte sectors that a block loads.
    pub block_load_sectors: f64,
    /// Bytes loaded from L2.
    pub l2_loads: f64,
    /// Bytes stored to L2.
    pub l2_stores: f64,
    /// Bytes read from DRAM.
    pub dram_loads: f64,
    /// Bytes written to DRAM.
    pub dram_stores: f64,
    /// Pages of 2 MiB that a wave of blocks touches.
    pub wave_pages: f64,
    /// Distinct sectors and lines of a wave and of the launch.
    pub distinct: Distinct,
    /// Sectors that requests load again within their block, summed over all blocks.
    pub repeated_sectors: f64,
    /// Lines that the blocks of an SM load, divided by the capacity of L1.
    pub l1_oversubscription: f64,
    /// Lines that a wave of blocks touches, divided by the capacity of L2.
    pub l2_oversubscription: f64,
    /// Lines touched between two uses of a line, divided by the capacity of L2.
    pub l2_reuse_oversubscription: f64,
    /// Share of data reused from earlier blocks that has to be read from DRAM again.
    pub l2_reuse_lost: f64,
    /// Number of threads that make requests, taken from an access outside loops; all threads if there is none.
    pub active_threads: f64,
    /// The model has rules for the passes through the stages of L1.
    pub has_wavefronts: bool,
    /// Name of the slowest part; empty if no rate is known.
    pub limiter: String,
    /// Lower bound of the time in seconds; `None` if no rate is known.
    pub seconds: Option<f64>,
    /// The time with the traffic at the lower and at the upper end of its interval.
    pub seconds_interval: Option<[f64; 2]>,
    /// Share of the requested sectors whose addresses were affine.
    pub affine_share: f64,
    /// Share of the requested sectors that were computed lane by lane.
    pub computed_share: f64,
    /// Indexed by site of the addresses: its requests and the basis of their count.
    pub sites: Vec<SiteRequests>,
    /// The part of the launch that was replayed through L1.
    pub replayed: Replayed,
    /// The part of the launch that was simulated in L2; `None` if DRAM traffic was estimated from footprints.
    pub sampled: Option<Sampled>,
    /// Relative standard error of the L2 loads, from the spread of misses over SMs.
    pub l2_load_error: f64,
    /// Relative standard error of the DRAM loads, from the spread over groups of lines; `None` if they were estimated
    /// from footprints.
    pub dram_load_error: Option<f64>,
    /// Footprints ignore some edges or overlaps.
    pub rough: bool,
}

impl Prediction {
    /// Returns the relative uncertainty of the L2 loads, one standard error. It combines the spread between SMs, the
    /// error of the model, and the part taken from the run.
    pub fn l2_load_uncertainty(&self) -> f64 {
        self.l2_load_error.hypot(L2_MODEL_ERROR).hypot(self.recorded_share())
    }

    /// Returns the share of the requested sectors whose addresses cannot be computed from the launch. Their figures are
    /// scaled from the run in proportion to threads. The error of this scaling is unknown, so the whole share counts as
    /// one standard error.
    fn recorded_share(&self) -> f64 {
        (1.0 - self.affine_share - self.computed_share).clamp(0.0, 1.0)
    }

    /// Returns the relative uncertainty of the DRAM loads, one standard error. It combines the spread between groups of
    /// lines and the error of the model.
    pub fn dram_load_uncertainty(&self) -> f64 {
        self.dram_load_error.map_or(ESTIMATE_ERROR, |error| error.hypot(DRAM_MODEL_ERROR)).hypot(self.recorded_share())
    }

    /// Returns the relative uncertainty of the DRAM stores, one standard error.
    pub fn dram_store_uncertainty(&self) -> f64 {
        self.dram_load_error.map_or(ESTIMATE_ERROR, |_| STORE_MODEL_ERROR).hypot(self.recorded_share())
    }

    /// Returns the bytes that L2 and DRAM move at the lower and the upper end of the interval, which is two standard errors wide on each
    /// side. L2 stores are counted.
    pub fn traffic_interval(&self) -> [[f64; 2]; 2] {
        [-INTERVAL_ERRORS, INTERVAL_ERRORS].map(|errors| {
            let at = |bytes: f64, uncertainty: f64| bytes * (1.0 + errors * uncertainty).max(0.0);
            let l2 = at(self.l2_loads, self.l2_load_uncertainty()) + self.l2_stores;
            let loads = at(self.dram_loads, self.dram_load_uncertainty());
            [l2, loads + at(self.dram_stores, self.dram_store_uncertainty())]
        })
    }
}

/// Reasons why a configuration cannot be predicted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No block fits on an SM.
    #[error(
        "a block of {threads} threads with {registers} registers and {shared} bytes of shared memory does not fit on an SM of {model}"
    )]
    DoesNotFit {
        /// Threads.
        threads: u32,
        /// Registers per thread.
        registers: u32,
        /// Bytes of shared memory.
        shared: u32,
        /// Name of the model.
        model: String,
    },
    /// The code has shared memory for smaller blocks only.
    #[error(
        "line {} reaches byte {} of shared memory, of which the code has {} bytes", .0.line, .0.end, .0.size
    )]
    SharedMemory(Outside),
    /// No GPU supports a grid with this many blocks along an axis.
    #[error("a grid of {}x{}x{} blocks: 2147483647 along x, 65535 along y and z at most", grid[0], grid[1], grid[2])]
    Grid {
        /// Blocks.
        grid: [u32; 3],
    },
    /// Its conditions exclude all accesses, as when an array has no elements.
    #[error("no thread of the launch makes a request")]
    NoRequests,
    /// The launch executes only code that the run did not reach and whose operation is unknown.
    #[error(
        "line {line} and all else that the launch comes to was not reached by the run, and what is done there is not known: run the program \
         with sizes at which it is"
    )]
    Unreached {
        /// Source line of the first access.
        line: u32,
    },
    /// None of the launch's traffic can be computed.
    #[error("nothing of this kernel's traffic follows from its launch: {}", reasons.join("; "))]
    NothingKnown {
        /// The distinct reasons of its sites.
        reasons: Vec<String>,
    },
}
