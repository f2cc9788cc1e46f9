//! Functions that the constructors of rebuilt object files call: registration of modules, kernels and variables.

use crate::cuda::error::Error;
use crate::cuda::fat_binary::FatBinaryWrapper;
use crate::gpu::register;
use crate::loading::entered::enter;
use crate::modules::module::Member;
use crate::modules::module::{Module, Registered, name};
use crate::real::functions::{Real, real};
use crate::state::runtime::{Kernel, Runtime, lock, lock_for};
use std::ffi::{CStr, c_char, c_int, c_void};

/// Returns the real runtime if kernels run on a GPU.
fn gpu() -> Option<&'static Real> {
    if crate::real::active() { real() } else { None }
}

/// Registers a module. The handle is a number that only this file interprets.
///
/// # Safety
/// `wrapper` is the wrapper of a fat binary; its data is a fat binary or a `ModuleDescriptor`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterFatBinary(wrapper: *const FatBinaryWrapper) -> *mut *mut c_void {
    if let Some(real) = gpu() {
        // SAFETY: the caller fulfils the contract.
        return unsafe { register::fat_binary(real, wrapper) };
    }
    // SAFETY: by the contract of the API function.
    let data = if wrapper.is_null() { std::ptr::null() } else { unsafe { (*wrapper).data() } };
    // SAFETY: by the contract of the API function.
    let architecture = || Some(unsafe { Module::read(data, 0) }?.ok()?.table.arch);
    let Some(mut runtime) = lock_for(architecture) else { return std::ptr::null_mut() };
    // SAFETY: by the contract of the API function.
    let registered = unsafe { register(&mut runtime, data) };
    runtime.registered.push(registered);
    runtime.registered.len() as *mut *mut c_void
}

/// # Safety
/// The requirements of [`__cudaRegisterFatBinary`] apply.
unsafe fn register(runtime: &mut Runtime, data: *const u8) -> Registered {
    // SAFETY: by the contract of the API function.
    unsafe { enter(runtime, data, None) }.map_or(Registered::Foreign, Registered::Module)
}

/// Ends the registration of a module.
///
/// # Safety
/// The handle comes from [`__cudaRegisterFatBinary`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterFatBinaryEnd(handle: *mut *mut c_void) {
    if let Some(real) = gpu()
        && let (real_handle @ 1.., _) = register::handle_of(handle)
    {
        // SAFETY: the handle is the real runtime's own.
        unsafe { (real.register_end)(real_handle as _) };
    }
}

/// Removes a module's code and data. The trace keeps the events of its memory.
///
/// # Safety
/// The handle comes from [`__cudaRegisterFatBinary`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaUnregisterFatBinary(handle: *mut *mut c_void) {
    if let Some(real) = gpu() {
        // SAFETY: the caller fulfils the contract.
        return unsafe { register::unregister(real, handle) };
    }
    let Some(mut runtime) = lock() else { return };
    let Some(module) = module_of(&runtime, handle) else { return };
    runtime.kernels.retain(|_, kernel| !matches!(kernel, Kernel::Lowered(member) if member.module == module));
    runtime.variables.retain(|_, member| member.module != module);
    if let Some(registered) = runtime.registered.get_mut((handle as usize).wrapping_sub(1)) {
        *registered = Registered::Foreign;
    }
}

fn module_of(runtime: &Runtime, handle: *mut *mut c_void) -> Option<usize> {
    match runtime.registered.get((handle as usize).wrapping_sub(1)) {
        Some(Registered::Module(module)) => Some(*module),
        _ => None,
    }
}

/// Associates a host stub with a kernel.
///
/// # Safety
/// The handle comes from [`__cudaRegisterFatBinary`]; the names are strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterFunction(
    handle: *mut *mut c_void,
    stub: *const c_char,
    device_function: *mut c_char,
    device_name: *const c_char,
    thread_limit: c_int,
    thread: *mut c_void,
    block: *mut c_void,
    block_dim: *mut c_void,
    grid_dim: *mut c_void,
    warp_size: *mut c_int,
) {
    if let Some(real) = gpu() {
        // SAFETY: the caller fulfils the contract.
        return unsafe {
            register::function(
                real,
                handle,
                stub,
                device_function,
                device_name,
                thread_limit,
                thread,
                block,
                block_dim,
                grid_dim,
                warp_size,
            )
        };
    }
    let Some(mut runtime) = lock() else { return };
    let found = module_of(&runtime, handle).and_then(|module| {
        let kernels = runtime.modules[module].kernels();
        let index = kernels.iter().position(|kernel| same_name(kernel.name, device_name))?;
        Some(Member { module, index })
    });
    let kernel = found.map_or_else(|| Kernel::Foreign(name(device_name)), Kernel::Lowered);
    runtime.kernels.insert(stub as usize, kernel);
}

/// Associates a host shadow with a device variable.
///
/// # Safety
/// The handle comes from [`__cudaRegisterFatBinary`]; the names are strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterVar(
    handle: *mut *mut c_void,
    shadow: *mut c_char,
    device_address: *mut c_char,
    device_name: *const c_char,
    external: c_int,
    size: usize,
    constant: c_int,
    global: c_int,
) {
    if let Some(real) = gpu() {
        let (real_handle, _) = register::handle_of(handle);
        if real_handle != 0 {
            // SAFETY: the caller fulfils the contract, and the handle is the real runtime's own.
            unsafe {
                (real.register_variable)(
                    real_handle as _,
                    shadow,
                    device_address,
                    device_name,
                    external,
                    size,
                    constant,
                    global,
                )
            };
            register::variable(handle, shadow as usize, device_name);
        }
        return;
    }
    let Some(mut runtime) = lock() else { return };
    if let Some(member) = variable(&runtime, handle, device_name) {
        runtime.variables.insert(shadow as usize, member);
    }
}

/// Associates a texture reference with its variable on the device, which stores the handle of a texture object
/// (`warpline/texture_references.h`).
///
/// # Safety
/// The requirements of [`__cudaRegisterVar`] apply.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterTexture(
    handle: *mut *mut c_void,
    shadow: *mut c_char,
    device_address: *mut c_char,
    device_name: *const c_char,
    _dimensions: c_int,
    _normalised: c_int,
    external: c_int,
) {
    // SAFETY: the caller fulfils the contract.
    unsafe {
        __cudaRegisterVar(handle, shadow, device_address, device_name, external, size_of::<u64>(), 0, 0);
    }
}

/// Associates a host pointer with a managed variable, and writes the variable's address to the pointer.
///
/// # Safety
/// The requirements of [`__cudaRegisterVar`] apply; `shadow` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterManagedVar(
    handle: *mut *mut c_void,
    shadow: *mut *mut c_void,
    device_address: *mut c_char,
    device_name: *const c_char,
    external: c_int,
    size: usize,
    constant: c_int,
    global: c_int,
) {
    if let Some(real) = gpu() {
        let (real_handle, _) = register::handle_of(handle);
        if real_handle != 0 {
            // SAFETY: the caller fulfils the contract, and the handle is the real runtime's own.
            unsafe {
                (real.register_managed)(
                    real_handle as _,
                    shadow,
                    device_address,
                    device_name,
                    external,
                    size,
                    constant,
                    global,
                )
            };
            register::variable(handle, shadow as usize, device_name);
        }
        return;
    }
    let Some(mut runtime) = lock() else { return };
    if let Some(member) = variable(&runtime, handle, device_name) {
        let address = runtime.modules[member.module].globals[member.index];
        if !shadow.is_null() {
            // SAFETY: by the contract of the API function.
            unsafe { shadow.write(address as *mut c_void) };
        }
        // Rebuilt host code identifies the variable by the variable's address; host code from nvcc identifies it by the
        // pointer's address.
        runtime.variables.insert(shadow as usize, member);
        runtime.variables.insert(address as usize, member);
    }
}

/// Returns whether two names are equal. It does not copy them, because a program may register thousands of names.
fn same_name(one: *const c_char, other: *const c_char) -> bool {
    // SAFETY: names of descriptors and of registrations are null or strings.
    !one.is_null() && !other.is_null() && unsafe { CStr::from_ptr(one) == CStr::from_ptr(other) }
}

fn variable(runtime: &Runtime, handle: *mut *mut c_void, device_name: *const c_char) -> Option<Member> {
    let module = module_of(runtime, handle)?;
    let index = runtime.modules[module].variables().iter().position(|global| same_name(global.name, device_name))?;
    Some(Member { module, index })
}

/// Reports that a module is ready, because each module is ready as soon as it is registered.
///
/// # Safety
/// The handle comes from [`__cudaRegisterFatBinary`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaInitModule(_handle: *mut *mut c_void) -> c_char {
    1
}

/// Returns a kernel's handle, which is the stub itself.
///
/// # Safety
/// `kernel` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaGetKernel(kernel: *mut *const c_void, stub: *const c_void) -> Error {
    if crate::real::active() {
        // SAFETY: by the contract of the API function.
        return unsafe { super::put(kernel, stub) }.err().unwrap_or(crate::cuda::error::SUCCESS);
    }
    // SAFETY: the caller fulfils the contract.
    crate::state::runtime::call(|runtime| {
        runtime.kernel(stub)?;
        // SAFETY: by the contract of the API function.
        unsafe { super::put(kernel, stub) }
    })
}
