//! `warpline sim`: analyses a kept trace on one or more models, each in its own order.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::cli::args::SimArguments;
use crate::cli::models::chosen::{Chosen, bound_memory, choose};
use crate::cli::models::default_model;
use crate::cli::traces::piped::RereadableTrace;
use crate::cli::{Failure, quantities};
use crate::exit_code;
use warpline_analyzer::advice::{Advice, advise};
use warpline_analyzer::analyses::pages::PageSettings;
use warpline_analyzer::analysis::{self, Analysis, Finish};
use warpline_analyzer::requests::WorkerLost;
use warpline_analyzer::trace::{self, TraceReader};
use warpline_profile::model::Environment;
use warpline_profile::{self as profile, BuildInput, RunFacts, Sources};

pub(in crate::cli) fn execute(arguments: &SimArguments) -> Result<u8, Failure> {
    let labels = crate::cli::labels::parse(&arguments.label)?;
    let whole = RereadableTrace::open(&arguments.trace)?;
    let trace = whole.path();
    let mut models = choose(arguments.gpu.as_deref(), || default_model::of_trace(trace), &arguments.state)?;
    if let Some(text) = &arguments.page_size {
        let page_bytes = page_size(text)?;
        for model in &mut models {
            let reach_bytes = model.simulation.pages.and_then(|pages| pages.reach_bytes);
            model.simulation.pages = Some(PageSettings { page_bytes, window: arguments.page_window, reach_bytes });
        }
    }
    for pages in models.iter_mut().filter_map(|model| model.simulation.pages.as_mut()) {
        pages.window = arguments.page_window;
    }
    let output = arguments.output.clone().unwrap_or_else(|| default_output(&arguments.trace));
    crate::cli::output::refuse_same(&arguments.trace, &output)?;
    let threads = arguments.threads.unwrap_or_else(quantities::default_threads);
    bound_memory(&mut models.iter_mut().collect::<Vec<_>>(), arguments.state.memory.as_deref(), threads)?;
    if let Some(model) = models.first().filter(|_| arguments.seconds) {
        // The recorded order is kept, because a partly recorded launch cannot be reordered.
        let simulation = Some(&model.simulation);
        let analysis = read(trace, |reader| {
            analysis::analyze_with(reader, threads as usize, simulation, &mut analysis::NoProgress)
        })?;
        let seconds = format!("{}\n", profile::seconds_of_all(&analysis, &model.rates));
        crate::cli::output::print(seconds.as_bytes())?;
        return Ok(exit_code::OK);
    }
    let analysis = analyze(trace, &models, threads)?;
    let Some((first, _)) = models.split_first() else { return Ok(exit_code::USAGE) };
    let bypass = if arguments.bypass { advice(trace, &analysis, first, threads)? } else { BTreeMap::new() };
    let facts = RunFacts {
        device: if analysis.on_gpu { "gpu" } else { "cpu" }.to_owned(),
        models: models.iter().map(|model| model.key.clone()).collect(),
        rates: models.iter().map(|model| model.rates.clone()).collect(),
        bypass,
        pages: first.simulation.pages,
        exit_code: None,
        ended_by_itself: analysis.finish == Finish::Complete,
        check_leaks: false,
        sources: Sources::Fitting { roots: arguments.source_root.clone() },
        lost: Vec::new(),
        assumptions: first.assumptions(),
        notes: first.simulation.notes(),
        environment: Environment {
            command: std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect(),
            versions: BTreeMap::from([("warpline".to_owned(), env!("CARGO_PKG_VERSION").to_owned())]),
            threads: Some(threads),
            labels,
            ..Environment::default()
        },
    };
    let mut profile = profile::build(BuildInput { analysis: &analysis, facts });
    crate::cli::profiles::findings::add(&mut profile, Some(&first.rates));
    profile::write(&profile, &output).map_err(|error| Failure::new(exit_code::UNEXPECTED, error))?;
    for note in &profile.run.notes {
        crate::cli::output::say(format_args!("note: {note}"));
    }
    crate::cli::output::say(format_args!("wrote {}", output.display()));
    crate::cli::output::say(format_args!("next: warpline report {}", output.display()));
    Ok(if profile.run.complete { exit_code::OK } else { exit_code::PARTIAL })
}

/// Returns advice on the use of L1 on a model. The trace is read once for each simulated choice.
fn advice(trace: &Path, base: &Analysis, model: &Chosen, threads: u32) -> Result<BTreeMap<u32, Advice>, Failure> {
    let mut tried = Chosen { simulation: model.simulation.for_traffic(), ..model.clone() };
    advise(base, &model.simulation.hierarchy, model.kepler, |bypass| {
        tried.simulation.bypass = Some(Arc::new(bypass));
        analyze_one(trace, &tried, threads)
    })
}

/// Parses a page size such as `65536`, `64K` or `2M`.
fn page_size(text: &str) -> Result<u64, Failure> {
    let (number, unit) = match text.trim_end_matches(['B', 'b']).trim_end_matches(['i', 'I']) {
        plain if plain.ends_with(['K', 'k']) => (&plain[..plain.len() - 1], 10),
        plain if plain.ends_with(['M', 'm']) => (&plain[..plain.len() - 1], 20),
        plain if plain.ends_with(['G', 'g']) => (&plain[..plain.len() - 1], 30),
        plain => (plain, 0),
    };
    let bytes = number.trim().parse::<u64>().ok().and_then(|number| number.checked_mul(1 << unit));
    bytes.filter(|bytes| bytes.is_power_of_two() && (4096..=1 << 40).contains(bytes)).ok_or_else(|| {
        let message = format!("--page-size takes a power of two from 4096 on, as 64K or 2M, not `{text}`");
        Failure::new(exit_code::USAGE, message)
    })
}

/// Analyses a trace file for every model. The analysis of the first model also contains the traffic of the others.
pub(in crate::cli) fn analyze(trace: &Path, models: &[Chosen], threads: u32) -> Result<Analysis, Failure> {
    let Some((first, others)) = models.split_first() else {
        return Err(Failure::new(exit_code::USAGE, "no GPU model was named"));
    };
    let others: Vec<Chosen> = others.iter().map(for_traffic).collect();
    let all: Vec<&Chosen> = std::iter::once(first).chain(&others).collect();
    let mut results = analyze_each(trace, &all, threads).into_iter();
    let mut whole = results.next().unwrap_or_else(|| analyze_one(trace, first, threads))?;
    for (number, other) in (1..).zip(results) {
        whole.add_model(number, &other?);
    }
    Ok(whole)
}

/// Returns a model for an analysis of its traffic only; all other figures are those of the first model.
pub(in crate::cli) fn for_traffic(model: &Chosen) -> Chosen {
    Chosen { simulation: model.simulation.for_traffic(), ..model.clone() }
}

/// Analyses a trace file for each model, with `threads` threads in total. Models are analysed at the same time, each
/// with its share of the threads, unless the memory is limited. After an error, models may be missing at the end.
pub(in crate::cli) fn analyze_each(trace: &Path, models: &[&Chosen], threads: u32) -> Vec<Result<Analysis, Failure>> {
    let limited = models.iter().any(|model| model.simulation.memory.is_some());
    let together = if limited { 1 } else { (threads as usize).clamp(1, models.len().max(1)) };
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let results: Vec<Mutex<Option<Result<Analysis, Failure>>>> = models.iter().map(|_| Mutex::default()).collect();
    std::thread::scope(|scope| {
        for _ in 0..together {
            scope.spawn(|| {
                while let (number, false) = (next.fetch_add(1, Ordering::Relaxed), failed.load(Ordering::Relaxed))
                    && let (Some(model), Some(result)) = (models.get(number), results.get(number))
                {
                    let analysis = analyze_one(trace, model, threads / together as u32);
                    failed.fetch_or(analysis.is_err(), Ordering::Relaxed);
                    *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(analysis);
                }
            });
        }
    });
    let results = results.into_iter().map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner));
    results.map_while(|result| result).collect()
}

/// Analyses a trace file in the order of one model.
pub(in crate::cli) fn analyze_one(trace: &Path, model: &Chosen, threads: u32) -> Result<Analysis, Failure> {
    let device = model.device.clone();
    read(trace, |reader| {
        analysis::analyze_for(reader, threads as usize, &model.simulation, device, &mut analysis::NoProgress)
    })
}

/// Opens a trace file and analyses it.
fn read(
    trace: &Path,
    analyze: impl FnOnce(TraceReader<Box<dyn Read + Send>>) -> Result<Analysis, WorkerLost>,
) -> Result<Analysis, Failure> {
    let unreadable =
        |what: &dyn std::fmt::Display| Failure::new(exit_code::UNREADABLE, format!("{}: {what}", trace.display()));
    let opened = trace::open(trace).map_err(|error| unreadable(&error))?;
    if opened.being_written {
        crate::cli::output::say(format_args!("note: {}: a process is still writing this trace", trace.display()));
    }
    let reader = TraceReader::new(opened.stream).map_err(|damage| unreadable(&damage))?;
    analyze(reader).map_err(|error| Failure::new(exit_code::UNEXPECTED, error))
}

/// Returns `warpline.<trace>.wlprof`, without the extensions of traces.
fn default_output(trace: &Path) -> PathBuf {
    let name = if trace.as_os_str() == "-" { None } else { trace.file_name() };
    let name = name.map_or("stdin".into(), |name| name.to_string_lossy());
    let plain = trace::plain_name(Path::new(&*name));
    let name = plain.to_string_lossy();
    let name = name.strip_suffix(".wltrace").unwrap_or(&name);
    let name = name.strip_prefix("warpline.").unwrap_or(name);
    PathBuf::from(format!("warpline.{name}.wlprof"))
}

#[cfg(test)]
mod tests {
    use super::page_size;

    #[test]
    fn sizes_of_pages() {
        let size = |text| page_size(text).ok();
        assert_eq!(size("65536"), Some(65536));
        assert_eq!(
            (size("64K"), size("64 KiB"), size("2M"), size("1g")),
            (Some(65536), Some(65536), Some(2 << 20), Some(1 << 30))
        );
        assert_eq!(
            (size("3K"), size("1K"), size("K"), size(""), size("99999999999999999999")),
            (None, None, None, None, None)
        );
    }
}
