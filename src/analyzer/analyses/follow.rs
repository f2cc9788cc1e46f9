//! Listed analyses as one follower of requests.

use rustc_hash::FxHashMap;
use warpline_format::event::LaunchId;

use super::sum::AnySum;
use super::{Sum, Sums};
use crate::requests::{Cells, Follower, LaunchShape, Request};

/// A [`Follower`] of any type whose results are sums.
pub(super) trait AnyFollower: Send {
    fn wants_shared(&self) -> bool;
    fn start(&mut self, launch: &LaunchShape);
    fn batch(&mut self, launch: LaunchId);
    fn batch_end(&mut self);
    fn block(&mut self, slot: u32, warps: u32, block: u64);
    fn request(&mut self, request: &Request<'_>);
    fn barrier(&mut self, slot: u32);
    fn end(&mut self, launch: &LaunchShape, cells: &mut Cells) -> Box<dyn AnySum>;
}

impl<F: Follower<Result: Sum>> AnyFollower for F {
    fn wants_shared(&self) -> bool {
        Follower::wants_shared(self)
    }

    fn start(&mut self, launch: &LaunchShape) {
        Follower::start(self, launch);
    }

    fn batch(&mut self, launch: LaunchId) {
        Follower::batch(self, launch);
    }

    fn batch_end(&mut self) {
        Follower::batch_end(self);
    }

    fn block(&mut self, slot: u32, warps: u32, block: u64) {
        Follower::block(self, slot, warps, block);
    }

    fn request(&mut self, request: &Request<'_>) {
        Follower::request(self, request);
    }

    fn barrier(&mut self, slot: u32) {
        Follower::barrier(self, slot);
    }

    fn end(&mut self, launch: &LaunchShape, cells: &mut Cells) -> Box<dyn AnySum> {
        Box::new(Follower::end(self, launch, cells))
    }
}

/// The listed analyses of one worker.
#[derive(Default)]
pub struct Listed(pub(super) Vec<Box<dyn AnyFollower>>);

impl Follower for Listed {
    type Result = Sums;

    fn wants_shared(&self) -> bool {
        self.0.iter().any(|analysis| analysis.wants_shared())
    }

    fn start(&mut self, launch: &LaunchShape) {
        self.0.iter_mut().for_each(|analysis| analysis.start(launch));
    }

    fn batch(&mut self, launch: LaunchId) {
        self.0.iter_mut().for_each(|analysis| analysis.batch(launch));
    }

    fn batch_end(&mut self) {
        self.0.iter_mut().for_each(|analysis| analysis.batch_end());
    }

    fn block(&mut self, slot: u32, warps: u32, block: u64) {
        self.0.iter_mut().for_each(|analysis| analysis.block(slot, warps, block));
    }

    #[inline]
    fn request(&mut self, request: &Request<'_>) {
        self.0.iter_mut().for_each(|analysis| analysis.request(request));
    }

    fn barrier(&mut self, slot: u32) {
        self.0.iter_mut().for_each(|analysis| analysis.barrier(slot));
    }

    fn end(&mut self, launch: &LaunchShape, cells: &mut Cells) -> Sums {
        Sums(self.0.iter_mut().map(|analysis| analysis.end(launch, cells)).collect())
    }
}

/// What an analysis keeps of each launch that runs; several run at a time, and batches of them come in turn.
#[derive(Debug)]
pub struct ByLaunch<T> {
    launches: FxHashMap<LaunchId, T>,
    current: Option<(LaunchId, T)>,
}

impl<T> Default for ByLaunch<T> {
    fn default() -> Self {
        ByLaunch { launches: FxHashMap::default(), current: None }
    }
}

impl<T> ByLaunch<T> {
    /// A launch begins ([`Follower::start`]).
    pub fn start(&mut self, launch: LaunchId, state: T) {
        self.launches.insert(launch, state);
    }

    /// What follows is of this launch ([`Follower::batch`]).
    pub fn batch(&mut self, launch: LaunchId) {
        self.current = self.launches.remove_entry(&launch);
    }

    /// What is kept of the launch that the present batch is of.
    #[inline]
    pub fn current(&mut self) -> Option<&mut T> {
        self.current.as_mut().map(|(_, state)| state)
    }

    /// The batch is over ([`Follower::batch_end`]).
    pub fn batch_end(&mut self) {
        self.launches.extend(self.current.take());
    }

    /// The launch is over ([`Follower::end`]).
    pub fn end(&mut self, launch: LaunchId) -> Option<T> {
        self.launches.remove(&launch)
    }
}
