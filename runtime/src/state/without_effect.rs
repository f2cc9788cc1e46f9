//! Settings that a program makes and that no figure follows. A GPU accepts them, so they return success; the profile
//! names them.

use crate::state::runtime::Runtime;
use std::collections::BTreeSet;
use warpline_format::event::Event;

/// L2 persistence: `cudaAccessPolicyWindow`, and the share of L2 that is set aside for it.
pub const PERSISTENCE: &str = "L2 persistence is not modelled: L2 treats all data alike";
/// `cudaLaunchAttributeAccessPolicyWindow`, for streams and launches.
pub const ACCESS_POLICY_WINDOW: i32 = 1;
/// `cudaLimitPersistingL2CacheSize`.
pub const PERSISTING_LIMIT: i32 = 6;

/// Settings that are in the trace.
pub type WithoutEffect = BTreeSet<(&'static str, &'static str)>;

impl Runtime {
    /// Notes a setting without effect, once for each function.
    pub fn without_effect(&mut self, function: &'static str, what: &'static str) {
        if self.trace.is_on() && self.without_effect.insert((function, what)) {
            self.trace.event(Event::WithoutEffect { function: function.to_owned(), what: what.to_owned() });
        }
    }

    /// Notes an attribute of a stream or launch, if it is a window that is not empty.
    pub fn note_attribute(&mut self, function: &'static str, which: i32, value: &[u64; 8]) {
        // The window: base address, bytes, hit ratio and properties.
        if which == ACCESS_POLICY_WINDOW && value[1] > 0 {
            self.without_effect(function, PERSISTENCE);
        }
    }

    /// Notes a limit of the device.
    pub fn note_limit(&mut self, function: &'static str, which: i32, value: usize) {
        if which == PERSISTING_LIMIT && value > 0 {
            self.without_effect(function, PERSISTENCE);
        }
    }
}
