//! Keeps the worst bank conflict of a site as an example, which can be shown and evaluated again with other padding.

use warpline_format::access::Access;

use warpline_simulator::geometry::{LINE_BYTES, Width};
use warpline_simulator::metrics::Wavefronts;

/// A request to shared memory with a bank conflict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BankExample {
    /// Number of passes.
    pub passes: u32,
    /// Number of passes if all words were in different banks.
    pub ideal: u32,
    /// Bytes per lane.
    pub bytes: u32,
    /// Active lanes and their addresses, in bytes from the start of the line with the lowest address. A shift by whole
    /// lines does not change banks.
    pub lanes: Vec<(u32, u64)>,
}

impl BankExample {
    /// Replaces the example by a request with a worse conflict. Among equal requests, the one with the smallest
    /// addresses is kept, so the result does not depend on the order.
    pub(super) fn request(&mut self, access: &Access<'_>, width: Width, passes: Wavefronts) {
        let excess = |passes: u32, ideal: u32| passes.saturating_sub(ideal);
        if passes.passes <= passes.ideal || excess(passes.passes, passes.ideal) < excess(self.passes, self.ideal) {
            return;
        }
        let mut lanes = Vec::with_capacity(32);
        access.for_each_lane(|lane, address| lanes.push((lane, address)));
        let low = lanes.iter().map(|(_, address)| *address).min().unwrap_or(0) / LINE_BYTES * LINE_BYTES;
        lanes.iter_mut().for_each(|(_, address)| *address -= low);
        self.keep(BankExample { passes: passes.passes, ideal: passes.ideal, bytes: width.bytes, lanes });
    }

    pub(super) fn keep(&mut self, other: BankExample) {
        let key = |example: &BankExample| {
            (example.passes.saturating_sub(example.ideal), std::cmp::Reverse(example.lanes.clone()))
        };
        if !other.lanes.is_empty() && (self.lanes.is_empty() || key(&other) > key(self)) {
            *self = other;
        }
    }
}
