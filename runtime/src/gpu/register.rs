//! Registration with the real runtime: each module's fat binary, and all forms of each kernel.

use super::devices::current_number;
use super::state::{Kernel, Variable, know, registry};
use crate::cuda::fat_binary::FatBinaryWrapper;
use crate::loading::followed::followed;
use crate::memory::Description;
use crate::memory::registry::Live;
use crate::modules::module::{Module, name};
use crate::modules::variables::variable_of;
use crate::output::message;
use crate::real::functions::Real;
use crate::state::runtime::{Runtime, lock};
use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;
use warpline_format::abi::ModuleDescriptor;
use warpline_format::event::{Allocation, Event};
use warpline_format::gpu::{COUNTED_SUFFIX, CountLayout, FINISH_KERNEL, HOOKED_SUFFIX};

/// The first word of `__fatBinC_Wrapper_t`.
const WRAPPER_MAGIC: u32 = 0x4662_43b1;

/// Returns an address that represents a kernel for which the program has no stub. The address is that of one byte,
/// which is never freed.
fn stand_in() -> usize {
    Box::leak(Box::new(0u8)) as *const u8 as usize
}

/// Registers a kernel of the module with a new stand-in address.
fn register_kernel(real: &Real, handle: usize, name: &str) -> usize {
    let stub = stand_in();
    let Ok(name) = CString::new(name) else { return stub };
    // The runtime keeps the pointer, so the string must not be freed.
    let name = name.into_raw();
    let none = null_mut::<c_void>();
    // SAFETY: the handle is the real runtime's; the name is a string that is never freed.
    unsafe {
        (real.register_function)(handle as _, stub as _, name, name, -1, none, none, none, none, null_mut());
    }
    stub
}

/// `__cudaRegisterFatBinary`.
///
/// # Safety
/// The requirements of the function of that name apply.
pub unsafe fn fat_binary(real: &Real, wrapper: *const FatBinaryWrapper) -> *mut *mut c_void {
    // SAFETY: by the contract.
    let data = if wrapper.is_null() { null() } else { unsafe { (*wrapper).data() } };
    let entry = {
        let Some(mut runtime) = lock() else { return null_mut() };
        // SAFETY: by the contract.
        unsafe { enter_module(&mut runtime, data) }
    };
    let entry = match entry {
        // Code that was not rebuilt is passed to the real runtime unchanged. SAFETY: the caller fulfils the contract.
        None => (unsafe { (real.register_binary)(wrapper.cast()) } as usize, None),
        Some(Entered { binary, .. }) if binary.is_null() => (0, None),
        Some(Entered { module, binary, layout }) => {
            let wrapper = FatBinaryWrapper::new(WRAPPER_MAGIC, binary);
            // SAFETY: the wrapper is never freed, and the module's binary lives while it is registered.
            let handle =
                unsafe { (real.register_binary)((Box::leak(Box::new(wrapper)) as *const FatBinaryWrapper).cast()) };
            let finish = register_kernel(real, handle as usize, FINISH_KERNEL);
            registry().layouts.insert(module, Arc::new(layout));
            (handle as usize, Some((module, finish)))
        }
    };
    let mut registry = registry();
    registry.handles.push(entry);
    registry.handles.len() as *mut *mut c_void
}

struct Entered {
    module: usize,
    binary: *const u8,
    layout: CountLayout,
}

/// # Safety
/// The requirements of [`fat_binary`] apply.
unsafe fn enter_module(runtime: &mut Runtime, data: *const u8) -> Option<Entered> {
    let id = runtime.modules.len() as u32;
    // SAFETY: by the contract.
    let data = unsafe { followed(runtime, data) };
    // SAFETY: by the contract, or a descriptor that was just loaded and stays.
    let module = match unsafe { Module::read(data, id) }? {
        Ok(module) => module,
        Err(error) => {
            message::note(&error.to_string());
            return Some(Entered { module: 0, binary: null(), layout: CountLayout::new(&Default::default()) });
        }
    };
    let descriptor: &ModuleDescriptor = module.descriptor();
    let binary: *const u8 = descriptor.fat_binary.cast();
    if binary.is_null() {
        message::note(&format!(
            "{} was built for the CPU device alone and cannot run on a GPU: build it with `warpline cc --device=gpu`, or run \
             with WARPLINE_DEVICE=cpu",
            module.table.module
        ));
    }
    let layout = CountLayout::new(&module.table);
    runtime.trace.event(Event::Module { id, site_table: module.table_bytes().to_vec() });
    for event in module.assembly(runtime.options.device.compute_capability) {
        runtime.trace.event(event);
    }
    reserve_variables(runtime, &module);
    runtime.modules.push(module);
    Some(Entered { module: id as usize, binary, layout })
}

/// Returns the real handle for the program's handle. For a module that Warpline compiled, also returns the module and
/// its finish kernel.
pub fn handle_of(handle: *mut *mut c_void) -> (usize, Option<(usize, usize)>) {
    registry().handles.get((handle as usize).wrapping_sub(1)).copied().unwrap_or((0, None))
}

/// `__cudaRegisterFunction`.
///
/// # Safety
/// The requirements of the function of that name apply.
#[expect(clippy::too_many_arguments, reason = "the signature is CUDA's")]
pub unsafe fn function(
    real: &Real,
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
    let (handle, module) = handle_of(handle);
    let kernel_name = name(device_name);
    if handle == 0 {
        registry().foreign.insert(stub as usize, kernel_name);
        return;
    }
    // SAFETY: the caller fulfils the contract.
    unsafe {
        (real.register_function)(
            handle as _,
            stub.cast(),
            device_function,
            device_name,
            thread_limit,
            thread,
            block,
            block_dim,
            grid_dim,
            warp_size,
        );
    }
    let index = module.and_then(|(module, _)| {
        let runtime = lock()?;
        runtime.modules.get(module)?.kernels().iter().position(|kernel| name(kernel.name) == kernel_name)
    });
    match (module, index) {
        (Some((module, finish)), Some(index)) => {
            let form = |suffix| register_kernel(real, handle, &format!("{kernel_name}{suffix}"));
            let (traced, counted) = (form(HOOKED_SUFFIX), form(COUNTED_SUFFIX));
            registry().kernels.insert(stub as usize, Kernel { module, index, traced, counted, finish });
        }
        _ => {
            registry().foreign.insert(stub as usize, kernel_name);
        }
    }
}

/// `__cudaRegisterVar` and `__cudaRegisterManagedVar`, called after the real functions. The driver has not loaded the
/// variable yet, so its address is queried later: at the module's first launch, or at the first copy to one of its
/// variables.
pub fn variable(handle: *mut *mut c_void, shadow: usize, device_name: *const c_char) {
    let (_, Some((module, _))) = handle_of(handle) else { return };
    let wanted = name(device_name);
    let index = lock().and_then(|runtime| {
        runtime.modules.get(module)?.variables().iter().position(|global| name(global.name) == wanted)
    });
    if let Some(index) = index {
        registry().variables.push(Variable { shadow, module, index });
    }
}

/// `__cudaUnregisterFatBinary`.
///
/// # Safety
/// The requirements of the function of that name apply.
pub unsafe fn unregister(real: &Real, handle: *mut *mut c_void) {
    let (handle, _) = handle_of(handle);
    if handle != 0 {
        // SAFETY: the handle is the real runtime's own.
        unsafe { (real.unregister_binary)(handle as _) };
    }
}

/// Calls [`place_variables`] for the module of a variable.
pub fn place_variable_of(real: &Real, shadow: usize) {
    let module = registry().variables.iter().find(|variable| variable.shadow == shadow).map(|variable| variable.module);
    if let Some(module) = module {
        place_variables(real, module);
    }
}

/// Records those variables of a module whose addresses on the thread's device can already be queried. Each device has
/// its own copy of a variable; in the trace, all copies are one variable.
pub fn place_variables(real: &Real, module: usize) {
    let Ok(device) = current_number(real) else { return };
    let waiting: Vec<Variable> = {
        let mut registry = registry();
        if !registry.placed.insert((device, module)) {
            return;
        }
        registry.variables.iter().filter(|variable| variable.module == module).copied().collect()
    };
    for variable in waiting {
        let mut address = null_mut();
        // SAFETY: the shadow was registered; the result goes to a local variable.
        if unsafe { (real.symbol_address)(&raw mut address, variable.shadow as *const c_void) } != 0 {
            // SAFETY: the function has no arguments. The call clears an error that the program did not cause.
            unsafe { (real.last_error)() };
            continue;
        }
        place_variable(variable, address as u64);
    }
}

/// Assigns trace addresses to a module's variables as the CPU device does, so that all addresses are the same for both
/// devices. The addresses on the GPUs are added when they are available; until then, the addresses of the descriptors
/// represent the variables.
fn reserve_variables(runtime: &mut Runtime, module: &Module) {
    for (index, global) in module.variables().iter().enumerate() {
        let (what, token) = (variable_of(module, index, global), std::ptr::from_ref(global) as u64);
        let Ok(live) = runtime.memory.register(token, global.size.max(1), what) else { continue };
        let event = allocation(live, global.size.max(1), Some((module.id, index as u32)));
        runtime.trace.event(Event::Allocation(event));
    }
}

fn place_variable(Variable { module, index, .. }: Variable, address: u64) {
    let Some(mut runtime) = lock() else { return };
    let Some(global) = runtime.modules.get(module).and_then(|entry| entry.variables().get(index)) else { return };
    let (bytes, token) = (global.size.max(1), std::ptr::from_ref(global) as u64);
    let mut registry = registry();
    // Each device has its own copy of the variable; the program's calls identify it by the first copy.
    let synthetic = match registry.placed_variables.get(&(module, index)) {
        Some(&known) => known,
        None => {
            let Some(live) = runtime.memory.registry.at(token) else { return };
            let synthetic = live.address;
            runtime.memory.registry.move_to(token, address);
            registry.placed_variables.insert((module, index), synthetic);
            synthetic
        }
    };
    drop(registry);
    know(address, bytes, synthetic);
}

/// Assigns a trace address to an allocation on the device.
pub fn enter(runtime: &mut Runtime, device: u64, bytes: u64, what: Description) -> Option<Allocation> {
    let live = runtime.memory.register(device, bytes, what).ok()?;
    know(device, bytes.max(1), live.address);
    Some(allocation(live, bytes, None))
}

fn allocation(live: &Live, bytes: u64, global: Option<(u32, u32)>) -> Allocation {
    let (name, path) = (live.name.clone(), live.path);
    Allocation { id: live.id, kind: live.kind, address: live.address, bytes, name, path, global }
}
