//! Builds every feature program with `warpline-cc`, runs it natively and under `warpline run`, and checks what it
//! prints and what its profile holds.

use super::reproducible::trace_and_profile;
use crate::support_programs::directives::Directives;
use crate::support_programs::{Outcome, build, root, run, warpline, work_folder};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One test per feature program, and their names for the check that none is missing.
macro_rules! programs {
    ($($name:ident),* $(,)?) => {
        const PROGRAMS: &[&str] = &[$(stringify!($name)),*];
        mod program {
            $(#[test] fn $name() { super::feature_program(stringify!($name)); })*
        }
    };
}

programs![
    assert_fails,
    atomics_float,
    atomics_half,
    atomics_integer,
    barrier_never_opens,
    barriers,
    block_barriers,
    brain_float,
    builtin_atomics,
    bundles,
    cache_preference,
    cached_loads,
    changed_members,
    chase,
    clocks,
    clusters,
    compiler_globals,
    constant_addresses,
    control_flow,
    cooperative_groups,
    crash_after_kernels,
    cub,
    device_functions,
    device_heap,
    device_variables,
    driver_api,
    dynamic_parallelism,
    eighth_conversions,
    exit_in_the_middle,
    fork,
    gpu_accesses,
    graphs,
    grid_sync,
    grids,
    guarded_assembly,
    half_precision,
    host_errors,
    host_memory,
    host_overflow,
    host_threads,
    inline_assembly,
    integer_intrinsics,
    kernel_arguments,
    kernel_trap,
    last_block,
    launch_bounds,
    launch_direct,
    launch_spelling,
    local_alignment,
    local_arrays,
    look_back,
    managed_memory,
    managed_variables,
    math_double,
    math_float,
    math_intrinsics,
    memory_2d,
    memory_pools,
    misaligned,
    moved_values,
    no_kernels,
    null_pointer,
    out_of_bounds_below,
    out_of_bounds_read,
    out_of_bounds_write,
    pointer_cycle,
    printf,
    persistent_warps,
    ptx_instructions,
    ptx_synchronisation,
    queries,
    quick_exit,
    rdc,
    rounded_conversions,
    rounded_values,
    ranges,
    read_only_loads,
    retry_loops,
    shared_memory,
    shared_out_of_bounds,
    shuffles,
    static_launches,
    static_objects,
    streams_events,
    surfaces,
    swapped_windows,
    templates_lambdas,
    tensor_cores,
    texture_references,
    texture_stale,
    textures,
    thread_exit,
    threads_in_turn,
    thrust,
    two_units,
    types,
    undefined_arguments,
    shuffles_without_mask,
    undefined_at_first,
    use_after_free,
    vectors,
    video_simd,
    virtual_functions,
    votes,
    waiting_blocks,
    waiting_lanes,
    warp_blocks,
    warp_reduce,
    warp_synchronous,
];

/// Programs a kernel of which does not run to its end.
const ENDS_EARLY: &[&str] = &[
    "assert_fails",
    "barrier_never_opens",
    "dynamic_parallelism",
    "kernel_trap",
    "local_alignment",
    "misaligned",
    "null_pointer",
    "out_of_bounds_below",
    "out_of_bounds_read",
    "out_of_bounds_write",
    "shared_out_of_bounds",
    "texture_stale",
    "use_after_free",
];

/// A program is a file, or a folder whose sources form one program.
pub fn sources_of(name: &str) -> Vec<PathBuf> {
    let folder = root().join("tests/programs").join(name);
    if !folder.is_dir() {
        return vec![folder.with_extension("cu")];
    }
    let entries = std::fs::read_dir(&folder).expect("a program's folder can be read");
    let mut sources: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "cu" || extension == "cpp"));
    sources.sort();
    sources
}

fn feature_program(name: &str) {
    let folder = work_folder(name);
    let sources = sources_of(name);
    // In a folder, one of the sources carries the comments.
    let directives: Vec<Directives> = sources.iter().map(|source| Directives::read(source)).collect();
    let main = directives.iter().max_by_key(|found| found.flags.len()).expect("a program has a source");
    let executable = build(&sources, &main.flags, &folder);
    let judge = |outcome: &Outcome, wrapped| {
        main.judge(outcome, wrapped).unwrap_or_else(|message| panic!("{name}: {message}"));
    };

    if !main.needs_hooks {
        let native = run(Command::new(&executable).env("WARPLINE", "0"), &folder, "native");
        judge(&native, false);
    }
    let profiled = profile(&executable, &[], &folder);
    judge(&profiled, true);
    let report = report(&folder);
    let crashed = matches!(name, "crash_after_kernels" | "quick_exit");
    let complete = report["run"]["complete"].as_bool();
    let fails = ENDS_EARLY.contains(&name);
    let missing = report["run"]["missing"].as_array().into_iter().flatten();
    let early = missing.filter(|row| row["what"] == "ended_early").count();
    assert_eq!(early > 0, fails, "{name}: {}", report["run"]);
    // Its parent's work is not in the profile of the child, which was first.
    let partial = crashed || name == "fork";
    assert!(complete == Some(!fails) || partial, "{name}: {}", report["run"]);
    if name == "crash_after_kernels" {
        assert_eq!(complete, Some(false), "a crashed program's profile must be marked");
        assert_eq!(report["kernels"].as_array().map(Vec::len), Some(1), "what was sent before the crash is kept");
    }
}

/// LLVM's passes skip functions that must not be optimised; what the lowering needs of them has to be done all the
/// same.
#[test]
fn code_that_is_not_optimised_runs() {
    for name in ["control_flow", "constant_addresses", "templates_lambdas"] {
        let folder = work_folder(&format!("{name}-G"));
        let source = sources_of(name).remove(0);
        let executable = build(std::slice::from_ref(&source), &["-G".to_owned()], &folder);
        for hooks in ["", "debug.wltrace"] {
            let mut command = Command::new(&executable);
            let outcome = run(command.env("WARPLINE_TRACE", hooks), &folder, "debug");
            Directives::read(&source)
                .judge(&outcome, false)
                .unwrap_or_else(|message| panic!("{name} {hooks}: {message}"));
        }
    }
    let folder = work_folder("optnone");
    let text = std::fs::read_to_string(&sources_of("control_flow")[0]).expect("the program's source");
    let source = folder.join("optnone.cu");
    // One function among others that are optimised.
    let text = text.replacen("int with_switch(", "__attribute__((optnone)) int with_switch(", 1);
    std::fs::write(&source, text.replace("\"test.h\"", &format!("\"{}/tests/programs/test.h\"", root().display())))
        .expect("a source");
    let executable = build(std::slice::from_ref(&source), &["-O2".to_owned()], &folder);
    let outcome = run(Command::new(&executable).env("WARPLINE_TRACE", "optnone.wltrace"), &folder, "optnone");
    assert!(outcome.status.success(), "{}", outcome.describe());
}

/// Requests, lanes and sectors of each site, behind the line that it is in.
fn sites_are_those_of(name: &str) {
    let folder = work_folder(&format!("{name}_sites"));
    let source = root().join(format!("tests/programs/{name}.cu"));
    let executable = build(std::slice::from_ref(&source), &["-arch=sm_80".to_owned()], &folder);
    let outcome = profile(&executable, &[], &folder);
    assert!(outcome.status.success(), "{}", outcome.describe());
    let report = report(&folder);
    let text = std::fs::read_to_string(&source).expect("the program's source");
    for (line, text) in (1u64..).zip(text.lines()) {
        let expected = text.split_once("// sites ").map_or("", |(_, expected)| expected);
        let sites = report["sites"].as_array().into_iter().flatten().filter(|site| site["line"] == line);
        let found: Vec<String> = sites
            .map(|site| {
                let of = |name: &str| site["metrics"][name].as_u64().unwrap_or(u64::MAX);
                let op = site["op"].as_str().unwrap_or_default();
                format!("{op} {} {} {}", of("requests"), of("lanes"), of("sectors"))
            })
            .collect();
        assert_eq!(found.join(", "), expected, "line {line}");
    }
    // All copies are of all or nothing, and are counted whole.
    assert_eq!(report["not_seen"].as_array().map(Vec::len), Some(0), "{}", report["not_seen"]);
}

#[test]
fn guarded_accesses_are_counted() {
    sites_are_those_of("guarded_assembly");
}

#[test]
fn accesses_are_those_of_the_machine_code() {
    sites_are_those_of("gpu_accesses");
}

#[test]
fn copies_of_changed_objects_are_wide() {
    sites_are_those_of("changed_members");
}

/// Pairs of a warp and a basic block, by the line that the block begins at: all, divergent as CUDAAdvisor counts,
/// partial.
#[test]
fn blocks_are_reported_by_warp() {
    let folder = work_folder("blocks_by_warp");
    let source = root().join("tests/programs/warp_blocks.cu");
    let executable = build(std::slice::from_ref(&source), &["-O1".to_owned()], &folder);
    let outcome = profile(&executable, &[], &folder);
    assert!(outcome.status.success(), "{}", outcome.describe());
    let report = report(&folder);
    let text = std::fs::read_to_string(&source).expect("the program's source");
    for (line, text) in (1u64..).zip(text.lines()) {
        let Some((_, expected)) = text.split_once("// warps ") else { continue };
        let expected: Vec<u64> = expected.split(' ').map(|number| number.parse().expect("a number")).collect();
        let blocks = report["blocks"].as_array().into_iter().flatten().filter(|block| block["line"] == line);
        let counts: Vec<Vec<u64>> = blocks
            .map(|block| {
                let pairs = &block["warp_blocks"];
                ["count", "divergent", "partial"].iter().map(|name| pairs[name].as_u64().unwrap_or(u64::MAX)).collect()
            })
            .collect();
        assert!(counts.contains(&expected), "line {line}, {text}: {counts:?}");
    }
    let sum = |name: &str| -> u64 {
        let blocks = report["blocks"].as_array().into_iter().flatten();
        blocks.filter_map(|block| block["warp_blocks"][name].as_u64()).sum()
    };
    for name in ["count", "divergent", "partial"] {
        assert_eq!(report["kernels"][0]["warp_blocks"][name], sum(name));
    }
}

/// `warpline run` of an executable; the profile goes to `profile.wlprof` in `folder`.
pub fn profile(executable: &Path, arguments: &[String], folder: &Path) -> Outcome {
    let mut command = Command::new(warpline());
    command.arg("run").arg("-o").arg(folder.join("profile.wlprof")).arg("--").arg(executable).args(arguments);
    run(&mut command, folder, "profiled")
}

/// The profile in `folder` as JSON.
pub fn report(folder: &Path) -> Value {
    let mut command = Command::new(warpline());
    command.arg("report").arg(folder.join("profile.wlprof")).args(["--format", "json"]);
    let outcome = run(&mut command, folder, "report");
    assert!(outcome.status.success(), "report failed: {}", outcome.describe());
    serde_json::from_str(&outcome.stdout).expect("the report is JSON")
}

/// The kernels of `bfs` take turns.
#[test]
fn launches_are_counted_among_the_chosen() {
    let folder = work_folder("chosen_launches");
    let program = build(&[root().join("examples/bfs/bfs.cu")], &["-O2".to_owned()], &folder);
    let recorded = |options: &[&str]| {
        let (_, profile) = trace_and_profile(&program, options, &[], &folder);
        let recorded = |launch: &&Value| launch["block_share"] == 1;
        let launches = profile["kernels"].as_array().expect("kernels").iter().flat_map(|kernel| {
            kernel["launches"]
                .as_array()
                .expect("launches")
                .iter()
                .filter(recorded)
                .filter_map(|launch| launch["id"].as_u64())
        });
        (launches.collect::<BTreeSet<u64>>(), profile["run"]["notes"].to_string())
    };
    assert_eq!(recorded(&["--kernels", "bfs_commit", "--launches", "0,2"]).0, [1, 5].into());
    assert_eq!(recorded(&["--launches", "0,2"]).0, [0, 2].into());
    let (none, notes) = recorded(&["--kernels", "bfs_commit", "--launches", "1000000-1000007"]);
    assert!(none.is_empty() && notes.contains("--launches 1000000-1000007: there were"), "{notes}");
    assert!(notes.contains("so no launch was recorded"), "{notes}");
}

/// Lanes come together again behind loops in which they retry or wait for each other: what they load afterwards is
/// loaded once for all of them, with `__syncwarp` behind the loop and without. The profile reports it only if they
/// waited without effect.
#[test]
fn lanes_come_together_behind_retry_loops() {
    let folder = work_folder("retry_loops_counts");
    let source = root().join("tests/programs/retry_loops.cu");
    let text = std::fs::read_to_string(&source).expect("the program can be read");
    let line_of = |mark: &str| 1 + text.lines().position(|line| line.contains(mark)).expect(mark) as u64;
    let program = build(&[source], &["-O3".to_owned()], &folder);
    let outcome = profile(&program, &[], &folder);
    assert!(outcome.status.success(), "{}", outcome.describe());
    let report = report(&folder);
    let kernels = report["kernels"].as_array().expect("kernels");
    let named =
        |part: &str| kernels.iter().find(|kernel| kernel["name"].as_str().is_some_and(|name| name.contains(part)));
    for (kernel, mark) in [
        ("histogram<false>", "// coalesced data"),
        ("histogram<true>", "// coalesced data"),
        ("lock_in_rounds", "// coalesced before the lock"),
        ("lock_once", "// coalesced behind the lock"),
    ] {
        let id = &named(kernel).unwrap_or_else(|| panic!("no {kernel}"))["id"];
        let sites = report["sites"].as_array().into_iter().flatten();
        let here = |site: &&Value| site["kernel"] == *id && site["line"] == line_of(mark) && site["op"] == "load";
        let sum =
            |key: &str| -> u64 { sites.clone().filter(here).filter_map(|site| site["metrics"][key].as_u64()).sum() };
        let (requests, lanes, sectors) = (sum("requests"), sum("lanes"), sum("sectors"));
        assert!(
            requests > 0 && lanes == 32 * requests && sectors == 4 * requests,
            "{kernel}: {requests} {lanes} {sectors}"
        );
    }
    let notes: Vec<&str> = report["run"]["notes"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let assumed: Vec<&&str> = notes.iter().filter(|note| note.contains("is assumed")).collect();
    assert!(assumed.iter().all(|note| note.contains("lock_")) && assumed.len() == 2, "{notes:?}");
}

#[test]
fn every_program_has_a_test() {
    let entries = std::fs::read_dir(root().join("tests/programs")).expect("tests/programs can be read");
    let there: BTreeSet<String> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir() || path.extension().is_some_and(|extension| extension == "cu"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    let listed: BTreeSet<String> = PROGRAMS.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(there, listed);
}
