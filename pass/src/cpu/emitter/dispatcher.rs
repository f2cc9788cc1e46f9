//! What the emitter keeps of a cautious region.

use crate::llvm::{Block, Value};

/// What a cautious region has of its own.
pub struct Dispatcher<'c> {
    /// Chooses the next block.
    pub(super) choice: Block<'c>,
    /// The lowest position that it may choose.
    pub(super) floor: Value<'c>,
    /// The header of a loop in which lanes waited without effect, while those after it continue; else 0.
    pub(super) again: Value<'c>,
    /// Not 0: lanes have waited without effect, and no lane has progressed since.
    pub(super) tired: Value<'c>,
    /// Entries to the region, by the position that lanes come in at.
    pub(super) entries: Vec<(usize, Block<'c>)>,
}
