//! Progress reports of a running analysis.

use super::Analysis;

/// Sums so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Launches that have ended.
    pub launches: u64,
    /// Requests analysed.
    pub requests: u64,
    /// Bytes of the trace read.
    pub bytes: u64,
}

/// Receives the position of the analysis at short intervals.
pub trait Progress {
    /// After each chunk.
    fn update(&mut self, status: &Status, kernel: Option<&str>);

    /// Returns whether it needs the results so far, now; called after each chunk.
    fn needs_results(&mut self) -> bool {
        false
    }

    /// Receives the results so far, of launches that have ended.
    fn receive(&mut self, status: &Status, kernel: Option<&str>, analysis: &Analysis) {
        let _ = (status, kernel, analysis);
    }
}

/// No progress reports.
pub struct NoProgress;

impl Progress for NoProgress {
    fn update(&mut self, _status: &Status, _kernel: Option<&str>) {}
}
