//! Functions of CUDA's driver API, version 13.0: those that programs use together with the runtime's functions, and
//! those that load code while the program runs. Names are those of the symbols, as `cuda.h` defines them (`cuMemAlloc`
//! is `cuMemAlloc_v2`).

pub mod arrays;
pub mod context;
pub mod copy;
pub mod device;
pub mod entry_points;
pub mod errors;
mod formats;
pub mod launches;
pub mod legacy_launches;
pub mod libraries;
pub mod links;
pub mod memory;
pub mod modules;
pub mod occupancy;
pub mod rectangles;
pub mod streams;
pub mod texture_references;
pub mod textures;
pub mod virtual_memory;

use crate::cuda::error::Error;
use crate::cuda::result::driver_error;
use crate::state::contexts::Needs;
use crate::state::failed_calls::Call;
use crate::state::runtime::{Runtime, lock};

/// The form of `api!` for the driver's functions. The value after `needs` is what must have happened before the call
/// ([`Needs`]). Errors of driver functions do not become the runtime's last error. On a GPU, the call is passed to the
/// driver's own function.
macro_rules! driver_api {
    ($($(#[$meta:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) needs $needs:ident |$runtime:ident, $entry:ident|
        $(=> $handler:path)? $body:block)*) => {$(
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
                let code = $crate::gpu::forward_driver!($name, ($($argument: $type),*) $(, $entry, $handler)?);
                return $crate::state::failed_calls::returned(call, code);
            }
            $crate::api::driver::call(call, $crate::state::contexts::Needs::$needs, |$runtime| $body)
        }
    )*
        /// The functions that this file offers.
        pub(super) static OFFERED: &[$crate::api::driver::entry_points::Offered] = &[$(
            $crate::api::driver::entry_points::Offered { symbol: stringify!($name), address: $name as *const () },
        )*];
    };
}
pub(crate) use driver_api;

/// All functions of the driver, with one list for each file.
static OFFERED: [&[entry_points::Offered]; 17] = [
    arrays::OFFERED,
    context::OFFERED,
    copy::OFFERED,
    device::OFFERED,
    errors::OFFERED,
    launches::OFFERED,
    legacy_launches::OFFERED,
    libraries::OFFERED,
    links::OFFERED,
    memory::OFFERED,
    modules::OFFERED,
    occupancy::OFFERED,
    rectangles::OFFERED,
    streams::OFFERED,
    texture_references::OFFERED,
    textures::OFFERED,
    virtual_memory::OFFERED,
];

/// Runs a call of the driver API and returns its error code.
fn call(call: Call, needs: Needs, body: impl FnOnce(&mut Runtime) -> Result<(), Error>) -> Error {
    let ready = needs.check();
    let Some(mut runtime) = lock() else { return driver_error(Err(crate::cuda::error::INITIALIZATION_ERROR)) };
    runtime.failed_calls.begin();
    let result = ready.inspect_err(|code| runtime.failed_call(call, *code)).and_then(|()| {
        // An error that a kernel caused belongs to the context.
        if needs == Needs::Context {
            runtime.settle()?;
        }
        body(&mut runtime).inspect_err(|code| runtime.failed_call(call, *code))
    });
    driver_error(result)
}
