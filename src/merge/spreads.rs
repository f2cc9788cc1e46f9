//! How figures spread over the launches of all runs.
//!
//! Counts can be put together: mean and standard deviation tell the sum and the sum of squares, and the number of launches is
//! known. Of ratios a profile does not tell how many launches have them, so these are left out where several runs have any.

use std::collections::{BTreeMap, BTreeSet};

use crate::profile::Profile;
use crate::profile::model::{Frame, Kernel, PathSpread, Spread};
use crate::profile::nine_digits;

/// Counts of so many launches.
type Part<'a> = (u64, &'a BTreeMap<String, Spread>);

/// Fills in the spreads of a merged profile; its kernels have their launches.
pub(super) fn merge(whole: &mut Profile, profiles: &[Profile]) {
    let mut ratios_lost = false;
    let mut paths_lost = false;
    let mut by_name: BTreeMap<(&str, &str), Vec<&Kernel>> = BTreeMap::new();
    for kernel in profiles.iter().flat_map(|profile| &profile.kernels) {
        by_name.entry((&kernel.module, &kernel.mangled)).or_default().push(kernel);
    }
    let none = Vec::new();
    for kernel in &mut whole.kernels {
        let parts = by_name.get(&(&*kernel.module, &*kernel.mangled)).unwrap_or(&none);
        let counts: Vec<Part<'_>> =
            parts.iter().map(|part| (recorded(part), &part.over_launches)).filter(|(count, _)| *count > 0).collect();
        kernel.over_launches = together(&counts);
        let mut with_ratios = parts.iter().filter(|part| !part.ratios_over_launches.is_empty());
        match (with_ratios.next(), with_ratios.next()) {
            (Some(only), None) if counts.len() == 1 => kernel.ratios_over_launches = only.ratios_over_launches.clone(),
            (None, _) => {}
            _ => ratios_lost = true,
        }
        let (rows, lost) = paths(parts);
        kernel.over_paths = rows;
        paths_lost |= lost;
    }
    let notes = &mut whole.run.notes;
    if ratios_lost {
        notes.push("how ratios spread over launches is left out: it does not follow from the single runs".to_owned());
    }
    if paths_lost {
        let note = "how figures spread over the launches of a call path is reported for paths that every run took often or never";
        notes.push(note.to_owned());
    }
    number_paths(whole);
}

/// Launches that figures are of.
fn recorded(kernel: &Kernel) -> u64 {
    let alone = kernel.launches.iter().filter(|launch| launch.block_share != 0).count() as u64;
    let groups = kernel.launch_groups.iter().filter(|group| group.block_share != 0).map(|group| group.launches);
    groups.fold(alone, u64::saturating_add)
}

/// Spreads over all launches of some lots. A count that a lot lacks is 0 in its launches.
fn together(parts: &[Part<'_>]) -> BTreeMap<String, Spread> {
    if let [(_, counts)] = parts {
        return (*counts).clone();
    }
    let all: f64 = parts.iter().map(|(count, _)| *count as f64).sum();
    let names: BTreeSet<&String> = parts.iter().flat_map(|(_, counts)| counts.keys()).collect();
    let spread = |name: &String| {
        let lots =
            || parts.iter().map(|(count, counts)| (*count as f64, counts.get(name).copied().unwrap_or_default()));
        let mean = lots().map(|(count, lot)| count * lot.mean).sum::<f64>() / all;
        // Of differences from the common mean, as differences of large squares lose their digits.
        let squares = lots().map(|(count, lot)| count * (lot.stddev * lot.stddev + (lot.mean - mean).powi(2)));
        let stddev = (squares.sum::<f64>() / all).sqrt();
        Spread {
            mean: nine_digits(mean),
            min: lots().map(|(_, lot)| lot.min).min().unwrap_or(0),
            max: lots().map(|(_, lot)| lot.max).max().unwrap_or(0),
            stddev: nine_digits(stddev),
        }
    };
    names.into_iter().map(|name| (name.clone(), spread(name))).collect()
}

/// Rows by call path, and whether some had to be left out.
fn paths(parts: &[&Kernel]) -> (Vec<PathSpread>, bool) {
    let known: BTreeSet<&Vec<Frame>> = parts.iter().flat_map(|part| &part.over_paths).map(|row| &row.path).collect();
    let (mut rows, mut lost) = (Vec::new(), false);
    for path in known {
        let taken = |part: &&&Kernel| {
            part.launches.iter().any(|launch| launch.path == *path)
                || part.launch_groups.iter().any(|group| group.path == *path)
        };
        let users: Vec<&&Kernel> = parts.iter().filter(taken).collect();
        let found: Vec<&PathSpread> =
            users.iter().filter_map(|part| part.over_paths.iter().find(|row| row.path == *path)).collect();
        match found[..] {
            // One launch alone has no row, and what it counted is not told by these names.
            _ if found.len() < users.len() => lost = true,
            [only] => rows.push(only.clone()),
            _ => {
                let lots: Vec<Part<'_>> = found.iter().map(|row| (row.count(), &row.counts)).collect();
                rows.push(PathSpread {
                    path: path.clone(),
                    launches: Vec::new(),
                    count: found.iter().fold(0, |sum, row| sum.saturating_add(row.count())),
                    counts: together(&lots),
                    ratios: BTreeMap::new(),
                });
            }
        }
    }
    (rows, lost)
}

/// Launches of each path by their new numbers.
fn number_paths(whole: &mut Profile) {
    for kernel in &mut whole.kernels {
        for row in &mut kernel.over_paths {
            let own = kernel.launches.iter().filter(|launch| launch.block_share != 0 && launch.path == row.path);
            row.launches = own.map(|launch| launch.id).collect();
        }
    }
}
