//! Triton's kernels on the CPU device, with the Triton of its wheels: `tests/triton/` holds kernels and tests in
//! Python, which run here with each version that `scripts/setup.sh --tests` fetches.

mod support_programs;

use std::path::PathBuf;
use std::process::Command;
use support_programs::{root, warpline, warpline_cc};

/// What is tested in full, and the oldest that is supported.
const NEWEST: &str = "3.9.0";
const OLDEST: &str = "3.6.0";

/// Where `scripts/setup.sh` puts a version.
fn wheels(version: &str) -> PathBuf {
    fetched(&format!("triton-{version}"))
}

fn fetched(name: &str) -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").expect("HOME is set")).join(".cache");
    let folder = cache.unwrap_or_else(home).join("warpline").join(name);
    assert!(folder.is_dir(), "{} is missing: run scripts/setup.sh --tests", folder.display());
    folder
}

/// Runs a module of tests.
fn python(version: &str, module: &str) {
    let binaries = warpline_cc().parent().expect("a binary lies in a folder");
    assert_eq!(warpline().parent(), Some(binaries), "warpline and warpline-cc lie in one folder");
    // Polars is among what reads datasets; it comes last, for NumPy and pandas are the version's own.
    let folders = [root().join("python"), wheels(version), fetched("dataset-wheels")];
    let search = std::env::join_paths(folders).expect("paths without colons");
    let kept = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("triton");
    let output = Command::new("python3")
        .args(["-W", "ignore", "-m", "unittest", module])
        .current_dir(root().join("tests/triton"))
        .env("PYTHONPATH", search)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("WARPLINE_BIN", binaries)
        // Compiled kernels are kept: Triton goes by the compiler's size and date.
        .env("TRITON_CACHE_DIR", kept.join(version))
        .env_remove("WARPLINE_RUN")
        .output()
        .expect("python3 starts");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "Triton {version}, {module}:\n{printed}\n{}",
        String::from_utf8_lossy(&output.stdout)
    );
    assert!(printed.contains("\nOK"), "no tests ran: {printed}");
}

#[test]
fn kernels_give_the_results_of_numpy() {
    python(NEWEST, "test_results");
}

#[test]
fn kernels_give_the_results_of_numpy_with_the_oldest_version() {
    python(OLDEST, "test_results");
}

#[test]
fn counts_are_those_of_the_kernels() {
    python(NEWEST, "test_counts");
}

#[test]
fn numbers_of_eight_bits_are_those_of_newer_gpus() {
    python(NEWEST, "test_eighths");
}

#[test]
fn the_notebook_gives_the_output_that_stands_in_it() {
    python(NEWEST, "test_notebook");
}

#[test]
fn bad_accesses_are_reported() {
    python(NEWEST, "test_checks");
}

/// Where PyTorch is installed, which `scripts/setup.sh` does not fetch.
#[test]
fn programs_that_ask_for_cuda_are_given_the_cpu() {
    python(NEWEST, "test_torch");
}

#[test]
fn programs_are_profiled_from_the_command_line() {
    python(NEWEST, "test_commands");
}

#[test]
fn launches_do_what_is_predicted() {
    python(NEWEST, "test_predict");
}

#[test]
fn launches_do_what_is_predicted_with_the_oldest_version() {
    python(OLDEST, "test_predict");
}

#[test]
fn sweeps_decide_by_limits_and_modelled_times() {
    python(NEWEST, "test_sweep");
}

#[test]
fn sweeps_of_programs_build_each_set_of_macros_once() {
    python(NEWEST, "test_sweep_programs");
}

/// Kernels of `test_counts.py` in CUDA C++: the figures are those that stand there.
#[test]
fn kernels_in_cuda_with_the_same_addresses_have_the_same_counts() {
    let folder = support_programs::work_folder("same-addresses");
    let flags = ["-O3", "-arch=sm_80"].map(str::to_owned);
    let program = support_programs::build(&[root().join("tests/triton/same_addresses.cu")], &flags, &folder);
    let profile = folder.join("p.wlprof");
    let done = |command: &mut Command| {
        let outcome = support_programs::run(command, &folder, "run");
        assert!(outcome.status.success(), "{}", outcome.describe());
        outcome.stdout
    };
    done(Command::new(warpline()).args(["run", "--gpu", "a100", "-o"]).arg(&profile).arg("--").arg(program));
    let json = done(Command::new(warpline()).arg("report").arg(&profile).args(["--format", "json"]));
    let document: serde_json::Value = serde_json::from_str(&json).expect("the report is JSON");
    let sums = |kernel: usize, op: &str, space: &str, figure: &str| -> u64 {
        let sites = document["sites"].as_array().expect("sites").iter();
        let wanted = sites
            .filter(|site| site["kernel"] == document["kernels"][kernel]["id"])
            .filter(|site| site["op"] == op && site["space"] == space);
        wanted.filter_map(|site| site["metrics"].pointer(figure)?.as_u64()).sum()
    };
    let loads =
        |kernel| ["/requests", "/lanes", "/sectors", "/ideal_sectors"].map(|one| sums(kernel, "load", "global", one));
    assert_eq!(loads(0), [32, 1024, 1024, 32 * 4]);
    assert_eq!(loads(3), [32, 1024, 512, 32 * 4]);
    assert_eq!(loads(4), [16, 320, 192, 16 * 3]);
    assert_eq!(loads(5), [4, 100, 100, 4 * 4]);
    for op in ["load", "store"] {
        let found = ["/requests", "/sectors", "/ideal_sectors"].map(|one| sums(6, op, "global", one));
        assert_eq!(found, [8, 128, 128], "{op}");
    }
    let passes = |kernel| ["store", "load"].map(|op| sums(kernel, op, "shared", "/shared/wavefronts"));
    assert_eq!(passes(1), [32, 8 * 32]);
    assert_eq!(passes(7), [16, 64]);
    let limits = document["kernels"][2]["estimates"][0]["limits"].as_array().expect("limits");
    let products = limits.iter().find(|limit| limit["name"] == "tensor_fp16").expect("products of tensor cores");
    assert_eq!(products["amount"], 32 * 32 * 32);
}

/// Builds the wheel and runs a program in an environment that has it, with nothing else on the search path but a
/// linker.
#[test]
#[ignore = "test-all"]
fn the_wheel_needs_nothing_but_a_linker() {
    let folder = support_programs::work_folder("wheel");
    let done = |command: &mut Command| {
        let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let mut dist = Command::new(root().join("scripts/dist.sh"));
    done(dist.arg(folder.join("dist")).arg("wheel").env_remove("CARGO_TARGET_DIR"));
    let made = std::fs::read_dir(folder.join("dist")).unwrap().map(|entry| entry.unwrap().path());
    let wheel = made.into_iter().find(|path| path.extension().is_some_and(|end| end == "whl")).expect("a wheel");
    let environment = folder.join("environment");
    done(Command::new("python3").args(["-m", "venv"]).arg(&environment));
    let bin = environment.join("bin");
    done(Command::new(bin.join("pip")).args(["install", "--quiet", "--no-deps", "--no-index"]).arg(&wheel));
    let programs = folder.join("programs");
    std::fs::create_dir_all(&programs).unwrap();
    let linker = done(Command::new("sh").args(["-c", "command -v ld"]));
    std::os::unix::fs::symlink(linker.trim(), programs.join("ld")).unwrap();
    let script = folder.join("script.py");
    let text = "import kernels, numpy as np\nx, out = np.ones(100, 'f4'), np.zeros(100, 'f4')\n\
                kernels.vector_add[(1,)](x, x, out, 100, BLOCK=128)\nprint(out.sum())\n";
    std::fs::write(&script, text).unwrap();
    let search = std::env::join_paths([root().join("tests/triton"), wheels(NEWEST)]).unwrap();
    let profile = folder.join("p.wlprof");
    let mut run = Command::new(bin.join("warpline"));
    run.args(["run", "-o"]).arg(&profile).arg("--").arg(bin.join("python")).arg(&script);
    run.env_clear().env("HOME", &folder).env("PYTHONPATH", search).env("PATH", &programs);
    assert_eq!(done(&mut run), "200.0\n");
    let report =
        done(Command::new(bin.join("warpline")).arg("report").arg(&profile).env_clear().env("PATH", &programs));
    assert!(report.contains("vector_add[BLOCK=128]"), "{report}");
}
