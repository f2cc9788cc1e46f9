//! The worst bank conflict of a site, as an example that can be shown and tried again with other padding.

use warpline_format::access::Access;

use warpline_simulator::geometry::{LINE_BYTES, Width};
use warpline_simulator::metrics::Wavefronts;

/// A request to shared memory that takes more passes than its words need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BankExample {
    /// Passes that it takes.
    pub passes: u32,
    /// Passes that it would take, if its words lay in different banks.
    pub ideal: u32,
    /// Bytes per lane.
    pub bytes: u32,
    /// Active lanes and their addresses, in bytes from the line that the lowest lies in: a shift by lines changes no bank.
    pub lanes: Vec<(u32, u64)>,
}

impl BankExample {
    /// Takes the request's place if it is worse; of equals the one with the smallest addresses, so that the order in which
    /// they come does not matter.
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
