//! Which SMs and blocks stand for a launch.

use super::code::Code;
use super::counted::Counted;
use super::dealt::{BlockTurns, SmBlocks, Wanted, dealt};
use super::effort::{COUNTED, Effort, Window};
use super::requests::RequestPieces;
use super::sm::{Sm, Start};
use super::turns::WarpTurns;
use crate::form::Bounds;
use crate::launch::Launch;
use crate::traffic::capacity::Capacity;
use crate::traffic::volumes::Affine;
use warpline_profile::model::Addresses;
use warpline_simulator::hierarchy::{DenseLines, HierarchyConfig};

/// SMs that are looked at where no block so far loaded anything.
const MOST_SMS: u64 = 96;
/// Generations of resident blocks that an SM runs at least: those that begin together share more of L1 than those behind them, which
/// begin one after the other.
const LEAST_GENERATIONS: usize = 2;
/// Generations that only fill L1 where blocks begin together and not with the launch's first ones: what is left of a generation's lines decides what the next one
/// finds. Pieces up to which an SM runs them and those that are counted.
const FILLING_TOGETHER: u64 = 2;
const MOST_TOGETHER: f64 = 250_000.0;
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
    let effort = Effort::of(accesses, launch);
    let share = effort.most / pieces_of_generation;
    let code = Code::new(accesses, (addresses, launch), bounds, share, &mut pieces);
    let used = capacity.sms.min(launch.blocks());
    // Generations that fill L1.
    let filling = effort.filling * f64::from(capacity.l1_lines) / pieces_of_generation;
    // Whole generations, as many as are affordable.
    let generations = ((effort.most / pieces_of_generation) as usize).max(LEAST_GENERATIONS);
    let mut most = generations.saturating_mul(resident as usize);
    let mut window = Window::new(launch.blocks(), capacity, filling, effort.generations, generations as u64);
    let count = effort.sms.min(used);
    let mut turns = WarpTurns::new(&code, capacity.turn);
    let warps = launch.warps() as usize;
    // Of a generation that only fills L1, its last requests are enough.
    let mut late = code.late_step(filling);
    let (mut warm_blocks, mut most_pieces) = (resident as usize, 4 * effort.most as u64);
    let of_sm = (FILLING_TOGETHER + COUNTED) as f64 * pieces_of_generation;
    if window.filling > 0 && of_sm <= MOST_TOGETHER && turns.are_alike(window.blocks.clone()) {
        let filling = filling.max(FILLING_TOGETHER as f64);
        window = Window::new(launch.blocks(), capacity, filling, effort.generations, generations as u64);
        late = 0;
        warm_blocks = window.filling as usize * resident as usize;
        most = most.max(warm_blocks + COUNTED as usize * resident as usize);
        most_pieces = most_pieces.max(MOST_TOGETHER as u64);
    }
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
    loop {
        let sm = |number: u64| (golden(number) * used as f64) as u64;
        let wanted: Vec<(u64, u64)> = numbers.clone().map(|number| (sm(number), window.from(number))).collect();
        let wanted = Wanted { sms: &wanted, most };
        let of_sms = (capacity.sms, resident as usize);
        let lists = dealt(window.blocks.clone(), of_sms, warps, &mut turns, wanted);
        for (SmBlocks { blocks, phases }, (_, from)) in lists.into_iter().zip(wanted.sms) {
            if blocks.is_empty() {
                continue;
            }
            let mut one =
                Sm::new(&code, &mut pieces, &mut lines, hierarchy, (capacity.l1_lines, l2_lines), capacity.turn);
            let fills = window.filling > 0 && from.max(&window.blocks.start) > &0;
            let start = match (fills, phases.is_empty()) {
                (_, false) => {
                    let filling = filling.min(window.filling as f64) * pieces_of_generation;
                    Start::Underway { phases, filling }
                }
                (true, true) => Start::Late(late),
                (false, true) => Start::Late(0),
            };
            let warm = if fills { warm_blocks.min(blocks.len() - 1) } else { 0 };
            let underway = matches!(start, Start::Underway { .. });
            let (counted, whole) = one.run(&blocks, resident as usize, &start, most_pieces);
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
            if effort.is_enough(served, took, made, &shares) {
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

/// A multiple of the golden section, below 1.
pub fn golden(number: u64) -> f64 {
    (number as f64 * GOLDEN).fract()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::form::{Form, Truth, block};
    use warpline_simulator::models;

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
            drift: 0,
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
