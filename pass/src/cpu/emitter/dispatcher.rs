//! The emitter's state for a cautious region.

use crate::llvm::{Block, Value};

/// The state of one cautious region.
pub struct Dispatcher<'c> {
    /// The block that selects the next block.
    pub(super) choice: Block<'c>,
    /// The lowest position that can be selected.
    pub(super) floor: Value<'c>,
    /// The header of a loop in which lanes waited without effect while the lanes after it continue; otherwise 0.
    pub(super) again: Value<'c>,
    /// Not 0 if lanes have waited without effect, and no lane has progressed since.
    pub(super) tired: Value<'c>,
    /// The entries of the region, with the position at which lanes enter.
    pub(super) entries: Vec<(usize, Block<'c>)>,
}
