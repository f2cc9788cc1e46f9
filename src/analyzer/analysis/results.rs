//! Results of an analysis, from which a profile is built.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use warpline_format::access::Space;
use warpline_format::device::Device;
use warpline_format::event::{
    AllocationId, CallPathFrame, DifferentBarriers, Direction, DivergentBarrier, Fault, HostAllocationId,
    InterpretedFrame, Launch, LaunchId, PathId, SharedVariable,
};
use warpline_format::member::Overrun;
use warpline_format::site_table::Op;

use warpline_format::occupancy::Resources;

use super::{
    AllocationData, Failures, Floats, HostAccesses, HostAllocationData, Initialisation, InstructionSums, LaunchGroup,
    Roundings, Values, WholeRuns,
};
use crate::analyses::Sums;
use crate::attribution::{ContextTree, Module, ROOT};
use crate::patterns::{SerialAtomics, SitePattern};
use crate::races::{Conflict, RaceCheck, StreamConflict};
use crate::requests::{CellKey, Cells};
use warpline_simulator::hierarchy::Traffic;
use warpline_simulator::metrics::Counters;

/// The program, as the trace describes it.
#[derive(Clone, Debug)]
pub struct ProgramData {
    /// Absolute path.
    pub executable: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Device whose scheduler assigned the numbers in the stream.
    pub device: Device,
}

/// Copies of one kind to or from one allocation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopySum {
    /// Number of copies.
    pub count: u64,
    /// Bytes of all copies.
    pub bytes: u64,
    /// Number of copies whose bytes were already at the destination.
    pub unchanged: u64,
    /// Number of copies from this allocation to other device memory. The destination also counts them.
    pub source_count: u64,
    /// Bytes of those copies.
    pub source_bytes: u64,
    /// Number of the launch that follows the first copy.
    pub first_launch: LaunchId,
    /// Number of the launch that follows the last copy.
    pub last_launch: LaunchId,
}

/// Identifies copies that are added: allocation, direction, host allocation and call path.
pub type CopyKey = (AllocationId, u8, Option<HostAllocationId>, PathId);

/// Executions of a basic block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockSum {
    /// Number of executions by warps.
    pub executions: u64,
    /// Lanes, summed over executions.
    pub lanes: u64,
    /// Executions with fewer lanes than the warp had live.
    pub partial: u64,
    /// Counts per warp, if the stream contains them.
    pub by_warp: Option<WarpSum>,
}

impl BlockSum {
    /// Adds other executions.
    pub fn add(&mut self, other: &BlockSum) {
        self.executions = self.executions.saturating_add(other.executions);
        self.lanes = self.lanes.saturating_add(other.lanes);
        self.partial = self.partial.saturating_add(other.partial);
        if let Some(pairs) = other.by_warp {
            self.by_warp.get_or_insert_default().add(pairs);
        }
    }
}

/// Counts over pairs of a warp and a basic block that it executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarpSum {
    /// Number of pairs.
    pub pairs: u64,
    /// Number of pairs whose lanes, summed over the executions, are not a multiple of 32.
    pub uneven: u64,
    /// Number of pairs with an execution by fewer lanes than the warp had live.
    pub partial: u64,
}

impl WarpSum {
    /// Adds other pairs.
    pub fn add(&mut self, other: WarpSum) {
        self.pairs = self.pairs.saturating_add(other.pairs);
        self.uneven = self.uneven.saturating_add(other.uneven);
        self.partial = self.partial.saturating_add(other.partial);
    }
}

/// Executions of a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BranchSum {
    /// Number of executions by warps.
    pub executions: u64,
    /// Executions whose lanes leave by several sides.
    pub divergent: u64,
    /// Lanes that leave by each side.
    pub lanes: Vec<u64>,
}

/// The part of the simulated device-memory traffic, in sectors, that goes to host memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostTraffic {
    /// Sectors read.
    pub reads: u64,
    /// Sectors written.
    pub writes: u64,
}

impl HostTraffic {
    /// Adds other traffic.
    pub fn add(&mut self, reads: u64, writes: u64) {
        self.reads = self.reads.saturating_add(reads);
        self.writes = self.writes.saturating_add(writes);
    }
}

/// Figures of one kind of instruction in a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpSum {
    /// Requests.
    pub requests: u64,
    /// Active lanes.
    pub lanes: u64,
    /// Useful bytes of the active lanes.
    pub bytes: u64,
    /// Distinct sectors per request, summed.
    pub sectors: u64,
    /// Ideal sectors per request, summed.
    pub ideal_sectors: u64,
    /// Simulated traffic on the first model, if caches were simulated.
    pub traffic: Option<Traffic>,
}

impl OpSum {
    /// Adds requests.
    pub fn count(&mut self, counters: &Counters) {
        let &Counters { requests, lanes, bytes, sectors, ideal_sectors, .. } = counters;
        let traffic = counters.traffic.first().copied();
        self.add(&OpSum { requests, lanes, bytes, sectors, ideal_sectors, traffic });
    }

    /// Adds another sum.
    pub fn add(&mut self, other: &OpSum) {
        self.requests += other.requests;
        self.lanes += other.lanes;
        self.bytes += other.bytes;
        self.sectors += other.sectors;
        self.ideal_sectors += other.ideal_sectors;
        if let Some(traffic) = &other.traffic {
            self.traffic.get_or_insert_default().add(traffic);
        }
    }
}

/// A launch and its sums.
#[derive(Clone, Debug)]
pub struct LaunchData {
    /// The launch as recorded.
    pub event: Launch,
    /// Sums by space. Only spaces that occur are present.
    pub spaces: BTreeMap<Space, Counters>,
    /// Sums by space and operation.
    pub by_op: BTreeMap<(Space, Op), OpSum>,
    /// The part of the device-memory traffic that goes to mapped or registered host memory, by model; empty if there is
    /// none.
    pub host_memory: Vec<HostTraffic>,
    /// Atomic operations that run one after the other; 0 if nothing was simulated.
    pub atomics: SerialAtomics,
    /// CUDA error code; `None` if the stream ended before the launch.
    pub error: Option<i32>,
    /// Executed instructions; empty if the stream ended before the launch.
    pub instructions: InstructionSums,
    /// Executions of all blocks.
    pub blocks: BlockSum,
    /// Executions of all branches, without the lanes per side.
    pub branches: BranchSum,
    /// Arguments that address expressions use. For a group of launches, those of its first launch.
    pub arguments: Vec<LaunchArgument>,
}

/// A part of a kernel argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchArgument {
    /// Number of the parameter.
    pub parameter: u32,
    /// Offset in bytes within the parameter.
    pub offset: u32,
    /// Size in bytes.
    pub bytes: u32,
    /// Value, zero-extended. For a pointer, it is the address.
    pub value: u64,
    /// Row of the allocation that a pointer refers to.
    pub allocation: Option<AllocationId>,
}

/// A kernel and its sums over all launches.
#[derive(Clone, Debug, Default)]
pub struct KernelData {
    /// Module number.
    pub module: u32,
    /// Index in the module's functions.
    pub function: u32,
    /// Counters by site, space, context and allocation.
    pub cells: Cells,
    /// Contexts that the cells refer to.
    pub contexts: ContextTree,
    /// Launches that are reported separately, in the order of their ends.
    pub launches: Vec<LaunchData>,
    /// Other launches, by number of the group and whether they failed. Failed launches are separate, because their
    /// unfinished work does not represent that of a complete launch.
    pub groups: BTreeMap<(u32, bool), LaunchGroup>,
    /// Sums of blocks, by index in the module's blocks.
    pub blocks: BTreeMap<u32, BlockSum>,
    /// Sums of branches, by index in the module's branches.
    pub branches: BTreeMap<u32, BranchSum>,
    /// Access patterns of requests, by site and space.
    pub patterns: BTreeMap<(u32, Space), SitePattern>,
    /// Results of the listed analyses.
    pub sums: Sums,
}

impl KernelData {
    /// Returns the separate launches and the sums of the groups.
    pub fn all(&self) -> impl Iterator<Item = &LaunchData> {
        self.launches.iter().chain(self.groups.values().map(|group| &group.sum))
    }

    /// Returns the number of launches.
    pub fn launch_count(&self) -> u64 {
        self.groups.values().fold(self.launches.len() as u64, |sum, group| sum.saturating_add(group.launches))
    }

    /// Returns the number of launches with recorded blocks.
    pub fn recorded_launches(&self) -> u64 {
        let alone = self.launches.iter().filter(|launch| launch.event.block_share != 0).count() as u64;
        self.groups.values().fold(alone, |sum, group| sum.saturating_add(group.figures.launches))
    }
}

/// A launch that is impossible on a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Number of the model; 0 is the first.
    pub model: usize,
    /// Number of the launch.
    pub launch: LaunchId,
    /// Number of its kernel.
    pub kernel: u32,
    /// The reason.
    pub why: Arc<str>,
}

/// A result that an analysis discarded because of the memory limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenUp {
    /// Conflicts between warps, starting with this launch.
    Conflicts {
        /// Number of the launch.
        launch: LaunchId,
    },
}

/// How the stream ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    /// With its final record.
    Complete,
    /// Between two records, without the final record.
    Unfinished,
    /// With damage. The message contains position and cause. All counts are from records before the damage.
    Damaged(String),
    /// The stream was empty.
    Nothing,
    /// Reading stopped because the results exceeded the memory limit.
    OutOfMemory,
}

/// A loaded object of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectData {
    /// Absolute path.
    pub path: String,
    /// GNU build id, may be empty.
    pub build_id: Vec<u8>,
}

/// A bad access, and the launch and allocation that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultData {
    /// The access as recorded.
    pub event: Fault,
    /// Number of the kernel, and host call path of the launch.
    pub launch: Option<(u32, PathId)>,
    /// Row of the nearest allocation, and the byte offset from its start.
    pub nearest: Option<(AllocationId, i64)>,
    /// Position of an access outside the member that it indexes.
    pub overrun: Option<Overrun>,
}

/// The results of a whole trace.
#[derive(Debug)]
pub struct Analysis {
    /// `None` if the stream ended before its record.
    pub program: Option<ProgramData>,
    /// Loaded objects, by number.
    pub objects: BTreeMap<u32, ObjectData>,
    /// Source positions of interpreted programs.
    pub interpreted: BTreeMap<u64, InterpretedFrame>,
    /// Call paths, innermost first.
    pub paths: BTreeMap<PathId, Vec<CallPathFrame>>,
    /// Modules, by number.
    pub modules: BTreeMap<u32, Arc<Module>>,
    /// Bytes per thread that kernels spill to local memory, by module and function.
    pub spills: BTreeMap<(u32, u32), u32>,
    /// Resources that ptxas reported for kernels, in ascending order of architectures, by module and function.
    pub resources: BTreeMap<(u32, u32), Vec<Resources>>,
    /// Kernel and branch of loops in which some lanes of a warp waited for others that continued in an assumed order.
    pub parted: BTreeSet<(u32, u32)>,
    /// Kernels in the order of their first launches.
    pub kernels: Vec<KernelData>,
    /// Allocations, by number.
    pub allocations: BTreeMap<AllocationId, AllocationData>,
    /// Host allocations, by number.
    pub host_allocations: BTreeMap<HostAllocationId, HostAllocationData>,
    /// Maximum number of simultaneously live allocations, by call path.
    pub live_at_once: BTreeMap<PathId, u64>,
    /// Maximum number of simultaneously live allocations, by name.
    pub live_by_name: BTreeMap<String, u64>,
    /// Copies by allocation, direction (as a number), host allocation and path.
    pub copies: BTreeMap<CopyKey, CopySum>,
    /// The first bad accesses, in order.
    pub faults: Vec<FaultData>,
    /// Number of further bad accesses.
    pub more_faults: u64,
    /// Barriers that only a part of a warp reached, in order, with kernel and host call path of the launch.
    pub divergent: Vec<(DivergentBarrier, Option<(u32, PathId)>)>,
    /// Barriers at which warps of a block waited for each other forever, with kernel and host call path of the launch.
    pub different: Vec<(DifferentBarriers, Option<(u32, PathId)>)>,
    /// Exceptional floating-point results.
    pub floats: Floats,
    /// Reads and copies of uninitialised memory.
    pub initialisation: Initialisation,
    /// Accesses of host code to device memory.
    pub host_accesses: HostAccesses,
    /// Shared variables of kernels that have several, by module and function.
    pub shared_variables: BTreeMap<(u32, u32), Vec<SharedVariable>>,
    /// Values that accesses transfer.
    pub values: Values,
    /// Elements of allocations that the run rounded.
    pub roundings: Roundings,
    /// Launches and calls that failed.
    pub failures: Failures,
    /// Number of records that were dropped with the user's permission.
    pub dropped: u64,
    /// Number of counted requests.
    pub requests: u64,
    /// Whether kernels ran on a GPU.
    pub on_gpu: bool,
    /// Whether the device counted requests by site, without addresses.
    pub counted: bool,
    /// Conflicts between warps, and the extent of the check; `None` if the check did not run.
    pub conflicts: Option<(Vec<Conflict>, RaceCheck)>,
    /// Conflicting accesses by unordered work of two streams.
    pub stream_conflicts: Vec<StreamConflict>,
    /// Launches that are in the trace but not in the figures.
    pub left_out: Vec<LeftOut>,
    /// Number of launches with blocks without records, which were assumed to issue like other blocks; by number of the
    /// model and kernel.
    pub assumed_turns: BTreeMap<(usize, u32), u64>,
    /// Estimated figures of the whole run and of each kernel, if a budget sampled the run.
    pub whole: Option<WholeRuns>,
    /// Results that were discarded because of the memory limit.
    pub given_up: Vec<GivenUp>,
    /// Bytes of the trace that were read.
    pub bytes: u64,
    /// How the stream ended.
    pub finish: Finish,
}

impl Analysis {
    /// Returns the analysis of an empty stream.
    pub fn empty(finish: Finish) -> Analysis {
        Analysis {
            program: None,
            objects: BTreeMap::new(),
            interpreted: BTreeMap::new(),
            paths: BTreeMap::new(),
            modules: BTreeMap::new(),
            spills: BTreeMap::new(),
            resources: BTreeMap::new(),
            parted: BTreeSet::new(),
            kernels: Vec::new(),
            allocations: BTreeMap::new(),
            host_allocations: BTreeMap::new(),
            live_at_once: BTreeMap::new(),
            live_by_name: BTreeMap::new(),
            copies: BTreeMap::new(),
            faults: Vec::new(),
            divergent: Vec::new(),
            different: Vec::new(),
            floats: Floats::default(),
            initialisation: Initialisation::default(),
            host_accesses: HostAccesses::default(),
            shared_variables: BTreeMap::new(),
            values: Values::default(),
            roundings: Roundings::default(),
            failures: Failures::default(),
            more_faults: 0,
            dropped: 0,
            requests: 0,
            on_gpu: false,
            counted: false,
            conflicts: None,
            stream_conflicts: Vec::new(),
            left_out: Vec::new(),
            assumed_turns: BTreeMap::new(),
            given_up: Vec::new(),
            whole: None,
            bytes: 0,
            finish,
        }
    }
}

impl Analysis {
    /// Adds the simulated traffic of the same trace on another model, as model number `number` (1 or more; the first
    /// model is 0).
    pub fn add_model(&mut self, number: usize, other: &Analysis) {
        self.left_out.extend(other.left_out.iter().map(|left| LeftOut { model: number, ..left.clone() }));
        self.assumed_turns.extend(other.assumed_turns.iter().map(|(&(_, kernel), &count)| ((number, kernel), count)));
        let only = |counters: &Counters| {
            let mut traffic = vec![Traffic::default(); number + 1];
            traffic[number] = counters.traffic.first().copied().unwrap_or_default();
            Counters { traffic: if counters.traffic.is_empty() { Vec::new() } else { traffic }, ..Counters::default() }
        };
        let add = |launch: &mut LaunchData, others: &LaunchData| {
            for (space, counters) in &others.spaces {
                launch.spaces.entry(*space).or_default().add(&only(counters));
            }
            if let Some(host) = others.host_memory.first() {
                let known = launch.host_memory.len().max(number + 1);
                launch.host_memory.resize(known, HostTraffic::default());
                launch.host_memory[number] = *host;
            }
        };
        for (kernel, others) in self.kernels.iter_mut().zip(&other.kernels) {
            for (key, counters) in others.cells.iter() {
                let calls = others.contexts.calls(key.context);
                let tree = &mut kernel.contexts;
                let context = calls.into_iter().fold(ROOT, |parent, call| tree.child(parent, call));
                let cell = kernel.cells.id(CellKey { context, ..*key });
                kernel.cells.counters(cell).add(&only(counters));
            }
            let others_groups = &others.groups;
            // Either analysis may lack launches.
            let others: BTreeMap<LaunchId, &LaunchData> =
                others.launches.iter().map(|launch| (launch.event.id, launch)).collect();
            for launch in &mut kernel.launches {
                let Some(others) = others.get(&launch.event.id) else { continue };
                add(launch, others);
            }
            for (group, others) in others_groups {
                if let Some(group) = kernel.groups.get_mut(group) {
                    add(&mut group.sum, &others.sum);
                }
            }
        }
    }
}

/// Returns the numeric value of a direction, for keys.
pub fn direction_key(direction: Direction) -> u8 {
    match direction {
        Direction::HostToDevice => 0,
        Direction::DeviceToHost => 1,
        Direction::DeviceToDevice => 2,
        Direction::HostToHost => 3,
        Direction::Set => 4,
    }
}
