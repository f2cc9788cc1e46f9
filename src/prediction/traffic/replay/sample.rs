//! Which SMs and blocks stand for a launch.

use std::ops::Range;

use super::code::Code;
use super::counted::Counted;
use super::dealt::{SmBlocks, Wanted, dealt};
use super::requests::RequestPieces;
use super::sm::{Sm, Start};
use super::turns::WarpTurns;
use crate::hierarchy::{DenseLines, HierarchyConfig};
use crate::prediction::form::Bounds;
use crate::prediction::launch::Launch;
use crate::prediction::traffic::capacity::Capacity;
use crate::prediction::traffic::volumes::Affine;
use crate::profile::model::Addresses;

/// How much of a launch is looked at.
struct Effort {
    /// Pieces of requests after which no further SM is begun.
    enough: f64,
    /// Pieces that an SM serves at most, about.
    most: f64,
    /// Pieces by which blocks that only fill L1 fill it, over its lines.
    filling: f64,
    /// SMs.
    sms: u64,
    /// Generations of resident blocks that are dealt out where the grid has more blocks than [`DEALT`].
    generations: u64,
}

/// Of a large grid. Eight times the filling is no nearer for a 25-point stencil.
const OF_LARGE: Effort = Effort { enough: 6_000.0, most: 30_000.0, filling: 2.0, sms: 6, generations: 3 };
/// Of one whose edges make SMs differ, and which takes less time otherwise.
const OF_SMALL: Effort = Effort { enough: 200_000.0, most: 60_000.0, filling: 4.0, sms: 16, generations: 8 };
/// The same where there are loops: it takes long until what is in L1 hangs on how far blocks are, no longer on how they began.
const OF_LOOPS: Effort = Effort { enough: 400_000.0, most: 120_000.0, filling: 8.0, sms: 24, generations: 8 };
/// Blocks from which on a grid is large.
const LARGE: u64 = 50_000;
/// Pieces of requests after which no further SM is begun where they agree.
const ENOUGH_IF_AGREED: f64 = 6_000.0;
/// SMs that are looked at before they can agree.
const LEAST_SMS: usize = 3;
/// Standard error of the share of loads that miss, over that share, up to which SMs agree.
const AGREED: f64 = 0.01;
/// Share of a block's pieces in the mean that the blocks of an SM made at least, for it to be like the others.
const REPRESENTATIVE: f64 = 0.7;
/// Generations that are counted behind those that fill L1.
const COUNTED: u64 = 2;
/// SMs that are looked at where no block so far loaded anything.
const MOST_SMS: u64 = 96;
/// Generations of resident blocks that an SM runs at least: those that begin together share more of L1 than those behind them, which
/// begin one after the other.
const LEAST_GENERATIONS: usize = 2;
/// Blocks that are dealt out to SMs, in large grids before those generations.
const DEALT: u64 = 3_000;
/// Multiples of it are spread evenly, but not in step with rows of blocks.
const GOLDEN: f64 = 0.618_033_988_749_895;

/// What some blocks did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replay {
    /// Sums over the blocks, of accesses whose addresses are affine.
    pub counted: Counted,
    /// By access, those that only fill the caches included.
    pub by_access: Vec<Counted>,
    /// The blocks.
    pub blocks: Vec<u64>,
    /// They were run to their ends.
    pub whole: bool,
    /// Share of the outermost loops' iterations that was left out.
    pub left_out: f64,
}

impl Replay {
    /// Sectors that the blocks loaded, whatever the address.
    fn loaded(&self) -> u64 {
        self.counted.loaded + self.by_access.iter().map(|one| one.loaded).sum::<u64>()
    }
}

/// Runs some blocks of a launch, of which a block makes `pieces_of_block` pieces in the mean; an SM has `l2_lines` lines of L2 as its
/// share. Nothing is counted where there
/// are no loads.
pub fn replay(
    accesses: &[Affine],
    (addresses, launch): (&Addresses, &Launch),
    bounds: &Bounds,
    hierarchy: &HierarchyConfig,
    (capacity, l2_lines): (&Capacity, u32),
    pieces_of_block: f64,
) -> Replay {
    let mut pieces = RequestPieces::new(hierarchy);
    let resident = capacity.resident.min(launch.blocks().div_ceil(capacity.sms)).max(1);
    let pieces_of_generation = (pieces_of_block * resident as f64).max(1.0);
    let effort = match accesses.iter().all(|access| access.counters.is_empty()) {
        _ if launch.blocks() > LARGE => OF_LARGE,
        true => OF_SMALL,
        false => OF_LOOPS,
    };
    let share = effort.most / pieces_of_generation;
    let code = Code::new(accesses, (addresses, launch), bounds, share, &mut pieces);
    let used = capacity.sms.min(launch.blocks());
    // Generations that fill L1.
    let filling = effort.filling * f64::from(capacity.l1_lines) / pieces_of_generation;
    let window = Window::new(launch.blocks(), capacity, filling, effort.generations);
    let count = effort.sms.min(used);
    let mut turns = WarpTurns::new(&code, capacity.turn);
    let warps = launch.warps() as usize;
    // Of a generation that only fills L1, its last requests are enough.
    let late = code.late_step(filling);
    let none = Counted::default();
    let mut found = Replay {
        counted: none,
        by_access: vec![none; accesses.len()],
        blocks: Vec::new(),
        whole: true,
        left_out: code.left_out,
    };
    let (mut served, mut made, mut lines) = (0.0, 0.0, DenseLines::default());
    let mut shares: Vec<f64> = Vec::new();
    let loads = accesses.iter().any(|access| access.loads);
    let mut numbers = 1..=count;
    // Whole generations, as many as are affordable.
    let generations = ((effort.most / pieces_of_generation) as usize).max(LEAST_GENERATIONS);
    let most = generations.saturating_mul(resident as usize);
    loop {
        let wanted: Vec<u64> = numbers.clone().map(|number| (golden(number) * used as f64) as u64).collect();
        let wanted = Wanted { sms: &wanted, from: window.from, most };
        let of_sms = (capacity.sms, resident as usize);
        for SmBlocks { blocks, phases } in dealt(window.blocks.clone(), of_sms, warps, &mut turns, wanted) {
            if blocks.is_empty() {
                continue;
            }
            let mut one =
                Sm::new(&code, &mut pieces, &mut lines, hierarchy, (capacity.l1_lines, l2_lines), capacity.turn);
            let start = match (window.filling > 0, phases.is_empty()) {
                (_, false) => {
                    let filling = filling.min(window.filling as f64) * pieces_of_generation;
                    Start::Underway { phases, filling }
                }
                (true, true) => Start::Late(late),
                (false, true) => Start::Late(0),
            };
            let warm = if window.filling > 0 { (resident as usize).min(blocks.len() - 1) } else { 0 };
            let underway = matches!(start, Start::Underway { .. });
            let (counted, whole) = one.run(&blocks, resident as usize, &start, 4 * effort.most as u64);
            let took = one.served as f64;
            served += took;
            made += pieces_of_block * blocks.len() as f64 * (1.0 - code.left_out);
            let mut all = Counted::default();
            one.by_access.iter().for_each(|one| all.add(one));
            if all.loaded > 0 {
                shares.push(all.missed_share());
            }
            let warm = if underway || !(whole || late > 0) { 0 } else { warm };
            counted[warm..].iter().for_each(|one| found.counted.add(one));
            found.by_access.iter_mut().zip(&one.by_access).for_each(|(sum, one)| sum.add(one));
            found.blocks.extend(&blocks[warm..]);
            found.whole &= whole && !underway && code.left_out == 0.0;
            let typical = served >= REPRESENTATIVE * made;
            if served + took > effort.enough || typical && served > ENOUGH_IF_AGREED && agree(&shares) {
                break;
            }
        }
        // Blocks beyond an array's end load nothing: where all that were looked at do not, others are.
        numbers = numbers.end() + 1..=numbers.end() + count;
        if !loads || found.loaded() > 0 || *numbers.start() > MOST_SMS.min(used) {
            break;
        }
    }
    found
}

/// Whether the mean of what SMs missed is known well enough.
fn agree(shares: &[f64]) -> bool {
    let count = shares.len() as f64;
    let mean = shares.iter().sum::<f64>() / count;
    let squares: f64 = shares.iter().map(|share| (share - mean) * (share - mean)).sum();
    shares.len() >= LEAST_SMS && (squares / (count * (count - 1.0))).sqrt() <= AGREED * mean
}

/// A multiple of the golden section, below 1.
pub fn golden(number: u64) -> f64 {
    (number as f64 * GOLDEN).fract()
}

/// Which blocks of a launch are dealt out.
#[derive(Debug, PartialEq)]
struct Window {
    blocks: Range<u64>,
    /// Generations that only fill L1.
    filling: u64,
    /// The block from which on SMs are looked at, where that is not the first one.
    from: Option<u64>,
}

impl Window {
    /// All blocks of a small grid, some in the middle of a large one: `generations` of resident blocks beside those that fill L1. SMs are looked at when their
    /// blocks have come apart: those that end early, at edges, let others begin between the generations.
    fn new(blocks: u64, capacity: &Capacity, filling: f64, generations: u64) -> Window {
        let generation = capacity.sms * capacity.resident;
        if blocks <= DEALT.max(generations * generation) {
            return Window { blocks: 0..blocks, filling: 0, from: None };
        }
        let all = blocks / generation;
        let dealt = (generations + DEALT / generation).min(all);
        let begin = (golden(1) * (all - dealt) as f64) as u64 * generation;
        if dealt <= generations {
            return Window { blocks: begin..begin + dealt * generation, filling: u64::from(begin > 0), from: None };
        }
        // Two are behind the filling, the others before it, in which blocks come apart.
        let filling = (filling.ceil().max(1.0) as u64).min(dealt - generations);
        let from = begin + (dealt - filling - COUNTED) * generation;
        Window { blocks: begin..begin + dealt * generation, filling, from: Some(from) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::models;
    use crate::prediction::form::{Form, Truth, block};

    #[test]
    fn large_grids_are_looked_at_in_the_middle() {
        let capacity = Capacity {
            l1: 1024.0,
            l2: 1024.0,
            l2_all: 1024.0,
            l2_partitions: 1,
            in_step: true,
            l2_ways: 16,
            sms: 10,
            resident: 2,
            caches_loads: true,
            l1_lines: 8,
            turn: 1,
        };
        assert_eq!(Window::new(2000, &capacity, 0.2, 3), Window { blocks: 0..2000, filling: 0, from: None });
        let apart = |filling, from| Window { blocks: 59_900..62_960, filling, from: Some(from) };
        assert_eq!(Window::new(100_000, &capacity, 0.2, 3), apart(1, 62_900));
        assert_eq!(Window::new(100_000, &capacity, 5.5, 3), apart(6, 62_800));
        let longer = Window { blocks: 59_840..63_000, filling: 6, from: Some(62_840) };
        assert_eq!(Window::new(100_000, &capacity, 5.5, 8), longer);
    }

    /// Of 96 blocks on as many SMs the last twelve load, none of which is among the six that are looked at first.
    #[test]
    fn blocks_that_load_are_looked_for() {
        let launch = Launch::new([32, 1, 1], [96, 1, 1], BTreeMap::new());
        let bounds =
            Bounds(launch.indices.into_iter().chain(launch.grid).map(|size| (0, i64::from(size) - 1)).collect());
        let form = Form { constant: 1 << 20, terms: vec![(0, 4), (block(0), 128)] };
        let condition = Truth::AtLeast(Form { constant: -84, terms: vec![(block(0), 1)] });
        let access = Affine::load(form, condition, 4);
        let hierarchy = models::find("a100").unwrap().hierarchy().unwrap();
        let capacity = Capacity {
            l1: 1024.0,
            l2: 1024.0,
            l2_all: 1024.0,
            l2_partitions: 1,
            in_step: true,
            l2_ways: 16,
            sms: 108,
            resident: 2,
            caches_loads: true,
            l1_lines: 8,
            turn: 1,
        };
        let found = replay(&[access], (&Addresses::default(), &launch), &bounds, &hierarchy, (&capacity, 1), 0.5);
        assert_eq!(found.counted.missed, found.counted.loaded);
        assert!(found.counted.loaded >= 4, "{:?}", found.counted);
    }
}
