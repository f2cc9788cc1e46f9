//! Serves requests SM by SM.
//!
//! SMs alternate in the trace. If requests were served in that order, the array of an SM would leave the host's nearest
//! cache between its requests. SMs are independent at L1, so the result is the same in any order of SMs as long as the
//! requests of each SM stay in order.

use super::queue::{Masks, QueuedPiece, QueuedRequest};
use super::request::Route;
use super::rules::L1Rules;
use crate::hierarchy::array::{FullCache, One, OneRecency, Recency, Tree};

/// Number of requests below which sorting is not worthwhile.
const FEW: usize = 64;

/// Sorts and serves requests; reuses its buffers.
#[derive(Clone, Debug, Default)]
pub(crate) struct BySm {
    /// Numbers of the requests, grouped by SM.
    sorted: Vec<u32>,
    /// Per SM: the position of its next request in `sorted`.
    ends: Vec<u32>,
}

impl BySm {
    /// Serves plain requests (see [`L1Rules::plain`]) in a clean cache, and records the missing sectors of each piece.
    #[inline(always)]
    pub(crate) fn serve(
        &mut self,
        requests: &[QueuedRequest],
        parts: &mut [QueuedPiece],
        masks: Masks<'_>,
        rules: &L1Rules,
        cache: &mut FullCache,
    ) {
        let masks = rules.keeps_bytes().then_some(masks);
        if masks.is_some_and(|masks| !masks.is_empty()) {
            cache.record_bytes();
        }
        if requests.len() < FEW {
            for request in requests {
                serve_sm(cache.one(u32::from(request.sm)), &[0], std::slice::from_ref(request), parts, masks);
            }
            return;
        }
        let BySm { sorted, ends } = self;
        sorted.resize(requests.len(), 0);
        ends.clear();
        ends.resize(cache.sets() as usize, 0);
        sort(requests, ends, sorted);
        let mut start = 0;
        for (sm, &end) in (0..).zip(&*ends) {
            if let Some(here) = sorted.get(start..end as usize).filter(|here| !here.is_empty()) {
                serve_sm(cache.one(sm), here, requests, parts, masks);
            }
            start = end as usize;
        }
    }
}

/// Sorts requests by SM. `ends` must be zero; afterwards, it contains the end of each SM's requests.
#[inline(always)]
fn sort(requests: &[QueuedRequest], ends: &mut [u32], sorted: &mut [u32]) {
    for request in requests {
        ends[usize::from(request.sm)] += 1;
    }
    let mut sum = 0;
    for end in ends.iter_mut() {
        sum += std::mem::replace(end, sum);
    }
    for (number, request) in (0..).zip(requests) {
        let end = &mut ends[usize::from(request.sm)];
        sorted[*end as usize] = number;
        *end += 1;
    }
}

/// Serves requests of one SM. `masks` are the bytes of partly written sectors if the model records them.
#[inline(always)]
fn serve_sm(
    (one, recency): (One<'_>, OneRecency<'_>),
    numbers: &[u32],
    requests: &[QueuedRequest],
    parts: &mut [QueuedPiece],
    masks: Option<Masks<'_>>,
) {
    match recency {
        OneRecency::Ring(ring) => serve_with(one, ring, numbers, requests, parts, masks),
        OneRecency::Tree(Tree { shape, bytes }) => match shape.steps() {
            2 => serve_with(one, Tree::<2> { shape, bytes }, numbers, requests, parts, masks),
            3 => serve_with(one, Tree::<3> { shape, bytes }, numbers, requests, parts, masks),
            4 => serve_with(one, Tree::<4> { shape, bytes }, numbers, requests, parts, masks),
            _ => serve_with(one, Tree::<0> { shape, bytes }, numbers, requests, parts, masks),
        },
    }
}

#[inline(always)]
fn serve_with(
    mut one: One<'_>,
    mut recency: impl Recency,
    numbers: &[u32],
    requests: &[QueuedRequest],
    parts: &mut [QueuedPiece],
    masks: Option<Masks<'_>>,
) {
    for &number in numbers {
        let request = &requests[number as usize];
        let parts = &mut parts[request.pieces()];
        match (request.route, masks) {
            (Route::LoadPast | Route::Atomic, _) => {}
            (Route::Store, Some(masks)) => {
                for part in parts {
                    if part.is_whole() {
                        let (missing, present) = one.lookup_or_allocate(part.number, part.sectors, &mut recency);
                        part.found(missing, present);
                    } else {
                        let present = one.write(part.number, part.sectors, masks.of(part), &mut recency);
                        part.found(part.sectors, present);
                    }
                }
            }
            _ => {
                for part in parts {
                    let (missing, present) = one.lookup_or_allocate(part.number, part.sectors, &mut recency);
                    part.found(missing, present);
                }
            }
        }
    }
}
