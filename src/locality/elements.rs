//! Last uses of the elements of one line.
//!
//! An element is an address and a width. Elements of the common widths lie in groups: all elements
//! of one width in one 128-byte line. A group whose elements were last used one after another, as a
//! coalesced request does, is kept as one time (*whole*) and is used, counted and restarted with one
//! step; only when an element of it is used apart does it get a time per element.

use super::axis::{Axis, Ranks};

/// No time, no index.
pub(super) const NONE: u32 = u32::MAX;
/// In a time: the element was used more than once since its life began.
const REUSED: u32 = 1 << 31;

/// Widths 1, 2, 4, 8, 16.
pub(super) const CLASSES: usize = 5;

/// The class of a width that groups are kept for.
#[inline]
pub(super) fn class_of(address: u64, bytes: u32) -> Option<usize> {
    let class = bytes.trailing_zeros() as usize;
    (bytes.is_power_of_two() && class < CLASSES && address % u64::from(bytes) == 0).then_some(class)
}

/// Last use of an element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    /// Position and flag, or [`NONE`].
    time: u32,
    /// Where the life's first use was counted.
    cell: u32,
}

impl Use {
    pub(super) const NEVER: Use = Use { time: NONE, cell: 0 };

    pub(super) fn alive(self) -> bool {
        self.time != NONE
    }

    #[inline]
    fn position(self) -> u32 {
        self.time & !REUSED
    }

    fn later(self, position: u32, reused: bool) -> u32 {
        position | if reused { REUSED } else { self.time & REUSED }
    }
}

/// What a use found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Its life begins.
    New,
    /// Used before at this distance.
    Again {
        /// Distinct elements since.
        distance: u32,
        /// Where the life began, when this is its first reuse.
        first: Option<u32>,
    },
}

#[derive(Clone, Copy, Debug)]
struct Group {
    /// Time and cell of the first element; the others follow. [`NONE`] when no element is alive or
    /// they are apart.
    whole: Use,
    /// Index of the elements' own uses, when they were ever apart.
    apart: u32,
    /// The elements are apart now.
    split: bool,
}

/// Groups of all lines of a scope, and uses of elements that fit no group.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    groups: Vec<Group>,
    classes: Vec<u8>,
    uses: Vec<Use>,
}

/// Elements of a class in a line.
#[inline]
pub(super) fn elements_in_line(class: usize) -> u32 {
    128 >> class
}

/// Uses one element: the axis must have room for one.
#[inline]
pub(super) fn step(element: &mut Use, axis: &mut Axis, cell: u32, load: bool) -> Found {
    if element.time == NONE {
        *element = Use { time: axis.push(1) | if load { 0 } else { REUSED }, cell };
        return Found::New;
    }
    let before = element.position();
    let distance = axis.after(before + 1);
    axis.clear(before, 1);
    let first = (element.time & REUSED == 0).then_some(element.cell);
    element.time = element.later(axis.push(1), true);
    Found::Again { distance, first }
}

/// Ends a life.
#[inline]
pub(super) fn end(element: &mut Use, axis: &mut Axis) {
    if element.time != NONE {
        axis.clear(element.position(), 1);
        *element = Use::NEVER;
    }
}

/// Marks a life as used more than once; returns where it began if it was not marked.
#[inline]
pub(super) fn mark_reused(element: &mut Use) -> Option<u32> {
    let first = (element.time != NONE && element.time & REUSED == 0).then_some(element.cell);
    if element.time != NONE {
        element.time |= REUSED;
    }
    first
}

/// Moves a time to its rank.
pub(super) fn rerank(element: &mut Use, ranks: &Ranks<'_>) {
    if element.time != NONE {
        element.time = ranks.of(element.position()) | element.time & REUSED;
    }
}

impl Groups {
    pub(super) fn add(&mut self, class: usize) -> u32 {
        self.groups.push(Group { whole: Use::NEVER, apart: NONE, split: false });
        self.classes.push(class as u8);
        self.groups.len() as u32 - 1
    }

    fn elements(&mut self, group: u32) -> &mut [Use] {
        let count = elements_in_line(self.classes[group as usize].into()) as usize;
        let group = &mut self.groups[group as usize];
        if group.apart == NONE {
            group.apart = self.uses.len() as u32;
            self.uses.resize(self.uses.len() + count, Use::NEVER);
        }
        if !group.split {
            group.split = true;
            let whole = std::mem::replace(&mut group.whole, Use::NEVER);
            let elements = &mut self.uses[group.apart as usize..][..count];
            elements.fill(Use::NEVER);
            if whole.time != NONE {
                for (index, element) in elements.iter_mut().enumerate() {
                    *element = Use { time: whole.time + index as u32, cell: whole.cell };
                }
            }
        }
        let start = group.apart as usize;
        &mut self.uses[start..start + count]
    }

    /// One element's use, for [`step`], [`end`] and [`mark_reused`].
    #[inline]
    pub(super) fn element(&mut self, group: u32, index: u32) -> &mut Use {
        let known = self.groups[group as usize];
        if known.split {
            return &mut self.uses[(known.apart + index) as usize];
        }
        &mut self.elements(group)[index as usize]
    }

    /// Uses all elements of a line in order. The axis must have room for them. `None` when they are
    /// apart: then each has to be used by itself, and [`Groups::join`] makes them one again.
    #[inline]
    pub(super) fn use_whole(&mut self, group: u32, axis: &mut Axis, cell: u32, load: bool) -> Option<Found> {
        let count = elements_in_line(self.classes[group as usize].into());
        let group = &mut self.groups[group as usize];
        if group.split {
            return None;
        }
        if group.whole.time == NONE {
            group.whole = Use { time: axis.push(count) | if load { 0 } else { REUSED }, cell };
            return Some(Found::New);
        }
        let before = group.whole.position();
        // Every element saw the others of the line and whatever came after the line.
        let distance = count - 1 + axis.after(before + count);
        axis.clear(before, count);
        let first = (group.whole.time & REUSED == 0).then_some(group.whole.cell);
        group.whole.time = group.whole.later(axis.push(count), true);
        Some(Found::Again { distance, first })
    }

    /// Makes the elements of a line one again, when they were just used in order and begin alike.
    pub(super) fn join(&mut self, group: u32) {
        let elements = self.elements(group);
        let first = elements[0];
        let alike = first.time != NONE
            && elements.iter().enumerate().all(|(index, element)| {
                element.time == first.time.wrapping_add(index as u32)
                    && (element.cell == first.cell || first.time & REUSED != 0)
            });
        if alike {
            let group = &mut self.groups[group as usize];
            group.split = false;
            group.whole = first;
        }
    }

    /// Ends the lives of the elements from `low` to `high`.
    pub(super) fn end_range(&mut self, group: u32, low: u32, high: u32, axis: &mut Axis) {
        let count = elements_in_line(self.classes[group as usize].into());
        let known = &mut self.groups[group as usize];
        if !known.split {
            if known.whole.time == NONE {
                return;
            }
            if low == 0 && high + 1 == count {
                axis.clear(known.whole.position(), count);
                known.whole = Use::NEVER;
                return;
            }
        }
        for element in &mut self.elements(group)[low as usize..=high as usize] {
            end(element, axis);
        }
    }

    /// Moves all times to their ranks.
    pub(super) fn rerank(&mut self, ranks: &Ranks<'_>) {
        for group in &mut self.groups {
            if !group.split {
                rerank(&mut group.whole, ranks);
            }
        }
        for index in 0..self.groups.len() {
            if self.groups[index].split {
                for element in self.elements(index as u32) {
                    rerank(element, ranks);
                }
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.groups.clear();
        self.classes.clear();
        self.uses.clear();
    }
}
