//! Simulates L2 and DRAM.

use super::egress::{EgressQueue, L2Request};
use super::level2::{Level2, Level2Of, Lookup, MOST_PARTS, Visit};
use super::request::{L2Op, L2Outcome};
use super::rules::WholeSum;
use super::written::Written;
use crate::hierarchy::array::LookupOrAllocate;
use crate::hierarchy::array::Shares;
use crate::hierarchy::config::HierarchyConfig;
use crate::hierarchy::dense::DenseLines;
use crate::hierarchy::traffic::{SumOf, Traffic};
use crate::simd::processor;

/// Number of requests that are split and prefetched before the first of them is served.
const AHEAD: usize = 16;
const _: () = assert!(MOST_PARTS * AHEAD <= WholeSum::MOST);

/// L2 and DRAM, or one share of them.
pub struct SecondLevel {
    level: Level2,
    lines: DenseLines,
}

impl SecondLevel {
    /// Creates a `SecondLevel` for a model.
    pub fn new(config: &HierarchyConfig) -> SecondLevel {
        let level = Level2::new(&config.l2, config.dram);
        SecondLevel { level, lines: DenseLines::default() }
    }

    /// Serves the requests that left the SMs, in the order of their positions in the trace. Each part is sorted by
    /// position; no position occurs in two parts.
    pub fn serve(&mut self, parts: &[&EgressQueue], sums: &mut impl SumOf) {
        let SecondLevel { level, lines } = self;
        level.visit(Serve { lines, parts, sums });
    }

    /// Updates the cache after a copy wrote device memory; see [`Level2::copied`]. Sets of other shares are not
    /// changed.
    pub fn copied(&mut self, written: &Written, warm: bool, shares: Shares, share: u32) {
        self.level.copied(written, warm, &mut self.lines, |set| shares.share(set) == share);
    }
}

/// Adds the outcome of one request.
#[inline(always)]
pub(crate) fn add(traffic: &mut Traffic, op: L2Op, outcome: &L2Outcome) {
    traffic.l2.count(op == L2Op::Load, outcome.lookups, outcome.hits);
    traffic.l2_allocated += u64::from(outcome.allocated);
    traffic.l2_far += u64::from(outcome.far);
    traffic.dram_reads += u64::from(outcome.dram_reads);
    traffic.dram_writes += u64::from(outcome.dram_writes);
}

struct Serve<'a, S> {
    lines: &'a mut DenseLines,
    parts: &'a [&'a EgressQueue],
    sums: &'a mut S,
}

impl<S: SumOf> Visit for Serve<'_, S> {
    type Output = ();

    #[inline(always)]
    fn visit<C: LookupOrAllocate, const PARTS_LOG: u32>(self, level: &mut Level2Of<C>) {
        processor::with_newer_instructions(ServeOn::<C, S, PARTS_LOG> { level, serve: self });
    }
}

struct ServeOn<'a, 'b, C, S, const PARTS_LOG: u32> {
    level: &'a mut Level2Of<C>,
    serve: Serve<'b, S>,
}

impl<C: LookupOrAllocate, S: SumOf, const PARTS_LOG: u32> processor::Job for ServeOn<'_, '_, C, S, PARTS_LOG> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let parts = self.serve.parts;
        let mut rest: Vec<&[L2Request]> = parts.iter().map(|part| part.requests()).collect();
        loop {
            // The part with the lowest position is served until another part has a lower one.
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

impl<C: LookupOrAllocate, S: SumOf, const PARTS_LOG: u32> ServeOn<'_, '_, C, S, PARTS_LOG> {
    /// Serves a few requests of one part.
    #[inline(always)]
    fn some(&mut self, part: usize, from: &EgressQueue, requests: &[L2Request]) {
        let (level, Serve { lines, sums, .. }) = (&mut *self.level, &mut self.serve);
        let mut lookups = [Lookup::default(); MOST_PARTS * AHEAD];
        // Ends of each request's lookups.
        let mut ends = [0; AHEAD];
        let mut end = 0;
        for (request, place) in requests.iter().zip(&mut ends) {
            // If more lines are touched than can be numbered, requests to further lines are omitted, as at L1.
            if let Some(number) = lines.number(request.line)
                && let Some(room) = lookups.get_mut(end..).and_then(<[Lookup]>::first_chunk_mut)
            {
                end += level.split::<PARTS_LOG>(request.line, number, request.sectors, room);
            }
            *place = end;
        }
        let mut rest = &requests[..requests.len().min(AHEAD)];
        let mut start = 0;
        while let Some(first) = rest.first() {
            // Consecutive requests often have the same operation and cell.
            let count = rest.iter().take_while(|other| (other.cell, other.op) == (first.cell, first.op)).count();
            let (run, later) = rest.split_at(count);
            let ends = &ends[requests.len() - rest.len()..];
            rest = later;
            let end = ends.get(count - 1).copied().unwrap_or(start).max(start);
            let mut sum = L2Outcome::default();
            let here = &lookups[start..end];
            let done = match first.op {
                L2Op::Load => level.look_up_all::<false>(here, &mut sum),
                L2Op::Store if run.iter().all(EgressQueue::is_whole) => level.look_up_all::<true>(here, &mut sum),
                _ => false,
            };
            if !done {
                for (request, end) in run.iter().zip(ends) {
                    let near = level.partition_of_sm(u32::from(request.sm));
                    let bytes = if request.op == L2Op::Store { from.bytes(request) } else { 0 };
                    for lookup in &lookups[start..*end] {
                        level.look_up(near, request.line, lookup, request.op, bytes, &mut sum);
                    }
                    start = *end;
                }
            }
            start = end;
            if sum.lookups != 0 {
                add(sums.sum(part, first.cell), first.op, &sum);
            }
        }
    }
}
