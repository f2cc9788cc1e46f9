//! Serves pieces SM by SM.
//!
//! SMs take turns in the trace, so in its order each piece would find the array of its SM gone from the host's nearest
//! cache. SMs do not see each other at level 1: in whatever order they are served, each one's pieces in theirs, the
//! outcome is the same.

use super::full::{FullCache, One};
use super::waiting::Waiting;

/// Fewer pieces are not worth sorting.
const FEW: usize = 64;

/// What level 1 has to know of a piece.
#[derive(Clone, Copy, Debug, Default)]
struct Short {
    /// The line's number.
    line: u32,
    /// Place of the piece among all, below [`MOST`], and its sectors, 4 bits above that.
    place: u32,
}

/// Most pieces at a time.
const MOST: usize = 1 << 28;

impl Short {
    #[inline(always)]
    fn new(place: usize, piece: &Waiting) -> Short {
        Short { line: piece.number, place: place as u32 | u32::from(piece.sectors) << MOST.ilog2() }
    }
}

/// Keeps its buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct BySm {
    /// Per piece: sectors that were not present.
    missing: Vec<u8>,
    /// The pieces SM by SM.
    sorted: Vec<Short>,
    /// Per SM: where its next piece goes.
    ends: Vec<u32>,
}

impl BySm {
    /// Serves plain pieces (see [`super::rules1::RulesOf1::plain`]) in a clean cache; returns how many: all, or the first
    /// of a great many. Their missing sectors are [`BySm::missing`].
    #[inline(always)]
    pub(super) fn serve(&mut self, pieces: &[Waiting], cache: &mut FullCache) -> usize {
        let pieces = &pieces[..pieces.len().min(MOST)];
        let BySm { missing, sorted, ends } = self;
        missing.clear();
        missing.resize(pieces.len(), 0);
        if pieces.len() < FEW {
            for (place, piece) in pieces.iter().enumerate() {
                serve_sm(&mut cache.one(u32::from(piece.sm)), &[Short::new(place, piece)], missing);
            }
            return pieces.len();
        }
        sorted.clear();
        sorted.resize(pieces.len(), Short::default());
        ends.clear();
        ends.resize(cache.sets() as usize, 0);
        sort(pieces, ends, sorted);
        let mut start = 0;
        for (sm, &end) in (0..).zip(&*ends) {
            if let Some(here) = sorted.get(start..end as usize).filter(|here| !here.is_empty()) {
                serve_sm(&mut cache.one(sm), here, missing);
            }
            start = end as usize;
        }
        pieces.len()
    }

    /// What was not present of the pieces last served.
    #[inline(always)]
    pub(super) fn missing(&self) -> &[u8] {
        &self.missing
    }
}

/// Puts pieces into the order of their SMs. `ends` are zero, and in the end where each SM's pieces end.
#[inline(always)]
fn sort(pieces: &[Waiting], ends: &mut [u32], sorted: &mut [Short]) {
    for piece in pieces {
        ends[usize::from(piece.sm)] += 1;
    }
    let mut sum = 0;
    for end in ends.iter_mut() {
        sum += std::mem::replace(end, sum);
    }
    for (place, piece) in pieces.iter().enumerate() {
        let end = &mut ends[usize::from(piece.sm)];
        sorted[*end as usize] = Short::new(place, piece);
        *end += 1;
    }
}

/// Serves pieces of one SM.
#[inline(always)]
fn serve_sm(one: &mut One<'_>, pieces: &[Short], missing: &mut [u8]) {
    match one.steps() {
        1 => serve_steps::<1>(one, pieces, missing),
        2 => serve_steps::<2>(one, pieces, missing),
        3 => serve_steps::<3>(one, pieces, missing),
        4 => serve_steps::<4>(one, pieces, missing),
        _ => serve_steps::<0>(one, pieces, missing),
    }
}

/// `STEPS` is [`One::steps`], 0 where that is not known.
#[inline(always)]
fn serve_steps<const STEPS: u32>(one: &mut One<'_>, pieces: &[Short], missing: &mut [u8]) {
    let steps = if STEPS == 0 { one.steps() } else { STEPS };
    for &Short { line, place } in pieces {
        let lacking = one.bring(line, (place >> MOST.ilog2()) as u8, steps);
        missing[place as usize % MOST] = lacking;
    }
}
