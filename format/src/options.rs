//! Settings that `warpline run` passes to the runtime in one environment variable with encoded [`Options`]. A program
//! that was started without it uses the defaults, and records if [`TRACE_VARIABLE`] names a file or folder for the
//! trace.

use crate::budget::Budget;
use crate::device::Device;
use crate::occupancy::Stated;
use crate::operation::RecordedKinds;
use crate::rounding::{Results, WhatIfType};
use crate::stop::StopAt;
use crate::warp_order::Order;
use serde::{Deserialize, Serialize};

/// Environment variable with the hexadecimal postcard encoding of [`Options`].
pub const VARIABLE: &str = "WARPLINE_RUN";
/// Environment variable; `0` runs the original kernels and writes nothing.
pub const ENABLE_VARIABLE: &str = "WARPLINE";

/// Environment variable with the trace file of a program that `warpline run` did not start, or an existing folder in
/// which each process creates a file. Without it, such a program runs its original kernels and writes nothing.
pub const TRACE_VARIABLE: &str = "WARPLINE_TRACE";

/// Environment variable; with `1`, warps are switched at each access, as on a GPU, also in launches that are not
/// recorded.
pub const INTERLEAVE_VARIABLE: &str = "WARPLINE_INTERLEAVE";

/// Environment variable that selects the device for a program with code for both: `cpu` or `gpu`. Without it, a GPU is
/// used if there is one.
pub const DEVICE_VARIABLE: &str = "WARPLINE_DEVICE";
/// Value of this variable, and of the compiler's option, for the CPU device.
pub const CPU: &str = "cpu";
/// The same for a GPU.
pub const GPU: &str = "gpu";
/// Value of this variable, and of the compiler's option, for the emulated GPU.
pub const EMULATED: &str = "gpu-emulated";

/// Action at an out-of-bounds or misaligned device access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Check {
    /// The kernel stops with a CUDA error.
    #[default]
    Stop,
    /// The access is reported once per site, and not performed.
    Report,
    /// Accesses are not checked.
    Off,
}

/// Action at exceptional floating-point values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FloatCheck {
    /// No action.
    #[default]
    Off,
    /// They are counted, and traced to their origins.
    Report,
    /// The first NaN that an operation produces stops its kernel.
    Stop,
}

/// Destination of the trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Output {
    /// No trace is recorded.
    #[default]
    Nowhere,
    /// The file `warpline.<program>.<pid>.wltrace` in this folder.
    Folder(String),
    /// A file.
    File(String),
    /// The shared-memory ring of this inherited file descriptor (see [`crate::ring`]).
    Ring {
        /// Descriptor of the memory file.
        descriptor: i32,
        /// Folder for the traces of further processes (see [`further_trace`]); without it, they write none.
        further: Option<String>,
    },
}

/// Returns the path of a further process's trace. `number` is the value that the process read from
/// [`crate::ring::Control::further`].
pub fn further_trace(folder: &str, number: u32) -> String {
    format!("{folder}/{number}.wltrace")
}

/// The recorded form of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// A record of each request.
    #[default]
    Trace,
    /// Counts by site, computed on the GPU.
    Counters,
}

/// All options of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// Destination of the trace.
    pub output: Output,
    /// Device whose occupancy, placement and properties are used.
    pub device: Device,
    /// Architectures of further models for which the registers of kernels are needed (75 for `sm_75`).
    pub architectures: Vec<u32>,
    /// Regular expression for the demangled names of kernels to record; all kernels if absent.
    pub kernels: Option<String>,
    /// Inclusive ranges of launch numbers to record; all launches if empty.
    pub launches: Vec<(u64, u64)>,
    /// The share of the launches' work to record; all if absent.
    pub budget: Option<Budget>,
    /// The first of every `block_share` blocks is recorded; 1 records all.
    pub block_share: u64,
    /// Action at bad accesses.
    pub check: Check,
    /// Whether to report every host allocation above the threshold, instead of only those that copies use.
    pub all_host_allocations: bool,
    /// The recorded form of requests.
    pub mode: Mode,
    /// Occupancy parameters that the user specified.
    pub stated: Stated,
    /// Whether warps are switched at each access.
    pub interleave: bool,
    /// Whether uninitialised reads are reported.
    pub check_init: bool,
    /// Host code that accesses device memory, or memory that a kernel may still use, is reported.
    pub check_host: bool,
    /// Action at exceptional floating-point values.
    pub check_float: FloatCheck,
    /// Whether values of accesses to global and shared memory are recorded.
    pub memory_values: bool,
    /// Allocations whose elements are rounded to a smaller type.
    pub rounded: Vec<WhatIfType>,
    /// What happens with the bytes that are copied to the host.
    pub results: Results,
    /// Operations whose results and operands are recorded.
    pub recorded: RecordedKinds,
    /// Path suffixes and lines to which the recording of operations is limited; all if empty.
    pub recorded_lines: Vec<(String, u32)>,
    /// Accesses at which the program stops and reports its state.
    pub stop_at: Option<StopAt>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            output: Output::default(),
            device: Device::rtx_2080_ti(),
            architectures: Vec::new(),
            kernels: None,
            launches: Vec::new(),
            budget: None,
            block_share: 1,
            check: Check::default(),
            all_host_allocations: false,
            mode: Mode::default(),
            stated: Stated::default(),
            interleave: false,
            check_init: false,
            check_host: false,
            check_float: FloatCheck::default(),
            memory_values: false,
            rounded: Vec::new(),
            results: Results::default(),
            recorded: RecordedKinds::default(),
            recorded_lines: Vec::new(),
            stop_at: None,
        }
    }
}

/// The value of the variable cannot be decoded.
#[derive(Debug, thiserror::Error)]
#[error(
    "{VARIABLE} is damaged or of another release: start the program with `warpline run` of the release that built it"
)]
pub struct OptionsError;

impl Options {
    /// Returns the value of [`VARIABLE`].
    pub fn encode(&self) -> String {
        // The encoded form of a device does not contain the order.
        let bytes = postcard::to_stdvec(&(self, self.device.order)).expect("plain data always encodes");
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Decodes the output of [`Self::encode`].
    pub fn decode(text: &str) -> Result<Options, OptionsError> {
        let digits = text.as_bytes();
        if !digits.len().is_multiple_of(2) {
            return Err(OptionsError);
        }
        let bytes: Option<Vec<u8>> =
            digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect();
        let (mut options, order): (Options, Order) =
            postcard::from_bytes(&bytes.ok_or(OptionsError)?).map_err(|_| OptionsError)?;
        options.device.order = order;
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_survive_the_environment() {
        let device = Device { order: Order::OldestFirst { wait: 8 }, ..Device::rtx_2080_ti() };
        let launches = vec![(0, 0), (3, 5)];
        let options = Options { device, kernels: Some("^bicg".into()), launches, ..Options::default() };
        assert_eq!(Options::decode(&options.encode()).unwrap(), options);
        assert!(Options::decode("zz").is_err());
        assert!(Options::decode("abc").is_err());
    }
}
