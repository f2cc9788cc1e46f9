//! The CUDA runtime API, version 13.0, and the functions of the driver API that programs use together with it. Each
//! file contains one group of functions. Each function checks its arguments as CUDA does and then calls the runtime.
//!
//! Functions that are not offered are not defined, so linking a program that needs such a function fails, and the
//! linker's message names the function.

pub mod attributes;
pub mod copies;
pub mod device;
pub mod dlopen;
pub mod driver;
pub mod driver_entry_points;
pub mod errors;
pub mod events;
pub mod graphs;
pub mod hooks;
pub mod interpreters;
pub mod launch;
pub mod memory;
pub mod nvrtc;
pub mod registration;
pub mod streams;

use crate::cuda::error::{self, Error};

/// Defines exported functions. `entry` is the position in the caller's stack from which call paths start. The body runs
/// while the runtime is locked and returns a CUDA error code. On a real GPU, the call goes to CUDA's own function
/// instead; if the profile needs data about the call, it goes through the handler after `=>`. `launches` is the number
/// of launches that the function makes.
macro_rules! api {
    ($($(#[$meta:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) |$runtime:ident, $entry:ident|
        $(=> $handler:path)? $(, launches $launches:literal)? $body:block)*) => {$(
        $(#[$meta])*
        ///
        /// # Safety
        /// Pointers are valid as CUDA requires, or null where the function checks for it.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $crate::cuda::error::Error {
            let here = 0u8;
            let $entry = $crate::call_paths::Entry::new(std::hint::black_box(&here));
            let call = $crate::state::failed_calls::Call { function: stringify!($name), entry: $entry };
            if $crate::real::active() {
                let code = $crate::gpu::forward!($name, ($($argument: $type),*) $(, $entry, $handler)?);
                return $crate::state::failed_calls::returned(call, code);
            }
            $crate::state::runtime::call_as(call, 0 $(+ $launches)?, |$runtime| $body)
        }
    )*};
}
pub(crate) use api;

/// Defines the per-thread-default-stream variants of functions. On the CPU device, all streams run in program order, so
/// the variants are the same. On a GPU, the null handle of the arguments in brackets means the calling thread's own
/// stream. A function with the suffix `_ptds` waits for the default stream without naming a stream; it waits for the
/// legacy default stream, which in turn waits for the default streams of all threads.
macro_rules! per_thread {
    ($($suffixed:ident = $name:path, ($($argument:ident: $type:ty),*) $([$($stream:ident),*])?;)*) => {$(
        /// The variant for programs compiled with a default stream per thread.
        ///
        /// # Safety
        /// The requirements of the function without the suffix apply.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $suffixed($($argument: $type),*) -> $crate::cuda::error::Error {
            $($(let $stream = $crate::gpu::per_thread_stream($stream);)*)?
            // SAFETY: the caller fulfils the contract.
            unsafe { $name($($argument),*) }
        }
    )*};
}
pub(crate) use per_thread;

/// Writes a result through a pointer of the program.
///
/// # Safety
/// `place` is null or valid for a write.
unsafe fn put<T>(place: *mut T, value: T) -> Result<(), Error> {
    if place.is_null() {
        return Err(error::INVALID_VALUE);
    }
    // SAFETY: by the contract of the API function.
    unsafe { place.write(value) };
    Ok(())
}
