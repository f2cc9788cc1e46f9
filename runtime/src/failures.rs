//! Kernels that ended early, and launches that did not begin: what the trace is told of them, and the user.

use crate::launch::code_of;
use crate::runtime::Runtime;
use crate::trace::Trace;
use std::collections::BTreeMap;
use warpline_format::event::{Event, LaunchId, NotLaunched, StopCause};
use warpline_format::options::Output;

/// How often launches did not begin, for one reason.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    all: u64,
    /// Of these, how many the trace knows.
    told: u64,
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

    /// Counts launches that did not begin. The trace is told whenever their number has doubled, so that a program which is
    /// killed leaves a count that is at least half of the true one.
    fn count(&mut self, trace: &mut Trace, why: NotLaunched, launches: u64) {
        let tally = self.missing.entry(why.clone()).or_default();
        tally.all = tally.all.saturating_add(launches);
        if tally.all >= 2 * tally.told {
            trace.event(Event::NotLaunched { why, launches: tally.all - tally.told });
            tally.told = tally.all;
        }
    }

    /// Tells the trace of everything that it does not know yet.
    fn settle(&mut self, trace: &mut Trace) {
        for (why, tally) in &mut self.missing {
            if tally.all > tally.told {
                trace.event(Event::NotLaunched { why: why.clone(), launches: tally.all - tally.told });
                tally.told = tally.all;
            }
        }
    }

    /// Launches that did not begin because an earlier one was stopped.
    fn after_stop(&self) -> u64 {
        let after = self.missing.iter().filter(|(why, _)| matches!(why, NotLaunched::AfterStop(_)));
        after.map(|(_, tally)| tally.all).sum()
    }
}

impl Runtime {
    /// A launch was stopped in `block`.
    pub fn stopped(&mut self, launch: LaunchId, cause: StopCause, block: u64) {
        self.failures.stopped = Some(launch);
        self.failures.ended_early += 1;
        self.trace.event(Event::Stopped { launch, cause, block });
    }

    /// Launches that the program asked for do not begin.
    pub fn not_launched(&mut self, why: NotLaunched, launches: u64) {
        self.failures.count(&mut self.trace, why, launches);
    }

    /// Launches that do not begin because an error stands. An error that no launch left has no launches to answer for.
    pub fn refused(&mut self, launches: u64) {
        if let Some(stopped) = self.failures.stopped.filter(|_| launches > 0) {
            self.not_launched(NotLaunched::AfterStop(stopped), launches);
        }
    }

    /// The program ends: the rest goes to the trace, and where `warpline run` does not read it, the user is told here.
    pub fn tell_failures(&mut self) {
        self.failures.settle(&mut self.trace);
        let (early, after) = (self.failures.ended_early, self.failures.after_stop());
        let reader_tells = matches!(self.options.output, Output::Ring { .. }) && self.trace.is_on();
        if early > 0 && !reader_tells {
            let one = |count: u64| if count == 1 { "launch" } else { "launches" };
            let (first, second) = (one(early), one(after));
            let trace = if self.trace.is_on() { "; the trace is incomplete" } else { "" };
            let refused = match after {
                0 => String::new(),
                _ => format!(", {after} {second} after that {} refused", if after == 1 { "was" } else { "were" }),
            };
            crate::message::note(&format!("{early} {first} ended early{refused}{trace}"));
        }
    }
}

/// Why a kernel ended, and the error that CUDA has for it.
pub fn describe(cause: StopCause) -> String {
    let what = match cause {
        StopCause::IllegalAddress => "an invalid memory access",
        StopCause::Misaligned => "a misaligned memory access",
        StopCause::Assert => "a failed assert",
        StopCause::Trap => "a trap",
        StopCause::StackOverflow => "a stack overflow",
        StopCause::IllegalInstruction => "an illegal instruction",
        StopCause::OutOfMemory => "no memory for its stacks",
    };
    format!("{what} (CUDA error {})", code_of(&cause))
}
