//! What the constructors of rebuilt objects call: modules, kernels, variables.

use crate::cuda::error::Error;
use crate::gpu::real::{Real, real};
use crate::gpu::register;
use crate::memory::Description;
use crate::message;
use crate::module::{Module, Registered, name};
use crate::runtime::{Kernel, Member, Runtime, lock, lock_for};
use std::ffi::{CStr, c_char, c_int, c_void};
use warpline_format::abi::GlobalDescriptor;
use warpline_format::event::{AllocationKind, Event};
use warpline_format::site_table::GlobalKind;

/// The real runtime, where kernels run on a GPU.
fn gpu() -> Option<&'static Real> {
    if crate::gpu::active() { real() } else { None }
}

/// What the host object hands over (`__fatBinC_Wrapper_t`).
#[repr(C)]
pub struct FatBinaryWrapper {
    magic: u32,
    version: u32,
    data: *const u8,
    reserved: *const c_void,
}

impl FatBinaryWrapper {
    /// A wrapper of its own for the real runtime.
    pub fn new(magic: u32, data: *const u8) -> FatBinaryWrapper {
        FatBinaryWrapper { magic, version: 1, data, reserved: std::ptr::null() }
    }

    /// The fat binary, or what stands in its place.
    pub fn data(&self) -> *const u8 {
        self.data
    }
}

/// Registers a module; the handle is a number that only this file reads.
///
/// # Safety
/// `wrapper` is the wrapper of a fat binary, whose data is one or a `ModuleDescriptor`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterFatBinary(wrapper: *const FatBinaryWrapper) -> *mut *mut c_void {
    if let Some(real) = gpu() {
        // SAFETY: handed through.
        return unsafe { register::fat_binary(real, wrapper) };
    }
    // SAFETY: by the contract.
    let data = if wrapper.is_null() { std::ptr::null() } else { unsafe { (*wrapper).data } };
    // SAFETY: by the contract.
    let architecture = || Some(unsafe { Module::read(data, 0) }?.ok()?.table.arch);
    let Some(mut runtime) = lock_for(architecture) else { return std::ptr::null_mut() };
    // SAFETY: by the contract.
    let registered = unsafe { register(&mut runtime, data) };
    runtime.registered.push(registered);
    runtime.registered.len() as *mut *mut c_void
}

/// # Safety
/// As for [`__cudaRegisterFatBinary`].
unsafe fn register(runtime: &mut Runtime, data: *const u8) -> Registered {
    // SAFETY: by the contract.
    unsafe { enter(runtime, data, None) }.map_or(Registered::Foreign, Registered::Module)
}

/// Enters a module, whose only kernel is called `shown` in what the user sees where that is given; `None`, which has been
/// told, where it cannot be used.
///
/// # Safety
/// As for [`__cudaRegisterFatBinary`]; `data` is what the wrapper points to.
pub(crate) unsafe fn enter(runtime: &mut Runtime, data: *const u8, shown: Option<&str>) -> Option<usize> {
    let id = runtime.modules.len() as u32;
    // SAFETY: by the contract.
    let mut module = match unsafe { Module::read(data, id) }? {
        Ok(module) => module,
        Err(error) => {
            message::note(&error.to_string());
            return None;
        }
    };
    if let Some(shown) = shown {
        module.show_as(shown);
    }
    tell(runtime, &module);
    place_globals(runtime, &mut module);
    runtime.modules.push(module);
    Some(id as usize)
}

/// Tells the trace of a module.
pub(crate) fn tell(runtime: &mut Runtime, module: &Module) {
    runtime.trace.event(Event::Module { id: module.id, site_table: module.told_table() });
    for event in module.assembly(runtime.options.device.compute_capability) {
        runtime.trace.event(event);
    }
}

/// Gives each global of a module its device memory.
fn place_globals(runtime: &mut Runtime, module: &mut Module) {
    let mut globals = Vec::with_capacity(module.variables().len());
    for (index, global) in module.variables().iter().enumerate() {
        let what = variable_of(module, index, global);
        let placed = runtime.allocate_as(global.size.max(1), what, Some((module.id, index as u32)));
        let Ok((_, address)) = placed else {
            message::note(&format!("no device memory for the variable {}", name(global.name)));
            globals.push(0);
            continue;
        };
        globals.push(address);
        if !global.slot.is_null() {
            // SAFETY: the module's own slot.
            unsafe { global.slot.write(address) };
        }
    }
    module.globals = globals;
    fill_globals(module);
}

/// What the trace says of a module's variable.
pub fn variable_of(module: &Module, index: usize, global: &GlobalDescriptor) -> Description {
    let kind = match global.kind {
        0 => AllocationKind::DeviceGlobal,
        1 => AllocationKind::Constant,
        2 => AllocationKind::ManagedGlobal,
        _ => AllocationKind::Compiler,
    };
    let entry = module.table.globals.get(index);
    let label = entry.filter(|global| global.kind != GlobalKind::Compiler || !global.name.is_empty());
    let name = Some(label.map_or_else(|| name(global.name), |global| global.name.clone()));
    Description { kind, name, path: 0 }
}

/// Gives a module's globals their initial content.
pub fn fill_globals(module: &Module) {
    for (global, &address) in module.variables().iter().zip(&module.globals) {
        if address == 0 {
            continue;
        }
        let bytes = global.size as usize;
        // SAFETY: the module's own image; the allocation has the image's size.
        unsafe {
            if global.image.is_null() {
                std::ptr::write_bytes(address as *mut u8, 0, bytes);
            } else {
                std::ptr::copy_nonoverlapping(global.image, address as *mut u8, bytes);
            }
        }
        if global.relocations.is_null() {
            continue;
        }
        // SAFETY: the module's own array.
        let relocations = unsafe { std::slice::from_raw_parts(global.relocations, global.relocation_count as usize) };
        for relocation in relocations {
            let target = module.globals.get(relocation.target as usize).copied().unwrap_or(0);
            if relocation.offset + 8 <= global.size {
                // SAFETY: in bounds of the allocation just made.
                unsafe {
                    let pointer = (address + relocation.offset) as *mut u64;
                    pointer.write_unaligned(target.wrapping_add_signed(relocation.addend));
                }
            }
        }
    }
}

/// All of a module is registered.
///
/// # Safety
/// The handle is one that [`__cudaRegisterFatBinary`] gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterFatBinaryEnd(handle: *mut *mut c_void) {
    if let Some(real) = gpu()
        && let (real_handle @ 1.., _) = register::handle_of(handle)
    {
        // SAFETY: the real runtime's own handle.
        unsafe { (real.register_end)(real_handle as _) };
    }
}

/// The module's code and data go away. Its memory stays in the trace as it was.
///
/// # Safety
/// The handle is one that [`__cudaRegisterFatBinary`] gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaUnregisterFatBinary(handle: *mut *mut c_void) {
    if let Some(real) = gpu() {
        // SAFETY: handed through.
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

/// Ties a host stub to a kernel.
///
/// # Safety
/// The handle is one that [`__cudaRegisterFatBinary`] gave; the names are strings.
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
        // SAFETY: handed through.
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

/// Ties a host shadow to a device variable.
///
/// # Safety
/// The handle is one that [`__cudaRegisterFatBinary`] gave; the names are strings.
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
            // SAFETY: handed through, with the real runtime's own handle.
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

/// Ties a texture reference to its variable on the device, which holds the handle of an object
/// (`warpline/texture_references.h`).
///
/// # Safety
/// As for [`__cudaRegisterVar`].
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
    // SAFETY: handed through.
    unsafe {
        __cudaRegisterVar(handle, shadow, device_address, device_name, external, size_of::<u64>(), 0, 0);
    }
}

/// Ties a host pointer to a managed variable, and fills it in.
///
/// # Safety
/// As for [`__cudaRegisterVar`]; `shadow` points to a pointer.
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
            // SAFETY: handed through, with the real runtime's own handle.
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
            // SAFETY: by the contract.
            unsafe { shadow.write(address as *mut c_void) };
        }
        // Rebuilt host code knows the variable by its address, nvcc's by the pointer's.
        runtime.variables.insert(shadow as usize, member);
        runtime.variables.insert(address as usize, member);
    }
}

/// Compares without copying: a program may register thousands.
fn same_name(one: *const c_char, other: *const c_char) -> bool {
    // SAFETY: names of descriptors and of registrations are strings, where they are not null.
    !one.is_null() && !other.is_null() && unsafe { CStr::from_ptr(one) == CStr::from_ptr(other) }
}

fn variable(runtime: &Runtime, handle: *mut *mut c_void, device_name: *const c_char) -> Option<Member> {
    let module = module_of(runtime, handle)?;
    let index = runtime.modules[module].variables().iter().position(|global| same_name(global.name, device_name))?;
    Some(Member { module, index })
}

/// Modules are ready as soon as they are registered.
///
/// # Safety
/// The handle is one that [`__cudaRegisterFatBinary`] gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaInitModule(_handle: *mut *mut c_void) -> c_char {
    1
}

/// Kernel handles are the stubs themselves.
///
/// # Safety
/// `kernel` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaGetKernel(kernel: *mut *const c_void, stub: *const c_void) -> Error {
    if crate::gpu::active() {
        // SAFETY: by the contract.
        return unsafe { super::put(kernel, stub) }.err().unwrap_or(crate::cuda::error::SUCCESS);
    }
    // SAFETY: handed through.
    crate::runtime::call(|runtime| {
        runtime.kernel(stub)?;
        // SAFETY: by the contract.
        unsafe { super::put(kernel, stub) }
    })
}
