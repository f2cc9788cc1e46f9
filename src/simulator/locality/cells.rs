//! Counters of reuse.

use super::histogram::ReuseHistogram;

/// Reuse figures of one cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReuseCounters {
    /// Distances of elements, identified by address and width of the access.
    pub element: ReuseHistogram,
    /// Distances of 32-byte sectors.
    pub sector: ReuseHistogram,
    /// Distances of 128-byte lines.
    pub line: ReuseHistogram,
    /// Uses of elements that are used only once in their scope before they are stored to or the scope ends. The
    /// intermediate value may be negative; sums therefore wrap.
    pub streaming: u64,
}

impl ReuseCounters {
    /// Adds other figures.
    pub fn add(&mut self, other: &ReuseCounters) {
        self.element.add(&other.element);
        self.sector.add(&other.sector);
        self.line.add(&other.line);
        self.streaming = self.streaming.wrapping_add(other.streaming);
    }
}

/// Reuse figures, one entry per cell.
pub type ReuseCells = Vec<ReuseCounters>;

#[inline]
pub(super) fn counters(cells: &mut ReuseCells, cell: u32) -> &mut ReuseCounters {
    if cells.len() <= cell as usize {
        cells.resize(cell as usize + 1, ReuseCounters::default());
    }
    &mut cells[cell as usize]
}
