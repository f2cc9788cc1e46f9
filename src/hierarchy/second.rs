//! What happens behind the SMs.

use super::cache::LineCache;
use super::config::HierarchyConfig;
use super::dense::DenseLines;
use super::engine::{SumOf, Traffic};
use super::leaving::{L2Request, Outgoing};
use super::level1::Ask;
use super::level2::{L2Outcome, Level2, Level2Of, Lookup, Visit};
use super::processor;
use super::slices::Shares;

/// Requests that are split, and whose memory is asked for, before the first of them is served.
const AHEAD: usize = 16;

/// Level 2 and DRAM, or one share of them.
pub struct SecondLevel {
    level: Level2,
    lines: DenseLines,
    lookups: Vec<Lookup>,
}

impl SecondLevel {
    /// For a model.
    pub fn new(config: &HierarchyConfig) -> SecondLevel {
        let level = Level2::new(&config.l2, config.dram);
        SecondLevel { level, lines: DenseLines::default(), lookups: Vec::new() }
    }

    /// Serves what left the SMs, in the order of its places. Each part is in that order; no place is in two parts.
    pub fn serve(&mut self, parts: &[&Outgoing], sums: &mut impl SumOf) {
        let SecondLevel { level, lines, lookups } = self;
        level.visit(Serve { lines, lookups, parts, sums });
    }

    /// A copy wrote device memory; see [`Level2::copied`]. What lies in another share is left alone.
    pub fn copied(&mut self, address: u64, bytes: u64, warm: bool, shares: Shares, share: u32) {
        self.level.copied(address, bytes, warm, &mut self.lines, |set| shares.of(set) == share);
    }
}

#[inline(always)]
fn add(traffic: &mut Traffic, ask: Ask, outcome: &L2Outcome) {
    traffic.l2.count(ask == Ask::Load, outcome.lookups, outcome.hits);
    traffic.l2_allocated += u64::from(outcome.allocated);
    traffic.l2_far += u64::from(outcome.far);
    traffic.dram_reads += u64::from(outcome.dram_reads);
    traffic.dram_writes += u64::from(outcome.dram_writes);
}

struct Serve<'a, S> {
    lines: &'a mut DenseLines,
    lookups: &'a mut Vec<Lookup>,
    parts: &'a [&'a Outgoing],
    sums: &'a mut S,
}

impl<S: SumOf> Visit for Serve<'_, S> {
    type Output = ();

    #[inline(always)]
    fn visit<C: LineCache>(self, level: &mut Level2Of<C>) {
        processor::with_newer_instructions(ServeOn { level, serve: self });
    }
}

struct ServeOn<'a, 'b, C, S> {
    level: &'a mut Level2Of<C>,
    serve: Serve<'b, S>,
}

impl<C: LineCache, S: SumOf> processor::Job for ServeOn<'_, '_, C, S> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let parts = self.serve.parts;
        let mut rest: Vec<&[L2Request]> = parts.iter().map(|part| part.requests()).collect();
        loop {
            // The part whose place is lowest goes on until another part's turn.
            let (mut first, mut next) = (None, u32::MAX);
            for (part, requests) in rest.iter().enumerate() {
                let Some(request) = requests.first() else { continue };
                match first {
                    Some((_, place)) if place < request.place => next = next.min(request.place),
                    Some((_, place)) => {
                        next = next.min(place);
                        first = Some((part, request.place));
                    }
                    None => first = Some((part, request.place)),
                }
            }
            let Some((part, _)) = first else { return };
            let mut stretch = rest[part];
            if next != u32::MAX {
                let end = stretch.iter().position(|request| request.place >= next).unwrap_or(stretch.len());
                stretch = &stretch[..end.max(1)];
            }
            rest[part] = &rest[part][stretch.len()..];
            for requests in stretch.chunks(AHEAD) {
                self.some(part, parts[part], requests);
            }
        }
    }
}

impl<C: LineCache, S: SumOf> ServeOn<'_, '_, C, S> {
    /// Serves a few requests of one part.
    #[inline(always)]
    fn some(&mut self, part: usize, from: &Outgoing, requests: &[L2Request]) {
        let (level, Serve { lines, lookups, sums, .. }) = (&mut *self.level, &mut self.serve);
        lookups.clear();
        for (index, request) in requests.iter().enumerate() {
            let Some(number) = lines.number(request.line) else { continue };
            let near = level.partition_of_sm(u32::from(request.sm));
            let L2Request { line, sectors, ask, .. } = *request;
            level.split(near, line, number, sectors, ask, index as u32, lookups);
        }
        // Neighbours often count in one cell.
        let mut sum = L2Outcome::default();
        let mut into = (0, Ask::Load);
        for lookup in lookups.iter() {
            let Some(request) = requests.get(lookup.request as usize) else { continue };
            if into != (request.cell, request.ask) {
                if sum.lookups != 0 {
                    add(sums.sum(part, into.0), into.1, &sum);
                    sum = L2Outcome::default();
                }
                into = (request.cell, request.ask);
            }
            let bytes = if request.ask == Ask::Store { from.bytes(request) } else { 0 };
            level.look_up(lookup, bytes, &mut sum);
        }
        if sum.lookups != 0 {
            add(sums.sum(part, into.0), into.1, &sum);
        }
    }
}
