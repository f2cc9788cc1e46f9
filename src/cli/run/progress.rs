//! Shows the progress of the run in one line on a terminal.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use warpline_analyzer::analysis::{Progress, Status};

const EVERY: Duration = Duration::from_millis(150);
/// Number of chunks between two reads of the clock.
const SKIP: u32 = 8;

/// The progress line.
pub(super) struct Bar {
    shown: bool,
    terminal: bool,
    started: Instant,
    last: Instant,
    skipped: u32,
}

impl Bar {
    pub(super) fn new() -> Bar {
        let now = Instant::now();
        Bar { shown: false, terminal: std::io::stderr().is_terminal(), started: now, last: now, skipped: 0 }
    }

    /// Erases the line.
    pub(super) fn clear(&mut self) {
        if self.shown {
            eprint!("\r\x1b[K");
            _ = std::io::stderr().flush();
        }
        self.shown = false;
    }
}

impl Progress for Bar {
    fn update(&mut self, status: &Status, kernel: Option<&str>) {
        self.skipped += 1;
        if !self.terminal || self.skipped < SKIP {
            return;
        }
        self.skipped = 0;
        let now = Instant::now();
        if now.duration_since(self.last) < EVERY {
            return;
        }
        self.last = now;
        let seconds = now.duration_since(self.started).as_secs_f64();
        let rate = status.requests as f64 / seconds / 1e6;
        let name: String = kernel.unwrap_or("").chars().take(40).collect();
        eprint!(
            "\r\x1b[Kwarpline: {seconds:.0} s, {} launches, {:.1} M requests ({rate:.1} M/s) {name}",
            status.launches,
            status.requests as f64 / 1e6
        );
        _ = std::io::stderr().flush();
        self.shown = true;
    }
}
