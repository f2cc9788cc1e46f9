//! What uses take their times from, and what becomes of what they find: the two ways to reuse distances.

use std::fmt::Debug;

use super::axis::Axis;
use super::cells::{ReuseCells, counters};
use super::histogram::{Limits, ReuseHistogram};

/// Times of uses, in order.
pub trait Timeline: Clone + Debug + Default {
    /// What becomes of the distances that are found.
    type Notes: Notes;
    /// Only some lines are followed where there are many.
    const SAMPLED: bool;

    /// Returns whether `count` more times can be given out.
    fn has_room(&self, count: u32) -> bool;
    /// Makes room where that is the right thing to do; `false` where the owner should renumber its times and call
    /// [`compact`](Self::compact).
    fn grow(&mut self) -> bool;
    /// Gives out `count` times, at most 128; the first is returned. There must be room.
    fn push(&mut self, count: u32) -> u32;
    /// `count` uses of what is not followed.
    fn skip(&mut self, count: u32);
    /// `count` times from `first` on are not the last use of any element any more.
    fn clear(&mut self, first: u32, count: u32);
    /// How far back `from` lies, before that the time counts no more.
    fn after(&self, from: u32) -> u32;
    /// What times will be after [`compact`](Self::compact).
    fn renumber(&self) -> impl Fn(u32) -> u32;
    /// Removes unused times; the owner has renumbered its times before.
    fn compact(&mut self);
    /// Back to the beginning.
    fn reset(&mut self);
}

/// Which histogram of a cell is meant.
pub type HistogramSelector = fn(&mut super::ReuseCounters) -> &mut ReuseHistogram;

/// Takes what uses found.
pub trait Notes: Clone + Debug + Default {
    /// Sizes of caches from now on.
    fn set_limits(&mut self, limits: Limits);
    /// Loads of `cell` use so much, whether it is followed or not.
    fn used(&mut self, times: u32, cell: u32);
    /// `times` uses had none before them.
    fn cold(&mut self, times: u32, load: bool, cell: u32);
    /// `times` uses had one before them, at this distance on the time line. Those of loads count in `cells`.
    fn again(
        &mut self,
        distance: u32,
        times: u32,
        load: bool,
        cell: u32,
        which: HistogramSelector,
        cells: &mut ReuseCells,
    );
    /// `times` uses came directly after one of the same, without a time of their own.
    #[inline(always)]
    fn repeated(&mut self, times: u32, load: bool, cell: u32, which: HistogramSelector, cells: &mut ReuseCells) {
        if load {
            which(counters(cells, cell)).count(0, times.into(), [u32::MAX; 2]);
        }
    }
    /// The scope ends: what is still to be counted is. What was followed stood for `weight` at the end.
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

/// On the axis the distance is the reuse distance, and counted at once.
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
