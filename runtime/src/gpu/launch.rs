//! A kernel launch on a GPU: the choice among the forms of the kernel, the launch's events, and the finish kernel that
//! follows a hooked kernel.

use super::capturing::is_capturing;
use super::devices::{Gpu, SlotMemory, current, returned};
use super::drain::items::LaunchShape;
use super::drain::session::{Begun, TicketPlace};
use super::graphs::executables;
use super::kernels::{LaunchRequest, allow_shared, finish_shape, kernel_name, occupancy};
use super::noted::{Noted, end, note_launch};
use super::register::place_variables;
use super::state::{Kernel, registry};
use super::times::{self, Form};
use crate::call_paths::Entry;
use crate::cuda::error::{self, Error};
use crate::cuda::types::{Dim3, StreamHandle};
use crate::modules::configuration::possible_shape;
use crate::output::message::note_once;
use crate::real::emulation::shared_bits;
use crate::real::functions::Real;
use std::ffi::c_void;
use std::sync::Arc;
use warpline_format::gpu::TARGET_PARAMETERS;

/// Launches a kernel through `start`, which calls the real runtime's function for the kind of launch with a kernel and
/// its arguments.
///
/// # Safety
/// The requirements of `cudaLaunchKernel` apply.
pub unsafe fn launch(
    real: &Real,
    wanted: LaunchRequest,
    entry: Entry,
    start: impl Fn(*const c_void, *mut *mut c_void) -> Error,
) -> Error {
    let kernel = registry().kernels.get(&(wanted.stub as usize)).copied();
    let Some(kernel) = kernel else {
        let name = registry().foreign.get(&(wanted.stub as usize)).cloned();
        note_once(format!(
            "kernel {} was compiled without Warpline: it runs, and is not in the profile",
            name.unwrap_or_else(|| "of a library".into())
        ));
        return returned(start(wanted.stub, wanted.arguments));
    };
    if is_capturing(real, wanted.stream) {
        // Hooks are added when the kernel's graph is made executable.
        executables::node_made(real);
        return returned(start(wanted.stub, wanted.arguments));
    }
    place_variables(real, kernel.module);
    let original = || {
        let start = || start(wanted.stub, wanted.arguments);
        returned(times::around(&wanted, kernel, Form::Original, wanted.stub as usize, start))
    };
    let gpu = match current(real) {
        Ok(gpu) => gpu,
        // The launch itself returns the device's error.
        Err(_) => return original(),
    };
    if !can_start(real, &wanted, kernel) {
        return original();
    }
    let Some(noted) = note_launch(&wanted, kernel, true, |form| resident(real, &wanted, form), entry) else {
        return original();
    };
    if !noted.traced {
        let code = original();
        end(noted.id, code);
        return code;
    }
    // SAFETY: by the contract.
    match unsafe { launch_hooked(real, &gpu, &wanted, kernel, &noted, &start) } {
        Some(code) => code,
        None => {
            let code = original();
            end(noted.id, code);
            code
        }
    }
}

/// Launches the hooked form. Returns `None` if it cannot run and the original form must run instead.
///
/// # Safety
/// The requirements of [`launch`] apply.
unsafe fn launch_hooked(
    real: &Real,
    gpu: &Arc<Gpu>,
    wanted: &LaunchRequest,
    kernel: Kernel,
    noted: &Noted,
    start: &impl Fn(*const c_void, *mut *mut c_void) -> Error,
) -> Option<Error> {
    let layout = registry().layouts.get(&kernel.module).cloned()?;
    let cells = if noted.counted { layout.all_cells() } else { layout.cells() };
    let slot = gpu.session.take_slot()?;
    let memory = match gpu.slot_memory(real, slot, cells) {
        Ok(memory) => memory,
        Err(code) => {
            gpu.session.release_unused(slot);
            note_once(format!("no memory for the records of a launch (CUDA error {code}); it is not in the profile"));
            return None;
        }
    };
    let Dim3 { x, y, z } = wanted.block;
    let shape = LaunchShape {
        id: noted.id,
        threads: x * y * z,
        resident: resident(real, wanted, noted.form(kernel)),
        sms: gpu.sms,
        shared_reserved: gpu.shared_reserved,
        shared_bits: shared_bits(),
        block_share: noted.share,
    };
    let ticket = TicketPlace(memory.ticket as *mut u64);
    gpu.session.begin(slot, Begun { shape, layout, counted: noted.counted, discarded: false, ticket });
    let form = noted.form(kernel);
    allow_shared(real, form, wanted.shared);
    let mut target = gpu.target(slot, &memory, cells);
    let mut arguments: Vec<*mut c_void> = Vec::with_capacity(noted.parameters + TARGET_PARAMETERS);
    if noted.parameters != 0 {
        // SAFETY: by the contract one pointer per parameter.
        arguments.extend(unsafe { std::slice::from_raw_parts(wanted.arguments, noted.parameters) });
    }
    arguments.extend(target.iter_mut().map(|word| std::ptr::from_mut(word).cast::<c_void>()));
    let kind = if noted.counted { Form::Counted } else { Form::Traced };
    let code = times::around(wanted, kernel, kind, form, || start(form as _, arguments.as_mut_ptr()));
    if matches!(code, error::LAUNCH_OUT_OF_RESOURCES | error::COOPERATIVE_LAUNCH_TOO_LARGE) {
        // SAFETY: the function has no arguments. The call clears an error that the program did not cause.
        unsafe { (real.last_error)() };
        gpu.session.release_unused(slot);
        note_once(format!(
            "{}: with hooks it needs too many registers for this launch; it runs without, and has no records",
            kernel_name(kernel)
        ));
        return None;
    }
    if code != error::SUCCESS {
        gpu.session.cancel(slot, code);
        return Some(returned(code));
    }
    let finished = finish(real, kernel, cells, &memory, &mut target, wanted.stream);
    if finished != error::SUCCESS {
        gpu.session.fail(finished);
        return Some(returned(finished));
    }
    Some(code)
}

/// Launches the finish kernel after a hooked kernel.
fn finish(
    real: &Real,
    kernel: Kernel,
    cells: u64,
    memory: &SlotMemory,
    target: &mut [u64; TARGET_PARAMETERS],
    stream: StreamHandle,
) -> Error {
    let mut places = [memory.ticket_device, memory.arrived];
    let mut arguments: Vec<*mut c_void> =
        target.iter_mut().chain(&mut places).map(|word| std::ptr::from_mut(word).cast::<c_void>()).collect();
    let (grid, block) = finish_shape(cells);
    // SAFETY: the kernel is registered and has these six parameters of 64 bits.
    unsafe { (real.launch)(kernel.finish as _, grid, block, arguments.as_mut_ptr(), 0, stream) }
}

/// Returns whether CUDA accepts the launch. A launch that CUDA refuses does not take place, so it is not in the trace.
fn can_start(real: &Real, wanted: &LaunchRequest, kernel: Kernel) -> bool {
    possible_shape(&wanted.grid.into(), &wanted.block.into()).is_ok()
        && [kernel.traced, wanted.stub as usize]
            .iter()
            .any(|&form| occupancy(real, wanted.block, wanted.shared, form) != 0)
}

/// Returns how many blocks of a kernel's form share an SM.
fn resident(real: &Real, wanted: &LaunchRequest, form: usize) -> u32 {
    occupancy(real, wanted.block, wanted.shared, form).max(1)
}
