//! Applies the program's changes of an executable graph to its hooked twin. If this is not possible, the program's own
//! graph runs from then on.

use super::error::TwinError;
use super::executables::{ExecutableGraph, counted, is_anyone_capturing, known, locked};
use super::functions::{ExecutableHandle, GraphFunctions, graph_functions};
use super::twin::{Maker, kernels_of, slots};
use crate::cuda::error::{self, Error};
use crate::cuda::graph_types::UpdateResult;
use crate::cuda::graph_types::{GraphHandle, KernelParameters, NodeHandle};
use crate::gpu::kernels::allow_shared;
use crate::gpu::state::registry;
use crate::real::functions::{Real, real};
use std::mem::MaybeUninit;

/// Applies a change of an executable graph to its twin: `change` gets the twin and the corresponding node, and returns
/// whether it succeeded.
pub fn changed(
    executable: ExecutableHandle,
    node: NodeHandle,
    change: impl FnOnce(ExecutableHandle, NodeHandle) -> Error,
) {
    let Some(known) = known(executable) else { return };
    let mut known = locked(&known);
    let Some(twin) = &known.twin else { return };
    let done = twin.nodes.get(&(node as usize)).map(|&node| change(twin.executable as _, node as _));
    if done != Some(error::SUCCESS) {
        clear_error();
        known.retire("it was changed in a way that its hooked copy could not follow");
    }
}

fn clear_error() {
    if let Some(real) = real() {
        // SAFETY: the function has no arguments. The call clears an error that the program did not cause.
        unsafe { (real.last_error)() };
    }
}

/// Enables or disables a node in the twin, as in the executable graph.
pub fn switched(executable: ExecutableHandle, node: NodeHandle, enabled: u32) {
    let (Some(known), Some(functions)) = (known(executable), graph_functions()) else { return };
    let mut known = locked(&known);
    let known = &mut *known;
    let run = known.runs.iter_mut().find(|run| run.node == node as usize);
    let Some(twin) = &known.twin else {
        run.into_iter().for_each(|run| run.enabled = enabled != 0);
        return;
    };
    let mut code = error::INVALID_VALUE;
    if let (Some(&own), false) = (twin.nodes.get(&(node as usize)), twin.updated) {
        let finish = run.as_ref().and_then(|run| Some(run.hook.as_ref()?.finish));
        for node in [Some(own), finish].into_iter().flatten() {
            // SAFETY: this file owns the twin and its nodes.
            code = unsafe { (functions.set_enabled)(twin.executable as _, node as NodeHandle, enabled) };
            if code != error::SUCCESS {
                break;
            }
        }
    }
    if code == error::SUCCESS {
        run.into_iter().for_each(|run| run.enabled = enabled != 0);
    } else {
        clear_error();
        known.retire("it was changed in a way that its hooked copy could not follow");
    }
}

/// Sets the parameters of a kernel node in the twin, as in the executable graph.
///
/// # Safety
/// The real function has accepted `parameters`, and `set` is this function.
pub unsafe fn kernel_changed(
    set: unsafe extern "C" fn(ExecutableHandle, NodeHandle, *const KernelParameters) -> Error,
    executable: ExecutableHandle,
    node: NodeHandle,
    parameters: *const KernelParameters,
) {
    let (Some(known), Some(real), Some(functions)) = (known(executable), real(), graph_functions()) else { return };
    let mut known = locked(&known);
    let known = &mut *known;
    // SAFETY: by the contract.
    let Some(given) = (unsafe { parameters.as_ref() }) else { return };
    let kernel = registry().kernels.get(&(given.stub as usize)).copied();
    let maker = Maker { real, functions, gpu: &known.gpu, counted: counted(), spare: Vec::new() };
    let run = known.runs.iter_mut().find(|run| run.node == node as usize);
    let mut code = error::INVALID_VALUE;
    let own = known.twin.as_ref().filter(|twin| !twin.updated).and_then(|twin| twin.nodes.get(&(node as usize)));
    match (run, &known.twin, own, kernel) {
        // Another kernel in the same node would need other cells, or hooks if there were none.
        (Some(run), Some(twin), Some(&own), Some(kernel)) if kernel.traced == run.kernel.traced => {
            let resident = maker.occupancy(kernel, given);
            if let (Some(hook), true, true) = (&run.hook, resident != 0, given.extra.is_null()) {
                allow_shared(real, if maker.counted { kernel.counted } else { kernel.traced }, given.shared as usize);
                // SAFETY: the arguments belong to this kernel.
                code = unsafe {
                    maker.with_hooks(kernel, hook, given, |hooked| set(twin.executable as _, own as _, hooked))
                };
            } else if run.hook.is_none() {
                // SAFETY: the caller fulfils the contract.
                code = unsafe { set(twin.executable as _, own as _, parameters) };
            }
            (run.grid, run.block, run.shared, run.resident) =
                (given.grid, given.block, given.shared as usize, resident);
        }
        (None, Some(twin), Some(&own), None) => {
            // SAFETY: the caller fulfils the contract.
            code = unsafe { set(twin.executable as _, own as _, parameters) };
        }
        (None, None, _, None) => return,
        _ => {}
    }
    if code != error::SUCCESS {
        clear_error();
        known.retire("a kernel of it was given parameters that its hooked copy could not take");
    }
}

/// Updates the twin after an executable graph was updated from another graph.
///
/// # Safety
/// `update` is the real function that has performed the update.
pub unsafe fn updated(
    update: unsafe extern "C" fn(ExecutableHandle, GraphHandle, *mut UpdateResult) -> Error,
    executable: ExecutableHandle,
    graph: GraphHandle,
) {
    let (Some(known), Some(real), Some(functions)) = (known(executable), real(), graph_functions()) else { return };
    let mut known = locked(&known);
    // SAFETY: by the contract.
    if let Err(why) = unsafe { update_twin(real, functions, &mut known, update, graph) } {
        known.retire(&format!("its hooked copy could not be updated: {why}"));
    }
}

/// # Safety
/// The requirements of [`updated`] apply.
unsafe fn update_twin(
    real: &Real,
    functions: &GraphFunctions,
    known: &mut ExecutableGraph,
    update: unsafe extern "C" fn(ExecutableHandle, GraphHandle, *mut UpdateResult) -> Error,
    graph: GraphHandle,
) -> Result<(), TwinError> {
    if known.runs.iter().any(|run| !run.enabled) {
        return Err(TwinError::NodesOff);
    }
    let Some(twin) = known.twin.as_mut() else { return Err(TwinError::NoTwin) };
    if is_anyone_capturing() {
        return Err(TwinError::Capturing);
    }
    let (found, nodes) = kernels_of(real, functions, graph)?;
    let old: Vec<u32> = slots(&known.runs).collect();
    let mut maker = Maker { real, functions, gpu: &known.gpu, counted: counted(), spare: old.clone() };
    let draft = maker.draft(graph, &found, &nodes)?;
    let new: Vec<u32> = draft.slots().collect();
    let mut result = MaybeUninit::uninit();
    let code = if draft.graph == 0 {
        error::INVALID_VALUE
    } else {
        // SAFETY: this file owns the twin and the copy; `result` has room for the result.
        unsafe { update(twin.executable as _, draft.graph as GraphHandle, result.as_mut_ptr()) }
    };
    if draft.graph != 0 {
        // SAFETY: this file owns the copy, and the twin does not need it.
        unsafe { (functions.destroy)(draft.graph as GraphHandle) };
    }
    let session = &known.gpu.session;
    if code != error::SUCCESS {
        clear_error();
        session.let_go(new.into_iter().filter(|slot| !old.contains(slot)));
        return Err(TwinError::Cuda { what: "the update", code });
    }
    session.let_go(old.into_iter().filter(|slot| !new.contains(slot)));
    twin.updated = true;
    known.runs = draft.runs;
    Ok(())
}
