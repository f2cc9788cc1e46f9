//! Figures of a kernel over ranks.

use rustc_hash::FxHashMap;

use super::over_ranks::{Figures, NonRequestFigure, RowOver, add_figures, figures};
use crate::merge::sums::metrics::whole;
use warpline_profile::model::{Frame, Kernel, Spaces};

/// Figures of a kernel over ranks.
#[derive(Debug, Default)]
pub(in crate::merge) struct KernelOver {
    pub(in crate::merge) own: RowOver,
    /// Index by host call path.
    paths: FxHashMap<u32, usize>,
    pub(in crate::merge) by_path: Vec<(Vec<Frame>, RowOver)>,
}

impl KernelOver {
    pub(in crate::merge) fn add(
        &mut self,
        kernel: &Kernel,
        rank: Option<u32>,
        mut number: impl FnMut(&[Frame]) -> u32,
    ) {
        self.own.add_merged(&kernel.over_ranks);
        for row in &kernel.paths_over_ranks {
            self.path(number(&row.path), &row.path).add_merged(&row.over_ranks);
        }
        let Some(rank) = rank else { return };
        self.own.add_spaces(&kernel.metrics, rank);
        self.own.add_other(NonRequestFigure::Launches, kernel.launch_count(), rank);
        if let Some(estimate) = kernel.estimates.first() {
            let picoseconds = u64::try_from(whole(estimate.seconds * 1e12)).unwrap_or(u64::MAX);
            self.own.add_other(NonRequestFigure::Picoseconds, picoseconds, rank);
        }
        // Each path has one entry, regardless of its number of launches.
        let mut of_paths: Vec<OfPath<'_>> = Vec::new();
        let alone = kernel.launches.iter().map(|launch| (&launch.path, 1, &launch.metrics));
        let grouped = kernel.launch_groups.iter().map(|group| (&group.path, group.launches, &group.metrics));
        for (path, launches, metrics) in alone.chain(grouped).filter(|(path, ..)| !path.is_empty()) {
            let path_number = number(path);
            let known = of_paths.iter_mut().find(|row| row.number == path_number);
            let row = match known {
                Some(row) => row,
                None => {
                    of_paths.push(OfPath { number: path_number, path, launches: 0, spaces: Vec::new() });
                    let Some(row) = of_paths.last_mut() else { continue };
                    row
                }
            };
            row.launches = row.launches.saturating_add(launches);
            row.add(metrics);
        }
        for row in of_paths {
            let over = self.path(row.number, row.path);
            for (space, figures) in &row.spaces {
                over.add_space(space, figures, rank);
            }
            over.add_other(NonRequestFigure::Launches, row.launches, rank);
        }
    }

    fn path(&mut self, number: u32, path: &[Frame]) -> &mut RowOver {
        let place = *self.paths.entry(number).or_insert(self.by_path.len());
        if place == self.by_path.len() {
            self.by_path.push((path.to_vec(), RowOver::default()));
        }
        &mut self.by_path[place].1
    }
}

/// The launches of one rank from one call path.
struct OfPath<'a> {
    number: u32,
    path: &'a [Frame],
    launches: u64,
    spaces: Vec<(&'a str, Figures)>,
}

impl<'a> OfPath<'a> {
    fn add(&mut self, metrics: &'a Spaces) {
        for (space, metrics) in metrics {
            let more = figures(metrics);
            match self.spaces.iter_mut().find(|(known, _)| known == space) {
                Some((_, sum)) => add_figures(sum, &more),
                None => self.spaces.push((space, more)),
            }
        }
    }
}
