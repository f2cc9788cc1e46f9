//! Compilation while the program runs (NVRTC), version 13.0.
//!
//! These functions do not use the device, and do not hold the runtime's lock while they compile.

use crate::cuda::version::VERSION;
use crate::nvrtc::program::{self, Code, INVALID_INPUT, INVALID_PROGRAM, Program, SUCCESS};
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int};
use std::sync::{Arc, Mutex, PoisonError};

/// A program's handle.
type Handle = usize;

/// The architectures that CUDA 13.0's NVRTC supports.
const ARCHITECTURES: [c_int; 12] = [75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121];

static PROGRAMS: Mutex<Programs> = Mutex::new(Programs { last: 0, all: BTreeMap::new() });

struct Programs {
    last: Handle,
    all: BTreeMap<Handle, Arc<Mutex<Program>>>,
}

fn programs() -> std::sync::MutexGuard<'static, Programs> {
    PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a call on an NVRTC program.
fn with<T>(handle: Handle, body: impl FnOnce(&mut Program) -> Result<T, Code>) -> Result<T, Code> {
    let program = programs().all.get(&handle).cloned().ok_or(INVALID_PROGRAM)?;
    let mut program = program.lock().unwrap_or_else(PoisonError::into_inner);
    body(&mut program)
}

fn code(body: impl FnOnce() -> Result<(), Code>) -> Code {
    body().err().unwrap_or(SUCCESS)
}

/// # Safety
/// `place` is null, which causes an error, or valid for a write.
unsafe fn put<T>(place: *mut T, value: T) -> Result<(), Code> {
    if place.is_null() {
        return Err(INVALID_INPUT);
    }
    // SAFETY: by the contract of the API function.
    unsafe { place.write(value) };
    Ok(())
}

/// # Safety
/// `string` is null, which causes an error, or a string.
unsafe fn text(string: *const c_char) -> Result<String, Code> {
    if string.is_null() {
        return Err(INVALID_INPUT);
    }
    // SAFETY: by the contract. Sources in other encodings are compiled, with marks in place of what is no UTF-8.
    Ok(unsafe { CStr::from_ptr(string) }.to_string_lossy().into_owned())
}

/// # Safety
/// `strings` points to `count` strings; it may be null if `count` is 0.
unsafe fn texts(count: c_int, strings: *const *const c_char) -> Result<Vec<String>, Code> {
    let count = usize::try_from(count).map_err(|_| INVALID_INPUT)?;
    if count > 0 && strings.is_null() {
        return Err(INVALID_INPUT);
    }
    // SAFETY: by the contract of the API function.
    (0..count).map(|at| unsafe { text(*strings.add(at)) }).collect()
}

/// Copies bytes to the program's buffer, whose size an earlier call returned.
///
/// # Safety
/// `to` is null, which causes an error, or large enough.
unsafe fn copy(bytes: &[u8], ends: bool, to: *mut c_char) -> Result<(), Code> {
    if to.is_null() {
        return Err(INVALID_INPUT);
    }
    // SAFETY: by the contract of the API function.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast(), bytes.len());
        if ends {
            to.add(bytes.len()).write(0);
        }
    }
    Ok(())
}

/// Defines NVRTC's functions, which return a result code.
macro_rules! nvrtc_api {
    ($($(#[$meta:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {$(
        $(#[$meta])*
        ///
        /// # Safety
        /// Pointers are valid as NVRTC requires, or null where the function checks for it.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> Code {
            code(|| $body)
        }
    )*};
}

nvrtc_api! {
    /// Returns the version of NVRTC.
    fn nvrtcVersion(major: *mut c_int, minor: *mut c_int) {
        // SAFETY: by the contract of the API function.
        unsafe { put(major, VERSION / 1000).and_then(|()| put(minor, VERSION % 1000 / 10)) }
    }

    /// Returns the number of supported architectures.
    fn nvrtcGetNumSupportedArchs(count: *mut c_int) {
        // SAFETY: by the contract of the API function.
        unsafe { put(count, ARCHITECTURES.len() as c_int) }
    }

    /// Returns the supported architectures in ascending order.
    fn nvrtcGetSupportedArchs(architectures: *mut c_int) {
        if architectures.is_null() {
            return Err(INVALID_INPUT);
        }
        // SAFETY: the program allocated as many elements as the count that it received.
        unsafe { std::ptr::copy_nonoverlapping(ARCHITECTURES.as_ptr(), architectures, ARCHITECTURES.len()) };
        Ok(())
    }

    /// Creates a program from a source, its name, and headers with the names under which the source includes them.
    fn nvrtcCreateProgram(
        program: *mut Handle,
        source: *const c_char,
        name: *const c_char,
        header_count: c_int,
        headers: *const *const c_char,
        include_names: *const *const c_char,
    ) {
        if program.is_null() {
            return Err(INVALID_PROGRAM);
        }
        // SAFETY: by the contract of the API function.
        let (source, headers, names) =
            unsafe { (text(source)?, texts(header_count, headers)?, texts(header_count, include_names)?) };
        // SAFETY: by the contract of the API function.
        let name = unsafe { text(name) }.ok();
        let made = Program::new(source, name, names.into_iter().zip(headers).collect());
        let mut programs = programs();
        programs.last += 1;
        let handle = programs.last;
        programs.all.insert(handle, Arc::new(Mutex::new(made)));
        // SAFETY: by the contract of the API function.
        unsafe { put(program, handle) }
    }

    /// Destroys a program.
    fn nvrtcDestroyProgram(program: *mut Handle) {
        if program.is_null() {
            return Err(INVALID_PROGRAM);
        }
        // SAFETY: by the contract of the API function.
        let handle = unsafe { *program };
        programs().all.remove(&handle).ok_or(INVALID_PROGRAM)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(program, 0) }
    }

    /// Compiles a program.
    fn nvrtcCompileProgram(program: Handle, option_count: c_int, options: *const *const c_char) {
        // SAFETY: by the contract of the API function.
        let options = unsafe { texts(option_count, options) }?;
        with(program, |program| program.compile(&options))
    }

    /// Returns the number of bytes of the PTX, including the zero at its end.
    fn nvrtcGetPTXSize(program: Handle, size: *mut usize) {
        // SAFETY: by the contract of the API function.
        with(program, |program| unsafe { put(size, program.ptx()?.len() + 1) })
    }

    /// Returns the PTX.
    fn nvrtcGetPTX(program: Handle, ptx: *mut c_char) {
        // SAFETY: by the contract of the API function.
        with(program, |program| unsafe { copy(program.ptx()?, true, ptx) })
    }

    /// Returns the number of bytes of the code for the device, or 0 if only a virtual architecture was requested.
    fn nvrtcGetCUBINSize(program: Handle, size: *mut usize) {
        // SAFETY: by the contract of the API function.
        with(program, |program| unsafe { put(size, program.cubin()?.len()) })
    }

    /// Returns the code for the device.
    fn nvrtcGetCUBIN(program: Handle, cubin: *mut c_char) {
        // SAFETY: by the contract of the API function.
        with(program, |program| unsafe { copy(program.cubin()?, false, cubin) })
    }

    /// Returns the number of bytes of the log, including the zero at its end.
    fn nvrtcGetProgramLogSize(program: Handle, size: *mut usize) {
        // SAFETY: by the contract of the API function.
        with(program, |program| unsafe { put(size, program.log().len() + 1) })
    }

    /// Returns the compiler's output.
    fn nvrtcGetProgramLog(program: Handle, log: *mut c_char) {
        // SAFETY: by the contract of the API function.
        with(program, |program| unsafe { copy(program.log().as_bytes(), true, log) })
    }

    /// Requests the mangled name of a kernel or variable.
    fn nvrtcAddNameExpression(program: Handle, expression: *const c_char) {
        // SAFETY: by the contract of the API function.
        let expression = unsafe { text(expression) }?;
        with(program, |program| program.add_expression(expression))
    }

    /// Returns the mangled name of the entity that an expression names; the string lives as long as the program.
    fn nvrtcGetLoweredName(program: Handle, expression: *const c_char, name: *mut *const c_char) {
        // SAFETY: by the contract of the API function.
        let expression = unsafe { text(expression) }?;
        // SAFETY: by the contract of the API function.
        with(program, |program| unsafe { put(name, program.lowered(&expression)?.as_ptr()) })
    }
}

/// Returns the name of a result code.
#[unsafe(no_mangle)]
pub extern "C" fn nvrtcGetErrorString(result: Code) -> *const c_char {
    let name = match result {
        SUCCESS => c"NVRTC_SUCCESS",
        1 => c"NVRTC_ERROR_OUT_OF_MEMORY",
        2 => c"NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
        INVALID_INPUT => c"NVRTC_ERROR_INVALID_INPUT",
        INVALID_PROGRAM => c"NVRTC_ERROR_INVALID_PROGRAM",
        program::INVALID_OPTION => c"NVRTC_ERROR_INVALID_OPTION",
        program::COMPILATION => c"NVRTC_ERROR_COMPILATION",
        program::BUILTIN_OPERATION_FAILURE => c"NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
        program::NO_NAME_EXPRESSIONS_AFTER_COMPILATION => c"NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
        program::NO_LOWERED_NAMES_BEFORE_COMPILATION => c"NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
        program::NAME_EXPRESSION_NOT_VALID => c"NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
        11 => c"NVRTC_ERROR_INTERNAL_ERROR",
        12 => c"NVRTC_ERROR_TIME_FILE_WRITE_FAILED",
        _ => c"NVRTC_ERROR unknown",
    };
    name.as_ptr()
}
