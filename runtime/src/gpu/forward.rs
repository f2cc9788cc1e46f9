//! API calls handed to the real runtime and driver.

use crate::cuda::types::StreamHandle;

/// `cudaStreamPerThread`.
const PER_THREAD: usize = 2;

/// Hands an API call to the real runtime's function of the same name, as the program made it.
macro_rules! forward {
    ($name:ident, ($($argument:ident: $type:ty),*)) => {{
        let address = $crate::real::functions::address!(stringify!($name));
        if address == 0 {
            $crate::gpu::missing(stringify!($name))
        } else {
            // SAFETY: the function of that name has this signature.
            let real: unsafe extern "C" fn($($type),*) -> $crate::cuda::error::Error =
                unsafe { std::mem::transmute(address) };
            // SAFETY: handed through.
            $crate::gpu::devices::returned(unsafe { real($($argument),*) })
        }
    }};
    ($name:ident, ($($argument:ident: $type:ty),*), $entry:ident, $handler:path) => {{
        let address = $crate::real::functions::address!(stringify!($name));
        if address == 0 {
            $crate::gpu::missing(stringify!($name))
        } else {
            // SAFETY: as above.
            let real: unsafe extern "C" fn($($type),*) -> $crate::cuda::error::Error =
                unsafe { std::mem::transmute(address) };
            // SAFETY: handed through.
            unsafe { $handler(real, $($argument,)* $entry) }
        }
    }};
}
pub(crate) use forward;

/// Hands a call of the driver API to the driver's function of the same name.
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
            // SAFETY: handed through.
            unsafe { $crate::gpu::hand_on!(real, ($($argument),*) $(, $entry, $handler)?) }
        }
    }};
}
pub(crate) use forward_driver;

/// A call of a real function, through its handler where it has one.
macro_rules! hand_on {
    ($real:ident, ($($argument:ident),*)) => { $crate::gpu::devices::returned($real($($argument),*)) };
    ($real:ident, ($($argument:ident),*), $entry:ident, $handler:path) => { $handler($real, $($argument,)* $entry) };
}
pub(crate) use hand_on;

/// Returns the stream that a program built with a default stream per thread means: on a GPU the null handle is
/// `cudaStreamPerThread`.
pub fn per_thread_stream(stream: StreamHandle) -> StreamHandle {
    if stream.is_null() && crate::real::active() { PER_THREAD as StreamHandle } else { stream }
}

/// Reports that the real runtime lacks a function.
pub fn missing(name: &str) -> crate::cuda::error::Error {
    crate::output::message::note_once(format!("the CUDA runtime that this program is linked with has no {name}"));
    crate::cuda::error::NOT_SUPPORTED
}
