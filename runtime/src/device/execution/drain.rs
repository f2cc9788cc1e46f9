//! Moves items from the buffers of warps to the batch that becomes part of the trace.

use super::items::{Places, take};
use super::scheduled::{BATCH_SPARE, Scheduled};
use super::slot::{Hot, flags};
use warpline_format::access::{Kind, SITE_BITS, item_bytes, requests_of};
use warpline_format::rendezvous::Rendezvous;
use warpline_format::schedule::TurnEnd;

impl Scheduled<'_> {
    /// Moves the rest of a split access to the batch, one request per item.
    #[cold]
    pub(super) fn drain_rest(&mut self, index: usize, requests: &mut u32) {
        let rest = &mut self.cold[index].rest;
        while !rest.is_empty() && *requests > 0 {
            let length = item_length(rest);
            self.arena.batch.extend_from_slice(&rest[..length]);
            let head = rest.first_chunk().map_or(0, |head| u32::from_le_bytes(*head));
            rest.drain(..length);
            *requests = requests.saturating_sub(requests_of(head));
        }
        if rest.is_empty() {
            self.hot[index].flags &= !flags::REST;
        }
    }

    /// Moves an access that cannot simply be copied.
    #[inline(never)]
    pub(super) fn take_access(&mut self, index: usize, item: *const u8, length: usize) {
        let geometry = &self.plan.geometry;
        // SAFETY: the registry is only read here; the item is complete.
        unsafe {
            let places = Places {
                shared: self.arena.shared(geometry, u64::from(index as u32 / self.warps)) as u64,
                clustered: self.clustered.then(|| geometry.shared_room()),
                local: self.arena.local(geometry, index as u64) as u64,
                local_stride: geometry.local_stride,
                parameters: (*self.running).parameters.clone(),
                registered: self.registered.then(|| &(*(*self.running).memory).registry),
            };
            let rest = &mut self.cold[index].rest;
            take(item, length, &places, &mut self.arena.batch, rest);
            if !rest.is_empty() {
                self.hot[index].flags |= flags::REST;
            }
        }
    }

    /// Moves items of the slot to the batch, until they contain at least `requests` requests or until a barrier.
    /// Returns how the turn ended, or the number of remaining requests if there are no more items.
    #[inline]
    pub(super) fn drain(&mut self, index: usize, mut requests: u32) -> Result<TurnEnd, u32> {
        loop {
            if self.hot[index].flags & flags::REST != 0 {
                self.drain_rest(index, &mut requests);
            }
            if requests == 0 {
                return Ok(TurnEnd::Budget);
            }
            let Hot { read: item, limit, .. } = self.hot[index];
            if item == limit {
                return Err(requests);
            }
            // SAFETY: lowered code writes complete items, up to `limit`; an item has at least eight bytes.
            let first = unsafe { item.cast::<u64>().read() };
            let (head, second) = (first as u32, (first >> 32) as u32);
            let kind = Kind::from_head(head);
            let plain = self.foreign >> ((head >> SITE_BITS) & 0xf) & 1 == 0;
            let length = match kind {
                Some(Kind::Affine) if plain && second & 0xffff != 0 && second >> 16 != 0 => {
                    // SAFETY: an affine item has 32 bytes.
                    let words = unsafe { item.cast::<[u64; 4]>().read() };
                    append(&mut self.arena.batch, words);
                    requests = requests.saturating_sub(requests_of(head));
                    32
                }
                Some(Kind::Uniform | Kind::Even) if plain && second != 0 => {
                    // SAFETY: items of these kinds have 16 bytes.
                    let words = unsafe { item.cast::<[u64; 2]>().read() };
                    append(&mut self.arena.batch, words);
                    requests = requests.saturating_sub(requests_of(head));
                    16
                }
                Some(Kind::Delta) if plain && second != 0 => {
                    let length = item_bytes(head, second).unwrap_or(8);
                    // SAFETY: the item is complete.
                    self.arena.batch.extend_from_slice(unsafe { std::slice::from_raw_parts(item, length) });
                    requests = requests.saturating_sub(requests_of(head));
                    length
                }
                Some(Kind::Barrier) => {
                    append(&mut self.arena.batch, [first]);
                    self.hot[index].read = item.wrapping_add(8);
                    return Ok(turn_end(Rendezvous::from_word(second)));
                }
                Some(Kind::Operation) => {
                    let length = item_bytes(head, second).unwrap_or(8);
                    // SAFETY: the item is complete.
                    self.arena.batch.extend_from_slice(unsafe { std::slice::from_raw_parts(item, length) });
                    length
                }
                Some(Kind::Call | Kind::Return) => {
                    append(&mut self.arena.batch, [first]);
                    8
                }
                _ => {
                    let Some(length) = item_bytes(head, second) else {
                        debug_assert!(false, "lowered code wrote the unknown item {head:#x}");
                        self.hot[index].read = limit;
                        return Err(requests);
                    };
                    // An access without active lanes is skipped.
                    if second != 0 {
                        self.take_access(index, item, length);
                        requests = requests.saturating_sub(requests_of(head));
                    }
                    length
                }
            };
            self.hot[index].read = item.wrapping_add(length);
        }
    }
}

/// Returns how a turn ends when the warp arrives at a barrier.
pub(super) fn turn_end(meeting: Rendezvous) -> TurnEnd {
    if meeting == Rendezvous::BLOCK { TurnEnd::Barrier } else { TurnEnd::Named(meeting) }
}

/// Appends words to the batch.
#[inline(always)]
fn append<const N: usize>(batch: &mut Vec<u8>, words: [u64; N]) {
    if batch.capacity() - batch.len() < 8 * N {
        batch.reserve(BATCH_SPARE);
    }
    // SAFETY: the capacity was reserved; the size of an item is a multiple of 8 bytes, and the memory may be unaligned.
    unsafe {
        batch.as_mut_ptr().add(batch.len()).cast::<[u64; N]>().write_unaligned(words);
        batch.set_len(batch.len() + 8 * N);
    }
}

/// Returns the length of the first of several complete items.
fn item_length(items: &[u8]) -> usize {
    let word = |at: usize| items.get(at..at + 4).map_or(0, |w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]));
    item_bytes(word(0), word(4)).unwrap_or(items.len()).min(items.len())
}
