//! Artificial programs as profiles, for tests of comparing and merging.
#![allow(dead_code, reason = "each user takes what it needs")]

use std::collections::BTreeMap;
use std::sync::OnceLock;

use warpline::analysis::{NoProgress, analyze_with};
use warpline::models;
use warpline::profile::model::{Allocation, Branch, ByKernel, Finding, Frame, Kernel, Line, Metrics, Severity};
use warpline::profile::{BuildInput, Profile, RunFacts, build};
use warpline::simulation::Settings;
use warpline::trace::TraceReader;

use super::demo;

/// Returns the demo with caches as a starting point; every field is filled in as in a run.
pub fn demo_profile() -> Profile {
    static DEMO: OnceLock<Profile> = OnceLock::new();
    DEMO.get_or_init(analyzed).clone()
}

fn analyzed() -> Profile {
    let bytes = demo::trace("/nowhere/columns.cu");
    let model = models::find("a100").unwrap();
    let settings = Settings::new(model.hierarchy().unwrap());
    let analysis = analyze_with(TraceReader::new(&bytes[..]).unwrap(), 1, Some(&settings), &mut NoProgress).unwrap();
    let facts = RunFacts {
        device: "cpu".into(),
        models: vec!["a100".into()],
        rates: vec![model.rates()],
        ended_by_itself: true,
        exit_code: Some(0),
        ..RunFacts::default()
    };
    let mut profile = build(BuildInput { analysis: &analysis, facts });
    let lines = (1..).zip(demo::SOURCE.lines()).map(|(number, text)| (number, text.trim_end().to_owned()));
    profile.sources.insert("/nowhere/columns.cu".into(), lines.collect());
    profile
}

/// The lines of a kernel, each with its text and its number of sectors.
pub type Code<'a> = &'a [(&'a str, u64)];

/// A kernel of a program.
pub struct Source<'a> {
    pub name: &'a str,
    pub code: Code<'a>,
}

/// Returns the figures of this number of requests, with four ideal sectors each.
pub fn requests(requests: u64, sectors: u64) -> Metrics {
    Metrics {
        requests,
        lanes: 32 * requests,
        bytes: 128 * requests,
        sectors,
        ideal_sectors: 4 * requests,
        lines_touched: [("32".into(), vec![0, 0, 0, 0, requests]), ("128".into(), vec![0, requests])].into(),
        ..Metrics::default()
    }
}

/// Returns a program with one file: the kernels one below the other, each with a line for its header, then host code
/// that allocates.
pub fn program(file: &str, kernels: &[Source<'_>], allocations: &[(&str, u64)]) -> Profile {
    let mut profile = demo_profile();
    let kernel: Kernel = profile.kernels[0].clone();
    profile.kernels.clear();
    profile.lines.clear();
    profile.sites.clear();
    profile.branches.clear();
    profile.blocks.clear();
    profile.allocations.clear();
    profile.host_allocations.clear();
    profile.faults.clear();
    profile.conflicts.clear();
    profile.findings.clear();
    profile.not_seen.clear();
    profile.sources.clear();
    let mut text: BTreeMap<u32, String> = BTreeMap::new();
    let mut line = 3;
    for (id, source) in (0..).zip(kernels) {
        let mut row = kernel.clone();
        row.id = id;
        row.name = format!("{}(float*, int)", source.name);
        row.mangled = format!("_Z{}{}Pfi", source.name.len(), source.name);
        row.module = file.to_owned();
        row.file = file.to_owned();
        row.line = line;
        row.estimates.clear();
        text.insert(line, format!("__global__ void {}(float *data, int n) {{", source.name));
        let all: u64 = source.code.iter().map(|(_, sectors)| sectors).sum();
        row.metrics = [("global".to_owned(), requests(8, all))].into();
        for (code, sectors) in source.code {
            line += 1;
            text.insert(line, (*code).to_owned());
            profile.lines.push(Line {
                whole_run: BTreeMap::new(),
                file: file.to_owned(),
                line,
                kernel: id,
                metrics: if *sectors > 0 { [("global".to_owned(), requests(8, *sectors))].into() } else { [].into() },
                instructions: [].into(),
                over_ranks: BTreeMap::new(),
            });
            if code.contains("if (") {
                profile.branches.push(Branch {
                    kernel: id,
                    file: file.to_owned(),
                    line,
                    column: 5,
                    kernel_line: line,
                    executions: 8,
                    divergent: sectors % 8,
                    lanes: vec![200, 56],
                    instructions: vec![900, 100],
                    idle_lane_slots: 64 * (sectors % 8),
                    decided_by: Vec::new(),
                    ends_loop: false,
                    order_assumed: false,
                });
            }
        }
        line += 3;
        profile.kernels.push(row);
    }
    for (id, (name, bytes)) in (1..).zip(allocations) {
        line += 1;
        text.insert(line, format!("    cudaMalloc(&{name}, {bytes});"));
        profile.allocations.push(Allocation {
            id,
            name: Some((*name).to_owned()),
            kind: "cudaMalloc".to_owned(),
            bytes: *bytes,
            path: vec![Frame { function: "main".into(), file: file.to_owned(), line, column: 5 }],
            freed: true,
            count: 1,
            freed_count: 1,
            live_at_once: 0,
            touched_bytes: 0,
            touched_map: None,
            lifetime: None,
            copies: Vec::new(),
            metrics: requests(8, 32),
            by_kernel: vec![ByKernel { kernel: 0, metrics: requests(8, 32) }],
        });
    }
    profile.sources.insert(file.to_owned(), text);
    profile
}

/// Returns a finding at a line of a kernel.
pub fn finding(id: &str, severity: Severity, kernel: u32, file: &str, line: u32) -> Finding {
    Finding {
        id: id.to_owned(),
        rank: 1,
        severity,
        cause: "cause".to_owned(),
        remedy: "remedy".to_owned(),
        verified: false,
        confidence: None,
        title: "a title".to_owned(),
        kernel: Some(kernel),
        file: file.to_owned(),
        line,
        column: 5,
        lines: Vec::new(),
        other_kernels: Vec::new(),
        inside_library: None,
        allocation: None,
        object: None,
        evidence: [("sectors_per_request".to_owned(), 32.0)].into(),
        reason: "Lanes are a row apart.".to_owned(),
        cure: "Exchange the indices.".to_owned(),
        gain: None,
    }
}

/// Returns the same profile with different numbers and its rows in a different order; `seed` selects the order.
pub fn renumbered(profile: &Profile, seed: u64) -> Profile {
    let mut state = seed | 1;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let mut copy = profile.clone();
    let spread = 1 + next() as u32 % 7;
    let kernel = |id: &mut u32| *id = *id * spread + 5;
    for row in &mut copy.kernels {
        kernel(&mut row.id);
    }
    copy.lines.iter_mut().for_each(|row| kernel(&mut row.kernel));
    copy.sites.iter_mut().for_each(|row| kernel(&mut row.kernel));
    copy.branches.iter_mut().for_each(|row| kernel(&mut row.kernel));
    copy.blocks.iter_mut().for_each(|row| kernel(&mut row.kernel));
    copy.conflicts.iter_mut().for_each(|row| kernel(&mut row.kernel));
    copy.faults.iter_mut().filter_map(|row| row.kernel.as_mut()).for_each(kernel);
    copy.findings.iter_mut().filter_map(|row| row.kernel.as_mut()).for_each(kernel);
    let allocation = |id: &mut u64| *id = *id * 3 + u64::from(spread);
    for row in &mut copy.allocations {
        allocation(&mut row.id);
        row.by_kernel.iter_mut().for_each(|row| kernel(&mut row.kernel));
    }
    for site in &mut copy.sites {
        site.by_allocation.iter_mut().filter_map(|row| row.allocation.as_mut()).for_each(allocation);
    }
    copy.findings.iter_mut().filter_map(|row| row.allocation.as_mut()).for_each(allocation);
    copy.faults.iter_mut().filter_map(|row| row.allocation.as_mut()).for_each(allocation);
    fn shuffle<T>(rows: &mut [T], next: &mut impl FnMut() -> u64) {
        for last in (1..rows.len()).rev() {
            rows.swap(last, next() as usize % (last + 1));
        }
    }
    shuffle(&mut copy.kernels, &mut next);
    shuffle(&mut copy.lines, &mut next);
    shuffle(&mut copy.sites, &mut next);
    shuffle(&mut copy.branches, &mut next);
    shuffle(&mut copy.findings, &mut next);
    copy.run.environment.pid = Some(next() as u32);
    copy.run.environment.seconds.insert("program".to_owned(), next() as f64);
    copy
}
