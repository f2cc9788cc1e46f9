//! Settings of the program that do not affect any figure. A GPU accepts them, so the calls return success; the profile
//! names the settings.

use crate::state::runtime::Runtime;
use std::collections::BTreeSet;
use warpline_format::event::Event;

/// L2 persistence: `cudaAccessPolicyWindow`, and the part of L2 that is reserved for it.
pub const PERSISTENCE: &str = "L2 persistence is not modelled: L2 treats all data alike";
/// `cudaLaunchAttributeAccessPolicyWindow`, for streams and launches.
pub const ACCESS_POLICY_WINDOW: i32 = 1;
/// `cudaLimitPersistingL2CacheSize`.
pub const PERSISTING_LIMIT: i32 = 6;

/// The settings that the trace contains.
pub type WithoutEffect = BTreeSet<(&'static str, &'static str)>;

impl Runtime {
    /// Records a setting without effect, once for each function.
    pub fn without_effect(&mut self, function: &'static str, what: &'static str) {
        if self.trace.is_on() && self.without_effect.insert((function, what)) {
            self.trace.event(Event::WithoutEffect { function: function.to_owned(), what: what.to_owned() });
        }
    }

    /// Records an attribute of a stream or launch, if it is a non-empty access policy window.
    pub fn note_attribute(&mut self, function: &'static str, which: i32, value: &[u64; 8]) {
        // The window consists of base address, bytes, hit ratio and properties.
        if which == ACCESS_POLICY_WINDOW && value[1] > 0 {
            self.without_effect(function, PERSISTENCE);
        }
    }

    /// Records a limit of the device.
    pub fn note_limit(&mut self, function: &'static str, which: i32, value: usize) {
        if which == PERSISTING_LIMIT && value > 0 {
            self.without_effect(function, PERSISTENCE);
        }
    }
}
