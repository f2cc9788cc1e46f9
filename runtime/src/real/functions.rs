//! The real CUDA runtime, which is linked in addition to Warpline's runtime. The driver links a copy of
//! `libcudart_static.a` whose exported names start with `__wlreal_`. The references here are weak, so that a program
//! that was built only for the CPU device links without it.

use crate::cuda::error::Error;
use crate::cuda::types::{Dim3, StreamHandle};
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

/// Returns the address of a function of the real runtime, or 0 if it is not linked.
macro_rules! address {
    ($symbol:expr) => {{
        let address: usize;
        // SAFETY: reads the function's entry of the global offset table, which the linker leaves 0 for a weak symbol
        // that nothing defines.
        unsafe {
            std::arch::asm!(
                concat!(".weak __wlreal_", $symbol),
                concat!("mov {0}, qword ptr [rip + __wlreal_", $symbol, "@GOTPCREL]"),
                out(reg) address,
                options(nostack, pure, readonly, preserves_flags)
            );
        }
        address
    }};
}
pub(crate) use address;

macro_rules! functions {
    ($(#[$about:meta])* $table:ident; $($(#[$meta:meta])* $field:ident = $symbol:literal: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub struct $table {
            $($(#[$meta])* pub $field: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl $table {
            fn load() -> Option<$table> {
                Some($table {
                    $($field: {
                        let address = $crate::real::functions::address!($symbol);
                        if address == 0 {
                            return None;
                        }
                        // SAFETY: the symbol has this type in CUDA's headers.
                        unsafe { std::mem::transmute::<usize, unsafe extern "C" fn($($argument),*) $(-> $result)?>(address) }
                    },)*
                })
            }
        }
    };
}

pub(crate) use functions;

functions! {
    /// The functions of the real runtime that this back end calls itself.
    Real;
    /// `cudaGetDevice`
    get_device = "cudaGetDevice": fn(*mut c_int) -> Error;
    /// `cudaSetDevice`
    set_device = "cudaSetDevice": fn(c_int) -> Error;
    /// `cudaStreamQuery`
    query_stream = "cudaStreamQuery": fn(StreamHandle) -> Error;
    /// `cudaDeviceGetAttribute`
    attribute = "cudaDeviceGetAttribute": fn(*mut c_int, c_int, c_int) -> Error;
    /// `cudaDeviceSynchronize`
    synchronise = "cudaDeviceSynchronize": fn() -> Error;
    /// `cudaGetLastError`
    last_error = "cudaGetLastError": fn() -> Error;
    /// `cudaMalloc`
    malloc = "cudaMalloc": fn(*mut *mut c_void, usize) -> Error;
    /// `cudaFree`
    free = "cudaFree": fn(*mut c_void) -> Error;
    /// `cudaMemcpy`
    memcpy = "cudaMemcpy": fn(*mut c_void, *const c_void, usize, c_int) -> Error;
    /// `cudaMemset`
    memset = "cudaMemset": fn(*mut c_void, c_int, usize) -> Error;
    /// `cudaHostAlloc`
    host_alloc = "cudaHostAlloc": fn(*mut *mut c_void, usize, c_uint) -> Error;
    /// `cudaHostGetDevicePointer`
    host_device_pointer = "cudaHostGetDevicePointer": fn(*mut *mut c_void, *mut c_void, c_uint) -> Error;
    /// `cudaGetSymbolAddress`
    symbol_address = "cudaGetSymbolAddress": fn(*mut *mut c_void, *const c_void) -> Error;
    /// `cudaStreamIsCapturing`
    is_capturing = "cudaStreamIsCapturing": fn(StreamHandle, *mut c_int) -> Error;
    /// `cudaOccupancyMaxActiveBlocksPerMultiprocessor`
    occupancy = "cudaOccupancyMaxActiveBlocksPerMultiprocessor": fn(*mut c_int, *const c_void, c_int, usize) -> Error;
    /// `cudaFuncSetAttribute`
    set_attribute = "cudaFuncSetAttribute": fn(*const c_void, c_int, c_int) -> Error;
    /// `cudaLaunchKernel`
    launch = "cudaLaunchKernel": fn(*const c_void, Dim3, Dim3, *mut *mut c_void, usize, StreamHandle) -> Error;
    /// `__cudaRegisterFatBinary`
    register_binary = "__cudaRegisterFatBinary": fn(*const c_void) -> *mut *mut c_void;
    /// `__cudaRegisterFatBinaryEnd`
    register_end = "__cudaRegisterFatBinaryEnd": fn(*mut *mut c_void);
    /// `__cudaUnregisterFatBinary`
    unregister_binary = "__cudaUnregisterFatBinary": fn(*mut *mut c_void);
    /// `__cudaRegisterFunction`
    register_function = "__cudaRegisterFunction": fn(*mut *mut c_void, *const c_char, *mut c_char, *const c_char,
        c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_void, *mut c_int);
    /// `__cudaRegisterVar`
    register_variable = "__cudaRegisterVar": fn(*mut *mut c_void, *mut c_char, *mut c_char, *const c_char, c_int,
        usize, c_int, c_int);
    /// `__cudaRegisterManagedVar`
    register_managed = "__cudaRegisterManagedVar": fn(*mut *mut c_void, *mut *mut c_void, *mut c_char, *const c_char,
        c_int, usize, c_int, c_int);
}

/// Returns the real runtime, if the executable contains it.
pub fn real() -> Option<&'static Real> {
    static REAL: OnceLock<Option<Real>> = OnceLock::new();
    REAL.get_or_init(Real::load).as_ref()
}
