//! Measures the times of kernels on the GPU, to find the cost of hooks: with `WARPLINE_GPU_TIMES=FILE`, a line is
//! appended to FILE for each launch. The program then waits for each launch, so that the measured time is that of one
//! launch.

use super::kernels::{LaunchRequest, kernel_name, occupancy};
use super::state::Kernel;
use crate::cuda::error::{self, Error};
use crate::cuda::types::{EventHandle, StreamHandle};
use crate::output::message::note_once;
use crate::real::functions::{functions, real};
use std::ffi::{c_int, c_void};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::ptr::null_mut;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The variable that names the file.
pub const TIMES_VARIABLE: &str = "WARPLINE_GPU_TIMES";

/// The form of a kernel that ran.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// The form without hooks.
    Original,
    /// The form that sends records.
    Traced,
    /// The form that counts.
    Counted,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Form::Original => "original",
            Form::Traced => "traced",
            Form::Counted => "counted",
        }
    }
}

functions! {
    /// The functions that measure times.
    TimeFunctions;
    /// `cudaEventCreate`
    create = "cudaEventCreate": fn(*mut EventHandle) -> Error;
    /// `cudaEventRecord`
    record = "cudaEventRecord": fn(EventHandle, StreamHandle) -> Error;
    /// `cudaEventSynchronize`
    wait = "cudaEventSynchronize": fn(EventHandle) -> Error;
    /// `cudaEventElapsedTime`
    elapsed = "cudaEventElapsedTime": fn(*mut f32, EventHandle, EventHandle) -> Error;
    /// `cudaEventDestroy`
    destroy = "cudaEventDestroy": fn(EventHandle) -> Error;
    /// `cudaFuncGetAttributes`
    attributes = "cudaFuncGetAttributes": fn(*mut FunctionAttributes, *const c_void) -> Error;
}

/// `cudaFuncAttributes`: its first fields, and space for the fields of later releases.
#[repr(C)]
#[derive(Default)]
pub struct FunctionAttributes {
    shared: usize,
    constant: usize,
    local: usize,
    max_threads: c_int,
    registers: c_int,
    rest: [u64; 16],
}

struct Times {
    functions: TimeFunctions,
    file: Mutex<File>,
}

/// Returns where times are written, if they were requested.
fn times() -> Option<&'static Times> {
    static TIMES: OnceLock<Option<Times>> = OnceLock::new();
    TIMES
        .get_or_init(|| {
            let path = std::env::var_os(TIMES_VARIABLE)?;
            let functions = TimeFunctions::load();
            let file = OpenOptions::new().create(true).append(true).open(&path);
            match (functions, file) {
                (Some(functions), Ok(file)) => Some(Times { functions, file: Mutex::new(file) }),
                (None, _) => {
                    note_once("the CUDA runtime does not have the functions that measure times of kernels".to_owned());
                    None
                }
                (_, Err(error)) => {
                    note_once(format!("{}: cannot write times of kernels: {error}", path.display()));
                    None
                }
            }
        })
        .as_ref()
}

/// Launches a kernel through `start`, and records the kernel's time if times were requested.
pub(super) fn around(
    wanted: &LaunchRequest,
    kernel: Kernel,
    form: Form,
    function: usize,
    start: impl FnOnce() -> Error,
) -> Error {
    let Some(times) = times() else { return start() };
    let functions = &times.functions;
    let mut events: [EventHandle; 2] = [null_mut(); 2];
    for event in &mut events {
        // SAFETY: the result goes to a local variable.
        if unsafe { (functions.create)(event) } != error::SUCCESS {
            return start();
        }
    }
    // SAFETY: the event was created above, and the stream is the program's.
    unsafe { (functions.record)(events[0], wanted.stream) };
    let code = start();
    let mut milliseconds = 0f32;
    // SAFETY: the events were created above; if there was a launch, it is between them.
    let timed = code == error::SUCCESS
        && unsafe {
            (functions.record)(events[1], wanted.stream) == error::SUCCESS
                && (functions.wait)(events[1]) == error::SUCCESS
                && (functions.elapsed)(&raw mut milliseconds, events[0], events[1]) == error::SUCCESS
        };
    for event in events {
        // SAFETY: the event was created above, and it is not used any more.
        unsafe { (functions.destroy)(event) };
    }
    if timed {
        times.note(wanted, kernel, form, function, milliseconds);
    }
    code
}

impl Times {
    fn note(&self, wanted: &LaunchRequest, kernel: Kernel, form: Form, function: usize, milliseconds: f32) {
        let mut attributes = FunctionAttributes::default();
        // SAFETY: the kernel is registered; the structure is larger than that of any release.
        let known = unsafe { (self.functions.attributes)(&raw mut attributes, function as _) } == error::SUCCESS;
        let resident = real().map_or(0, |real| occupancy(real, wanted.block, wanted.shared, function));
        let (registers, local) = if known { (attributes.registers, attributes.local) } else { (0, 0) };
        let line =
            format!("{}\t{}\t{milliseconds:.6}\t{registers}\t{local}\t{resident}\n", kernel_name(kernel), form.name());
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = file.write_all(line.as_bytes()) {
            note_once(format!("cannot write times of kernels: {error}"));
        }
    }
}
