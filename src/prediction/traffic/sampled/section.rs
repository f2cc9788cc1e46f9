//! The part of a launch that is run.
//!
//! Small launches are run from end to end. Of a large one, nearly all of which is far from its ends, some blocks in the middle stand for all: those that are
//! counted, before them as many as L2 forgets everything in, and behind them a wave that runs beside the last ones.

use std::borrow::Cow;
use std::ops::Range;

use super::sample::{BRIEF, Effort, SLOW, USUAL};
use crate::form::{Bounds, block};
use crate::traffic::caches::Requested;
use crate::traffic::flow::{Flow, LINE};
use crate::traffic::replay::golden;
use crate::traffic::volumes::boxes;
use warpline_simulator::hierarchy::L2Config;

/// Waves of a launch up to which it is small.
const SMALL: u64 = 250;
/// Turns of blocks whose times are worked out, at most, and turns that an SM gives.
const MOST_TURNS: u64 = 1 << 25;
const MOST_OF_SM: u64 = 1 << 22;
/// Waves that are counted, at least, and at most where whole planes of blocks would be more.
const LEAST_COUNTED: u64 = 4;
const MOST_COUNTED: u64 = 40;
/// Lines that the blocks before them touch, over what L2 holds, and waves of such blocks, at least.
const FORGOTTEN: f64 = 1.25;
const LEAST_BEFORE: u64 = 4;
/// Estimates of how many blocks touch so many lines.
const TRIES: u32 = 6;
/// Part of a launch from which on it is run whole.
const MOST_OF_LAUNCH: f64 = 0.5;

/// Blocks of a launch.
pub(super) struct Section<'a> {
    /// Those that are run.
    pub blocks: Range<u64>,
    /// Those of which it is counted what they move.
    pub(super) counted: Range<u64>,
    /// Ranges of indices, of all threads of these blocks at least.
    pub(super) bounds: Cow<'a, Bounds>,
    /// How far blocks have come apart that began together, in blocks: those of an SM that gets one whose warps do nothing are ahead of the others.
    pub(super) apart: f64,
    /// The launch has more waves than are run whole.
    is_large: bool,
}

impl<'a> Section<'a> {
    /// Of a launch whose warps take so many turns. `None` where what stands for it is too much to be run.
    pub(super) fn new(flow: &Flow<'a>, turns: u64, requested: Requested) -> Option<Section<'a>> {
        let blocks = flow.launch.blocks();
        let wave = wave(flow);
        let fits = |blocks: u64| {
            let all = blocks.saturating_mul(turns);
            all <= MOST_TURNS && all.saturating_mul(flow.launch.warps().into()) / flow.capacity.sms.max(1) <= MOST_OF_SM
        };
        let is_small = blocks <= SMALL * wave;
        // How far an H100's blocks come apart over hundreds of waves is not known well enough: what it counts of a stencil's loads is met within 3 % by the
        // estimate, and within 9 % by a section.
        if !is_small && flow.capacity.drift > 0 {
            return None;
        }
        if !is_small || !fits(blocks) {
            let section = Section { is_large: !is_small, ..Section::middle(flow, wave, requested) };
            let own = section.blocks.end - section.blocks.start;
            if own as f64 <= MOST_OF_LAUNCH * blocks as f64 {
                return fits(own).then_some(section);
            }
        }
        let whole = Section {
            blocks: 0..blocks,
            counted: 0..blocks,
            bounds: Cow::Borrowed(flow.all.1),
            apart: 0.0,
            is_large: !is_small,
        };
        fits(blocks).then_some(whole)
    }

    /// How many of its lines are looked at; `slow`: some conditions are looked at lane by lane.
    pub(super) fn effort(&self, slow: bool) -> Effort {
        match (self.is_large, slow) {
            (true, _) => BRIEF,
            (_, true) => SLOW,
            _ => USUAL,
        }
    }

    fn middle(flow: &Flow<'a>, wave: u64, Requested { idle, lines, .. }: Requested) -> Section<'a> {
        let blocks = flow.launch.blocks();
        let [width, height, depth] = flow.launch.grid.map(u64::from);
        // What a single set is asked for is the least that can be run.
        let L2Config { slices, sets, .. } = flow.hierarchy.l2;
        let of_set = lines / blocks as f64 / (f64::from(slices) * f64::from(sets));
        let most = ((BRIEF.many_touches / of_set.max(f64::MIN_POSITIVE)) as u64).min(MOST_COUNTED * wave);
        // Planes of blocks are alike, rows at least where a plane is too large.
        let unit = match (height, depth) {
            (1, 1) => 1,
            (_, 1) => width,
            _ if width * height <= most => width * height,
            _ => width,
        };
        let unit = if unit > most { 1 } else { unit };
        let count = (LEAST_COUNTED * wave).min(most.max(wave)).next_multiple_of(unit).min(blocks);
        let first = ((golden(1) * blocks as f64) as u64 / unit * unit).min(blocks - count);
        let wanted = FORGOTTEN * flow.hierarchy.l2.bytes() as f64 / LINE as f64;
        let least = if flow.capacity.drift > 0 { LEAST_BEFORE } else { 1 };
        let mut before = (least * wave).min(first);
        for _ in 0..TRIES {
            let lines = flow.union(|_| true, &boxes(first - before, first, flow.launch.grid), LINE).sectors;
            if lines >= wanted || before == first {
                break;
            }
            // A little more than what lacks, as what blocks touch overlaps.
            let factor = (1.1 * wanted / lines.max(1.0)).clamp(1.1, 8.0);
            before = ((before as f64 * factor) as u64 + 1).min(first);
        }
        // Of few counted ones among many others a small sample would have next to nothing.
        let count = before.min(most).next_multiple_of(unit).max(count).min(blocks - first);
        let run = first - before..(first + count + wave).min(blocks);
        // Of steps of one block, by chance.
        let steps = run.start as f64 / wave as f64 * idle * (1.0 - idle);
        // Blocks that pass over turns are anywhere after a few waves.
        let apart = if flow.capacity.drift > 0 { 1.0 } else { (12.0 * steps).sqrt() };
        let bounds = Cow::Owned(within(flow.all.1, &run, flow.launch.grid));
        Section { blocks: run, counted: first..first + count, bounds, apart, is_large: false }
    }
}

/// Blocks that the SMs hold at a time.
fn wave(flow: &Flow<'_>) -> u64 {
    (flow.capacity.sms * flow.capacity.resident).max(1)
}

/// Ranges of indices over the smallest box that has some blocks of a grid.
fn within(bounds: &Bounds, blocks: &Range<u64>, grid: [u32; 3]) -> Bounds {
    let mut found = bounds.clone();
    let all = boxes(blocks.start, blocks.end, grid);
    for axis in 0..3 {
        let ends = all.iter().map(|own| own[axis]).reduce(|one, two| (one.0.min(two.0), one.1.max(two.1)));
        if let Some(ends) = ends {
            found.0[block(axis)] = ends;
        }
    }
    found
}
