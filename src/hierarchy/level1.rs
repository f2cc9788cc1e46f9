//! The level-1 caches of all SMs.

use super::by_sm::BySm;
use super::cache::{LineCache, SectorCache};
use super::coalesce::{Piece, bytes_of};
use super::config::L1Config;
use super::dense::DenseLines;
use super::engine::TrafficCells;
use super::full::FullCache;
use super::leaving::{L2Request, Leaving};
use super::policy::Replacement;
use super::processor;
use super::rules1::{Next, OneSm, RulesOf1};
use super::units::count;
use super::waiting::{Masks, Part, Queue, Waiting};

/// How level 1 treats a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// A load that is cached.
    Load,
    /// A load through the read-only path.
    ReadOnly,
    /// A load that goes straight to level 2.
    LoadPast,
    /// A store to global memory.
    Store,
    /// A store to the lanes' own stacks: written back, not through.
    LocalStore,
    /// An atomic.
    Atomic,
}

impl Route {
    /// Reads memory and nothing else.
    pub fn is_load(self) -> bool {
        matches!(self, Route::Load | Route::ReadOnly | Route::LoadPast)
    }
}

/// What level 2 is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Sectors are read.
    Load,
    /// Bytes are written.
    Store,
    /// Sectors are read and written as one.
    Atomic,
    /// As [`Ask::Atomic`], in a model whose atomics miss without touching the caches.
    AtomicMiss,
}

/// A line-sized request from level 1 to level 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToL2 {
    /// What.
    pub ask: Ask,
    /// Dense number of the line (see [`super::DenseLines`]).
    pub number: u32,
    /// Sectors.
    pub sectors: u8,
    /// Bytes, for stores.
    pub bytes: u128,
}

/// What one piece did at level 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct L1Outcome {
    /// Lookups, in the level's own sectors.
    pub lookups: u32,
    /// Of these, hits.
    pub hits: u32,
}

/// The caches of all SMs.
pub struct Level1 {
    rules: RulesOf1,
    kind: Kind,
    by_sm: BySm,
}

/// By the form of the arrays.
enum Kind {
    /// A set to an SM.
    Full(FullCache),
    General {
        config: Box<L1Config>,
        ways: u32,
        sms: Vec<Option<General>>,
    },
}

/// The cache of one SM, of any form.
struct General {
    cache: SectorCache,
    /// A cache of its own for the read-only path, fully associative.
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
    /// Empty caches with `lines` lines each (see [`L1Config::lines`]).
    pub fn new(config: &L1Config, lines: u32) -> Level1 {
        let ways = (lines / config.sets).max(1);
        let full = config.sets == 1
            && config.tags_per_line.is_none()
            && config.read_only_bytes.is_none()
            && FullCache::fits(ways, &config.replacement);
        let kind = if full {
            Kind::Full(FullCache::new(0, ways, &config.replacement))
        } else {
            Kind::General { config: Box::new(config.clone()), ways, sms: Vec::new() }
        };
        Level1 { rules: RulesOf1::new(config), kind, by_sm: BySm::default() }
    }

    /// Makes room for so many SMs.
    #[inline]
    pub fn resize(&mut self, count: u32) {
        match &mut self.kind {
            Kind::Full(cache) => cache.resize(count),
            Kind::General { sms, .. } => sms.resize_with(count as usize, || None),
        }
    }

    /// Empties the caches; what the lanes' stacks hold is dead by then and is not written back.
    pub fn clear(&mut self) {
        match &mut self.kind {
            Kind::Full(cache) => cache.clear(),
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

    /// Serves what waits, in order: counts it, and appends to `out` what level 2 has to do.
    pub(super) fn serve_all(
        &mut self,
        queue: &mut Queue,
        lines: &DenseLines,
        cells: &mut TrafficCells,
        out: &mut Leaving,
    ) {
        processor::with_newer_instructions(ServeAll { level: self, queue, lines, cells, out });
    }

    /// Whether pieces that go this way are plain (see [`RulesOf1::plain`]).
    #[inline(always)]
    pub(super) fn plain(&self, route: Route) -> [bool; 2] {
        self.rules.plain(route)
    }

    /// Serves a piece of an SM with the dense number `number`; what level 2 has to do goes to `out`.
    pub fn serve(&mut self, sm: u32, route: Route, piece: &Piece, number: u32, mut out: impl FnMut(ToL2)) -> L1Outcome {
        match &mut self.kind {
            Kind::Full(cache) => OneSm { rules: &self.rules, cache, read_only: None, first_set: sm }
                .serve(route, piece, number, &mut out),
            Kind::General { config, ways, sms } => {
                let General { cache, read_only } = sms[sm as usize].get_or_insert_with(|| General::new(config, *ways));
                let read_only = read_only.as_mut();
                OneSm { rules: &self.rules, cache, read_only, first_set: 0 }.serve(route, piece, number, &mut out)
            }
        }
    }
}

/// Where what a piece asks for goes.
struct Exit<'a> {
    request: &'a Waiting,
    part: &'a Part,
    lines: &'a DenseLines,
    out: &'a mut Leaving,
}

impl Next for Exit<'_> {
    #[inline(always)]
    fn ask(&mut self, request: ToL2) {
        let Waiting { sm, cell, place, .. } = *self.request;
        let Part { line, number, .. } = *self.part;
        let line = if request.number == number { line } else { self.lines.line(request.number) };
        self.out.place = place;
        self.out.push(sm, cell, line, request.sectors, request.ask, request.bytes);
    }
}

struct ServeAll<'a> {
    level: &'a mut Level1,
    queue: &'a mut Queue,
    lines: &'a DenseLines,
    cells: &'a mut TrafficCells,
    out: &'a mut Leaving,
}

impl processor::Job for ServeAll<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let ServeAll { level: Level1 { rules, kind, by_sm }, queue, lines, cells, out } = self;
        let (mut rest, parts, mut masks) = queue.split();
        while let Some(first) = rest.first() {
            let plain = first.plain;
            let count = rest.iter().take_while(|request| request.plain == plain).count();
            let (here, later) = rest.split_at(count);
            rest = later;
            match kind {
                Kind::Full(cache) if plain && cache.is_clean() => {
                    by_sm.serve(here, parts, cache);
                    hand_on(here, parts, &mut masks, rules.stores_hit_lines(), cells, out);
                }
                _ => {
                    for request in here {
                        for part in &parts[request.pieces()] {
                            let piece = Piece { line: part.line, sectors: part.sectors, bytes: masks.next(part) };
                            let exit = Exit { request, part, lines, out };
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

/// Counts plain requests of which it is known what was missing, and hands on what goes to level 2.
#[inline(always)]
fn hand_on(
    mut requests: &[Waiting],
    parts: &[Part],
    masks: &mut Masks<'_>,
    stores_hit_lines: bool,
    cells: &mut TrafficCells,
    out: &mut Leaving,
) {
    while let Some(first) = requests.first() {
        let length = requests.iter().take_while(|request| request.is_like(first)).count();
        let (alike, later) = requests.split_at(length);
        requests = later;
        let mut sum = L1Outcome::default();
        if first.route == Route::Store {
            for request in alike {
                let Waiting { place, sm, cell, .. } = *request;
                out.place = place;
                for part in &parts[request.pieces()] {
                    let there = if part.present { part.sectors } else { 0 };
                    sum.lookups += count(part.sectors);
                    sum.hits += count(if stores_hit_lines { there } else { part.sectors & !part.missing });
                    out.push(sm, cell, part.line, part.sectors, Ask::Store, masks.next(part));
                }
            }
        } else if let Some(out) = out.only_share() {
            for request in alike {
                let Waiting { place, sm, cell, .. } = *request;
                for part in sum.count(&parts[request.pieces()]).filter(|part| part.missing != 0) {
                    out.push(L2Request::whole(place, sm, cell, part.line, part.missing, Ask::Load));
                }
            }
        } else {
            for request in alike {
                let Waiting { place, sm, cell, .. } = *request;
                out.place = place;
                for part in sum.count(&parts[request.pieces()]).filter(|part| part.missing != 0) {
                    out.push(sm, cell, part.line, part.missing, Ask::Load, bytes_of(part.missing));
                }
            }
        }
        cells.cell(first.cell).l1.count(first.route.is_load(), sum.lookups, sum.hits);
    }
}

impl L1Outcome {
    /// Hands the pieces of a plain request on, counting them.
    #[inline(always)]
    fn count<'a>(&mut self, parts: &'a [Part]) -> impl Iterator<Item = &'a Part> {
        parts.iter().inspect(|part| {
            self.lookups += count(part.sectors);
            self.hits += count(part.sectors & !part.missing);
        })
    }
}

/// Serves a piece by itself.
#[inline(never)]
fn serve_one(rules: &RulesOf1, kind: &mut Kind, piece: &Piece, mut exit: Exit<'_>) -> L1Outcome {
    let (sm, route, number) = (exit.request.sm, exit.request.route, exit.part.number);
    match kind {
        Kind::Full(cache) => {
            OneSm { rules, cache, read_only: None, first_set: u32::from(sm) }.serve(route, piece, number, &mut exit)
        }
        Kind::General { config, ways, sms } => {
            let General { cache, read_only } = sms[usize::from(sm)].get_or_insert_with(|| General::new(config, *ways));
            OneSm { rules, cache, read_only: read_only.as_mut(), first_set: 0 }.serve(route, piece, number, &mut exit)
        }
    }
}
