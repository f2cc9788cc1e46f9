//! How figures spread over the launches of all runs.
//!
//! Counts can be put together: mean and standard deviation tell the sum and the sum of squares, which are whole numbers and are
//! kept for merging again. Of ratios a profile does not tell how many launches have them, so these are left out where several
//! runs have any.

use std::collections::{BTreeMap, BTreeSet};

use super::metrics::whole;
use super::over_ranks::mean_and_deviation;
use crate::profile::model::{Exact, Frame, Kernel, PathSpread, Spread, Wide};

pub(super) const RATIOS_LOST: &str =
    "how ratios spread over launches is left out: it does not follow from the single runs";
pub(super) const PATHS_LOST: &str =
    "how figures spread over the launches of a call path is reported for paths that every run took often or never";

/// Adds the spreads of another run's kernel; neither has the other's launches yet. Says what is lost.
pub(super) fn add(sum: &mut Kernel, more: &Kernel, left_out: &mut BTreeSet<String>) {
    let (ours, theirs) = (recorded(sum), recorded(more));
    if ours > 0 && theirs > 0 {
        let lots = [
            Lot { launches: ours, spreads: &sum.over_launches, exact: &sum.exact.over_launches },
            Lot { launches: theirs, spreads: &more.over_launches, exact: &more.exact.over_launches },
        ];
        (sum.over_launches, sum.exact.over_launches) = together(&lots);
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

/// Launches that figures are of.
fn recorded(kernel: &Kernel) -> u64 {
    let alone = kernel.launches.iter().filter(|launch| launch.block_share != 0).count() as u64;
    let groups = kernel.launch_groups.iter().filter(|group| group.block_share != 0).map(|group| group.launches);
    groups.fold(alone, u64::saturating_add)
}

/// Counts of so many launches.
struct Lot<'a> {
    launches: u64,
    spreads: &'a BTreeMap<String, Spread>,
    exact: &'a BTreeMap<String, Exact>,
}

impl Lot<'_> {
    /// Sum and sum of squares of a count; one that a lot lacks is 0 in its launches.
    fn sums(&self, name: &str) -> Exact {
        if let Some(exact) = self.exact.get(name) {
            return *exact;
        }
        let Some(spread) = self.spreads.get(name) else { return Exact::default() };
        let (n, sum) = (u128::from(self.launches), whole(spread.mean * self.launches as f64));
        // The mean's square from the sum, so that equal counts have no spread, however large they are.
        let of_mean = match sum.checked_mul(sum) {
            Some(square) => square.saturating_add(n / 2) / n.max(1),
            None => whole(sum as f64 / self.launches as f64 * sum as f64),
        };
        let remainder = sum.checked_mul(sum).map_or(0.0, |square| {
            let (whole, rounded) = (square / n.max(1), of_mean);
            (square % n.max(1)) as f64 / n as f64 - (rounded - whole) as f64
        });
        let of_deviation = self.launches as f64 * spread.stddev * spread.stddev + remainder;
        Exact { sum: Wide(sum), squares: Wide(of_mean.saturating_add_signed(of_deviation.round() as i128)) }
    }
}

/// Spreads over all launches of some lots.
fn together(lots: &[Lot<'_>; 2]) -> (BTreeMap<String, Spread>, BTreeMap<String, Exact>) {
    let all = lots.iter().fold(0u64, |sum, lot| sum.saturating_add(lot.launches));
    let names: BTreeSet<&String> = lots.iter().flat_map(|lot| lot.spreads.keys()).collect();
    let (mut spreads, mut exact) = (BTreeMap::new(), BTreeMap::new());
    for name in names {
        let [one, other] = lots.each_ref().map(|lot| lot.sums(name));
        let sums = Exact { sum: one.sum.plus(other.sum), squares: one.squares.plus(other.squares) };
        let (mean, stddev) = mean_and_deviation(all, sums.sum.0, sums.squares.0);
        let [one, other] = lots.each_ref().map(|lot| lot.spreads.get(name).copied().unwrap_or_default());
        let spread = Spread { mean, min: one.min.min(other.min), max: one.max.max(other.max), stddev };
        spreads.insert(name.clone(), spread);
        exact.insert(name.clone(), sums);
    }
    (spreads, exact)
}

/// Rows by call path. One launch alone has no row, and what it counted is not told by these names.
fn add_paths(sum: &mut Kernel, more: &Kernel, left_out: &mut BTreeSet<String>) {
    let taken = |kernel: &Kernel, path: &[Frame]| {
        kernel.launches.iter().any(|launch| launch.path == path)
            || kernel.launch_groups.iter().any(|group| group.path == path)
    };
    let ours = std::mem::take(&mut sum.over_paths);
    let mut rows = Vec::new();
    for row in ours {
        match more.over_paths.iter().find(|other| other.path == row.path) {
            Some(other) => rows.push(add_path(&row, other)),
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

fn add_path(one: &PathSpread, other: &PathSpread) -> PathSpread {
    let lot = |row| {
        let row: &PathSpread = row;
        (row.count(), row)
    };
    let lots = [lot(one), lot(other)].map(|(launches, row)| Lot { launches, spreads: &row.counts, exact: &row.exact });
    let (counts, exact) = together(&lots);
    PathSpread {
        path: one.path.clone(),
        launches: Vec::new(),
        count: one.count().saturating_add(other.count()),
        counts,
        ratios: BTreeMap::new(),
        exact,
    }
}

/// Rows in order, and the launches of each by their new numbers.
pub(super) fn number_paths(kernel: &mut Kernel) {
    kernel.over_paths.sort_by(|one, other| one.path.cmp(&other.path));
    for row in &mut kernel.over_paths {
        let own = kernel.launches.iter().filter(|launch| launch.block_share != 0 && launch.path == row.path);
        row.launches = own.map(|launch| launch.id).collect();
    }
}
