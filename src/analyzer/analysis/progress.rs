//! What a run can tell while it goes on.

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

/// Is told how far the analysis is, often.
pub trait Progress {
    /// After each chunk.
    fn update(&mut self, status: &Status, kernel: Option<&str>);

    /// Whether it wants to look at what is known so far, now; asked after each chunk.
    fn wants(&mut self) -> bool {
        false
    }

    /// What is known so far, of launches that are over.
    fn look(&mut self, status: &Status, kernel: Option<&str>, analysis: &Analysis) {
        let _ = (status, kernel, analysis);
    }
}

/// Nobody looks.
pub struct NoProgress;

impl Progress for NoProgress {
    fn update(&mut self, _status: &Status, _kernel: Option<&str>) {}
}
