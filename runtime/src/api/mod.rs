//! The CUDA runtime API, version 13.0, and what programs mix into it of the driver API: one file per group of
//! functions. Each function checks its arguments as CUDA does and hands over to the runtime.
//!
//! What is not offered is not defined, so that linking a program that needs it fails and names it.

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

/// Defines exported functions. `entry` names the place in the caller's stack from which call paths
/// start; the body runs with the runtime locked and answers with a CUDA error code. On a real GPU the call
/// goes to CUDA's own function instead, through the handler that `=>` names where the profile needs to know. `launches`
/// is the number of launches that it makes.
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
            let $entry = $crate::paths::Entry::new(std::hint::black_box(&here));
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

/// Defines the per-thread-default-stream variants of functions. On the CPU device every stream is in step, so they are
/// the same; on a GPU the null handle of the arguments in brackets means the calling thread's own stream. What waits
/// for the default stream without naming one (`_ptds`) waits for the legacy one, which waits for those of all threads.
macro_rules! per_thread {
    ($($suffixed:ident = $name:path, ($($argument:ident: $type:ty),*) $([$($stream:ident),*])?;)*) => {$(
        /// The variant for programs built with a default stream per thread.
        ///
        /// # Safety
        /// The requirements of the function without the suffix apply.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $suffixed($($argument: $type),*) -> $crate::cuda::error::Error {
            $($(let $stream = $crate::gpu::per_thread_stream($stream);)*)?
            // SAFETY: handed through.
            unsafe { $name($($argument),*) }
        }
    )*};
}
pub(crate) use per_thread;

/// Writes a result through a pointer that the program gave.
///
/// # Safety
/// `place` is null or valid for a write.
unsafe fn put<T>(place: *mut T, value: T) -> Result<(), Error> {
    if place.is_null() {
        return Err(error::INVALID_VALUE);
    }
    // SAFETY: by the contract.
    unsafe { place.write(value) };
    Ok(())
}
