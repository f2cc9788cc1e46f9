//! How much of a launch is looked at: SMs, and blocks of each.

use std::ops::Range;

use super::sample::golden;
use crate::launch::Launch;
use crate::traffic::capacity::Capacity;
use crate::traffic::volumes::Affine;

/// Of a large grid. Eight times the filling is no nearer for a 25-point stencil.
const OF_LARGE: Effort = Effort { enough: 6_000.0, most: 30_000.0, filling: 2.0, sms: 6, generations: 3 };
/// Of one whose edges make SMs differ, and which takes less time otherwise.
const OF_SMALL: Effort = Effort { enough: 600_000.0, most: 200_000.0, filling: 4.0, sms: 16, generations: 8 };
/// The same where there are loops: it takes long until what is in L1 hangs on how far blocks are, no longer on how they began.
const OF_LOOPS: Effort = Effort { enough: 2_000_000.0, most: 600_000.0, filling: 8.0, sms: 24, generations: 8 };
/// Where lanes are worked out one by one, which takes a thousand times as long.
const OF_LANES: Effort = Effort { enough: 40_000.0, most: 20_000.0, filling: 4.0, sms: 8, generations: 8 };
/// Blocks from which on a grid is large.
const LARGE: u64 = 50_000;
/// Pieces of requests after which no further SM is begun where they agree.
const ENOUGH_IF_AGREED: f64 = 6_000.0;
/// SMs that are looked at before they can agree.
const LEAST_SMS: usize = 6;
/// Standard error of the share of loads that miss, over that share, up to which SMs agree.
const AGREED: f64 = 0.01;
/// Share of a block's pieces in the mean that the blocks of an SM made at least, for it to be like the others.
const REPRESENTATIVE: f64 = 0.7;
/// Generations that are counted behind those that fill L1.
pub const COUNTED: u64 = 2;
/// Blocks that are dealt out to SMs of large grids before those generations.
const DEALT: u64 = 3_000;
/// Multiples of it are spread evenly, whatever those of the golden section are (Roberts, "The Unreasonable Effectiveness of Quasirandom Sequences", 2018).
const SPREAD: f64 = 0.754_877_666_246_692_7;

/// How much of a launch is looked at.
pub struct Effort {
    /// Pieces of requests after which no further SM is begun.
    enough: f64,
    /// Pieces that an SM serves at most, about.
    pub most: f64,
    /// Pieces by which blocks that only fill L1 fill it, over its lines.
    pub filling: f64,
    /// SMs.
    pub sms: u64,
    /// Generations of resident blocks that are dealt out of a large grid.
    pub generations: u64,
}

impl Effort {
    /// For a launch of these accesses.
    pub fn of(accesses: &[Affine], launch: &Launch) -> Effort {
        match accesses.iter().all(|access| access.counters.is_empty()) {
            _ if launch.blocks() > LARGE => OF_LARGE,
            _ if accesses.iter().any(|access| !access.has_footprint()) => OF_LANES,
            true => OF_SMALL,
            false => OF_LOOPS,
        }
    }

    /// Whether no further SM is begun: so many pieces were `served`, those of the last SM `took` so many, as many blocks make `made` in the mean,
    /// and these are the shares that SMs missed.
    pub fn is_enough(&self, served: f64, took: f64, made: f64, shares: &[f64]) -> bool {
        let typical = served >= REPRESENTATIVE * made;
        served + took > self.enough || typical && served > ENOUGH_IF_AGREED && agree(shares)
    }
}

/// Whether the mean of what SMs missed is known well enough.
fn agree(shares: &[f64]) -> bool {
    let count = shares.len() as f64;
    let mean = shares.iter().sum::<f64>() / count;
    let squares: f64 = shares.iter().map(|share| (share - mean) * (share - mean)).sum();
    shares.len() >= LEAST_SMS && (squares / (count * (count - 1.0))).sqrt() <= AGREED * mean
}

/// Which blocks of a launch are dealt out.
#[derive(Debug, PartialEq)]
pub struct Window {
    /// These.
    pub blocks: Range<u64>,
    /// Generations that only fill L1.
    pub filling: u64,
    /// Blocks from one of which on an SM is looked at, where that is not the first one.
    from: Option<Range<u64>>,
    generation: u64,
}

impl Window {
    /// All blocks of a small grid, of which an SM runs `most` generations at most, some in the middle of a large one: `generations` of resident blocks beside those
    /// that fill L1. SMs are looked at when their blocks have come apart: those that end early, at edges, let others begin between the generations.
    pub fn new(blocks: u64, capacity: &Capacity, filling: f64, generations: u64, most: u64) -> Window {
        let generation = capacity.sms * capacity.resident;
        let filling = filling.ceil().max(1.0) as u64;
        if blocks <= LARGE {
            // What an SM does not run from end to end it is looked at anywhere: layers of blocks at an array's ends do something else.
            let own = most.saturating_mul(generation);
            let last = blocks.saturating_sub(COUNTED * generation);
            let from = (blocks > own && last > generation).then_some(0..last);
            return Window { blocks: 0..blocks, filling: if from.is_some() { filling } else { 0 }, from, generation };
        }
        let all = blocks / generation;
        let dealt = (generations + DEALT / generation).min(all);
        let begin = (golden(1) * (all - dealt) as f64) as u64 * generation;
        if dealt <= generations {
            let blocks = begin..begin + dealt * generation;
            return Window { blocks, filling: u64::from(begin > 0), from: None, generation };
        }
        // Two are behind the filling, the others before it, in which blocks come apart.
        let filling = filling.min(dealt - generations);
        let from = begin + (dealt - filling - COUNTED) * generation;
        Window { blocks: begin..begin + dealt * generation, filling, from: Some(from..from + 1), generation }
    }

    /// The block from which on one of the SMs is looked at; 0 where that is when it begins.
    pub fn from(&self, number: u64) -> u64 {
        let Some(Range { start, end }) = self.from.clone() else { return 0 };
        let from = start + ((number as f64 * SPREAD).fract() * (end - start) as f64) as u64;
        if from < self.generation { 0 } else { from }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_are_looked_at_stand_for_all() {
        let capacity = Capacity {
            l1: 1024.0,
            l2: 1024.0,
            l2_all: 1024.0,
            l2_partitions: 1,
            drift: 0,
            l2_ways: 16,
            sms: 10,
            resident: 2,
            caches_loads: true,
            l1_lines: 8,
            turn: 1,
        };
        let generation = 20;
        let whole = Window { blocks: 0..2000, filling: 0, from: None, generation };
        assert_eq!(Window::new(2000, &capacity, 0.2, 3, 100), whole);
        assert_eq!(whole.from(5), 0);
        let apart = |filling, from| Window { blocks: 59_900..62_960, filling, from: Some(from..from + 1), generation };
        assert_eq!(Window::new(100_000, &capacity, 0.2, 3, 2), apart(1, 62_900));
        assert_eq!(Window::new(100_000, &capacity, 5.5, 3, 2), apart(6, 62_800));
        let longer = Window { blocks: 59_840..63_000, filling: 6, from: Some(62_840..62_841), generation };
        assert_eq!(Window::new(100_000, &capacity, 5.5, 8, 2), longer);
        assert_eq!(longer.from(7), 62_840);
        // What an SM does not run from end to end it is looked at anywhere.
        let spread = Window { blocks: 0..2000, filling: 1, from: Some(0..1960), generation };
        assert_eq!(Window::new(2000, &capacity, 0.2, 3, 4), spread);
        let mut from: Vec<u64> = (1..=6).map(|number| spread.from(number)).collect();
        from.sort_unstable();
        assert!(from.windows(2).all(|pair| pair[1] - pair[0] > 30) && from[0] < 500 && from[5] > 1500, "{from:?}");
    }

    #[test]
    fn sms_agree_where_their_mean_is_known() {
        assert!(!agree(&[0.5, 0.5]));
        assert!(agree(&[0.5; LEAST_SMS]));
        assert!(agree(&[0.50, 0.51, 0.50, 0.50, 0.51, 0.50]));
        assert!(!agree(&[0.4, 0.5, 0.6, 0.4, 0.5, 0.6]));
        // Blocks at an edge agree with each other, but made few requests.
        assert!(!OF_SMALL.is_enough(10_000.0, 2_000.0, 20_000.0, &[0.1; LEAST_SMS]));
        assert!(OF_SMALL.is_enough(10_000.0, 2_000.0, 11_000.0, &[0.1; LEAST_SMS]));
        assert!(OF_LARGE.is_enough(5_000.0, 2_000.0, 20_000.0, &[0.1]));
    }
}
