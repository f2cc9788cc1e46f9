//! Requests to L2 and their outcomes.

/// Operation of a request to L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum L2Op {
    /// Reads sectors.
    Load,
    /// Writes bytes.
    Store,
    /// Reads and writes sectors atomically.
    Atomic,
    /// Like [`L2Op::Atomic`], for a model whose atomic operations miss without changing the caches.
    AtomicMiss,
}

/// A request from L1 to L2 within one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct L2Access {
    /// The operation.
    pub op: L2Op,
    /// Dense number of the line (see [`crate::hierarchy::DenseLines`]).
    pub number: u32,
    /// Touched sectors.
    pub sectors: u8,
    /// Touched bytes, for stores.
    pub bytes: u128,
}

/// The outcome of one request at L2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct L2Outcome {
    /// Lookups, in the level's own sectors.
    pub lookups: u32,
    /// Hits among the lookups: sectors that were present.
    pub hits: u32,
    /// Store lookups that allocated a line or sector. Hardware counts them as hits.
    pub allocated: u32,
    /// Lookups that the near partition forwarded to the far partition.
    pub far: u32,
    /// Sectors read from DRAM.
    pub dram_reads: u32,
    /// Sectors that will be written to DRAM. They are counted when a clean sector becomes dirty, because each dirty
    /// sector is written exactly once: at its eviction or at the end.
    pub dram_writes: u32,
}
