//! Many launches that take less than their starts.

use super::super::diagnosis::{Count, Diagnosis, Names, Seconds, described};
use super::super::draft::{Draft, WORTH_A_CHANGE};
use super::super::facts::Facts;
use super::super::facts::launches::{Launches, Structure, have_steps};
use super::super::thresholds::launches::{
    DOMINANT_START_SHARE, LEAST_MERGEABLE_SECONDS, LEAST_START_SECONDS, LEAST_START_SHARE,
};
use super::super::words;
use warpline_profile::SECONDS_PER_LAUNCH;
use warpline_profile::model::{FindingLine, Severity};

described! {
    pub(in super::super) enum Cause {
        /// They write different memory.
        Independent { launches: Count, kernels: Names, each: Seconds, start: Seconds, starts: Seconds, all: Seconds } => "independent-launches",
        /// Each thread changes its own elements, launch after launch.
        StepsInPlace { launches: Count, kernels: Names, each: Seconds, start: Seconds, starts: Seconds, all: Seconds } => "steps-in-place",
        /// Whether they could be one is not known.
        Short { launches: Count, kernels: Names, each: Seconds, start: Seconds, starts: Seconds, all: Seconds } => "short-launches",
    }
}

described! {
    pub(in super::super) enum Remedy {
        /// One launch.
        AddGridDimension => "add-grid-dimension",
        /// The loop over the launches, in the kernel.
        LoopInKernel => "loop-in-kernel",
        /// More work per launch, or shorter starts.
        MergeOrGraph => "merge-launches-or-cuda-graph",
    }
}

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let kernels = facts.profile.kernels.iter().filter_map(|kernel| Launches::new(facts, kernel));
    let (mergeable, mut others): (Vec<_>, Vec<_>) = kernels
        .filter(Launches::are_starts)
        .partition(|launches| matches!(launches.structure, Structure::Independent(_) | Structure::InPlace));
    // Kernels that take turns are one sequence of launches.
    others.sort_by_key(|launches| std::cmp::Reverse(launches.count));
    let groups = mergeable.into_iter().map(|launches| vec![launches]).chain([others]);
    groups.filter_map(|launches| draft(facts, &launches)).collect()
}

fn diagnosis(facts: &Facts<'_>, launches: &[Launches<'_>], structure: Structure) -> Diagnosis {
    let count = launches.iter().map(|one| one.count).fold(0, u64::saturating_add);
    let seconds: f64 = launches.iter().map(|one| one.each * one.count as f64).sum();
    let kernels = Names(launches.iter().map(|one| words::kernel(one.kernel)).collect());
    let (launches, each) = (Count(count), Seconds(seconds / count.max(1) as f64));
    let (start, starts) = (Seconds(SECONDS_PER_LAUNCH), Seconds(count as f64 * SECONDS_PER_LAUNCH));
    let all = Seconds(facts.kernel_seconds);
    match structure {
        Structure::Independent(_) => Diagnosis::new(
            &Cause::Independent { launches, kernels, each, start, starts, all },
            &Remedy::AddGridDimension,
        ),
        Structure::InPlace => {
            Diagnosis::new(&Cause::StepsInPlace { launches, kernels, each, start, starts, all }, &Remedy::LoopInKernel)
        }
        _ => Diagnosis::new(&Cause::Short { launches, kernels, each, start, starts, all }, &Remedy::MergeOrGraph),
    }
}

/// The finding of launches, at the most frequent of them.
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
        // The same launch again may be there to be timed.
        Structure::InPlace => starts >= LEAST_MERGEABLE_SECONDS && have_steps(first.kernel),
        _ => starts >= LEAST_START_SECONDS && share >= DOMINANT_START_SHARE,
    };
    let count: u64 = launches.iter().map(|one| one.count).fold(0, u64::saturating_add);
    let mut draft = Draft::of(diagnosis(facts, launches, first.structure))
        .at_launch(first.kernel)
        .evidence("launches", count as f64)
        .evidence("start_seconds", starts)
        .evidence("kernel_seconds", facts.kernel_seconds)
        .gain(first.gain_of_more_sms().filter(|_| matches!(first.structure, Structure::Independent(_))))
        .score(share);
    let lines = launches.iter().skip(1).map(|one| Draft::of(Diagnosis::default()).at_launch(one.kernel));
    let lines = lines.filter(|other| other.file == draft.file && other.line != draft.line);
    draft.lines = lines.map(|other| FindingLine { line: other.line, column: other.column }).collect();
    draft.lines.sort_unstable();
    draft.lines.dedup();
    Some(if is_sure { draft } else { draft.severity(Severity::Note) })
}
