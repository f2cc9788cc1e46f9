//! The L1 caches of all SMs.

use super::by_sm::BySm;
use super::queue::{Masks, QueuedPiece, QueuedRequest, RequestQueue};
use super::request::{L1Outcome, Route};
use super::rules::{L1Rules, NextLevel, OneSm};
use super::writers::Writers;
use crate::geometry::sectors::{bytes_of, count};
use crate::hierarchy::array::{FullCache, IndexedCache, LineCache, Replacement, SectorCache};
use crate::hierarchy::coalesce::Piece;
use crate::hierarchy::config::L1Config;
use crate::hierarchy::dense::DenseLines;
use crate::hierarchy::l2::{Egress, L2Access, L2Op, L2Request};
use crate::hierarchy::traffic::TrafficCells;
use crate::simd::processor;

/// The caches of all SMs.
pub struct Level1 {
    rules: L1Rules,
    kind: Kind,
    by_sm: BySm,
    writers: Writers,
}

/// The caches, by the form of their arrays.
enum Kind {
    /// Fully associative arrays; each SM is a set.
    Full(FullCache),
    /// The array of one SM, with a table of all lines.
    Indexed(IndexedCache),
    General {
        config: Box<L1Config>,
        ways: u32,
        sms: Vec<Option<General>>,
    },
}

/// The cache of one SM, of any form.
struct General {
    cache: SectorCache,
    /// A separate, fully associative cache for the read-only path.
    read_only: Option<SectorCache>,
}

impl General {
    fn new(config: &L1Config, ways: u32) -> General {
        let cache = match config.tags_per_line {
            Some(tags) => {
                let sectors = ways * config.line_bytes / 32;
                SectorCache::streaming(config.sets, (ways * tags).min(u32::from(u16::MAX)), sectors)
            }
            None => SectorCache::new(config.sets, ways, &config.replacement),
        };
        let read_only = config.read_only_bytes.map(|bytes| {
            let lines = (bytes / u64::from(config.line_bytes)).clamp(1, 1 << 15);
            SectorCache::new(1, lines as u32, &Replacement::Lru)
        });
        General { cache, read_only }
    }
}

impl Level1 {
    /// Creates empty caches with `lines` lines each (see [`L1Config::lines`]).
    pub fn new(config: &L1Config, lines: u32) -> Level1 {
        let ways = (lines / config.sets).max(1);
        let kind = if plain(config) && FullCache::fits(ways, &config.replacement) {
            Kind::Full(FullCache::new(0, ways, &config.replacement))
        } else {
            Kind::General { config: Box::new(config.clone()), ways, sms: Vec::new() }
        };
        Level1 { rules: L1Rules::new(config), kind, by_sm: BySm::default(), writers: Writers::default() }
    }

    /// Returns an empty cache of a single SM, number 0, with `lines` lines. It needs two bytes of memory for each
    /// distinct line in the requests, and is fast if these are few.
    pub fn of_one_sm(config: &L1Config, lines: u32) -> Level1 {
        let mut level = Level1::new(config, lines);
        let ways = (lines / config.sets).max(1);
        if plain(config) && IndexedCache::fits(ways, &config.replacement) {
            level.kind = Kind::Indexed(IndexedCache::new(1, ways, &config.replacement));
        }
        level.resize(1);
        level
    }

    /// Allocates this many SMs.
    #[inline]
    pub fn resize(&mut self, count: u32) {
        match &mut self.kind {
            Kind::Full(cache) => cache.resize(count),
            Kind::Indexed(_) => {}
            Kind::General { sms, .. } => sms.resize_with(count as usize, || None),
        }
    }

    /// Empties the caches. The lanes' stacks are dead at this time and are not written back.
    pub fn clear(&mut self) {
        match &mut self.kind {
            Kind::Full(cache) => cache.clear(),
            Kind::Indexed(cache) => cache.clear(),
            Kind::General { sms, .. } => {
                for sm in sms.iter_mut().flatten() {
                    sm.cache.clear();
                    if let Some(cache) = &mut sm.read_only {
                        cache.clear();
                    }
                }
            }
        }
    }

    /// Serves all waiting requests in order, counts them, and appends the requests to L2 to `out`.
    pub(crate) fn serve_all(
        &mut self,
        queue: &mut RequestQueue,
        lines: &DenseLines,
        cells: &mut TrafficCells,
        out: &mut Egress,
    ) {
        processor::with_newer_instructions(ServeAll { level: self, queue, lines, cells, out });
    }

    /// Returns whether pieces with this route are plain (see [`L1Rules::plain`]).
    #[inline(always)]
    pub(crate) fn plain(&self, route: Route) -> bool {
        self.rules.plain(route)
    }

    /// Serves a piece of an SM whose line has the dense number `number`; requests to L2 go to `out`.
    #[inline(always)]
    pub fn serve(
        &mut self,
        sm: u32,
        route: Route,
        piece: &Piece,
        number: u32,
        mut out: impl FnMut(L2Access),
    ) -> L1Outcome {
        match &mut self.kind {
            Kind::Full(cache) => OneSm { rules: &self.rules, cache, read_only: None, first_set: sm }
                .serve(route, piece, number, &mut out),
            Kind::Indexed(cache) => {
                OneSm { rules: &self.rules, cache, read_only: None, first_set: 0 }.serve(route, piece, number, &mut out)
            }
            Kind::General { config, ways, sms } => {
                let General { cache, read_only } = sms[sm as usize].get_or_insert_with(|| General::new(config, *ways));
                let read_only = read_only.as_mut();
                OneSm { rules: &self.rules, cache, read_only, first_set: 0 }.serve(route, piece, number, &mut out)
            }
        }
    }
}

impl Level1 {
    /// Serves a load of SM 0, whose pieces have lines relative to `line`, modulo 2^57. Returns the number of missing
    /// sectors.
    #[inline(always)]
    pub fn load(&mut self, pieces: &[Piece], line: u64, lines: &mut DenseLines) -> u32 {
        let mut missed = 0;
        for piece in pieces {
            let placed = piece.moved(line);
            let Some(number) = lines.number(placed.line) else { continue };
            let mut out = |wanted: L2Access| missed += wanted.sectors.count_ones();
            match &mut self.kind {
                Kind::Indexed(cache) => {
                    let one = OneSm { rules: &self.rules, cache, read_only: None, first_set: 0 };
                    one.serve(Route::Load, &placed, number, &mut out);
                }
                _ => {
                    self.serve(0, Route::Load, &placed, number, out);
                }
            }
        }
        missed
    }
}

/// Returns whether an SM's cache is a single set of lines that each have their own data sectors.
fn plain(config: &L1Config) -> bool {
    config.sets == 1 && config.tags_per_line.is_none() && config.read_only_bytes.is_none()
}

/// Collects a piece's requests to the next level.
struct Exit<'a> {
    request: &'a QueuedRequest,
    part: &'a QueuedPiece,
    lines: &'a DenseLines,
    writers: &'a mut Writers,
    out: &'a mut Egress,
}

impl NextLevel for Exit<'_> {
    #[inline(always)]
    fn send(&mut self, request: L2Access) {
        let QueuedRequest { sm, cell, place, .. } = *self.request;
        self.out.place = place;
        self.out.push(sm, cell, self.part.line, request.sectors, request.op, request.bytes);
    }

    #[inline(always)]
    fn write_back(&mut self, request: L2Access) {
        let L2Access { op, number, sectors, bytes } = request;
        let QueuedRequest { sm, place, .. } = *self.request;
        let line = self.lines.line(number);
        let Exit { writers, out, .. } = self;
        out.place = place;
        let units = out.lookups();
        writers.divide(number, sectors, units, |sectors, cell| {
            out.push(sm, cell, line, sectors, op, bytes & bytes_of(sectors));
        });
    }

    #[inline(always)]
    fn dirtied(&mut self, sectors: u8) {
        self.writers.note(self.part.number, sectors, self.request.cell);
    }
}

struct ServeAll<'a> {
    level: &'a mut Level1,
    queue: &'a mut RequestQueue,
    lines: &'a DenseLines,
    cells: &'a mut TrafficCells,
    out: &'a mut Egress,
}

impl processor::Job for ServeAll<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let ServeAll { level: Level1 { rules, kind, by_sm, writers }, queue, lines, cells, out } = self;
        let (mut rest, parts, masks) = queue.split();
        while let Some(first) = rest.first() {
            let plain = first.plain;
            let count = rest.iter().take_while(|request| request.plain == plain).count();
            let (here, later) = rest.split_at(count);
            rest = later;
            match kind {
                Kind::Full(cache) if plain && cache.is_clean() => {
                    by_sm.serve(here, parts, masks, rules, cache);
                    hand_on(here, parts, masks, rules, cells, out);
                }
                _ => {
                    for request in here {
                        for part in &parts[request.pieces()] {
                            let piece = Piece { line: part.line, sectors: part.sectors, bytes: masks.of(part) };
                            let exit = Exit { request, part, lines, writers, out };
                            let outcome = serve_one(rules, kind, &piece, exit);
                            let load = request.route.is_load();
                            cells.cell(request.cell).l1.count(load, outcome.lookups, outcome.hits);
                        }
                    }
                }
            }
        }
    }
}

/// Counts plain requests whose missing sectors are known, and forwards requests to L2.
#[inline(always)]
fn hand_on(
    mut requests: &[QueuedRequest],
    parts: &[QueuedPiece],
    masks: Masks<'_>,
    rules: &L1Rules,
    cells: &mut TrafficCells,
    out: &mut Egress,
) {
    while let Some(first) = requests.first() {
        let length = requests.iter().take_while(|request| request.is_like(first)).count();
        let (alike, later) = requests.split_at(length);
        requests = later;
        let sum = match first.route {
            Route::Store => hand_on_stores(alike, parts, masks, rules.stores_hit_lines(), out),
            Route::Atomic => hand_on_all(alike, parts, rules.atomic(), out),
            Route::LoadPast => hand_on_all(alike, parts, L2Op::Load, out),
            _ => hand_on_loads(alike, parts, out),
        };
        cells.cell(first.cell).l1.count(first.route.is_load(), sum.lookups, sum.hits);
    }
}

/// Forwards stores.
#[inline(always)]
fn hand_on_stores(
    requests: &[QueuedRequest],
    parts: &[QueuedPiece],
    masks: Masks<'_>,
    hit_lines: bool,
    out: &mut Egress,
) -> L1Outcome {
    let mut sum = L1Outcome::default();
    for request in requests {
        let QueuedRequest { place, sm, cell, .. } = *request;
        out.place = place;
        for part in &parts[request.pieces()] {
            let there = if part.is_present() { part.sectors } else { 0 };
            sum.lookups += count(part.sectors);
            sum.hits += count(if hit_lines { there } else { part.sectors & !part.missing() });
            out.push(sm, cell, part.line, part.sectors, L2Op::Store, masks.of(part));
        }
    }
    sum
}

/// Forwards requests that bypass L1. They are lookups only if they count as misses.
#[inline(always)]
fn hand_on_all(requests: &[QueuedRequest], parts: &[QueuedPiece], op: L2Op, out: &mut Egress) -> L1Outcome {
    let mut sum = L1Outcome::default();
    for request in requests {
        let QueuedRequest { place, sm, cell, .. } = *request;
        out.place = place;
        for part in &parts[request.pieces()] {
            sum.lookups += if op == L2Op::AtomicMiss { count(part.sectors) } else { 0 };
            out.push(sm, cell, part.line, part.sectors, op, bytes_of(part.sectors));
        }
    }
    sum
}

/// Forwards the missing sectors of loads.
#[inline(always)]
fn hand_on_loads(requests: &[QueuedRequest], parts: &[QueuedPiece], out: &mut Egress) -> L1Outcome {
    let mut sum = L1Outcome::default();
    if let Some(out) = out.only_share() {
        for request in requests {
            let QueuedRequest { place, sm, cell, .. } = *request;
            for part in sum.count(&parts[request.pieces()]).filter(|part| part.missing() != 0) {
                out.push(L2Request::whole(place, sm, cell, part.line, part.missing(), L2Op::Load));
            }
        }
        return sum;
    }
    for request in requests {
        let QueuedRequest { place, sm, cell, .. } = *request;
        out.place = place;
        for part in sum.count(&parts[request.pieces()]).filter(|part| part.missing() != 0) {
            out.push(sm, cell, part.line, part.missing(), L2Op::Load, bytes_of(part.missing()));
        }
    }
    sum
}

impl L1Outcome {
    /// Counts the pieces of a plain request and yields them.
    #[inline(always)]
    fn count<'a>(&mut self, parts: &'a [QueuedPiece]) -> impl Iterator<Item = &'a QueuedPiece> {
        parts.iter().inspect(|part| {
            self.lookups += count(part.sectors);
            self.hits += count(part.sectors & !part.missing());
        })
    }
}

/// Serves a single piece.
#[inline(never)]
fn serve_one(rules: &L1Rules, kind: &mut Kind, piece: &Piece, mut exit: Exit<'_>) -> L1Outcome {
    let (sm, route, number) = (exit.request.sm, exit.request.route, exit.part.number);
    match kind {
        Kind::Full(cache) => {
            OneSm { rules, cache, read_only: None, first_set: u32::from(sm) }.serve(route, piece, number, &mut exit)
        }
        Kind::Indexed(cache) => {
            OneSm { rules, cache, read_only: None, first_set: 0 }.serve(route, piece, number, &mut exit)
        }
        Kind::General { config, ways, sms } => {
            let General { cache, read_only } = sms[usize::from(sm)].get_or_insert_with(|| General::new(config, *ways));
            OneSm { rules, cache, read_only: read_only.as_mut(), first_set: 0 }.serve(route, piece, number, &mut exit)
        }
    }
}
