//! The touches of a sample, in the order of a launch, through L1 and L2.

use super::first_level::FirstLevel;
use super::footprint::GapLengths;
use super::gathered::{Gathered, Touch, arrays, sectors_of, touches_of_line};
use super::sample::{Line, Sample};
use crate::hierarchy::{DenseLines, HierarchyConfig, L2Access, L2Config, L2Op, L2Outcome, Level2};
use crate::prediction::traffic::flow::{Flow, LINE};
use crate::prediction::traffic::replay::{Timeline, turns_of_laps};
use crate::prediction::traffic::volumes::Affine;

/// Touches of a sample, at most: where threads of all blocks share lines, there are more than a third of a second holds.
const MOST_TOUCHES: f64 = 2_500_000.0;
/// Turns of blocks whose times are worked out, at most, and turns that an SM gives.
const MOST_TURNS: u64 = 1 << 25;
const MOST_OF_SM: u64 = 1 << 22;
/// Parts of the time that a block takes, after which something is used again, and not still used.
const PARTS: u32 = 4;

/// Sectors that L2 and DRAM move, of a sample.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moved {
    /// The share of all sets that was looked at.
    pub(super) share: f64,
    /// Read from DRAM, and written to it.
    pub(super) reads: f64,
    pub(super) writes: f64,
    /// Distinct ones that accesses read, and that they store.
    pub(super) read: f64,
    pub(super) stored: f64,
    /// Read from L2 some time after they were used before, and those of them that came from DRAM.
    pub(super) again: f64,
    pub(super) lost: f64,
    /// Lines touched between such uses, over what the sets hold, times what is read again.
    pub(super) full: f64,
}

/// The slices that are looked at.
struct SecondLevel {
    slices: Vec<(Level2, DenseLines)>,
    partitions: u32,
}

impl SecondLevel {
    fn new(hierarchy: &HierarchyConfig, slices: usize) -> SecondLevel {
        let one = L2Config { slices: 1, ..hierarchy.l2.clone() };
        let slice = |_| (Level2::new(&one, hierarchy.dram), DenseLines::default());
        SecondLevel { slices: (0..slices).map(slice).collect(), partitions: hierarchy.l2.partitions.max(1) }
    }

    /// Serves an SM. A slice has one line of each chunk, so its lines go by these. `None` where there are too many of them.
    #[inline(always)]
    fn serve(&mut self, sm: usize, line: Line, op: L2Op, (sectors, bytes): (u8, u128)) -> Option<L2Outcome> {
        let (level, numbers) = &mut self.slices[line.slice];
        let number = numbers.number(line.chunk)?;
        Some(level.serve(sm as u32 % self.partitions, line.chunk, &L2Access { op, number, sectors, bytes }))
    }
}

/// Runs what touches some sets of L2, of a launch that touches so many lines, and of the sectors of whose accesses L1 misses the shares `missed`. `None`
/// where that is too much, or where the model's L2, an address or a condition is of a kind that this does not know.
pub(super) fn moved(flow: &Flow<'_>, lines: f64, missed: &[f64]) -> Option<Moved> {
    let turns = turns_of_laps(flow.accesses, flow.bounds, flow.capacity.turn)?;
    let count = turns.iter().flatten().max().map_or(0, |last| *last as usize + 1);
    let of_blocks = flow.launch.blocks().saturating_mul(count as u64);
    let of_sm = of_blocks.saturating_mul(flow.launch.warps().into()) / flow.capacity.sms.max(1);
    if of_blocks > MOST_TURNS || of_sm > MOST_OF_SM {
        return None;
    }
    let arrays = arrays(flow)?;
    let touches = touches_of_line(&arrays);
    let sample = Sample::new(&flow.hierarchy.l2, lines, touches)?;
    if touches * lines * sample.share > MOST_TOUCHES {
        return None;
    }
    let scope = (flow.addresses, flow.launch);
    let timeline = Timeline::new(flow.accesses, scope, flow.bounds, flow.hierarchy, flow.capacity, count)?;
    let gathered = Gathered::new(&arrays, &sample, (&turns, &timeline))?;
    let mut l1 = FirstLevel::new(flow, &gathered, timeline.sms(), missed);
    let mut l2 = SecondLevel::new(flow.hierarchy, sample.slices.len());
    let mut found = Moved { share: sample.share, ..Moved::default() };
    // By line: sectors that were read so far, and stored.
    let mut known: Vec<[u8; 2]> = vec![[0; 2]; gathered.lines.len()];
    let end = gathered.touches.last().map_or(0, Touch::time) + 1;
    let mut gaps = GapLengths::new(gathered.lines.len(), end);
    // By time since the use before: sectors that are read again.
    let mut again_after: Vec<u32> = vec![0; end as usize + 1];
    let soon = timeline.length() / PARTS;
    for touch in &gathered.touches {
        let access = &flow.accesses[touch.access()];
        let bytes = gathered.bytes(touch);
        let [read, stored] = &mut known[touch.line as usize];
        let new = |of: bool, known: &mut u8| {
            let new = if of { sectors_of(bytes) & !*known } else { 0 };
            *known |= new;
            f64::from(new.count_ones())
        };
        found.read += new(access.reads(), read);
        found.stored += new(access.stores, stored);
        let sectors = l1.passes_on(touch, bytes);
        if sectors == 0 {
            continue;
        }
        let op = op(access);
        let outcome = l2.serve(touch.sm(), gathered.lines[touch.line as usize], op, (sectors, bytes))?;
        found.reads += f64::from(outcome.dram_reads);
        found.writes += f64::from(outcome.dram_writes);
        let gap = gaps.add(touch.line, touch.time()).map(|before| touch.time() - before);
        if let Some(gap) = gap.filter(|gap| *gap > soon && op != L2Op::Store) {
            again_after[gap as usize] += sectors.count_ones();
            found.lost += f64::from(outcome.dram_reads);
        }
    }
    let holds = flow.hierarchy.l2.bytes() as f64 / LINE as f64 * sample.share;
    let footprint = gaps.footprint();
    for (gap, &sectors) in again_after.iter().enumerate().filter(|(_, sectors)| **sectors > 0) {
        found.again += f64::from(sectors);
        found.full += f64::from(sectors) * footprint.within(gap as u32) / holds;
    }
    Some(found)
}

/// What an access asks of L2.
fn op(access: &Affine) -> L2Op {
    match (access.atomic, access.loads) {
        (true, _) => L2Op::Atomic,
        (_, true) => L2Op::Load,
        _ => L2Op::Store,
    }
}
