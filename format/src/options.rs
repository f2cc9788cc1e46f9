//! Settings that `warpline run` passes to the runtime: one environment variable with an encoded [`Options`].
//! A program started by hand has none and uses the defaults; it records if [`TRACE_VARIABLE`] names a place for the
//! trace.

use crate::budget::Budget;
use crate::device::Device;
use crate::occupancy::Stated;
use crate::operation::RecordedKinds;
use crate::stop::StopAt;
use crate::warp_order::Order;
use serde::{Deserialize, Serialize};

/// Holds the hexadecimal postcard bytes of [`Options`].
pub const VARIABLE: &str = "WARPLINE_RUN";
/// `0` runs the original kernels and writes nothing.
pub const ENABLE_VARIABLE: &str = "WARPLINE";

/// File for the trace of a program that `warpline run` did not start, or an existing folder, in which each process gets
/// a file of its own. Without it such a program runs its original kernels and writes nothing.
pub const TRACE_VARIABLE: &str = "WARPLINE_TRACE";

/// `1`: warps take turns at their accesses, as on a GPU, also in launches that are not recorded.
pub const INTERLEAVE_VARIABLE: &str = "WARPLINE_INTERLEAVE";

/// `cpu` or `gpu`: where the kernels of a program that carries code for both run. Without it a GPU is used where there
/// is one.
pub const DEVICE_VARIABLE: &str = "WARPLINE_DEVICE";
/// Its value, and the option's of the compiler, for the emulated GPU.
pub const EMULATED: &str = "gpu-emulated";

/// What happens at an out-of-bounds or misaligned device access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Check {
    /// The kernel stops with a CUDA error.
    #[default]
    Stop,
    /// Reported once per site; the access is not performed.
    Report,
    /// Not checked.
    Off,
}

/// What happens at exceptional floating-point values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FloatCheck {
    /// Nothing.
    #[default]
    Off,
    /// They are counted, and followed to where they were made.
    Report,
    /// The first NaN that an operation makes stops its kernel.
    Stop,
}

/// Where the trace goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Output {
    /// Nowhere: nothing is recorded.
    #[default]
    Nowhere,
    /// `warpline.<program>.<pid>.wltrace` in this folder.
    Folder(String),
    /// This file.
    File(String),
    /// The shared-memory ring of this inherited file descriptor (see [`crate::ring`]).
    Ring {
        /// Descriptor of the memory file.
        descriptor: i32,
        /// Folder for the traces of further processes (see [`further_trace`]); without it they have none.
        further: Option<String>,
    },
}

/// Name of the trace of a run's further process: `number` is what it found in [`crate::ring::Control::further`].
pub fn further_trace(folder: &str, number: u32) -> String {
    format!("{folder}/{number}.wltrace")
}

/// What a run keeps of its requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// A record of each.
    #[default]
    Trace,
    /// Counts by site, made on the GPU.
    Counters,
}

/// All options of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// Destination of the trace.
    pub output: Output,
    /// Device whose occupancy, placement and properties are used.
    pub device: Device,
    /// Regular expression over the demangled kernel names to trace; all when absent.
    pub kernels: Option<String>,
    /// Inclusive ranges of launch numbers to trace; all when empty.
    pub launches: Vec<(u64, u64)>,
    /// Which share of the launches' work to trace; all when absent.
    pub budget: Option<Budget>,
    /// The first block of every `block_share` is traced; 1 traces all.
    pub block_share: u64,
    /// Access checking.
    pub check: Check,
    /// Report every host allocation from the threshold on, not only those that copies use.
    pub all_host_allocations: bool,
    /// What is kept of requests.
    pub mode: Mode,
    /// What the user states about occupancy.
    pub stated: Stated,
    /// Warps take turns at their accesses.
    pub interleave: bool,
    /// Reads of bytes that nothing has written are reported.
    pub check_init: bool,
    /// Exceptional floating-point values are followed.
    pub check_float: FloatCheck,
    /// Values of accesses to global and shared memory are followed.
    pub memory_values: bool,
    /// Operations whose result and operands are recorded.
    pub recorded: RecordedKinds,
    /// Ends of paths, and lines, to whose operations the recording is limited; all when empty.
    pub recorded_lines: Vec<(String, u32)>,
    /// Accesses at which the program stops and reports its state.
    pub stop_at: Option<StopAt>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            output: Output::default(),
            device: Device::rtx_2080_ti(),
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
            check_float: FloatCheck::default(),
            memory_values: false,
            recorded: RecordedKinds::default(),
            recorded_lines: Vec::new(),
            stop_at: None,
        }
    }
}

/// The variable's value does not decode.
#[derive(Debug, thiserror::Error)]
#[error(
    "{VARIABLE} is damaged or of another release: start the program with `warpline run` of the release that built it"
)]
pub struct OptionsError;

impl Options {
    /// Returns the value of [`VARIABLE`].
    pub fn encode(&self) -> String {
        // The encoded form of a device has no order.
        let bytes = postcard::to_stdvec(&(self, self.device.order)).expect("plain data always encodes");
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Reads [`Self::encode`].
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
