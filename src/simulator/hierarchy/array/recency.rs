//! Records the use of a set's ways to select victims: an exact order, or a pseudo-LRU tree.

use super::plru::{Shape, TreePlru};
use crate::simd::processor;

/// The replacement state of one set.
pub(crate) trait Recency {
    /// Marks a way as used.
    fn touch(&mut self, way: u16);
    /// Returns the way to evict, and marks its new line as used.
    fn take_victim(&mut self) -> u16;
}

/// The tree of a set with `STEPS` bytes on a path (see [`Shape::steps`]). If `STEPS` is 0, the number is taken from the
/// shape.
pub(crate) struct Tree<'a, const STEPS: u32> {
    pub(crate) shape: Shape,
    pub(crate) bytes: &'a mut [u8],
}

impl<const STEPS: u32> Tree<'_, STEPS> {
    #[inline(always)]
    fn steps(&self) -> u32 {
        if STEPS == 0 { self.shape.steps() } else { STEPS }
    }
}

impl<const STEPS: u32> Recency for Tree<'_, STEPS> {
    #[inline(always)]
    fn touch(&mut self, way: u16) {
        let steps = self.steps();
        self.shape.touch(self.bytes, u32::from(way), steps);
    }

    #[inline(always)]
    fn take_victim(&mut self) -> u16 {
        let steps = self.steps();
        self.shape.take_victim(self.bytes, steps) as u16
    }
}

/// The ways of each set, linked in a ring from the most to the least recently used.
#[derive(Clone, Debug)]
pub(crate) struct Rings {
    ways: u16,
    /// Per way: the next older and the next younger way. The ring connects the oldest with the youngest.
    links: Vec<(u16, u16)>,
    youngest: Vec<u16>,
}

impl Rings {
    /// Creates the initial order. Way 0 of each set is the oldest, so empty ways are filled in order. `ways` is 1 to 65
    /// 535.
    pub(crate) fn new(sets: u32, ways: u32) -> Rings {
        let mut rings = Rings { ways: ways as u16, links: Vec::new(), youngest: Vec::new() };
        rings.resize(sets);
        rings
    }

    /// Allocates this many sets.
    pub(crate) fn resize(&mut self, sets: u32) {
        let ways = u32::from(self.ways);
        let link = |entry: usize| {
            let way = entry as u32 % ways;
            (((way + ways - 1) % ways) as u16, ((way + 1) % ways) as u16)
        };
        let entries = sets as usize * ways as usize;
        self.links.truncate(entries);
        self.links.extend((self.links.len()..entries).map(link));
        self.youngest.resize(sets as usize, self.ways - 1);
    }

    /// Resets all sets to the initial order.
    pub(crate) fn clear(&mut self) {
        let sets = self.youngest.len() as u32;
        self.resize(0);
        self.resize(sets);
    }

    /// Prefetches the start of a set's ring.
    #[inline(always)]
    pub(crate) fn prefetch(&self, set: u32) {
        processor::read(&self.youngest, set as usize);
    }

    /// Returns the ring of a set.
    #[inline(always)]
    pub(crate) fn ring(&mut self, set: u32) -> Ring<'_> {
        let ways = usize::from(self.ways);
        let links = &mut self.links[set as usize * ways..][..ways];
        Ring { links, youngest: &mut self.youngest[set as usize] }
    }
}

/// The ring of one set.
pub(crate) struct Ring<'a> {
    links: &'a mut [(u16, u16)],
    youngest: &'a mut u16,
}

impl Ring<'_> {
    /// Returns the least recently used way.
    #[inline(always)]
    pub(crate) fn oldest(&self) -> u16 {
        self.links[usize::from(*self.youngest)].1
    }

    /// Makes a way the least recently used, so that it is selected next.
    pub(crate) fn retire(&mut self, way: u16) {
        self.touch(way);
        // Rotating the ring turns the youngest way into the oldest.
        *self.youngest = self.links[usize::from(way)].0;
    }
}

impl Recency for Ring<'_> {
    #[inline(always)]
    fn touch(&mut self, way: u16) {
        let head = *self.youngest;
        if head == way {
            return;
        }
        let tail = self.links[usize::from(head)].1;
        if tail != way {
            let (older, younger) = self.links[usize::from(way)];
            self.links[usize::from(older)].1 = younger;
            self.links[usize::from(younger)].0 = older;
            self.links[usize::from(way)] = (head, tail);
            self.links[usize::from(head)].1 = way;
            self.links[usize::from(tail)].0 = way;
        }
        *self.youngest = way;
    }

    #[inline(always)]
    fn take_victim(&mut self) -> u16 {
        // Rotate the ring.
        *self.youngest = self.oldest();
        *self.youngest
    }
}

/// The replacement states of all sets of an array.
#[derive(Clone, Debug)]
pub(crate) enum Recencies {
    /// Pseudo-LRU.
    Trees(TreePlru),
    /// LRU.
    Rings(Rings),
}

impl Recencies {
    /// Allocates this many sets.
    pub(crate) fn resize(&mut self, sets: u32) {
        match self {
            Recencies::Trees(trees) => trees.resize(sets),
            Recencies::Rings(rings) => rings.resize(sets),
        }
    }

    /// Resets all sets.
    pub(crate) fn clear(&mut self) {
        match self {
            Recencies::Trees(trees) => trees.clear(),
            Recencies::Rings(rings) => rings.clear(),
        }
    }

    /// Returns the replacement state of a set.
    #[inline(always)]
    pub(crate) fn one(&mut self, set: u32) -> OneRecency<'_> {
        match self {
            Recencies::Trees(trees) => {
                let (shape, bytes) = trees.tree(set);
                OneRecency::Tree(Tree { shape, bytes })
            }
            Recencies::Rings(rings) => OneRecency::Ring(rings.ring(set)),
        }
    }
}

/// The replacement state of one set, of either kind.
pub(crate) enum OneRecency<'a> {
    Tree(Tree<'a, 0>),
    Ring(Ring<'a>),
}

impl Recency for OneRecency<'_> {
    #[inline(always)]
    fn touch(&mut self, way: u16) {
        match self {
            OneRecency::Tree(tree) => tree.touch(way),
            OneRecency::Ring(ring) => ring.touch(way),
        }
    }

    #[inline(always)]
    fn take_victim(&mut self) -> u16 {
        match self {
            OneRecency::Tree(tree) => tree.take_victim(),
            OneRecency::Ring(ring) => ring.take_victim(),
        }
    }
}
