//! The state of a warp slot and of a resident block.

use super::buffers::Buffer;
use super::fibre::Stack;
use super::warp::Warp;
use std::ptr::null;
use warpline_format::abi::WarpFunction;
use warpline_format::rendezvous::Rendezvous;

/// State that every issue of a warp slot reads. It is small, so that the slots of a whole device stay in the cache.
#[derive(Clone, Copy)]
pub(super) struct Hot {
    /// The next item to move.
    pub(super) read: *const u8,
    /// The end of the items.
    pub(super) limit: *const u8,
    /// The stack pointer of the suspended fibre, used to prefetch its frame.
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
    /// The warp waits for another warp and gives up the rest of its turn.
    pub const YIELDED: u32 = 2;
    /// The warp waits at a barrier for which the buffer has no item.
    pub const WAITS: u32 = 4;
    /// The rest of a split access has not been moved yet.
    pub const REST: u32 = 8;
    /// The warp is at a barrier that its block has not passed yet.
    pub const AT_BARRIER: u32 = 16;
    /// The warp's buffer had no room left.
    pub const FULL: u32 = 32;
    /// The warp is before an access whose item is written but does not count yet, so its buffer must not change.
    pub const MIDST: u32 = 64;
}

/// The state of a resident block before its warps start.
#[derive(Clone, Copy)]
pub(super) struct Placed {
    pub(super) number: u64,
    /// The block's position in the order of starts.
    pub(super) sequence: u64,
    pub(super) index: [u32; 3],
    pub(super) sm: u32,
    /// The slot of warp 0, counted over all SMs and in its SM.
    pub(super) first_slot: u32,
    pub(super) first_on_sm: u32,
    pub(super) entry: WarpFunction,
    /// Whether the block's warps run with hooks.
    pub(super) hooked: bool,
    /// Whether the warps' records go into the trace.
    pub(super) traced: bool,
    /// Whether the block does not run at all.
    pub(super) left_out: bool,
}

/// State that is read when a warp starts and ends, and rarely in between.
pub(super) struct Cold {
    /// The warp, from its first turn to its end. Warps that end quickly use the same memory one after another.
    pub(super) warp: Option<*mut Warp>,
    pub(super) buffer: Option<Buffer>,
    pub(super) stack: Option<Stack>,
    /// The rest of an access that was split.
    pub(super) rest: Vec<u8>,
    /// The barrier at which the warp waits, if [`flags::WAITS`] is set.
    pub(super) meeting: Rendezvous,
}

impl Default for Cold {
    fn default() -> Cold {
        Cold { warp: None, buffer: None, stack: None, rest: Vec::new(), meeting: Rendezvous::BLOCK }
    }
}
