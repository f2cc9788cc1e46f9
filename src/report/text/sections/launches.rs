//! Writes the differences between launches of a kernel from one call path.

use std::fmt::Write as _;

use super::kernels::more;
use crate::words::figures::{bytes, count, percent, seconds};
use crate::words::style::Style;
use crate::words::{names, places};
use warpline_profile::Profile;
use warpline_profile::model::{Kernel, PathSpread, RatioSpread, Spread};
use warpline_simulator::geometry::SECTOR_BYTES;

/// A row of the table: the figure's name in the profile, its title, and its format.
type Shown = (&'static str, &'static str, FigureForm);

/// Format of a figure. It also determines whether launches are listed that differ only in this figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FigureForm {
    /// A count of sectors, as bytes.
    Sectors,
    /// A count.
    Count,
    /// A ratio, in per cent.
    Share,
    /// A mean.
    Mean,
    /// Seconds. They follow from other figures, so differences only in time are not listed.
    Seconds,
}

const SHOWN: [Shown; 11] = [
    ("global.sectors", "global traffic", FigureForm::Sectors),
    ("global.coalescing_efficiency", "efficiency", FigureForm::Share),
    ("global.l1.load_hit_rate", "L1 hits of loads", FigureForm::Share),
    ("global.l2.hit_rate", "L2 hits", FigureForm::Share),
    ("global.reuse.element.mean", "mean reuse distance", FigureForm::Mean),
    ("shared.wavefronts", "shared passes", FigureForm::Count),
    ("shared.passes_useful", "shared passes useful", FigureForm::Share),
    ("constant.wavefronts", "constant passes", FigureForm::Count),
    ("constant.passes_useful", "constant passes useful", FigureForm::Share),
    ("branches.divergent_share", "divergent branches", FigureForm::Share),
    ("estimate.seconds", "estimated time", FigureForm::Seconds),
];

/// Minimum relative difference (or difference in percentage points) that is shown. Caches alone cause smaller
/// differences.
const SIGNIFICANT: f64 = 0.01;

/// Returns mean, minimum, maximum and standard deviation of a figure over the launches of a path; `None` if no launch
/// has it.
fn values(path: &PathSpread, (name, _, form): Shown) -> Option<[f64; 4]> {
    if matches!(form, FigureForm::Sectors | FigureForm::Count) {
        let Spread { mean, min, max, stddev } = *path.counts.get(name).filter(|spread| spread.max > 0)?;
        return Some([mean, min as f64, max as f64, stddev]);
    }
    let RatioSpread { mean, min, max, stddev } = *path.ratios.get(name)?;
    Some([mean, min, max, stddev])
}

/// Returns the figures in which the launches of a path differ.
fn differing(path: &PathSpread) -> Vec<(Shown, [f64; 4])> {
    let all = SHOWN.into_iter().filter_map(|shown| Some((shown, values(path, shown)?)));
    all.filter(|((.., form), [_, min, max, _])| {
        let whole = if *form == FigureForm::Share { 1.0 } else { *max };
        // Values with the same display text are treated as equal.
        max > min && max - min >= SIGNIFICANT * whole && figure(*min, *form) != figure(*max, *form)
    })
    .collect()
}

/// Returns whether the launches differ in any relevant figure.
fn differ(path: &PathSpread) -> bool {
    differing(path).iter().any(|((.., form), _)| *form != FigureForm::Seconds)
}

fn figure(value: f64, form: FigureForm) -> String {
    match form {
        FigureForm::Sectors => bytes((value * SECTOR_BYTES as f64).round() as u64),
        FigureForm::Count => count(value.round() as u64),
        FigureForm::Share => percent(value),
        FigureForm::Mean => format!("{value:.1}"),
        FigureForm::Seconds => seconds(value),
    }
}

pub(crate) fn write(out: &mut String, profile: &Profile, style: Style, top: usize) {
    let all = |kernel: &PathSpread| kernel.counts.get("global.sectors").copied().unwrap_or_default();
    // Equal launches need no table.
    let mut rows: Vec<(&Kernel, &PathSpread)> = profile
        .kernels
        .iter()
        .flat_map(|kernel| kernel.over_paths.iter().map(move |path| (kernel, path)))
        .filter(|(_, path)| differ(path))
        .collect();
    if rows.is_empty() {
        return;
    }
    rows.sort_by(|one, other| {
        let total = |path: &PathSpread| all(path).mean * path.count() as f64;
        total(other.1).total_cmp(&total(one.1)).then(one.0.id.cmp(&other.0.id))
    });
    _ = writeln!(
        out,
        "{}",
        style.heading("LAUNCHES from one call path that differ, and in what: mean (least to most; standard deviation)")
    );
    for (kernel, path) in rows.iter().take(top) {
        _ = writeln!(out, "  {} launches of {}", path.count(), style.strong(&names::label(profile, kernel)));
        for (shown, figures) in differing(path) {
            let [mean, min, max, stddev] = figures.map(|value| figure(value, shown.2));
            _ = writeln!(out, "      {:<22} {mean} ({min} to {max}; {stddev})", shown.1);
        }
        let host = places::host_path(&path.path);
        if !host.is_empty() {
            _ = writeln!(out, "      {:<22} {}", "path", places::wrapped(&host, "                             ", 112));
        }
    }
    more(out, rows.len(), top, "call paths", style);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_no_difference() {
        let path = |sectors: [u64; 2], hits: [f64; 2]| {
            let count = Spread { min: sectors[0], max: sectors[1], ..Spread::default() };
            let ratio = RatioSpread { min: hits[0], max: hits[1], ..RatioSpread::default() };
            PathSpread {
                path: Vec::new(),
                count: 2,
                launches: vec![0, 1],
                counts: [("global.sectors".to_owned(), count)].into(),
                ratios: [("global.l2.hit_rate".to_owned(), ratio)].into(),
                exact: Default::default(),
            }
        };
        assert!(!differ(&path([0, 0], [0.5, 0.5])));
        assert!(!differ(&path([1000, 1000], [0.249, 0.2545])));
        assert!(differ(&path([1000, 1000], [0.2, 0.3])));
        assert!(!differ(&path([1000, 1005], [0.5, 0.5])));
        assert!(differ(&path([1000, 1500], [0.5, 0.5])));
        // Differences only in passes are shown; differences only in time are not.
        let only = |name: &str, max: u64| {
            let mut path = path([7, 7], [0.5, 0.5]);
            path.counts.insert(name.to_owned(), Spread { min: 4, max, ..Spread::default() });
            path
        };
        assert!(differ(&only("constant.wavefronts", 57)) && differ(&only("shared.wavefronts", 5)));
        assert!(!differ(&only("shared.wavefronts", 4)) && !differ(&only("global.lanes", 5)));
        let mut timed = path([7, 7], [0.5, 0.5]);
        timed
            .ratios
            .insert("estimate.seconds".to_owned(), RatioSpread { min: 1e-6, max: 1.0, ..RatioSpread::default() });
        assert!(!differ(&timed));
    }
}
