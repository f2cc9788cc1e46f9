//! Formats estimates of a run of which a budget recorded only some launches.

use crate::words::estimates::{sum, together};
use crate::words::{at, label};
use warpline_profile::Profile;
use warpline_profile::model::{Estimated, Line, WholeRun};
use warpline_simulator::geometry::SECTOR_BYTES;

/// A line with its formatted figures.
pub(crate) struct WholeLine {
    /// File and line.
    pub(crate) place: String,
    /// Name of its kernel.
    pub(crate) kernel: String,
    /// Requests; bytes of global and local memory; passes of shared and constant memory.
    pub(crate) figures: [String; 3],
}

/// Returns a sentence on the reliability of the figures of a run with a budget.
pub(crate) fn caution(whole: &WholeRun) -> String {
    format!(
        "{} of {} launches were recorded (--budget), and counts are of these; what all launches did is an estimate, with bounds that \
         hold in {} of 100 draws of launches",
        whole.recorded_launches,
        whole.launches,
        (whole.confidence * 100.0).round()
    )
}

/// Returns lines with estimates, in descending order of traffic and passes.
pub(crate) fn lines(profile: &Profile) -> Vec<WholeLine> {
    let cost = |line: &Line| {
        let parts = [figure(line, "sectors"), figure(line, "wavefronts")];
        parts.into_iter().flatten().map(|one| one.estimate).sum::<f64>()
    };
    let mut lines: Vec<&Line> = profile.lines.iter().filter(|line| !line.whole_run.is_empty()).collect();
    // Lines of equal cost keep the profile's order.
    lines.sort_by(|one, other| cost(other).total_cmp(&cost(one)));
    let shown = |line: &&Line| {
        let text = |name: &str, scale: u64| figure(line, name).map_or("-".to_owned(), |all| sum(&all, scale));
        let kernel = profile.kernels.iter().find(|kernel| kernel.id == line.kernel);
        WholeLine {
            place: at(&line.file, line.line),
            kernel: kernel.map_or_else(String::new, |kernel| label(profile, kernel)),
            figures: [text("requests", 1), text("sectors", SECTOR_BYTES), text("wavefronts", 1)],
        }
    };
    lines.iter().map(shown).collect()
}

/// Returns a figure over all spaces.
fn figure(line: &Line, name: &str) -> Option<Estimated> {
    let of_name = |key: &str| key.split_once('.').is_some_and(|(_, figure)| figure == name);
    together(line.whole_run.iter().filter(|(key, _)| of_name(key)).map(|(_, one)| *one))
}
