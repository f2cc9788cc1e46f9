//! A finding before it is ranked.

use std::collections::BTreeMap;

use super::access::Access;
use crate::profile::model::{Frame, Gain, Kernel, Severity};

/// From this share of the estimated time on that it wastes, a finding asks for a change.
pub(super) const WORTH_A_CHANGE: f64 = 0.05;

/// A finding before it is ranked.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub severity: Severity,
    pub kernel: Option<u32>,
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub inside_library: Option<Frame>,
    pub allocation: Option<u64>,
    pub object: Option<String>,
    pub evidence: BTreeMap<String, f64>,
    pub reason: String,
    pub cure: String,
    pub gain: Option<Gain>,
    /// Share of the time that is wasted, 0 to 1: what findings are ranked by.
    pub score: f64,
}

impl Draft {
    /// A note without a place.
    pub(super) fn new(reason: impl Into<String>, cure: impl Into<String>) -> Draft {
        Draft {
            severity: Severity::Note,
            kernel: None,
            file: String::new(),
            line: 0,
            column: 0,
            inside_library: None,
            allocation: None,
            object: None,
            evidence: BTreeMap::new(),
            reason: reason.into(),
            cure: cure.into(),
            gain: None,
            score: 0.0,
        }
    }

    pub(super) fn at_access(self, access: &Access<'_>) -> Draft {
        Draft {
            kernel: Some(access.kernel.id),
            file: access.file.to_owned(),
            line: access.line,
            column: access.column,
            allocation: access.allocation,
            object: access.variable().map(str::to_owned),
            ..self
        }
    }

    pub(super) fn at_frame(self, frame: Option<&Frame>) -> Draft {
        let Some(frame) = frame else { return self };
        Draft { file: frame.file.clone(), line: frame.line, column: frame.column, ..self }
    }

    pub(super) fn at_kernel(self, kernel: &Kernel) -> Draft {
        Draft { kernel: Some(kernel.id), file: kernel.file.clone(), line: kernel.line, column: 0, ..self }
    }

    pub(super) fn of_kernel(self, kernel: &Kernel) -> Draft {
        Draft { kernel: Some(kernel.id), ..self }
    }

    pub(super) fn of_allocation(self, id: u64) -> Draft {
        Draft { allocation: Some(id), ..self }
    }

    pub(super) fn object(self, name: Option<impl Into<String>>) -> Draft {
        Draft { object: name.map(Into::into), ..self }
    }

    /// Adds a number that the finding rests on.
    pub(super) fn evidence(mut self, name: &str, value: f64) -> Draft {
        if value.is_finite() {
            // Six digits tell what there is to tell, and documents read back exactly.
            let rounded = if value.fract() == 0.0 { value } else { format!("{value:.5e}").parse().unwrap_or(value) };
            self.evidence.insert(name.to_owned(), rounded);
        }
        self
    }

    pub(super) fn gain(self, gain: Option<Gain>) -> Draft {
        Draft { gain, ..self }
    }

    /// Ranks by this share of the time; from [`WORTH_A_CHANGE`] on it is a warning.
    pub(super) fn score(self, score: f64) -> Draft {
        let score = if score.is_finite() { score.clamp(0.0, 1.0) } else { 0.0 };
        let severity = if score >= WORTH_A_CHANGE { Severity::Warning } else { Severity::Note };
        Draft { score, severity: self.severity.max(severity), ..self }
    }

    pub(super) fn severity(self, severity: Severity) -> Draft {
        Draft { severity, ..self }
    }
}
