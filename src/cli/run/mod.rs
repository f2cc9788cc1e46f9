//! `warpline run`: starts the program with a shared-memory ring, analyses what comes out of it while
//! the program runs, and writes the profile.

mod child;
mod further;
mod inherited;
mod naming;
mod plan;
mod processes;
mod progress;
mod ranked;
mod signals;
mod stops;
mod tee;
mod unmatched;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::sync::atomic::Ordering;
use std::time::Instant;

use self::child::{Child, Ended};
use self::further::Kept;
pub(super) use self::plan::{Plan, default_threads, piece_size};
use self::processes::Processes;
pub(super) use self::signals::survive_large_files;
use self::stops::{Serving, Stops};
use self::tee::Tee;
use super::Failure;
use super::args::RunArguments;
use super::models::Chosen;
use crate::analysis::{self, Analysis, Finish};
use crate::exit_code;
use crate::live::{Publisher, Source};
use crate::profile::model::Environment;
use crate::profile::{self, BuildInput, Profile, RunFacts, Sources};
use crate::ranks;
use crate::trace::{Damage, RingMemory, RingReader, TraceReader};

/// Bytes of the ring: a few milliseconds of records, small enough to stay in the processor's caches.
const RING_BYTES: usize = 16 << 20;

/// What a run gave.
pub(super) struct Outcome {
    /// `None` when nothing of the program could be measured.
    pub(super) profile: Option<Profile>,
    /// Exit code of the program.
    pub(super) code: u8,
    /// The trace file could not be written to its end.
    pub(super) trace_lost: Option<String>,
    /// The program's runtime has said why it does not run.
    pub(super) declined: bool,
}

pub(super) fn execute(arguments: &RunArguments) -> Result<u8, Failure> {
    let plan = Plan::new(arguments)?;
    if let Some(rank) = &plan.rank.rank {
        crate::cli::output::speak_for_rank(rank.index);
    }
    plan.check_output()?;
    let outcome = run(&plan)?;
    let Some(profile) = &outcome.profile else {
        if !outcome.declined {
            crate::cli::output::say(format_args!("{}", not_instrumented(&plan)));
        }
        // A program's own failure is what its caller has to see first.
        return Ok(if outcome.code == 0 { exit_code::RUN_NOT_PROFILED } else { outcome.code });
    };
    write(profile, &plan)?;
    tell(&plan, profile);
    if let Some(message) = outcome.trace_lost {
        return Err(Failure::new(exit_code::RUN_NOT_PROFILED, message));
    }
    Ok(outcome.code)
}

/// Prints the value of [`warpline_format::options::VARIABLE`] for a program that makes its own traces.
pub(super) fn print_options(arguments: &RunArguments) -> Result<u8, Failure> {
    let plan = Plan::new(arguments)?;
    crate::cli::output::print(format!("{}\n", plan.encoded()).as_bytes())?;
    Ok(exit_code::OK)
}

/// Writes the profile where it was asked for; where that fails, it goes to the folder for temporary files, as the run may
/// have taken hours.
pub(super) fn write(profile: &Profile, plan: &Plan) -> Result<(), Failure> {
    let Err(error) = profile::write(profile, &plan.output) else { return Ok(()) };
    let name = plan.output.file_name().unwrap_or(OsStr::new("profile"));
    let where_it_is = match profile::write_spare(profile, &name.to_string_lossy()) {
        Ok(spare) => format!("the profile is in {} instead", spare.display()),
        Err(_) => format!("nor to {}; the profile is lost", std::env::temp_dir().display()),
    };
    Err(Failure::new(exit_code::RUN_NOT_PROFILED, format!("{error}; {where_it_is}")))
}

/// Runs and analyses; the profile is not written yet.
pub(super) fn run(plan: &Plan) -> Result<Outcome, Failure> {
    let not_profiled = |what: &str, error: &dyn std::fmt::Display| {
        Failure::new(exit_code::RUN_NOT_PROFILED, format!("{what}: {error}"))
    };
    let kept = Kept::new(plan)?;
    let mut tee = Tee::create(kept.path(), plan.packing)
        .map_err(|(path, error)| not_profiled(&format!("{}: cannot write", path.display()), &error))?;
    let memory = RingMemory::create(RING_BYTES).map_err(|error| match error.kind() {
        std::io::ErrorKind::FileTooLarge => {
            not_profiled("no shared memory", &"raise the limit on file sizes (ulimit -f)")
        }
        _ => not_profiled("no shared memory", &error),
    })?;
    let processes = Processes::new(plan)?;
    let started = Instant::now();
    let banks = plan.model.simulation.hierarchy.bank_rules().shared;
    let stops = plan.stop_at().map(|_| Stops::new(plan.stop_count, banks)).transpose()?;
    let mut child = Child::start(plan, memory.descriptor(), processes.folder(), stops.as_ref().map(Stops::descriptor))?;
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
    // After damage, or an error of ours, nobody reads on; the program must not wait for us.
    memory.ring().control().abandoned.store(1, Ordering::Release);
    let end = child.wait()?;
    let stopped = serving.map_or(0, Serving::finish);
    let analysis = analysis?;
    let trace_lost = tee.finish();
    let claimed = memory.ring().control().owner.load(Ordering::Acquire);
    let Some(analysis) = analysis.or_else(|| (claimed != 0).then(|| Analysis::empty(Finish::Nothing))) else {
        let declined = memory.ring().control().declined.load(Ordering::Acquire) != 0;
        return Ok(Outcome { profile: None, code: end.code(), trace_lost, declined });
    };
    let mut analysis = analysis;
    let (further, lost) = kept.simulate(plan, &mut analysis, trace_lost.as_deref());
    let models = || std::iter::once(&plan.model).chain(&plan.others[..further]);
    let mut environment = environment(plan, &child);
    environment.seconds.insert("program".to_owned(), round(end.seconds));
    environment.seconds.insert("analysis".to_owned(), round(analysis_seconds));
    let mut notes = plan.rank.notes.clone();
    if let Ended::Signal(signal) = end.how {
        notes.push(format!("the program was ended by signal {signal} ({})", signals::name(signal)));
    }
    notes.extend(plan.model.note.clone());
    notes.extend(unmatched::notes(plan.kernels(), plan.launches(), &analysis));
    if plan.interleaves() {
        notes.push(
            "--interleave: warps took turns at each access, which all figures of order follow (caches, reuse)"
                .to_owned(),
        );
    }
    let (further_processes, refused) = {
        let ring = memory.ring();
        let control = ring.control();
        (control.further.load(Ordering::Acquire), control.refused.load(Ordering::Acquire))
    };
    // What holds for each process of the run.
    let facts_of = |models: &[&Chosen]| RunFacts {
        device: plan.device.to_owned(),
        models: models.iter().map(|model| model.key.clone()).collect(),
        rates: models.iter().map(|model| model.rates.clone()).collect(),
        bypass: BTreeMap::new(),
        pages: plan.model.simulation.pages,
        exit_code: Some(i32::from(end.code())),
        ended_by_itself: matches!(end.how, Ended::Exit(_)),
        sources: Sources::All,
        lost: Vec::new(),
        assumptions: plan.assumptions(),
        notes: Vec::new(),
        environment: Environment::default(),
    };
    let facts = RunFacts {
        lost: lost.into_iter().chain(other_processes(refused, plan.children)).collect(),
        notes,
        environment,
        ..facts_of(&models().collect::<Vec<_>>())
    };
    let mut profile = profile::build(BuildInput { analysis: &analysis, facts });
    super::findings::add(&mut profile, Some(&plan.model.rates));
    let all: Vec<&Chosen> = std::iter::once(&plan.model).chain(&plan.others).collect();
    let profile = processes.add_to(profile, further_processes, plan, &|| facts_of(&all))?;
    if let Some(wanted) = plan.stop_at() {
        stops::say_if_never(wanted, stopped, Some(&profile));
    }
    Ok(Outcome { profile: Some(profile), code: end.code(), trace_lost, declined: false })
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

/// Says so where further processes of the program used the device and are not in the profile.
fn other_processes(refused: u32, children: bool) -> Option<String> {
    let (processes, their, were) =
        if refused == 1 { ("process", "its", "was") } else { ("processes", "their", "were") };
    (refused > 0).then(|| match children {
        // All others have a trace.
        true => format!(
            "{refused} {processes} {were} forked from one that used the device already, where CUDA does not work: {their} work is not in \
             the profile"
        ),
        false => format!(
            "{refused} other {processes} of this run used the device, and {their} work is not in the profile; `warpline run --children` puts \
             the work of all processes together"
        ),
    })
}

fn not_instrumented(plan: &Plan) -> String {
    format!(
        "{} sent nothing: it was not built with `warpline cc`, never reached the CUDA runtime, or said why it cannot; no \
         profile is written",
        plan.program.to_string_lossy()
    )
}

/// One line for the user, and the command that shows more.
fn tell(plan: &Plan, profile: &Profile) {
    if plan.rank.rank.as_ref().is_some_and(|rank| rank.index != 0) {
        tell_of_rank(profile);
        return;
    }
    for note in &profile.run.notes {
        crate::cli::output::say(format_args!("note: {note}"));
    }
    // The program's runtime has told each of them when it happened.
    let of_kind = |kind: &str| profile.faults.iter().filter(|fault| fault.kind == kind).count();
    let (barriers, pairs) = (of_kind("divergent_barrier"), of_kind("different_barriers"));
    for (count, one, several) in [
        (profile.faults.len() - barriers - pairs, "bad access", "bad accesses"),
        (barriers, "divergent barrier", "divergent barriers"),
        (
            pairs,
            "pair of different barriers that wait for each other",
            "pairs of different barriers that wait for each other",
        ),
    ] {
        if count > 0 {
            let what = if count == 1 { one } else { several };
            crate::cli::output::say(format_args!("{count} {what}, see the report"));
        }
    }
    if let Some(line) = crate::report::conflicts_in_short(profile) {
        crate::cli::output::say(format_args!("{line}"));
    }
    let requests: u64 =
        profile.kernels.iter().flat_map(|kernel| kernel.metrics.values()).map(|metrics| metrics.requests).sum();
    crate::cli::output::say(format_args!(
        "{} kernel{}, {requests} memory requests; wrote {}{}",
        profile.kernels.len(),
        if profile.kernels.len() == 1 { "" } else { "s" },
        plan.output.display(),
        if profile.run.complete { "" } else { " (INCOMPLETE, see the notes)" },
    ));
    match plan.output.parent().filter(|_| plan.rank.rank.is_some() && ranks::rank_of(&plan.output).is_some()) {
        Some(folder) => crate::cli::output::say(format_args!(
            "next, when all ranks are done: warpline merge {} -o {}",
            folder.display(),
            folder.with_extension("wlprof").display()
        )),
        None => crate::cli::output::say(format_args!("next: warpline report {}", plan.output.display())),
    }
}

/// Of thousands of ranks each says at most one line, and only where it is not as all should be.
fn tell_of_rank(profile: &Profile) {
    let faults = profile.faults.len();
    let mut parts = Vec::new();
    if let Some(code) = profile.run.exit_code.filter(|code| *code != 0) {
        parts.push(format!("the program ended with exit code {code}"));
    }
    if faults > 0 {
        parts.push(format!("{faults} bad access{}", if faults == 1 { "" } else { "es" }));
    }
    if !profile.run.complete {
        parts.push("the profile is incomplete, see its notes".to_owned());
    }
    if !parts.is_empty() {
        crate::cli::output::say(parts.join("; "));
    }
}
