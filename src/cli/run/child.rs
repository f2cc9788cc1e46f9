//! The program as a child process.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;

use warpline_format::options::{DEVICE_VARIABLE, Options, VARIABLE};
use warpline_format::rounding::Results;
use warpline_format::run_time::COMPILER_VARIABLE;
use warpline_toolchain::programs::companion;

use super::plan::Plan;
use super::signals::{self, Forwarding};
use crate::cli::Failure;
use crate::cli::cc::COMPILER;
use crate::exit_code;

/// How the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// With an exit code.
    Exit(u8),
    /// By a signal.
    Signal(i32),
}

/// The end of the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) how: Ended,
    /// Wall-clock seconds of the program.
    pub(super) seconds: f64,
}

impl End {
    pub(super) fn code(&self) -> u8 {
        match self.how {
            Ended::Exit(code) => code,
            Ended::Signal(signal) => exit_code::RUN_SIGNAL.wrapping_add(signal as u8),
        }
    }
}

/// The running program.
pub(super) struct Child {
    id: u32,
    ended: Arc<AtomicBool>,
    waiter: Option<JoinHandle<std::io::Result<(ExitStatus, f64)>>>,
    _signals: Forwarding,
}

impl Child {
    /// Starts the program with the descriptors of the ring and of the socket for stops. Signals to this process are
    /// forwarded to it.
    pub(super) fn start(
        plan: &Plan,
        descriptor: i32,
        further: Option<String>,
        stops: Option<i32>,
        results: Results,
    ) -> Result<Child, Failure> {
        let options = Options { results, ..plan.options(descriptor, further, stops) };
        Child::spawn(plan, command(plan, &options))
    }

    /// Runs the program without a trace and without rounding, and keeps its results in a file. Its output is discarded.
    pub(super) fn run_reference(plan: &Plan, results: String) -> Result<End, Failure> {
        let mut command = command(plan, &plan.options_of_reference(results));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Child::spawn(plan, command)?.wait()
    }

    fn spawn(plan: &Plan, mut command: Command) -> Result<Child, Failure> {
        let forwarding = Forwarding::install();
        let started = Instant::now();
        let mut child = command.spawn().map_err(|error| cannot_start(&plan.program, &error))?;
        let id = child.id();
        forwarding.to(id);
        let ended = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&ended);
        let waiter = std::thread::spawn(move || {
            let status = child.wait();
            signals::to_no_one();
            let seconds = started.elapsed().as_secs_f64();
            flag.store(true, Ordering::Release);
            status.map(|status| (status, seconds))
        });
        Ok(Child { id, ended, waiter: Some(waiter), _signals: forwarding })
    }

    /// Returns the process id.
    pub(super) fn id(&self) -> u32 {
        self.id
    }

    /// Returns a flag that is set when the program has ended.
    pub(super) fn ended_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.ended)
    }

    /// Waits until the program ends.
    pub(super) fn wait(&mut self) -> Result<End, Failure> {
        let lost = |error: &dyn std::fmt::Display| {
            Failure::new(exit_code::RUN_NOT_PROFILED, format!("cannot wait for the program: {error}"))
        };
        let waiter = self.waiter.take().ok_or_else(|| lost(&"it was waited for already"))?;
        let (status, seconds) = match waiter.join() {
            Ok(result) => result.map_err(|error| lost(&error))?,
            Err(_) => return Err(lost(&"the waiting thread failed")),
        };
        let how = match (status.code(), status.signal()) {
            (Some(code), _) => Ended::Exit(code as u8),
            (None, Some(signal)) => Ended::Signal(signal),
            (None, None) => return Err(lost(&"it has no exit status")),
        };
        Ok(End { how, seconds })
    }
}

/// Returns the command that starts the program.
fn command(plan: &Plan, options: &Options) -> Command {
    let mut command = Command::new(&plan.program);
    command.args(&plan.arguments).env(VARIABLE, options.encode());
    // Without this variable, a program with code for both devices would select the device.
    command.env(DEVICE_VARIABLE, plan.device);
    // Code that the program compiles at run time is compiled by this release, which need not be on the search path.
    if std::env::var_os(COMPILER_VARIABLE).is_none()
        && let Some(compiler) = companion(COMPILER)
    {
        command.env(COMPILER_VARIABLE, compiler);
    }
    command
}

/// Returns the failure with the exit code that shells use: 127 if the program does not exist, 126 if it cannot be
/// executed.
fn cannot_start(program: &OsStr, error: &std::io::Error) -> Failure {
    let name = program.to_string_lossy();
    if error.kind() == ErrorKind::NotFound && !(name.contains('/') && Path::new(program).exists()) {
        let hint = if !name.contains('/') && Path::new(program).exists() {
            format!("; did you mean ./{name}?")
        } else {
            String::new()
        };
        return Failure::new(exit_code::RUN_NOT_FOUND, format!("{name}: no such program{hint}"));
    }
    Failure::new(exit_code::RUN_NOT_EXECUTABLE, format!("{name}: cannot be executed: {error}"))
}
