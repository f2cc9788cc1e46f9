//! The program of the pointer chases: builds it, times it on a GPU, and counts it with Nsight Compute.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use warpline_toolchain::interrupt::{self, Removal};

use crate::cli::args::{DeviceChoice, ValidateArguments};
use crate::cli::{Failure, cc};
use crate::exit_code;
use crate::validate::{Chase, KernelCounters, METRICS, PROGRAM, plan_text, read_counters, read_cycles};

/// The executable, and the folder for its plans and results.
pub(super) struct Chases {
    executable: PathBuf,
    folder: TempDir,
    _removal: Removal,
}

impl Chases {
    /// Builds the program, or uses the given executable.
    pub(super) fn new(arguments: &ValidateArguments) -> Result<Chases, Failure> {
        let unexpected =
            |what: &str, error: std::io::Error| Failure::new(exit_code::UNEXPECTED, format!("{what}: {error}"));
        let folder = tempfile::Builder::new()
            .prefix("warpline-validate-")
            .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .tempdir();
        let folder = folder.map_err(|error| unexpected("no temporary folder", error))?;
        let removal = interrupt::removes(folder.path());
        if let Some(program) = &arguments.program {
            let executable = std::path::absolute(program).map_err(|error| unexpected("no working folder", error))?;
            return Ok(Chases { executable, folder, _removal: removal });
        }
        let source = folder.path().join("chases.cu");
        std::fs::write(&source, PROGRAM).map_err(|error| unexpected("cannot write the program's source", error))?;
        let executable = folder.path().join("chases");
        let mut compiler = Command::new(cc::compiler());
        compiler.args(["-O2", "-std=c++17"]);
        if arguments.device == DeviceChoice::Gpu {
            compiler.args(["--device=gpu", "-arch=native"]);
        }
        let status = compiler.arg(&source).arg("-o").arg(&executable).status().map_err(|error| cc::missing(&error))?;
        if status.success() {
            Ok(Chases { executable, folder, _removal: removal })
        } else {
            Err(Failure::new(
                exit_code::TOOLCHAIN,
                "the program of the pointer chases could not be compiled, see above",
            ))
        }
    }

    /// Returns the command line that runs these chases, and the file for the cycles.
    pub(super) fn command<'a>(
        &self,
        plan: impl IntoIterator<Item = &'a Chase>,
    ) -> Result<(Vec<OsString>, PathBuf), Failure> {
        let (plan_file, result) = (self.folder.path().join("plan"), self.folder.path().join("result"));
        std::fs::write(&plan_file, plan_text(plan))
            .map_err(|error| Failure::new(exit_code::UNEXPECTED, format!("{}: {error}", plan_file.display())))?;
        let words = [&self.executable, &plan_file, &result].map(|path| path.clone().into_os_string());
        Ok((words.to_vec(), result))
    }

    /// Returns the path for a profile of the program.
    pub(super) fn profile(&self) -> PathBuf {
        self.folder.path().join("chases.wlprof")
    }

    /// Returns the cycles of the timed loads of each chase, measured on the GPU without hooks.
    pub(super) fn time(&self, plan: &[Chase]) -> Result<Vec<u64>, Failure> {
        let (words, result) = self.command(plan)?;
        let status = without_hooks(&words[0]).args(&words[1..]).status();
        let failed = |what: String| Failure::new(exit_code::RUN_NOT_PROFILED, format!("the chases on the GPU: {what}"));
        let status = status.map_err(|error| failed(error.to_string()))?;
        if !status.success() {
            return Err(failed(format!("{status}, see above")));
        }
        let text = std::fs::read_to_string(&result).map_err(|error| failed(error.to_string()))?;
        read_cycles(&text, plan.len()).map_err(|error| failed(error.to_string()))
    }

    /// Returns the counters of each chase, with empty caches at its start; or the reason if `ncu` does not provide
    /// them.
    pub(super) fn count(&self, plan: &[Chase]) -> Result<Vec<KernelCounters>, String> {
        let (words, _) = self.command(plan).map_err(|failure| failure.message)?;
        let mut command = without_hooks("ncu".as_ref());
        command.args(["--csv", "--cache-control", "all", "--metrics", &METRICS.join(",")]).args(&words);
        let output = command.stdin(Stdio::null()).output().map_err(|error| format!("ncu: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let counters = read_counters(&text).map_err(|error| {
            let line_of_error = text.lines().find(|line| line.contains("ERR")).unwrap_or_default();
            format!("ncu: {error} {line_of_error}")
        })?;
        let of_chases: Vec<KernelCounters> =
            counters.into_iter().filter(|launch| launch.kernel.contains("chase")).collect();
        if of_chases.len() == plan.len() {
            Ok(of_chases)
        } else {
            Err(format!("ncu counted {} launches of {}", of_chases.len(), plan.len()))
        }
    }
}

fn without_hooks(program: &std::ffi::OsStr) -> Command {
    let mut command = Command::new(Path::new(program));
    command.env("WARPLINE", "0").env(warpline_format::options::DEVICE_VARIABLE, "gpu");
    command
}
