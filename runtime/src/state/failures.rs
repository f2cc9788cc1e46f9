//! Counts the kernels that ended early and the launches that did not start, and how many of them the trace contains.

use crate::trace::Trace;
use std::collections::BTreeMap;
use warpline_format::event::{Event, LaunchId, NotLaunched};

/// The number of launches that did not start for one reason.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    all: u64,
    /// The number of these launches that the trace contains.
    reported: u64,
}

/// The launches that did not run.
#[derive(Debug, Default)]
pub struct Failures {
    /// The launch whose error is still active.
    stopped: Option<LaunchId>,
    /// The number of launches that were stopped since the start of the program.
    pub ended_early: u64,
    missing: BTreeMap<NotLaunched, Tally>,
}

impl Failures {
    /// Records a device reset: launches are possible again.
    pub fn reset(&mut self) {
        self.stopped = None;
    }

    /// Records that a launch was stopped.
    pub(crate) fn stop(&mut self, launch: LaunchId) {
        self.stopped = Some(launch);
        self.ended_early += 1;
    }

    /// Returns the launch whose error is still active.
    pub(crate) fn standing(&self) -> Option<LaunchId> {
        self.stopped
    }

    /// Counts launches that did not start. The count is written whenever it has doubled. If the program is killed, the
    /// recorded count is therefore at least half of the true count.
    pub(crate) fn count(&mut self, trace: &mut Trace, why: NotLaunched, launches: u64) {
        let tally = self.missing.entry(why.clone()).or_default();
        tally.all = tally.all.saturating_add(launches);
        if tally.all >= 2 * tally.reported {
            trace.event(Event::NotLaunched { why, launches: tally.all - tally.reported });
            tally.reported = tally.all;
        }
    }

    /// Writes all counts that are not in the trace yet.
    pub(crate) fn settle(&mut self, trace: &mut Trace) {
        for (why, tally) in &mut self.missing {
            if tally.all > tally.reported {
                trace.event(Event::NotLaunched { why: why.clone(), launches: tally.all - tally.reported });
                tally.reported = tally.all;
            }
        }
    }

    /// Returns the number of launches that did not start because an earlier launch was stopped.
    pub(crate) fn after_stop(&self) -> u64 {
        let after = self.missing.iter().filter(|(why, _)| matches!(why, NotLaunched::AfterStop(_)));
        after.map(|(_, tally)| tally.all).sum()
    }
}
