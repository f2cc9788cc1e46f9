//! `warpline predict`: configurations of a kernel that were never run.

use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::changes::Changes;
use super::options::Wishes;
use super::{check, unlaunched};
use crate::cli::Failure;
use crate::cli::args::{PredictArguments, PredictFormat};
use crate::cli::models::chosen::{Chosen, choose};
use crate::cli::models::default_model::{self, DefaultModel};
use crate::cli::output;
use crate::cli::profiles::report::width;
use crate::exit_code;
use crate::prediction::configurations::GridRule;
use crate::prediction::count::Basis;
use crate::prediction::document::{self, Configuration, Document, RecordedSite, Refused, Size, Sizes};
use crate::prediction::launch::Launch;
use crate::prediction::other_work::other_work;
use crate::prediction::overflow::overflows;
use crate::prediction::predict::{Model, Prediction, Refusal, predict};
use crate::prediction::subject::Subject;
use crate::profile::model::Kernel;
use crate::profile::{self, Profile, nine_digits};
use crate::report;

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
        let found = unlaunched::kernel(arguments)?;
        let subject = Subject::of(&found.kernel, &found.sites, &[]).map_err(no_subject)?;
        let mut notes = vec![
            "the executable was not run: arrays start at multiples of 256 bytes, and limits by instructions are left out".to_owned(),
        ];
        if found.untold > 0 {
            notes.push(format!("{} accesses to other than global or shared memory are left out", found.untold));
        }
        let default = || default_model::of_program(arguments.file.as_os_str(), false);
        return execute_with(arguments, subject, default, &Origin::Executable(&notes));
    }
    let profile = profile::read(&arguments.file).map_err(|error| Failure::new(exit_code::UNREADABLE, error))?;
    let kernel = kernel(&profile, arguments.kernel.as_deref())?;
    let subject = Subject::new(&profile, kernel).map_err(no_subject)?;
    let default = || DefaultModel {
        model: profile.run.models.first().cloned().unwrap_or_else(|| "rtx2080ti".to_owned()),
        reason: "the model of the profile".to_owned(),
        note: None,
    };
    let measured_on = profile.run.models.first().map(String::as_str);
    execute_with(arguments, subject, default, &Origin::Profile { measured_on })
}

/// What is predicted from.
enum Origin<'a> {
    /// A run, whose figures of caches are those of a model.
    Profile { measured_on: Option<&'a str> },
    /// A kernel that never ran, with what is to be said of that.
    Executable(&'a [String]),
}

/// Predicts and prints.
fn execute_with(
    arguments: &PredictArguments,
    subject: Subject<'_>,
    default: impl FnOnce() -> DefaultModel,
    origin: &Origin<'_>,
) -> Result<u8, Failure> {
    if arguments.over.is_some() && arguments.format == PredictFormat::Csv {
        let message =
            "--format csv has a row for each configuration, and none for the values of --over: take json, text or html";
        return Err(Failure::new(exit_code::USAGE, message));
    }
    let changes = Changes::new(arguments)?;
    let changed = changes.apply(&subject)?;
    let subject = match &changed {
        Some(changed) => subject.with(&changed.addresses, &changed.origins),
        None => subject,
    };
    let wishes = Wishes::new(arguments, &subject, changes.fold)?;
    let models = choose(arguments.gpu.as_deref(), default, &arguments.state())?;
    let mut documents = Vec::new();
    for model in &models {
        let mut document = of_model(&subject, &wishes, model)?;
        match *origin {
            Origin::Executable(notes) => {
                refuse_unknown(&subject, &document)?;
                document.assumptions.retain(|text| !text.contains("those of launch"));
                document.assumptions.extend(notes.iter().cloned());
                document.configurations.iter_mut().for_each(|one| one.recorded = false);
            }
            Origin::Profile { measured_on } if !document.recorded.is_empty() => {
                if let Some(measured_on) = measured_on.filter(|measured_on| *measured_on != document.model) {
                    document.assumptions.push(format!(
                        "what is taken from the run was measured on the model {measured_on}: the caches of {} would serve it otherwise",
                        document.model
                    ));
                }
                if wishes.changes() {
                    let text = "what is taken from the run is as it was for each thread, whatever --set says";
                    document.assumptions.push(text.to_owned());
                }
            }
            Origin::Profile { .. } => {}
        }
        document.changes = changed.iter().flat_map(|changed| changed.told.iter().cloned()).collect();
        documents.push(document);
    }
    let mut documents = documents.into_iter();
    let Some(mut document) = documents.next() else { return Ok(exit_code::USAGE) };
    document.other_models = documents.collect();
    if let Some(command) = &arguments.check {
        let (mut text, mut rows) = (String::new(), 0);
        for (one, chosen) in std::iter::once(&document).chain(&document.other_models).zip(&models) {
            let model = model_of(chosen);
            let with_grid = |block, grid| {
                let found = predict(&subject, &wishes.launch_with(block, grid), &model).ok()?;
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
        return Ok(exit_code::OK);
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

/// Refuses a kernel that never ran and has accesses that only a run could tell.
fn refuse_unknown(subject: &Subject<'_>, document: &Document) -> Result<(), Failure> {
    let Some(first) = document.recorded.first() else { return Ok(()) };
    let message = format!(
        "{}: {}:{}: {}; `warpline run` the program and give `predict` the profile, which has what such accesses do",
        subject.kernel.name, first.file, first.line, first.reason
    );
    Err(Failure::new(exit_code::NOTHING_MATCHED, message))
}

/// The only kernel whose name matches.
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

/// All configurations on a model.
fn of_model(subject: &Subject<'_>, wishes: &Wishes<'_>, chosen: &Chosen) -> Result<Document, Failure> {
    if chosen.simulation.hierarchy.wave_lanes != 32 {
        let message = format!("{}: predictions are of GPUs with warps of 32 lanes", chosen.key);
        return Err(Failure::new(exit_code::USAGE, message));
    }
    let model = model_of(chosen);
    let launches: Vec<(Launch, Vec<GridRule>)> = wishes.launches(subject);
    let found = launches.iter().map(|(launch, _)| launch).zip(predict_all(subject, &launches, &model));
    let mut document = Document {
        schema: document::SCHEMA.to_owned(),
        version: document::VERSION,
        kernel: subject.kernel.name.clone(),
        model: chosen.key.clone(),
        assumptions: Vec::new(),
        changes: Vec::new(),
        configurations: Vec::new(),
        sizes: Vec::new(),
        recorded: Vec::new(),
        refused: Vec::new(),
        other_models: Vec::new(),
    };
    let as_it_was = match wishes.is_same_problem() && !subject.recorded.metrics.is_empty() {
        true => predict(subject, &subject.launch, &model).ok(),
        false => None,
    };
    let mut predictions = Vec::new();
    for (launch, result) in found {
        match result {
            Ok(prediction) => {
                let recorded = launch.block == subject.recorded.block && launch.grid == subject.recorded.grid;
                let other_work = as_it_was.as_ref().and_then(|as_it_was| other_work(subject, &prediction, as_it_was));
                let configuration = Configuration::new(&prediction, recorded && !wishes.changes());
                document
                    .configurations
                    .push(Configuration { other_work: other_work.map(nine_digits), ..configuration });
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
    document.configurations.sort_by(Configuration::rank);
    if let Some((parameter, launches)) =
        document.configurations.first().and_then(|best| wishes.sizes(subject, best.block))
    {
        let block = document.configurations.first().map_or([1; 3], |best| best.block);
        let points =
            launches.iter().filter_map(|(value, launch)| Some(size(*value, &predict(subject, launch, &model).ok()?)));
        document.sizes.push(Sizes { parameter: parameter.to_owned(), block, points: points.collect() });
    }
    document.recorded = recorded_sites(subject, &predictions);
    document.assumptions = assumptions(subject, wishes, &launches, &predictions);
    Ok(document)
}

/// A value of a parameter with what is predicted there.
fn size(value: i64, found: &Prediction) -> Size {
    Size {
        value,
        dram_bytes_per_thread: nine_digits((found.dram_loads + found.dram_stores) / found.active_threads),
        l2_reuse_oversubscription: nine_digits(found.l2_reuse_oversubscription),
        l2_reuse_lost: nine_digits(found.l2_reuse_lost),
        seconds: found.seconds,
    }
}

/// All launches, on as many threads as there are cores. Each takes the next one, as narrow blocks take several times as long.
fn predict_all(
    subject: &Subject<'_>,
    launches: &[(Launch, Vec<GridRule>)],
    model: &Model<'_>,
) -> Vec<Result<Prediction, Refusal>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(launches.len());
    let next = AtomicUsize::new(0);
    let work = || {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let own = numbers.map_while(|number| Some((number, predict(subject, &launches.get(number)?.0, model))));
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

/// Sites that some configuration took from the run.
fn recorded_sites(subject: &Subject<'_>, predictions: &[Prediction]) -> Vec<RecordedSite> {
    let mut found = BTreeSet::new();
    for prediction in predictions {
        for ((_, basis), row) in prediction.sites.iter().zip(&subject.rows) {
            if let (Basis::Lost(lost), Some(row)) = (basis, row) {
                found.insert(RecordedSite { file: row.file.clone(), line: row.line, reason: lost.to_string() });
            }
        }
    }
    for row in subject.others.iter().filter(|row| row.space != "constant") {
        let reason = format!("{} memory, or a function that was not inlined", row.space);
        found.insert(RecordedSite { file: row.file.clone(), line: row.line, reason });
    }
    found.into_iter().collect()
}

/// What the figures rest on.
fn assumptions(
    subject: &Subject<'_>,
    wishes: &Wishes<'_>,
    launches: &[(Launch, Vec<GridRule>)],
    predictions: &[Prediction],
) -> Vec<String> {
    let mut all = vec![
        "L1 and L2 are empty when the kernel starts".to_owned(),
        format!("instructions, registers and shared memory are those of launch {}", subject.recorded.id),
    ];
    let mut rules: Vec<&GridRule> = launches.iter().flat_map(|(_, rules)| rules).collect();
    rules.dedup();
    rules.sort_by_key(|rule| format!("{rule:?}"));
    rules.dedup();
    for rule in rules {
        all.push(match rule {
            GridRule::SameIndices => "grids cover as many indices along each axis as the recorded one".to_owned(),
            GridRule::SameBlocks => "grids have as many blocks as the recorded one along an axis where a block's work does not grow with its threads".to_owned(),
            GridRule::Parameter(name) => format!("grids follow {name}, as the recorded one does"),
            GridRule::Given => "the grid is the one given".to_owned(),
        });
    }
    let other_shapes = launches.iter().any(|(launch, _)| launch.block != subject.recorded.block);
    let tiling = wishes.tiling();
    if wishes.recorded_shape_only() && !other_shapes {
        all.push(
            "no address of this kernel uses blockDim: the shape of its blocks is written into the code, so of all shapes only the recorded \
             one is predicted"
                .to_owned(),
        );
    }
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate().filter(|(axis, _)| !tiling.free[*axis]) {
        if launches.iter().any(|(launch, _)| launch.block[axis] != subject.recorded.block[axis]) {
            all.push(format!(
                "no address of this kernel uses blockDim.{name}: the size of its blocks along {name} is written into the code, which has \
                 to change with it"
            ));
        }
    }
    if wishes.changes() {
        all.push("pointers lead to the allocations of the run, whatever their sizes".to_owned());
        if launches.iter().any(|(launch, _)| overflows(subject.addresses, launch)) {
            let text = "numbers have as many bits as they need: with these sizes some leave the width that the code gives them, and the program would overflow";
            all.push(text.to_owned());
        }
    }
    if predictions.iter().any(|one| one.sites.iter().any(|(_, basis)| *basis == Basis::Sample)) {
        all.push("addresses that are not affine were counted for some of the blocks".to_owned());
    }
    if predictions.iter().any(|one| one.recorded_traffic) {
        let text = "what DRAM moves for addresses that are neither affine nor have affine cases is what it was in the run, for as many threads as come to them";
        all.push(text.to_owned());
    }
    let untold: BTreeSet<u32> = predictions.iter().flat_map(|one| untold(subject, one)).collect();
    if !untold.is_empty() {
        let lines: Vec<String> = untold.iter().map(u32::to_string).collect();
        all.push(format!(
            "the run did not reach accesses that some of these launches come to, and the profile does not say what they do: they are left out (line {}); \
             run the program again with this release",
            lines.join(", ")
        ));
    }
    all.extend(of_the_caches(predictions));
    if predictions.iter().any(|one| one.rough) {
        all.push("footprints leave some edges and overlaps out of account".to_owned());
    }
    all
}

/// Lines of accesses that a launch makes and of which it is not known what they do.
fn untold(subject: &Subject<'_>, found: &Prediction) -> Vec<u32> {
    let sites = found.sites.iter().enumerate();
    let made =
        sites.filter(|(number, (requests, _))| subject.accesses[*number].op.is_none() && requests.requests > 0.0);
    made.map(|(number, _)| subject.line(number)).collect()
}

/// Footprint over capacity from which the curve of what L2 keeps matters.
const NEARLY_FULL: f64 = 0.5;

/// What figures of the caches rest on.
fn of_the_caches(predictions: &[Prediction]) -> Vec<String> {
    let mut all = Vec::new();
    let blocks = |one: &Prediction| one.grid.iter().map(|&size| u64::from(size)).product::<u64>();
    let some = predictions.iter().filter(|one| (1..blocks(one)).contains(&one.replayed.blocks));
    let shares: Vec<f64> = some.map(|one| one.replayed.blocks as f64 / blocks(one) as f64).collect();
    if !shares.is_empty() {
        let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
        all.push(format!(
            "L1 serves all blocks as it served those that were replayed, {} of them or more",
            percent(least)
        ));
    }
    let left_out = predictions.iter().map(|one| one.replayed.left_out).fold(0.0, f64::max);
    if left_out > 0.0 {
        all.push(format!(
            "loops go on as they began: the replay ran {} of their iterations or more",
            percent(1.0 - left_out)
        ));
    }
    let nearly_full = |one: &&Prediction| one.l2_oversubscription.max(one.l2_reuse_oversubscription) > NEARLY_FULL;
    let sampled = || predictions.iter().filter(nearly_full).filter_map(|one| one.sampled);
    let sets = sampled().map(|one| one.sets).reduce(f64::min).map(percent);
    let blocks = sampled().map(|one| one.blocks).fold(1.0, f64::min);
    match sets {
        Some(sets) if blocks < 1.0 => all.push(format!(
            "L2 serves all blocks as those in the middle of the launch that were run, {} of them or more, and all its sets do as {sets} \
             of them or more",
            percent(blocks)
        )),
        Some(sets) => all.push(format!("all sets of L2 do as those that were run, {sets} of them or more")),
        None => {}
    }
    if predictions.iter().filter(nearly_full).any(|one| one.sampled.is_none()) {
        let text = "L2 keeps of what earlier blocks touched what a curve says that was fitted to simulations; where loops go through arrays about as \
                    large as L2, DRAM traffic can be off by factors";
        all.push(text.to_owned());
    }
    all
}

/// A share with two digits.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let digits = (1.0 - percent.max(1e-9).log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{percent:.digits$} %")
}
