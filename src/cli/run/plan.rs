//! The validated arguments of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use warpline_format::budget::Budget;
use warpline_format::occupancy::architecture;
use warpline_format::operation::RecordedKinds;
use warpline_format::options::{Check, EMULATED, FloatCheck, Mode, Options, Output};
use warpline_format::rounding::{Results, WhatIfType};
use warpline_format::stop::StopAt;
use warpline_toolchain::gpu;

use super::ranked::own_file;
use super::{rounded, stops};
use crate::cli::args::{
    CheckChoice, DeviceChoice, FloatChoice, HostAllocationChoice, ModeChoice, RunArguments, TraceValuesChoice,
    ValuesChoice,
};
use crate::cli::models::chosen::{Chosen, bound_memory, choose};
use crate::cli::models::default_model;
use crate::cli::{Failure, labels, quantities};
use crate::exit_code;
use warpline_analyzer::trace::{DEFAULT_LEVEL, Packing};
use warpline_profile::ranks::{self, RankEnvironment};
use warpline_simulator::models;

/// The program to run, and all settings of the run.
pub(in crate::cli) struct Plan {
    pub(super) program: OsString,
    pub(super) arguments: Vec<OsString>,
    /// File of the profile.
    pub(in crate::cli) output: PathBuf,
    pub(super) trace: Option<PathBuf>,
    /// Compression and splitting of the trace, if requested.
    pub(super) packing: Option<Packing>,
    /// Rank of this process in its job.
    pub(super) rank: RankEnvironment,
    pub(super) threads: u32,
    /// The model whose order the run uses.
    pub(super) model: Chosen,
    /// Further models, simulated from the trace after the run.
    pub(super) others: Vec<Chosen>,
    /// Device that runs the kernels, as a value of `WARPLINE_DEVICE`.
    pub(super) device: &'static str,
    /// A GPU that could run the kernels, if the user chose no device.
    pub(in crate::cli) unused_gpu: Option<String>,
    /// Whether further processes are also profiled.
    pub(super) children: bool,
    /// Whether memory that is never freed is reported.
    pub(super) check_leaks: bool,
    /// Whether results are compared with a run without rounding.
    pub(super) compares_results: bool,
    /// Number of stops that are shown without a prompt.
    pub(super) stop_count: Option<u64>,
    /// Labels of the profile.
    pub(super) labels: BTreeMap<String, String>,
    options: Options,
}

impl Plan {
    /// Validates the arguments.
    pub(in crate::cli) fn new(arguments: &RunArguments) -> Result<Plan, Failure> {
        let default = || {
            let program = arguments.program.first().map(OsString::as_os_str).unwrap_or_default();
            default_model::of_program(program, arguments.device() == DeviceChoice::Gpu)
        };
        let mut models = choose(arguments.gpu.as_deref(), default, &arguments.state)?;
        let threads = arguments.threads.unwrap_or_else(quantities::default_threads);
        bound_memory(&mut models.iter_mut().collect::<Vec<_>>(), arguments.state.memory.as_deref(), threads)?;
        let mut others = models.split_off(1);
        let Some(model) = models.pop() else { return Err(usage("which GPU model?".to_owned())) };
        let rounded = rounded::parse(&arguments.what_if_type)?;
        others.extend(rounded::smaller(&model, &rounded));
        if let Some(refusal) = refusal(arguments) {
            return Err(usage(refusal.to_owned()));
        }
        let options = runtime_options(arguments, &model, &others, rounded)?;
        let rank = ranks::of_environment(|name| std::env::var(name).ok(), hostname().as_deref());
        let (program, rest) =
            arguments.program.split_first().ok_or_else(|| usage("which program is to be run?".to_owned()))?;
        Ok(Plan {
            program: program.clone(),
            arguments: rest.to_vec(),
            output: own_file(arguments.output.as_deref(), || default_output(program), rank.rank.as_ref(), "wlprof")?,
            trace: match &arguments.trace {
                Some(path) => Some(own_file(Some(path), PathBuf::new, rank.rank.as_ref(), "wltrace")?),
                None => None,
            },
            rank,
            packing: packing(arguments)?,
            threads,
            device: match arguments.device() {
                DeviceChoice::Cpu => "cpu",
                DeviceChoice::Gpu => "gpu",
                DeviceChoice::GpuEmulated => EMULATED,
            },
            unused_gpu: arguments.device.is_none().then(|| gpu::names().into_iter().next()).flatten(),
            children: arguments.children,
            check_leaks: arguments.check_leaks,
            compares_results: arguments.what_if_results,
            stop_count: arguments.stops.stop_count,
            labels: labels::parse(&arguments.label)?,
            options,
            model,
            others,
        })
    }

    /// Returns the runtime options for a program. `descriptor` is that of its ring, `further` the folder for traces of
    /// further processes, and `stops` the socket over which it reports stops.
    pub(super) fn options(&self, descriptor: i32, further: Option<String>, stops: Option<i32>) -> Options {
        let stop_at = self.options.stop_at.clone().zip(stops);
        Options {
            output: Output::Ring { descriptor, further },
            stop_at: stop_at.map(|(wanted, descriptor)| StopAt { descriptor, ..wanted }),
            ..self.options.clone()
        }
    }

    /// Returns the runtime options for a run without a trace and without rounding, whose results are kept in a file.
    pub(super) fn options_of_reference(&self, results: String) -> Options {
        Options {
            device: self.options.device.clone(),
            check: self.options.check,
            interleave: self.options.interleave,
            results: Results::Kept(results),
            ..Options::default()
        }
    }

    /// Returns the program and its arguments, as typed.
    pub(super) fn program_and_arguments(&self) -> Vec<String> {
        std::iter::once(&self.program).chain(&self.arguments).map(|word| word.to_string_lossy().into_owned()).collect()
    }

    /// Returns the accesses at which the program stops.
    pub(super) fn stop_at(&self) -> Option<&StopAt> {
        self.options.stop_at.as_ref()
    }

    /// Returns the runtime options for a program that chooses the location of its traces.
    pub(super) fn encoded(&self) -> String {
        self.options.encode()
    }

    /// Returns whether warps are switched at each access.
    pub(super) fn interleaves(&self) -> bool {
        self.options.interleave
    }

    /// Returns the pattern of `--kernels`.
    pub(super) fn kernels(&self) -> Option<&str> {
        self.options.kernels.as_deref()
    }

    /// Returns the assumptions that `--budget` adds to the profile.
    pub(super) fn assumptions(&self) -> BTreeMap<String, String> {
        let mut assumptions = self.model.assumptions();
        if let Some(Budget { millionths, seed }) = self.options.budget {
            let share = f64::from(millionths) / 1e4;
            assumptions.insert("budget".to_owned(), format!("{share} % of the work, draw {seed}"));
            assumptions.insert("l2_unrecorded_launches".to_owned(), "not simulated".to_owned());
        }
        assumptions.extend(rounded::assumption(self.rounded()).map(|text| ("rounded_elements".to_owned(), text)));
        assumptions
    }

    /// Returns the allocations whose elements are rounded.
    pub(super) fn rounded(&self) -> &[WhatIfType] {
        &self.options.rounded
    }

    /// Returns the note for accesses that are not checked.
    pub(super) fn unchecked(&self) -> Option<String> {
        (self.options.check == Check::Off)
            .then(|| "accesses were not checked (--check off): bad ones are not reported".to_owned())
    }

    /// Returns the first and last numbers of `--launches`; empty if all launches are recorded.
    pub(super) fn launches(&self) -> &[(u64, u64)] {
        &self.options.launches
    }

    /// Creates the folders of a rank's files. A profile that this rank wrote in an earlier job is removed, so that it
    /// is not mistaken for the profile of this run if the run fails.
    fn make_folders(&self) -> Result<(), Failure> {
        if self.rank.rank.is_none() {
            return Ok(());
        }
        let files = [Some(&self.output), self.trace.as_ref()].into_iter().flatten();
        for file in files.filter(|file| ranks::rank_of(file).is_some()) {
            let made = file.parent().map_or(Ok(()), std::fs::create_dir_all);
            let gone = made.and_then(|()| match std::fs::remove_file(file) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            });
            gone.map_err(|error| {
                Failure::new(exit_code::RUN_NOT_PROFILED, format!("{}: cannot write: {error}", file.display()))
            })?;
        }
        Ok(())
    }

    /// Checks before the run, which may be long, whether the profile can be written.
    pub(in crate::cli) fn check_output(&self) -> Result<(), Failure> {
        if let Some(trace) = &self.trace {
            crate::cli::output::refuse_same(trace, &self.output)?;
        }
        if let Some(program) = default_model::found(&self.program) {
            crate::cli::output::refuse_same(&program, &self.output)?;
            self.trace.iter().try_for_each(|trace| crate::cli::output::refuse_same(&program, trace))?;
        }
        self.make_folders()?;
        let problem = if self.output.is_dir() {
            Some(ErrorKind::IsADirectory.into())
        } else if self.output.exists() && !self.output.is_file() {
            None
        } else {
            warpline_profile::probe(&self.output).err()
        };
        match problem {
            None => Ok(()),
            Some(problem) => {
                let advice = other_output(&problem, in_container());
                let message = format!("{}: cannot write the profile: {problem}. {advice}", self.output.display());
                Err(Failure::new(exit_code::RUN_NOT_PROFILED, message))
            }
        }
    }
}

fn usage(message: String) -> Failure {
    Failure::new(exit_code::USAGE, message)
}

/// Returns why these options cannot be used together, if they cannot.
fn refusal(arguments: &RunArguments) -> Option<&'static str> {
    let device = arguments.device();
    let needs_cpu = [
        (arguments.check_init, "--check-init needs --device cpu: a GPU has no shadow of initialised bytes"),
        (arguments.check_host, "--check-host needs --device cpu: a GPU's memory is not in the program's pages"),
        (
            arguments.values.is_some(),
            "--values needs --device cpu: code for a GPU does not show the values of accesses",
        ),
        (
            !arguments.what_if_type.is_empty(),
            "--what-if-type needs --device cpu: code for a GPU does not show the values of stores",
        ),
        (
            arguments.check_float.is_some(),
            "--check-float needs --device cpu: code for a GPU does not test the values of operations",
        ),
    ];
    let counters = arguments.mode == ModeChoice::Counters;
    let further = [
        (
            arguments.interleave && device == DeviceChoice::Gpu,
            "--interleave is for the CPU device: the order of a GPU's warps cannot be changed",
        ),
        (
            arguments.children && arguments.trace.is_some(),
            "--trace writes the trace of one process, but --children combines several processes in one profile",
        ),
        (
            counters && device == DeviceChoice::Cpu,
            "--mode counters counts on a GPU: it needs --device gpu, or gpu-emulated",
        ),
        (
            counters && arguments.trace_values.is_some(),
            "--mode counters keeps no trace, and --trace-values records values in the trace: leave one of them out",
        ),
        (
            counters && arguments.blocks.as_deref().and_then(share).is_some_and(|share| share != 1),
            "--mode counters counts all blocks of a launch: leave --blocks out",
        ),
    ];
    let on_gpu = needs_cpu.into_iter().map(|(set, why)| (set && device != DeviceChoice::Cpu, why));
    on_gpu.chain(further).find_map(|(refused, why)| refused.then_some(why))
}

/// Returns the architectures for which the registers of kernels are needed in addition to that of the run's model: those
/// of the further models, and for a trace, from which other models can be simulated later, those of all built-in models.
fn architectures(others: &[Chosen], trace: bool) -> Vec<u32> {
    let built_in = models::names().filter(|_| trace).filter_map(|name| models::find(name).ok()?.run_device().ok());
    let devices = others.iter().map(|model| model.device.clone()).chain(built_in.map(|run| run.device));
    let all: BTreeSet<u32> = devices.map(|device| architecture(device.compute_capability)).collect();
    all.into_iter().collect()
}

/// Returns the options of the runtime that do not depend on the process.
fn runtime_options(
    arguments: &RunArguments,
    model: &Chosen,
    others: &[Chosen],
    rounded: Vec<WhatIfType>,
) -> Result<Options, Failure> {
    if let Some(pattern) = &arguments.kernels {
        regex::Regex::new(pattern).map_err(|error| usage(format!("--kernels is no regular expression: {error}")))?;
    }
    let launches = arguments.launches.as_deref().map(|text| {
        launch_ranges(text).ok_or_else(|| usage(format!("--launches takes numbers and ranges as 0,3-5, not `{text}`")))
    });
    let block_share = arguments
        .blocks
        .as_deref()
        .map(|text| share(text).ok_or_else(|| usage(format!("--blocks takes a share as 1/16, not `{text}`"))));
    let budget = arguments.budget.as_deref().map(|text| {
        let millionths = granted(text)
            .ok_or_else(|| usage(format!("--budget takes a share of the work as 10% or 1/10, not `{text}`")))?;
        Ok::<Budget, Failure>(Budget { millionths, seed: arguments.budget_seed })
    });
    Ok(Options {
        mode: match arguments.mode {
            ModeChoice::Trace => Mode::Trace,
            ModeChoice::Counters => Mode::Counters,
        },
        stated: model.simulation.stated,
        output: Output::Nowhere,
        device: model.device.clone(),
        architectures: architectures(others, arguments.trace.is_some()),
        kernels: arguments.kernels.clone(),
        launches: launches.transpose()?.unwrap_or_default(),
        budget: budget.transpose()?,
        block_share: block_share.transpose()?.unwrap_or(1),
        check: match arguments.check {
            CheckChoice::Stop => Check::Stop,
            CheckChoice::Report => Check::Report,
            CheckChoice::Off => Check::Off,
        },
        interleave: arguments.interleave,
        check_init: arguments.check_init,
        check_host: arguments.check_host,
        memory_values: arguments.values == Some(ValuesChoice::Memory),
        check_float: match arguments.check_float {
            None => FloatCheck::Off,
            Some(FloatChoice::Report) => FloatCheck::Report,
            Some(FloatChoice::Stop) => FloatCheck::Stop,
        },
        rounded,
        results: Results::default(),
        recorded: recorded_kinds(arguments),
        recorded_lines: stops::lines("--lines", &arguments.lines)?,
        stop_at: stops::wanted(arguments)?,
        all_host_allocations: arguments.host_allocations == HostAllocationChoice::All,
    })
}

/// Files that Docker and Podman create in each container.
const CONTAINER_FILES: [&str; 2] = ["/.dockerenv", "/run/.containerenv"];

fn in_container() -> bool {
    CONTAINER_FILES.iter().any(|file| Path::new(file).exists())
}

/// Returns what to do if the profile cannot be written. In a container, the folder often belongs to the user who started
/// the container.
fn other_output(problem: &std::io::Error, container: bool) -> String {
    let user = match problem.kind() {
        ErrorKind::PermissionDenied if container => {
            ", or start the container as the owner of the folder: --user \"$(id -u):$(id -g)\""
        }
        _ => "",
    };
    format!("Name another file with -o FILE{user}")
}

/// Returns the machine's name.
pub(super) fn hostname() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    Some(name.trim().to_owned())
}

/// Returns the form in which the trace is stored.
fn packing(arguments: &RunArguments) -> Result<Option<Packing>, Failure> {
    let rotate = arguments.trace_rotate.as_deref().map(quantities::piece_size).transpose()?;
    let level = match &arguments.trace_compress {
        Some(text) => quantities::compression(text).ok_or_else(|| {
            let message = format!("--trace-compress takes zstd or zstd:LEVEL with a level from 1 to 19, not `{text}`");
            Failure::new(exit_code::USAGE, message)
        })?,
        None => DEFAULT_LEVEL,
    };
    let named = arguments.trace.as_ref().and_then(|path| path.extension()).is_some_and(|ending| ending == "zst");
    let packed = rotate.is_some() || named || arguments.trace_compress.is_some();
    Ok(packed.then_some(Packing { level, rotate }))
}

/// Returns `warpline.<program>.wlprof`.
fn default_output(program: &OsStr) -> PathBuf {
    let name = Path::new(program).file_name().map_or("program".into(), OsStr::to_string_lossy);
    PathBuf::from(format!("warpline.{name}.wlprof"))
}

/// Parses `0,3-5` to inclusive ranges.
fn launch_ranges(text: &str) -> Option<Vec<(u64, u64)>> {
    text.split(',')
        .map(|part| {
            let (low, high) = part.split_once('-').unwrap_or((part, part));
            let (low, high) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
            (low <= high).then_some((low, high))
        })
        .collect()
}

/// Parses `1/16` to 16.
fn share(text: &str) -> Option<u64> {
    let (one, of) = text.split_once('/')?;
    let of = of.trim().parse().ok()?;
    (one.trim() == "1" && of > 0).then_some(of)
}

/// Parses `10%`, `0.5%` or `1/10` to millionths; the share must be positive and at most 1.
fn granted(text: &str) -> Option<u32> {
    let share = match text.split_once('/') {
        Some((part, whole)) => part.trim().parse::<f64>().ok()? / whole.trim().parse::<f64>().ok()?,
        None => text.strip_suffix('%')?.trim().parse::<f64>().ok()? / 100.0,
    };
    let millionths = (share * 1e6).round();
    (1.0..=1e6).contains(&millionths).then_some(millionths as u32)
}

/// Returns the current time as `2026-11-20T19:00:00Z`.
pub(super) fn utc_now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    utc(seconds)
}

fn utc(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // The code computes a civil date from the days since 1970-01-01, with years that start in March (Howard Hinnant,
    // "chrono-Compatible Low-Level Date Algorithms").
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// Returns the kinds of operations whose values the run records.
fn recorded_kinds(arguments: &RunArguments) -> RecordedKinds {
    let chosen = arguments.trace_values.as_deref().unwrap_or_default();
    let has = |kind| chosen.contains(&kind);
    RecordedKinds {
        float: has(TraceValuesChoice::Float),
        integer: has(TraceValuesChoice::Int),
        memory: has(TraceValuesChoice::Memory),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_output_is_offered() {
        let denied = std::io::Error::from(ErrorKind::PermissionDenied);
        assert_eq!(other_output(&denied, false), "Name another file with -o FILE");
        assert!(
            other_output(&denied, true).contains("-o FILE, or start the container")
                && other_output(&denied, true).contains("--user")
        );
        assert_eq!(other_output(&ErrorKind::NotFound.into(), true), "Name another file with -o FILE");
    }

    #[test]
    fn ranges_shares_and_dates() {
        assert_eq!(launch_ranges("0,3-5"), Some(vec![(0, 0), (3, 5)]));
        assert_eq!(launch_ranges("5-3"), None);
        assert_eq!(launch_ranges("x"), None);
        assert_eq!(share("1/16"), Some(16));
        assert_eq!(share("2/16"), None);
        assert_eq!(share("1/0"), None);
        assert_eq!((granted("10%"), granted("1/10"), granted("0.5 %")), (Some(100_000), Some(100_000), Some(5000)));
        for wrong in ["10", "0%", "101%", "1/0", "-1%", "nan%", "2/1", "%", "x/y"] {
            assert_eq!(granted(wrong), None, "{wrong}");
        }
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(1_709_210_096), "2024-02-29T12:34:56Z");
    }
}
