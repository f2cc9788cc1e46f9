//! Progress reports of a running analysis.

use super::Analysis;

/// State of a running analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Number of launches that have ended.
    pub launches: u64,
    /// Number of analysed requests.
    pub requests: u64,
    /// Bytes of the trace that were read.
    pub bytes: u64,
}

/// Receives the progress of the analysis at short intervals.
pub trait Progress {
    /// Called after each chunk.
    fn update(&mut self, status: &Status, kernel: Option<&str>);

    /// Returns whether current results are needed now. Called after each chunk.
    fn needs_results(&mut self) -> bool {
        false
    }

    /// Receives the results of the launches that have ended so far.
    fn receive(&mut self, status: &Status, kernel: Option<&str>, analysis: &Analysis) {
        let _ = (status, kernel, analysis);
    }
}

/// Ignores progress.
pub struct NoProgress;

impl Progress for NoProgress {
    fn update(&mut self, _status: &Status, _kernel: Option<&str>) {}
}
