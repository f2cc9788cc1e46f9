//! Adds launches to the trace.

use super::kernels::LaunchRequest;
use super::state::{Kernel, stream_number};
use crate::call_paths::Entry;
use crate::cuda::error::Error;
use crate::modules::configuration::known;
use crate::modules::module::Member;
use crate::state::launched::Launched;
use crate::state::runtime::lock;
use warpline_format::event::{Event, Launch, LaunchEnd, LaunchId};
use warpline_format::options::Mode;

/// A launch that is in the trace.
pub(super) struct Noted {
    pub(super) id: LaunchId,
    pub(super) traced: bool,
    /// Whether only counts of the requests are kept.
    pub(super) counted: bool,
    pub(super) share: u64,
    pub(super) parameters: usize,
}

impl Noted {
    /// Returns the form of the kernel that runs if the launch is traced or counted.
    pub(super) fn form(&self, kernel: Kernel) -> usize {
        if self.counted { kernel.counted } else { kernel.traced }
    }
}

/// Writes the launch's first event. A kernel without hooks is not traced, whatever the options are.
pub(super) fn note_launch(
    wanted: &LaunchRequest,
    kernel: Kernel,
    hooked: bool,
    resident: impl Fn(usize) -> u32,
    entry: Entry,
) -> Option<Noted> {
    let counted = lock()?.options.mode == Mode::Counters;
    // This call goes to the real runtime, so no lock is held.
    let resident = resident(if counted { kernel.counted } else { kernel.traced });
    let mut runtime = lock()?;
    runtime.complete_registers(kernel.module);
    let path = runtime.path(entry);
    let launched =
        Launched { grid: wanted.grid.into(), block: wanted.block.into(), dynamic_shared: wanted.shared as u64, path };
    let member = Member { module: kernel.module, index: kernel.index };
    let numbered = runtime.count_launch(member, hooked.then_some(launched));
    let (id, traced) = (numbered.id, numbered.traced);
    // Records arrive while the program continues, so the budget is based on the number of warps.
    runtime.count_work(&numbered, None);
    let share = runtime.options.block_share.max(1);
    let stream = stream_number(wanted.stream as usize);
    let module = runtime.modules.get(kernel.module)?;
    let descriptor = module.kernels().get(kernel.index)?;
    let registers = runtime.options.device.registers(known(module, kernel.index), runtime.options.stated);
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
    runtime.record_carveout(id, member);
    runtime.trace.event(Event::Launch(launch));
    runtime.write_sample_position(&numbered);
    Some(Noted { id, traced, counted, share, parameters })
}

/// Writes the last event of a launch without records.
pub(super) fn end(id: LaunchId, code: Error) {
    if let Some(mut runtime) = lock() {
        let end = LaunchEnd { id, error: code, blocks: Vec::new(), branches: Vec::new() };
        runtime.trace.event(Event::LaunchEnd(end));
    }
}
