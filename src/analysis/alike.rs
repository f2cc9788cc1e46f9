//! Requests of a site to shared memory that are alike.
//!
//! In the inner loop of a tiled kernel a site asks for shared memory millions of times with the same lanes, the same
//! stride and addresses that differ by whole lines. Where such a request is counted and what it costs is the same
//! each time, so that it is enough to count how often.

use warpline_format::access::{Access, Addresses, Space};

use super::CellId;
use crate::attribution::ContextId;
use crate::metrics::{BankRules, Counters, Footprint, LINE_BYTES, Wavefronts, Width};

/// Addresses below this cannot wrap, whatever the stride.
const SMALL: u64 = 1 << 40;

/// A site's last request to shared memory, and how many more were like it.
#[derive(Clone, Copy, Default)]
pub(super) struct Alike {
    epoch: u64,
    context: ContextId,
    mask: u32,
    stride: i32,
    start: u64,
    halves: u64,
    cell: CellId,
    footprint: Footprint,
    passes: Wavefronts,
    pending: u64,
    /// It is in the worker's list of those that may wait.
    listed: bool,
}

/// Which shifts of addresses change nothing.
#[derive(Clone, Copy)]
pub(super) struct Shifts(u64);

impl Shifts {
    pub(super) fn new(banks: &BankRules) -> Shifts {
        Shifts(LINE_BYTES.max(u64::from(banks.shared_period())) - 1)
    }
}

impl Alike {
    /// Counts the request if it is like the last one. `None`: it is not; else whether the site must be listed now.
    #[inline(always)]
    pub(super) fn again(
        &mut self,
        shifts: Shifts,
        access: &Access<'_>,
        context: ContextId,
        epoch: u64,
    ) -> Option<bool> {
        let Addresses::Affine { bases, stride } = access.addresses else { return None };
        let same = access.space == Space::Shared
            && self.epoch == epoch
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

    /// Remembers a request that was counted by itself. The one before must have been [flushed](Self::flush).
    #[inline]
    #[expect(clippy::too_many_arguments, reason = "a request and what became of it")]
    pub(super) fn remember(
        &mut self,
        shifts: Shifts,
        access: &Access<'_>,
        context: ContextId,
        epoch: u64,
        cell: CellId,
        footprint: Footprint,
        passes: Wavefronts,
    ) {
        let Addresses::Affine { bases, stride } = access.addresses else { return };
        let halves = bases[1].wrapping_sub(bases[0]);
        let both = access.mask & 0xffff != 0 && access.mask >> 16 != 0;
        if access.space == Space::Shared && both && stride >= 0 && bases[0] < SMALL && halves < SMALL {
            let start = bases[0] & shifts.0;
            let mask = access.mask;
            let listed = self.listed;
            *self = Alike { epoch, context, mask, stride, start, halves, cell, footprint, passes, pending: 0, listed };
        }
    }

    /// Requests that wait to be counted?
    #[inline(always)]
    pub(super) fn waits(&self) -> bool {
        self.pending != 0
    }

    /// The worker's list was emptied.
    pub(super) fn unlist(&mut self) {
        self.listed = false;
    }

    /// Hands the waiting requests on; `counters` are those of the cell.
    pub(super) fn flush<'a>(&mut self, width: Width, counters: impl FnOnce(CellId) -> &'a mut Counters) {
        if self.pending != 0 {
            let lanes = self.mask.count_ones();
            counters(self.cell).count_alike(self.pending, lanes, width.useful(), self.footprint, self.passes);
            self.pending = 0;
        }
    }
}

#[cfg(test)]
#[path = "alike_tests.rs"]
mod tests;
