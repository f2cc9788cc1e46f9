//! Builds a profile from an analysis.

use std::collections::{BTreeMap, BTreeSet};

use warpline_format::abi::windows;
use warpline_format::access::Space;
use warpline_format::event::{
    AllocationId, AllocationKind, DifferentBarriers, DivergentBarrier, Fault, FaultKind, LaunchId, PathId,
};
use warpline_format::member::Overrun;
use warpline_format::site_table::SiteTable;
use warpline_format::visible;

use super::kernels::{addresses, decisions, launches, occupancy, other_models, spread, tables, whole};
use super::rows::{Paths, SpaceSums, caches, chain_place, device_frame, op_name, rows};
use super::{
    advice, conflicts, floats, host_accesses, initialisation, missing, notes, rounding, run, sources, stream_conflicts,
    unnamed, values,
};
use crate::model::{self, Profile};
use crate::{arithmetic_intensity, estimate, memory_divergence};
use warpline_analyzer::advice::Advice;
use warpline_analyzer::analyses::pages::PageSettings;
use warpline_analyzer::analysis::{AllocationData, Analysis, FaultData, KernelData, WarpSum};
use warpline_analyzer::attribution::Module;
use warpline_simulator::metrics::Counters;
use warpline_simulator::models::Rates;

/// Facts of the run that the trace does not contain.
#[derive(Clone, Debug, Default)]
pub struct RunFacts {
    /// `cpu` or `gpu`.
    pub device: String,
    /// GPU models.
    pub models: Vec<String>,
    /// Rates of the GPU models in the same order, for bottleneck estimates; empty if no estimates are wanted.
    pub rates: Vec<Rates>,
    /// Bypassing advice by kernel.
    pub bypass: BTreeMap<u32, Advice>,
    /// Settings of the page analysis, if pages were counted.
    pub pages: Option<PageSettings>,
    /// Exit code of the program, 128 + n for a signal.
    pub exit_code: Option<i32>,
    /// Whether the program exited normally, and not because of a signal.
    pub ended_by_itself: bool,
    /// Whether to report memory that is never freed.
    pub check_leaks: bool,
    /// Source files that may be read.
    pub sources: sources::Sources,
    /// Descriptions of lost data; each makes the profile incomplete.
    pub lost: Vec<String>,
    /// Assumptions in addition to those of the analysis.
    pub assumptions: BTreeMap<String, String>,
    /// Additional notes.
    pub notes: Vec<String>,
    /// Data that may differ between identical runs.
    pub environment: model::Environment,
}

/// The inputs from which a profile is built.
pub struct BuildInput<'a> {
    /// The results of the analysis.
    pub analysis: &'a Analysis,
    /// The facts of the run.
    pub facts: RunFacts,
}

/// Builds a profile.
pub fn build(input: BuildInput<'_>) -> Profile {
    let BuildInput { analysis, facts } = input;
    let mut paths = Paths::new(analysis);
    let missing = missing::rows(analysis);
    let mut notes = notes::of_finish(analysis, &facts);
    notes.extend(missing::notes(analysis, &missing));
    let mut profile = Profile {
        schema: model::SCHEMA.to_owned(),
        version: model::VERSION,
        not_seen: not_seen(analysis, facts.device == "cpu"),
        run: run::section(analysis, &facts, missing),
        ..Profile::default()
    };
    let by_allocation = add_kernels(&mut profile, analysis, &mut paths, &facts);
    profile.memory_divergence = memory_divergence(&profile);
    add_allocations(&mut profile, analysis, &mut paths, &by_allocation);
    profile.arithmetic_intensity = arithmetic_intensity(&profile);
    profile.faults = analysis.faults.iter().map(|fault| fault_row(analysis, &mut paths, fault)).collect();
    notes.extend(notes::of_parted_lanes(&profile));
    add_checks(&mut profile, analysis, &mut paths);
    notes.extend(notes::of_left_out(analysis, &profile.run.models));
    notes.extend(notes::of_assumed_turns(analysis, &profile.run.models));
    notes.extend(notes::of_other_kernels(analysis, &profile));
    notes.extend(unnamed::notes(&profile, || paths.makers()));
    notes.extend(paths.problems().iter().cloned());
    other_models::name_models(&mut profile);
    let evidence = sources::Evidence { allowed: &facts.sources, analysis, paths: &mut paths };
    notes.extend(sources::collect(&mut profile, evidence));
    notes.extend(notes::of_spills(&profile));
    notes.extend(facts.lost);
    notes.extend(facts.notes);
    let run = &mut profile.run;
    run.notes = notes;
    let environment = &mut run.environment;
    let texts =
        run.notes.iter_mut().chain(&mut run.models).chain(&mut environment.command).chain(&mut environment.host);
    texts.for_each(visible::make_name);
    profile
}

/// Adds all kernels that were launched. Returns the counters of each allocation by kernel.
fn add_kernels(
    profile: &mut Profile,
    analysis: &Analysis,
    paths: &mut Paths<'_>,
    facts: &RunFacts,
) -> BTreeMap<AllocationId, BTreeMap<u32, Counters>> {
    let left_out: BTreeSet<_> = analysis.left_out.iter().map(|left| (left.model, left.launch)).collect();
    let without = |model, launch| left_out.contains(&(model, launch));
    let mut by_allocation: BTreeMap<AllocationId, BTreeMap<u32, Counters>> = BTreeMap::new();
    for (id, kernel) in (0u32..).zip(&analysis.kernels) {
        if kernel.launches.is_empty() && kernel.groups.is_empty() {
            continue;
        }
        let rates = facts.rates.first().filter(|_| !analysis.counted);
        let seconds = rates.map(|rates| estimate::seconds(kernel, rates, &without)).unwrap_or_default();
        add_kernel(profile, analysis, paths, id, (kernel, &seconds));
        if let Some(row) = profile.kernels.last_mut().filter(|row| row.id == id && !analysis.counted) {
            let models = profile.run.models.iter().zip(&facts.rates);
            row.estimates = estimate::estimates(kernel, models, &without);
            row.bypass = facts.bypass.get(&id).map(advice::bypass);
            let counted = facts.pages.as_ref().zip(kernel.sums.get());
            row.pages = counted.map(|(settings, counts)| advice::pages(settings, counts));
        }
        for (key, counters) in kernel.cells.iter() {
            use warpline_analyzer::requests::Owner::{Allocation, PartOf};
            if let Allocation(allocation) | PartOf(allocation) = key.owner {
                by_allocation.entry(allocation).or_default().entry(id).or_default().add(counters);
            }
        }
    }
    by_allocation
}

/// Adds the results of the checks: barriers, races, values, and calls that failed.
fn add_checks(profile: &mut Profile, analysis: &Analysis, paths: &mut Paths<'_>) {
    let barriers = analysis.divergent.iter().map(|(barrier, launch)| barrier_row(paths, barrier, *launch));
    profile.faults.extend(barriers);
    let pairs = analysis.different.iter().map(|(pair, launch)| different_row(paths, pair, *launch));
    profile.faults.extend(pairs);
    profile.conflicts = conflicts::rows(analysis, paths);
    profile.conflicts.retain(|conflict| !conflicts::is_by_fault(conflict, &profile.faults));
    profile.stream_conflicts = stream_conflicts::rows(analysis, paths);
    profile.host_accesses = host_accesses::rows(analysis, paths);
    profile.uninitialised = initialisation::rows(analysis, paths);
    profile.float_exceptions = floats::exceptions(analysis, paths);
    profile.float_origins = floats::origins(analysis, paths);
    profile.access_values = values::accesses(analysis);
    profile.allocation_values = values::allocations(analysis);
    profile.rounded_allocations = rounding::rows(analysis, paths);
    profile.compared_results = rounding::results(analysis, paths);
    profile.failed_calls = missing::failed_calls(analysis, paths);
}

/// What a kernel executed, over all its basic blocks.
#[derive(Default)]
struct Executed {
    instructions: model::Instructions,
    lane_slots: model::LaneSlots,
    warp_blocks: Option<WarpSum>,
}

/// Adds the basic blocks of a kernel.
fn add_blocks(profile: &mut Profile, id: u32, module: &Module, kernel: &KernelData) -> Executed {
    let Executed { mut instructions, mut lane_slots, mut warp_blocks } = Executed::default();
    for (&block, sum) in &kernel.blocks {
        let entry = &module.table.blocks[block as usize];
        rows::add_instructions(&mut instructions, &entry.mix, sum);
        if let Some(pairs) = sum.by_warp {
            warp_blocks.get_or_insert_default().add(pairs);
        }
        let place = chain_place(module, &entry.chain);
        let (kernel_line, user) = (place.kernel_line(), place.user);
        profile.blocks.push(model::Block {
            kernel: id,
            kernel_line,
            file: user.file,
            line: user.line,
            executions: sum.executions,
            lanes: sum.lanes,
            partial: sum.partial,
            warp_blocks: sum.by_warp.map(rows::warp_blocks),
            instructions: rows::add_lane_slots(&mut lane_slots, &entry.mix, sum),
            lanes_lost: sum.executions.saturating_mul(32).saturating_sub(sum.lanes),
            parts: rows::parts(module, block),
        });
    }
    Executed { instructions, lane_slots, warp_blocks }
}

/// Adds the branches of a kernel.
fn add_branches(profile: &mut Profile, analysis: &Analysis, id: u32, (module, kernel): (&Module, &KernelData)) {
    let mut costs = decisions::costs(&module.table, kernel);
    for (&branch, sum) in &kernel.branches {
        let cost = costs.remove(&branch).unwrap_or_default();
        let condition = module.table.condition(branch).cloned().unwrap_or_default();
        let place = chain_place(module, &module.table.branches[branch as usize].chain);
        let (kernel_line, user) = (place.kernel_line(), place.user);
        profile.branches.push(model::Branch {
            kernel: id,
            kernel_line,
            file: user.file,
            line: user.line,
            column: user.column,
            executions: sum.executions,
            divergent: sum.divergent,
            lanes: sum.lanes.clone(),
            instructions: cost.instructions,
            idle_lane_slots: cost.idle_slots,
            decided_by: condition.deciders,
            ends_loop: condition.ends_loop,
            order_assumed: analysis.parted.contains(&(id, branch)),
        });
    }
}

/// Adds a kernel; `seconds` contains estimates of its launches.
fn add_kernel(
    profile: &mut Profile,
    analysis: &Analysis,
    paths: &mut Paths<'_>,
    id: u32,
    (kernel, seconds): (&KernelData, &BTreeMap<LaunchId, f64>),
) {
    let Some(module) = analysis.modules.get(&kernel.module) else { return };
    let function = &module.table.functions[kernel.function as usize];
    let definition = device_frame(module, function.frame);
    let cells = rows::sorted_cells(kernel);
    let mut sums = SpaceSums::default();
    for (key, _, counters) in cells.iter().filter(|(key, ..)| key.owner.whole()) {
        sums.add(key.space, counters);
    }
    let Executed { instructions, lane_slots, warp_blocks } = add_blocks(profile, id, module, kernel);
    add_branches(profile, analysis, id, (module, kernel));
    let (over_launches, ratios_over_launches) = spread::over_launches(kernel, seconds);
    let mut lines = rows::lines(id, module, kernel, &cells);
    whole::estimate_lines(analysis, id, module, &mut lines);
    profile.lines.extend(lines);
    profile.sites.extend(rows::sites(id, module, kernel, &cells));
    profile.kernels.push(model::Kernel {
        id,
        name: function.name.clone(),
        over_ranks: model::OverRanks::new(),
        paths_over_ranks: Vec::new(),
        exact: model::KernelExact::default(),
        mangled: function.mangled.clone(),
        module: module.table.module.clone(),
        file: definition.file,
        line: definition.line,
        metrics: sums.spaces(),
        instructions,
        lane_slots,
        warp_blocks: warp_blocks.map(rows::warp_blocks),
        launches: launches::rows(kernel, paths),
        launch_groups: launches::groups(kernel, paths),
        launch_count: kernel.launch_count(),
        recorded_launches: Some(kernel.recorded_launches()).filter(|&recorded| recorded != kernel.launch_count()),
        over_launches,
        host_memory: caches::host_memory(kernel, &profile.run.models),
        ratios_over_launches,
        over_paths: spread::over_paths(kernel, seconds, paths),
        spill_bytes: occupancy::spill_bytes(analysis, kernel),
        estimates: Vec::new(),
        bypass: None,
        pages: None,
        tables: tables::rows(module, kernel),
        whole_run: analysis.whole.as_ref().and_then(|whole| whole.kernels.get(&id)).map(whole::whole_run),
        addresses: addresses::of_kernel(analysis, kernel),
    });
}

/// Returns the maximum number of simultaneously live allocations of a row's call path. Unrolling creates several call
/// paths from one in the source. The result is therefore limited to the maximum for the allocation's name.
fn live_at_once(analysis: &Analysis, data: &AllocationData, of_path: u64) -> u64 {
    let of_name = data.event.name.as_ref().and_then(|name| analysis.live_by_name.get(name));
    of_name.map_or(of_path, |&most| of_path.min(most))
}

/// Returns the copies to and from an allocation, by direction, host memory and call path.
fn copies(analysis: &Analysis, paths: &mut Paths<'_>, id: AllocationId) -> Vec<model::CopyRow> {
    let mut copies: Vec<model::CopyRow> = Vec::new();
    let mut places: BTreeMap<(u8, Option<u64>, Vec<model::Frame>), usize> = BTreeMap::new();
    let rows = analysis
        .copies
        .range((id, 0, None, 0)..=(id, u8::MAX, Some(u64::MAX), u32::MAX))
        .map(|(&(_, direction, host, path), sum)| (direction, host, paths.host(path), sum));
    for (direction, host, path, sum) in rows {
        // Unrolling creates several call paths from one in the source; their copies are combined.
        let place = *places.entry((direction, host, path.clone())).or_insert(copies.len());
        if let Some(row) = copies.get_mut(place) {
            row.bytes = row.bytes.saturating_add(sum.bytes);
            row.count = row.count.saturating_add(sum.count);
            row.unchanged_count = row.unchanged_count.saturating_add(sum.unchanged);
            row.source_count = row.source_count.saturating_add(sum.source_count);
            row.source_bytes = row.source_bytes.saturating_add(sum.source_bytes);
            row.first_launch = row.first_launch.min(Some(sum.first_launch));
            row.last_launch = row.last_launch.max(Some(sum.last_launch));
            continue;
        }
        copies.push(model::CopyRow {
            direction: direction_name(direction).to_owned(),
            bytes: sum.bytes,
            count: sum.count,
            unchanged_count: sum.unchanged,
            source_count: sum.source_count,
            source_bytes: sum.source_bytes,
            first_launch: Some(sum.first_launch),
            last_launch: Some(sum.last_launch),
            host,
            path,
        });
    }
    copies
}

fn add_allocations(
    profile: &mut Profile,
    analysis: &Analysis,
    paths: &mut Paths<'_>,
    by_allocation: &BTreeMap<AllocationId, BTreeMap<u32, Counters>>,
) {
    let none = BTreeMap::new();
    // Unrolling creates several call paths from one in the source. The sum is an upper bound for the source path.
    let mut live: BTreeMap<Vec<model::Frame>, u64> = BTreeMap::new();
    for (&path, &most) in &analysis.live_at_once {
        *live.entry(paths.host(path)).or_default() += most;
    }
    for (id, data) in &analysis.allocations {
        let by_kernel = by_allocation.get(id).unwrap_or(&none);
        let mut total = Counters::default();
        by_kernel.values().for_each(|counters| total.add(counters));
        let mut path = paths.host(data.event.path);
        if let Some((module, global)) = data.event.global
            && let Some(module) = analysis.modules.get(&module)
            && let Some(frame) = module.table.globals.get(global as usize).and_then(|global| global.frame)
        {
            path = vec![device_frame(module, frame)];
        }
        profile.allocations.push(model::Allocation {
            id: *id,
            name: data.event.name.clone(),
            kind: allocation_kind(data.event.kind).to_owned(),
            bytes: data.event.bytes,
            path,
            freed: data.freed == data.count,
            count: data.count,
            freed_count: data.freed,
            live_at_once: live_at_once(analysis, data, live.get(&paths.host(data.event.path)).copied().unwrap_or(0)),
            touched_bytes: data.touched_bytes,
            touched_map: data.touched_map.as_ref().map(|map| model::TouchedMap {
                part_bytes: map.part_bytes,
                touched: map.touched.clone(),
                rows: map.rows.map(|rows| model::TouchedRows { pitch_bytes: rows.pitch_bytes, equal: rows.equal }),
            }),
            lifetime: Some(model::Lifetime {
                first_launch: data.first_launch,
                last_launch: data.last_launch.filter(|_| data.freed == data.count),
            }),
            copies: copies(analysis, paths, *id),
            metrics: if analysis.counted { model::Metrics::default() } else { rows::metrics(&total, None) },
            by_kernel: by_kernel
                .iter()
                .map(|(&kernel, counters)| model::ByKernel { kernel, metrics: rows::metrics(counters, None) })
                .collect(),
        });
    }
    for (&id, data) in &analysis.host_allocations {
        profile.host_allocations.push(model::HostAllocation {
            id,
            name: data.name.clone(),
            kind: data.kind.clone(),
            bytes: data.bytes,
            count: data.count,
            path: paths.host(data.path),
        });
    }
}

fn allocation_kind(kind: AllocationKind) -> &'static str {
    match kind {
        AllocationKind::Malloc => "cudaMalloc",
        AllocationKind::Managed => "cudaMallocManaged",
        AllocationKind::Pitch => "cudaMallocPitch",
        AllocationKind::Async => "cudaMallocAsync",
        AllocationKind::Host => "cudaMallocHost",
        AllocationKind::Registered => "cudaHostRegister",
        AllocationKind::DeviceGlobal => "device_global",
        AllocationKind::Constant => "constant",
        AllocationKind::ManagedGlobal => "managed_global",
        AllocationKind::Compiler => "compiler",
        AllocationKind::DeviceHeap => "device_heap",
        AllocationKind::Named => "named",
        AllocationKind::Array => "cudaMallocArray",
        AllocationKind::Tensor => "tensor",
        AllocationKind::Mapped => "cuMemMap",
    }
}

fn direction_name(direction: u8) -> &'static str {
    match direction {
        0 => "host_to_device",
        1 => "device_to_host",
        2 => "device_to_device",
        3 => "host_to_host",
        _ => "set",
    }
}

fn barrier_row(paths: &mut Paths<'_>, barrier: &DivergentBarrier, launch: Option<(u32, PathId)>) -> model::Fault {
    model::Fault {
        rank: None,
        kind: "divergent_barrier".to_owned(),
        kernel: launch.map(|(id, _)| id),
        launch: barrier.launch,
        frame: model::Frame { file: barrier.file.clone(), line: barrier.line, ..model::Frame::default() },
        other: None,
        op: String::new(),
        bytes: 0,
        block: barrier.block,
        thread: barrier.thread,
        address: String::new(),
        allocation: None,
        offset: None,
        variable: None,
        variable_bytes: None,
        member: None,
        stopped: false,
        path: launch.map(|(_, path)| paths.host(path)).unwrap_or_default(),
    }
}

fn different_row(paths: &mut Paths<'_>, pair: &DifferentBarriers, launch: Option<(u32, PathId)>) -> model::Fault {
    let frame = |file: &String, line| model::Frame { file: file.clone(), line, ..model::Frame::default() };
    model::Fault {
        rank: None,
        kind: "different_barriers".to_owned(),
        kernel: launch.map(|(id, _)| id),
        launch: pair.launch,
        frame: frame(&pair.file, pair.line),
        other: Some(frame(&pair.other_file, pair.other_line)),
        op: String::new(),
        bytes: 0,
        block: pair.block,
        thread: pair.warp.saturating_mul(32),
        address: String::new(),
        allocation: None,
        offset: None,
        variable: None,
        variable_bytes: None,
        member: None,
        stopped: false,
        path: launch.map(|(_, path)| paths.host(path)).unwrap_or_default(),
    }
}

/// Returns whether a bad access is an access to local memory.
fn is_local(fault: &warpline_format::event::Fault, site: Option<&warpline_format::site_table::Site>) -> bool {
    let stacks = windows::LOCAL..windows::LOCAL + windows::LOCAL_BYTES;
    site.is_some_and(|site| site.space == Space::Local) || stacks.contains(&fault.address)
}

fn fault_row(analysis: &Analysis, paths: &mut Paths<'_>, fault: &FaultData) -> model::Fault {
    let FaultData { event: fault, launch, nearest, overrun } = fault;
    let kernel = launch.and_then(|(id, _)| analysis.kernels.get(id as usize));
    let module = kernel.and_then(|kernel| analysis.modules.get(&kernel.module));
    let site = module.and_then(|module| Some((module, module.table.sites.get(fault.site as usize)?)));
    let kind = match fault.kind {
        FaultKind::OutOfBounds => "out_of_bounds",
        // If the site accesses only local memory, the address is an offset in the thread's stack.
        FaultKind::Misaligned if is_local(fault, site.map(|(_, site)| site)) => "misaligned_local",
        FaultKind::Misaligned => "misaligned",
        FaultKind::Freed => "freed",
        FaultKind::SharedOutOfBounds => "shared_out_of_bounds",
        FaultKind::Hardware => "hardware",
        FaultKind::LocalOutOfBounds => "local_out_of_bounds",
        FaultKind::SharedVariable => "shared_variable",
        FaultKind::Member => "member",
    };
    let variable = site.filter(|_| fault.kind == FaultKind::SharedVariable).and_then(|(module, _)| {
        let name = module.table.shared.get(module.table.hint(fault.site).shared? as usize)?;
        let all = analysis.shared_variables.get(&(kernel?.module, kernel?.function))?;
        all.iter().find(|variable| variable.name == *name)
    });
    let of_variable = variable.map(|variable| (fault.address as i64).saturating_sub(variable.offset.into()));
    model::Fault {
        rank: None,
        kind: kind.to_owned(),
        kernel: launch.map(|(id, _)| id),
        launch: fault.launch,
        frame: site.map(|(module, site)| chain_place(module, &site.chain).user).unwrap_or_default(),
        other: None,
        op: site.map_or("", |(_, site)| op_name(site.op)).to_owned(),
        bytes: site.map_or(0, |(_, site)| site.bytes),
        block: fault.block,
        thread: fault.thread,
        address: match fault.address {
            Fault::HOST_MEMORY => "host".to_owned(),
            // Offsets in shared and local memory may be negative.
            address if (address as i64) < 0 => format!("-{:#x}", (address as i64).unsigned_abs()),
            address => format!("{address:#x}"),
        },
        allocation: nearest.map_or(fault.nearest, |(row, _)| Some(row)),
        offset: nearest.map(|(_, offset)| offset).or(of_variable),
        variable: variable.map(|variable| variable.name.clone()),
        variable_bytes: variable.map(|variable| variable.bytes),
        member: overrun.and_then(|overrun| fault_member(&site?.0.table, fault.site, overrun)),
        stopped: fault.stopped,
        path: launch.map(|(_, path)| paths.host(path)).unwrap_or_default(),
    }
}

/// Returns the member that an access indexes, and the position of the access in its structure.
fn fault_member(table: &SiteTable, site: u32, overrun: Overrun) -> Option<model::FaultMember> {
    let array = table.member_access(site)?.levels.get(overrun.level as usize)?;
    let structure = table.structures.get(array.structure as usize)?;
    let name = |name: u32| table.names.get(name as usize).cloned().unwrap_or_default();
    Some(model::FaultMember {
        name: name(array.name),
        structure: structure.name.map(name).unwrap_or_default(),
        structure_bytes: structure.bytes,
        start: array.offset,
        bytes: array.bytes,
        offset: overrun.offset,
        met: structure.member_at(overrun.offset).map(|field| name(field.name)).unwrap_or_default(),
    })
}

/// Returns operations of executed functions that no record shows.
fn not_seen(analysis: &Analysis, on_cpu: bool) -> Vec<model::NotSeen> {
    let mut rows = BTreeSet::new();
    for (id, module) in &analysis.modules {
        let kernels = analysis.kernels.iter().filter(|kernel| kernel.module == *id);
        let ran: BTreeSet<u32> = kernels
            .flat_map(|kernel| {
                let blocks = kernel.blocks.keys().map(|&block| module.table.blocks[block as usize].function);
                blocks.chain([kernel.function])
            })
            .collect();
        for entry in
            module.table.not_seen.iter().filter(|entry| ran.contains(&entry.function) && entry.concerns(on_cpu))
        {
            let user = chain_place(module, &entry.chain).user;
            let function = module.table.functions[entry.function as usize].name.clone();
            rows.insert((user.file, user.line, function, entry.what.clone()));
        }
    }
    rows.into_iter().map(|(file, line, function, what)| model::NotSeen { function, file, line, what }).collect()
}
