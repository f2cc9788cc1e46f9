//! What is known of a warp slot and of a resident block.

use super::buffers::Buffer;
use super::fibre::Stack;
use super::warp::Warp;
use std::ptr::null;
use warpline_format::abi::WarpFunction;
use warpline_format::rendezvous::Rendezvous;

/// State that every issue of a warp slot reads; small, so that a whole device's slots stay in the cache.
#[derive(Clone, Copy)]
pub(super) struct Hot {
    /// Next item to take.
    pub(super) read: *const u8,
    /// End of the items.
    pub(super) limit: *const u8,
    /// Stack pointer of the suspended fibre, to have its frame fetched ahead.
    pub(super) stack: *const u8,
    /// Bits of [`flags`].
    pub(super) flags: u32,
}

impl Hot {
    pub(super) const EMPTY: Hot = Hot { read: null(), limit: null(), stack: null(), flags: 0 };
}

pub(super) mod flags {
    /// The warp function has returned.
    pub const FINISHED: u32 = 1;
    /// It waits for another warp, and gives up the rest of its turn.
    pub const YIELDED: u32 = 2;
    /// It waits at a barrier for which the buffer has no item.
    pub const WAITS: u32 = 4;
    /// The rest of a split access is still to come.
    pub const REST: u32 = 8;
    /// It is at a barrier that its block has not passed yet.
    pub const AT_BARRIER: u32 = 16;
    /// Its buffer had no room left.
    pub const FULL: u32 = 32;
    /// It is before an access whose item is written and does not count yet: its buffer stays as it is.
    pub const MIDST: u32 = 64;
}

/// A resident block before its warps start.
#[derive(Clone, Copy)]
pub(super) struct Placed {
    pub(super) number: u64,
    /// Where it comes in the order of starts.
    pub(super) sequence: u64,
    pub(super) index: [u32; 3],
    pub(super) sm: u32,
    /// Slot of warp 0, over all SMs and on its own.
    pub(super) first_slot: u32,
    pub(super) first_on_sm: u32,
    pub(super) entry: WarpFunction,
    /// Its warps run with hooks.
    pub(super) hooked: bool,
    /// What they record goes into the trace.
    pub(super) traced: bool,
    /// It does not run at all.
    pub(super) left_out: bool,
}

/// State that is read when a warp starts and ends, and rarely between.
pub(super) struct Cold {
    /// From the warp's first turn to its end. Warps that end soon follow each other in the same memory.
    pub(super) warp: Option<*mut Warp>,
    pub(super) buffer: Option<Buffer>,
    pub(super) stack: Option<Stack>,
    /// Rest of an access that was split.
    pub(super) rest: Vec<u8>,
    /// The barrier that it waits at, where [`flags::WAITS`] is set.
    pub(super) meeting: Rendezvous,
}

impl Default for Cold {
    fn default() -> Cold {
        Cold { warp: None, buffer: None, stack: None, rest: Vec::new(), meeting: Rendezvous::BLOCK }
    }
}
