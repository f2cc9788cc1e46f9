//! The touches of a sample, in the order of a launch, through L1 and L2.

use super::first_level::FirstLevel;
use super::footprint::GapLengths;
use super::gathered::{Array, Gathered, Touch, arrays, sectors_of};
use super::sample::{Line, Sample};
use super::section::Section;
use crate::traffic::flow::{Flow, LINE};
use crate::traffic::replay::{Timeline, turns_of_laps};
use crate::traffic::volumes::{Affine, boxes};
use warpline_simulator::hierarchy::{DenseLines, HierarchyConfig, L2Access, L2Config, L2Op, L2Outcome, Level2};

/// Touches of a sample, at most: where threads of all blocks share lines, there are more than a third of a second holds.
const MOST_TOUCHES: f64 = 2_500_000.0;
/// Parts of the time that a block takes, after which something is used again, and not still used.
const PARTS: u32 = 4;

/// Sectors that L2 and DRAM move for the blocks that are counted, of a sample.
#[derive(Clone, Debug, Default)]
pub(super) struct Moved {
    /// The share of all sets that was looked at.
    pub(super) share: f64,
    /// By array: what its accesses read.
    pub(super) reads: Vec<Passed>,
    /// What is stored.
    pub(super) stores: Passed,
    /// Distinct sectors that all blocks that were run store, less what they wrote to DRAM.
    pub(super) left: f64,
    /// Read from L2 some time after they were used before: by rising time, sectors and those of them that came from DRAM.
    pub(super) again: Vec<(f64, f64)>,
    /// Lines touched between such uses, over what the sets hold, times what is read again.
    pub(super) full: f64,
}

/// Sectors that go one way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Passed {
    /// Between L2 and DRAM.
    pub(super) moved: f64,
    /// Distinct ones that no block run before had.
    pub(super) new: f64,
    /// Of requests.
    pub(super) requested: f64,
    /// The same of the launch.
    pub(super) of_launch: f64,
    /// Lines in which some are new.
    pub(super) lines: u32,
}

/// The slices that are looked at.
struct SecondLevel {
    slices: Vec<(Level2, DenseLines)>,
    config: L2Config,
}

impl SecondLevel {
    fn new(hierarchy: &HierarchyConfig, slices: usize) -> SecondLevel {
        let one = L2Config { slices: 1, ..hierarchy.l2.clone() };
        let slice = |_: usize| (Level2::new(&one, hierarchy.dram), DenseLines::default());
        SecondLevel { slices: (0..slices).map(slice).collect(), config: one }
    }

    /// Serves an SM. A slice has one line of each chunk, so its lines go by these. `None` where there are too many of them.
    #[inline(always)]
    fn serve(&mut self, sm: usize, line: Line, op: L2Op, (sectors, bytes): (u8, u128)) -> Option<L2Outcome> {
        let (level, numbers) = &mut self.slices[line.slice];
        let number = numbers.number(line.chunk)?;
        Some(level.serve(self.config.partition_of_sm(sm as u32), line.chunk, &L2Access { op, number, sectors, bytes }))
    }
}

/// Turns of a launch's warps, by access and iteration, and how many there are.
pub(super) struct Turns {
    by_access: Vec<Vec<u32>>,
    pub(super) count: usize,
}

impl Turns {
    /// `None` where loops are not as long for all threads, or too long.
    pub(super) fn new(flow: &Flow<'_>) -> Option<Turns> {
        let by_access = turns_of_laps(flow.all.0, flow.all.1, flow.capacity.turn)?;
        let count = by_access.iter().flatten().max().map_or(0, |last| *last as usize + 1);
        Some(Turns { by_access, count })
    }
}

/// Runs what touches some sets of L2 in a section of a launch that requests so many lines, of the sectors of whose accesses L1 misses the shares `missed`. `None`
/// where that is too much, or where the model's L2, an address or a condition is of a kind that this does not know.
pub(super) fn moved(
    flow: &Flow<'_>,
    section: &Section<'_>,
    turns: &Turns,
    (requested, missed): (f64, &[f64]),
) -> Option<Moved> {
    let arrays = arrays(flow, &section.bounds)?;
    let boxes = boxes(section.blocks.start, section.blocks.end, flow.launch.grid);
    let lines = flow.union(|_| true, &boxes, LINE).sectors;
    let touches =
        requested * (section.blocks.end - section.blocks.start) as f64 / flow.launch.blocks() as f64 / lines.max(1.0);
    let effort = section.effort(arrays.iter().any(Array::is_slow));
    let sample = Sample::new(&flow.hierarchy.l2, lines, touches, effort)?;
    if touches * lines * sample.share > MOST_TOUCHES {
        return None;
    }
    let scope = (flow.addresses, flow.launch);
    let run = (section.blocks.clone(), turns.count);
    let timeline = Timeline::new(flow.all.0, scope, flow.all.1, flow.hierarchy, flow.capacity, run, section.apart)?;
    let gathered =
        Gathered::new(&arrays, (&sample, section), (&turns.by_access, &timeline), touches * lines * sample.share)?;
    // Blocks behind the first ones find L1 full.
    let lines_of_l1 = if section.blocks.start == 0 { f64::from(flow.capacity.l1_lines) } else { 0.0 };
    let room = timeline.sms() as f64 * lines_of_l1 * sample.share;
    let mut l1 = FirstLevel::new(flow, &gathered, (timeline.sms(), room), missed);
    l1.settle(&gathered, missed, effort.rounds);
    let mut l2 = SecondLevel::new(flow.hierarchy, sample.slices.len());
    let array_of = |access: &Affine| arrays.iter().position(|array| array.allocation == access.allocation).unwrap_or(0);
    let array_of: Vec<usize> = flow.all.0.iter().map(array_of).collect();
    let mut found = Moved { share: sample.share, reads: vec![Passed::default(); arrays.len()], ..Moved::default() };
    for (access, &array) in flow.all.0.iter().zip(&array_of) {
        found.reads[array].of_launch += if access.reads() { access.sectors } else { 0.0 };
        found.stores.of_launch += if access.stores { access.sectors } else { 0.0 };
    }
    // By line: sectors that were read so far, and stored.
    let mut known: Vec<[u8; 2]> = vec![[0; 2]; gathered.lines.len()];
    let end = gathered.touches.last().map_or(0, Touch::time) + 1;
    let mut gaps = GapLengths::new(gathered.lines.len(), end);
    // By time since the use before: sectors that are read again, and those of them that come from DRAM.
    let mut again_after: Vec<(u32, u32)> = vec![(0, 0); end as usize + 1];
    let soon = timeline.length() / PARTS;
    for touch in &gathered.touches {
        let (access, array) = (&flow.all.0[touch.access()], array_of[touch.access()]);
        let bytes = gathered.bytes(touch);
        let (own, counts) = (sectors_of(bytes), touch.is_counted());
        let [read, stored] = &mut known[touch.line as usize];
        if access.reads() {
            found.reads[array].touch(own, read, counts);
        }
        if access.stores {
            found.left += f64::from((own & !*stored).count_ones());
            found.stores.touch(own, stored, counts);
        }
        let sectors = l1.passes_on(touch, bytes);
        if sectors == 0 {
            continue;
        }
        let op = op(access);
        let outcome = l2.serve(touch.sm(), gathered.lines[touch.line as usize], op, (sectors, bytes))?;
        found.left -= f64::from(outcome.dram_writes);
        let gap = gaps.add(touch.line, touch.time()).map(|before| touch.time() - before);
        if !counts {
            continue;
        }
        found.reads[array].moved += f64::from(outcome.dram_reads);
        found.stores.moved += f64::from(outcome.dram_writes);
        if let Some(gap) = gap.filter(|gap| *gap > soon && op != L2Op::Store) {
            let (again, lost) = &mut again_after[gap as usize];
            *again += sectors.count_ones();
            *lost += outcome.dram_reads;
        }
    }
    let holds = flow.hierarchy.l2.bytes() as f64 / LINE as f64 * sample.share;
    let footprint = gaps.footprint();
    for (gap, &(sectors, lost)) in again_after.iter().enumerate().filter(|(_, again)| again.0 > 0) {
        found.again.push((sectors.into(), lost.into()));
        found.full += f64::from(sectors) * footprint.within(gap as u32) / holds;
    }
    Some(found)
}

impl Moved {
    /// Of so many sectors that are read again the longest time after they were used, those that come from DRAM.
    pub(super) fn lost_of_last(&self, sectors: f64) -> f64 {
        let (mut left, mut found) = (sectors, 0.0);
        for &(again, lost) in self.again.iter().rev() {
            let part = (left / again).min(1.0);
            found += part * lost;
            left -= part * again;
            if left <= 0.0 {
                break;
            }
        }
        found
    }
}

impl Passed {
    /// A request for sectors of a line, of which some are known.
    #[inline(always)]
    fn touch(&mut self, sectors: u8, known: &mut u8, counts: bool) {
        let new = sectors & !*known;
        if counts {
            self.requested += f64::from(sectors.count_ones());
            self.new += f64::from(new.count_ones());
            self.lines += u32::from(*known == 0);
        }
        *known |= new;
    }
}

/// What an access asks of L2.
fn op(access: &Affine) -> L2Op {
    match (access.atomic, access.loads) {
        (true, _) => L2Op::Atomic,
        (_, true) => L2Op::Load,
        _ => L2Op::Store,
    }
}
