//! Records the last uses of the elements of lines.
//!
//! An element is an address and a width. For common widths, all elements of one width in one 128-byte line form a
//! *group*. Elements that were last used consecutively, as coalesced requests do, form a *run*. Their times are
//! consecutive, so one time represents all of them, and a run or a part of it is used, counted and restarted in one
//! step. A group has a few runs. If that is not sufficient, each element gets its own time (*apart*) until the line is
//! used in order again.

use super::timeline::Timeline;

/// Marks the absence of a time or an index.
pub(super) const NONE: u32 = u32::MAX;
/// Flag in a time: the element was used more than once in its lifetime.
const REUSED: u32 = 1 << 31;

/// Number of width classes: 1, 2, 4, 8 and 16 bytes.
pub(super) const CLASSES: usize = 5;

/// Returns the class of a width for which groups exist.
#[inline]
pub(super) fn class_of(address: u64, bytes: u32) -> Option<usize> {
    let class = bytes.trailing_zeros() as usize;
    (bytes.is_power_of_two() && class < CLASSES && address.is_multiple_of(u64::from(bytes))).then_some(class)
}

/// The last use of an element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    /// Position and flag, or [`NONE`].
    time: u32,
    /// Cell that counted the first use of the lifetime.
    cell: u32,
}

impl Use {
    pub(super) const NEVER: Use = Use { time: NONE, cell: 0 };

    pub(super) fn alive(self) -> bool {
        self.time != NONE
    }

    /// Returns the cell of the first use if that was a load and the element was not used again.
    pub(super) fn once(self) -> Option<u32> {
        (self.time != NONE && self.time & REUSED == 0).then_some(self.cell)
    }

    #[inline]
    fn position(self) -> u32 {
        self.time & !REUSED
    }

    fn later(self, position: u32, reused: bool) -> u32 {
        position | if reused { REUSED } else { self.time & REUSED }
    }
}

/// The result of a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UseKind {
    /// The first use of a lifetime.
    New,
    /// A use that follows an earlier use at this distance.
    Again {
        /// Number of distinct elements used in between.
        distance: u32,
        /// Cell of the lifetime's first use, if this is its first reuse.
        first: Option<u32>,
    },
}

/// Maximum number of runs per group.
const RUNS: usize = 4;

/// Elements whose last uses were consecutive.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Time and cell of the first element. The other elements have consecutive times, and the same cell and flag.
    first: Use,
    start: u8,
    length: u8,
}

impl Run {
    const EMPTY: Run = Run { first: Use::NEVER, start: 0, length: 0 };

    fn end(self) -> u32 {
        u32::from(self.start) + u32::from(self.length)
    }

    /// Returns the part of the run from element `low` up to but excluding `high`, which may be empty.
    fn part(self, low: u32, high: u32) -> Run {
        let low = low.max(self.start.into());
        let high = high.min(self.end());
        if low >= high {
            return Run::EMPTY;
        }
        let time = self.first.time + (low - u32::from(self.start));
        Run { first: Use { time, ..self.first }, start: low as u8, length: (high - low) as u8 }
    }

    /// Returns whether `next` continues the run in position and time.
    fn continues(self, next: Run) -> bool {
        self.end() == u32::from(next.start)
            && self.first.time.wrapping_add(self.length.into()) == next.first.time
            && (self.first.cell == next.first.cell || self.first.time & REUSED != 0)
    }
}

/// Runs in order of position, from which a group's next state is built.
struct Runs {
    all: [Run; 3 * RUNS + 2],
    count: usize,
}

impl Runs {
    fn new() -> Runs {
        Runs { all: [Run::EMPTY; 3 * RUNS + 2], count: 0 }
    }

    fn push(&mut self, run: Run) {
        if run.length == 0 {
            return;
        }
        if let Some(last) = self.count.checked_sub(1).map(|last| &mut self.all[last])
            && last.continues(run)
        {
            last.length += run.length;
            return;
        }
        self.all[self.count] = run;
        self.count += 1;
    }

    fn as_slice(&self) -> &[Run] {
        &self.all[..self.count]
    }
}

#[derive(Clone, Copy, Debug)]
struct Group {
    /// Runs in order of position. Entries from `count` on are invalid.
    runs: [Run; RUNS],
    count: u8,
    class: u8,
    /// The elements currently have separate times.
    split: bool,
    /// Index of the elements' separate times, if they were ever needed.
    apart: u32,
}

impl Group {
    fn runs(&self) -> &[Run] {
        &self.runs[..usize::from(self.count)]
    }
}

/// Groups of all lines of a scope, and uses of elements that do not belong to a group.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    groups: Vec<Group>,
    uses: Vec<Use>,
}

/// Returns the number of elements of a class per line.
#[inline]
pub(super) fn elements_in_line(class: usize) -> u32 {
    128 >> class
}

/// Uses one element. The axis must have room for one position.
#[inline]
pub(super) fn step(element: &mut Use, axis: &mut impl Timeline, cell: u32, load: bool) -> UseKind {
    if element.time == NONE {
        *element = Use { time: axis.push(1) | if load { 0 } else { REUSED }, cell };
        return UseKind::New;
    }
    let before = element.position();
    let distance = axis.after(before + 1);
    axis.clear(before, 1);
    let first = (element.time & REUSED == 0).then_some(element.cell);
    element.time = element.later(axis.push(1), true);
    UseKind::Again { distance, first }
}

/// Ends the lifetime of an element.
#[inline]
pub(super) fn end(element: &mut Use, axis: &mut impl Timeline) {
    if element.time != NONE {
        axis.clear(element.position(), 1);
        *element = Use::NEVER;
    }
}

/// Marks an element as used more than once. Returns the cell of its first use if it was not marked.
#[inline]
pub(super) fn mark_reused(element: &mut Use) -> Option<u32> {
    let first = element.once();
    if element.time != NONE {
        element.time |= REUSED;
    }
    first
}

/// Replaces a time by its new number.
pub(super) fn rerank(element: &mut Use, renumber: &impl Fn(u32) -> u32) {
    if element.time != NONE {
        element.time = renumber(element.position()) | element.time & REUSED;
    }
}

impl Groups {
    pub(super) fn add(&mut self, class: usize) -> u32 {
        self.groups.push(Group { runs: [Run::EMPTY; RUNS], count: 0, class: class as u8, split: false, apart: NONE });
        self.groups.len() as u32 - 1
    }

    /// Returns the elements' separate times, and splits the group's runs for that.
    fn elements(&mut self, group: u32) -> &mut [Use] {
        let group = &mut self.groups[group as usize];
        let count = elements_in_line(group.class.into()) as usize;
        if group.apart == NONE {
            group.apart = self.uses.len() as u32;
            self.uses.resize(self.uses.len() + count, Use::NEVER);
        }
        let start = group.apart as usize;
        let elements = &mut self.uses[start..start + count];
        if !group.split {
            group.split = true;
            spread(group.runs(), elements);
        }
        elements
    }

    /// Returns the use of one element, for [`step`], [`end`] and [`mark_reused`].
    #[inline]
    pub(super) fn element(&mut self, group: u32, index: u32) -> &mut Use {
        let known = &self.groups[group as usize];
        if known.split {
            return &mut self.uses[(known.apart + index) as usize];
        }
        &mut self.elements(group)[index as usize]
    }

    /// Marks the element that was used last as used more than once; see [`mark_reused`].
    #[inline]
    pub(super) fn mark_reused(&mut self, group: u32, index: u32) -> Option<u32> {
        let known = &mut self.groups[group as usize];
        let mut runs = known.runs[..usize::from(known.count)].iter_mut();
        match runs.find(|run| u32::from(run.start) == index && run.length == 1) {
            Some(run) if !known.split => mark_reused(&mut run.first),
            _ => mark_reused(self.element(group, index)),
        }
    }

    /// Uses the elements from `low` up to but excluding `high` in order. Calls `found` with each result and the number
    /// of elements that have it. The axis must have room for them.
    #[inline(always)]
    pub(super) fn use_range(
        &mut self,
        group: u32,
        [low, high]: [u32; 2],
        axis: &mut impl Timeline,
        cell: u32,
        load: bool,
        mut found: impl FnMut(UseKind, u32),
    ) {
        let known = &mut self.groups[group as usize];
        let class = known.class.into();
        if known.split {
            for element in &mut self.elements(group)[low as usize..high as usize] {
                found(step(element, axis, cell, load), 1);
            }
            if low == 0 && high == elements_in_line(class) {
                self.join(group, high);
            }
            return;
        }
        // Coalesced requests use the same elements again, or new ones.
        let run = &mut known.runs[0];
        if known.count == 1 && u32::from(run.start) == low && run.end() == high {
            let (length, before) = (high - low, run.first.position());
            let distance = length - 1 + axis.after(before + length);
            axis.clear(before, length);
            let first = (run.first.time & REUSED == 0).then_some(run.first.cell);
            run.first.time = run.first.later(axis.push(length), true);
            return found(UseKind::Again { distance, first }, length);
        }
        if known.count == 0 {
            *run = begin(low, high - low, axis, cell, load);
            known.count = 1;
            return found(UseKind::New, high - low);
        }
        self.use_parts(group, [low, high], axis, cell, load, found);
    }

    /// Performs [`use_range`](Self::use_range) if the elements are parts of runs or belong to several runs.
    #[inline]
    fn use_parts(
        &mut self,
        group: u32,
        [low, high]: [u32; 2],
        axis: &mut impl Timeline,
        cell: u32,
        load: bool,
        mut found: impl FnMut(UseKind, u32),
    ) {
        let known = &self.groups[group as usize];
        let mut next = Runs::new();
        let mut at = low;
        for &run in known.runs() {
            next.push(run.part(0, low));
        }
        for &run in known.runs() {
            let part = run.part(low, high);
            if part.length == 0 {
                continue;
            }
            let gap = u32::from(part.start) - at;
            if gap > 0 {
                next.push(begin(at, gap, axis, cell, load));
                found(UseKind::New, gap);
            }
            let (length, before) = (u32::from(part.length), part.first.position());
            // Between its two uses, every element saw the other elements of the part and all later uses.
            let distance = length - 1 + axis.after(before + length);
            axis.clear(before, length);
            let first = (part.first.time & REUSED == 0).then_some(part.first.cell);
            let time = part.first.later(axis.push(length), true);
            next.push(Run { first: Use { time, ..part.first }, ..part });
            found(UseKind::Again { distance, first }, length);
            at = part.end();
        }
        if at < high {
            next.push(begin(at, high - at, axis, cell, load));
            found(UseKind::New, high - at);
        }
        for &run in known.runs() {
            next.push(run.part(high, u32::MAX));
        }
        self.set(group, &next);
    }

    /// Sets the runs of a group, or the separate times of its elements if there are too many runs.
    #[inline]
    fn set(&mut self, group: u32, next: &Runs) {
        let known = &mut self.groups[group as usize];
        if let Some(place) = known.runs.get_mut(..next.count) {
            place.copy_from_slice(next.as_slice());
            known.count = next.count as u8;
            return;
        }
        known.count = 0;
        spread(next.as_slice(), self.elements(group));
    }

    /// Merges the `count` elements of a line into one run if they were just used in order and have the same first use.
    fn join(&mut self, group: u32, count: u32) {
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
            group.runs[0] = Run { first, start: 0, length: count as u8 };
            group.count = 1;
        }
    }

    /// Ends the lifetimes of the elements from `low` up to but excluding `high`.
    pub(super) fn end_range(&mut self, group: u32, [low, high]: [u32; 2], axis: &mut impl Timeline) {
        let known = &mut self.groups[group as usize];
        if known.split {
            for element in &mut self.elements(group)[low as usize..high as usize] {
                end(element, axis);
            }
            return;
        }
        let mut next = Runs::new();
        for &run in known.runs() {
            let part = run.part(low, high);
            if part.length > 0 {
                axis.clear(part.first.position(), part.length.into());
            }
            next.push(run.part(0, low));
            next.push(run.part(high, u32::MAX));
        }
        self.set(group, &next);
    }

    /// Calls `f` with the position and the number of each element of a group that was used once.
    pub(super) fn for_each_once(&self, group: u32, mut f: impl FnMut(u32, u32)) {
        let group = &self.groups[group as usize];
        if group.split {
            let start = group.apart as usize;
            let elements = &self.uses[start..start + elements_in_line(group.class.into()) as usize];
            elements.iter().filter_map(|element| element.once()).for_each(|cell| f(cell, 1));
        } else {
            for run in group.runs() {
                if let Some(cell) = run.first.once() {
                    f(cell, run.length.into());
                }
            }
        }
    }

    /// Replaces all times by their new numbers.
    pub(super) fn rerank(&mut self, renumber: &impl Fn(u32) -> u32) {
        for index in 0..self.groups.len() {
            let group = &mut self.groups[index];
            if group.split {
                for element in self.elements(index as u32) {
                    rerank(element, renumber);
                }
            } else {
                // Consecutive live positions stay consecutive.
                for run in &mut group.runs[..usize::from(group.count)] {
                    rerank(&mut run.first, renumber);
                }
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.groups.clear();
        self.uses.clear();
    }
}

/// Records the first uses of consecutive elements.
#[inline(always)]
fn begin(start: u32, length: u32, axis: &mut impl Timeline, cell: u32, load: bool) -> Run {
    let time = axis.push(length) | if load { 0 } else { REUSED };
    Run { first: Use { time, cell }, start: start as u8, length: length as u8 }
}

/// Converts runs to separate times of the elements.
fn spread(runs: &[Run], elements: &mut [Use]) {
    elements.fill(Use::NEVER);
    for run in runs {
        let place = usize::from(run.start)..run.end() as usize;
        for (index, element) in elements[place].iter_mut().enumerate() {
            *element = Use { time: run.first.time + index as u32, ..run.first };
        }
    }
}
