//! Launches and calls that failed.

use std::collections::{BTreeMap, BTreeSet};

use warpline_format::event::{FailedCall, LaunchId, NotLaunched, StopCause};
use warpline_format::visible;

/// Maximum number of kinds of failed calls that are kept. Further kinds are only counted.
const MOST_CALLS: usize = 10_000;
/// Maximum number of kept settings without effect. The runtime has fewer.
const MOST_SETTINGS: usize = 100;

/// A launch that ended with an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedLaunch {
    /// Number of the launch.
    pub launch: LaunchId,
    /// Number of its kernel in the analysis.
    pub kernel: u32,
    /// CUDA error code.
    pub error: i32,
    /// The cause and the block of the failure, if the stream contains them.
    pub stopped: Option<(StopCause, u64)>,
}

/// Failures of the program or the device, because of which figures are incomplete.
#[derive(Clone, Debug, Default)]
pub struct Failures {
    /// Failed launches, in the order of their ends.
    pub launches: Vec<FailedLaunch>,
    /// Number of launches that did not start, by reason.
    pub not_launched: BTreeMap<NotLaunched, u64>,
    /// Number of failed API calls by kind. Calls of one kind differ only in their number.
    pub calls: BTreeMap<FailedCall, u64>,
    /// Number of failed calls of kinds that are not kept.
    pub more_calls: u64,
    /// Settings without effect: the API function, and the feature that is not modelled.
    pub without_effect: BTreeSet<(String, String)>,
}

impl Failures {
    /// Adds launches that did not start.
    pub(super) fn add_not_launched(&mut self, why: NotLaunched, launches: u64) {
        let sum = self.not_launched.entry(why).or_default();
        *sum = sum.saturating_add(launches);
    }

    /// Adds a setting without effect.
    pub(super) fn add_without_effect(&mut self, mut function: String, mut what: String) {
        [&mut function, &mut what].into_iter().for_each(visible::make_name);
        if self.without_effect.len() < MOST_SETTINGS {
            self.without_effect.insert((function, what));
        }
    }

    /// Adds failed calls.
    pub(super) fn add_calls(&mut self, mut call: FailedCall) {
        [&mut call.function, &mut call.name, &mut call.text, &mut call.detail].into_iter().for_each(visible::make_name);
        let calls = std::mem::take(&mut call.calls);
        let sum = match self.calls.contains_key(&call) || self.calls.len() < MOST_CALLS {
            true => self.calls.entry(call).or_default(),
            false => &mut self.more_calls,
        };
        *sum = sum.saturating_add(calls);
    }
}
