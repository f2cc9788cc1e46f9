//! Selects the part of a launch that the L2 simulation runs.
//!
//! A small launch is simulated completely. For a large launch, blocks in the middle represent all others. The selected
//! part has three sections: enough blocks to replace the content of L2, the counted blocks, and a wave of blocks that
//! run concurrently with the last counted ones.

use std::borrow::Cow;
use std::ops::Range;

use super::sample::{BRIEF, Effort, SLOW, USUAL};
use crate::form::{Bounds, block};
use crate::traffic::access::{LINE, MemoryAccess};
use crate::traffic::flow::Flow;
use crate::traffic::footprint::boxes;
use crate::traffic::moved::Requested;
use crate::traffic::schedule::{Code, Timeline, golden, turns_of_iterations};
use warpline_simulator::hierarchy::L2Config;

/// Maximum number of waves of a small launch.
const SMALL: u64 = 250;
/// Maximum number of issue slots of blocks whose times are computed, and of issue slots per SM.
const MOST_TURNS: u64 = 1 << 25;
const MOST_OF_SM: u64 = 1 << 22;
/// Maximum number of lanes whose addresses are computed.
const MOST_LANES: f64 = (1 << 24) as f64;
/// Minimum number of counted waves. It is also the maximum if whole planes of blocks would be more.
const LEAST_COUNTED: u64 = 4;
const MOST_COUNTED: u64 = 40;
/// Lines that the preceding blocks touch, divided by the capacity of L2.
const REPLACED: f64 = 1.25;
/// Number of attempts to estimate how many blocks touch this many lines.
const TRIES: u32 = 6;
/// Share of a launch above which the launch is simulated completely.
const MOST_OF_LAUNCH: f64 = 0.5;

/// The simulated part of a launch, with its schedule.
pub struct SimulatedBlocks<'a> {
    /// Blocks that are simulated.
    pub(super) blocks: Range<u64>,
    /// Blocks whose traffic is counted.
    pub(super) counted: Range<u64>,
    /// Ranges of indices that contain all threads of these blocks.
    pub(super) bounds: Cow<'a, Bounds>,
    /// Indexed by access and iteration of its loops: the issue slot in which a warp makes the access.
    pub(super) turns: Vec<Vec<u32>>,
    /// Start times of the blocks.
    pub timeline: Timeline,
    /// The launch is too large to be simulated completely.
    is_large: bool,
}

/// Simulated blocks, counted blocks, and the drift of the SMs, in blocks, when the first of them starts.
struct Choice {
    run: Range<u64>,
    counted: Range<u64>,
    apart: f64,
    is_large: bool,
}

impl<'a> Flow<'a> {
    /// Chooses the part of the launch that represents it; `None` if the part would be too expensive, or if the points
    /// of a thread have different loops.
    pub(in crate::traffic) fn choose_blocks(&self, requested: Requested) -> Option<SimulatedBlocks<'a>> {
        let (accesses, bounds) = self.all;
        let turns = turns_of_iterations(accesses, bounds, self.capacity.turn)?;
        let count = turns.iter().flatten().max().map_or(0, |last| *last as usize + 1);
        let Choice { run, counted, apart, is_large } = self.choice(count as u64, requested)?;
        let code = Code::new(accesses, (self.addresses, self.launch), bounds, 1.0);
        let timeline = Timeline::new(&code, self.capacity, (run.clone(), count), apart)?;
        let bounds = match run == (0..self.launch.blocks()) {
            true => Cow::Borrowed(bounds),
            false => Cow::Owned(within(bounds, &run, self.launch.grid)),
        };
        Some(SimulatedBlocks { blocks: run, counted, bounds, turns, timeline, is_large })
    }

    fn choice(&self, turns: u64, requested: Requested) -> Option<Choice> {
        let blocks = self.launch.blocks();
        let wave = self.capacity.wave();
        let lanes = self.lanes_of_block();
        let fits = |blocks: u64| {
            let all = blocks.saturating_mul(turns);
            let of_sm = all.saturating_mul(self.launch.warps().into()) / self.capacity.sms.max(1);
            all <= MOST_TURNS && of_sm <= MOST_OF_SM && lanes * blocks as f64 <= MOST_LANES
        };
        let is_large = blocks > SMALL * wave;
        if is_large || !fits(blocks) {
            let middle = Choice { is_large, ..self.middle(requested) };
            let own = middle.run.end - middle.run.start;
            if own as f64 <= MOST_OF_LAUNCH * blocks as f64 {
                return fits(own).then_some(middle);
            }
        }
        fits(blocks).then_some(Choice { run: 0..blocks, counted: 0..blocks, apart: 0.0, is_large })
    }

    /// Returns the number of lanes per block whose addresses are computed.
    fn lanes_of_block(&self) -> f64 {
        let (accesses, bounds) = self.all;
        let iterations = |access: &MemoryAccess| -> f64 {
            access.counters.iter().map(|&counter| bounds.extent(counter).max(0) as f64).product()
        };
        let others = accesses.iter().filter(|access| !access.is_affine());
        others.map(iterations).sum::<f64>() * f64::from(self.launch.threads())
    }

    fn middle(&self, Requested { idle, lines, .. }: Requested) -> Choice {
        let (blocks, wave) = (self.launch.blocks(), self.capacity.wave());
        let [width, height, depth] = self.launch.grid.map(u64::from);
        // The smallest part that can be simulated is one set.
        let L2Config { slices, sets, .. } = self.capacity.hierarchy.l2;
        let of_set = lines / blocks as f64 / (f64::from(slices) * f64::from(sets));
        let most = ((BRIEF.many_touches / of_set.max(f64::MIN_POSITIVE)) as u64).min(MOST_COUNTED * wave);
        // Planes of blocks are alike. If a plane is too large, rows are used.
        let unit = match (height, depth) {
            (1, 1) => 1,
            (_, 1) => width,
            _ if width * height <= most => width * height,
            _ => width,
        };
        let unit = if unit > most { 1 } else { unit };
        let count = (LEAST_COUNTED * wave).min(most.max(wave)).next_multiple_of(unit).min(blocks);
        let first = ((golden(1) * blocks as f64) as u64 / unit * unit).min(blocks - count);
        let wanted = REPLACED * self.capacity.l2_bytes() / LINE as f64;
        let mut before = wave.min(first);
        for _ in 0..TRIES {
            let lines = self.lines(first - before, first);
            if lines >= wanted || before == first {
                break;
            }
            // The factor adds a margin because the lines of different blocks overlap.
            let factor = (1.1 * wanted / lines.max(1.0)).clamp(1.1, 8.0);
            before = ((before as f64 * factor) as u64 + 1).min(first);
        }
        // If only few of many simulated blocks were counted, a small sample would contain almost none of their lines.
        let count = before.min(most).next_multiple_of(unit).max(count).min(blocks - first);
        let run = first - before..(first + count + wave).min(blocks);
        // Each block whose warps do nothing moves its SM ahead by one block, which is a random walk.
        let steps = run.start as f64 / wave as f64 * idle * (1.0 - idle);
        let apart = if self.capacity.drift > 0 { 1.0 } else { (12.0 * steps).sqrt() };
        Choice { run, counted: first..first + count, apart, is_large: false }
    }
}

impl SimulatedBlocks<'_> {
    /// Returns the sampling effort. `slow` is true if some conditions are evaluated lane by lane.
    pub(super) fn effort(&self, slow: bool) -> Effort {
        match (self.is_large, slow) {
            (true, _) => BRIEF,
            (_, true) => SLOW,
            _ => USUAL,
        }
    }
}

/// Returns the ranges of indices in the smallest box that contains some blocks of a grid.
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
