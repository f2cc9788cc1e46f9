//! Starts the program with a shared-memory ring, analyses the records in the ring while the program runs, and writes
//! the profile.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::child::{Child, End, Ended};
use super::further::KeptTrace;
use super::messages::{not_instrumented, other_processes, report};
use super::plan::Plan;
use super::processes::Processes;
use super::rounded::Reference;
use super::stops::{Serving, Stops};
use super::tee::Tee;
use super::{plan, progress, rounded, signals, stops, unmatched};
use crate::cli::Failure;
use crate::cli::args::RunArguments;
use crate::cli::models::chosen::Chosen;
use crate::exit_code;
use warpline_analyzer::analysis::{self, Analysis, Finish};
use warpline_analyzer::trace::{Damage, RingMemory, RingReader, TraceReader};
use warpline_profile::live::{Publisher, Source};
use warpline_profile::model::Environment;
use warpline_profile::{self as profile, BuildInput, Profile, RunFacts, Sources};

/// Bytes of the ring: a few milliseconds of records, small enough for the processor's caches.
const RING_BYTES: usize = 16 << 20;

/// The result of a run.
pub(in crate::cli) struct Outcome {
    /// The profile; `None` if nothing of the program could be measured.
    pub(in crate::cli) profile: Option<Profile>,
    /// Exit code of the program.
    pub(in crate::cli) code: u8,
    /// Reason why the trace file is incomplete, if it is.
    pub(in crate::cli) trace_lost: Option<String>,
    /// Reason why the profile lacks what an option requested, if it does.
    pub(in crate::cli) unfulfilled: Option<String>,
    /// Whether the program's runtime has already reported why it does not run.
    pub(in crate::cli) declined: bool,
}

impl Outcome {
    /// Returns the exit code of the command, or what is missing after a run. The exit code of a program that failed has
    /// priority over a request that was not fulfilled, which may follow from the failure.
    pub(in crate::cli) fn result(self) -> Result<u8, Failure> {
        let unfulfilled = self.unfulfilled.filter(|_| self.code == exit_code::OK);
        match self.trace_lost.or(unfulfilled) {
            Some(message) => Err(Failure::new(exit_code::RUN_NOT_PROFILED, message)),
            None => Ok(self.code),
        }
    }
}

pub(in crate::cli) fn execute(arguments: &RunArguments) -> Result<u8, Failure> {
    let plan = Plan::new(arguments)?;
    if let Some(rank) = &plan.rank.rank {
        crate::cli::output::speak_for_rank(rank.index);
    }
    plan.check_output()?;
    let outcome = run(&plan)?;
    let Some(profile) = &outcome.profile else {
        if !outcome.declined {
            crate::cli::output::say(format_args!("{}", not_instrumented(&plan, outcome.code)));
        }
        // The program's own exit code has priority.
        return Ok(if outcome.code == 0 { exit_code::RUN_NOT_PROFILED } else { outcome.code });
    };
    write(profile, &plan)?;
    report(&plan, profile);
    outcome.result()
}

/// Prints the value of [`warpline_format::options::VARIABLE`] for a program that makes its own traces.
pub(in crate::cli) fn print_options(arguments: &RunArguments) -> Result<u8, Failure> {
    let plan = Plan::new(arguments)?;
    crate::cli::output::print(format!("{}\n", plan.encoded()).as_bytes())?;
    Ok(exit_code::OK)
}

/// Writes the profile to the requested file. If that fails, writes it to the folder for temporary files, because the
/// run may have taken hours.
pub(in crate::cli) fn write(profile: &Profile, plan: &Plan) -> Result<(), Failure> {
    let Err(error) = profile::write(profile, &plan.output) else { return Ok(()) };
    let name = plan.output.file_name().unwrap_or(OsStr::new("profile"));
    let where_it_is = match profile::write_spare(profile, &name.to_string_lossy()) {
        Ok(spare) => format!("the profile is in {} instead", spare.display()),
        Err(_) => format!("nor to {}; the profile is lost", std::env::temp_dir().display()),
    };
    Err(Failure::new(exit_code::RUN_NOT_PROFILED, format!("{error}; {where_it_is}")))
}

/// Runs and analyses the program, without writing the profile.
pub(in crate::cli) fn run(plan: &Plan) -> Result<Outcome, Failure> {
    let not_profiled = |what: &str, error: &dyn std::fmt::Display| {
        Failure::new(exit_code::RUN_NOT_PROFILED, format!("{what}: {error}"))
    };
    let kept = KeptTrace::new(plan)?;
    let mut tee = Tee::create(kept.path(), plan.packing)
        .map_err(|(path, error)| not_profiled(&format!("{}: cannot write", path.display()), &error))?;
    let memory = RingMemory::create(RING_BYTES).map_err(|error| match error.kind() {
        std::io::ErrorKind::FileTooLarge => {
            not_profiled("no shared memory", &"raise the limit on file sizes (ulimit -f)")
        }
        _ => not_profiled("no shared memory", &error),
    })?;
    let reference = Reference::make(plan)?;
    let processes = Processes::new(plan)?;
    let started = Instant::now();
    let banks = plan.model.simulation.hierarchy.bank_rules().shared;
    let stops = plan.stop_at().map(|_| Stops::new(plan.stop_count, banks)).transpose()?;
    let descriptor = stops.as_ref().map(Stops::descriptor);
    let mut child = Child::start(plan, memory.descriptor(), processes.folder(), descriptor, reference.results())?;
    let serving = stops.map(Stops::serve).transpose()?;
    let mut bar = progress::Bar::new();

    let ended = child.ended_flag();
    let ring = || {
        let control = memory.ring();
        let (head, tail) =
            (control.control().head.load(Ordering::Relaxed), control.control().tail.load(Ordering::Relaxed));
        (head.saturating_sub(tail).min(control.capacity()), control.capacity())
    };
    let mut publisher = Publisher::new(
        Source {
            program_pid: child.id(),
            program: plan.program_and_arguments(),
            output: plan.output.display().to_string(),
            ring: Box::new(ring),
        },
        &mut bar,
    );
    let source = tee.read(RingReader::new(&memory, || ended.load(Ordering::Acquire)));
    let analysis = match TraceReader::new(source) {
        Ok(reader) => {
            analysis::analyze_with(reader, plan.threads as usize, Some(&plan.model.simulation), &mut publisher)
                .map_err(|error| Failure::new(exit_code::UNEXPECTED, error))
                .map(Some)
        }
        Err(Damage::NoHeader(0)) => Ok(None),
        Err(damage) => Ok(Some(Analysis::empty(Finish::Damaged(damage.to_string())))),
    };
    drop(publisher);
    bar.clear();
    let analysis_seconds = started.elapsed().as_secs_f64();
    // The reader stops after damage or an internal error; the program must not wait for it.
    memory.ring().control().abandoned.store(1, Ordering::Release);
    let end = child.wait()?;
    let stopped = serving.map_or(0, Serving::finish);
    let analysis = analysis?;
    let trace_lost = tee.finish();
    let claimed = memory.ring().control().owner.load(Ordering::Acquire);
    let Some(analysis) = analysis.or_else(|| (claimed != 0).then(|| Analysis::empty(Finish::Nothing))) else {
        let declined = memory.ring().control().declined.load(Ordering::Acquire) != 0;
        return Ok(Outcome { profile: None, code: end.code(), trace_lost, unfulfilled: None, declined });
    };
    let mut environment = environment(plan, &child);
    environment.seconds.insert("program".to_owned(), round(end.seconds));
    environment.seconds.insert("analysis".to_owned(), round(analysis_seconds));
    let ring = memory.ring();
    let others = (ring.control().further.load(Ordering::Acquire), ring.control().refused.load(Ordering::Acquire));
    let finished = Finished { plan, kept, reference, processes, trace_lost, end, others, environment };
    let outcome = finished.outcome(analysis)?;
    if let Some(wanted) = plan.stop_at() {
        stops::report_if_never(wanted, stopped, outcome.profile.as_ref());
    }
    Ok(outcome)
}

/// A run whose program has ended.
struct Finished<'p> {
    plan: &'p Plan,
    kept: KeptTrace,
    reference: Reference,
    processes: Processes,
    trace_lost: Option<String>,
    end: End,
    /// The numbers of further processes that made a trace, and of those that could not.
    others: (u32, u32),
    environment: Environment,
}

impl Finished<'_> {
    /// Builds the profile from the analysis of the first process.
    fn outcome(self, mut analysis: Analysis) -> Result<Outcome, Failure> {
        let (plan, code) = (self.plan, self.end.code());
        let (further, lost) = self.kept.simulate(plan, &mut analysis, self.trace_lost.as_deref());
        let models: Vec<&Chosen> = std::iter::once(&plan.model).chain(&plan.others[..further]).collect();
        let notes = self.notes(&analysis);
        let unfulfilled = rounded::unknown_name(plan.rounded(), &analysis, plan);
        let (further_processes, refused) = self.others;
        let facts = RunFacts {
            lost: lost.into_iter().chain(other_processes(refused, plan.children)).collect(),
            notes,
            environment: self.environment.clone(),
            ..self.facts(&models)
        };
        let mut profile = profile::build(BuildInput { analysis: &analysis, facts });
        crate::cli::profiles::findings::add(&mut profile, Some(&plan.model.rates));
        let all: Vec<&Chosen> = std::iter::once(&plan.model).chain(&plan.others).collect();
        let profile = self.processes.add_to(profile, further_processes, plan, &|| self.facts(&all))?;
        Ok(Outcome { profile: Some(profile), code, trace_lost: self.trace_lost, unfulfilled, declined: false })
    }

    fn notes(&self, analysis: &Analysis) -> Vec<String> {
        let plan = self.plan;
        let mut notes = plan.rank.notes.clone();
        if let Ended::Signal(signal) = self.end.how {
            notes.push(format!("the program was ended by signal {signal} ({})", signals::name(signal)));
        }
        notes.extend(plan.model.note.clone());
        notes.extend(plan.model.simulation.notes());
        notes.extend(plan.unchecked());
        notes.extend(unmatched::notes(plan.kernels(), plan.launches(), analysis));
        notes.extend(rounded::notes(plan.rounded(), analysis));
        notes.extend(self.reference.note());
        if plan.interleaves() {
            notes.push(
                "--interleave: warps took turns at each access; all figures that depend on the order (caches, reuse) use this order"
                    .to_owned(),
            );
        }
        notes
    }

    /// Returns the facts that apply to each process of the run.
    fn facts(&self, models: &[&Chosen]) -> RunFacts {
        let plan = self.plan;
        RunFacts {
            device: plan.device.to_owned(),
            models: models.iter().map(|model| model.key.clone()).collect(),
            rates: models.iter().map(|model| model.rates.clone()).collect(),
            bypass: BTreeMap::new(),
            pages: plan.model.simulation.pages,
            exit_code: Some(i32::from(self.end.code())),
            ended_by_itself: matches!(self.end.how, Ended::Exit(_)),
            check_leaks: plan.check_leaks,
            sources: Sources::All,
            lost: Vec::new(),
            assumptions: plan.assumptions(),
            notes: Vec::new(),
            environment: Environment::default(),
        }
    }
}

fn round(seconds: f64) -> f64 {
    (seconds * 1e3).round() / 1e3
}

fn environment(plan: &Plan, child: &Child) -> Environment {
    Environment {
        command: std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect(),
        versions: BTreeMap::from([("warpline".to_owned(), env!("CARGO_PKG_VERSION").to_owned())]),
        seconds: BTreeMap::new(),
        pid: Some(child.id()),
        host: plan::hostname(),
        date: Some(plan::utc_now()),
        threads: Some(plan.threads),
        nodes: BTreeMap::new(),
        rank: plan.rank.rank.clone(),
        labels: plan.labels.clone(),
    }
}
