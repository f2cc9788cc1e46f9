//! Fills the tables of a run.

use std::collections::BTreeMap;

use super::call_paths::CallPaths;
use super::fill_ranks::rank_statistics;
use super::row::Rows;
use super::run::Run;
use super::tables::{
    AccessRow, AllocationRow, BlockRow, BranchRow, ContextRow, CopyRow, DivergenceRow, Figures, FindingRow,
    InstructionRow, KernelMetricsRow, KernelRow, LaunchMetricsRow, LaunchRow, LineRow, ReuseRow, RunRow, SiteRow,
};
use warpline_profile::model::{Allocation, Distances, Frame, Kernel, Metrics, Site};

/// Data of a run that rows of several tables need.
pub(super) struct Names<'a> {
    pub(super) run: &'a Run<'a>,
    kernels: BTreeMap<u32, &'a str>,
    allocations: BTreeMap<u64, &'a Allocation>,
}

impl<'a> Names<'a> {
    fn new(run: &'a Run<'a>) -> Names<'a> {
        let profile = run.profile;
        Names {
            run,
            kernels: profile.kernels.iter().map(|kernel| (kernel.id, kernel.name.as_str())).collect(),
            allocations: profile.allocations.iter().map(|allocation| (allocation.id, allocation)).collect(),
        }
    }

    pub(super) fn kernel(&self, id: u32) -> &'a str {
        self.kernels.get(&id).copied().unwrap_or_default()
    }

    fn allocation(&self, id: Option<u64>) -> Option<&'a str> {
        self.allocations.get(&id?)?.name.as_deref()
    }

    fn figures(&self, metrics: &Metrics) -> Figures {
        Figures::new(metrics, self.run.other())
    }
}

/// Returns all tables of a run, in the order of [`super::tables::PROFILE_TABLES`].
pub fn tables_of(run: &Run<'_>) -> Vec<Rows> {
    let names = Names::new(run);
    let mut paths = CallPaths::new(&run.name);
    let (launches, launch_metrics) = launches(&names, &mut paths);
    let (allocations, copies) = memory(&names, &mut paths);
    let contexts = contexts(&names, &mut paths);
    let rank_statistics = rank_statistics(&names, &mut paths);
    vec![
        runs(run),
        kernels(&names),
        kernel_metrics(&names),
        instructions(&names),
        lines(&names),
        sites(&names),
        accesses(&names),
        contexts,
        allocations,
        copies,
        launches,
        launch_metrics,
        branches(&names),
        blocks(&names),
        findings(&names),
        divergence(&names),
        reuse(&names),
        rank_statistics,
        paths.rows(),
    ]
}

fn json(value: impl serde::Serialize) -> String {
    serde_json::to_string(&value).unwrap_or_default()
}

fn runs(run: &Run<'_>) -> Rows {
    let facts = &run.profile.run;
    let environment = &facts.environment;
    let architectures: Vec<String> = facts.architectures.iter().map(u32::to_string).collect();
    let rank = environment.rank.as_ref();
    Rows::from_rows([RunRow {
        run: &run.name,
        profile: &run.digest,
        first_model: run.first,
        executable: facts.program.first().map(String::as_str),
        arguments: &json(facts.program.get(1..).unwrap_or_default()),
        device: &facts.device,
        mode: &facts.mode,
        complete: facts.complete,
        sampled: facts.sampled,
        dropped_records: facts.dropped_records,
        exit_code: facts.exit_code.map(i64::from),
        architectures: &architectures.join(" "),
        rank_count: rank.and_then(|rank| rank.count).map(u64::from),
        node: rank.and_then(|rank| rank.node.as_deref()).or(environment.host.as_deref()),
        launcher: rank.map(|rank| rank.launcher.as_str()),
        labels: &json(&environment.labels),
        assumptions: &json(&facts.assumptions),
        versions: &json(&environment.versions),
        command: &json(&environment.command),
        notes: &json(&facts.notes),
        date: environment.date.as_deref(),
        program_seconds: environment.seconds.get("program").copied(),
        analysis_seconds: environment.seconds.get("analysis").copied(),
    }])
}

fn kernels(names: &Names<'_>) -> Rows {
    Rows::from_rows(names.run.profile.kernels.iter().map(|kernel| {
        let sum = |figure: fn(&warpline_profile::model::InstructionCount) -> u64| {
            kernel.instructions.values().fold(0u64, |sum, count| sum.saturating_add(figure(count)))
        };
        let estimate = kernel.estimates.iter().find(|estimate| Some(estimate.model.as_str()) == names.run.model);
        KernelRow {
            run: &names.run.name,
            kernel: kernel.id,
            kernel_name: &kernel.name,
            mangled: &kernel.mangled,
            module: &kernel.module,
            file: &kernel.file,
            line: kernel.line,
            launches: kernel.launch_count(),
            recorded_launches: kernel.recorded_launches(),
            instruction_warps: sum(|count| count.warps),
            instruction_lanes: sum(|count| count.lanes),
            lane_slots_issued: kernel.lane_slots.issued,
            lane_slots_active: kernel.lane_slots.active,
            lane_slots_lost: kernel.lane_slots.lost_partial,
            spill_bytes: kernel.spill_bytes,
            estimated_seconds: estimate.map(|estimate| estimate.seconds),
            limiter: estimate.map(|estimate| estimate.limiter.as_str()),
            estimated_dram_bytes: estimate.map(|estimate| estimate.bytes.dram),
            ideal_seconds: estimate.map(|estimate| estimate.ideal.seconds),
        }
    }))
}

fn kernel_metrics(names: &Names<'_>) -> Rows {
    let each = |kernel: &Kernel| {
        kernel.metrics.iter().map(|(space, metrics)| (space.clone(), names.figures(metrics))).collect::<Vec<_>>()
    };
    let mut rows = Rows::new::<KernelMetricsRow<'_>>();
    for kernel in &names.run.profile.kernels {
        for (space, figures) in each(kernel) {
            rows.push(KernelMetricsRow {
                run: &names.run.name,
                kernel: kernel.id,
                kernel_name: &kernel.name,
                space: &space,
                figures,
            });
        }
    }
    rows
}

fn instructions(names: &Names<'_>) -> Rows {
    Rows::from_rows(names.run.profile.lines.iter().flat_map(|line| {
        line.instructions.iter().map(|(class, count)| InstructionRow {
            run: &names.run.name,
            kernel: line.kernel,
            kernel_name: names.kernel(line.kernel),
            file: &line.file,
            line: line.line,
            class,
            warps: count.warps,
            lanes: count.lanes,
        })
    }))
}

fn lines(names: &Names<'_>) -> Rows {
    let profile = names.run.profile;
    Rows::from_rows(profile.lines.iter().flat_map(|line| {
        let source = profile.sources.get(&line.file).and_then(|lines| lines.get(&line.line));
        line.metrics.iter().map(move |(space, metrics)| LineRow {
            run: &names.run.name,
            kernel: line.kernel,
            kernel_name: names.kernel(line.kernel),
            file: &line.file,
            line: line.line,
            source: source.map(String::as_str),
            space,
            figures: names.figures(metrics),
        })
    }))
}

fn sites(names: &Names<'_>) -> Rows {
    Rows::from_rows(names.run.profile.sites.iter().map(|site| SiteRow {
        run: &names.run.name,
        kernel: site.kernel,
        kernel_name: names.kernel(site.kernel),
        site: site.id,
        file: &site.file,
        line: site.line,
        column: site.column,
        function: &site.function,
        op: &site.op,
        space: &site.space,
        width_bytes: site.bytes,
        library: site.library,
        approximate: site.approximate,
        variable: site.operand.as_ref().and_then(|operand| operand.variable.as_deref()),
        member: site.operand.as_ref().and_then(|operand| operand.member.as_deref()),
        stride_bytes: site.pattern.as_ref().and_then(|pattern| pattern.stride_bytes),
        figures: names.figures(&site.metrics),
    }))
}

fn accesses(names: &Names<'_>) -> Rows {
    Rows::from_rows(names.run.profile.sites.iter().flat_map(|site| {
        site.by_allocation.iter().map(|part| AccessRow {
            run: &names.run.name,
            kernel: site.kernel,
            kernel_name: names.kernel(site.kernel),
            site: site.id,
            file: &site.file,
            line: site.line,
            column: site.column,
            op: &site.op,
            space: &site.space,
            allocation: part.allocation,
            allocation_name: names.allocation(part.allocation),
            figures: names.figures(&part.metrics),
        })
    }))
}

/// Returns the kernel's frame, the calls, and the functions inlined at the site, the site's own function last.
fn device_path(names: &Names<'_>, site: &Site, calls: &[Frame]) -> Vec<Frame> {
    let own = Frame { function: site.function.clone(), file: site.file.clone(), line: site.line, column: site.column };
    let mut frames: Vec<Frame> = calls.iter().chain(site.inlined_at.iter().rev()).cloned().chain([own]).collect();
    // The function of the first frame is the kernel, regardless of its name in the debug information.
    if let Some(first) = frames.first_mut() {
        names.kernel(site.kernel).clone_into(&mut first.function);
    }
    frames
}

fn contexts(names: &Names<'_>, paths: &mut CallPaths<'_>) -> Rows {
    let mut rows = Rows::new::<ContextRow<'_>>();
    for site in &names.run.profile.sites {
        let whole = [(&[][..], &site.metrics)];
        let contexts = site.contexts.iter().map(|context| (&context.calls[..], &context.metrics));
        let whole = whole.into_iter().filter(|_| site.contexts.is_empty());
        for (calls, metrics) in whole.chain(contexts) {
            let Some(path) = paths.node(&device_path(names, site, calls)) else { continue };
            rows.push(ContextRow {
                run: &names.run.name,
                kernel: site.kernel,
                kernel_name: names.kernel(site.kernel),
                site: site.id,
                op: &site.op,
                space: &site.space,
                path,
                figures: names.figures(metrics),
            });
        }
    }
    rows
}

fn memory(names: &Names<'_>, paths: &mut CallPaths<'_>) -> (Rows, Rows) {
    let profile = names.run.profile;
    let hosts: BTreeMap<u64, Option<&str>> =
        profile.host_allocations.iter().map(|host| (host.id, host.name.as_deref())).collect();
    let (mut allocations, mut copies) = (Rows::new::<AllocationRow<'_>>(), Rows::new::<CopyRow<'_>>());
    for allocation in &profile.allocations {
        allocations.push(AllocationRow {
            run: &names.run.name,
            allocation: allocation.id,
            allocation_name: allocation.name.as_deref(),
            kind: &allocation.kind,
            size_bytes: allocation.bytes,
            count: allocation.count,
            freed: allocation.freed,
            live_at_once: allocation.live_at_once,
            touched_bytes: allocation.touched_bytes,
            first_launch: allocation.lifetime.map(|lifetime| lifetime.first_launch),
            last_launch: allocation.lifetime.and_then(|lifetime| lifetime.last_launch),
            path: paths.node(&allocation.path),
            figures: names.figures(&allocation.metrics),
        });
        for copy in &allocation.copies {
            copies.push(CopyRow {
                run: &names.run.name,
                allocation: allocation.id,
                allocation_name: allocation.name.as_deref(),
                direction: &copy.direction,
                copied_bytes: copy.bytes,
                copies: copy.count,
                unchanged_copies: copy.unchanged_count,
                source_copies: copy.source_count,
                first_launch: copy.first_launch,
                last_launch: copy.last_launch,
                host_name: copy.host.and_then(|host| hosts.get(&host).copied().flatten()),
                path: paths.node(&copy.path),
            });
        }
    }
    (allocations, copies)
}

fn launches(names: &Names<'_>, paths: &mut CallPaths<'_>) -> (Rows, Rows) {
    let (mut rows, mut metrics) = (Rows::new::<LaunchRow<'_>>(), Rows::new::<LaunchMetricsRow<'_>>());
    for kernel in &names.run.profile.kernels {
        let mut add = |launch: u64, spaces: &warpline_profile::model::Spaces| {
            for (space, figures) in spaces {
                metrics.push(LaunchMetricsRow {
                    run: &names.run.name,
                    kernel: kernel.id,
                    kernel_name: &kernel.name,
                    launch,
                    space,
                    figures: names.figures(figures),
                });
            }
        };
        for launch in &kernel.launches {
            let [[grid_x, grid_y, grid_z], [block_x, block_y, block_z]] =
                [launch.grid, launch.block].map(|shape| shape.map(Some));
            rows.push(LaunchRow {
                run: &names.run.name,
                kernel: kernel.id,
                kernel_name: &kernel.name,
                launch: launch.id,
                launches: 1,
                last: launch.id,
                grid_x,
                grid_y,
                grid_z,
                block_x,
                block_y,
                block_z,
                dynamic_shared_bytes: Some(launch.dynamic_shared_bytes),
                static_shared_bytes: launch.static_shared_bytes,
                registers: launch.registers,
                resident_blocks: Some(launch.resident_blocks),
                block_share: launch.block_share,
                stream: Some(launch.stream),
                error: launch.error.map(i64::from),
                failed: u64::from(launch.error.is_some_and(|error| error != 0)),
                path: paths.node(&launch.path),
            });
            add(launch.id, &launch.metrics);
        }
        for group in &kernel.launch_groups {
            let [[grid_x, grid_y, grid_z], [block_x, block_y, block_z]] =
                [group.grid, group.block].map(|shape| shape.map_or([None; 3], |shape| shape.map(Some)));
            rows.push(LaunchRow {
                run: &names.run.name,
                kernel: kernel.id,
                kernel_name: &kernel.name,
                launch: group.first,
                launches: group.launches,
                last: group.last,
                grid_x,
                grid_y,
                grid_z,
                block_x,
                block_y,
                block_z,
                dynamic_shared_bytes: group.dynamic_shared_bytes,
                static_shared_bytes: group.static_shared_bytes,
                registers: group.registers,
                resident_blocks: None,
                block_share: group.block_share,
                stream: None,
                error: None,
                failed: group.failed,
                path: paths.node(&group.path),
            });
            add(group.first, &group.metrics);
        }
    }
    (rows, metrics)
}

fn branches(names: &Names<'_>) -> Rows {
    Rows::from_rows(names.run.profile.branches.iter().map(|branch| BranchRow {
        run: &names.run.name,
        kernel: branch.kernel,
        kernel_name: names.kernel(branch.kernel),
        file: &branch.file,
        line: branch.line,
        column: branch.column,
        executions: branch.executions,
        divergent: branch.divergent,
        sides: branch.lanes.len() as u64,
        lanes: branch.lanes.iter().fold(0u64, |sum, lanes| sum.saturating_add(*lanes)),
        first_side_lanes: branch.lanes.first().copied().unwrap_or_default(),
        idle_lane_slots: branch.idle_lane_slots,
    }))
}

fn blocks(names: &Names<'_>) -> Rows {
    Rows::from_rows(names.run.profile.blocks.iter().map(|block| BlockRow {
        run: &names.run.name,
        kernel: block.kernel,
        kernel_name: names.kernel(block.kernel),
        file: &block.file,
        line: block.line,
        kernel_line: Some(block.kernel_line).filter(|line| *line != 0),
        executions: block.executions,
        partial: block.partial,
        lanes: block.lanes,
        lanes_lost: block.lanes_lost,
        instructions: block.instructions,
        warps: block.warp_blocks.map(|warps| warps.count),
        divergent_warps: block.warp_blocks.map(|warps| warps.divergent),
        partial_warps: block.warp_blocks.map(|warps| warps.partial),
    }))
}

fn findings(names: &Names<'_>) -> Rows {
    let mut rows = Rows::new::<FindingRow<'_>>();
    for finding in names.run.profile.findings.iter().filter(|_| names.run.first) {
        rows.push(FindingRow {
            run: &names.run.name,
            position: finding.rank,
            finding: &finding.id,
            severity: finding.severity.name(),
            title: &finding.title,
            cause: &finding.cause,
            remedy: &finding.remedy,
            verified: finding.verified,
            kernel: finding.kernel,
            kernel_name: finding.kernel.map(|kernel| names.kernel(kernel)),
            file: &finding.file,
            line: finding.line,
            column: finding.column,
            allocation: finding.allocation,
            object: finding.object.as_deref().or_else(|| names.allocation(finding.allocation)),
            reason: &finding.reason,
            cure: &finding.cure,
            evidence: &json(&finding.evidence),
            gain_factor: finding.gain.as_ref().map(|gain| gain.factor),
            gain_seconds: finding.gain.as_ref().map(|gain| gain.seconds),
        });
    }
    rows
}

fn divergence(names: &Names<'_>) -> Rows {
    let mut rows = Rows::new::<DivergenceRow<'_>>();
    for site in &names.run.profile.sites {
        for (size, counts) in &site.metrics.lines_touched {
            let Ok(piece_bytes) = size.parse() else { continue };
            for (pieces, &requests) in (0..).zip(counts).filter(|(_, requests)| **requests > 0) {
                rows.push(DivergenceRow {
                    run: &names.run.name,
                    kernel: site.kernel,
                    kernel_name: names.kernel(site.kernel),
                    site: site.id,
                    file: &site.file,
                    line: site.line,
                    op: &site.op,
                    space: &site.space,
                    piece_bytes,
                    pieces,
                    requests,
                });
            }
        }
    }
    rows
}

fn reuse(names: &Names<'_>) -> Rows {
    let mut rows = Rows::new::<ReuseRow<'_>>();
    for site in names.run.profile.sites.iter().filter(|_| names.run.first) {
        let Some(reuse) = &site.metrics.reuse else { continue };
        for (granularity, distances) in [("element", &reuse.element), ("sector", &reuse.sector), ("line", &reuse.line)]
        {
            for (distance, uses) in buckets(distances) {
                rows.push(ReuseRow {
                    run: &names.run.name,
                    kernel: site.kernel,
                    kernel_name: names.kernel(site.kernel),
                    site: site.id,
                    file: &site.file,
                    line: site.line,
                    op: &site.op,
                    granularity,
                    distance,
                    uses,
                });
            }
        }
    }
    rows
}

/// Returns the buckets that are not empty, with first uses last.
fn buckets(distances: &Distances) -> impl Iterator<Item = (Option<u64>, u64)> {
    let finite = distances.buckets.iter().map(|bucket| (Some(bucket.upto), bucket.count));
    finite.chain([(None, distances.infinite)]).filter(|(_, uses)| *uses > 0)
}
