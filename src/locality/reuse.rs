//! Reuse distances of requests, within one scope: a thread block, an SM or a launch.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use warpline_format::access::{Access, Addresses};
use warpline_format::site_table::Op;

use super::ReuseHistogram;
use super::axis::Axis;
use super::elements::{CLASSES, Found, Groups, NONE, Use, class_of, elements_in_line, end, mark_reused, rerank, step};
use crate::hierarchy::{Piece, Reach};

/// Reuse figures of one cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReuseCounters {
    /// Elements: address and width of the access.
    pub element: ReuseHistogram,
    /// 32-byte sectors.
    pub sector: ReuseHistogram,
    /// 128-byte lines.
    pub line: ReuseHistogram,
    /// Uses of elements that their scope uses just this once before they are stored to or the scope
    /// ends. May go below zero on the way, hence the wrapping sums.
    pub streaming: u64,
}

impl ReuseCounters {
    /// Adds another one.
    pub fn add(&mut self, other: &ReuseCounters) {
        self.element.add(&other.element);
        self.sector.add(&other.sector);
        self.line.add(&other.line);
        self.streaming = self.streaming.wrapping_add(other.streaming);
    }
}

/// What a store does to what it writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stores {
    /// Ends its life: the next load is the first of a new one. As in a cache that evicts what is
    /// stored to.
    #[default]
    Restart,
    /// Is a use, without a distance of its own.
    Use,
}

/// Lines that are found again without a look at the table.
const RECENT: usize = 4;

#[derive(Clone, Debug)]
struct Line {
    number: u64,
    time: u32,
    sectors: [u32; 4],
    groups: [u32; CLASSES],
}

/// Follows the requests of one scope.
#[derive(Clone, Debug, Default)]
pub struct Reuse {
    stores: Stores,
    index: FxHashMap<u64, u32>,
    /// Line number + 1 and index of lines found last, by the lowest bits of the number: neighbours all find room.
    recent: [(u64, u32); RECENT],
    lines: Vec<Line>,
    groups: Groups,
    /// Elements of other widths or alignments.
    odd: BTreeMap<(u64, u32), Use>,
    widest_odd: u32,
    elements: Axis,
    sectors: Axis,
    line_times: Axis,
}

/// Where figures go: one entry per cell.
pub type ReuseCells = Vec<ReuseCounters>;

#[inline]
fn counters(cells: &mut ReuseCells, cell: u32) -> &mut ReuseCounters {
    if cells.len() <= cell as usize {
        cells.resize(cell as usize + 1, ReuseCounters::default());
    }
    &mut cells[cell as usize]
}

impl Reuse {
    /// A scope that nothing was used in.
    pub fn new(stores: Stores) -> Reuse {
        Reuse { stores, ..Reuse::default() }
    }

    /// Begins a new scope; keeps its memory.
    pub fn clear(&mut self) {
        self.index.clear();
        self.recent = [(0, 0); RECENT];
        self.lines.clear();
        self.groups.clear();
        self.odd.clear();
        self.widest_odd = 0;
        self.elements.reset();
        self.sectors.reset();
        self.line_times.reset();
    }

    /// A request. `pieces` are those of the whole warp, each line once.
    #[inline(always)]
    pub fn request(
        &mut self,
        access: &Access<'_>,
        reach: Reach,
        op: Op,
        pieces: &[Piece],
        cell: u32,
        cells: &mut ReuseCells,
    ) {
        let load = op == Op::Load;
        if !load && self.stores == Stores::Restart {
            self.restart(access, reach, pieces);
            return;
        }
        counters(cells, cell);
        self.use_pieces(pieces, load, cell, cells);
        self.use_elements(access, reach, load, cell, cells);
    }

    #[inline(always)]
    fn find(&mut self, number: u64) -> Option<u32> {
        let recent = &mut self.recent[number as usize % RECENT];
        if recent.0 == number + 1 {
            return Some(recent.1);
        }
        let index = *self.index.get(&number)?;
        *recent = (number + 1, index);
        Some(index)
    }

    #[inline(always)]
    fn find_or_add(&mut self, number: u64) -> u32 {
        if let Some(index) = self.find(number) {
            return index;
        }
        let index = self.lines.len() as u32;
        self.lines.push(Line { number, time: NONE, sectors: [NONE; 4], groups: [NONE; CLASSES] });
        self.index.insert(number, index);
        self.recent[number as usize % RECENT] = (number + 1, index);
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

    #[inline(always)]
    fn use_pieces(&mut self, pieces: &[Piece], load: bool, cell: u32, cells: &mut ReuseCells) {
        for piece in pieces {
            let line = self.find_or_add(piece.line) as usize;
            if !self.line_times.has_room(1) {
                self.make_line_room();
            }
            if !self.sectors.has_room(4) {
                self.make_sector_room();
            }
            let counters = &mut cells[cell as usize];
            let line = &mut self.lines[line];
            use_times(std::slice::from_mut(&mut line.time), &mut self.line_times, load.then_some(&mut counters.line));
            let mut rest = u32::from(piece.sectors);
            while rest != 0 {
                let low = rest.trailing_zeros() as usize;
                let high = low + (!(rest >> low)).trailing_zeros() as usize;
                rest &= !0 << high;
                use_times(&mut line.sectors[low..high], &mut self.sectors, load.then_some(&mut counters.sector));
            }
        }
    }

    #[inline(always)]
    fn use_elements(&mut self, access: &Access<'_>, reach: Reach, load: bool, cell: u32, cells: &mut ReuseCells) {
        if !self.elements.has_room(160) {
            self.make_element_room();
        }
        if reach.holes.is_none() {
            match access.addresses {
                Addresses::Uniform(address) => {
                    self.use_element(address, reach.bytes, load, cell, cells);
                    let again = access.mask.count_ones() - 1;
                    if again > 0 {
                        if load {
                            cells[cell as usize].element.count(0, again);
                        }
                        if let Some(first) = mark_reused(self.element(address, reach.bytes)) {
                            let streaming = &mut cells[first as usize].streaming;
                            *streaming = streaming.wrapping_sub(1);
                        }
                    }
                    return;
                }
                Addresses::Affine { bases, stride } if i64::from(stride) == i64::from(reach.bytes) => {
                    if let Some(runs) = runs_of(bases, access.mask, reach.bytes) {
                        for (base, count) in runs {
                            self.use_run(base, count, reach.bytes, load, cell, cells);
                        }
                        return;
                    }
                }
                _ => {}
            }
        }
        access.for_each_lane(|_, address| self.use_element(address, reach.bytes, load, cell, cells));
    }

    /// Elements of a common width one after another.
    #[inline(always)]
    fn use_run(&mut self, base: u64, count: u32, bytes: u32, load: bool, cell: u32, cells: &mut ReuseCells) {
        let class = bytes.trailing_zeros() as usize;
        let end = base + u64::from(count * bytes);
        let mut at = base;
        while at < end {
            let line = self.find_or_add(at / 128);
            let group = self.group(line, class);
            let stop = (at / 128 * 128 + 128).min(end);
            let place = |address: u64| ((address - at / 128 * 128) >> class) as u32;
            let range = [place(at), place(stop)];
            self.groups.use_range(group, range, &mut self.elements, cell, load, |found, times| {
                count_found(found, times, load, cell, cells);
            });
            at = stop;
        }
    }

    fn element(&mut self, address: u64, bytes: u32) -> &mut Use {
        match class_of(address, bytes) {
            Some(class) => {
                let line = self.find_or_add(address / 128);
                let group = self.group(line, class);
                self.groups.element(group, ((address % 128) >> class) as u32)
            }
            None => {
                self.widest_odd = self.widest_odd.max(bytes);
                self.odd.entry((address, bytes)).or_insert(Use::NEVER)
            }
        }
    }

    #[inline]
    fn use_element(&mut self, address: u64, bytes: u32, load: bool, cell: u32, cells: &mut ReuseCells) {
        match class_of(address, bytes) {
            Some(class) => {
                let line = self.find_or_add(address / 128);
                let group = self.group(line, class);
                let place = ((address % 128) >> class) as u32;
                self.groups.use_range(group, [place, place + 1], &mut self.elements, cell, load, |found, times| {
                    count_found(found, times, load, cell, cells);
                });
            }
            None => {
                self.widest_odd = self.widest_odd.max(bytes);
                let element = self.odd.entry((address, bytes)).or_insert(Use::NEVER);
                let found = step(element, &mut self.elements, cell, load);
                count_found(found, 1, load, cell, cells);
            }
        }
    }

    /// A store ends the life of every element, sector and line that it touches.
    fn restart(&mut self, access: &Access<'_>, reach: Reach, pieces: &[Piece]) {
        for piece in pieces {
            let Some(index) = self.find(piece.line) else { continue };
            let line = &mut self.lines[index as usize];
            end_time(&mut line.time, &mut self.line_times);
            for sector in 0..4 {
                if piece.sectors >> sector & 1 == 1 {
                    end_time(&mut line.sectors[sector], &mut self.sectors);
                }
            }
            let groups = line.groups;
            for (class, group) in groups.into_iter().enumerate().filter(|(_, group)| *group != NONE) {
                if piece.bytes == u128::MAX {
                    self.groups.end_range(group, [0, elements_in_line(class)], &mut self.elements);
                    continue;
                }
                let mask = u128::MAX >> (128 - (1 << class));
                let touched = |element: u32| piece.bytes >> (element << class) & mask != 0;
                let count = elements_in_line(class);
                let mut low = 0;
                while low < count {
                    let high = (low..count).find(|element| !touched(*element)).unwrap_or(count);
                    if high > low {
                        self.groups.end_range(group, [low, high], &mut self.elements);
                    }
                    low = high + 1;
                }
            }
        }
        if !self.odd.is_empty() {
            let widest = u64::from(self.widest_odd);
            access.for_each_lane(|_, address| {
                let last = address.saturating_add(u64::from(reach.bytes) - 1);
                let first = (address.saturating_sub(widest), 0);
                for (&(start, bytes), element) in self.odd.range_mut(first..=(last, u32::MAX)) {
                    let touched = match reach.holes {
                        None => start.saturating_add(u64::from(bytes)) > address,
                        Some(holes) => (0..64).any(|byte| {
                            let at = address.wrapping_add(byte);
                            holes >> byte & 1 == 1 && at >= start && at - start < u64::from(bytes)
                        }),
                    };
                    if touched {
                        end(element, &mut self.elements);
                    }
                }
            });
        }
    }

    #[cold]
    fn make_element_room(&mut self) {
        while !self.elements.has_room(160) {
            if !self.elements.grow() {
                let ranks = self.elements.ranks();
                self.groups.rerank(&ranks);
                self.odd.retain(|_, element| element.alive());
                for element in self.odd.values_mut() {
                    rerank(element, &ranks);
                }
                self.elements.compact();
            }
        }
    }

    #[cold]
    fn make_sector_room(&mut self) {
        while !self.sectors.has_room(4) {
            if !self.sectors.grow() {
                let ranks = self.sectors.ranks();
                for time in self.lines.iter_mut().flat_map(|line| &mut line.sectors).filter(|time| **time != NONE) {
                    *time = ranks.of(*time);
                }
                self.sectors.compact();
            }
        }
    }

    #[cold]
    fn make_line_room(&mut self) {
        while !self.line_times.has_room(1) {
            if !self.line_times.grow() {
                let ranks = self.line_times.ranks();
                for line in self.lines.iter_mut().filter(|line| line.time != NONE) {
                    line.time = ranks.of(line.time);
                }
                self.line_times.compact();
            }
        }
    }

    /// Distinct lines seen in this scope.
    pub fn footprint_lines(&self) -> usize {
        debug_assert!(self.lines.iter().all(|line| self.index.contains_key(&line.number)));
        self.lines.len()
    }
}

#[inline(always)]
fn count_found(found: Found, times: u32, load: bool, cell: u32, cells: &mut ReuseCells) {
    match found {
        Found::New => {
            if load {
                let counters = &mut cells[cell as usize];
                counters.element.infinite += u64::from(times);
                counters.streaming = counters.streaming.wrapping_add(u64::from(times));
            }
        }
        Found::Again { distance, first } => {
            if load {
                cells[cell as usize].element.count(distance, times);
            }
            if let Some(first) = first {
                let streaming = &mut cells[first as usize].streaming;
                *streaming = streaming.wrapping_sub(u64::from(times));
            }
        }
    }
}

/// Uses things one after another; those whose last uses followed one another take one step together.
#[inline(always)]
fn use_times(mut times: &mut [u32], axis: &mut Axis, mut histogram: Option<&mut ReuseHistogram>) {
    while let Some(&first) = times.first() {
        // What was never used is alike, what was used rises by one.
        let step = u32::from(first != NONE);
        let mut length = 1;
        let mut next = first.wrapping_add(step);
        while times.get(length) == Some(&next) {
            next = next.wrapping_add(step);
            length += 1;
        }
        let count = length as u32;
        if first == NONE {
            if let Some(histogram) = &mut histogram {
                histogram.infinite += u64::from(count);
            }
        } else {
            let distance = count - 1 + axis.after(first + count);
            axis.clear(first, count);
            if let Some(histogram) = &mut histogram {
                histogram.count(distance, count);
            }
        }
        let now = axis.push(count);
        for (index, time) in times[..length].iter_mut().enumerate() {
            *time = now + index as u32;
        }
        times = &mut times[length..];
    }
}

/// The runs of neighbouring elements that a request with a stride of its own width consists of: none where lanes are
/// left out between others, or where addresses are not multiples of a common width.
fn runs_of(bases: [u64; 2], mask: u32, bytes: u32) -> Option<impl Iterator<Item = (u64, u32)>> {
    let half = |base: u64, mask: u32| {
        let low = mask.trailing_zeros().min(16);
        let count = mask.count_ones();
        let gapless = mask == 0 || mask >> low == (1 << count) - 1;
        let base = base.wrapping_add(u64::from(low * bytes));
        let fits = count == 0 || (class_of(base, bytes).is_some() && base < u64::MAX - 1024);
        (gapless && fits).then_some((base, count))
    };
    let (low, high) = (half(bases[0], mask & 0xffff)?, half(bases[1], mask >> 16)?);
    let joined = low.0.wrapping_add(u64::from(low.1 * bytes)) == high.0;
    let runs = if joined && low.1 > 0 { [(low.0, low.1 + high.1), (0, 0)] } else { [low, high] };
    Some(runs.into_iter().filter(|run| run.1 > 0))
}

fn end_time(time: &mut u32, axis: &mut Axis) {
    if *time != NONE {
        axis.clear(*time, 1);
        *time = NONE;
    }
}
