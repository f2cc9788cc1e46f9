//! Kinds of blocks: those of one kind load as many distinct sectors as each other, so that one of them is counted for all.
//!
//! Blocks are of one kind if the same threads meet each condition and their rows start at the same offset in a sector.

use crate::classes::{Class, classes};
use crate::form::{Truth, block, gcd};
use crate::traffic::access::SECTOR;
use crate::traffic::flow::Flow;

/// Kinds of blocks that are distinguished, at most.
const MOST_KINDS: usize = 200;

/// The blocks of a launch by kind, with what each kind loads.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    regions: Vec<Region>,
    /// Distinct sectors that all blocks load, each block's counted by itself.
    pub(super) distinct: f64,
    /// Some count is not exact.
    pub(super) rough: bool,
    /// There are too many kinds: some blocks stand for the others.
    pub(super) sampled: bool,
}

/// A box of blocks whose kinds take turns along each axis.
#[derive(Debug)]
struct Region {
    first: [i64; 3],
    last: [i64; 3],
    /// Kinds along each axis.
    rounds: [i64; 3],
    /// Indexed by kind, along x first: distinct sectors that a block loads.
    sectors: Vec<f64>,
}

impl Kinds {
    /// Counts a block of each kind, or some blocks evenly spread where there are too many kinds.
    pub(super) fn new(flow: &Flow<'_>) -> Kinds {
        let mut splits: Vec<Truth> = Vec::new();
        for access in flow.accesses.iter().filter(|access| access.loads) {
            if !splits.contains(&access.condition) {
                splits.push(access.condition.clone());
            }
        }
        let mut found = Kinds::default();
        let pieces = classes(&Truth::Known(true), &splits, flow.launch, flow.bounds, &[]);
        match pieces.filter(|pieces| pieces.len() <= MOST_KINDS) {
            Some(pieces) => {
                let rounds = rounds(flow);
                for class in &pieces {
                    let region = found.region(flow, class, rounds);
                    found.regions.push(region);
                }
            }
            None => {
                found.sampled = true;
                let blocks = flow.launch.blocks();
                let count = blocks.min(MOST_KINDS as u64);
                for number in 0..count {
                    found.count(flow, blocks * (2 * number + 1) / (2 * count), blocks as f64 / count as f64);
                }
            }
        }
        found
    }

    /// Distinct sectors that a block loads.
    pub(super) fn loaded_by(&self, flow: &Flow<'_>, block: u64) -> f64 {
        let at = flow.launch.place(block);
        match self.regions.iter().find_map(|region| region.at(at)) {
            Some(known) => known,
            None => flow.block_loads(block).sectors,
        }
    }

    /// Counts a block that stands for `times` blocks.
    fn count(&mut self, flow: &Flow<'_>, block: u64, times: f64) -> f64 {
        let found = flow.block_loads(block);
        self.distinct += found.sectors * times;
        self.rough |= found.rough;
        found.sectors
    }

    fn region(&mut self, flow: &Flow<'_>, class: &Class, rounds: [i64; 3]) -> Region {
        let [width, height, _] = flow.launch.grid.map(u64::from);
        let ranges = [0, 1, 2].map(|axis| class.bounds.range(block(axis)));
        let extents = [0, 1, 2].map(|axis| class.bounds.extent(block(axis)));
        let rounds = [0, 1, 2].map(|axis| rounds[axis].min(extents[axis]));
        // Blocks of a kind along an axis.
        let times =
            |axis: usize, at: i64| (extents[axis] / rounds[axis] + i64::from(at < extents[axis] % rounds[axis])) as f64;
        let place = |axis: usize, at: i64| (ranges[axis].0 + at) as u64;
        let mut sectors = Vec::new();
        for z in 0..rounds[2] {
            for y in 0..rounds[1] {
                for x in 0..rounds[0] {
                    let linear = place(0, x) + width * (place(1, y) + height * place(2, z));
                    sectors.push(self.count(flow, linear, times(0, x) * times(1, y) * times(2, z)));
                }
            }
        }
        Region { first: ranges.map(|range| range.0), last: ranges.map(|range| range.1), rounds, sectors }
    }
}

impl Region {
    /// What the block at a place loads, if it is one of these.
    fn at(&self, place: [i64; 3]) -> Option<f64> {
        let inside = |axis: usize| (self.first[axis]..=self.last[axis]).contains(&place[axis]);
        if ![0, 1, 2].into_iter().all(inside) {
            return None;
        }
        let [x, y, z] = [0, 1, 2].map(|axis| (place[axis] - self.first[axis]) % self.rounds[axis]);
        self.sectors.get((x + self.rounds[0] * (y + self.rounds[1] * z)) as usize).copied()
    }
}

/// Blocks along each axis after which rows start at the same place in a sector again.
fn rounds(flow: &Flow<'_>) -> [i64; 3] {
    [0, 1, 2].map(|axis| {
        let loads = flow.accesses.iter().filter(|access| access.loads);
        let factors = loads.map(|access| access.form.factor(block(axis)).unsigned_abs());
        (SECTOR as u64 / factors.fold(SECTOR as u64, gcd)) as i64
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::form::{Bounds, Form};
    use crate::launch::Launch;
    use crate::traffic::access::MemoryAccess;
    use crate::traffic::capacity::Capacity;
    use crate::traffic::footprint::Footprints;
    use warpline_profile::model::Addresses;
    use warpline_simulator::models;

    proptest! {
        /// A kernel with a guard at the edges of an array whose rows start anywhere in a sector, each block counted by itself. Rows hold
        /// what all blocks touch of them: where they overlap, unions are approximate.
        #[test]
        fn blocks_of_a_kind_load_as_much(block in [1u32..9, 1u32..4, 1u32..3], grid in [1u32..9, 1u32..9, 1u32..4],
                pad in 7i64..40, inner in 0i64..3, far in prop::collection::vec((-3i64..4, -2i64..3), 1..5)) {
            let launch = Launch::new(block, grid, BTreeMap::new());
            let extents = launch.indices.into_iter().chain(grid).map(|extent| (0, i64::from(extent) - 1));
            let bounds = Bounds(extents.collect());
            let index = |axis: usize, factor: i64| [(axis, factor), (self::block(axis), factor * i64::from(block[axis]))];
            let row = i64::from(block[0] * grid[0]) + pad;
            let (row, plane) = (4 * row, 4 * row * 40);
            let mut terms: Vec<(usize, i64)> = [index(0, 4), index(1, row), index(2, plane)].concat();
            terms.sort_unstable();
            let least = |axis| Truth::AtLeast(Form { constant: -inner, terms: index(axis, 1).to_vec() });
            let inside = Truth::All(vec![least(0), least(1)]);
            let accesses: Vec<MemoryAccess> = far.iter().enumerate().map(|(number, (x, y))| {
                let condition = if number % 2 == 0 { inside.clone() } else { Truth::Known(true) };
                MemoryAccess::load(Form { constant: 4096 * 64 + 4 * x + row * y, terms: terms.clone() }, condition, 4)
            }).collect();
            let hierarchy = models::find("a100").unwrap().hierarchy().unwrap();
            let capacity = Capacity { hierarchy: &hierarchy, drift: 0, sms: 4, resident: 2, l1_lines: 8, turn: 1 };
            let footprints = Footprints::new(&accesses, &bounds);
            let addresses = Addresses::default();
            let flow = Flow { accesses: &accesses, all: (&accesses, &bounds), addresses: &addresses, footprints, launch: &launch, bounds: &bounds, capacity: &capacity };
            let kinds = Kinds::new(&flow);
            let mut sum = 0.0;
            for number in 0..launch.blocks() {
                let own = flow.block_loads(number).sectors;
                prop_assert_eq!(kinds.loaded_by(&flow, number), own, "block {}", number);
                sum += own;
            }
            prop_assert!((kinds.distinct - sum).abs() <= 1e-9 * sum);
        }
    }
}
