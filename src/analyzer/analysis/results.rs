//! What an analysis found out, before it becomes a profile.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use warpline_format::access::Space;
use warpline_format::device::Device;
use warpline_format::event::{
    AllocationId, DifferentBarriers, Direction, DivergentBarrier, Fault, HostAllocationId, InterpretedFrame, Launch,
    LaunchId, PathFrame, PathId,
};
use warpline_format::site_table::Op;

use warpline_format::occupancy::Resources;

use super::{
    AllocationData, Failures, Floats, HostAllocationData, Initialisation, InstructionSums, LaunchGroup, Values,
    WholeRuns,
};
use crate::analyses::Sums;
use crate::attribution::{ContextTree, Module, ROOT};
use crate::patterns::{SerialAtomics, SitePattern};
use crate::races::{Conflict, RaceCheck, StreamConflict};
use crate::requests::{CellKey, Cells};
use warpline_simulator::hierarchy::Traffic;
use warpline_simulator::metrics::Counters;

/// The program as its trace describes it.
#[derive(Clone, Debug)]
pub struct ProgramData {
    /// Absolute path.
    pub executable: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Device whose scheduler numbers the stream followed.
    pub device: Device,
}

/// Copies of one kind that touch one allocation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopySum {
    /// Copies.
    pub count: u64,
    /// Bytes of all of them.
    pub bytes: u64,
    /// Copies whose bytes were at the destination already.
    pub unchanged: u64,
    /// Copies of which this is the source and other device memory the destination, which counts them, too.
    pub source_count: u64,
    /// Bytes of those.
    pub source_bytes: u64,
    /// Number of the launch that follows the first copy.
    pub first_launch: LaunchId,
    /// Number of the launch that follows the last copy.
    pub last_launch: LaunchId,
}

/// Which copies are summed up together.
pub type CopyKey = (AllocationId, u8, Option<HostAllocationId>, PathId);

/// Executions of a basic block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockSum {
    /// Times a warp ran it.
    pub executions: u64,
    /// Lanes, summed.
    pub lanes: u64,
    /// Executions with fewer lanes than the warp had live.
    pub partial: u64,
    /// By warp, if the stream contains it.
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

/// Pairs of a warp and a basic block that it ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarpSum {
    /// Pairs.
    pub pairs: u64,
    /// Pairs whose lanes, summed over the executions, are not a multiple of 32.
    pub uneven: u64,
    /// Pairs with an execution by fewer lanes than the warp had live.
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
    /// Times a warp reached it.
    pub executions: u64,
    /// Those of them with lanes leaving by several sides.
    pub divergent: u64,
    /// Lanes per side.
    pub lanes: Vec<u64>,
}

/// Sectors of host memory that kernels reach, in simulated traffic of device memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostTraffic {
    /// Read.
    pub reads: u64,
    /// Written.
    pub writes: u64,
}

impl HostTraffic {
    /// Adds other traffic.
    pub fn add(&mut self, reads: u64, writes: u64) {
        self.reads = self.reads.saturating_add(reads);
        self.writes = self.writes.saturating_add(writes);
    }
}

/// What one kind of instruction does in a launch.
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
    /// What they cost on the first model, where caches were simulated.
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
    /// As announced.
    pub event: Launch,
    /// Sums by space; only spaces that occur.
    pub spaces: BTreeMap<Space, Counters>,
    /// The same by space and by what the instructions do.
    pub by_op: BTreeMap<(Space, Op), OpSum>,
    /// What of the traffic of device memory is mapped or registered host memory, by model; none where it was not
    /// touched.
    pub host_memory: Vec<HostTraffic>,
    /// Atomic operations that are done one after the other; none where nothing was simulated.
    pub atomics: SerialAtomics,
    /// CUDA error code; `None` when the stream ended before the launch.
    pub error: Option<i32>,
    /// Executed instructions; none where the stream ended before the launch.
    pub instructions: InstructionSums,
    /// Executions of all blocks.
    pub blocks: BlockSum,
    /// Executions of all branches, without their sides.
    pub branches: BranchSum,
    /// What expressions of addresses read of its arguments; of a group of launches, those of its first one.
    pub arguments: Vec<LaunchArgument>,
}

/// A part of a kernel's argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchArgument {
    /// Number of the parameter.
    pub parameter: u32,
    /// Bytes from its start.
    pub offset: u32,
    /// Bytes.
    pub bytes: u32,
    /// Value, zero-extended; a pointer's is the address.
    pub value: u64,
    /// Row of the allocation that a pointer leads into.
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
    /// Launches that are reported one by one, in order of their ends.
    pub launches: Vec<LaunchData>,
    /// The others, by number of the group and whether they failed: a failed launch's work until its end is not a measure
    /// of how long one takes.
    pub groups: BTreeMap<(u32, bool), LaunchGroup>,
    /// Keyed by index in the module's blocks.
    pub blocks: BTreeMap<u32, BlockSum>,
    /// Keyed by index in the module's branches.
    pub branches: BTreeMap<u32, BranchSum>,
    /// How requests use memory, by site and space.
    pub patterns: BTreeMap<(u32, Space), SitePattern>,
    /// What the listed analyses found.
    pub sums: Sums,
}

impl KernelData {
    /// Its launches, with the sums of groups of launches among them.
    pub fn all(&self) -> impl Iterator<Item = &LaunchData> {
        self.launches.iter().chain(self.groups.values().map(|group| &group.sum))
    }

    /// How many launches it had.
    pub fn launch_count(&self) -> u64 {
        self.groups.values().fold(self.launches.len() as u64, |sum, group| sum.saturating_add(group.launches))
    }

    /// Those of them of which blocks were recorded.
    pub fn recorded_launches(&self) -> u64 {
        let alone = self.launches.iter().filter(|launch| launch.event.block_share != 0).count() as u64;
        self.groups.values().fold(alone, |sum, group| sum.saturating_add(group.figures.launches))
    }
}

/// A launch that a model cannot have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Number of the model, 0 for the first.
    pub model: usize,
    /// The launch.
    pub launch: LaunchId,
    /// Its kernel.
    pub kernel: u32,
    /// Why.
    pub why: Arc<str>,
}

/// What an analysis gave up because of the memory limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenUp {
    /// Conflicts between warps, from this launch on.
    Conflicts {
        /// The launch.
        launch: LaunchId,
    },
}

/// How the stream ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    /// With its last record.
    Complete,
    /// Cut off between two records.
    Unfinished,
    /// Damaged; the message states where and how. Everything counted comes from before it.
    Damaged(String),
    /// Nothing ever came.
    Nothing,
    /// It was not read on: what is known of it takes all the memory that was granted.
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

/// A bad access, and what it happened to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultData {
    /// As announced.
    pub event: Fault,
    /// Kernel, by number, and host call path of the launch.
    pub launch: Option<(u32, PathId)>,
    /// Row of the nearest allocation, and the bytes from its start.
    pub nearest: Option<(AllocationId, i64)>,
}

/// Everything that a trace contains.
#[derive(Debug)]
pub struct Analysis {
    /// `None` when the stream ended before its record.
    pub program: Option<ProgramData>,
    /// Keyed by number.
    pub objects: BTreeMap<u32, ObjectData>,
    /// Positions of interpreted programs.
    pub interpreted: BTreeMap<u64, InterpretedFrame>,
    /// Call paths, innermost first.
    pub paths: BTreeMap<PathId, Vec<PathFrame>>,
    /// Keyed by number.
    pub modules: BTreeMap<u32, Arc<Module>>,
    /// Bytes per thread that kernels keep in local memory for lack of registers, by module and function.
    pub spills: BTreeMap<(u32, u32), u32>,
    /// ptxas's figures of kernels by rising architecture, by module and function.
    pub resources: BTreeMap<(u32, u32), Vec<Resources>>,
    /// Kernel and branch of loops in which lanes waited for others of their warp, which continued ahead in an assumed
    /// order.
    pub parted: BTreeSet<(u32, u32)>,
    /// In order of first launch.
    pub kernels: Vec<KernelData>,
    /// Keyed by number.
    pub allocations: BTreeMap<AllocationId, AllocationData>,
    /// Keyed by number.
    pub host_allocations: BTreeMap<HostAllocationId, HostAllocationData>,
    /// Most allocations of a call path that were live at the same time.
    pub live_at_once: BTreeMap<PathId, u64>,
    /// The same of allocations of one name.
    pub live_by_name: BTreeMap<String, u64>,
    /// Keyed by allocation, direction (as a number), host allocation and path.
    pub copies: BTreeMap<CopyKey, CopySum>,
    /// The first ones, in order.
    pub faults: Vec<FaultData>,
    /// Bad accesses beyond those.
    pub more_faults: u64,
    /// Barriers that part of a warp reached, in order, with kernel and host call path of the launch.
    pub divergent: Vec<(DivergentBarrier, Option<(u32, PathId)>)>,
    /// Barriers at which warps of a block waited for each other, and the kernel and path of their launch.
    pub different: Vec<(DifferentBarriers, Option<(u32, PathId)>)>,
    /// Exceptional floating-point results.
    pub floats: Floats,
    /// Reads and copies of what nothing has written.
    pub initialisation: Initialisation,
    /// Values that accesses move.
    pub values: Values,
    /// What did not run, or not to its end.
    pub failures: Failures,
    /// Records the user allowed to drop.
    pub dropped: u64,
    /// Requests counted.
    pub requests: u64,
    /// Kernels ran on a GPU.
    pub on_gpu: bool,
    /// Requests came as counts by site, without addresses.
    pub counted: bool,
    /// Conflicts between warps, and the extent of the check; `None` if nothing was checked.
    pub conflicts: Option<(Vec<Conflict>, RaceCheck)>,
    /// Accesses by unordered work of two streams.
    pub stream_conflicts: Vec<StreamConflict>,
    /// Launches that are in the trace and not in the figures.
    pub left_out: Vec<LeftOut>,
    /// Keyed by number of the model and kernel: launches of whose blocks some have no records and took turns as others did.
    pub assumed_turns: BTreeMap<(usize, u32), u64>,
    /// Of a run with a budget: figures of the whole run and of each kernel's part, estimated.
    pub whole: Option<WholeRuns>,
    /// What was given up because of the memory limit.
    pub given_up: Vec<GivenUp>,
    /// Bytes of trace read.
    pub bytes: u64,
    /// How it ended.
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
            values: Values::default(),
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
    /// Takes over the simulated traffic of the same trace on another model, as model number `number`
    /// (from 1; the first model's own is 0).
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
            // One of them may lack launches.
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

/// Returns a direction as its place in the enumeration; for keys.
pub fn direction_key(direction: Direction) -> u8 {
    match direction {
        Direction::HostToDevice => 0,
        Direction::DeviceToHost => 1,
        Direction::DeviceToDevice => 2,
        Direction::HostToHost => 3,
        Direction::Set => 4,
    }
}
