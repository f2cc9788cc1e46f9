//! Combines warps of 32 lanes to waves of 64.
//!
//! Execution is 32 lanes wide. For a model with waves of 64 lanes, warps `2k` and `2k + 1` of a block are the halves of
//! a wave. The n-th requests of both halves since the last barrier form one request of the wave if they have the same
//! instruction and call context. Otherwise, each half makes a separate request, as when the lanes of a wave diverge.

use std::collections::VecDeque;

use warpline_format::access::{Access, Addresses, Space};

use crate::attribution::ContextId;

/// Maximum number of requests by which one half may be ahead of the other. An issue slot of the scheduler is much
/// shorter.
const MOST_AHEAD: usize = 256;

/// A request that waits for the request of the other half.
#[derive(Clone, Debug)]
pub(super) struct PendingRequest {
    pub(super) slot: u32,
    pub(super) context: ContextId,
    site: u32,
    space: Space,
    mask: u32,
    addresses: PendingAddresses,
}

#[derive(Clone, Debug)]
enum PendingAddresses {
    Uniform(u64),
    Affine([u64; 2], i32),
    Delta(u64, Vec<u8>),
    Full(Vec<u8>),
}

impl PendingRequest {
    fn new(access: &Access<'_>, slot: u32, context: ContextId) -> PendingRequest {
        let addresses = match access.addresses {
            Addresses::Uniform(address) => PendingAddresses::Uniform(address),
            Addresses::Affine { bases, stride } => PendingAddresses::Affine(bases, stride),
            Addresses::Delta(base, deltas) => PendingAddresses::Delta(base, deltas.to_vec()),
            Addresses::Full(addresses) => PendingAddresses::Full(addresses.to_vec()),
        };
        PendingRequest { slot, context, site: access.site, space: access.space, mask: access.mask, addresses }
    }

    pub(super) fn access(&self) -> Access<'_> {
        let addresses = match &self.addresses {
            PendingAddresses::Uniform(address) => Addresses::Uniform(*address),
            PendingAddresses::Affine(bases, stride) => Addresses::Affine { bases: *bases, stride: *stride },
            PendingAddresses::Delta(base, deltas) => Addresses::Delta(*base, deltas),
            PendingAddresses::Full(addresses) => Addresses::Full(addresses),
        };
        Access { site: self.site, space: self.space, mask: self.mask, addresses }
    }
}

/// The result of pairing requests.
#[derive(Debug)]
pub(super) enum WaveRequest {
    /// A request of one half only.
    Half(PendingRequest),
    /// A request of both halves, with the even warp first.
    Whole(PendingRequest, PendingRequest),
}

/// The waves of a launch.
#[derive(Debug, Default)]
pub(super) struct Waves {
    /// Indexed by slot of the even warp: pending requests of the half that is ahead.
    ahead: Vec<VecDeque<PendingRequest>>,
}

/// Returns the slot of the even warp of a slot's wave, and whether the wave has an odd warp.
fn wave(slot: u32, warps: u32) -> (usize, bool) {
    let number = slot % warps.max(1);
    let even = slot - number % 2;
    (even as usize, number % 2 == 1 || number + 1 < warps)
}

impl Waves {
    fn queue(&mut self, even: usize) -> &mut VecDeque<PendingRequest> {
        if self.ahead.len() <= even {
            self.ahead.resize_with(even + 1, VecDeque::new);
        }
        &mut self.ahead[even]
    }

    /// Adds a request of a warp; blocks have `warps` warps.
    pub(super) fn request(
        &mut self,
        access: &Access<'_>,
        slot: u32,
        warps: u32,
        context: ContextId,
        mut made: impl FnMut(WaveRequest),
    ) {
        let held = PendingRequest::new(access, slot, context);
        let (even, whole) = wave(slot, warps);
        if !whole {
            return made(WaveRequest::Half(held));
        }
        let queue = self.queue(even);
        if queue.front().is_none_or(|front| front.slot == slot) {
            queue.push_back(held);
            if queue.len() > MOST_AHEAD
                && let Some(first) = queue.pop_front()
            {
                made(WaveRequest::Half(first));
            }
            return;
        }
        let Some(other) = queue.pop_front() else { return };
        if (other.site, other.space, other.context) == (held.site, held.space, held.context) {
            made(if other.slot < slot { WaveRequest::Whole(other, held) } else { WaveRequest::Whole(held, other) });
        } else {
            made(WaveRequest::Half(other));
            made(WaveRequest::Half(held));
        }
    }

    /// Records that a warp reaches a barrier. Earlier requests of the other half can no longer be paired.
    pub(super) fn barrier(&mut self, slot: u32, warps: u32, mut made: impl FnMut(WaveRequest)) {
        let (even, _) = wave(slot, warps);
        let queue = self.queue(even);
        if queue.front().is_some_and(|front| front.slot != slot) {
            queue.drain(..).for_each(|held| made(WaveRequest::Half(held)));
        }
    }

    /// Records that the blocks in these slots have ended.
    pub(super) fn over(&mut self, first: u32, count: u32, mut made: impl FnMut(WaveRequest)) {
        let end = self.ahead.len().min(first as usize + count as usize);
        for queue in self.ahead.get_mut(first as usize..end).into_iter().flatten() {
            queue.drain(..).for_each(|held| made(WaveRequest::Half(held)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(site: u32, address: u64) -> Access<'static> {
        Access { site, space: Space::Global, mask: 1, addresses: Addresses::Uniform(address) }
    }

    fn described(made: WaveRequest) -> String {
        let one = |held: &PendingRequest| format!("{}@{}", held.site, held.slot);
        match made {
            WaveRequest::Half(held) => one(&held),
            WaveRequest::Whole(even, odd) => format!("{}+{}", one(&even), one(&odd)),
        }
    }

    #[test]
    fn the_nth_requests_of_both_halves_are_one() {
        let mut waves = Waves::default();
        let mut all = Vec::new();
        // A block has three warps: slots 3 and 4 form a wave, and 5 is alone. Slot 3 is the even warp, although 4 comes
        // first.
        for (slot, site) in [(4, 1), (4, 2), (3, 1), (5, 9), (3, 7), (3, 8)] {
            waves.request(&access(site, 0), slot, 3, 0, |made| all.push(described(made)));
        }
        assert_eq!(all, ["1@3+1@4", "9@5", "2@4", "7@3"]);
        all.clear();
        // Warp 3 is ahead and stays ahead at its own barrier. The other warp's barrier ends this.
        waves.barrier(3, 3, |made| all.push(described(made)));
        assert!(all.is_empty());
        waves.barrier(4, 3, |made| all.push(described(made)));
        assert_eq!(all, ["8@3"]);
        all.clear();
        waves.request(&access(5, 0), 4, 3, 0, |made| all.push(described(made)));
        waves.over(3, 3, |made| all.push(described(made)));
        assert_eq!(all, ["5@4"]);
    }

    #[test]
    fn contexts_and_spaces_are_kept_apart() {
        let mut waves = Waves::default();
        let mut all = Vec::new();
        waves.request(&access(1, 0), 0, 2, 1, |made| all.push(described(made)));
        waves.request(&access(1, 0), 1, 2, 2, |made| all.push(described(made)));
        assert_eq!(all, ["1@0", "1@1"]);
    }
}
