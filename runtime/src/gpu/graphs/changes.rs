//! What the program changes of an executable graph, its hooked twin gets too. Where that cannot be done, the program's own
//! one runs from then on.

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

/// The program has changed something of an executable graph: `change` does the same to the twin, given it and its node,
/// and answers whether that succeeded.
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
        // SAFETY: no arguments; the program did not cause this error.
        unsafe { (real.last_error)() };
    }
}

/// A node of an executable graph was switched on or off.
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
            // SAFETY: the twin and its nodes are ours.
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

/// A kernel node of an executable graph was given other parameters.
///
/// # Safety
/// `parameters` is what the real function has accepted, and `set` is that function.
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
        // Another kernel in its place would need other cells, or hooks where there were none.
        (Some(run), Some(twin), Some(&own), Some(kernel)) if kernel.traced == run.kernel.traced => {
            let resident = maker.occupancy(kernel, given);
            if let (Some(hook), true, true) = (&run.hook, resident != 0, given.extra.is_null()) {
                allow_shared(real, if maker.counted { kernel.counted } else { kernel.traced }, given.shared as usize);
                // SAFETY: the arguments are those of this kernel.
                code = unsafe {
                    maker.with_hooks(kernel, hook, given, |hooked| set(twin.executable as _, own as _, hooked))
                };
            } else if run.hook.is_none() {
                // SAFETY: handed through.
                code = unsafe { set(twin.executable as _, own as _, parameters) };
            }
            (run.grid, run.block, run.shared, run.resident) =
                (given.grid, given.block, given.shared as usize, resident);
        }
        (None, Some(twin), Some(&own), None) => {
            // SAFETY: handed through.
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

/// An executable graph was given the work of another graph.
///
/// # Safety
/// `update` is the real function that has done it.
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
        // SAFETY: the twin and the copy are ours; room for the result.
        unsafe { update(twin.executable as _, draft.graph as GraphHandle, result.as_mut_ptr()) }
    };
    if draft.graph != 0 {
        // SAFETY: the copy is ours, and the twin does not need it.
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
