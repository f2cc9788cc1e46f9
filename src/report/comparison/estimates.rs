//! Formats estimates of two whole runs.

use super::shown::words;
use crate::words::count;
use crate::words::estimates::sum;
use warpline_comparison::{EstimatedChange, Estimates, Recorded};
use warpline_profile::model::Estimated;

/// A figure of whole runs.
pub(super) struct ShownEstimate {
    pub(super) label: String,
    pub(super) before: String,
    pub(super) after: String,
    pub(super) verdict: &'static str,
}

/// Names of the main figures.
const MAIN: [&str; 8] = [
    "global.requests",
    "global.sectors",
    "global.dram.read_sectors",
    "global.dram.write_sectors",
    "local.sectors",
    "shared.wavefronts",
    "branches.divergent",
    "instructions.warps",
];

/// Returns a description of the recorded part of both runs.
pub(super) fn recorded(whole: &Estimates) -> String {
    let of = |side: &Option<Recorded>| match side {
        Some(one) => format!("{} of {} launches", one.recorded_launches, one.launches),
        None => "all launches".to_owned(),
    };
    let confidence = whole.before.iter().chain(&whole.after).map(|one| one.confidence).fold(1.0, f64::min);
    format!(
        "Recorded: {} before, {} after (--budget). These are estimates of what all launches did, with bounds that hold in {} of 100 draws; \
         all other figures are of what was recorded.",
        of(&whole.before),
        of(&whole.after),
        (confidence * 100.0).round()
    )
}

/// Returns the main figures, or all of them.
pub(super) fn estimates(whole: &Estimates, all: bool) -> Vec<ShownEstimate> {
    let wanted = |name: &str| all || MAIN.contains(&name);
    // Exact counts have no bound.
    let text = |one: &Estimated, estimated: bool| if estimated { sum(one, 1) } else { count(one.estimate as u64) };
    let row = |(name, figure): (&String, &EstimatedChange)| ShownEstimate {
        label: words(name),
        before: text(&figure.before, whole.before.is_some()),
        after: text(&figure.after, whole.after.is_some()),
        verdict: match figure.apart {
            Some(true) => "differs",
            Some(false) => "within the bounds",
            None => "not known",
        },
    };
    whole.figures.iter().filter(|(name, _)| wanted(name)).map(row).collect()
}
