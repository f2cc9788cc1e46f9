//! Passes API calls to the real runtime and driver.

use crate::cuda::types::StreamHandle;

/// `cudaStreamPerThread`.
const PER_THREAD: usize = 2;

/// Passes an API call unchanged to the real runtime's function of the same name.
macro_rules! forward {
    ($name:ident, ($($argument:ident: $type:ty),*)) => {{
        let address = $crate::real::functions::address!(stringify!($name));
        if address == 0 {
            $crate::gpu::missing(stringify!($name))
        } else {
            // SAFETY: the function of that name has this signature.
            let real: unsafe extern "C" fn($($type),*) -> $crate::cuda::error::Error =
                unsafe { std::mem::transmute(address) };
            // SAFETY: the caller fulfils the contract.
            $crate::gpu::devices::returned(unsafe { real($($argument),*) })
        }
    }};
    ($name:ident, ($($argument:ident: $type:ty),*), $entry:ident, $handler:path) => {{
        let address = $crate::real::functions::address!(stringify!($name));
        if address == 0 {
            $crate::gpu::missing(stringify!($name))
        } else {
            // SAFETY: the function of that name has this signature.
            let real: unsafe extern "C" fn($($type),*) -> $crate::cuda::error::Error =
                unsafe { std::mem::transmute(address) };
            // SAFETY: the caller fulfils the contract.
            unsafe { $handler(real, $($argument,)* $entry) }
        }
    }};
}
pub(crate) use forward;

/// Passes a call of the driver API to the driver's function of the same name.
macro_rules! forward_driver {
    ($name:ident, ($($argument:ident: $type:ty),*) $(, $entry:ident, $handler:path)?) => {{
        let address = $crate::real::driver_functions::function(
            const { $crate::real::driver_functions::name(concat!(stringify!($name), "\0")) },
            $crate::real::functions::address!(stringify!($name)),
        );
        if address == 0 {
            $crate::real::driver_functions::missing(stringify!($name))
        } else {
            // SAFETY: the function of that name has this signature.
            let real: unsafe extern "C" fn($($type),*) -> $crate::cuda::error::Error =
                unsafe { std::mem::transmute(address) };
            // SAFETY: the caller fulfils the contract.
            unsafe { $crate::gpu::hand_on!(real, ($($argument),*) $(, $entry, $handler)?) }
        }
    }};
}
pub(crate) use forward_driver;

/// Calls a real function, through its handler if there is one.
macro_rules! hand_on {
    ($real:ident, ($($argument:ident),*)) => { $crate::gpu::devices::returned($real($($argument),*)) };
    ($real:ident, ($($argument:ident),*), $entry:ident, $handler:path) => { $handler($real, $($argument,)* $entry) };
}
pub(crate) use hand_on;

/// Returns the stream that a program compiled with a default stream per thread refers to: on a GPU, the null handle
/// means `cudaStreamPerThread`.
pub fn per_thread_stream(stream: StreamHandle) -> StreamHandle {
    if stream.is_null() && crate::real::active() { PER_THREAD as StreamHandle } else { stream }
}

/// Reports that the real runtime lacks a function.
pub fn missing(name: &str) -> crate::cuda::error::Error {
    crate::output::message::note_once(format!("the CUDA runtime that this program is linked with has no {name}"));
    crate::cuda::error::NOT_SUPPORTED
}
