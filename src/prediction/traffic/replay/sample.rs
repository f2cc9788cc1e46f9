//! Which SMs and blocks stand for a launch.

use std::ops::Range;

use super::code::Code;
use super::counted::Counted;
use super::dealt::dealt;
use super::requests::RequestPieces;
use super::sm::Sm;
use super::turns::WarpTurns;
use crate::hierarchy::{DenseLines, HierarchyConfig};
use crate::prediction::form::Bounds;
use crate::prediction::launch::Launch;
use crate::prediction::traffic::capacity::Capacity;
use crate::prediction::traffic::volumes::Affine;

/// Pieces of requests after which no further SM is begun.
const ENOUGH: f64 = 6_000.0;
/// Pieces that an SM serves at most, about.
const MOST: f64 = 30_000.0;
/// Pieces by which blocks that only fill L1 fill it, over its lines. Eight times as many changed no shape of a 25-point stencil.
const FILLING: f64 = 2.0;
/// SMs that are looked at.
const SMS: u64 = 6;
/// SMs that are looked at where no block so far loaded anything.
const MOST_SMS: u64 = 96;
/// Generations of resident blocks that an SM runs at least: those that begin together share more of L1 than those behind them, which
/// begin one after the other.
const LEAST_GENERATIONS: usize = 2;
/// Blocks that are dealt out to SMs.
const DEALT: u64 = 3_000;
/// Generations of resident blocks that are dealt out where the grid has more blocks than [`DEALT`].
const GENERATIONS: u64 = 3;
/// Multiples of it are spread evenly, but not in step with rows of blocks.
const GOLDEN: f64 = 0.618_033_988_749_895;

/// What some blocks did.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// Sums over the blocks.
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

/// Runs some blocks of a launch, of which a block makes `pieces_of_block` pieces in the mean; an SM has `l2_lines` lines of L2 as its
/// share. Nothing is counted where there
/// are no loads.
pub fn replay(
    accesses: &[Affine],
    launch: &Launch,
    bounds: &Bounds,
    hierarchy: &HierarchyConfig,
    (capacity, l2_lines): (&Capacity, u32),
    pieces_of_block: f64,
) -> Replay {
    let mut pieces = RequestPieces::new(hierarchy);
    let resident = capacity.resident.min(launch.blocks().div_ceil(capacity.sms)).max(1);
    let pieces_of_generation = (pieces_of_block * resident as f64).max(1.0);
    let share = MOST / pieces_of_generation;
    let code = Code::new(accesses, launch, bounds, share, &mut pieces);
    let used = capacity.sms.min(launch.blocks());
    let count = SMS.min(used);
    let (window, warm) = window(launch.blocks(), capacity);
    let mut turns = WarpTurns::new(&code, capacity.turn);
    let warps = launch.warps() as usize;
    // Of a generation that only fills L1, its last requests are enough.
    let late = code.late_step(FILLING * f64::from(capacity.l1_lines) / pieces_of_generation);
    let none = Counted::default();
    let mut found = Replay {
        counted: none,
        by_access: vec![none; accesses.len()],
        blocks: Vec::new(),
        whole: true,
        left_out: code.left_out,
    };
    let (mut served, mut lines) = (0.0, DenseLines::default());
    let loads = accesses.iter().any(|access| access.loads);
    let mut numbers = 1..=count;
    // Whole generations, as many as are affordable.
    let generations = ((MOST / pieces_of_generation) as usize).max(LEAST_GENERATIONS);
    let most = generations.saturating_mul(resident as usize);
    loop {
        let wanted: Vec<u64> = numbers.clone().map(|number| (golden(number) * used as f64) as u64).collect();
        let lists = dealt(window.clone(), (capacity.sms, resident as usize), warps, &mut turns, (&wanted, most));
        for blocks in lists {
            let warm = if warm { (resident as usize).min(blocks.len() - 1) } else { 0 };
            let mut one =
                Sm::new(&code, &mut pieces, &mut lines, hierarchy, (capacity.l1_lines, l2_lines), capacity.turn);
            let first_step = if warm > 0 { late } else { 0 };
            let (counted, whole) = one.run(&blocks, resident as usize, first_step, 4 * MOST as u64);
            let took = one.served as f64;
            served += took;
            let warm = if whole || first_step > 0 { warm } else { 0 };
            counted[warm..].iter().for_each(|one| found.counted.add(one));
            found.by_access.iter_mut().zip(&one.by_access).for_each(|(sum, one)| sum.add(one));
            found.blocks.extend(&blocks[warm..]);
            found.whole &= whole && code.left_out == 0.0;
            if served + took > ENOUGH {
                break;
            }
        }
        // Blocks beyond an array's end load nothing: where all that were looked at do not, others are.
        numbers = numbers.end() + 1..=numbers.end() + count;
        if !loads || found.counted.loaded > 0 || *numbers.start() > MOST_SMS.min(used) {
            break;
        }
    }
    found
}

/// A multiple of the golden section, below 1.
pub fn golden(number: u64) -> f64 {
    (number as f64 * GOLDEN).fract()
}

/// The blocks that are dealt out, and whether the first generation only fills the capacity.
fn window(blocks: u64, capacity: &Capacity) -> (Range<u64>, bool) {
    let generation = capacity.sms * capacity.resident;
    if blocks <= DEALT.max(GENERATIONS * generation) {
        return (0..blocks, false);
    }
    let begin = (golden(1) * (blocks / generation - GENERATIONS) as f64) as u64 * generation;
    (begin..begin + GENERATIONS * generation, begin > 0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::models;
    use crate::prediction::form::{Form, Truth, block};

    #[test]
    fn large_grids_are_looked_at_in_the_middle() {
        let capacity =
            Capacity { l1: 1024.0, l2: 1024.0, sms: 10, resident: 2, caches_loads: true, l1_lines: 8, turn: 1 };
        assert_eq!(window(2000, &capacity), (0..2000, false));
        assert_eq!(window(100_000, &capacity), (61_760..61_820, true));
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
        let capacity =
            Capacity { l1: 1024.0, l2: 1024.0, sms: 108, resident: 2, caches_loads: true, l1_lines: 8, turn: 1 };
        let found = replay(&[access], &launch, &bounds, &hierarchy, (&capacity, 1), 0.5);
        assert_eq!(found.counted.missed, found.counted.loaded);
        assert!(found.counted.loaded >= 4, "{:?}", found.counted);
    }
}
