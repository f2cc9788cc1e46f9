//! A kernel launch on a GPU: the choice among the forms of the kernel, the launch's events, and the finish
//! kernel behind a hooked one.

use super::devices::{Gpu, SlotMemory, current, returned};
use super::emulation::shared_bits;
use super::graphs;
use super::items::LaunchShape;
use super::real::Real;
use super::register::place_variables;
use super::session::{Begun, TicketPlace};
use super::state::{Kernel, note_once, registry, stream_number};
use super::times::{self, Form};
use crate::configuration::known;
use crate::cuda::error::{self, Error};
use crate::cuda::types::{Dim3, StreamHandle};
use crate::module::Member;
use crate::paths::Entry;
use crate::runtime::lock;
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use warpline_format::event::{Event, Launch, LaunchEnd, LaunchId};
use warpline_format::gpu::TARGET_PARAMETERS;
use warpline_format::options::Mode;

/// `cudaFuncAttributeMaxDynamicSharedMemorySize`.
const MAX_DYNAMIC_SHARED: c_int = 8;
/// Dynamic shared memory that a kernel may have without asking.
const SHARED_WITHOUT_ASKING: usize = 48 << 10;
/// Threads of a block of the finish kernel, and most blocks of it.
const FINISH_THREADS: u32 = 256;
const FINISH_BLOCKS: u64 = 64;

/// What the program gave with a launch.
#[derive(Clone, Copy)]
pub struct Wanted {
    /// Host stub of the kernel.
    pub stub: *const c_void,
    /// Blocks.
    pub grid: Dim3,
    /// Threads per block.
    pub block: Dim3,
    /// One pointer per parameter.
    pub arguments: *mut *mut c_void,
    /// Dynamic shared memory, bytes.
    pub shared: usize,
    /// Stream.
    pub stream: StreamHandle,
}

/// A launch in the trace.
pub(super) struct Noted {
    pub(super) id: LaunchId,
    pub(super) traced: bool,
    /// Of the requests only counts are kept.
    pub(super) counted: bool,
    pub(super) share: u64,
    parameters: usize,
}

impl Noted {
    /// The form of the kernel that runs when it is traced or counted.
    fn form(&self, kernel: Kernel) -> usize {
        if self.counted { kernel.counted } else { kernel.traced }
    }
}

/// Launches through `start`, which calls the real runtime's function for the kind of launch with a kernel and its
/// arguments.
///
/// # Safety
/// As for `cudaLaunchKernel`.
pub unsafe fn launch(
    real: &Real,
    wanted: Wanted,
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
        // Hooks are put in when its graph is made executable.
        graphs::node_made(real);
        return returned(start(wanted.stub, wanted.arguments));
    }
    place_variables(real, kernel.module);
    let original = || {
        let start = || start(wanted.stub, wanted.arguments);
        returned(times::around(&wanted, kernel, Form::Original, wanted.stub as usize, start))
    };
    let gpu = match current(real) {
        Ok(gpu) => gpu,
        // The launch itself will say what is wrong with the device.
        Err(_) => return original(),
    };
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

/// Launches the hooked form; `None` where it cannot run and the original one is to.
///
/// # Safety
/// As for [`launch`].
unsafe fn launch_hooked(
    real: &Real,
    gpu: &Arc<Gpu>,
    wanted: &Wanted,
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
        // SAFETY: no arguments; the program did not cause this error.
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

/// Lets a form of a kernel have as much dynamic shared memory as the program asked for, for the original one.
pub(super) fn allow_shared(real: &Real, form: usize, bytes: usize) {
    if bytes > SHARED_WITHOUT_ASKING {
        // SAFETY: a registered kernel.
        unsafe { (real.set_attribute)(form as _, MAX_DYNAMIC_SHARED, bytes as c_int) };
    }
}

/// Grid and block of the finish kernel for so many cells.
pub(super) fn finish_shape(cells: u64) -> (Dim3, Dim3) {
    let blocks = cells.div_ceil(u64::from(FINISH_THREADS)).clamp(1, FINISH_BLOCKS) as u32;
    (Dim3 { x: blocks, y: 1, z: 1 }, Dim3 { x: FINISH_THREADS, y: 1, z: 1 })
}

/// Launches the finish kernel behind a hooked one.
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
    // SAFETY: a registered kernel with these six parameters of 64 bits.
    unsafe { (real.launch)(kernel.finish as _, grid, block, arguments.as_mut_ptr(), 0, stream) }
}

/// Whether work given to the stream goes into a graph.
pub(super) fn is_capturing(real: &Real, stream: StreamHandle) -> bool {
    let mut status = 0;
    // SAFETY: the program's stream; a result through a pointer to a local.
    let code = unsafe { (real.is_capturing)(stream, &raw mut status) };
    if code != error::SUCCESS {
        // SAFETY: no arguments. The legacy stream cannot be asked while another captures.
        unsafe { (real.last_error)() };
    }
    code != error::SUCCESS || status != 0
}

/// Blocks of a form of the kernel that share an SM.
fn resident(real: &Real, wanted: &Wanted, form: usize) -> u32 {
    occupancy(real, wanted.block, wanted.shared, form).max(1)
}

/// The same, 0 where it cannot run with this block.
pub(super) fn occupancy(real: &Real, block: Dim3, shared: usize, form: usize) -> u32 {
    let mut blocks = 0;
    let threads = block.x * block.y * block.z;
    // SAFETY: a registered kernel; a result through a pointer to a local.
    let code = unsafe { (real.occupancy)(&raw mut blocks, form as _, threads as c_int, shared) };
    if code != error::SUCCESS {
        // SAFETY: no arguments.
        unsafe { (real.last_error)() };
        return 0;
    }
    blocks.max(0) as u32
}

pub(super) fn kernel_name(kernel: Kernel) -> String {
    lock().and_then(|runtime| Some(runtime.modules.get(kernel.module)?.kernel_name(kernel.index))).unwrap_or_default()
}

/// Writes the launch's first event. Without hooks it is not traced, whatever the user asked for.
pub(super) fn note_launch(
    wanted: &Wanted,
    kernel: Kernel,
    hooked: bool,
    resident: impl Fn(usize) -> u32,
    entry: Entry,
) -> Option<Noted> {
    let counted = lock()?.options.mode == Mode::Counters;
    // Asks the real runtime, so no lock is held.
    let resident = resident(if counted { kernel.counted } else { kernel.traced });
    let mut runtime = lock()?;
    let path = runtime.path(entry);
    let (id, chosen) = runtime.count_launch(Member { module: kernel.module, index: kernel.index });
    let traced = hooked && chosen;
    let share = runtime.options.block_share.max(1);
    let stream = stream_number(wanted.stream as usize);
    let module = runtime.modules.get(kernel.module)?;
    let descriptor = module.kernels().get(kernel.index)?;
    let registers = runtime.options.device.registers(known(descriptor), runtime.options.stated);
    let launch = Launch {
        id,
        module: module.id,
        function: descriptor.function,
        grid: wanted.grid.into(),
        block: wanted.block.into(),
        dynamic_shared: wanted.shared as u32,
        static_shared: descriptor.static_shared,
        registers: registers.count,
        registers_assumed: registers.assumed,
        local_bytes: descriptor.local_bytes,
        resident_blocks: resident,
        block_share: if traced { share } else { 0 },
        stream,
        path,
    };
    let parameters = descriptor.parameter_count as usize;
    runtime.trace.event(Event::Launch(launch));
    Some(Noted { id, traced, counted, share, parameters })
}

/// Writes the last event of a launch without records.
pub(super) fn end(id: LaunchId, code: Error) {
    if let Some(mut runtime) = lock() {
        let end = LaunchEnd { id, error: code, blocks: Vec::new(), branches: Vec::new() };
        runtime.trace.event(Event::LaunchEnd(end));
    }
}
