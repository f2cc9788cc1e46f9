//! Compares the speed of the CPU device with plain C++ code of the same algorithm, for the programs of
//! `benches/device`. Run it with `cargo build --release && cargo bench --bench device`, optionally followed by `--` and
//! names of programs.
//!
//! For each program, the shortest processor time of several rounds counts: of plain C++ (clang, one thread), of the
//! lowered code without hooks, and with records that go to a file in memory. For `warpline run` with every analysis, it
//! is the processor time of all its processes, divided by the number of rounds. It prints the ratios that have limits:
//! native within 5 times of plain, with records within 2.5 times of native, analysed within 50 times of plain. If an
//! OpenCL runtime is installed (Debian: pocl-opencl-icd, ocl-icd-opencl-dev), the same kernels also run there, on one
//! thread; the limit is three times its speed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The programs, with the number of rounds of the slow measurements.
const PROGRAMS: [(&str, u32); 8] = [
    ("saxpy", 5),
    ("matmul", 2),
    ("transpose", 3),
    ("stencil", 3),
    ("spmv", 2),
    ("histogram", 3),
    ("nbody", 3),
    ("reduce", 5),
];
/// The number of rounds of the fast measurements.
const FAST_ROUNDS: u32 = 15;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut bench = Bench { sources: root.join("benches/device"), tools: tools(root), folder: folder(), opencl: None };
    bench.opencl = bench.build_opencl().ok();
    println!(
        "{:10} {:>9} {:>9} {:>9} {:>7} {:>9} {:>7} {:>9} {:>7} {:>10} {:>7} {:>8}",
        "program",
        "OpenCL s",
        "plain s",
        "native s",
        "/plain",
        "records s",
        "/native",
        "run s",
        "/plain",
        "requests",
        "ns each",
        "build s"
    );
    for (program, rounds) in PROGRAMS {
        let chosen = wanted.is_empty() || wanted.iter().any(|one| one == program);
        if chosen && let Err(cause) = bench.measure(program, rounds) {
            eprintln!("{program}: {cause}");
            std::process::exit(1);
        }
    }
    let _ = std::fs::remove_dir_all(&bench.folder);
}

/// Returns the folder of `warpline` and `warpline-cc` in the release build.
fn tools(root: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    target.join("release")
}

/// Returns a folder in memory if there is one, so that the speed of a disk does not affect traces.
fn folder() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let base = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    base.join(format!("warpline-bench-{}", std::process::id()))
}

struct Bench {
    sources: PathBuf,
    tools: PathBuf,
    folder: PathBuf,
    /// The OpenCL program, if it could be built.
    opencl: Option<PathBuf>,
}

/// The programs that `opencl.cpp` also contains.
const OPENCL: [&str; 6] = ["saxpy", "matmul", "transpose", "stencil", "spmv", "nbody"];

/// The output of a program.
struct Printed {
    seconds: f64,
    checksum: f64,
}

impl Bench {
    fn build_opencl(&self) -> Result<PathBuf, String> {
        std::fs::create_dir_all(&self.folder).map_err(|error| format!("{}: {error}", self.folder.display()))?;
        let program = self.folder.join("opencl");
        let mut build = Command::new(clang());
        build.args(["-O2", "-std=c++17"]).arg(self.sources.join("opencl.cpp")).args(["-lOpenCL", "-o"]).arg(&program);
        output(&mut build)?;
        Ok(program)
    }

    fn measure(&self, program: &str, rounds: u32) -> Result<(), String> {
        let source = self.sources.join(format!("{program}.cu"));
        let (cuda, plain) = (self.folder.join(program), self.folder.join(format!("{program}.plain")));
        let mut host = Command::new(clang());
        host.args(["-O3", "-march=native", "-ffast-math", "-x", "c++"]).arg(&source).arg("-o").arg(&plain);
        output(&mut host)?;
        let started = std::time::Instant::now();
        let mut device = Command::new(self.tools.join("warpline-cc"));
        device.args(["-O3", "-arch=sm_75"]).arg(&source).arg("-o").arg(&cuda);
        output(&mut device)?;
        let build = started.elapsed().as_secs_f64();

        let reference = self.run(Command::new(&plain).arg(FAST_ROUNDS.to_string()))?;
        let opencl = match &self.opencl {
            Some(opencl) if OPENCL.contains(&program) => {
                let mut command = Command::new(opencl);
                command.arg(program).arg(FAST_ROUNDS.to_string()).env("POCL_MAX_PTHREAD_COUNT", "1");
                format!("{:.5}", self.run(&mut command)?.seconds)
            }
            _ => "-".to_owned(),
        };
        let native = self.run(Command::new(&cuda).arg(FAST_ROUNDS.to_string()).env("WARPLINE", "0"))?;
        let records = self.run(Command::new(&cuda).arg(rounds.to_string()))?;
        let profile = self.folder.join("bench.wlprof");
        let mut analysed = Command::new(self.tools.join("warpline"));
        analysed.arg("run").arg("-o").arg(&profile).arg("--").arg(&cuda).arg(rounds.to_string());
        let before = children_seconds();
        let run = self.run(&mut analysed)?;
        let run_seconds = (children_seconds() - before) / f64::from(rounds);
        // In some programs, results accumulate over the rounds, so only runs with the same number of rounds can be
        // compared.
        for (name, got, want) in [("native", &native, &reference), ("run", &run, &records)] {
            if (got.checksum - want.checksum).abs() > 1e-3 * want.checksum.abs() {
                return Err(format!("{name}: checksum {} instead of {}", got.checksum, want.checksum));
            }
        }
        let requests = self.requests(&profile)? / u64::from(rounds);
        println!(
            "{program:10} {opencl:>9} {:9.5} {:9.5} {:7.2} {:9.5} {:7.2} {:9.5} {:7.1} {requests:10} {:7.0} {build:8.2}",
            reference.seconds,
            native.seconds,
            native.seconds / reference.seconds,
            records.seconds,
            records.seconds / native.seconds,
            run_seconds,
            run_seconds / reference.seconds,
            run_seconds * 1e9 / requests as f64,
        );
        Ok(())
    }

    /// Runs a program in the folder and reads the two numbers that it prints.
    fn run(&self, command: &mut Command) -> Result<Printed, String> {
        let text = output(command.current_dir(&self.folder))?;
        self.drop_traces();
        let figure = |name: &str| {
            text.lines()
                .find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok())
                .ok_or_else(|| format!("{command:?} printed no {name}"))
        };
        Ok(Printed { seconds: figure("seconds")?, checksum: figure("checksum")? })
    }

    /// Returns the number of requests of all launches in a profile.
    fn requests(&self, profile: &Path) -> Result<u64, String> {
        let mut report = Command::new(self.tools.join("warpline"));
        report.arg("report").arg(profile).args(["--format", "json"]);
        let report: serde_json::Value =
            serde_json::from_str(&output(&mut report)?).map_err(|error| error.to_string())?;
        let kernels = report["kernels"].as_array().cloned().unwrap_or_default();
        let spaces =
            kernels.iter().filter_map(|kernel| kernel["metrics"].as_object()).flat_map(|spaces| spaces.values());
        Ok(spaces.filter_map(|space| space["requests"].as_u64()).sum::<u64>().max(1))
    }

    fn drop_traces(&self) {
        for entry in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            if entry.path().extension().is_some_and(|extension| extension == "wltrace") {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

/// Processor time of the finished processes that this one started, and of those that they waited for.
fn children_seconds() -> f64 {
    // SAFETY: all fields are numbers, for which zero is valid; the call writes one structure.
    let used = unsafe {
        let mut used = std::mem::zeroed::<libc::rusage>();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut used);
        used
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    seconds(used.ru_utime) + seconds(used.ru_stime)
}

fn clang() -> String {
    std::env::var("WARPLINE_CLANG").unwrap_or_else(|_| "clang++-22".to_owned())
}

fn output(command: &mut Command) -> Result<String, String> {
    let done = command.stderr(Stdio::piped()).output().map_err(|error| format!("{command:?}: {error}"))?;
    if !done.status.success() {
        return Err(format!("{command:?}: {}\n{}", done.status, String::from_utf8_lossy(&done.stderr)));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}
