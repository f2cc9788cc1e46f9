//! Computes reuse distances of requests within one scope: a thread block, an SM or a launch.

use std::collections::BTreeMap;

use warpline_format::access::{Access, Addresses};
use warpline_format::site_table::Op;

use super::axis::Axis;
use super::cells::{ReuseCells, counters};
use super::elements::{CLASSES, Groups, NONE, Use, class_of, elements_in_line, end, mark_reused, rerank, step};
use super::lane_runs::{LaneRun, LaneRuns};
use super::line_index::{LineIndex, position};
use super::sample::Sample;
use super::timeline::{Notes, Timeline};
use super::uses::{ELEMENT, LINE, SECTOR, Times, count_found, end_time, runs_of, use_times};
use crate::geometry::Width;
use crate::hierarchy::Piece;
use crate::simd::processor;

/// How a store affects the lifetime of the stored data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stores {
    /// It ends the lifetime, as in a cache that evicts stored data. The next load is the first use of a new lifetime.
    #[default]
    Restart,
    /// It is a use, but has no distance itself.
    Use,
}

/// Base-2 logarithm of the number of recent lines that are found without a table lookup. The elements of a request
/// follow its lines, of which there are usually up to 32.
const RECENT_LOG: u32 = 6;
const RECENT: usize = 1 << RECENT_LOG;

/// Requests of fewer pieces, and scopes of fewer lines, are processed without prefetching. The lines of such a scope are in
/// the processor's level 2.
const FEW_PIECES: usize = 4;
const FEW_LINES: usize = 4096;

#[derive(Clone, Debug)]
struct Recent([(u64, u32); RECENT]);

impl Default for Recent {
    fn default() -> Recent {
        Recent([(0, 0); RECENT])
    }
}

#[derive(Clone, Debug)]
struct Line {
    number: u64,
    time: u32,
    sectors: [u32; 4],
    groups: [u32; CLASSES],
}

/// Processes the requests of one scope. The timeline determines whether distances are exact ([`Axis`]) or approximate
/// ([`EvictionTime`](super::EvictionTime)).
#[derive(Clone, Debug, Default)]
pub struct Reuse<T: Timeline = Axis> {
    stores: Stores,
    index: LineIndex,
    /// Line number + 1 and index of the lines found last, by [`position`].
    recent: Recent,
    lines: Vec<Line>,
    groups: Groups,
    /// Elements with other widths or alignments.
    odd: BTreeMap<(u64, u32), Use>,
    widest_odd: u32,
    elements: Times<T>,
    sectors: Times<T>,
    line_times: Times<T>,
    sample: Sample,
}

impl<T: Timeline> Reuse<T> {
    /// Creates an empty scope.
    pub fn new(stores: Stores) -> Reuse<T> {
        Reuse { stores, ..Reuse::default() }
    }

    /// Creates an empty scope that samples at most about `most` lines at a time, if its timeline supports sampling.
    /// Counts are estimates if there are more lines.
    pub fn of_at_most(most: usize, stores: Stores) -> Reuse<T> {
        Reuse { stores, sample: Sample::of_at_most(most), ..Reuse::default() }
    }

    /// Starts a new scope and reuses the memory. `salt` determines which lines are sampled if there are many.
    pub fn clear(&mut self, salt: u64) {
        self.sample.restart(salt);
        self.index.clear();
        self.recent = Recent::default();
        self.lines.clear();
        self.groups.clear();
        self.odd.clear();
        self.widest_odd = 0;
        self.elements.line.reset();
        self.sectors.line.reset();
        self.line_times.line.reset();
    }

    /// Sets the cache sizes, in bytes, with which distances of sectors and lines are compared.
    pub fn set_cache_bytes(&mut self, bytes: [u64; 2]) {
        let limits = |unit: u64| bytes.map(|bytes| u32::try_from(bytes / unit).unwrap_or(u32::MAX));
        // Elements have no common size.
        self.elements.notes.set_limits([u32::MAX; 2]);
        self.sectors.notes.set_limits(limits(32));
        self.line_times.notes.set_limits(limits(128));
    }

    /// Ends the scope and completes all counts. [`clear`](Self::clear) starts the next scope.
    pub fn finish(&mut self, cells: &mut ReuseCells) {
        let weight = self.sample.weight();
        self.elements.notes.finish(weight, ELEMENT, cells);
        self.sectors.notes.finish(weight, SECTOR, cells);
        self.line_times.notes.finish(weight, LINE, cells);
    }

    /// Processes a request. `pieces` are those of the whole warp, with each line once.
    #[inline(always)]
    pub fn request(
        &mut self,
        access: &Access<'_>,
        width: Width,
        op: Op,
        pieces: &[Piece],
        cell: u32,
        cells: &mut ReuseCells,
    ) {
        let load = op == Op::Load;
        if !load && self.stores == Stores::Restart {
            self.restart(access, width, pieces);
            return;
        }
        counters(cells, cell);
        if T::SAMPLED {
            self.make_room_for_all(cells);
            let lanes = access.mask.count_ones();
            let uniform = width.holes.is_none() && matches!(access.addresses, Addresses::Uniform(_));
            let elements = if uniform { 1 } else { lanes };
            let sectors = pieces.iter().map(|piece| u32::from(piece.sectors).count_ones()).sum();
            if load {
                self.elements.notes.used(elements, cell);
                self.sectors.notes.used(sectors, cell);
                self.line_times.notes.used(pieces.len() as u32, cell);
            }
            if !pieces.iter().any(|piece| self.sample.takes(piece.line)) {
                if uniform && lanes > 1 {
                    self.elements.notes.repeated(lanes - 1, load, cell, ELEMENT, cells);
                }
                self.elements.line.skip(elements);
                self.sectors.line.skip(sectors);
                self.line_times.line.skip(pieces.len() as u32);
                return;
            }
        }
        self.use_pieces(pieces, load, cell, cells);
        self.use_elements(access, width, load, cell, cells);
    }

    #[inline(always)]
    fn find(&mut self, number: u64) -> Option<u32> {
        let recent = &mut self.recent.0[position(number, RECENT_LOG)];
        if recent.0 == number + 1 {
            return Some(recent.1);
        }
        let index = self.index.find(number, |index| self.lines[index as usize].number)?;
        *recent = (number + 1, index);
        Some(index)
    }

    #[inline(always)]
    fn find_or_add(&mut self, number: u64) -> u32 {
        let recent = &mut self.recent.0[position(number, RECENT_LOG)];
        if recent.0 == number + 1 {
            return recent.1;
        }
        let next = self.lines.len() as u32;
        let index = self.index.find_or_insert(number, next, |index| self.lines[index as usize].number);
        if index == next {
            self.lines.push(Line { number, time: NONE, sectors: [NONE; 4], groups: [NONE; CLASSES] });
        }
        *recent = (number + 1, index);
        index
    }

    #[inline(always)]
    fn group(&mut self, line: u32, class: usize) -> u32 {
        let place = &mut self.lines[line as usize].groups[class];
        if *place == NONE {
            *place = self.groups.add(class);
        }
        *place
    }

    /// Prefetches the slots and then the lines of a request with many lines, so that the processor reads them from memory
    /// at the same time. In large scopes, neither is in its caches.
    #[inline(always)]
    fn prefetch(&self, pieces: &[Piece]) {
        if T::SAMPLED || pieces.len() < FEW_PIECES || self.lines.len() < FEW_LINES {
            return;
        }
        for piece in pieces {
            self.index.prefetch(piece.line);
        }
        for piece in pieces {
            if let Some(index) = self.index.first_candidate(piece.line) {
                processor::read(&self.lines, index as usize);
            }
        }
    }

    #[inline(always)]
    fn use_pieces(&mut self, pieces: &[Piece], load: bool, cell: u32, cells: &mut ReuseCells) {
        let weight = self.sample.weight();
        self.prefetch(pieces);
        for piece in pieces {
            if T::SAMPLED && !self.sample.takes(piece.line) {
                self.line_times.line.skip(1);
                self.sectors.line.skip(u32::from(piece.sectors).count_ones());
                continue;
            }
            let line = self.find_or_add(piece.line) as usize;
            if !self.line_times.line.has_room(1) {
                self.make_line_room(1);
            }
            if !self.sectors.line.has_room(4) {
                self.make_sector_room(4);
            }
            let line = &mut self.lines[line];
            use_times(std::slice::from_mut(&mut line.time), &mut self.line_times, load, weight, cell, LINE, cells);
            let mut rest = u32::from(piece.sectors);
            while rest != 0 {
                let low = rest.trailing_zeros() as usize;
                let high = low + (!(rest >> low)).trailing_zeros() as usize;
                rest &= !0 << high;
                use_times(&mut line.sectors[low..high], &mut self.sectors, load, weight, cell, SECTOR, cells);
            }
        }
    }

    #[inline(always)]
    fn use_elements(&mut self, access: &Access<'_>, width: Width, load: bool, cell: u32, cells: &mut ReuseCells) {
        if !self.elements.line.has_room(160) {
            self.make_element_room();
        }
        if width.holes.is_none() {
            match access.addresses {
                Addresses::Uniform(address) => {
                    self.use_element(address, width.bytes, load, cell, cells);
                    let again = access.mask.count_ones() - 1;
                    if again > 0 && (!T::SAMPLED || self.sample.takes(address / 128)) {
                        self.use_again(address, width.bytes, again, load, cell, cells);
                    } else if again > 0 {
                        self.elements.notes.repeated(again, load, cell, ELEMENT, cells);
                    }
                    return;
                }
                Addresses::Affine { bases, stride } if i64::from(stride) == i64::from(width.bytes) => {
                    if let Some(runs) = runs_of(bases, access.mask, width.bytes) {
                        for (base, count) in runs {
                            self.use_run(base, count, width.bytes, load, cell, cells);
                        }
                        return;
                    }
                }
                _ => {}
            }
        }
        // Estimates depend on the number of times that each use takes, so only exact scopes join lanes.
        if !T::SAMPLED
            && width.holes.is_none()
            && let Some(runs) = LaneRuns::new(access, width.bytes)
        {
            for LaneRun { address, lanes, shared } in runs {
                if !shared {
                    self.use_run(address, lanes, width.bytes, load, cell, cells);
                    continue;
                }
                self.use_run(address, 1, width.bytes, load, cell, cells);
                self.use_again(address, width.bytes, lanes - 1, load, cell, cells);
            }
            return;
        }
        access.for_each_lane(|_, address| self.use_element(address, width.bytes, load, cell, cells));
    }

    /// Uses the element that was used last `times` more times.
    #[inline(always)]
    fn use_again(&mut self, address: u64, bytes: u32, times: u32, load: bool, cell: u32, cells: &mut ReuseCells) {
        self.elements.notes.repeated(times, load, cell, ELEMENT, cells);
        if let Some(first) = self.mark_element_reused(address, bytes) {
            let streaming = &mut cells[first as usize].streaming;
            *streaming = streaming.wrapping_sub(self.sample.weight().into());
        }
    }

    /// Uses consecutive elements of a common width.
    #[inline(always)]
    fn use_run(&mut self, base: u64, count: u32, bytes: u32, load: bool, cell: u32, cells: &mut ReuseCells) {
        let class = bytes.trailing_zeros() as usize;
        let end = base + u64::from(count * bytes);
        let mut at = base;
        let weight = self.sample.weight();
        while at < end {
            let stop = (at / 128 * 128 + 128).min(end);
            if T::SAMPLED && !self.sample.takes(at / 128) {
                self.elements.line.skip(((stop - at) >> class) as u32);
                at = stop;
                continue;
            }
            let line = self.find_or_add(at / 128);
            let group = self.group(line, class);
            let place = |address: u64| ((address - at / 128 * 128) >> class) as u32;
            let range = [place(at), place(stop)];
            let Times { line, notes } = &mut self.elements;
            self.groups.use_range(group, range, line, cell, load, |found, times| {
                count_found(found, times * weight, load, cell, notes, cells);
            });
            at = stop;
        }
    }

    /// Marks the element that was used last as used more than once; see [`mark_reused`].
    fn mark_element_reused(&mut self, address: u64, bytes: u32) -> Option<u32> {
        match class_of(address, bytes) {
            Some(class) => {
                let line = self.find_or_add(address / 128);
                let group = self.group(line, class);
                self.groups.mark_reused(group, ((address % 128) >> class) as u32)
            }
            None => {
                self.widest_odd = self.widest_odd.max(bytes);
                mark_reused(self.odd.entry((address, bytes)).or_insert(Use::NEVER))
            }
        }
    }

    #[inline]
    fn use_element(&mut self, address: u64, bytes: u32, load: bool, cell: u32, cells: &mut ReuseCells) {
        if T::SAMPLED && !self.sample.takes(address / 128) {
            self.elements.line.skip(1);
            return;
        }
        let weight = self.sample.weight();
        match class_of(address, bytes) {
            Some(class) => {
                let line = self.find_or_add(address / 128);
                let group = self.group(line, class);
                let place = ((address % 128) >> class) as u32;
                let Times { line, notes } = &mut self.elements;
                self.groups.use_range(group, [place, place + 1], line, cell, load, |found, times| {
                    count_found(found, times * weight, load, cell, notes, cells);
                });
            }
            None => {
                self.widest_odd = self.widest_odd.max(bytes);
                let element = self.odd.entry((address, bytes)).or_insert(Use::NEVER);
                let Times { line, notes } = &mut self.elements;
                let found = step(element, line, cell, load);
                count_found(found, weight, load, cell, notes, cells);
            }
        }
    }

    /// Processes a store that ends the lifetime of every element, sector and line that it touches.
    fn restart(&mut self, access: &Access<'_>, width: Width, pieces: &[Piece]) {
        for piece in pieces {
            let Some(index) = self.find(piece.line) else { continue };
            let line = &mut self.lines[index as usize];
            end_time(&mut line.time, &mut self.line_times.line);
            for sector in 0..4 {
                if piece.sectors >> sector & 1 == 1 {
                    end_time(&mut line.sectors[sector], &mut self.sectors.line);
                }
            }
            let groups = line.groups;
            for (class, group) in groups.into_iter().enumerate().filter(|(_, group)| *group != NONE) {
                if piece.bytes == u128::MAX {
                    self.groups.end_range(group, [0, elements_in_line(class)], &mut self.elements.line);
                    continue;
                }
                let mask = u128::MAX >> (128 - (1 << class));
                let touched = |element: u32| piece.bytes >> (element << class) & mask != 0;
                let count = elements_in_line(class);
                let mut low = 0;
                while low < count {
                    let high = (low..count).find(|element| !touched(*element)).unwrap_or(count);
                    if high > low {
                        self.groups.end_range(group, [low, high], &mut self.elements.line);
                    }
                    low = high + 1;
                }
            }
        }
        if !self.odd.is_empty() {
            let widest = u64::from(self.widest_odd);
            access.for_each_lane(|_, address| {
                let last = address.saturating_add(u64::from(width.bytes) - 1);
                let first = (address.saturating_sub(widest), 0);
                for (&(start, bytes), element) in self.odd.range_mut(first..=(last, u32::MAX)) {
                    let touched = match width.holes {
                        None => start.saturating_add(u64::from(bytes)) > address,
                        Some(holes) => (0..64).any(|byte| {
                            let at = address.wrapping_add(byte);
                            holes >> byte & 1 == 1 && at >= start && at - start < u64::from(bytes)
                        }),
                    };
                    if touched {
                        end(element, &mut self.elements.line);
                    }
                }
            });
        }
    }

    /// Makes room on every timeline and in the table of lines. If there are too many lines, half of them are discarded.
    #[inline(always)]
    fn make_room_for_all(&mut self, cells: &mut ReuseCells) {
        // A request has up to 32 elements, and up to 64 lines and their sectors.
        if !self.elements.line.has_room(160) {
            self.make_element_room();
        }
        if !self.sectors.line.has_room(256) {
            self.make_sector_room(256);
        }
        if !self.line_times.line.has_room(64) {
            self.make_line_room(64);
        }
        if self.sample.is_full(self.lines.len()) {
            self.follow_fewer(cells);
        }
    }

    /// Discards half of the lines until there is room. The remaining lines represent the discarded ones from then on.
    /// The same applies to their elements that were used once: a second use subtracts as much as they count.
    #[cold]
    fn follow_fewer(&mut self, cells: &mut ReuseCells) {
        while self.sample.is_full(self.lines.len()) {
            let weight = u64::from(self.sample.weight());
            self.sample.halve();
            let sample = self.sample;
            let mut once = |taken: bool, cell: u32, count: u32| {
                let streaming = &mut counters(cells, cell).streaming;
                let change = weight * u64::from(count);
                *streaming = if taken { streaming.wrapping_add(change) } else { streaming.wrapping_sub(change) };
            };
            for line in &self.lines {
                let taken = sample.takes(line.number);
                for group in line.groups.iter().filter(|group| **group != NONE) {
                    self.groups.for_each_once(*group, |cell, count| once(taken, cell, count));
                }
            }
            for ((address, _), element) in &self.odd {
                if let Some(cell) = element.once() {
                    once(sample.takes(address / 128), cell, 1);
                }
            }
            self.lines.retain(|line| sample.takes(line.number));
            self.odd.retain(|(address, _), _| sample.takes(address / 128));
        }
        self.recent = Recent::default();
        self.index.clear();
        for (index, line) in (0..).zip(&self.lines) {
            self.index.find_or_insert(line.number, index, |index| self.lines[index as usize].number);
        }
    }

    #[cold]
    fn make_element_room(&mut self) {
        let times = &mut self.elements.line;
        while !times.has_room(160) {
            if !times.grow() {
                {
                    let renumber = times.renumber();
                    self.groups.rerank(&renumber);
                    self.odd.retain(|_, element| element.alive());
                    for element in self.odd.values_mut() {
                        rerank(element, &renumber);
                    }
                }
                times.compact();
            }
        }
    }

    #[cold]
    fn make_sector_room(&mut self, count: u32) {
        let times = &mut self.sectors.line;
        while !times.has_room(count) {
            if !times.grow() {
                {
                    let renumber = times.renumber();
                    for time in self.lines.iter_mut().flat_map(|line| &mut line.sectors).filter(|time| **time != NONE) {
                        *time = renumber(*time);
                    }
                }
                times.compact();
            }
        }
    }

    #[cold]
    fn make_line_room(&mut self, count: u32) {
        let times = &mut self.line_times.line;
        while !times.has_room(count) {
            if !times.grow() {
                {
                    let renumber = times.renumber();
                    for line in self.lines.iter_mut().filter(|line| line.time != NONE) {
                        line.time = renumber(line.time);
                    }
                }
                times.compact();
            }
        }
    }

    /// Returns the number of distinct lines in this scope.
    pub fn footprint_lines(&self) -> usize {
        self.lines.len()
    }
}
