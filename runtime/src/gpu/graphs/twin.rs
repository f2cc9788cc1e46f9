//! The hooked copy of a graph. The program's graph, and everything that the program can query about it, does not
//! change. In the copy, the hooked forms of the kernels replace the original ones, and a finish kernel follows each
//! hooked kernel.

use super::error::TwinError;
use super::functions::GraphFunctions;
use crate::cuda::error;
use crate::cuda::graph_types::{GraphHandle, KernelParameters, NodeHandle};
use crate::cuda::types::Dim3;
use crate::gpu::devices::{Gpu, SlotMemory};
use crate::gpu::drain::held::HELD_SLOTS;
use crate::gpu::kernels::{allow_shared, finish_shape, kernel_name, occupancy};
use crate::gpu::register::place_variables;
use crate::gpu::state::{Kernel, registry};
use crate::modules::module::Member;
use crate::output::message::note_once;
use crate::real::functions::Real;
use crate::state::runtime::lock;
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::Arc;
use warpline_format::gpu::{CountLayout, TARGET_PARAMETERS};

/// `cudaGraphNodeTypeKernel`, `…Graph`, and the last kind (`…EventRecord`) that can be copied and kept up to date.
const KERNEL: c_int = 0;
const CHILD: c_int = 4;
const LAST_KIND: c_int = 7;

/// A kernel of a registered module in a graph.
#[derive(Clone, Debug)]
pub struct Run {
    /// The kernel's node in the program's graph.
    pub node: usize,
    /// The kernel.
    pub kernel: Kernel,
    /// The number of blocks.
    pub grid: Dim3,
    /// The number of threads per block.
    pub block: Dim3,
    /// Dynamic shared memory in bytes.
    pub shared: usize,
    /// Whether the node is enabled.
    pub enabled: bool,
    /// The number of blocks that share an SM, for the form that runs.
    pub resident: u32,
    /// The kernel's hooks; `None` if the original form runs.
    pub hook: Option<Hook>,
}

/// The resources that a hooked kernel in a graph keeps.
#[derive(Clone, Debug)]
pub struct Hook {
    /// The launch slot.
    pub slot: u32,
    /// The memory of the slot.
    pub memory: SlotMemory,
    /// The number of count cells per SM.
    pub cells: u64,
    /// The layout of the count cells.
    pub layout: Arc<CountLayout>,
    /// The kernel's node in the copy.
    pub node: usize,
    /// The node of the finish kernel.
    pub finish: usize,
}

/// A copy with hooks that is not yet executable.
#[derive(Debug)]
pub struct Draft {
    /// The graph; null if no kernel got hooks.
    pub graph: usize,
    /// For each node of the program's graph, the node of the copy.
    pub nodes: HashMap<usize, usize>,
    /// The kernels of registered modules, in the order of their nodes.
    pub runs: Vec<Run>,
}

impl Draft {
    /// Returns the slots that the hooks of the copy hold.
    pub fn slots(&self) -> impl Iterator<Item = u32> {
        slots(&self.runs)
    }
}

/// Returns the slots that the hooks of some kernels hold.
pub fn slots(runs: &[Run]) -> impl Iterator<Item = u32> {
    runs.iter().filter_map(|run| Some(run.hook.as_ref()?.slot))
}

/// A kernel node as the program created it.
pub struct KernelNode {
    node: NodeHandle,
    kernel: Kernel,
    parameters: KernelParameters,
}

/// Returns the kernels of registered modules in a graph, and all its nodes. An error states why the graph cannot be
/// copied.
pub(in crate::gpu) fn kernels_of(
    real: &Real,
    functions: &GraphFunctions,
    graph: GraphHandle,
) -> Result<(Vec<KernelNode>, Vec<NodeHandle>), TwinError> {
    let mut count = 0;
    // SAFETY: the graph is the program's; results go to local variables. This applies to all calls of this file.
    check("its nodes", unsafe { (functions.nodes)(graph, null_mut(), &raw mut count) }, real)?;
    let mut nodes = vec![null_mut(); count];
    // SAFETY: the vector has room for `count` nodes.
    check("its nodes", unsafe { (functions.nodes)(graph, nodes.as_mut_ptr(), &raw mut count) }, real)?;
    nodes.truncate(count);
    let mut found = Vec::new();
    let mut odd = None;
    for &node in &nodes {
        let mut kind = 0;
        // SAFETY: the reasons of the first call apply.
        check("a node", unsafe { (functions.kind)(node, &raw mut kind) }, real)?;
        if kind > LAST_KIND {
            odd = Some(kind);
        } else if kind == CHILD {
            note_once("the kernels of graphs inside a CUDA graph run on the GPU, and are not in the profile".into());
        } else if kind == KERNEL {
            found.extend(kernel_of(real, functions, node));
        }
    }
    match odd {
        Some(kind) if !found.is_empty() => Err(TwinError::NodeKind(kind)),
        _ => Ok((found, nodes)),
    }
}

fn kernel_of(real: &Real, functions: &GraphFunctions, node: NodeHandle) -> Option<KernelNode> {
    let mut parameters = KernelParameters::default();
    // SAFETY: the reasons of the first call apply.
    if check("a kernel", unsafe { (functions.kernel)(node, &raw mut parameters) }, real).is_err() {
        // No stub is registered for the kernel, so a library has added it.
        note_once("kernels of libraries in CUDA graphs run on the GPU, and are not in the profile".into());
        return None;
    }
    let registry = registry();
    let kernel = registry.kernels.get(&(parameters.stub as usize)).copied();
    if kernel.is_none() {
        let name = registry.foreign.get(&(parameters.stub as usize)).cloned();
        drop(registry);
        note_once(format!(
            "kernel {} was compiled without Warpline: it runs, and is not in the profile",
            name.unwrap_or_else(|| "of a library".into())
        ));
    }
    Some(KernelNode { node, kernel: kernel?, parameters })
}

/// Clears an error of the real runtime that the program did not cause, and returns it.
fn check(what: &'static str, code: error::Error, real: &Real) -> Result<(), TwinError> {
    if code == error::SUCCESS {
        return Ok(());
    }
    // SAFETY: the function has no arguments.
    unsafe { (real.last_error)() };
    Err(TwinError::Cuda { what, code })
}

/// Creates copies for one GPU.
pub struct Maker<'m> {
    /// The real runtime.
    pub real: &'m Real,
    /// The runtime's graph functions.
    pub functions: &'m GraphFunctions,
    /// The GPU.
    pub gpu: &'m Gpu,
    /// Whether kernels count requests instead of sending records.
    pub counted: bool,
    /// The slots that the graph already holds.
    pub spare: Vec<u32>,
}

impl Maker<'_> {
    /// Copies a graph and adds hooks to the copy.
    pub(in crate::gpu) fn draft(
        &mut self,
        graph: GraphHandle,
        found: &[KernelNode],
        nodes: &[NodeHandle],
    ) -> Result<Draft, TwinError> {
        let mut draft = Draft { graph: 0, nodes: HashMap::new(), runs: Vec::new() };
        for found in found {
            place_variables(self.real, found.kernel.module);
            let parameters = &found.parameters;
            draft.runs.push(Run {
                node: found.node as usize,
                kernel: found.kernel,
                grid: parameters.grid,
                block: parameters.block,
                shared: parameters.shared as usize,
                enabled: true,
                resident: self.occupancy(found.kernel, parameters),
                hook: None,
            });
        }
        if !found.iter().any(|found| may_be_traced(found.kernel)) {
            return Ok(draft);
        }
        let mut copy = null_mut();
        // SAFETY: the reasons in `kernels_of` apply, here and below.
        check("a copy", unsafe { (self.functions.clone_graph)(&raw mut copy, graph) }, self.real)?;
        draft.graph = copy as usize;
        let done = self.fill(&mut draft, found, nodes);
        if let Err(why) = done {
            self.gpu.session.let_go(draft.slots().filter(|slot| !self.spare.contains(slot)));
            // SAFETY: this file owns the copy.
            unsafe { (self.functions.destroy)(copy) };
            return Err(why);
        }
        Ok(draft)
    }

    fn fill(&mut self, draft: &mut Draft, found: &[KernelNode], nodes: &[NodeHandle]) -> Result<(), TwinError> {
        let copy = draft.graph as GraphHandle;
        for &node in nodes {
            let mut twin = null_mut();
            check("a node's copy", unsafe { (self.functions.find)(&raw mut twin, node, copy) }, self.real)?;
            draft.nodes.insert(node as usize, twin as usize);
        }
        let mut left = self.spare.clone().into_iter();
        let mut without = 0;
        for (run, found) in draft.runs.iter_mut().zip(found) {
            if !may_be_traced(run.kernel) {
                continue;
            }
            if run.resident == 0 || !found.parameters.extra.is_null() {
                note_once(format!(
                    "{}: in a CUDA graph it runs without hooks, as it needs too many registers with them, or has its \
                     arguments in a buffer; it has no records",
                    kernel_name(run.kernel)
                ));
                continue;
            }
            let Some(slot) = left.next().or_else(|| self.gpu.session.hold()) else {
                without += 1;
                continue;
            };
            let node = draft.nodes.get(&run.node).copied().unwrap_or(0) as NodeHandle;
            let hooked = self.hook(copy, node, slot, found);
            if !matches!(hooked, Ok(Ok(_))) && !self.spare.contains(&slot) {
                self.gpu.session.let_go([slot]);
            }
            match hooked? {
                Ok(hook) => run.hook = Some(hook),
                Err(why) => {
                    note_once(format!(
                        "{}: in a CUDA graph it runs without hooks, and has no records: {why}",
                        kernel_name(run.kernel)
                    ));
                }
            }
        }
        if without != 0 {
            note_once(format!(
                "{without} kernels of a CUDA graph run without hooks, and have no records: graphs may hold \
                 {HELD_SLOTS} launches"
            ));
        }
        Ok(())
    }

    /// Adds hooks to a node of the copy. After the inner error, the node is unchanged; after the outer error, it is
    /// not.
    fn hook(
        &self,
        copy: GraphHandle,
        node: NodeHandle,
        slot: u32,
        found: &KernelNode,
    ) -> Result<Result<Hook, TwinError>, TwinError> {
        let Some(layout) = registry().layouts.get(&found.kernel.module).cloned() else {
            return Ok(Err(TwinError::UnknownModule));
        };
        let cells = if self.counted { layout.all_cells() } else { layout.cells() };
        let memory = match self.gpu.slot_memory(self.real, slot, cells) {
            Ok(memory) => memory,
            Err(code) => return Ok(Err(TwinError::Cuda { what: "their memory", code })),
        };
        let mut hook = Hook { slot, memory, cells, layout, node: node as usize, finish: 0 };
        allow_shared(self.real, self.form(found.kernel), found.parameters.shared as usize);
        // SAFETY: the arguments belong to the node.
        let set = unsafe {
            self.with_hooks(found.kernel, &hook, &found.parameters, |hooked| (self.functions.set_kernel)(node, hooked))
        };
        if let Err(why) = check("the hooked form", set, self.real) {
            return Ok(Err(why));
        }
        let mut words = self.gpu.target(slot, &memory, cells).to_vec();
        words.extend([memory.ticket_device, memory.arrived]);
        let mut arguments: Vec<*mut c_void> =
            words.iter_mut().map(|word| std::ptr::from_mut(word).cast::<c_void>()).collect();
        let (grid, block) = finish_shape(cells);
        let finish = KernelParameters {
            stub: found.kernel.finish as *mut c_void,
            grid,
            block,
            shared: 0,
            arguments: arguments.as_mut_ptr(),
            extra: null_mut(),
        };
        let mut behind = null_mut();
        // SAFETY: the kernel is registered and has these six parameters of 64 bits, which are copied.
        check(
            "the finish kernel",
            unsafe { (self.functions.add_kernel)(&raw mut behind, copy, &raw const node, 1, &raw const finish) },
            self.real,
        )?;
        hook.finish = behind as usize;
        Ok(Ok(hook))
    }

    fn form(&self, kernel: Kernel) -> usize {
        if self.counted { kernel.counted } else { kernel.traced }
    }

    /// Returns how many blocks of the kernel's hooked form share an SM.
    pub fn occupancy(&self, kernel: Kernel, parameters: &KernelParameters) -> u32 {
        occupancy(self.real, parameters.block, parameters.shared as usize, self.form(kernel))
    }

    /// Calls `set` with the parameters of the hooked form.
    ///
    /// # Safety
    /// `parameters` contains one pointer per parameter of the kernel.
    pub unsafe fn with_hooks<T>(
        &self,
        kernel: Kernel,
        hook: &Hook,
        parameters: &KernelParameters,
        set: impl FnOnce(*const KernelParameters) -> T,
    ) -> T {
        let mut target = self.gpu.target(hook.slot, &hook.memory, hook.cells);
        let count = parameter_count(kernel);
        let mut arguments: Vec<*mut c_void> = Vec::with_capacity(count + TARGET_PARAMETERS);
        if count != 0 && !parameters.arguments.is_null() {
            // SAFETY: by the contract.
            arguments.extend(unsafe { std::slice::from_raw_parts(parameters.arguments, count) });
        }
        arguments.extend(target.iter_mut().map(|word| std::ptr::from_mut(word).cast::<c_void>()));
        let hooked = KernelParameters {
            stub: self.form(kernel) as *mut c_void,
            arguments: arguments.as_mut_ptr(),
            extra: null_mut(),
            ..*parameters
        };
        set(&raw const hooked)
    }
}

fn may_be_traced(kernel: Kernel) -> bool {
    lock().is_some_and(|runtime| runtime.may_be_traced(Member { module: kernel.module, index: kernel.index }))
}

fn parameter_count(kernel: Kernel) -> usize {
    lock()
        .and_then(|runtime| Some(runtime.modules.get(kernel.module)?.kernels().get(kernel.index)?.parameter_count))
        .unwrap_or(0) as usize
}
