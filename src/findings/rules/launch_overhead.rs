//! Launches that are frequent and take less time than their starts.

use super::super::facts::launches::{Launches, Structure};
use super::super::prelude::*;
use super::super::thresholds::launches::*;
use super::super::words;
use std::collections::BTreeSet;
use warpline_profile::SECONDS_PER_LAUNCH;

described! {
    enum Cause {
        Independent => "independent-launches",
        Short => "short-launches",
    }
    enum Remedy {
        AddGridDimension => "add-grid-dimension",
        MergeOrGraph => "merge-launches-or-cuda-graph",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let kernels = facts.profile.kernels.iter().filter_map(|kernel| Launches::new(facts, kernel));
    let (mergeable, mut others): (Vec<_>, Vec<_>) = kernels
        .filter(Launches::are_starts)
        .partition(|launches| matches!(launches.structure, Structure::Independent(_)));
    // Kernels that alternate are one sequence of launches.
    others.sort_by_key(|launches| std::cmp::Reverse(launches.count));
    let groups = mergeable.into_iter().map(|launches| vec![launches]).chain([others]);
    groups.filter_map(|launches| draft(facts, &launches)).collect()
}

fn diagnosis(facts: &Facts<'_>, launches: &[Launches<'_>], structure: Structure) -> Diagnosis {
    let count = launches.iter().map(|one| one.count).total();
    let seconds: f64 = launches.iter().map(|one| one.each * one.count as f64).sum();
    let mut diagnosis = match structure {
        Structure::Independent(_) => Diagnosis::new(&Cause::Independent, &Remedy::AddGridDimension),
        _ => Diagnosis::new(&Cause::Short, &Remedy::MergeOrGraph),
    };
    let figures = &mut diagnosis.figures;
    figures.set("launches", Count(count));
    let mut names: Vec<String> = launches.iter().map(|one| words::kernel(one.kernel)).collect();
    // Several instances of a template have one name.
    let mut known = BTreeSet::new();
    names.retain(|name| known.insert(name.clone()));
    figures.set("kernels", Names(names));
    figures.set("each", Seconds(seconds / count.max(1) as f64));
    figures.set("start", Seconds(SECONDS_PER_LAUNCH));
    figures.set("starts", Seconds(count as f64 * SECONDS_PER_LAUNCH));
    figures.set("all", Seconds(facts.kernel_seconds));
    diagnosis
}

/// Returns the finding for a sequence of launches, at the position of the most frequent kernel.
fn draft(facts: &Facts<'_>, launches: &[Launches<'_>]) -> Option<Draft> {
    let first = launches.first()?;
    let starts: f64 = launches.iter().map(Launches::start_seconds).sum();
    let all = facts.profile.kernels.iter().map(|kernel| kernel.launch_count() as f64 * SECONDS_PER_LAUNCH).sum::<f64>();
    let share = starts / (facts.kernel_seconds + facts.copy_seconds + all);
    if share < LEAST_START_SHARE {
        return None;
    }
    let is_sure = match first.structure {
        Structure::Independent(_) => starts >= LEAST_MERGEABLE_SECONDS && share >= WORTH_A_CHANGE,
        _ => starts >= LEAST_START_SECONDS && share >= DOMINANT_START_SHARE,
    };
    let count: u64 = launches.iter().map(|one| one.count).total();
    let mut draft = Draft::new(diagnosis(facts, launches, first.structure))
        .at_launch(first.kernel)
        .evidence("launches", count as f64)
        .evidence("start_seconds", starts)
        .evidence("kernel_seconds", facts.kernel_seconds)
        .gain(first.gain_of_more_sms().filter(|_| matches!(first.structure, Structure::Independent(_))))
        .score(share);
    let lines = launches.iter().skip(1).map(|one| Draft::new(Diagnosis::default()).at_launch(one.kernel));
    let lines = lines.filter(|other| other.file == draft.file && other.line != draft.line);
    draft.lines = lines.map(|other| FindingLine { line: other.line, column: other.column }).collect();
    draft.lines.sort_unstable();
    draft.lines.dedup();
    Some(draft.note_if(!is_sure))
}
