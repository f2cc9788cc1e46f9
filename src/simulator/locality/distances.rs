//! Computes exact reuse distances of a stream of dense numbers, with a direct table of last uses and the axis.

use super::axis::Axis;
use crate::simd::processor;

/// Marks a number that was not used so far.
const NEVER: u32 = u32::MAX;
/// Number of uses by which the table and the axis are prefetched ahead.
const TABLE_AHEAD: usize = 96;
const AXIS_AHEAD: usize = 16;

/// Distances of one stream. Numbers should be dense, because the table is as long as the largest number.
#[derive(Clone, Debug, Default)]
pub struct Distances {
    last: Vec<u32>,
    axis: Axis,
}

impl Distances {
    /// Returns the distance of the next use of `id`: the number of distinct other numbers used since its last use;
    /// `None` for a first use.
    #[inline]
    pub fn use_once(&mut self, id: u32) -> Option<u32> {
        self.prepare(id);
        self.step(id)
    }

    /// Computes the distances of many uses and passes them to `f` in order. Because the stream is known in advance, its
    /// memory is prefetched.
    pub fn use_all(&mut self, ids: &[u32], f: impl FnMut(u32, Option<u32>)) {
        if let Some(&most) = ids.iter().max() {
            self.prepare(most);
        }
        processor::with_newer_instructions(UseAll { distances: self, ids, f });
    }

    fn prepare(&mut self, id: u32) {
        if self.last.len() <= id as usize {
            let length = (id as usize + 1).next_power_of_two();
            self.last.reserve_exact(length - self.last.len());
            processor::prefer_large_pages(self.last.spare_capacity_mut());
            self.last.resize(length, NEVER);
        }
    }

    #[inline(always)]
    fn step(&mut self, id: u32) -> Option<u32> {
        if !self.axis.has_room(1) {
            self.make_room();
        }
        let before = self.last[id as usize];
        let distance = (before != NEVER).then(|| self.axis.take(before));
        self.last[id as usize] = self.axis.push(1);
        distance
    }

    /// Ends the lifetime of `id`: its next use has no distance.
    pub fn forget(&mut self, id: u32) {
        if let Some(before) = self.last.get_mut(id as usize).filter(|before| **before != NEVER) {
            self.axis.clear(*before, 1);
            *before = NEVER;
        }
    }

    /// Returns the number of distinct live numbers.
    pub fn live(&self) -> u32 {
        self.axis.live()
    }

    #[cold]
    fn make_room(&mut self) {
        if !self.axis.grow() {
            processor::with_newer_instructions(Renumber { last: &mut self.last, axis: &self.axis });
            self.axis.compact();
        }
    }
}

struct Renumber<'a> {
    last: &'a mut [u32],
    axis: &'a Axis,
}

impl processor::Job for Renumber<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let ranks = self.axis.ranks();
        for time in self.last.iter_mut().filter(|time| **time != NEVER) {
            *time = ranks.rank(*time);
        }
    }
}

struct UseAll<'a, F> {
    distances: &'a mut Distances,
    ids: &'a [u32],
    f: F,
}

impl<F: FnMut(u32, Option<u32>)> processor::Job for UseAll<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        for (index, &id) in self.ids.iter().enumerate() {
            if let Some(&later) = self.ids.get(index + TABLE_AHEAD) {
                processor::read(&self.distances.last, later as usize);
            }
            if let Some(&later) = self.ids.get(index + AXIS_AHEAD) {
                self.distances.axis.prefetch(self.distances.last[later as usize]);
            }
            let distance = self.distances.step(id);
            (self.f)(id, distance);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A list of numbers, the most recent first.
    #[derive(Default)]
    struct Stack(Vec<u32>);

    impl Stack {
        fn use_once(&mut self, id: u32) -> Option<u32> {
            let at = self.0.iter().position(|other| *other == id);
            if let Some(at) = at {
                self.0.remove(at);
            }
            self.0.insert(0, id);
            at.map(|at| at as u32)
        }
    }

    proptest! {
        #[test]
        fn the_axis_agrees_with_a_list(ids in prop::collection::vec((0u32..60, prop::bool::weighted(0.1)), 0..3000), spread in 1u32..60) {
            let (mut fast, mut slow) = (Distances::default(), Stack::default());
            for (id, forget) in ids {
                let id = id % spread * 7;
                if forget {
                    fast.forget(id);
                    slow.0.retain(|other| *other != id);
                } else {
                    prop_assert_eq!(fast.use_once(id), slow.use_once(id));
                }
                prop_assert_eq!(fast.live() as usize, slow.0.len());
            }
        }

        #[test]
        fn many_at_once_are_the_same(ids in prop::collection::vec(0u32..3000, 0..6000)) {
            let (mut fast, mut slow) = (Distances::default(), Stack::default());
            let mut got = Vec::new();
            fast.use_all(&ids, |_, distance| got.push(distance));
            let want: Vec<_> = ids.iter().map(|id| slow.use_once(*id)).collect();
            prop_assert_eq!(got, want);
        }
    }

    #[test]
    fn the_example_of_the_paper() {
        let mut distances = Distances::default();
        let all: Vec<_> = "ABCCDEFAAAB".bytes().map(|letter| distances.use_once(u32::from(letter - b'A'))).collect();
        assert_eq!(all.last(), Some(&Some(5)));
        assert_eq!(all[3], Some(0));
        assert_eq!(all[7], Some(5));
    }
}
