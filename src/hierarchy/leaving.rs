//! Requests on their way from the SMs to level 2.

use super::coalesce::bytes_of;
use super::level1::Ask;

/// A request that left an SM: at most one line of 128 bytes.
#[derive(Clone, Copy, Debug)]
pub struct L2Request {
    /// Address / 128.
    pub line: u64,
    /// Place in the trace, see [`Leaving::place`].
    pub place: u32,
    /// Where it is counted.
    pub cell: u32,
    /// Its entry in the list of byte masks; [`WHOLE`] where all bytes of its sectors are touched.
    mask: u32,
    /// SM that made it.
    pub sm: u16,
    /// Sectors.
    pub sectors: u8,
    /// What.
    pub ask: Ask,
}

/// No mask: every byte of the sectors.
const WHOLE: u32 = u32::MAX;

/// What left the SMs of one worker, in order. Few requests write only some bytes of their sectors; the masks of those
/// lie apart, so that the others are short.
#[derive(Clone, Debug, Default)]
pub struct Leaving {
    requests: Vec<L2Request>,
    masks: Vec<u128>,
    /// Place of what is pushed next, the same for all that one request of a warp causes. Rises.
    pub place: u32,
}

impl Leaving {
    /// Appends a request. `bytes` matters for stores only.
    #[inline(always)]
    pub fn push(&mut self, sm: u16, cell: u32, line: u64, sectors: u8, ask: Ask, bytes: u128) {
        let mut mask = WHOLE;
        if ask == Ask::Store && bytes != bytes_of(sectors) {
            mask = self.masks.len() as u32;
            self.masks.push(bytes);
        }
        self.requests.push(L2Request { line, place: self.place, cell, mask, sm, sectors, ask });
    }

    /// The requests.
    pub fn requests(&self) -> &[L2Request] {
        &self.requests
    }

    /// Touched bytes of one of the requests.
    #[inline(always)]
    pub fn bytes(&self, request: &L2Request) -> u128 {
        if request.mask == WHOLE {
            return bytes_of(request.sectors);
        }
        self.masks.get(request.mask as usize).copied().unwrap_or_default()
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.requests.clear();
        self.masks.clear();
    }
}
