//! Reports kernels that ended early, and launches that did not start, in the trace and to the user.

use crate::state::runtime::Runtime;
use warpline_format::event::{Event, LaunchId, NotLaunched, StopCause};
use warpline_format::options::Output;

impl Runtime {
    /// Records that a launch was stopped in `block`.
    pub fn stopped(&mut self, launch: LaunchId, cause: StopCause, block: u64) {
        self.failures.stop(launch);
        self.trace.event(Event::Stopped { launch, cause, block });
    }

    /// Counts requested launches that do not start.
    pub fn not_launched(&mut self, why: NotLaunched, launches: u64) {
        self.failures.count(&mut self.trace, why, launches);
    }

    /// Counts launches that do not start because of an earlier error. If no launch caused the error, they are not
    /// counted.
    pub fn refused(&mut self, launches: u64) {
        if let Some(stopped) = self.failures.standing().filter(|_| launches > 0) {
            self.not_launched(NotLaunched::AfterStop(stopped), launches);
        }
    }

    /// At the end of the program, writes the remaining counts to the trace. Also reports them to the user if `warpline
    /// run` does not read the trace.
    pub fn report_failures(&mut self) {
        self.failures.settle(&mut self.trace);
        self.failed_calls.settle(&mut self.trace);
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
            crate::output::message::note(&format!("{early} {first} ended early{refused}{trace}"));
        }
    }
}
