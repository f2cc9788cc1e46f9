//! A resolved request, and what may follow requests.

use warpline_format::access::Access;
use warpline_format::event::LaunchId;
use warpline_format::site_table::Site;

use super::{CellId, LaunchShape};
use warpline_simulator::geometry::Width;
use warpline_simulator::metrics::{Footprint, Wavefronts};

/// The share of one owner in a request that several own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where it is counted.
    pub cell: CellId,
    /// Lanes that touch the owner's memory; a lane may be in two parts.
    pub mask: u32,
}

/// One request, resolved.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Site, space, mask and addresses.
    pub access: &'a Access<'a>,
    /// The site's entry in the site table.
    pub site: &'a Site,
    /// Bytes per lane.
    pub width: Width,
    /// Distinct sectors, lines and bytes.
    pub footprint: Footprint,
    /// Passes over the banks of its memory, or of L1 where the model has them.
    pub passes: Wavefronts,
    /// Warp slot that made it.
    pub slot: u32,
    /// Place in the batch: orders the requests of all workers.
    pub place: u32,
    /// Where the whole request is counted.
    pub cell: CellId,
    /// Empty unless several allocations own it.
    pub parts: &'a [Part],
}

/// An analysis that sees every request of a launch, in the order of one worker's share of the SMs:
/// all requests of one SM, and so of one block, come to the same follower in the order the SM made
/// them. Figures belong into vectors indexed by cell; cells are numbered per worker and launch, and
/// [`Follower::end`] is the moment to hand them on by [`super::CellKey`].
pub trait Follower: Send {
    /// What it hands on at a launch's end, for its share of the SMs. Sums, so that any number of workers gives the same.
    type Result: Default + Send;

    /// Whether requests to shared memory matter; if not, they do not all come.
    fn wants_shared(&self) -> bool {
        true
    }
    /// Lanes of the model's waves: 32, or 64 where two neighbouring warps make one request.
    fn wave_lanes(&self) -> u32 {
        32
    }
    /// A launch begins.
    fn start(&mut self, _launch: &LaunchShape) {}
    /// What follows belongs to this launch.
    fn batch(&mut self, _launch: LaunchId) {}
    /// The batch is over. Every worker gets every batch.
    fn batch_end(&mut self) {}
    /// A block takes the slots from `slot` on.
    fn block(&mut self, _slot: u32, _warps: u32, _block: u64) {}
    /// A request is made.
    fn request(&mut self, request: &Request<'_>);
    /// A warp reaches a block-wide barrier.
    fn barrier(&mut self, _slot: u32) {}
    /// A launch ends; the figures of its cells may be added to.
    fn end(&mut self, _launch: &LaunchShape, _cells: &mut super::Cells) -> Self::Result {
        Self::Result::default()
    }
}

/// Follows nothing.
impl Follower for () {
    type Result = ();

    fn wants_shared(&self) -> bool {
        false
    }

    #[inline]
    fn request(&mut self, _request: &Request<'_>) {}
}

/// Follows where there is something to follow with.
impl<F: Follower> Follower for Option<F> {
    type Result = Option<F::Result>;

    fn wants_shared(&self) -> bool {
        self.as_ref().is_some_and(F::wants_shared)
    }

    fn wave_lanes(&self) -> u32 {
        self.as_ref().map_or(32, F::wave_lanes)
    }

    fn start(&mut self, launch: &LaunchShape) {
        if let Some(follower) = self {
            follower.start(launch);
        }
    }

    fn batch(&mut self, launch: LaunchId) {
        if let Some(follower) = self {
            follower.batch(launch);
        }
    }

    fn batch_end(&mut self) {
        if let Some(follower) = self {
            follower.batch_end();
        }
    }

    fn block(&mut self, slot: u32, warps: u32, block: u64) {
        if let Some(follower) = self {
            follower.block(slot, warps, block);
        }
    }

    #[inline]
    fn request(&mut self, request: &Request<'_>) {
        if let Some(follower) = self {
            follower.request(request);
        }
    }

    fn barrier(&mut self, slot: u32) {
        if let Some(follower) = self {
            follower.barrier(slot);
        }
    }

    fn end(&mut self, launch: &LaunchShape, cells: &mut super::Cells) -> Self::Result {
        self.as_mut().map(|follower| follower.end(launch, cells))
    }
}

/// Three follow.
impl<A: Follower, B: Follower, C: Follower> Follower for (A, B, C) {
    type Result = (A::Result, B::Result, C::Result);

    fn wants_shared(&self) -> bool {
        self.0.wants_shared() || self.1.wants_shared() || self.2.wants_shared()
    }

    fn wave_lanes(&self) -> u32 {
        self.0.wave_lanes().max(self.1.wave_lanes()).max(self.2.wave_lanes())
    }

    fn start(&mut self, launch: &LaunchShape) {
        self.0.start(launch);
        self.1.start(launch);
        self.2.start(launch);
    }

    fn batch(&mut self, launch: LaunchId) {
        self.0.batch(launch);
        self.1.batch(launch);
        self.2.batch(launch);
    }

    fn batch_end(&mut self) {
        self.0.batch_end();
        self.1.batch_end();
        self.2.batch_end();
    }

    fn block(&mut self, slot: u32, warps: u32, block: u64) {
        self.0.block(slot, warps, block);
        self.1.block(slot, warps, block);
        self.2.block(slot, warps, block);
    }

    #[inline]
    fn request(&mut self, request: &Request<'_>) {
        self.0.request(request);
        self.1.request(request);
        self.2.request(request);
    }

    fn barrier(&mut self, slot: u32) {
        self.0.barrier(slot);
        self.1.barrier(slot);
        self.2.barrier(slot);
    }

    fn end(&mut self, launch: &LaunchShape, cells: &mut super::Cells) -> Self::Result {
        (self.0.end(launch, cells), self.1.end(launch, cells), self.2.end(launch, cells))
    }
}
