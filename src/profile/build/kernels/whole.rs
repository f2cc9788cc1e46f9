//! Estimated figures of a whole run if a budget recorded only some launches.

use std::collections::BTreeMap;

use crate::model::{Estimated, Line, WholeRun, nine_digits};
use warpline_analyzer::analysis::{self, Analysis, Bounded, CONFIDENCE, space_name};
use warpline_analyzer::attribution::Module;

fn estimated(bounded: &Bounded) -> Estimated {
    Estimated { estimate: nine_digits(bounded.estimate), bound: bounded.bound.map(nine_digits) }
}

fn row(figures: &BTreeMap<String, Bounded>) -> BTreeMap<String, Estimated> {
    figures.iter().map(|(name, bounded)| (name.clone(), estimated(bounded))).collect()
}

/// Converts the estimates of a whole run to the profile's form.
pub(in crate::build) fn whole_run(whole: &analysis::WholeRun) -> WholeRun {
    WholeRun {
        launches: whole.launches,
        recorded_launches: whole.recorded,
        kinds: whole.strata,
        confidence: CONFIDENCE,
        totals: row(&whole.totals),
        ratios: row(&whole.ratios),
    }
}

/// Adds estimates over all launches to the lines of a kernel.
pub(in crate::build) fn estimate_lines(analysis: &Analysis, kernel: u32, module: &Module, lines: &mut [Line]) {
    let Some(whole) = &analysis.whole else { return };
    let mut known: BTreeMap<(&str, u32), BTreeMap<String, Estimated>> = BTreeMap::new();
    for (figure, bounded) in whole.lines.iter().filter(|(figure, _)| figure.kernel == kernel) {
        let file = figure.file.and_then(|file| module.table.files.get(file as usize));
        let name = format!("{}.{}", space_name(figure.space), figure.count.name());
        let place = (file.map_or("", |file| &file.path), figure.line);
        known.entry(place).or_default().insert(name, estimated(bounded));
    }
    for line in lines {
        line.whole_run = known.remove(&(line.file.as_str(), line.line)).unwrap_or_default();
    }
}

/// Returns a note about the sample.
pub(in crate::build) fn note(whole: &analysis::WholeRun) -> String {
    format!(
        "--budget: {} of {} launches were recorded, and counts are those of these; `whole_run` estimates what all launches did, \
         with bounds that hold in {} of 100 draws. The caches saw the recorded launches only: what others leave in L2 is not \
         in L2 hit rates and DRAM traffic, and no bound covers it",
        whole.recorded,
        whole.launches,
        (CONFIDENCE * 100.0).round()
    )
}
