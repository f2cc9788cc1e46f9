//! Groups blocks into kinds. Blocks of one kind load the same number of distinct sectors, so one block of each kind is
//! counted.
//!
//! Two blocks are of the same kind if each condition is true for the same threads and their rows start at the same
//! offset in a sector.

use crate::classes::{Class, classes};
use crate::form::{Truth, block, gcd};
use crate::traffic::access::SECTOR;
use crate::traffic::flow::Flow;

/// Maximum number of kinds that are distinguished.
const MOST_KINDS: usize = 200;

/// The kinds of blocks in a launch, and the sectors that each kind loads.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    regions: Vec<Region>,
    /// Distinct sectors of each block, summed over all blocks.
    pub(super) distinct: f64,
    /// At least one count is approximate.
    pub(super) rough: bool,
    /// There are too many kinds, so a sample of blocks represents the others.
    pub(super) sampled: bool,
}

/// A box of blocks whose kinds repeat periodically along each axis.
#[derive(Debug)]
struct Region {
    first: [i64; 3],
    last: [i64; 3],
    /// Number of kinds along each axis.
    rounds: [i64; 3],
    /// Distinct sectors that a block loads, indexed by kind with x first.
    sectors: Vec<f64>,
}

impl Kinds {
    /// Counts one block of each kind, or evenly spread blocks if there are too many kinds.
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

    /// Returns the distinct sectors that a block loads.
    pub(super) fn loaded_by(&self, flow: &Flow<'_>, block: u64) -> f64 {
        let at = flow.launch.place(block);
        match self.regions.iter().find_map(|region| region.at(at)) {
            Some(known) => known,
            None => flow.block_loads(block).sectors,
        }
    }

    /// Counts a block that represents `times` blocks.
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
        // Number of blocks of one kind along an axis.
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
    /// Returns the sectors that the block at a position loads if the region contains it.
    fn at(&self, place: [i64; 3]) -> Option<f64> {
        let inside = |axis: usize| (self.first[axis]..=self.last[axis]).contains(&place[axis]);
        if ![0, 1, 2].into_iter().all(inside) {
            return None;
        }
        let [x, y, z] = [0, 1, 2].map(|axis| (place[axis] - self.first[axis]) % self.rounds[axis]);
        self.sectors.get((x + self.rounds[0] * (y + self.rounds[1] * z)) as usize).copied()
    }
}

/// Returns the number of blocks along each axis after which rows start at the same offset in a sector again.
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
        /// Compares kinds with counting each block separately, for a kernel with guards at the edges of an array whose
        /// rows start anywhere in a sector. Rows are long enough for all blocks, because unions of overlapping rows are
        /// approximate.
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
