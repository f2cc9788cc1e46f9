//! `warpline predict`: predicts configurations of a kernel.

use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::assumptions::{assumptions, beside_the_run, order_not_replayed, recorded_sites, taken_from_the_run};
use super::changes::Changes;
use super::options::{RequestedChanges, Work};
use super::{check, registers, unlaunched};
use crate::cli::Failure;
use crate::cli::args::{PredictArguments, PredictFormat};
use crate::cli::models::chosen::{Chosen, choose};
use crate::cli::models::default_model::{self, DefaultModel};
use crate::cli::output;
use crate::cli::profiles::report::width;
use crate::exit_code;
use warpline_prediction::configurations::GridRule;
use warpline_prediction::document::{self, Compared, Configuration, Document, Refused, Size, Sizes};
use warpline_prediction::launch::Launch;
use warpline_prediction::model::Model;
use warpline_prediction::other_work::{most_work, other_work};
use warpline_prediction::outcome::{Prediction, Refusal};
use warpline_prediction::predict::predict;
use warpline_prediction::subject::Subject;
use warpline_prediction::worth_measuring;
use warpline_profile::model::Kernel;
use warpline_profile::{self as profile, Profile, nine_digits};
use warpline_report as report;

pub(in crate::cli) fn execute(arguments: &PredictArguments) -> Result<u8, Failure> {
    if let Some(output) = &arguments.output {
        output::refuse_same(&arguments.file, output)?;
    }
    let no_subject = |error| Failure::new(exit_code::NOTHING_MATCHED, error);
    if unlaunched::is_executable(&arguments.file) {
        if arguments.check.is_some() {
            let message = "--check compares with a run: give `predict` a profile of the program";
            return Err(Failure::new(exit_code::USAGE, message));
        }
        let mut found = unlaunched::kernel(arguments)?;
        let default = || default_model::of_program(arguments.file.as_os_str(), false);
        let models = choose(arguments.gpu.as_deref(), default, &arguments.state())?;
        registers::complete(&mut found.kernel, &arguments.file, &models);
        let subject = Subject::from_rows(&found.kernel, &found.sites, &[]).map_err(no_subject)?;
        let mut notes = vec![
            "the executable was not run: arrays are assumed to start at multiples of 256 bytes, and limits by instructions are not included".to_owned(),
        ];
        if found.left_out > 0 {
            notes.push(format!("{} accesses to other than global or shared memory are left out", found.left_out));
        }
        return execute_with(arguments, subject, &models, &Origin::Executable(&notes));
    }
    let profile = profile::read(&arguments.file).map_err(|error| Failure::new(exit_code::UNREADABLE, error))?;
    let mut kernel = kernel(&profile, arguments.kernel.as_deref())?.clone();
    let default = || DefaultModel {
        model: profile.run.models.first().cloned().unwrap_or_else(|| "rtx2080ti".to_owned()),
        reason: "the model of the profile".to_owned(),
        note: None,
    };
    let models = choose(arguments.gpu.as_deref(), default, &arguments.state())?;
    if let Some(program) = profile.run.program.first() {
        registers::complete(&mut kernel, Path::new(program), &models);
    }
    let subject = Subject::new(&profile, &kernel).map_err(no_subject)?;
    let measured_on = profile.run.models.first().map(String::as_str);
    execute_with(arguments, subject, &models, &Origin::Profile { measured_on })
}

/// The source of the prediction.
enum Origin<'a> {
    /// A run, whose cache figures belong to a model.
    Profile { measured_on: Option<&'a str> },
    /// A kernel that was never run, with notes about it.
    Executable(&'a [String]),
}

/// Predicts and prints the configurations.
fn execute_with(
    arguments: &PredictArguments,
    subject: Subject<'_>,
    models: &[Chosen],
    origin: &Origin<'_>,
) -> Result<u8, Failure> {
    if arguments.over.is_some() && arguments.format == PredictFormat::Csv {
        let message =
            "--format csv has a row for each configuration, and none for the values of --over: use json, text or html";
        return Err(Failure::new(exit_code::USAGE, message));
    }
    let changes = Changes::new(arguments)?;
    let changed = changes.apply(&subject)?;
    let subject = match &changed {
        Some(changed) => subject.with(&changed.addresses, &changed.origins),
        None => subject,
    };
    let requested = RequestedChanges::new(arguments, &subject, changes.fold)?;
    let mut documents = Vec::new();
    for model in models {
        // The launch of changed code is not the recorded launch.
        let was_run = |key: &str| {
            changed.is_none() && matches!(origin, Origin::Profile { measured_on } if *measured_on == Some(key))
        };
        let mut document = of_model(&subject, &requested, model, was_run(&model.key))?;
        match *origin {
            Origin::Executable(notes) => {
                refuse_unknown(&subject, &document)?;
                document.assumptions.retain(|text| !text.contains("those of launch"));
                document.assumptions.extend(notes.iter().cloned());
                document.configurations.iter_mut().for_each(|one| one.recorded = false);
            }
            Origin::Profile { measured_on } => {
                if !document.recorded.is_empty() {
                    document.assumptions.extend(taken_from_the_run(measured_on, &document.model, &requested));
                }
            }
        }
        document.worth_measuring = arguments
            .budget
            .map(|budget| worth_measuring::choose(&document, usize::try_from(budget).unwrap_or(usize::MAX)));
        document.changes = changed.iter().flat_map(|changed| changed.descriptions.iter().cloned()).collect();
        documents.push(document);
    }
    let mut documents = documents.into_iter();
    let Some(mut document) = documents.next() else { return Ok(exit_code::USAGE) };
    document.other_models = documents.collect();
    if let Some(command) = &arguments.check {
        return compare_with_runs(arguments, &subject, &requested, command, &document, models);
    }
    if arguments.format == PredictFormat::Html {
        output::refuse_terminal(arguments.output.as_deref(), Path::new("prediction"), "html")?;
    }
    let text = match arguments.format {
        PredictFormat::Text => {
            let to_terminal = arguments.output.is_none() && std::io::stdout().is_terminal();
            report::prediction_text(&document, arguments.top, to_terminal.then(|| width(true)))
        }
        PredictFormat::Json => report::prediction_json(&document),
        PredictFormat::Csv => report::prediction_csv(&document),
        PredictFormat::Html => report::prediction_html(&document),
    };
    output::write(text.as_bytes(), arguments.output.as_deref())?;
    Ok(exit_code::OK)
}

/// Runs configurations of the documents, each of one of the models, and prints predicted over simulated figures.
fn compare_with_runs(
    arguments: &PredictArguments,
    subject: &Subject<'_>,
    requested: &RequestedChanges<'_>,
    command: &str,
    document: &Document,
    models: &[Chosen],
) -> Result<u8, Failure> {
    let (mut text, mut rows) = (String::new(), 0);
    for (one, chosen) in std::iter::once(document).chain(&document.other_models).zip(models) {
        let model = model_of(chosen);
        let with_grid = |block, grid| {
            let found = predict(subject, &requested.launch_with(block, grid), &model).ok()?;
            Some(Configuration::new(&found, false))
        };
        let (table, compared) = check::check(one, subject.kernel, command, &with_grid)?;
        text.push_str(&table);
        rows += compared;
    }
    output::write(text.as_bytes(), arguments.output.as_deref())?;
    if rows == 0 {
        let message = format!("--check: the program launched {} with none of these shapes", subject.kernel.name);
        return Err(Failure::new(exit_code::NOTHING_MATCHED, message));
    }
    Ok(exit_code::OK)
}

/// Refuses a kernel that was never run if it has accesses that only a run can determine.
fn refuse_unknown(subject: &Subject<'_>, document: &Document) -> Result<(), Failure> {
    let Some(first) = document.recorded.first() else { return Ok(()) };
    let message = format!(
        "{}: {}:{}: {}; `warpline run` the program and give `predict` the profile, which has what such accesses do",
        subject.kernel.name, first.file, first.line, first.reason
    );
    Err(Failure::new(exit_code::NOTHING_MATCHED, message))
}

/// Returns the kernel whose name matches, if there is exactly one.
fn kernel<'a>(profile: &'a Profile, wanted: Option<&str>) -> Result<&'a Kernel, Failure> {
    let pattern = wanted.map(regex::Regex::new).transpose();
    let pattern = pattern.map_err(|error| Failure::new(exit_code::USAGE, format!("--kernel: {error}")))?;
    let matching: Vec<&Kernel> = profile
        .kernels
        .iter()
        .filter(|kernel| pattern.as_ref().is_none_or(|pattern| pattern.is_match(&kernel.name)))
        .collect();
    let names = |kernels: &[&Kernel]| kernels.iter().map(|kernel| format!("\n  {}", kernel.name)).collect::<String>();
    match matching[..] {
        [one] => Ok(one),
        [] => {
            let all: Vec<&Kernel> = profile.kernels.iter().collect();
            let message =
                format!("no kernel matches --kernel {}; there are:{}", wanted.unwrap_or_default(), names(&all));
            Err(Failure::new(exit_code::NOTHING_MATCHED, message))
        }
        _ => {
            let message = format!("--kernel has to name one kernel; these match:{}", names(&matching));
            Err(Failure::new(exit_code::USAGE, message))
        }
    }
}

fn model_of(chosen: &Chosen) -> Model<'_> {
    Model {
        key: &chosen.key,
        device: &chosen.device,
        hierarchy: &chosen.simulation.hierarchy,
        rates: &chosen.rates,
        stated: chosen.simulation.stated,
    }
}

/// Predicts all configurations on a model; the recorded launch may have been run on it.
fn of_model(
    subject: &Subject<'_>,
    requested: &RequestedChanges<'_>,
    chosen: &Chosen,
    was_run: bool,
) -> Result<Document, Failure> {
    if chosen.simulation.hierarchy.wave_lanes != 32 {
        let message = format!("{}: predictions are of GPUs with warps of 32 lanes", chosen.key);
        return Err(Failure::new(exit_code::USAGE, message));
    }
    let model = model_of(chosen);
    let launches: Vec<(Launch, Vec<GridRule>)> = requested.launches(subject);
    let work = requested.work(subject);
    let reference = match &work {
        Work::Recorded => Some(&subject.launch),
        Work::Of(launch) => Some(launch),
        Work::Most => None,
    };
    // The recorded launch and reference launches are also predicted.
    let mut all: Vec<&Launch> = launches.iter().map(|(launch, _)| launch).collect();
    for launch in reference.into_iter().chain(was_run.then_some(&subject.launch)) {
        if !all.contains(&launch) {
            all.push(launch);
        }
    }
    let mut found = predict_all(subject, &all, &model);
    let beside = found.split_off(launches.len());
    let beside: Vec<Option<Prediction>> = beside.into_iter().map(Result::ok).collect();
    let found = all.iter().copied().zip(found);
    let mut document = Document {
        schema: document::SCHEMA.to_owned(),
        version: document::VERSION,
        kernel: subject.kernel.name.clone(),
        model: chosen.key.clone(),
        ..Document::default()
    };
    let (mut predictions, mut predicted) = (Vec::new(), Vec::new());
    for (launch, result) in found {
        match result {
            Ok(prediction) => {
                predicted.push(launch);
                let recorded = launch.block == subject.recorded.block && launch.grid == subject.recorded.grid;
                document.configurations.push(Configuration::new(&prediction, recorded && !requested.changes()));
                predictions.push(prediction);
            }
            Err(refusal @ Refusal::NothingKnown { .. }) => {
                let name = &subject.kernel.name;
                return Err(Failure::new(exit_code::NOTHING_MATCHED, format!("{name}: {refusal}")));
            }
            Err(refusal) => {
                document.refused.push(Refused { block: launch.block, reason: refusal.to_string() });
            }
        }
    }
    if let ([], [first, ..]) = (&document.configurations[..], &document.refused[..]) {
        let [x, y, z] = first.block;
        let message = format!("{}: nothing can be predicted; blocks of {x}x{y}x{z}: {}", document.kernel, first.reason);
        return Err(Failure::new(exit_code::NOTHING_MATCHED, message));
    }
    let of_shapes = predicted.iter().copied().zip(predictions.iter().map(Some));
    let of_others = all[launches.len()..].iter().copied().zip(beside.iter().map(Option::as_ref));
    let known: Vec<(&Launch, Option<&Prediction>)> = of_shapes.chain(of_others).collect();
    let of = |launch: &Launch| known.iter().find(|(known, _)| *known == launch).and_then(|(_, found)| *found);
    mark_other_work(subject, (&work, reference.and_then(of)), &predictions, &mut document);
    document.configurations.sort_by(Configuration::rank);
    worth_measuring::mark_undecided(&mut document.configurations);
    document.sizes.extend(sizes(subject, requested, &document, &model));
    document.recorded = recorded_sites(subject, &predictions);
    document.assumptions = assumptions(subject, requested, &launches, &predictions);
    document.assumptions.extend(registers::assumed(subject, &model));
    document.assumptions.extend(order_not_replayed(&model));
    let own = of(&subject.launch).filter(|_| was_run);
    document.assumptions.extend(own.and_then(|own| beside_the_run(subject, own, &model)));
    Ok(document)
}

/// Returns the predictions of the best configuration for each value of `--over`.
fn sizes(
    subject: &Subject<'_>,
    requested: &RequestedChanges<'_>,
    document: &Document,
    model: &Model<'_>,
) -> Option<Sizes> {
    let block = document.configurations.first()?.block;
    let (parameter, launches) = requested.sizes(subject, block)?;
    let points =
        launches.iter().filter_map(|(value, launch)| Some(size(*value, &predict(subject, launch, model).ok()?)));
    Some(Sizes { parameter: parameter.to_owned(), block, points: points.collect() })
}

/// Marks configurations that do a different amount of work from the reference launch, if the reference was predicted.
/// `predictions` are in the order of the document.
fn mark_other_work(
    subject: &Subject<'_>,
    (work, own): (&Work, Option<&Prediction>),
    predictions: &[Prediction],
    document: &mut Document,
) {
    let Some(reference) = own.or_else(|| most_work(predictions)) else { return };
    for (configuration, prediction) in document.configurations.iter_mut().zip(predictions) {
        configuration.other_work = other_work(subject, prediction, reference).map(nine_digits);
    }
    if *work != Work::Recorded || own.is_none() {
        document.compared_with = Some(Compared { block: reference.block, grid: reference.grid });
    }
}

/// Returns the figures predicted for a value of a parameter.
fn size(value: i64, found: &Prediction) -> Size {
    Size {
        value,
        dram_bytes_per_thread: nine_digits((found.dram_loads + found.dram_stores) / found.active_threads),
        l2_reuse_oversubscription: nine_digits(found.l2_reuse_oversubscription),
        l2_reuse_lost: nine_digits(found.l2_reuse_lost),
        seconds: found.seconds,
    }
}

/// Predicts all launches with as many threads as there are cores. Each thread takes the next launch, because the times
/// differ: narrow blocks take several times as long.
fn predict_all(subject: &Subject<'_>, launches: &[&Launch], model: &Model<'_>) -> Vec<Result<Prediction, Refusal>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(launches.len());
    let next = AtomicUsize::new(0);
    let work = || {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let own = numbers.map_while(|number| Some((number, predict(subject, launches.get(number)?, model))));
        own.collect::<Vec<_>>()
    };
    let mut found: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let done = running.into_iter().flat_map(|thread| match thread.join() {
            Ok(found) => found,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        done.collect()
    });
    found.sort_unstable_by_key(|(number, _)| *number);
    found.into_iter().map(|(_, one)| one).collect()
}
