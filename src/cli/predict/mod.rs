//! `warpline predict`: configurations of a kernel that were never run.

mod check;
mod options;

use self::options::Wishes;
use super::args::{PredictArguments, PredictFormat};
use super::default_model::DefaultModel;
use super::models::{Chosen, choose};
use super::{Failure, output};
use crate::exit_code;
use crate::prediction::configurations::{self, GridRule};
use crate::prediction::count::Basis;
use crate::prediction::curves;
use crate::prediction::document::{self, Configuration, Document, RecordedSite, Refused};
use crate::prediction::launch::Launch;
use crate::prediction::predict::{Model, Prediction, Refusal, predict};
use crate::prediction::subject::Subject;
use crate::profile::model::Kernel;
use crate::profile::{self, Profile};
use crate::report;

pub(super) fn execute(arguments: &PredictArguments) -> Result<u8, Failure> {
    if let Some(output) = &arguments.output {
        output::refuse_same(&arguments.file, output)?;
    }
    let profile = profile::read(&arguments.file).map_err(|error| Failure::new(exit_code::UNREADABLE, error))?;
    let kernel = kernel(&profile, arguments.kernel.as_deref())?;
    let subject = Subject::new(&profile, kernel).map_err(|error| Failure::new(exit_code::NOTHING_MATCHED, error))?;
    let wishes = Wishes::new(arguments, &subject)?;
    let default = || DefaultModel {
        model: profile.run.models.first().cloned().unwrap_or_else(|| "rtx2080ti".to_owned()),
        reason: "the model of the profile".to_owned(),
        note: None,
    };
    let models = choose(arguments.gpu.as_deref(), default, &arguments.state())?;
    let mut documents = Vec::new();
    for model in &models {
        documents.push(of_model(&subject, &wishes, model)?);
    }
    let mut documents = documents.into_iter();
    let Some(mut document) = documents.next() else { return Ok(exit_code::USAGE) };
    document.other_models = documents.collect();
    if let Some(command) = &arguments.check {
        let mut text = String::new();
        for one in std::iter::once(&document).chain(&document.other_models) {
            text.push_str(&check::check(one, kernel, command)?);
        }
        output::write(text.as_bytes(), arguments.output.as_deref())?;
        return Ok(exit_code::OK);
    }
    let text = match arguments.format {
        PredictFormat::Text => report::prediction_text(&document, arguments.top),
        PredictFormat::Json => report::prediction_json(&document),
        PredictFormat::Csv => report::prediction_csv(&document),
    };
    output::write(text.as_bytes(), arguments.output.as_deref())?;
    Ok(exit_code::OK)
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

/// All configurations on a model.
fn of_model(subject: &Subject<'_>, wishes: &Wishes, chosen: &Chosen) -> Result<Document, Failure> {
    let hierarchy = &chosen.simulation.hierarchy;
    if hierarchy.wave_lanes != 32 {
        let message = format!("{}: predictions are of GPUs with warps of 32 lanes", chosen.key);
        return Err(Failure::new(exit_code::USAGE, message));
    }
    let model = Model {
        key: &chosen.key,
        device: &chosen.device,
        hierarchy,
        rates: &chosen.rates,
        curves: curves::of_model(&chosen.key),
        stated: chosen.simulation.stated,
    };
    let launches: Vec<(Launch, Vec<GridRule>)> = wishes.launches(subject);
    let found = launches.iter().map(|(launch, _)| launch).zip(predict_all(subject, &launches, &model));
    let mut document = Document {
        schema: document::SCHEMA.to_owned(),
        version: document::VERSION,
        kernel: subject.kernel.name.clone(),
        model: chosen.key.clone(),
        assumptions: Vec::new(),
        configurations: Vec::new(),
        recorded: Vec::new(),
        refused: Vec::new(),
        other_models: Vec::new(),
    };
    let mut predictions = Vec::new();
    for (launch, result) in found {
        match result {
            Ok(prediction) => {
                let recorded = launch.block == subject.recorded.block && launch.grid == subject.recorded.grid;
                document.configurations.push(Configuration::new(&prediction, recorded && !wishes.changes()));
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
    document.configurations.sort_by(Configuration::rank);
    document.recorded = recorded_sites(subject, &predictions);
    document.assumptions = assumptions(subject, wishes, &launches, &predictions);
    Ok(document)
}

/// All launches, on as many threads as there are cores.
fn predict_all(
    subject: &Subject<'_>,
    launches: &[(Launch, Vec<GridRule>)],
    model: &Model<'_>,
) -> Vec<Result<Prediction, Refusal>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let part = launches.len().div_ceil(threads).max(1);
    let one = |(launch, _): &(Launch, Vec<GridRule>)| predict(subject, launch, model);
    std::thread::scope(|scope| {
        let running: Vec<_> =
            launches.chunks(part).map(|part| scope.spawn(move || part.iter().map(one).collect::<Vec<_>>())).collect();
        let done = running.into_iter().flat_map(|thread| match thread.join() {
            Ok(found) => found,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        done.collect()
    })
}

/// Sites that some configuration took from the run.
fn recorded_sites(subject: &Subject<'_>, predictions: &[Prediction]) -> Vec<RecordedSite> {
    let mut found = std::collections::BTreeSet::new();
    for prediction in predictions {
        for ((_, basis), row) in prediction.sites.iter().zip(&subject.rows) {
            if let (Basis::Lost(lost), Some(row)) = (basis, row) {
                let reason = format!("its address is {lost}");
                found.insert(RecordedSite { file: row.file.clone(), line: row.line, reason });
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
    wishes: &Wishes,
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
            GridRule::Parameter(name) => format!("grids follow {name}, as the recorded one does"),
            GridRule::Given => "the grid is the one given".to_owned(),
        });
    }
    let other_shapes = launches.iter().any(|(launch, _)| launch.block != subject.recorded.block);
    if other_shapes && !configurations::is_free(subject) {
        all.push(
            "no address of this kernel uses blockDim: the shape of its blocks is written into the code, which has to change with it"
                .to_owned(),
        );
    }
    if wishes.changes() {
        all.push("pointers lead to the allocations of the run, whatever their sizes".to_owned());
    }
    if predictions.iter().any(|one| one.sites.iter().any(|(_, basis)| *basis == Basis::Sample)) {
        all.push("addresses that are not affine were counted for some of the blocks".to_owned());
    }
    if predictions.iter().any(|one| one.rough) {
        all.push("footprints leave some edges and overlaps out of account".to_owned());
    }
    all
}
