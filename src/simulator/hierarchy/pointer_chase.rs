//! Pointer chases of one thread, simulated without a program. `warpline validate` and tests compare them with closed
//! forms.

use warpline_format::access::{Item, Items, Space, push_access};
use warpline_format::site_table::{CacheOp, Op};

use super::{Egress, FirstLevel, HierarchyConfig, SecondLevel, SmRequest, Traffic, TrafficCells};
use crate::geometry::Width;

/// A chase through an array of 4-byte elements.
pub struct Chase {
    first: FirstLevel,
    second: SecondLevel,
    /// Traffic of the loads so far. Replace it to restart the count.
    pub cells: TrafficCells,
    item: Vec<u8>,
    left: Egress,
}

/// Start address of the array.
const BASE: u64 = 1 << 44;

impl Chase {
    /// Creates a `Chase` with empty caches.
    pub fn new(config: &HierarchyConfig) -> Chase {
        Chase {
            first: FirstLevel::new(config),
            second: SecondLevel::new(config),
            cells: TrafficCells::default(),
            item: Vec::new(),
            left: Egress::default(),
        }
    }

    /// Accesses the element at an index.
    pub fn access(&mut self, index: u64, op: Op, cache: CacheOp) {
        self.item.clear();
        push_access(&mut self.item, Space::Global, 0, 1, &[BASE + 4 * index]);
        let Some(Ok(Item::Access(access))) = Items::new(&self.item).next() else { return };
        let width = Width { bytes: 4, holes: None };
        let request = SmRequest { sm: 0, slot: 0, access: &access, width, op, cache, cell: 0, place: 0, pieces: None };
        self.first.request(request, &mut self.cells, &mut self.left);
        self.first.finish(&mut self.cells, &mut self.left);
        self.second.serve(&[self.left.share(0)], &mut self.cells);
        self.left.clear();
    }

    /// Returns the traffic of the loads so far.
    pub fn sum(&self) -> Traffic {
        self.cells.as_slice().first().copied().unwrap_or_default()
    }
}

/// Returns the traffic of `m` loads that repeatedly walk an array of `n` elements with stride `s`.
pub fn walk(config: &HierarchyConfig, n: u64, s: u64, m: u64, cache: CacheOp) -> Traffic {
    walk_behind(config, n, s, 0, m, cache)
}

/// Returns the traffic of `m` loads of the walk of [`walk`] after its first `before` loads.
pub fn walk_behind(config: &HierarchyConfig, n: u64, s: u64, before: u64, m: u64, cache: CacheOp) -> Traffic {
    let mut chase = Chase::new(config);
    let mut at = 0;
    for step in 0..before + m {
        if step == before {
            chase.cells = TrafficCells::default();
        }
        chase.access(at, Op::Load, cache);
        at = (at + s) % n;
    }
    chase.sum()
}

/// Returns the traffic of the second half of `rounds` rounds of a random cycle through elements that are `stride` bytes
/// apart.
pub fn random_walk(config: &HierarchyConfig, bytes: u64, stride: u64, rounds: u64) -> Traffic {
    let count = (bytes / stride).max(1);
    let mut order: Vec<u64> = (0..count).collect();
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    for place in (1..count as usize).rev() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        order.swap(place, ((seed >> 33) % (place as u64 + 1)) as usize);
    }
    let mut chase = Chase::new(config);
    for round in 0..rounds {
        if round == rounds / 2 {
            chase.cells = TrafficCells::default();
        }
        for &place in &order {
            chase.access(place * stride / 4, Op::Load, CacheOp::Default);
        }
    }
    chase.sum()
}
