//! What is wrong, why, what to do about it and what that brings; made by `src/findings`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::frames::Frame;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    #[default]
    Note,
    /// Change something: it costs time.
    Warning,
    /// Change something: the program is wrong.
    Error,
}

impl Severity {
    /// Name in reports and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// What a cure brings, by the bottleneck estimate: modelled, not measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// Estimated time of the kernel, or of the program for what is outside of kernels, before over after.
    pub factor: f64,
    /// Seconds saved over all launches.
    pub seconds: f64,
    /// What the figure assumes.
    pub assumption: String,
}

/// One finding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable name of the rule, as in `docs/findings`.
    pub id: String,
    /// From 1, what matters most first.
    pub rank: u32,
    /// How much it matters.
    pub severity: Severity,
    /// Kernel; `None` where it concerns the program.
    pub kernel: Option<u32>,
    /// Source file; empty when unknown.
    pub file: String,
    /// From 1; 0 unknown.
    pub line: u32,
    /// From 1; 0 unknown.
    pub column: u32,
    /// Where in a library it happens that this line calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside_library: Option<Frame>,
    /// Allocation concerned.
    pub allocation: Option<u64>,
    /// Name of a shared or local array, a member or a variable.
    pub object: Option<String>,
    /// The numbers it rests on.
    pub evidence: BTreeMap<String, f64>,
    /// What happens and why it costs, in a sentence.
    pub reason: String,
    /// What to do, in a sentence.
    pub cure: String,
    /// What that brings, where the estimate can tell.
    pub gain: Option<Gain>,
}
