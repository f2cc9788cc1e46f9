//! What did not run, or not to its end.

use std::collections::BTreeMap;

use warpline_format::event::{LaunchId, NotLaunched, StopCause};

/// A launch that ended with an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedLaunch {
    /// Number.
    pub launch: LaunchId,
    /// Its kernel, as numbered by the analysis.
    pub kernel: u32,
    /// CUDA error code.
    pub error: i32,
    /// Why and in which block, where the stream tells it.
    pub stopped: Option<(StopCause, u64)>,
}

/// Everything that is missing in the figures because the program, or the device for it, failed.
#[derive(Clone, Debug, Default)]
pub struct Failures {
    /// In the order of their ends.
    pub launches: Vec<FailedLaunch>,
    /// Launches that did not begin.
    pub not_launched: BTreeMap<NotLaunched, u64>,
}

impl Failures {
    /// Adds launches that did not begin.
    pub(super) fn add_not_launched(&mut self, why: NotLaunched, launches: u64) {
        let sum = self.not_launched.entry(why).or_default();
        *sum = sum.saturating_add(launches);
    }
}
