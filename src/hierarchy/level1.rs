//! The level-1 cache of one SM.

use super::cache::{LineCache, SectorCache};
use super::coalesce::{Piece, bytes_of};
use super::config::{Atomics, L1Config, StorePolicy};
use super::policy::Replacement;
use super::slices::Placement;
use super::units::{collapse, count, expand};

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

/// The cache of one SM.
pub struct Level1 {
    placement: Placement,
    line_bytes: u32,
    unit: u32,
    store: StorePolicy,
    atomics: Atomics,
    cache: SectorCache,
    /// A cache of its own for the read-only path, fully associative.
    read_only: Option<SectorCache>,
}

impl Level1 {
    /// An empty cache with `lines` lines (see [`L1Config::lines`]).
    pub fn new(config: &L1Config, lines: u32) -> Level1 {
        let ways = (lines / config.sets).max(1);
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
        Level1 {
            placement: Placement::new(1, config.sets, config.index, config.line_bytes),
            line_bytes: config.line_bytes,
            unit: config.sector_bytes,
            store: config.store,
            atomics: config.atomics,
            cache,
            read_only,
        }
    }

    /// Empties the cache; what the lanes' stacks hold is dead by then and is not written back.
    pub fn clear(&mut self) {
        self.cache.clear();
        if let Some(cache) = &mut self.read_only {
            cache.clear();
        }
    }

    /// Serves a piece with the dense number `number`; what level 2 has to do goes to `out`.
    #[inline(always)]
    pub fn serve(&mut self, route: Route, piece: &Piece, number: u32, mut out: impl FnMut(ToL2)) -> L1Outcome {
        if self.unit == 32 && self.line_bytes == 128 && (route == Route::Load || self.reads_as_load(route)) {
            return self.load(piece, number, &mut out);
        }
        self.serve_any(route, piece, number, &mut out)
    }

    #[inline(always)]
    fn reads_as_load(&self, route: Route) -> bool {
        route == Route::ReadOnly && self.read_only.is_none()
    }

    /// A cached load, in a cache of usual lines.
    #[inline(always)]
    fn load(&mut self, piece: &Piece, number: u32, out: &mut impl FnMut(ToL2)) -> L1Outcome {
        let set = self.placement.set(piece.line);
        let entry = match self.cache.touch(set, number) {
            Some(entry) => entry,
            None => self.allocate(set, number, out),
        };
        let missing = piece.sectors & !self.cache.valid(entry);
        if missing != 0 {
            self.cache.take_partial(number, missing, |_, _| ());
            self.cache.fill(entry, missing);
            out(ToL2 { ask: Ask::Load, number, sectors: missing, bytes: bytes_of(missing) });
        }
        L1Outcome { lookups: count(piece.sectors), hits: count(piece.sectors & !missing) }
    }

    #[inline]
    fn serve_any(&mut self, route: Route, piece: &Piece, number: u32, mut out: &mut impl FnMut(ToL2)) -> L1Outcome {
        match route {
            Route::LoadPast => {
                out(ToL2 { ask: Ask::Load, number, sectors: piece.sectors, bytes: piece.bytes });
                L1Outcome::default()
            }
            Route::Atomic => {
                let miss = self.atomics == Atomics::Miss;
                let ask = if miss { Ask::AtomicMiss } else { Ask::Atomic };
                out(ToL2 { ask, number, sectors: piece.sectors, bytes: piece.bytes });
                let lookups = if miss { collapse(piece.sectors, self.unit).count_ones() } else { 0 };
                L1Outcome { lookups, hits: 0 }
            }
            _ if self.line_bytes == 128 => {
                self.part(route, piece.line, number, piece.sectors, piece.bytes, 0, &mut out)
            }
            _ => {
                let sectors_per_line = self.line_bytes / 32;
                let parts = 4 / sectors_per_line;
                let mut sum = L1Outcome::default();
                for part in 0..parts {
                    let shift = part * sectors_per_line;
                    let sectors = piece.sectors >> shift & ((1 << sectors_per_line) - 1);
                    if sectors != 0 {
                        let line = piece.line * u64::from(parts) + u64::from(part);
                        let key = number * parts + part;
                        let bytes = piece.bytes >> (32 * shift);
                        let outcome = self.part(route, line, key, sectors, bytes, shift, &mut out);
                        sum.lookups += outcome.lookups;
                        sum.hits += outcome.hits;
                    }
                }
                sum
            }
        }
    }

    /// Serves sectors of one line of this cache. `shift` is the place of its first sector in the
    /// 128-byte line.
    #[inline]
    #[expect(clippy::too_many_arguments, reason = "one call on the hot path")]
    fn part(
        &mut self,
        route: Route,
        line: u64,
        key: u32,
        sectors: u8,
        bytes: u128,
        shift: u32,
        out: &mut impl FnMut(ToL2),
    ) -> L1Outcome {
        let set = self.placement.set(line);
        let parts = 128 / self.line_bytes;
        let number = key / parts;
        let to_l2 = |ask, sectors: u8, bytes: u128| ToL2 {
            ask,
            number,
            sectors: sectors << shift,
            bytes: if shift == 0 { bytes } else { bytes << (32 * shift) },
        };
        let wanted = collapse(sectors, self.unit);
        let lookups = wanted.count_ones();
        match route {
            Route::ReadOnly if self.read_only.is_some() => {
                let Some(cache) = &mut self.read_only else { return L1Outcome::default() };
                let present = cache.touch(0, key);
                let entry = present.unwrap_or_else(|| cache.allocate(0, key).0);
                let missing = wanted & !readable(cache.valid(entry), self.unit);
                if missing != 0 {
                    let fill = expand(missing, self.unit);
                    cache.fill(entry, fill);
                    out(to_l2(Ask::Load, fill, bytes_of(fill)));
                }
                L1Outcome { lookups, hits: lookups - missing.count_ones() }
            }
            Route::Load | Route::ReadOnly | Route::LoadPast => {
                let entry = match self.cache.touch(set, key) {
                    Some(entry) => entry,
                    None => self.allocate(set, key, out),
                };
                let missing = wanted & !readable(self.cache.valid(entry), self.unit);
                if missing != 0 {
                    let fill = expand(missing, self.unit);
                    self.cache.take_partial(key, fill, |_, _| ());
                    self.cache.fill(entry, fill);
                    out(to_l2(Ask::Load, fill, bytes_of(fill)));
                }
                L1Outcome { lookups, hits: lookups - missing.count_ones() }
            }
            Route::Store | Route::Atomic => {
                let present = if self.store == StorePolicy::Evict { None } else { self.cache.touch(set, key) };
                let hits = match self.store {
                    StorePolicy::Evict => {
                        self.cache.invalidate(set, key, expand(wanted, self.unit));
                        0
                    }
                    StorePolicy::Update => {
                        present.map_or(0, |entry| (wanted & readable(self.cache.valid(entry), self.unit)).count_ones())
                    }
                    StorePolicy::Allocate => {
                        let entry = present.unwrap_or_else(|| self.allocate(set, key, out));
                        let hits = (wanted & readable(self.cache.valid(entry), self.unit)).count_ones();
                        self.cache.fill(entry, expand(wanted, self.unit));
                        hits
                    }
                    StorePolicy::AllocateBytes => {
                        let entry = present.unwrap_or_else(|| self.allocate(set, key, out));
                        self.write(entry, sectors, bytes)
                    }
                };
                out(to_l2(Ask::Store, sectors, bytes));
                L1Outcome { lookups, hits }
            }
            Route::LocalStore => {
                let entry = match self.cache.touch(set, key) {
                    Some(entry) => entry,
                    None => self.allocate(set, key, out),
                };
                let hits = if self.store == StorePolicy::Allocate {
                    let hits = (wanted & readable(self.cache.valid(entry), self.unit)).count_ones();
                    self.cache.fill(entry, expand(wanted, self.unit));
                    hits
                } else {
                    self.write(entry, sectors, bytes)
                };
                self.cache.soil(entry, sectors);
                L1Outcome { lookups, hits }
            }
        }
    }

    /// Stores bytes; returns the lookups that found something of each of their sectors.
    fn write(&mut self, entry: usize, sectors: u8, bytes: u128) -> u32 {
        let mut unknown = 0;
        for sector in 0..4 {
            if sectors >> sector & 1 == 1 && !self.cache.write_bytes(entry, sector, (bytes >> (32 * sector)) as u32) {
                unknown |= 1 << sector;
            }
        }
        collapse(sectors, self.unit).count_ones() - collapse(unknown, self.unit).count_ones()
    }

    /// Makes room for a line; a dirty one that leaves goes to level 2.
    #[inline(always)]
    fn allocate(&mut self, set: u32, key: u32, out: &mut impl FnMut(ToL2)) -> usize {
        let (entry, evicted) = self.cache.allocate(set, key);
        if let Some(evicted) = evicted
            && (evicted.dirty != 0 || self.cache.is_partial())
        {
            let mut bytes = bytes_of(evicted.dirty);
            self.cache.take_partial(evicted.key, 15, |sector, known| {
                bytes &= !(0xffff_ffff << (32 * sector));
                bytes |= u128::from(known) << (32 * sector);
            });
            if evicted.dirty != 0 {
                let parts = 128 / self.line_bytes;
                let shift = (evicted.key % parts) * (self.line_bytes / 32);
                let bytes = bytes & bytes_of(evicted.dirty);
                out(ToL2 {
                    ask: Ask::Store,
                    number: evicted.key / parts,
                    sectors: evicted.dirty << shift,
                    bytes: bytes << (32 * shift),
                });
            }
        }
        entry
    }
}

/// Lookup units all of whose sectors can be read.
#[inline]
fn readable(valid: u8, unit: u32) -> u8 {
    match unit {
        32 => valid,
        64 => u8::from(valid & 3 == 3) | u8::from(valid & 12 == 12) << 1,
        _ => u8::from(valid & 15 == 15),
    }
}
