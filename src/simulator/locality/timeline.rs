//! Abstracts over the two methods for reuse distances: the source of times, and the handling of results.

use std::fmt::Debug;

use super::axis::Axis;
use super::cells::{ReuseCells, counters};
use super::histogram::{Limits, ReuseHistogram};

/// Assigns ascending times to uses.
pub trait Timeline: Clone + Debug + Default {
    /// Handles the resulting distances.
    type Notes: Notes;
    /// Whether only a sample of the lines is processed if there are many.
    const SAMPLED: bool;

    /// Returns whether `count` more times are available.
    fn has_room(&self, count: u32) -> bool;
    /// Extends the range of times if appropriate. Returns `false` if the owner should renumber its times and call
    /// [`compact`](Self::compact).
    fn grow(&mut self) -> bool;
    /// Assigns `count` times (at most 128) and returns the first. There must be room.
    fn push(&mut self, count: u32) -> u32;
    /// Records `count` uses of lines that are not sampled.
    fn skip(&mut self, count: u32);
    /// Records that `count` times from `first` on are no longer the last use of any element.
    fn clear(&mut self, first: u32, count: u32);
    /// Returns the distance from `from` to the present. Called before that time is cleared.
    fn after(&self, from: u32) -> u32;
    /// Returns the mapping from times to their new numbers after [`compact`](Self::compact).
    fn renumber(&self) -> impl Fn(u32) -> u32;
    /// Removes unused times; the owner must renumber its times first.
    fn compact(&mut self);
    /// Resets the timeline.
    fn reset(&mut self);
}

/// Selects a histogram of a cell.
pub type HistogramSelector = fn(&mut super::ReuseCounters) -> &mut ReuseHistogram;

/// Receives the results of uses.
pub trait Notes: Clone + Debug + Default {
    /// Sets the cache sizes for later results.
    fn set_limits(&mut self, limits: Limits);
    /// Records `times` uses by loads of `cell`, whether or not they are sampled.
    fn used(&mut self, times: u32, cell: u32);
    /// Records `times` first uses.
    fn cold(&mut self, times: u32, load: bool, cell: u32);
    /// Records `times` uses that follow an earlier use at this distance on the timeline. Uses by loads count in
    /// `cells`.
    fn again(
        &mut self,
        distance: u32,
        times: u32,
        load: bool,
        cell: u32,
        which: HistogramSelector,
        cells: &mut ReuseCells,
    );
    /// Records `times` uses that directly follow a use of the same element and have no time of their own.
    #[inline(always)]
    fn repeated(&mut self, times: u32, load: bool, cell: u32, which: HistogramSelector, cells: &mut ReuseCells) {
        if load {
            which(counters(cells, cell)).count(0, times.into(), [u32::MAX; 2]);
        }
    }
    /// Ends the scope and completes all counts. Each sampled line represents `weight` lines at the end.
    fn finish(&mut self, weight: u32, which: HistogramSelector, cells: &mut ReuseCells);
}

impl Timeline for Axis {
    type Notes = Exact;
    const SAMPLED: bool = false;

    #[inline(always)]
    fn has_room(&self, count: u32) -> bool {
        self.has_room(count)
    }

    fn grow(&mut self) -> bool {
        self.grow()
    }

    #[inline(always)]
    fn push(&mut self, count: u32) -> u32 {
        self.push(count)
    }

    fn skip(&mut self, _count: u32) {}

    #[inline(always)]
    fn clear(&mut self, first: u32, count: u32) {
        self.clear(first, count);
    }

    #[inline(always)]
    fn after(&self, from: u32) -> u32 {
        self.after(from)
    }

    fn renumber(&self) -> impl Fn(u32) -> u32 {
        let ranks = self.ranks();
        move |time| ranks.rank(time)
    }

    fn compact(&mut self) {
        self.compact();
    }

    fn reset(&mut self) {
        self.reset();
    }
}

/// Counts distances immediately, because the distance on the axis is the reuse distance.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exact {
    limits: Limits,
}

impl Notes for Exact {
    fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    #[inline(always)]
    fn used(&mut self, _times: u32, _cell: u32) {}

    #[inline(always)]
    fn cold(&mut self, _times: u32, _load: bool, _cell: u32) {}

    #[inline(always)]
    fn again(
        &mut self,
        distance: u32,
        times: u32,
        load: bool,
        cell: u32,
        which: HistogramSelector,
        cells: &mut ReuseCells,
    ) {
        if load {
            which(counters(cells, cell)).count(distance, times.into(), self.limits);
        }
    }

    fn finish(&mut self, _weight: u32, _which: HistogramSelector, _cells: &mut ReuseCells) {}
}
