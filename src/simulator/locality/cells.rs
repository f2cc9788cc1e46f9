//! Where reuse figures go.

use super::histogram::ReuseHistogram;

/// Reuse figures of one cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReuseCounters {
    /// Elements: address and width of the access.
    pub element: ReuseHistogram,
    /// 32-byte sectors.
    pub sector: ReuseHistogram,
    /// 128-byte lines.
    pub line: ReuseHistogram,
    /// Uses of elements that their scope uses just this once before they are stored to or the scope
    /// ends. May go below zero on the way, hence the wrapping sums.
    pub streaming: u64,
}

impl ReuseCounters {
    /// Adds another one.
    pub fn add(&mut self, other: &ReuseCounters) {
        self.element.add(&other.element);
        self.sector.add(&other.sector);
        self.line.add(&other.line);
        self.streaming = self.streaming.wrapping_add(other.streaming);
    }
}

/// Where figures go: one entry per cell.
pub type ReuseCells = Vec<ReuseCounters>;

#[inline]
pub(super) fn counters(cells: &mut ReuseCells, cell: u32) -> &mut ReuseCounters {
    if cells.len() <= cell as usize {
        cells.resize(cell as usize + 1, ReuseCounters::default());
    }
    &mut cells[cell as usize]
}
