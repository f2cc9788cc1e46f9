//! Figures of a whole run of which a budget recorded some launches.

use std::collections::BTreeMap;

use crate::analysis::{self, Bounded, CONFIDENCE};
use crate::profile::model::{Estimated, WholeRun, nine_digits};

fn row(figures: &BTreeMap<String, Bounded>) -> BTreeMap<String, Estimated> {
    let row = |bounded: &Bounded| Estimated {
        estimate: nine_digits(bounded.estimate),
        bound: bounded.bound.map(nine_digits),
    };
    figures.iter().map(|(name, bounded)| (name.clone(), row(bounded))).collect()
}

/// As the profile tells it.
pub(in crate::profile::build) fn whole_run(whole: &analysis::WholeRun) -> WholeRun {
    WholeRun {
        launches: whole.launches,
        recorded_launches: whole.recorded,
        kinds: whole.strata,
        confidence: CONFIDENCE,
        totals: row(&whole.totals),
        ratios: row(&whole.ratios),
    }
}

/// What a reader should know of the sample.
pub(in crate::profile::build) fn note(whole: &analysis::WholeRun) -> String {
    format!(
        "--budget: {} of {} launches were recorded, and counts are those of these; `whole_run` estimates what all launches did, \
         with bounds that hold in {} of 100 draws. The caches saw the recorded launches only: what others leave in L2 is not \
         in L2 hit rates and DRAM traffic, and no bound covers it",
        whole.recorded,
        whole.launches,
        (CONFIDENCE * 100.0).round()
    )
}
