//! Requests to L2, and what comes of them.

/// Kind of request to L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum L2Op {
    /// Sectors are read.
    Load,
    /// Bytes are written.
    Store,
    /// Sectors are read and written as one.
    Atomic,
    /// Like [`L2Op::Atomic`], in a model whose atomics miss without touching the caches.
    AtomicMiss,
}

/// A line-sized request from L1 to L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct L2Access {
    /// What.
    pub op: L2Op,
    /// Dense number of the line (see [`crate::hierarchy::DenseLines`]).
    pub number: u32,
    /// Sectors.
    pub sectors: u8,
    /// Bytes, for stores.
    pub bytes: u128,
}

/// What one request did at L2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct L2Outcome {
    /// Lookups, in the level's own sectors.
    pub lookups: u32,
    /// Those of them present before.
    pub hits: u32,
    /// Store lookups whose line or sector had to be allocated. Hardware counts them as hits.
    pub allocated: u32,
    /// Lookups that the near partition passed on to the far one.
    pub far: u32,
    /// Sectors read from DRAM.
    pub dram_reads: u32,
    /// Sectors that will be written to DRAM: counted when a clean sector becomes dirty, since each
    /// such is written exactly once, at its eviction or at the end.
    pub dram_writes: u32,
}
