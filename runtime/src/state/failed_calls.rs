//! Calls of CUDA's API that returned an error.
//!
//! A program that does not check its calls continues after a failure, and its profile does not contain the effect of
//! the call. So each failed call is added to the trace with its call path. Errors that a correct program expects are
//! excluded, see [`is_expected`].

use crate::call_paths::Entry;
use crate::cuda::error::{self, Error};
use crate::state::runtime::{Runtime, lock};
use crate::trace::Trace;
use std::collections::BTreeMap;
use warpline_format::event::{Event, FailedCall, PathId};

/// A call that the program makes.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The name of the API function.
    pub function: &'static str,
    /// The position in the caller's stack from which the call path starts.
    pub entry: Entry,
}

/// The number of calls that failed in the same way.
#[derive(Debug, Default)]
struct Tally {
    all: u64,
    /// The number of these calls that the trace contains.
    written: u64,
}

/// Failed calls by function, error, detail and path.
#[derive(Debug, Default)]
pub struct FailedCalls {
    tallies: BTreeMap<(&'static str, Error, String, PathId), Tally>,
    /// The specific reason for which the running call fails.
    detail: String,
}

impl FailedCalls {
    /// Begins a call, for which no reason to fail is known.
    pub(crate) fn begin(&mut self) {
        self.detail.clear();
    }

    /// Stores the reason why the running call will fail.
    pub(crate) fn explain(&mut self, kernel: &str, why: &str) {
        self.detail = format!("launch of {kernel}: {why}");
    }

    /// Counts a failed call. A record is written whenever the number has doubled. If the program is killed, the
    /// recorded number is therefore at least half of the true number.
    fn count(&mut self, trace: &mut Trace, function: &'static str, code: Error, path: PathId) {
        let key = (function, code, std::mem::take(&mut self.detail), path);
        let tally = self.tallies.entry(key.clone()).or_default();
        tally.all = tally.all.saturating_add(1);
        if tally.all >= tally.written.saturating_mul(2) {
            write(trace, &key, tally);
        }
    }

    /// Writes the counts that the trace does not contain yet. The paths belong to this trace, so the counts end with
    /// it.
    pub(crate) fn settle(&mut self, trace: &mut Trace) {
        for (key, mut tally) in std::mem::take(&mut self.tallies) {
            if tally.all > tally.written {
                write(trace, &key, &mut tally);
            }
        }
    }
}

fn write(trace: &mut Trace, key: &(&'static str, Error, String, PathId), tally: &mut Tally) {
    let (function, code, detail, path) = key;
    let driver =
        crate::cuda::result::name(*code).filter(|_| function.starts_with("cu") && !function.starts_with("cuda"));
    let text = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
    trace.event(Event::FailedCall(FailedCall {
        function: (*function).to_owned(),
        error: *code,
        name: text(driver.unwrap_or_else(|| error::name(*code))),
        text: text(error::text(*code)),
        detail: detail.clone(),
        path: *path,
        calls: tally.all - tally.written,
    }));
    tally.written = tally.all;
}

impl Runtime {
    /// Counts a call that returns `code`.
    pub fn failed_call(&mut self, call: Call, code: Error) {
        if !self.trace.is_on() || is_expected(call.function, code) {
            return;
        }
        let path = self.path(call.entry);
        self.failed_calls.count(&mut self.trace, call.function, code, path);
    }
}

/// Counts a call that went to the real runtime or driver, if it failed, and returns its error code.
pub fn returned(call: Call, code: Error) -> Error {
    if code != error::SUCCESS
        && !is_left_by_a_kernel(code)
        && !is_expected(call.function, code)
        && let Some(mut runtime) = lock()
    {
        runtime.failed_call(call, code);
    }
    code
}

/// Returns whether a correct program expects this error, so that it is not a failure.
///
/// - `cudaErrorNotReady` is an answer: work is in progress.
/// - If peer access is already enabled or disabled, the state is as the program requires; libraries enable it without a
///   query.
/// - Destructors of static objects get `cudaErrorCudartUnloading` after the runtime has ended.
/// - Queries return an error to report that something does not exist or does not have a property. If a program ignores
///   this, the call that uses the answer fails, and that call is reported.
fn is_expected(function: &str, code: Error) -> bool {
    let harmless = [
        error::SUCCESS,
        error::NOT_READY,
        error::PEER_ACCESS_ALREADY_ENABLED,
        error::PEER_ACCESS_NOT_ENABLED,
        error::CUDART_UNLOADING,
    ];
    harmless.contains(&code) || is_query(function)
}

/// Returns whether a function only reports state.
fn is_query(function: &str) -> bool {
    ["Get", "Query", "CanAccess", "IsCapturing", "Occupancy"].iter().any(|part| function.contains(part))
}

/// Returns whether every call returns this error after a kernel has failed. In this case, the kernel is reported
/// instead.
fn is_left_by_a_kernel(code: Error) -> bool {
    matches!(
        code,
        error::ILLEGAL_ADDRESS
            | error::LAUNCH_TIMEOUT
            | error::ASSERT
            | error::HARDWARE_STACK_ERROR
            | error::ILLEGAL_INSTRUCTION
            | error::MISALIGNED_ADDRESS
            | error::INVALID_ADDRESS_SPACE
            | error::INVALID_PC
            | error::LAUNCH_FAILURE
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_no_failures() {
        for (function, code) in [
            ("cudaStreamQuery", error::NOT_READY),
            ("cudaEventElapsedTime", error::NOT_READY),
            ("cudaDeviceEnablePeerAccess", error::PEER_ACCESS_ALREADY_ENABLED),
            ("cudaDeviceGetAttribute", error::INVALID_VALUE),
            ("cuPointerGetAttribute", error::INVALID_VALUE),
            ("cudaGetDeviceCount", error::NO_DEVICE),
        ] {
            assert!(is_expected(function, code), "{function}");
        }
        for (function, code) in [
            ("cudaFree", error::INVALID_VALUE),
            ("cudaMalloc", error::MEMORY_ALLOCATION),
            ("cudaLaunchKernel", error::INVALID_CONFIGURATION),
            ("cudaDeviceEnablePeerAccess", error::INVALID_DEVICE),
            ("cuModuleLoadData", error::INVALID_KERNEL_IMAGE),
        ] {
            assert!(!is_expected(function, code), "{function}");
        }
    }
}
