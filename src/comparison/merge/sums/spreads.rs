//! Merges the spread of figures over launches.
//!
//! Spreads of counts can be merged: the sum and the sum of squares follow from mean and standard deviation. They are
//! integers and are kept for further merging. Spreads of ratios are omitted if several runs have them, because a
//! profile does not contain the number of launches with a ratio.

use std::collections::{BTreeMap, BTreeSet};

use super::metrics::{under, whole};
use super::open as later;
use warpline_profile::model::{Exact, Frame, Kernel, PathSpread, Spread, Wide};
use warpline_profile::nine_digits;

pub(in crate::merge) const RATIOS_LOST: &str =
    "the spread of ratios over launches is not included, because it cannot be computed from the spreads of the runs";
pub(in crate::merge) const PATHS_LOST: &str = "the spread of figures over the launches of a call path is reported only for paths that every run took often or never";

/// Adds the spreads of another run's kernel before its launches are added. Reports lost data.
pub(in crate::merge) fn add(sum: &mut Kernel, more: &Kernel, left_out: &mut BTreeSet<String>) {
    let (ours, theirs) = (recorded(sum), recorded(more));
    if ours > 0 && theirs > 0 {
        let theirs = Lot { launches: theirs, spreads: &more.over_launches, exact: &more.exact.over_launches };
        add_lot(ours, &mut sum.over_launches, &mut sum.exact.over_launches, &theirs);
        if !sum.ratios_over_launches.is_empty() || !more.ratios_over_launches.is_empty() {
            sum.ratios_over_launches.clear();
            left_out.insert(RATIOS_LOST.to_owned());
        }
    } else if theirs > 0 {
        sum.over_launches.clone_from(&more.over_launches);
        sum.exact.over_launches.clone_from(&more.exact.over_launches);
        sum.ratios_over_launches.clone_from(&more.ratios_over_launches);
    }
    add_paths(sum, more, left_out);
}

/// Returns the number of launches that the figures include.
fn recorded(kernel: &Kernel) -> u64 {
    let alone = kernel.launches.iter().filter(|launch| launch.block_share != 0).count() as u64;
    let groups = kernel.launch_groups.iter().filter(|group| group.block_share != 0).map(|group| group.launches);
    groups.fold(alone, u64::saturating_add)
}

/// Spreads of counts over a number of launches.
struct Lot<'a> {
    launches: u64,
    spreads: &'a BTreeMap<String, Spread>,
    exact: &'a BTreeMap<String, Exact>,
}

impl Lot<'_> {
    /// Returns the sum and the sum of squares of a count; an absent count is 0 in all launches.
    fn sums(&self, name: &str) -> Exact {
        if let Some(exact) = self.exact.get(name) {
            return *exact;
        }
        self.spreads.get(name).map_or_else(Exact::default, |spread| sums_of(self.launches, spread))
    }
}

/// Returns the sum and the sum of squares of a count over a number of launches.
fn sums_of(launches: u64, spread: &Spread) -> Exact {
    let (n, sum) = (u128::from(launches), whole(spread.mean * launches as f64));
    // The square of the mean is computed from the sum, so that equal counts have no spread, however large they are.
    let of_mean = match sum.checked_mul(sum) {
        Some(square) => square.saturating_add(n / 2) / n.max(1),
        None => whole(sum as f64 / launches as f64 * sum as f64),
    };
    let remainder = sum.checked_mul(sum).map_or(0.0, |square| {
        let (whole, rounded) = (square / n.max(1), of_mean);
        (square % n.max(1)) as f64 / n as f64 - (rounded - whole) as f64
    });
    let of_deviation = launches as f64 * spread.stddev * spread.stddev + remainder;
    Exact { sum: Wide(sum), squares: Wide(of_mean.saturating_add_signed(of_deviation.round() as i128)) }
}

/// Adds spreads to those over `ours` launches; [`settle`] computes means and deviations.
fn add_lot(ours: u64, spreads: &mut BTreeMap<String, Spread>, exact: &mut BTreeMap<String, Exact>, theirs: &Lot<'_>) {
    for name in theirs.spreads.keys() {
        under(spreads, name, |_| ());
    }
    for (name, spread) in spreads {
        let known = exact.get(name).copied();
        let one = known.unwrap_or_else(|| sums_of(ours, spread));
        let other = theirs.sums(name);
        let sums = Exact { sum: one.sum.plus(other.sum), squares: one.squares.plus(other.squares) };
        match exact.get_mut(name) {
            Some(known) => *known = sums,
            None => _ = exact.insert(name.clone(), sums),
        }
        let other = theirs.spreads.get(name).copied().unwrap_or_default();
        let (min, max) = (spread.min.min(other.min), spread.max.max(other.max));
        *spread = Spread { mean: later::LATER, min, max, stddev: later::LATER };
    }
}

/// Computes means and deviations of a kernel's merged spreads.
pub(in crate::merge) fn settle(kernel: &mut Kernel) {
    let launches = recorded(kernel);
    settle_lot(launches, &mut kernel.over_launches, &kernel.exact.over_launches);
    for row in &mut kernel.over_paths {
        settle_lot(row.count(), &mut row.counts, &row.exact);
    }
}

fn settle_lot(launches: u64, spreads: &mut BTreeMap<String, Spread>, exact: &BTreeMap<String, Exact>) {
    for (name, spread) in spreads.iter_mut().filter(|(_, spread)| later::is_open(spread.mean)) {
        let Exact { sum, squares } = exact.get(name).copied().unwrap_or_default();
        (spread.mean, spread.stddev) = mean_and_deviation(launches, sum.0, squares.0);
    }
}

/// Merges rows by call path. A single launch has no row, and its counts have other names.
fn add_paths(sum: &mut Kernel, more: &Kernel, left_out: &mut BTreeSet<String>) {
    let taken = |kernel: &Kernel, path: &[Frame]| {
        kernel.launches.iter().any(|launch| launch.path == path)
            || kernel.launch_groups.iter().any(|group| group.path == path)
    };
    let ours = std::mem::take(&mut sum.over_paths);
    let mut rows = Vec::with_capacity(ours.len());
    for mut row in ours {
        match more.over_paths.iter().find(|other| other.path == row.path) {
            Some(other) => {
                add_path(&mut row, other);
                rows.push(row);
            }
            None if taken(more, &row.path) => _ = left_out.insert(PATHS_LOST.to_owned()),
            None => rows.push(row),
        }
    }
    for row in &more.over_paths {
        if rows.iter().any(|known| known.path == row.path) {
            continue;
        }
        if taken(sum, &row.path) {
            left_out.insert(PATHS_LOST.to_owned());
        } else {
            rows.push(PathSpread { count: row.count(), launches: Vec::new(), ..row.clone() });
        }
    }
    sum.over_paths = rows;
}

fn add_path(sum: &mut PathSpread, more: &PathSpread) {
    let theirs = Lot { launches: more.count(), spreads: &more.counts, exact: &more.exact };
    let ours = sum.count();
    add_lot(ours, &mut sum.counts, &mut sum.exact, &theirs);
    sum.count = ours.saturating_add(theirs.launches);
    sum.launches.clear();
    sum.ratios.clear();
}

/// Sorts rows, and assigns the launches of each their new numbers.
pub(in crate::merge) fn number_paths(kernel: &mut Kernel) {
    kernel.over_paths.sort_by(|one, other| one.path.cmp(&other.path));
    for row in &mut kernel.over_paths {
        let own = kernel.launches.iter().filter(|launch| launch.block_share != 0 && launch.path == row.path);
        row.launches = own.map(|launch| launch.id).collect();
    }
}

/// Returns the mean and the standard deviation of the population, with nine digits each.
pub(in crate::merge) fn mean_and_deviation(count: u64, sum: u128, squares: u128) -> (f64, f64) {
    if count == 0 {
        return (0.0, 0.0);
    }
    let n = u128::from(count);
    let mean = sum as f64 / count as f64;
    // The variance is computed in integers if they do not overflow, because differences of large squares lose
    // precision.
    let variance = match (n.checked_mul(squares), sum.checked_mul(sum)) {
        (Some(all), Some(square)) => all.saturating_sub(square) as f64 / (count as f64 * count as f64),
        _ => (squares as f64 / count as f64 - mean * mean).max(0.0),
    };
    (nine_digits(mean), nine_digits(variance.sqrt()))
}
