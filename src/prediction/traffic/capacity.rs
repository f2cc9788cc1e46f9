//! What a launch has of a model's caches.

/// Sizes of a model's caches, and of a wave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacity {
    /// Bytes of L1 that a launch has.
    pub l1: f64,
    /// Bytes of L2 for lines to which the same SM comes back.
    pub l2: f64,
    /// Bytes of L2, all partitions together.
    pub l2_all: f64,
    /// Partitions of L2.
    pub l2_partitions: u32,
    /// How far blocks come apart (`Order::drift`).
    pub drift: u32,
    /// Lines of a set of L2.
    pub l2_ways: u32,
    /// Streaming multiprocessors.
    pub sms: u64,
    /// Blocks that share one.
    pub resident: u64,
    /// Whether L1 keeps what plain loads load.
    pub caches_loads: bool,
    /// Lines of L1.
    pub l1_lines: u32,
    /// Requests of a warp's turn.
    pub turn: u32,
}
