//! Counts equal requests of a site, or of a bundle, to shared memory together.
//!
//! In the inner loop of a tiled kernel, a site accesses shared memory millions of times with the same lanes, the same
//! stride, and addresses that differ by whole lines. The cell and the cost of such requests are the same, so only their
//! number must be counted.

use warpline_format::access::{Access, Addresses, Space};

use crate::attribution::ContextId;
use warpline_simulator::geometry::{BankRules, LINE_BYTES};

/// Addresses below this value cannot wrap, whatever the stride.
const SMALL: u64 = 1 << 40;

/// The form of the last request, and the number of following requests that are equal.
#[derive(Clone, Copy, Default)]
pub(super) struct Alike {
    /// Epoch of the worker; 0 if there is no request.
    epoch: u64,
    context: ContextId,
    mask: u32,
    stride: i32,
    start: u64,
    halves: u64,
    pending: u64,
    /// Whether the worker's list of pending requests contains it.
    listed: bool,
}

/// The shifts of addresses that do not change the cost.
#[derive(Clone, Copy)]
pub(super) struct Shifts(u64);

impl Shifts {
    pub(super) fn new(banks: &BankRules) -> Shifts {
        Shifts(LINE_BYTES.max(u64::from(banks.shared_period())) - 1)
    }
}

/// Requests that are not counted yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) requests: u64,
    /// Number of lanes per request.
    pub(super) lanes: u32,
}

/// Returns the base addresses and the stride, if the addresses have one.
#[inline(always)]
fn evenly(access: &Access<'_>) -> Option<([u64; 2], i32)> {
    match access.addresses {
        Addresses::Affine { bases, stride } => Some((bases, stride)),
        Addresses::Uniform(address) => Some(([address; 2], 0)),
        _ => None,
    }
}

impl Alike {
    /// Registers the request if it equals the last one. Returns `None` if it does not; otherwise, whether the worker
    /// must add it to its list.
    #[inline(always)]
    pub(super) fn again(
        &mut self,
        shifts: Shifts,
        access: &Access<'_>,
        context: ContextId,
        epoch: u64,
    ) -> Option<bool> {
        if access.space != Space::Shared {
            return None;
        }
        let (bases, stride) = evenly(access)?;
        let same = self.epoch == epoch
            && self.context == context
            && self.mask == access.mask
            && self.stride == stride
            && self.start == bases[0] & shifts.0
            && self.halves == bases[1].wrapping_sub(bases[0])
            && bases[0] < SMALL;
        if !same {
            return None;
        }
        self.pending += 1;
        Some(!std::mem::replace(&mut self.listed, true))
    }

    /// Stores the form of a request that was counted separately, or discards the stored form. Pending requests must
    /// have been [taken](Self::take) first.
    #[inline]
    pub(super) fn remember(&mut self, shifts: Shifts, access: &Access<'_>, context: ContextId, epoch: u64) {
        self.epoch = 0;
        let Some((bases, stride)) = evenly(access) else { return };
        let halves = bases[1].wrapping_sub(bases[0]);
        let both = access.mask & 0xffff != 0 && access.mask >> 16 != 0;
        let uniform = matches!(access.addresses, Addresses::Uniform(_));
        let plain = (both || uniform) && stride >= 0 && bases[0] < SMALL && halves < SMALL;
        if access.space == Space::Shared && plain {
            let (start, mask, listed) = (bases[0] & shifts.0, access.mask, self.listed);
            *self = Alike { epoch, context, mask, stride, start, halves, pending: 0, listed };
        }
    }

    /// Returns the pending requests, if any, and resets their number.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Option<Waiting> {
        let requests = std::mem::take(&mut self.pending);
        (requests != 0).then(|| Waiting { requests, lanes: self.mask.count_ones() })
    }

    /// Records that the worker's list was emptied.
    pub(super) fn unlist(&mut self) {
        self.listed = false;
    }
}

#[cfg(test)]
#[path = "alike_tests.rs"]
mod tests;
