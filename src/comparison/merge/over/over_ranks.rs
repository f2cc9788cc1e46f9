//! Exact sums, sums of squares and extremes of figures over ranks, with the ranks of the extremes.

use crate::merge::sums::spreads::mean_and_deviation;
use warpline_profile::model::{Metrics, OverRanks, RankSpread, Spaces, Wide};

/// Spaces by their position in codes. The last entry is for figures without a space, or in rows with a single space.
const SPACES: [&str; 5] = ["global", "local", "shared", "constant", ""];
/// Code of figures without a space.
const PLAIN: usize = 4;

/// Tracked figures, by their position in codes.
const FIGURES: [&str; 16] = [
    "requests",
    "bytes",
    "sectors",
    "l1.lookups",
    "l1.hits",
    "l2.lookups",
    "l2.hits",
    "dram.read_sectors",
    "dram.write_sectors",
    "wavefronts",
    "ideal_wavefronts",
    "launches",
    "estimate.picoseconds",
    "allocations",
    "size",
    "touched_bytes",
];
/// Number of these that are figures of requests.
const OF_REQUESTS: usize = 11;

/// Index of a figure that is not a count of requests.
#[derive(Clone, Copy)]
pub(in crate::merge) enum NonRequestFigure {
    Launches = 11,
    Picoseconds = 12,
    Allocations = 13,
    Size = 14,
    TouchedBytes = 15,
}

/// Figures of requests of one rank; `None` if the space does not have the figure.
pub(in crate::merge) type Figures = [Option<u64>; OF_REQUESTS];

/// Returns the figures of a set of requests.
pub(in crate::merge) fn figures(metrics: &Metrics) -> Figures {
    let passes = metrics.shared.as_ref().or(metrics.constant.as_ref());
    [
        Some(metrics.requests),
        Some(metrics.bytes),
        Some(metrics.sectors),
        metrics.l1.map(|level| level.lookups),
        metrics.l1.map(|level| level.hits),
        metrics.l2.map(|level| level.lookups),
        metrics.l2.map(|level| level.hits),
        metrics.dram.map(|dram| dram.read_sectors),
        metrics.dram.map(|dram| dram.write_sectors),
        passes.map(|passes| passes.wavefronts),
        passes.map(|passes| passes.ideal_wavefronts),
    ]
}

/// Adds the figures of another set of requests by the same rank.
pub(in crate::merge) fn add_figures(sum: &mut Figures, more: &Figures) {
    for (sum, more) in sum.iter_mut().zip(more) {
        if let Some(more) = more {
            *sum = Some(sum.unwrap_or(0).saturating_add(*more));
        }
    }
}

/// One figure over ranks.
#[derive(Clone, Copy, Debug)]
struct Over {
    ranks: u64,
    sum: u128,
    squares: u128,
    /// Minimum with its rank.
    min: (u64, u32),
    max: (u64, u32),
}

impl Over {
    fn one(value: u64, rank: u32) -> Over {
        let wide = u128::from(value);
        Over { ranks: 1, sum: wide, squares: wide * wide, min: (value, rank), max: (value, rank) }
    }

    fn add(&mut self, more: &Over) {
        self.ranks = self.ranks.saturating_add(more.ranks);
        self.sum = self.sum.saturating_add(more.sum);
        self.squares = self.squares.saturating_add(more.squares);
        self.min = self.min.min(more.min);
        // Takes the larger maximum; among equal values, the lowest rank.
        if (more.max.0, std::cmp::Reverse(more.max.1)) > (self.max.0, std::cmp::Reverse(self.max.1)) {
            self.max = more.max;
        }
    }

    fn from_spread(spread: &RankSpread) -> Over {
        Over {
            ranks: spread.ranks,
            sum: spread.sum.0,
            squares: spread.squares.0,
            min: (spread.min, spread.min_rank),
            max: (spread.max, spread.max_rank),
        }
    }

    fn spread(&self) -> RankSpread {
        let (mean, stddev) = mean_and_deviation(self.ranks, self.sum, self.squares);
        RankSpread {
            ranks: self.ranks,
            sum: Wide(self.sum),
            squares: Wide(self.squares),
            min: self.min.0,
            min_rank: self.min.1,
            mean,
            max: self.max.0,
            max_rank: self.max.1,
            stddev,
        }
    }
}

/// The figures of a row, sorted by code.
#[derive(Clone, Debug, Default)]
pub(in crate::merge) struct RowOver(Vec<(u8, Over)>);

impl RowOver {
    fn add(&mut self, code: usize, more: &Over) {
        let code = code as u8;
        match self.0.binary_search_by_key(&code, |(known, _)| *known) {
            Ok(place) => self.0[place].1.add(more),
            Err(place) => self.0.insert(place, (code, *more)),
        }
    }

    fn add_requests(&mut self, space: usize, figures: &Figures, rank: u32) {
        for (figure, value) in figures.iter().enumerate() {
            if let Some(value) = value {
                self.add(space * FIGURES.len() + figure, &Over::one(*value, rank));
            }
        }
    }

    /// Adds figures of one rank's requests by space.
    pub(in crate::merge) fn add_spaces(&mut self, spaces: &Spaces, rank: u32) {
        for (space, metrics) in spaces {
            self.add_space(space, &figures(metrics), rank);
        }
    }

    pub(in crate::merge) fn add_space(&mut self, space: &str, figures: &Figures, rank: u32) {
        if let Some(space) = SPACES[..PLAIN].iter().position(|known| *known == space) {
            self.add_requests(space, figures, rank);
        }
    }

    /// Adds figures of one rank's requests in a row with one space, or with all spaces together.
    pub(in crate::merge) fn add_plain(&mut self, figures: &Figures, rank: u32) {
        self.add_requests(PLAIN, figures, rank);
    }

    /// Adds another figure of one rank.
    pub(in crate::merge) fn add_other(&mut self, figure: NonRequestFigure, value: u64, rank: u32) {
        self.add(PLAIN * FIGURES.len() + figure as usize, &Over::one(value, rank));
    }

    /// Adds the figures of a merged profile. Unknown figures are ignored.
    pub(in crate::merge) fn add_merged(&mut self, merged: &OverRanks) {
        for (name, spread) in merged {
            let split = name.split_once('.').and_then(|(space, figure)| {
                let space = SPACES[..PLAIN].iter().position(|known| *known == space)?;
                Some((space, figure))
            });
            let (space, figure) = split.unwrap_or((PLAIN, name));
            if let Some(figure) = FIGURES.iter().position(|known| *known == figure)
                && spread.ranks > 0
            {
                self.add(space * FIGURES.len() + figure, &Over::from_spread(spread));
            }
        }
    }

    /// Returns the figures in the form of the document.
    pub(in crate::merge) fn document(&self) -> OverRanks {
        let row = |(code, over): &(u8, Over)| {
            let (space, figure) = (usize::from(*code) / FIGURES.len(), usize::from(*code) % FIGURES.len());
            let name = match SPACES[space] {
                "" => FIGURES[figure].to_owned(),
                space => format!("{space}.{}", FIGURES[figure]),
            };
            (name, over.spread())
        };
        self.0.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_profile::nine_digits;

    fn over(values: &[(u64, u32)]) -> RankSpread {
        let mut row = RowOver::default();
        values.iter().for_each(|(value, rank)| row.add_other(NonRequestFigure::Launches, *value, *rank));
        row.document()["launches"]
    }

    #[test]
    fn extremes_name_the_lowest_rank() {
        let found = over(&[(5, 3), (9, 7), (5, 1), (9, 2), (7, 0)]);
        assert_eq!((found.ranks, found.sum, found.squares), (5, Wide(35), Wide(25 + 81 + 25 + 81 + 49)));
        assert_eq!((found.min, found.min_rank, found.max, found.max_rank), (5, 1, 9, 2));
        assert_eq!((found.mean, found.stddev), (7.0, nine_digits((16.0f64 / 5.0).sqrt())));
    }

    #[test]
    fn large_counts_keep_their_spread() {
        let large = 1 << 50;
        let found = over(&[(large, 0), (large + 2, 1)]);
        assert_eq!((found.stddev, found.squares > Wide(u64::MAX.into())), (1.0, true));
        assert_eq!(over(&[(u64::MAX, 0), (u64::MAX, 1)]).stddev, 0.0);
        assert_eq!(mean_and_deviation(0, 0, 0), (0.0, 0.0));
    }

    #[test]
    fn parts_give_what_the_whole_gives() {
        let metrics = Metrics { requests: 7, bytes: 9, ..Metrics::default() };
        let spaces: Spaces = [("global".to_owned(), metrics.clone()), ("shared".to_owned(), metrics)].into();
        let (mut all, mut one, mut other, mut whole) =
            (RowOver::default(), RowOver::default(), RowOver::default(), RowOver::default());
        for rank in 0..9 {
            all.add_spaces(&spaces, rank);
            if rank % 3 == 0 { &mut one } else { &mut other }.add_spaces(&spaces, rank);
        }
        other.add_other(NonRequestFigure::Picoseconds, 4, 2);
        all.add_other(NonRequestFigure::Picoseconds, 4, 2);
        whole.add_merged(&other.document());
        whole.add_merged(&one.document());
        assert_eq!(whole.document(), all.document());
        assert_eq!(all.document()["shared.bytes"].sum, Wide(81));
    }
}
