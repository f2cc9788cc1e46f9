//! Runs the touches of a sample, in the order of the launch, through L1 and L2.

use super::filter::FirstLevel;
use super::gathered::{Array, Gathered, Touch, arrays, sectors_of};
use super::reuse::GapLengths;
use super::sample::{Line, Sample};
use super::simulated_blocks::SimulatedBlocks;
use crate::traffic::access::{LINE, MemoryAccess};
use crate::traffic::flow::Flow;
use warpline_simulator::hierarchy::{DenseLines, HierarchyConfig, L2Access, L2Config, L2Op, L2Outcome, Level2};

/// Maximum number of touches of a sample. If threads of all blocks share lines, more touches would take over a third of
/// a second.
const MOST_TOUCHES: f64 = 2_500_000.0;
/// A use counts as reuse by another block after this fraction (1 / `PARTS`) of a block's duration.
const PARTS: u32 = 4;

/// Sectors of a sample that L2 and DRAM exchange for the counted blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Moved {
    /// Share of all sets that was simulated.
    pub(super) share: f64,
    /// Indexed by array.
    pub(super) arrays: Vec<ArrayTraffic>,
    /// Distinct sectors that all blocks store, minus the sectors that they wrote to DRAM.
    pub(super) left: f64,
    /// Sectors that are read from L2 again some time after the previous use, in ascending order of that time; the
    /// second number is the part that came from DRAM.
    pub(super) again: Vec<(f64, f64)>,
    /// Lines touched between such uses divided by the capacity of the sets, weighted by the sectors that are read
    /// again.
    pub(super) full: f64,
    /// Sectors that are read from DRAM again, by group of lines.
    pub(super) groups: [f64; GROUPS],
}

/// Number of groups of lines. The spread over groups gives the error of a sample.
pub(super) const GROUPS: usize = 8;

/// Sectors of an array.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ArrayTraffic {
    /// Number of the allocation.
    pub(super) allocation: usize,
    /// All addresses of the array are affine, so first touches are counted exactly.
    pub(super) is_affine: bool,
    /// Sectors read from DRAM.
    pub(super) reads: Passed,
    /// Sectors written to DRAM.
    pub(super) stores: Passed,
}

/// Sectors that move in one direction: reads or stores.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Passed {
    /// Sectors moved between L2 and DRAM.
    pub(super) moved: f64,
    /// Distinct sectors that no earlier block touched.
    pub(super) new: f64,
    /// Sectors of requests to L2.
    pub(super) requested: f64,
    /// Sectors of all requests of the launch.
    pub(super) of_launch: f64,
    /// Lines with at least one new sector.
    pub(super) lines: u32,
}

/// The simulated slices.
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

    /// Serves a request of an SM; `None` if a slice has too many lines. A slice has one line of each chunk.
    #[inline(always)]
    fn serve(&mut self, sm: usize, line: Line, op: L2Op, (sectors, bytes): (u8, u128)) -> Option<L2Outcome> {
        let (level, numbers) = &mut self.slices[line.slice];
        let number = numbers.number(line.chunk)?;
        Some(level.serve(self.config.partition_of_sm(sm as u32), line.chunk, &L2Access { op, number, sectors, bytes }))
    }
}

/// Simulates some sets of L2 for a part of a launch that requests this many lines. `missed` has the L1 miss share of
/// each access's sectors. Returns `None` if the simulation would take too long, or if it does not support the model's
/// L2 or an address.
pub(super) fn moved(
    flow: &Flow<'_>,
    simulated: &SimulatedBlocks<'_>,
    (requested, missed): (f64, &[f64]),
) -> Option<Moved> {
    let arrays = arrays(flow, &simulated.bounds)?;
    let lines = flow.lines(simulated.blocks.start, simulated.blocks.end);
    let share = (simulated.blocks.end - simulated.blocks.start) as f64 / flow.launch.blocks() as f64;
    let touches = requested * share / lines.max(1.0);
    let effort = simulated.effort(arrays.iter().any(Array::is_slow));
    let sample = Sample::new(&flow.capacity.hierarchy.l2, lines, touches, effort)?;
    let expected = touches * lines * sample.share;
    if expected > MOST_TOUCHES {
        return None;
    }
    let gathered = Gathered::new(flow, &arrays, (&sample, simulated), expected)?;
    // Later blocks find L1 already full.
    let lines_of_l1 = if simulated.blocks.start == 0 { f64::from(flow.capacity.l1_lines) } else { 0.0 };
    let sms = simulated.timeline.sms();
    let mut l1 = FirstLevel::new(flow, &gathered, (sms, sms as f64 * lines_of_l1 * sample.share), missed);
    l1.settle(&gathered, missed, effort.rounds);
    let run = Run {
        flow,
        gathered: &gathered,
        array_of: array_of(flow.all.0),
        l2: SecondLevel::new(flow.capacity.hierarchy, sample.slices.len()),
        l1,
    };
    run.counted(sample.share, simulated.timeline.length() / PARTS)
}

/// Returns the array number of each access.
fn array_of(accesses: &[MemoryAccess]) -> Vec<usize> {
    let mut known: Vec<usize> = Vec::new();
    let number = |access: &MemoryAccess| {
        known.iter().position(|one| *one == access.allocation).unwrap_or_else(|| {
            known.push(access.allocation);
            known.len() - 1
        })
    };
    accesses.iter().map(number).collect()
}

/// The state while a sample passes through the caches.
struct Run<'r, 'f> {
    flow: &'f Flow<'f>,
    gathered: &'r Gathered,
    array_of: Vec<usize>,
    l1: FirstLevel<'f>,
    l2: SecondLevel,
}

impl Run<'_, '_> {
    /// Serves all touches. Uses within `soon` do not count as reuse by other blocks.
    fn counted(mut self, share: f64, soon: u32) -> Option<Moved> {
        let mut found = Moved { share, arrays: self.arrays(), ..Moved::default() };
        // Indexed by line: sectors that were read so far, and sectors that were stored.
        let mut known: Vec<[u8; 2]> = vec![[0; 2]; self.gathered.lines.len()];
        let end = self.gathered.touches.last().map_or(0, Touch::time) + 1;
        let mut gaps = GapLengths::new(self.gathered.lines.len(), end);
        // By time since the previous use: sectors that are read again, and the part of them that comes from DRAM.
        let mut again_after: Vec<(u32, u32)> = vec![(0, 0); end as usize + 1];
        for touch in &self.gathered.touches {
            let access = &self.flow.all.0[touch.access()];
            let array = &mut found.arrays[self.array_of[touch.access()]];
            let bytes = self.gathered.bytes(touch);
            let (own, counts) = (sectors_of(bytes), touch.is_counted());
            let [read, stored] = &mut known[touch.line as usize];
            let new = own & !*read;
            if access.reads() {
                array.reads.touch(own, read, counts);
            }
            if access.stores {
                found.left += f64::from((own & !*stored).count_ones());
                array.stores.touch(own, stored, counts);
            }
            let sectors = self.l1.passes_on(touch, bytes);
            if sectors == 0 {
                continue;
            }
            let op = op(access);
            let line = self.gathered.lines[touch.line as usize];
            let outcome = self.l2.serve(touch.sm(), line, op, (sectors, bytes))?;
            found.left -= f64::from(outcome.dram_writes);
            let gap = gaps.add(touch.line, touch.time()).map(|before| touch.time() - before);
            if !counts {
                continue;
            }
            array.reads.moved += f64::from(outcome.dram_reads);
            array.stores.moved += f64::from(outcome.dram_writes);
            let again = f64::from(outcome.dram_reads) - f64::from(new.count_ones() * u32::from(access.reads()));
            found.groups[touch.line as usize % GROUPS] += again;
            if let Some(gap) = gap.filter(|gap| *gap > soon && op != L2Op::Store) {
                let (again, lost) = &mut again_after[gap as usize];
                *again += sectors.count_ones();
                *lost += outcome.dram_reads;
            }
        }
        let holds = self.flow.capacity.l2_bytes() / LINE as f64 * share;
        let footprint = gaps.footprint();
        for (gap, &(sectors, lost)) in again_after.iter().enumerate().filter(|(_, again)| again.0 > 0) {
            found.again.push((sectors.into(), lost.into()));
            found.full += f64::from(sectors) * footprint.within(gap as u32) / holds;
        }
        Some(found)
    }

    /// Returns the arrays with the sectors that the launch requests of them.
    fn arrays(&self) -> Vec<ArrayTraffic> {
        let count = self.array_of.iter().max().map_or(0, |last| last + 1);
        let mut found = vec![ArrayTraffic { is_affine: true, ..ArrayTraffic::default() }; count];
        for (access, &array) in self.flow.all.0.iter().zip(&self.array_of) {
            let own = &mut found[array];
            own.allocation = access.allocation;
            own.is_affine &= access.is_affine();
            own.reads.of_launch += if access.reads() { access.sectors } else { 0.0 };
            own.stores.of_launch += if access.stores { access.sectors } else { 0.0 };
        }
        found
    }
}

impl Moved {
    /// Returns the number of sectors that come from DRAM among the `sectors` sectors with the longest reuse times.
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

    /// Returns the standard error of the sectors that are read from DRAM again, estimated from the spread over groups
    /// of lines.
    pub(super) fn error(&self) -> f64 {
        let count = GROUPS as f64;
        let mean = self.groups.iter().sum::<f64>() / count;
        let squares: f64 = self.groups.iter().map(|one| (one - mean) * (one - mean)).sum();
        (count / (count - 1.0) * squares).sqrt()
    }
}

impl Passed {
    /// Counts a request for sectors of a line, of which `known` were requested before.
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

/// Returns the operation that an access requests from L2.
fn op(access: &MemoryAccess) -> L2Op {
    match (access.atomic, access.loads) {
        (true, _) => L2Op::Atomic,
        (_, true) => L2Op::Load,
        _ => L2Op::Store,
    }
}
