//! Runs pointer chases: compares simulated misses with closed forms, and on a GPU with latencies and counters.

use super::program::Chases;
use super::write;
use crate::cli::args::{DeviceChoice, ValidateArguments};
use crate::cli::models::{default_model, gpus};
use crate::cli::{Failure, output, profile, run};
use crate::exit_code;
use crate::validate::{
    Case, CaseRow, Chase, KernelCounters, Level, Sweep, Validation, cases, curves, figures, model_text, of_curves,
    timing_plan, validation_text,
};
use warpline_profile::Profile;

/// Key of measured curves in a model's list of sources.
const SOURCE: &str = "validate";

pub(super) fn execute(arguments: &ValidateArguments) -> Result<u8, Failure> {
    let on_gpu = arguments.device == DeviceChoice::Gpu;
    if arguments.curves.is_some() && !on_gpu {
        return Err(Failure::new(exit_code::USAGE, "--curves are measured on a GPU: it needs --device gpu"));
    }
    let model = match &arguments.gpu {
        Some(name) => name.clone(),
        None => default_model::of_program("".as_ref(), on_gpu).model,
    };
    let model = gpus::find(&model)?;
    let config = model.hierarchy().map_err(|error| Failure::new(exit_code::USAGE, error))?;
    let cases = cases(&config);
    let chases = Chases::new(arguments)?;
    let (simulated, mut notes) = simulate(&chases, &cases, &model.key, on_gpu)?;
    let plan: Vec<Chase> = cases.iter().map(|case| case.chase).collect();
    let counted =
        if on_gpu { chases.count(&plan).map_err(|why| notes.push(format!("no counters: {why}"))).ok() } else { None };
    let rows = cases.iter().enumerate().map(|(index, case)| {
        let (l1, l2) = simulated.get(index).copied().unwrap_or_default();
        let row = counted.as_ref().and_then(|counted| counted.get(index));
        CaseRow {
            what: case.what.to_owned(),
            chase: case.chase,
            l1: Level { closed_form: case.misses.l1, simulated: l1, counted: row.and_then(level_1_misses) },
            l2: Level { closed_form: case.misses.l2, simulated: l2, counted: row.and_then(level_2_misses) },
        }
    });
    let rows: Vec<CaseRow> = rows.collect();
    let timed = if on_gpu { time(&chases, &timing_plan(&config))? } else { Vec::new() };
    let measured = if on_gpu { curves(&timed, SOURCE) } else { model.curves.clone() };
    let figures = if on_gpu { figures(&config, &timed) } else { of_curves(&config, &measured) };
    if !on_gpu {
        notes.push("latencies and counters need a GPU: --device gpu".to_owned());
    }
    if let Some(path) = &arguments.curves {
        let of = format!("warpline validate --device gpu {}", env!("CARGO_PKG_VERSION"));
        output::write(model_text(&measured, &figures, (SOURCE, &of)).as_bytes(), Some(path))?;
    }
    let validation = Validation {
        device: if on_gpu { "gpu" } else { "cpu" }.to_owned(),
        model: model.key.clone(),
        cases: rows,
        figures,
        curves: measured,
        measured: on_gpu,
        notes,
    };
    write(arguments, &validation, || validation_text(&validation))?;
    Ok(if validation.wrong() == 0 { exit_code::OK } else { exit_code::THRESHOLD })
}

/// Misses of the loads in both levels by chase, and the notes of the run.
type Simulated = (Vec<(u64, u64)>, Vec<String>);

/// Simulates the accesses of a run with hooks.
fn simulate(chases: &Chases, cases: &[Case], model: &str, on_gpu: bool) -> Result<Simulated, Failure> {
    let (words, _) = chases.command(cases.iter().map(|case| &case.chase))?;
    let mut words = words.into_iter();
    let Some(program) = words.next() else { return Ok(Default::default()) };
    let options =
        ["--gpu", model, "--l2-copies", "cold", "--reuse", "off", "--device", if on_gpu { "gpu" } else { "cpu" }];
    let options = options.map(Into::into).to_vec();
    let mut arguments = profile::parsed(options, program, words.collect())?;
    arguments.output = Some(chases.profile());
    let outcome = run::run(&run::Plan::new(&arguments)?)?;
    let failed = |what: &str| Failure::new(exit_code::RUN_NOT_PROFILED, format!("the program of the chases {what}"));
    let profile = outcome.profile.ok_or_else(|| failed("sent nothing: was it built by `warpline cc`?"))?;
    if outcome.code != 0 || !profile.run.complete {
        return Err(failed(&format!("ended with exit code {}", outcome.code)));
    }
    let misses = load_misses(&profile);
    if misses.len() != cases.len() {
        return Err(failed(&format!("made {} launches for {} chases", misses.len(), cases.len())));
    }
    Ok((misses, profile.run.notes))
}

/// Returns the misses of loads by launch.
fn load_misses(profile: &Profile) -> Vec<(u64, u64)> {
    let launches = profile.kernels.iter().flat_map(|kernel| &kernel.launches);
    let mut all: Vec<(u64, (u64, u64))> = launches
        .map(|launch| {
            let global = launch.metrics.get("global");
            let [l1, l2] = [global.and_then(|m| m.l1), global.and_then(|m| m.l2)]
                .map(|level| level.map_or(0, |level| level.load_lookups - level.load_hits));
            (launch.id, (l1, l2))
        })
        .collect();
    all.sort_unstable_by_key(|(id, _)| *id);
    all.into_iter().map(|(_, misses)| misses).collect()
}

fn time(chases: &Chases, plan: &[(Sweep, Chase)]) -> Result<Vec<(Sweep, Chase, u64)>, Failure> {
    let walked: Vec<Chase> = plan.iter().map(|(_, chase)| *chase).collect();
    let cycles = chases.time(&walked)?;
    Ok(plan.iter().zip(cycles).map(|(&(sweep, chase), cycles)| (sweep, chase, cycles)).collect())
}

fn level_1_misses(counters: &KernelCounters) -> Option<f64> {
    let of = |name: &str| counters.values.get(name);
    let sectors = of("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum")?;
    Some(sectors - of("l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum")?)
}

fn level_2_misses(counters: &KernelCounters) -> Option<f64> {
    let of = |name: &str| counters.values.get(name);
    let sectors = of("lts__t_sectors_srcunit_tex_op_read.sum")?;
    Some(sectors - of("lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum")?)
}
