//! Traffic of requests at every level.

use super::coalesce::StageCounts;

/// Lookups of one level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelCounts {
    /// All lookups.
    pub lookups: u64,
    /// Hits among all lookups.
    pub hits: u64,
    /// Lookups of loads.
    pub load_lookups: u64,
    /// Hits among the lookups of loads.
    pub load_hits: u64,
}

impl LevelCounts {
    /// Adds another sum.
    pub fn add(&mut self, other: &LevelCounts) {
        self.lookups += other.lookups;
        self.hits += other.hits;
        self.load_lookups += other.load_lookups;
        self.load_hits += other.load_hits;
    }

    #[inline]
    pub(crate) fn count(&mut self, load: bool, lookups: u32, hits: u32) {
        self.lookups += u64::from(lookups);
        self.hits += u64::from(hits);
        if load {
            self.load_lookups += u64::from(lookups);
            self.load_hits += u64::from(hits);
        }
    }
}

/// Traffic of requests at every level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Lookups of L1.
    pub l1: LevelCounts,
    /// Lookups of L2.
    pub l2: LevelCounts,
    /// L2 store lookups that allocated a line or sector; hardware counts them as hits.
    pub l2_allocated: u64,
    /// L2 lookups that were forwarded to the far partition.
    pub l2_far: u64,
    /// Sectors read from DRAM.
    pub dram_reads: u64,
    /// Sectors that are or will be written to DRAM.
    pub dram_writes: u64,
    /// Passes through the stages of L1, if the model has them.
    pub stages: StageCounts,
}

impl Traffic {
    /// Adds another sum.
    pub fn add(&mut self, other: &Traffic) {
        self.l1.add(&other.l1);
        self.l2.add(&other.l2);
        self.l2_allocated += other.l2_allocated;
        self.l2_far += other.l2_far;
        self.dram_reads += other.dram_reads;
        self.dram_writes += other.dram_writes;
        self.stages.add(&other.stages);
    }
}

/// Sums by cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrafficCells(Vec<Traffic>);

impl TrafficCells {
    /// Returns the sum of a cell, which is created if it is new.
    #[inline]
    pub fn cell(&mut self, cell: u32) -> &mut Traffic {
        if self.0.len() <= cell as usize {
            self.0.resize(cell as usize + 1, Traffic::default());
        }
        &mut self.0[cell as usize]
    }

    /// Returns all sums, indexed by cell.
    pub fn as_slice(&self) -> &[Traffic] {
        &self.0
    }
}

/// Maps a request that left an SM to the sum that counts it.
pub trait SumOf {
    /// Returns the sum of cell `cell` of worker part `part`.
    fn sum(&mut self, part: usize, cell: u32) -> &mut Traffic;
}

impl SumOf for TrafficCells {
    #[inline]
    fn sum(&mut self, _part: usize, cell: u32) -> &mut Traffic {
        self.cell(cell)
    }
}
