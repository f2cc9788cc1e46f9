//! Kernels that ended early, and launches that did not start: how many, and how many of them are in the trace.

use crate::trace::Trace;
use std::collections::BTreeMap;
use warpline_format::event::{Event, LaunchId, NotLaunched};

/// How often launches did not begin, for one reason.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    all: u64,
    /// How many of these are in the trace.
    reported: u64,
}

/// What did not run.
#[derive(Debug, Default)]
pub struct Failures {
    /// The launch whose error stands.
    stopped: Option<LaunchId>,
    /// Launches that were stopped, since the start.
    pub ended_early: u64,
    missing: BTreeMap<NotLaunched, Tally>,
}

impl Failures {
    /// A device reset: launches are possible again.
    pub fn reset(&mut self) {
        self.stopped = None;
    }

    /// A launch was stopped.
    pub(crate) fn stop(&mut self, launch: LaunchId) {
        self.stopped = Some(launch);
        self.ended_early += 1;
    }

    /// Returns the launch whose error stands.
    pub(crate) fn standing(&self) -> Option<LaunchId> {
        self.stopped
    }

    /// Counts launches that did not start. The count is written whenever it has doubled, so that a program which is
    /// killed leaves a count that is at least half of the true one.
    pub(crate) fn count(&mut self, trace: &mut Trace, why: NotLaunched, launches: u64) {
        let tally = self.missing.entry(why.clone()).or_default();
        tally.all = tally.all.saturating_add(launches);
        if tally.all >= 2 * tally.reported {
            trace.event(Event::NotLaunched { why, launches: tally.all - tally.reported });
            tally.reported = tally.all;
        }
    }

    /// Writes everything that is not in the trace yet.
    pub(crate) fn settle(&mut self, trace: &mut Trace) {
        for (why, tally) in &mut self.missing {
            if tally.all > tally.reported {
                trace.event(Event::NotLaunched { why: why.clone(), launches: tally.all - tally.reported });
                tally.reported = tally.all;
            }
        }
    }

    /// Launches that did not begin because an earlier one was stopped.
    pub(crate) fn after_stop(&self) -> u64 {
        let after = self.missing.iter().filter(|(why, _)| matches!(why, NotLaunched::AfterStop(_)));
        after.map(|(_, tally)| tally.all).sum()
    }
}
