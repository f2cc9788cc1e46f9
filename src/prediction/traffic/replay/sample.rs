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

/// Pieces of requests after which no further SM is begun, of a large grid, and of one whose SMs agree.
const ENOUGH: f64 = 6_000.0;
/// The same of a small grid, where edges make SMs differ, and which takes less time otherwise.
const ENOUGH_OF_SMALL: f64 = 100_000.0;
/// Pieces that an SM serves at most, about.
const MOST: f64 = 30_000.0;
/// Pieces by which blocks that only fill L1 fill it, over its lines. Eight times as many are no nearer for a 25-point stencil.
const FILLING: f64 = 2.0;
/// Blocks from which on a grid is large.
const LARGE: u64 = 50_000;
/// SMs that are looked at, of a large grid and of a small one.
const SMS: u64 = 6;
const SMS_OF_SMALL: u64 = 24;
/// SMs that are looked at before they can agree.
const LEAST_SMS: usize = 3;
/// Standard error of the share of loads that miss, over that share, up to which SMs agree.
const AGREED: f64 = 0.01;
/// Share of a block's pieces in the mean that the blocks of an SM made at least, for it to be like the others.
const REPRESENTATIVE: f64 = 0.7;
/// SMs that are looked at where no block so far loaded anything.
const MOST_SMS: u64 = 96;
/// Generations of resident blocks that an SM runs at least: those that begin together share more of L1 than those behind them, which
/// begin one after the other.
const LEAST_GENERATIONS: usize = 2;
/// Blocks that are dealt out to SMs, in large grids before those generations.
const DEALT: u64 = 3_000;
/// Generations of resident blocks that are dealt out where the grid has more blocks than [`DEALT`].
const GENERATIONS: u64 = 3;
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
    let share = MOST / pieces_of_generation;
    let code = Code::new(accesses, (addresses, launch), bounds, share, &mut pieces);
    let used = capacity.sms.min(launch.blocks());
    // Generations that fill L1. In loops a block's place in its code is not known by how far it is.
    let filling = FILLING * f64::from(capacity.l1_lines) / pieces_of_generation;
    let window = Window::new(launch.blocks(), capacity, (code.counters == 0).then_some(filling));
    let large = launch.blocks() > LARGE;
    let (count, enough) = if large { (SMS, ENOUGH) } else { (SMS_OF_SMALL, ENOUGH_OF_SMALL) };
    let count = count.min(used);
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
    let generations = ((MOST / pieces_of_generation) as usize).max(LEAST_GENERATIONS);
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
            // In loops how far a block is does not say where: those that are there begin together.
            let phases = if code.counters > 0 { Vec::new() } else { phases };
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
            let (counted, whole) = one.run(&blocks, resident as usize, &start, 4 * MOST as u64);
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
            if served + took > enough || typical && served > ENOUGH && agree(&shares) {
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
    /// All blocks of a small grid, some in the middle of a large one. Where generations that fill L1 are given, SMs are looked at
    /// when their blocks have come apart: those that end early, at edges, let others begin between the generations.
    fn new(blocks: u64, capacity: &Capacity, filling: Option<f64>) -> Window {
        let generation = capacity.sms * capacity.resident;
        if blocks <= DEALT.max(GENERATIONS * generation) {
            return Window { blocks: 0..blocks, filling: 0, from: None };
        }
        let all = blocks / generation;
        let dealt = (GENERATIONS + DEALT / generation).min(all);
        let begin = (golden(1) * (all - dealt) as f64) as u64 * generation;
        let (filling, from) = match filling {
            // One behind the filling at least, and one before it in which blocks come apart.
            Some(filling) if dealt > GENERATIONS => {
                let filling = (filling.ceil().max(1.0) as u64).min(dealt - GENERATIONS);
                (filling, Some(begin + (dealt - filling - 2) * generation))
            }
            None if dealt > GENERATIONS => (1, Some(begin + (dealt - GENERATIONS) * generation)),
            _ => (u64::from(begin > 0), None),
        };
        Window { blocks: begin..begin + dealt * generation, filling, from }
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
        assert_eq!(Window::new(2000, &capacity, Some(0.2)), Window { blocks: 0..2000, filling: 0, from: None });
        let apart = |filling, from| Window { blocks: 59_900..62_960, filling, from: Some(from) };
        assert_eq!(Window::new(100_000, &capacity, None), apart(1, 62_900));
        assert_eq!(Window::new(100_000, &capacity, Some(0.2)), apart(1, 62_900));
        assert_eq!(Window::new(100_000, &capacity, Some(5.5)), apart(6, 62_800));
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
