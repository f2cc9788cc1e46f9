//! The callgrind format, version 1 (Valgrind manual, "Callgrind Format Specification"), for
//! KCachegrind, QCachegrind and `callgrind_annotate`.
//!
//! Each source line has an exclusive cost. Inlined device functions, device calls and the launching host functions
//! appear as calls, so inclusive costs cover the path from `main` to the line.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use warpline_profile::Profile;
use warpline_profile::model::{Frame, Metrics};

/// Names and titles of the costs, in order.
const EVENTS: [(&str, &str); 6] = [
    ("Sectors", "32-byte sectors, before any cache"),
    ("Excess", "sectors beyond the ideal"),
    ("Requests", "memory requests of warps"),
    ("Lanes", "active lanes"),
    ("Bytes", "useful bytes"),
    ("Passes", "shared-memory passes"),
];

type Cost = [u64; EVENTS.len()];

/// A function and the file that contains it.
type Function = (String, String);

#[derive(Default)]
struct Costs {
    /// Exclusive cost by line.
    own: BTreeMap<u32, Cost>,
    /// Calls by line and callee, with their number and inclusive cost.
    calls: BTreeMap<(u32, Function), (u64, u32, Cost)>,
}

/// Returns the profile in callgrind format. For shared memory, the costs named sectors are passes.
pub fn callgrind(profile: &Profile) -> String {
    let mut functions: BTreeMap<Function, Costs> = BTreeMap::new();
    let mut total = Cost::default();
    for site in &profile.sites {
        let Some(kernel) = profile.kernels.iter().find(|kernel| kernel.id == site.kernel) else { continue };
        let whole = cost(&site.metrics, &site.space);
        add(&mut total, &whole);
        let inline: Vec<Frame> = site.inlined_at.iter().rev().cloned().chain([user(site)]).collect();
        let start = Frame { function: kernel.name.clone(), file: kernel.file.clone(), line: kernel.line, column: 0 };
        if site.contexts.is_empty() {
            path(&mut functions, &start, &inline, &whole);
        }
        for context in &site.contexts {
            let frames: Vec<Frame> = context.calls.iter().chain(&inline).cloned().collect();
            path(&mut functions, &start, &frames, &cost(&context.metrics, &site.space));
        }
    }
    for kernel in &profile.kernels {
        let launches = kernel.launches.iter().map(|launch| (&launch.path, &launch.metrics, 1));
        let groups = kernel.launch_groups.iter().map(|group| (&group.path, &group.metrics, group.launches));
        for (path, metrics, launches) in launches.chain(groups) {
            let mut sum = Cost::default();
            for (space, metrics) in metrics {
                add(&mut sum, &cost(metrics, space));
            }
            let callee = (kernel.name.clone(), kernel.file.clone());
            for (number, frame) in path.iter().enumerate() {
                let (next, line) = match path.get(number + 1) {
                    Some(next) => ((next.function.clone(), next.file.clone()), next.line),
                    None => (callee.clone(), kernel.line),
                };
                call(&mut functions, frame, next, line, &sum, launches);
            }
        }
    }
    write(profile, &functions, &total)
}

fn user(site: &warpline_profile::model::Site) -> Frame {
    Frame { function: site.function.clone(), file: site.file.clone(), line: site.line, column: site.column }
}

/// Adds the exclusive cost at the last frame, and calls between the preceding frames. The function of the first frame
/// is the kernel, regardless of its name in the debug information.
fn path(functions: &mut BTreeMap<Function, Costs>, start: &Frame, frames: &[Frame], cost: &Cost) {
    let mut names: Vec<Function> = frames.iter().map(|frame| (frame.function.clone(), frame.file.clone())).collect();
    if let Some(first) = names.first_mut() {
        *first = (start.function.clone(), start.file.clone());
    }
    for (number, frame) in frames.iter().enumerate() {
        let costs = functions.entry(names[number].clone()).or_default();
        match names.get(number + 1) {
            Some(next) => {
                let entry =
                    costs.calls.entry((frame.line, next.clone())).or_insert((0, frames[number + 1].line, [0; 6]));
                entry.0 += 1;
                add(&mut entry.2, cost);
            }
            None => add(costs.own.entry(frame.line).or_default(), cost),
        }
    }
}

fn call(functions: &mut BTreeMap<Function, Costs>, from: &Frame, to: Function, line: u32, cost: &Cost, times: u64) {
    let costs = functions.entry((from.function.clone(), from.file.clone())).or_default();
    let entry = costs.calls.entry((from.line, to)).or_insert((0, line, [0; 6]));
    entry.0 += times;
    add(&mut entry.2, cost);
}

fn cost(metrics: &Metrics, space: &str) -> Cost {
    let passes = metrics.shared.as_ref().map_or(0, |shared| shared.wavefronts);
    let (sectors, ideal) = if space == "shared" { (0, 0) } else { (metrics.sectors, metrics.ideal_sectors) };
    [sectors, sectors.saturating_sub(ideal), metrics.requests, metrics.lanes, metrics.bytes, passes]
}

fn add(sum: &mut Cost, more: &Cost) {
    for (sum, more) in sum.iter_mut().zip(more) {
        *sum = sum.saturating_add(*more);
    }
}

fn write(profile: &Profile, functions: &BTreeMap<Function, Costs>, total: &Cost) -> String {
    let mut out = String::from("# callgrind format\nversion: 1\ncreator: warpline\n");
    if !profile.run.program.is_empty() {
        _ = writeln!(out, "cmd: {}", one_line(&profile.run.program.join(" ")));
    }
    out.push_str("positions: line\n");
    for (name, title) in EVENTS {
        _ = writeln!(out, "event: {name} : {title}");
    }
    _ = writeln!(out, "events: {}", EVENTS.map(|(name, _)| name).join(" "));
    _ = writeln!(out, "summary: {}\n", numbers(total));
    for ((function, file), costs) in functions {
        _ = writeln!(out, "fl={}\nfn={}", name(file), name(function));
        for (line, cost) in &costs.own {
            _ = writeln!(out, "{line} {}", numbers(cost));
        }
        for ((line, (callee, callee_file)), (count, callee_line, cost)) in &costs.calls {
            _ = writeln!(out, "cfi={}\ncfn={}\ncalls={count} {callee_line}", name(callee_file), name(callee));
            _ = writeln!(out, "{line} {}", numbers(cost));
        }
        out.push('\n');
    }
    out
}

fn numbers(cost: &Cost) -> String {
    cost.map(|value| value.to_string()).join(" ")
}

fn name(text: &str) -> String {
    if text.is_empty() { "???".to_owned() } else { one_line(text) }
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
