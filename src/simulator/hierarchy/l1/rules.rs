//! The behaviour of L1 for a piece of a request, independent of the form of the array.

use super::request::{L1Outcome, Route};
use crate::geometry::sectors::{bytes_of, collapse, count, expand};
use crate::hierarchy::array::Placement;
use crate::hierarchy::array::{LineCache, SectorCache};
use crate::hierarchy::coalesce::Piece;
use crate::hierarchy::config::{Atomics, L1Config, StorePolicy};
use crate::hierarchy::l2::{L2Access, L2Op};

/// The rules of a model.
pub(crate) struct L1Rules {
    placement: Placement,
    /// Lines have 128 bytes and sectors 32.
    usual: bool,
    line_bytes: u32,
    unit: u32,
    store: StorePolicy,
    atomics: Atomics,
}

impl L1Rules {
    pub(crate) fn new(config: &L1Config) -> L1Rules {
        L1Rules {
            placement: Placement::new(1, config.sets, config.index, config.line_bytes),
            usual: config.sector_bytes == 32 && config.line_bytes == 128,
            line_bytes: config.line_bytes,
            unit: config.sector_bytes,
            store: config.store,
            atomics: config.atomics,
        }
    }
}

impl L1Rules {
    /// Returns whether requests with this route are plain: in a clean, fully associative cache, they only determine
    /// which of their sectors are present, and make all of them valid, or record their bytes
    /// ([`L1Rules::keeps_bytes`]).
    #[inline(always)]
    pub(crate) fn plain(&self, route: Route) -> bool {
        let plain = match route {
            Route::Load | Route::ReadOnly | Route::LoadPast | Route::Atomic => true,
            Route::Store => matches!(self.store, StorePolicy::Allocate | StorePolicy::AllocateBytes),
            Route::LocalStore => false,
        };
        self.usual && plain
    }

    /// Returns whether a sector that a store writes partly becomes valid only when all its bytes are written.
    pub(crate) fn keeps_bytes(&self) -> bool {
        self.store == StorePolicy::AllocateBytes
    }

    /// Returns the operation of atomic requests at L2.
    pub(crate) fn atomic(&self) -> L2Op {
        if self.atomics == Atomics::Miss { L2Op::AtomicMiss } else { L2Op::Atomic }
    }

    /// Returns whether a store hits with all its sectors if the line is present, even if the sectors are not valid.
    pub(crate) fn stores_hit_lines(&self) -> bool {
        self.store == StorePolicy::AllocateBytes
    }
}

/// The cache level that serves the requests of L1.
pub(crate) trait NextLevel {
    /// Receives one request.
    fn send(&mut self, request: L2Access);

    /// Receives the dirty data of an evicted line.
    #[inline(always)]
    fn write_back(&mut self, request: L2Access) {
        self.send(request);
    }

    /// Reports that sectors of the piece's line became dirty.
    #[inline(always)]
    fn dirtied(&mut self, _sectors: u8) {}
}

impl<F: FnMut(L2Access)> NextLevel for F {
    #[inline(always)]
    fn send(&mut self, request: L2Access) {
        self(request);
    }
}

/// The cache of one SM.
pub(crate) struct OneSm<'a, C> {
    pub(crate) rules: &'a L1Rules,
    pub(crate) cache: &'a mut C,
    /// Cache of the read-only path, if it is separate.
    pub(crate) read_only: Option<&'a mut SectorCache>,
    /// First set of the SM in the array.
    pub(crate) first_set: u32,
}

impl<C: LineCache> OneSm<'_, C> {
    /// Serves a piece whose line has the dense number `number`; requests to L2 go to `out`.
    #[inline(always)]
    pub(crate) fn serve(mut self, route: Route, piece: &Piece, number: u32, out: &mut impl NextLevel) -> L1Outcome {
        if self.rules.usual {
            match route {
                Route::Load => return self.load(piece, number, out),
                Route::ReadOnly if self.read_only.is_none() => return self.load(piece, number, out),
                Route::Store => return self.store(piece, number, out),
                _ => {}
            }
        }
        self.serve_any(route, piece, number, out)
    }

    /// Returns the set of a line number (address / line size).
    #[inline(always)]
    fn set(&self, line: u64) -> u32 {
        self.first_set + self.rules.placement.set(line)
    }

    /// Serves a cached load in a cache with 128-byte lines and 32-byte sectors.
    #[inline(always)]
    fn load(&mut self, piece: &Piece, number: u32, out: &mut impl NextLevel) -> L1Outcome {
        let set = self.set(piece.line);
        let entry = match self.cache.touch(set, number) {
            Some(entry) => entry,
            None => self.allocate(set, number, out),
        };
        let missing = piece.sectors & !self.cache.valid(entry);
        if missing != 0 {
            self.cache.take_partial(set, number, missing, |_, _| ());
            self.cache.fill(entry, missing);
            out.send(L2Access { op: L2Op::Load, number, sectors: missing, bytes: bytes_of(missing) });
        }
        L1Outcome { lookups: count(piece.sectors), hits: count(piece.sectors & !missing) }
    }

    /// Serves a store to global memory in a cache with 128-byte lines and 32-byte sectors.
    #[inline(always)]
    fn store(&mut self, piece: &Piece, number: u32, out: &mut impl NextLevel) -> L1Outcome {
        let Piece { sectors, bytes, .. } = *piece;
        let set = self.set(piece.line);
        let hits = match self.rules.store {
            StorePolicy::Evict => {
                self.cache.invalidate(set, number, sectors);
                0
            }
            StorePolicy::Update => {
                self.cache.touch(set, number).map_or(0, |entry| count(sectors & self.cache.valid(entry)))
            }
            StorePolicy::Allocate | StorePolicy::AllocateBytes => {
                let found = self.cache.touch(set, number);
                let entry = match found {
                    Some(entry) => entry,
                    None => self.allocate(set, number, out),
                };
                let present = sectors & self.cache.valid(entry);
                let rest = sectors & !present;
                if self.rules.store == StorePolicy::Allocate || rest == 0 {
                    self.cache.fill(entry, rest);
                } else if bytes & bytes_of(rest) == bytes_of(rest) {
                    self.cache.take_partial(set, number, rest, |_, _| ());
                    self.cache.fill(entry, rest);
                } else {
                    self.write(set, entry, sectors, bytes);
                }
                match (self.rules.store, found) {
                    (StorePolicy::Allocate, _) => count(present),
                    (_, Some(_)) => count(sectors),
                    (_, None) => 0,
                }
            }
        };
        out.send(L2Access { op: L2Op::Store, number, sectors, bytes });
        L1Outcome { lookups: count(sectors), hits }
    }

    #[inline(never)]
    fn serve_any(&mut self, route: Route, piece: &Piece, number: u32, out: &mut impl NextLevel) -> L1Outcome {
        match route {
            Route::LoadPast => {
                out.send(L2Access { op: L2Op::Load, number, sectors: piece.sectors, bytes: piece.bytes });
                L1Outcome::default()
            }
            Route::Atomic => {
                let op = self.rules.atomic();
                out.send(L2Access { op, number, sectors: piece.sectors, bytes: piece.bytes });
                let lookups =
                    if op == L2Op::AtomicMiss { collapse(piece.sectors, self.rules.unit).count_ones() } else { 0 };
                L1Outcome { lookups, hits: 0 }
            }
            _ if self.rules.line_bytes == 128 => {
                self.part(route, piece.line, number, piece.sectors, piece.bytes, 0, out)
            }
            _ => {
                let sectors_per_line = self.rules.line_bytes / 32;
                let parts = 4 / sectors_per_line;
                let mut sum = L1Outcome::default();
                for part in 0..parts {
                    let shift = part * sectors_per_line;
                    let sectors = piece.sectors >> shift & ((1 << sectors_per_line) - 1);
                    if sectors != 0 {
                        let line = piece.line * u64::from(parts) + u64::from(part);
                        let key = number * parts + part;
                        let bytes = piece.bytes >> (32 * shift);
                        let outcome = self.part(route, line, key, sectors, bytes, shift, out);
                        sum.lookups += outcome.lookups;
                        sum.hits += outcome.hits;
                    }
                }
                sum
            }
        }
    }

    /// Serves sectors of one line of this cache. `shift` is the position of its first sector in the 128-byte line.
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
        out: &mut impl NextLevel,
    ) -> L1Outcome {
        let set = self.set(line);
        let parts = 128 / self.rules.line_bytes;
        let number = key / parts;
        let to_l2 = |op, sectors: u8, bytes: u128| L2Access {
            op,
            number,
            sectors: sectors << shift,
            bytes: if shift == 0 { bytes } else { bytes << (32 * shift) },
        };
        let wanted = collapse(sectors, self.rules.unit);
        let lookups = wanted.count_ones();
        match route {
            Route::ReadOnly if self.read_only.is_some() => {
                let Some(cache) = &mut self.read_only else { return L1Outcome::default() };
                let present = cache.touch(0, key);
                let entry = present.unwrap_or_else(|| cache.allocate(0, key).0);
                let missing = wanted & !readable(cache.valid(entry), self.rules.unit);
                if missing != 0 {
                    let fill = expand(missing, self.rules.unit);
                    cache.fill(entry, fill);
                    out.send(to_l2(L2Op::Load, fill, bytes_of(fill)));
                }
                L1Outcome { lookups, hits: lookups - missing.count_ones() }
            }
            Route::Load | Route::ReadOnly | Route::LoadPast => {
                let entry = match self.cache.touch(set, key) {
                    Some(entry) => entry,
                    None => self.allocate(set, key, out),
                };
                let missing = wanted & !readable(self.cache.valid(entry), self.rules.unit);
                if missing != 0 {
                    let fill = expand(missing, self.rules.unit);
                    self.cache.take_partial(set, key, fill, |_, _| ());
                    self.cache.fill(entry, fill);
                    out.send(to_l2(L2Op::Load, fill, bytes_of(fill)));
                }
                L1Outcome { lookups, hits: lookups - missing.count_ones() }
            }
            Route::Store | Route::Atomic => {
                let present = if self.rules.store == StorePolicy::Evict { None } else { self.cache.touch(set, key) };
                let hits = match self.rules.store {
                    StorePolicy::Evict => {
                        self.cache.invalidate(set, key, expand(wanted, self.rules.unit));
                        0
                    }
                    StorePolicy::Update => present
                        .map_or(0, |entry| (wanted & readable(self.cache.valid(entry), self.rules.unit)).count_ones()),
                    StorePolicy::Allocate => {
                        let entry = present.unwrap_or_else(|| self.allocate(set, key, out));
                        let hits = (wanted & readable(self.cache.valid(entry), self.rules.unit)).count_ones();
                        self.cache.fill(entry, expand(wanted, self.rules.unit));
                        hits
                    }
                    StorePolicy::AllocateBytes => {
                        let entry = present.unwrap_or_else(|| self.allocate(set, key, out));
                        self.write(set, entry, sectors, bytes);
                        if present.is_some() { lookups } else { 0 }
                    }
                };
                out.send(to_l2(L2Op::Store, sectors, bytes));
                L1Outcome { lookups, hits }
            }
            Route::LocalStore => {
                let entry = match self.cache.touch(set, key) {
                    Some(entry) => entry,
                    None => self.allocate(set, key, out),
                };
                let hits = if self.rules.store == StorePolicy::Allocate {
                    let hits = (wanted & readable(self.cache.valid(entry), self.rules.unit)).count_ones();
                    self.cache.fill(entry, expand(wanted, self.rules.unit));
                    hits
                } else {
                    self.write(set, entry, sectors, bytes)
                };
                self.cache.mark_dirty(entry, sectors);
                out.dirtied(sectors << shift);
                L1Outcome { lookups, hits }
            }
        }
    }

    /// Stores bytes; returns the lookups that found a part of each of their sectors.
    fn write(&mut self, set: u32, entry: usize, sectors: u8, bytes: u128) -> u32 {
        let mut unknown = 0;
        for sector in 0..4 {
            if sectors >> sector & 1 == 1
                && !self.cache.write_bytes(set, entry, sector, (bytes >> (32 * sector)) as u32)
            {
                unknown |= 1 << sector;
            }
        }
        collapse(sectors, self.rules.unit).count_ones() - collapse(unknown, self.rules.unit).count_ones()
    }

    /// Allocates a line; an evicted dirty line goes to L2.
    #[inline(always)]
    fn allocate(&mut self, set: u32, key: u32, out: &mut impl NextLevel) -> usize {
        let (entry, evicted) = self.cache.allocate(set, key);
        if let Some(evicted) = evicted
            && (evicted.dirty != 0 || self.cache.is_partial())
        {
            let mut bytes = bytes_of(evicted.dirty);
            self.cache.take_partial(set, evicted.key, 15, |sector, known| {
                bytes &= !(0xffff_ffff << (32 * sector));
                bytes |= u128::from(known) << (32 * sector);
            });
            if evicted.dirty != 0 {
                let parts = 128 / self.rules.line_bytes;
                let shift = (evicted.key % parts) * (self.rules.line_bytes / 32);
                let bytes = bytes & bytes_of(evicted.dirty);
                out.write_back(L2Access {
                    op: L2Op::Store,
                    number: evicted.key / parts,
                    sectors: evicted.dirty << shift,
                    bytes: bytes << (32 * shift),
                });
            }
        }
        entry
    }
}

/// Returns the lookup units whose sectors are all valid.
#[inline]
fn readable(valid: u8, unit: u32) -> u8 {
    match unit {
        32 => valid,
        64 => u8::from(valid & 3 == 3) | u8::from(valid & 12 == 12) << 1,
        _ => u8::from(valid & 15 == 15),
    }
}
