//! Builds every feature program and every example with `warpline-cc`, runs it by itself and under
//! `warpline run`, and compares what the profiles count with the closed forms of `examples/expected.json`.

use crate::support_programs::{
    Outcome, build, counts, directives::Directives, root, run, warpline, warpline_cc, work_folder,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// One test per feature program, and their names for the check that none is forgotten.
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
    no_kernels,
    null_pointer,
    out_of_bounds_below,
    out_of_bounds_read,
    out_of_bounds_write,
    pointer_cycle,
    printf,
    ptx_instructions,
    ptx_synchronisation,
    queries,
    quick_exit,
    rdc,
    rounded_conversions,
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

/// One test per entry of `examples/expected.json`, by position.
macro_rules! examples {
    ($($name:ident = $index:expr),* $(,)?) => {
        const EXAMPLES: &[(&str, usize)] = &[$((stringify!($name), $index)),*];
        mod example {
            $(#[test] fn $name() { super::example_program(stringify!($name), $index); })*
        }
    };
}

examples![
    saxpy = 0,
    saxpy_cut = 1,
    pointer_chase = 2,
    divergence = 3,
    bicg = 4,
    transpose = 5,
    matmul = 6,
    syrk = 7,
    bfs = 8,
    hotspot = 9,
    needleman_wunsch = 10,
    histogram = 11,
    scan = 12,
    spmv = 13,
    kmeans = 14,
    convolution = 15,
    raytracer = 16,
    downscale = 17,
    long_range_stencil = 18,
    lattice_boltzmann = 19,
];

/// A program is a file, or a folder whose sources form one program.
fn sources_of(name: &str) -> Vec<PathBuf> {
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
        assert_eq!(complete, Some(false), "a crashed program's profile must say so");
        assert_eq!(report["kernels"].as_array().map(Vec::len), Some(1), "what was sent before the crash is kept");
    }
}

/// LLVM's passes skip functions that must not be optimised; what the lowering needs of them has to be done all the same.
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

/// Pairs of a warp and a basic block, by the line that the block begins at: all, divergent as CUDAAdvisor counts, partial.
#[test]
fn blocks_are_told_by_warp() {
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
fn profile(executable: &Path, arguments: &[String], folder: &Path) -> Outcome {
    let mut command = Command::new(warpline());
    command.arg("run").arg("-o").arg(folder.join("profile.wlprof")).arg("--").arg(executable).args(arguments);
    run(&mut command, folder, "profiled")
}

/// The profile in `folder` as JSON.
fn report(folder: &Path) -> Value {
    let mut command = Command::new(warpline());
    command.arg("report").arg(folder.join("profile.wlprof")).args(["--format", "json"]);
    let outcome = run(&mut command, folder, "report");
    assert!(outcome.status.success(), "report failed: {}", outcome.describe());
    serde_json::from_str(&outcome.stdout).expect("the report is JSON")
}

fn expected() -> Value {
    let path = root().join("examples/expected.json");
    let text = std::fs::read_to_string(&path).expect("examples/expected.json can be read");
    serde_json::from_str(&text).expect("examples/expected.json is JSON")
}

fn example_program(test: &str, index: usize) {
    let expected = expected();
    let example = &expected["examples"][index];
    let folder = work_folder(&format!("example_{test}"));
    let examples = root().join("examples");
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
    };
    let sources: Vec<PathBuf> = texts(&example["sources"]).iter().map(|source| examples.join(source)).collect();
    let executable = build(&sources, &["-O2".to_owned()], &folder);
    let mut wrong = Vec::new();
    for values in example["runs"].as_array().expect("an example has runs") {
        let values: BTreeMap<String, u64> = serde_json::from_value(values.clone()).expect("a run names its numbers");
        let arguments: Vec<String> = texts(&example["arguments"]).iter().map(|name| values[name].to_string()).collect();
        let outcome = profile(&executable, &arguments, &folder);
        assert!(outcome.status.success(), "{test} {arguments:?}: {}", outcome.describe());
        let profile = report(&folder);
        wrong.extend(counts::check(example, &values, &profile, &examples));
        widths_cover_all_requests(&profile);
    }
    assert!(wrong.is_empty(), "{} counts are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Requests by width are those of global and local memory, each once.
fn widths_cover_all_requests(profile: &Value) {
    for kernel in profile["kernels"].as_array().expect("kernels") {
        let of_space = |space: &str| kernel["metrics"][space]["requests"].as_u64().unwrap_or(0);
        let tables = kernel["tables"].as_array().map_or(&[][..], Vec::as_slice);
        let rows =
            tables.iter().filter(|table| table["id"] == "request-widths").filter_map(|table| table["rows"].as_array());
        let told: u64 = rows.flatten().filter_map(|row| row[3].as_u64()).sum();
        assert_eq!(told, of_space("global") + of_space("local"), "{}", kernel["name"]);
    }
}

/// Runs the program with a trace; returns the trace's bytes and the profile without what may differ.
fn trace_and_profile(executable: &Path, options: &[&str], arguments: &[&str], folder: &Path) -> (Vec<u8>, Value) {
    let trace = folder.join("program.wltrace");
    let mut command = Command::new(warpline());
    command.arg("run").args(options).arg("--trace").arg(&trace).arg("-o").arg(folder.join("profile.wlprof"));
    command.arg("--").arg(executable).args(arguments);
    let outcome = run(&mut command, folder, "traced");
    assert!(outcome.status.success(), "{options:?}: {}", outcome.describe());
    (std::fs::read(&trace).expect("the trace was written"), without_environment(report(folder)))
}

fn without_environment(mut profile: Value) -> Value {
    profile["run"].as_object_mut().expect("a profile has a run").remove("environment");
    profile
}

/// Two runs, and runs with several threads, agree to the last bit. Returns the program.
fn repeatable(test: &str, sources: &[PathBuf], flags: &[&str], arguments: &[&str], folder: &Path) -> PathBuf {
    let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
    let executable = build(sources, &flags, folder);
    let (trace, profile) = trace_and_profile(&executable, &[], arguments, folder);
    for options in [&[][..], &["--threads", "1"], &["--threads", "3"]] {
        let (other_trace, other_profile) = trace_and_profile(&executable, options, arguments, folder);
        assert!(trace == other_trace, "{test}: the trace differs with {options:?}");
        assert!(profile == other_profile, "{test}: the profile differs with {options:?}");
    }
    executable
}

/// [`repeatable`], and `sim` of a kept trace agrees with a run for the same model.
fn reproducible(test: &str, sources: &[PathBuf], arguments: &[&str]) {
    let folder = work_folder(&format!("reproducible_{test}"));
    let executable = repeatable(test, sources, &["-O2"], arguments, &folder);
    // `sim` of the kept trace: the model of the run, and another one in its own block order.
    for model in ["rtx2080ti", "a100"] {
        let (_, run) = trace_and_profile(&executable, &["--gpu", model], arguments, &folder);
        std::fs::copy(folder.join("program.wltrace"), folder.join(format!("{model}.wltrace"))).expect("room for it");
        for kept in ["rtx2080ti", "a100"].map(|model| folder.join(format!("{model}.wltrace"))) {
            if !kept.exists() {
                continue;
            }
            let mut command = Command::new(warpline());
            command.arg("sim").arg(&kept).args(["--gpu", model]).arg("-o").arg(folder.join("profile.wlprof"));
            let outcome = self::run(&mut command, &folder, "simulated");
            assert!(outcome.status.success(), "sim of {}: {}", kept.display(), outcome.describe());
            let simulated = without_environment(report(&folder));
            assert!(
                without_exit_code(run.clone()) == without_exit_code(simulated),
                "{test}: sim of {} for {model} differs from the run",
                kept.display()
            );
        }
    }
}

/// A trace does not hold the program's exit code.
fn without_exit_code(mut profile: Value) -> Value {
    profile["run"].as_object_mut().expect("a profile has a run").remove("exit_code");
    profile
}

#[test]
fn barriers_and_atomics_are_reproducible() {
    reproducible("histogram", &[root().join("examples/histogram/histogram.cu")], &["16384", "40"]);
}

#[test]
fn divergent_code_is_reproducible() {
    let source = |name: &str| root().join("examples/raytracer").join(name);
    let sources = [source("raytracer.cpp"), source("render.cu"), source("mesh.cpp"), source("bvh.cpp")];
    reproducible("raytracer", &sources, &["32", "10"]);
}

#[test]
fn device_variables_are_reproducible() {
    reproducible("device_variables", &sources_of("device_variables"), &[]);
}

/// How often blocks look at a barrier depends on their order alone. Another model has another order, so `sim` differs.
#[test]
fn waiting_for_other_blocks_is_repeatable() {
    let flags = ["-O2", "-std=c++17", "-arch=sm_80"];
    repeatable("grid_sync", &sources_of("grid_sync"), &flags, &[], &work_folder("repeatable_grid_sync"));
}

#[test]
fn managed_memory_is_reproducible() {
    reproducible("managed_memory", &sources_of("managed_memory"), &[]);
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

/// Without `--gpu` the profile is of the GPU that the program's code was built for.
#[test]
fn the_model_follows_the_architecture() {
    let folder = work_folder("default_model");
    let model = |arch: &str| {
        let flags = ["-O2".to_owned(), format!("-arch={arch}")];
        let program = build(&[root().join("examples/saxpy/saxpy.cu")], &flags, &folder);
        let outcome = profile(&program, &["4096".to_owned()], &folder);
        assert!(outcome.status.success(), "{}", outcome.describe());
        let run = report(&folder)["run"].clone();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&run["models"][0]), text(&run["assumptions"]["model_chosen"]))
    };
    assert_eq!(model("sm_90"), ("h100".into(), "the program was built for sm_90".into()));
    // Where the toolkit is too new for what was asked for, the model is that of the code that runs, and that is said.
    let asked = model("sm_20");
    assert_eq!(asked, ("rtx2080ti".into(), "the code of sm_75 runs, though sm_20 was asked for".into()));
    let notes = report(&folder)["run"]["notes"].to_string();
    assert!(notes.contains("--gpu gtx480"), "{notes}");
    // By hand as well: the same rule. Without a place for the trace the program runs natively and silently.
    let traces = || {
        let files = std::fs::read_dir(&folder).expect("the test's folder").flatten().map(|entry| entry.path());
        files.filter(|path| path.extension().is_some_and(|end| end == "wltrace")).collect::<Vec<_>>()
    };
    let mut command = Command::new(folder.join("program"));
    let by_hand = run(command.arg("4096"), &folder, "by_hand");
    assert!(by_hand.status.success() && by_hand.stderr.is_empty() && traces().is_empty(), "{}", by_hand.describe());
    let by_hand = run(command.env("WARPLINE_TRACE", "."), &folder, "by_hand");
    assert!(by_hand.status.success() && traces().len() == 1, "{}", by_hand.describe());
    let trace = traces().remove(0);
    let named = folder.join("named.wltrace");
    let by_hand = run(command.env("WARPLINE_TRACE", &named).env("WARPLINE", "0"), &folder, "by_hand");
    assert!(by_hand.status.success() && !named.exists(), "{}", by_hand.describe());
    let by_hand = run(command.env_remove("WARPLINE"), &folder, "by_hand");
    assert!(by_hand.status.success() && named.is_file(), "{}", by_hand.describe());
    let simulated = folder.join("by_hand.wlprof");
    let sim = run(Command::new(warpline()).arg("sim").arg(&trace).arg("-o").arg(&simulated), &folder, "sim");
    assert!(sim.status.success(), "{}", sim.describe());
    let json =
        run(Command::new(warpline()).args(["report", "--format", "json"]).arg(&simulated), &folder, "by_hand_json");
    let document: Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(document["run"]["models"][0], "rtx2080ti");
}

/// Registers are those of the code as it is built without hooks and debug information, each model's of its own architecture,
/// in a run and in `sim`, unless they are stated.
#[test]
fn registers_are_those_of_the_code_that_runs_on_a_gpu() {
    let folder = work_folder("registers");
    let source = root().join("examples/matmul/matmul.cu");
    let said = |program: &Path, arguments: &[&str]| {
        let outcome = run(Command::new(program).args(arguments), &folder, "tool");
        assert!(outcome.status.success(), "{program:?} {arguments:?}: {}", outcome.describe());
        outcome.stdout + &outcome.stderr
    };
    // What the user's own build has, without any of our passes.
    said(warpline_cc(), &["-ptx", "-O3", "-arch=sm_75", "-o", "plain.ptx", source.to_str().expect("a plain path")]);
    let ptxas = Path::new(said(warpline_cc(), &["--warpline-toolkit"]).trim()).join("bin/ptxas");
    let models = [("rtx2080ti", "sm_75", 37), ("a100", "sm_80", 32), ("rtx3090", "sm_86", 36)];
    let counts = models.map(|(_, architecture, known)| {
        let text = said(&ptxas, &["-v", "-arch", architecture, "plain.ptx", "-o", "plain.cubin"]);
        let used = text.split("Used ").nth(1).and_then(|rest| rest.split(' ').next()).and_then(|n| n.parse().ok());
        let used: u64 = used.unwrap_or_else(|| panic!("{text}"));
        if said(&ptxas, &["--version"]).contains("V13.0.88") {
            assert_eq!(used, known, "{architecture}");
        }
        used
    });
    let flags = ["-O3", "-lineinfo", "-arch=sm_75"].map(str::to_owned);
    let program = build(&[source], &flags, &folder);
    let mut command = Command::new(warpline());
    command.args(["run", "--gpu", "rtx2080ti", "--trace", "kept.wltrace", "-o", "profile.wlprof", "--"]).arg(&program);
    let outcome = run(command.arg("64"), &folder, "profiled");
    assert!(outcome.status.success(), "{}", outcome.describe());
    let launch = || {
        let report = report(&folder);
        let launch = &report["kernels"][0]["launches"][0];
        let number = |key: &str| launch[key].as_u64();
        let about = |key: &str| report["run"]["assumptions"][key].as_str().unwrap_or_default().to_owned();
        ((number("registers"), number("resident_blocks")), about("occupancy"), about("registers"))
    };
    for (index, (model, architecture, _)) in models.into_iter().enumerate() {
        if index > 0 {
            said(warpline(), &["sim", "kept.wltrace", "--gpu", model, "-o", "profile.wlprof"]);
        }
        let ((registers, _), occupancy, text) = launch();
        assert_eq!((registers, occupancy.as_str()), (Some(counts[index]), "ptxas"), "{model}");
        assert_eq!(text, format!("as built for {architecture}"));
    }
    // No ptxas makes code for a K40c.
    said(warpline(), &["sim", "kept.wltrace", "--gpu", "k40c", "-o", "profile.wlprof"]);
    let (_, occupancy, text) = launch();
    assert!(occupancy == "assumed" && text.contains("the nearest to sm_35"), "{occupancy} {text}");
    said(warpline(), &["sim", "kept.wltrace", "--registers", "128", "-o", "profile.wlprof"]);
    assert_eq!(launch(), ((Some(128), Some(2)), "stated".into(), "stated: 128 per thread".into()));
    let run_stated =
        ["run", "--occupancy", "3", "-o", "profile.wlprof", "--", program.to_str().expect("a plain path"), "64"];
    said(warpline(), &run_stated);
    let ((registers, blocks), occupancy, _) = launch();
    assert_eq!((registers, blocks, occupancy.as_str()), (Some(counts[0]), Some(3), "stated"));
}

/// L1 has the size that the program prefers, and Kepler's holds global loads only if the program was compiled for that.
#[test]
fn l1_follows_what_the_program_prefers() {
    let folder = work_folder("cache_preference_models");
    let hits = |executable: &Path, model: &str| {
        let (_, report) = trace_and_profile(executable, &["--gpu", model], &[], &folder);
        let kernels = report["kernels"].as_array().expect("kernels");
        kernels
            .iter()
            .map(|kernel| kernel["metrics"]["global"]["l1"]["load_hits"].as_u64().unwrap_or(0))
            .collect::<Vec<_>>()
    };
    let flags = |more: &[&str]| ["-O2"].iter().chain(more).map(|flag| (*flag).to_owned()).collect::<Vec<_>>();
    let program = build(&sources_of("cache_preference"), &flags(&[]), &folder);
    // Three of the four rounds hit in 48 KiB, few loads in 16; Fermi has no even division.
    let fermi = hits(&program, "gtx480");
    assert!(fermi[1] == 600 && fermi[0] < 300 && [fermi[2], fermi[3]] == [fermi[0]; 2], "{fermi:?}");
    // 120 KiB, or 24 where shared memory takes 96 of them. A request has four sectors.
    let volta = hits(&program, "v100");
    assert!([volta[0], volta[1], volta[3]] == [2400; 3] && volta[2] < 2400, "{volta:?}");
    assert_eq!(hits(&program, "k40c"), [0; 4]);
    let program = build(&sources_of("cache_preference"), &flags(&["-Xptxas", "-dlcm=ca"]), &folder);
    let kepler = hits(&program, "k40c");
    assert!([kepler[1], kepler[3]] == [2400; 2] && kepler[0] < 1200 && kepler[2] == kepler[0], "{kepler:?}");
    let program = build(&sources_of("cache_preference"), &flags(&["-Xptxas", "-dlcm=cg"]), &folder);
    assert_eq!(hits(&program, "v100"), [0; 4]);
}

/// Lanes come together again behind loops in which they retry or wait for each other: what they load afterwards is loaded once
/// for all of them, with `__syncwarp` behind the loop and without. Only where they waited in vain the profile says so.
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

/// DELTA's pointer chases (Zhang and Shcherbakov, MEMSYS 2020) through the whole tool: misses of the loads at L1 and 2, as
/// their closed forms have them. Sizes and strides are in integers of 4 bytes.
#[test]
fn pointer_chases_miss_as_their_closed_forms_say() {
    const K: u64 = 1024;
    let folder = work_folder("pointer_chases");
    let executable = build(&sources_of("chase"), &["-O2".to_owned()], &folder);
    let misses = |model: &str, chase: [u64; 4]| {
        let mut command = Command::new(warpline());
        command.args(["run", "--gpu", model, "--l2-copies", "cold", "-o"]).arg(folder.join("profile.wlprof"));
        command.arg("--").arg(&executable).args(chase.map(|number| number.to_string()));
        let outcome = run(&mut command, &folder, "profiled");
        assert!(outcome.status.success(), "{model} {chase:?}: {}", outcome.describe());
        let report = report(&folder);
        // The compiler unrolls the loop: the load has several sites.
        let sites = report["sites"].as_array().into_iter().flatten();
        let loads: Vec<&Value> = sites.filter(|site| site["op"] == "load").map(|site| &site["metrics"]).collect();
        let sum = |of: &dyn Fn(&Value) -> Option<u64>| -> u64 { loads.iter().filter_map(|load| of(load)).sum() };
        let level = |name: &str| {
            let count = |what: &str| sum(&|load| load[name][what].as_u64());
            count("load_lookups") - count("load_hits")
        };
        assert_eq!(sum(&|load| load["requests"].as_u64()), chase[2], "{model} {chase:?}");
        [level("l1"), level("l2")]
    };
    for model in ["vega10", "vega20"] {
        // Lines of 64 bytes, 16 KiB of L1 in four sets, 4 MiB of L2.
        for s in [1, 16, 64] {
            let first = 64 / s.max(16);
            assert_eq!(misses(model, [64, s, 8 * K, 0]), [first, first], "{model}: all hits at L1, stride {s}");
        }
        let (n, m) = (64 * K, 64 * K);
        for s in [1, 4, 16, 256] {
            let l1 = if s < 16 { m * s / 16 } else { m };
            let l2 = n / s.max(16);
            assert_eq!(misses(model, [n, s, m, 0]), [l1, l2], "{model}: misses L1, stride {s}");
        }
        let n = 2048 * K;
        assert_eq!(misses(model, [n, 16, 2 * n / 16, 0]), [n / 8, n / 8], "{model}: misses both levels");
    }
    // Sectors of 32 bytes; three quarters of L1 are walked three times. What goes past it looks nothing up there.
    for (model, n) in [("v100", 20 * K), ("rtx2080ti", 10 * K), ("a100", 20 * K)] {
        for s in [1, 8, 64] {
            let first = n / s.max(8);
            assert_eq!(misses(model, [n, s, 3 * n / s, 0]), [first, first], "{model}: fits L1, stride {s}");
        }
        let n = 256 * K;
        assert_eq!(misses(model, [n, 8, 2 * n / 8, 1]), [0, n / 8], "{model}: past L1, within L2");
    }
}

/// The chases of `warpline validate`, on two models.
#[test]
fn simulated_caches_miss_as_their_closed_forms_say() {
    let folder = work_folder("validate");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/validate/chases.cu");
    let program = build(&[source], &["-O2".to_owned()], &folder);
    for model in ["v100", "rtx2080ti"] {
        let mut command = Command::new(warpline());
        command.args(["validate", "--gpu", model, "--format", "json", "--program"]).arg(&program);
        let outcome = run(&mut command, &folder, "validated");
        assert!(outcome.status.success(), "{model}: {}", outcome.describe());
        let document: Value = serde_json::from_str(&outcome.stdout).expect("a JSON document");
        let cases = document["cases"].as_array().expect("cases");
        assert!(cases.len() > 10, "{model}");
        for case in cases {
            for level in ["l1", "l2"] {
                let of = &case[level];
                assert!(of["closed_form"].is_null() || of["closed_form"] == of["simulated"], "{model}: {case}");
            }
        }
    }
}

/// Figures of caches and of reuse, which follow the order of turns, and what says where turns end, taken out.
fn without_order(value: &mut Value) {
    match value {
        Value::Object(members) => {
            // Ratios have names such as `global.reuse.line.mean`.
            let ordered = ["l1", "l2", "dram", "reuse", "environment", "estimate", "bundles"];
            members.retain(|name, _| !name.split('.').any(|part| ordered.contains(&part)));
            members.values_mut().for_each(without_order);
        }
        Value::Array(elements) => elements.iter_mut().for_each(without_order),
        _ => {}
    }
}

/// Accesses that share a record are counted as by records of their own, also where some lanes may not do them.
#[test]
fn bundles_count_as_their_accesses() {
    let folder = work_folder("bundles_count");
    for (source, arguments) in [
        ("tests/programs/bundles.cu", &[][..]),
        ("tests/programs/bundles.cu", &["stray"]),
        ("examples/matmul/matmul.cu", &[]),
        ("examples/kmeans/kmeans.cu", &[]),
    ] {
        let reports = [&["-O2"][..], &["-O2", "--warpline-no-bundles"]].map(|flags| {
            let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
            let executable = build(&[root().join(source)], &flags, &folder);
            let mut command = Command::new(warpline());
            command.args(["run", "--check", "report", "-o"]).arg(folder.join("profile.wlprof")).arg("--");
            let outcome = run(command.arg(&executable).args(arguments), &folder, "profiled");
            assert!(outcome.status.success(), "{source} {arguments:?}: {}", outcome.describe());
            let mut report = report(&folder);
            without_order(&mut report);
            (report, outcome.stderr)
        });
        assert!(reports[0] == reports[1], "{source} {arguments:?}: bundles change the profile");
    }
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

#[test]
fn every_example_has_a_test() {
    let expected = expected();
    let entries = expected["examples"].as_array().expect("a list of examples");
    assert_eq!(entries.len(), EXAMPLES.len());
    let mut built = BTreeSet::new();
    for (entry, (test, index)) in entries.iter().zip(EXAMPLES) {
        assert_eq!(entries.get(*index), Some(entry), "{test} has another entry's number");
        let source = entry["sources"][0].as_str().expect("a source");
        let name = source.split('/').next().expect("a folder");
        assert!(test.starts_with(name), "{test} builds {source}");
        built.insert(name.to_owned());
    }
    let folders = std::fs::read_dir(root().join("examples")).expect("examples can be read");
    let there: BTreeSet<String> = folders
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok())
        // `tests/commands/cases.rs` follows the pages of `docs/cases` and `docs/tutorials`.
        .filter(|name| !matches!(&name[..], "common" | "cases" | "triton" | "tutorial"))
        .collect();
    assert_eq!(there, built);
}
