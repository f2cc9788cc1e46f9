//! What did not run, or not to its end.

use std::collections::{BTreeMap, BTreeSet};

use warpline_format::event::{FailedCall, LaunchId, NotLaunched, StopCause};
use warpline_format::visible;

/// Kinds of failed calls that are kept; further ones are only counted.
const MOST_CALLS: usize = 10_000;
/// Settings without effect that are kept; the runtime has fewer.
const MOST_SETTINGS: usize = 100;

/// A launch that ended with an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedLaunch {
    /// Number.
    pub launch: LaunchId,
    /// Its kernel, as numbered by the analysis.
    pub kernel: u32,
    /// CUDA error code.
    pub error: i32,
    /// Why and in which block, if the stream contains it.
    pub stopped: Option<(StopCause, u64)>,
}

/// Everything that is missing in the figures because the program, or the device for it, failed.
#[derive(Clone, Debug, Default)]
pub struct Failures {
    /// In the order of their ends.
    pub launches: Vec<FailedLaunch>,
    /// Launches that did not begin.
    pub not_launched: BTreeMap<NotLaunched, u64>,
    /// Calls of the API that failed, all alike ones together and without their number, and how many.
    pub calls: BTreeMap<FailedCall, u64>,
    /// Failed calls beyond those.
    pub more_calls: u64,
    /// Settings without effect: the API function, and what is not modelled.
    pub without_effect: BTreeSet<(String, String)>,
}

impl Failures {
    /// Adds launches that did not begin.
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
