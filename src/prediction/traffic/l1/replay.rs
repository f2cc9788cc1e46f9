//! Replays some blocks of a launch, request by request, through the L1 of the SM that they share.
//!
//! Whether L1 still contains data that a block loads again depends on the order in which the warps of its SM make their
//! requests. A footprint does not contain that order. The simulator's cache therefore serves the requests of some SMs
//! in the scheduler's order.

use super::requests::RequestPieces;
use super::sm::{Counted, Sm};
use crate::traffic::access::MemoryAccess;
use crate::traffic::flow::Flow;
use crate::traffic::schedule::{Code, SmBlocks, Timeline, golden, round_robin};
use warpline_simulator::hierarchy::DenseLines;

/// Effort for a launch of many blocks, for which a prediction takes milliseconds.
const LARGE: Effort = Effort { enough: 6_000.0, of_sm: 30_000.0, filling: 2.0, sms: 6 };
/// Effort for a smaller launch, in which SMs differ because of edge blocks.
const SMALL: Effort = Effort { enough: 600_000.0, of_sm: 200_000.0, filling: 4.0, sms: 16 };
/// Effort for a launch with loops, in which L1 depends for a long time on the start times of blocks.
const LOOPS: Effort = Effort { enough: 2_000_000.0, of_sm: 600_000.0, filling: 8.0, sms: 24 };
/// Effort if addresses are computed lane by lane, which takes a thousand times as long.
const LANES: Effort = Effort { enough: 40_000.0, of_sm: 20_000.0, filling: 4.0, sms: 8 };
/// Number of blocks from which a launch is large.
const MANY_BLOCKS: u64 = 50_000;
/// Number of request pieces after which no further SM is replayed if the SMs agree.
const ENOUGH_IF_AGREED: f64 = 6_000.0;
/// Minimum number of SMs before their agreement is tested.
const LEAST_SMS: usize = 6;
/// Relative standard error of the L1 miss share below which SMs agree.
const AGREED: f64 = 0.01;
/// Minimum ratio of the replayed blocks' requests to those of as many average blocks. Below it, the replayed blocks are
/// not representative.
const REPRESENTATIVE: f64 = 0.7;
/// Minimum number of generations of resident blocks that an SM replays.
const LEAST_GENERATIONS: usize = 2;
/// Number of generations that only fill L1 if blocks run in step, because the content that one generation leaves
/// affects the next one. It applies up to a number of pieces per SM.
const FILLING_IN_STEP: f64 = 2.0;
const MOST_IN_STEP: f64 = 250_000.0;
/// Maximum number of SMs to run while no block has loaded anything.
const MOST_SMS: u64 = 96;
/// Multiples of this number modulo 1 are evenly spread and independent of those of the golden ratio (Roberts, "The
/// Unreasonable Effectiveness of Quasirandom Sequences", 2018).
const SPREAD: f64 = 0.754_877_666_246_692_7;

/// Amount of a launch that is replayed.
#[derive(Clone, Copy)]
struct Effort {
    /// Number of request pieces after which no further SM is replayed.
    enough: f64,
    /// Approximate number of pieces per SM.
    of_sm: f64,
    /// Pieces that only fill L1, divided by L1's number of lines.
    filling: f64,
    /// Maximum number of SMs.
    sms: u64,
}

impl Effort {
    fn new(accesses: &[MemoryAccess], blocks: u64) -> Effort {
        match accesses.iter().all(|access| access.counters.is_empty()) {
            _ if blocks > MANY_BLOCKS => LARGE,
            _ if !accesses.iter().all(MemoryAccess::is_affine) => LANES,
            true => SMALL,
            false => LOOPS,
        }
    }
}

/// The loads of the replayed blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replay {
    /// Indexed by access.
    pub by_access: Vec<Counted>,
    /// The replayed blocks.
    pub blocks: Vec<u64>,
    /// The blocks were replayed from start to end.
    pub whole: bool,
    /// Share of the outermost loops' iterations that was skipped.
    pub left_out: f64,
    /// Relative standard error of the L1 miss share over the SMs.
    pub error: f64,
}

impl Flow<'_> {
    /// Replays blocks of some SMs. A block has `pieces_of_block` request pieces on average.
    pub(in crate::traffic) fn replay(&self, pieces_of_block: f64, timeline: Option<&Timeline>) -> Replay {
        let (accesses, bounds) = self.all;
        let (launch, capacity) = (self.launch, self.capacity);
        let blocks = launch.blocks();
        let mut found =
            Replay { by_access: vec![Counted::default(); accesses.len()], whole: true, ..Replay::default() };
        if !capacity.caches_loads() || !accesses.iter().any(|access| access.loads) {
            return found;
        }
        let effort = Effort::new(accesses, blocks);
        let resident = capacity.resident_of(blocks) as usize;
        let of_generation = (pieces_of_block * resident as f64).max(1.0);
        let code = Code::new(accesses, (self.addresses, launch), bounds, effort.of_sm / of_generation);
        found.left_out = code.left_out;
        let mut generations = ((effort.of_sm / of_generation) as usize).max(LEAST_GENERATIONS);
        let mut filling = effort.filling * f64::from(capacity.l1_lines);
        let in_step = (FILLING_IN_STEP + LEAST_GENERATIONS as f64) * of_generation;
        if capacity.drift == 0 && timeline.is_some_and(Timeline::is_in_step) && in_step <= MOST_IN_STEP {
            filling = filling.max(FILLING_IN_STEP * of_generation);
            generations = generations.max((filling / of_generation).ceil() as usize + LEAST_GENERATIONS);
        }
        let most = generations.saturating_mul(resident);
        let sms = timeline.map_or(capacity.sms.min(blocks), |timeline| timeline.sms() as u64);
        let mut pieces = RequestPieces::new(capacity.hierarchy);
        let (mut served, mut made, mut lines) = (0.0, 0.0, DenseLines::default());
        let mut shares: Vec<f64> = Vec::new();
        let has_start = timeline.is_none_or(Timeline::has_start);
        let is_short = has_start && blocks.div_ceil(sms.max(1)) as usize <= most;
        let mut numbers = 1..=effort.sms.min(sms);
        loop {
            let wanted = numbers.clone().map(|number| {
                let from = if is_short { 0.0 } else { (number as f64 * SPREAD).fract() };
                ((golden(number) * sms as f64) as usize, from)
            });
            let wanted: Vec<(usize, f64)> = wanted.collect();
            let lists = match timeline {
                Some(timeline) => timeline.blocks_of(&wanted, most),
                None => round_robin(blocks, capacity, &wanted, most),
            };
            for SmBlocks { blocks, phases } in lists.into_iter().filter(|list| !list.blocks.is_empty()) {
                let filling = if phases.is_empty() { 0.0 } else { filling };
                let mut sm = Sm::new(&code, &mut pieces, &mut lines, capacity);
                let whole = sm.run(
                    &blocks,
                    resident,
                    &phases,
                    filling as u64,
                    4 * effort.of_sm.max(in_step.min(MOST_IN_STEP)) as u64,
                );
                served += sm.served as f64;
                made += pieces_of_block * blocks.len() as f64 * (1.0 - code.left_out);
                let mut all = Counted::default();
                sm.by_access.iter().for_each(|one| all.add(one));
                if all.loaded > 0 {
                    shares.push(all.missed_share());
                }
                found.by_access.iter_mut().zip(&sm.by_access).for_each(|(sum, one)| sum.add(one));
                found.whole &= whole && phases.is_empty() && code.left_out == 0.0;
                let took = sm.served as f64;
                found.blocks.extend(blocks);
                let typical = served >= REPRESENTATIVE * made;
                let agree = shares.len() >= LEAST_SMS && relative_error(&shares) <= AGREED;
                if served + took > effort.enough || typical && agree && served > ENOUGH_IF_AGREED {
                    break;
                }
            }
            // Blocks beyond the end of an array load nothing. If no block has loaded anything, run others.
            numbers = numbers.end() + 1..=numbers.end() + effort.sms;
            let loads = found.by_access.iter().any(|one| one.loaded > 0);
            if loads || *numbers.start() > MOST_SMS.min(sms) {
                break;
            }
        }
        found.error = relative_error(&shares);
        found
    }
}

impl Replay {
    /// Returns the sum over the accesses of a site. The frequency of each case of a site is known only for the replayed
    /// blocks.
    pub fn of_site(&self, accesses: &[MemoryAccess], site: usize) -> Counted {
        let mut sum = Counted::default();
        let own = self.by_access.iter().zip(accesses).filter(|(_, access)| access.site == site);
        own.for_each(|(one, _)| sum.add(one));
        sum
    }

    /// Returns the sum over accesses with affine addresses, or over the other accesses.
    pub fn total(&self, accesses: &[MemoryAccess], affine: bool) -> Counted {
        let mut sum = Counted::default();
        let own = self.by_access.iter().zip(accesses).filter(|(_, access)| access.is_affine() == affine);
        own.for_each(|(one, _)| sum.add(one));
        sum
    }
}

/// Returns the standard error of the mean of some shares, divided by that mean; 0 for fewer than two shares.
fn relative_error(shares: &[f64]) -> f64 {
    let count = shares.len() as f64;
    let mean = shares.iter().sum::<f64>() / count;
    let squares: f64 = shares.iter().map(|share| (share - mean) * (share - mean)).sum();
    if shares.len() < 2 || mean == 0.0 { 0.0 } else { (squares / (count * (count - 1.0))).sqrt() / mean }
}
