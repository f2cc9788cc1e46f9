//! The section of a profile about the run as a whole.

use std::collections::{BTreeMap, BTreeSet};

use super::conflicts;
use super::document::RunFacts;
use super::kernels::{occupancy, whole};
use crate::model::{self, Missing};
use warpline_analyzer::analysis::{Analysis, Finish, KernelData};
use warpline_simulator::models::Rates;

/// Returns the section without the notes; `missing` is the work that did not run or did not complete.
pub(super) fn section(analysis: &Analysis, facts: &RunFacts, missing: Vec<Missing>) -> model::Run {
    // Nothing was simulated if requests have no addresses.
    let simulated = facts.models.iter().zip(&facts.rates).filter(|_| !analysis.counted);
    let lookup_bytes = simulated
        .clone()
        .map(|(model, Rates { lookup_bytes: (l1, l2), .. })| (model.clone(), model::LookupBytes { l1: *l1, l2: *l2 }))
        .collect();
    let cache_bytes = simulated
        .filter(|(_, rates)| rates.cache_bytes != (0, 0))
        .map(|(model, Rates { cache_bytes: (l1, l2), .. })| (model.clone(), model::CacheBytes { l1: *l1, l2: *l2 }))
        .collect();
    model::Run {
        device: facts.device.clone(),
        models: facts.models.clone(),
        complete: analysis.finish == Finish::Complete
            && facts.ended_by_itself
            && facts.lost.is_empty()
            && !missing.iter().any(Missing::is_work)
            && analysis.left_out.iter().all(|left| left.model != 0),
        architectures: architectures(analysis),
        dropped_records: analysis.dropped,
        mode: if analysis.counted { "counters" } else { "trace" }.to_owned(),
        sampled: sampled(analysis),
        race_check: conflicts::extent(analysis),
        leak_check: facts.check_leaks,
        init_check: analysis.initialisation.checked,
        host_check: analysis.host_accesses.checked,
        float_check: analysis.floats.checked,
        memory_values: analysis.values.followed,
        exit_code: facts.exit_code,
        merged: None,
        assumptions: assumptions(analysis, facts.assumptions.clone()),
        program: analysis
            .program
            .iter()
            .flat_map(|program| std::iter::once(&program.executable).chain(&program.arguments))
            .cloned()
            .collect(),
        notes: Vec::new(),
        missing,
        whole_run: analysis.whole.as_ref().map(|whole| whole::whole_run(&whole.all)),
        lookup_bytes,
        cache_bytes,
        environment: facts.environment.clone(),
    }
}

/// Returns the architectures of the modules whose kernels ran.
fn architectures(analysis: &Analysis) -> Vec<u32> {
    let modules = analysis.kernels.iter().filter_map(|kernel| analysis.modules.get(&kernel.module));
    modules.map(|module| module.table.arch).collect::<BTreeSet<_>>().into_iter().collect()
}

pub(super) fn sampled(analysis: &Analysis) -> bool {
    analysis.kernels.iter().flat_map(KernelData::all).any(|launch| launch.event.block_share != 1)
}

fn assumptions(analysis: &Analysis, mut known: BTreeMap<String, String>) -> BTreeMap<String, String> {
    known.extend(occupancy::assumptions(analysis, &known));
    let ignored: Vec<&str> = analysis.failures.without_effect.iter().map(|(function, _)| &function[..]).collect();
    if !ignored.is_empty() {
        known.insert("calls_without_effect".to_owned(), ignored.join(", "));
    }
    let modules = || analysis.kernels.iter().filter_map(|kernel| analysis.modules.get(&kernel.module));
    let all = |texts: BTreeSet<&String>| {
        let texts: Vec<String> = texts.into_iter().filter(|text| !text.is_empty()).cloned().collect();
        (!texts.is_empty()).then(|| texts.join("; "))
    };
    for (name, text) in [
        ("compiler", all(modules().map(|module| &module.table.compiler).collect())),
        ("compiler_options", all(modules().map(|module| &module.table.options).collect())),
    ] {
        known.extend(text.map(|text| (name.to_owned(), text)));
    }
    known
}
