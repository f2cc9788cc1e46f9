//! Findings: a problem, its cause, the suggested change and the gain. `src/findings` creates them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::basis::Basis;
use super::frames::Frame;

/// Severity of a finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Information that needs no change.
    #[default]
    Note,
    /// The problem costs time and should be changed.
    Warning,
    /// The program is wrong and must be changed.
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

/// The estimated gain of the suggested change: modelled, not measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// Estimated time before the change, divided by the time after it. It is the time of the kernel, or of the program
    /// for findings outside of kernels.
    pub factor: f64,
    /// Seconds saved over all launches.
    pub seconds: f64,
    /// Assumption of the estimate.
    pub assumption: String,
}

/// A further source line of a finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FindingLine {
    /// Line, counted from 1.
    pub line: u32,
    /// Column, counted from 1; 0 if unknown.
    pub column: u32,
}

/// Maximum number of lines that a sentence lists.
const MOST_NAMED: usize = 8;

/// Returns the end of the reason for a finding with further lines.
pub fn also_on(lines: &[FindingLine]) -> String {
    let mut numbers: Vec<u32> = lines.iter().map(|line| line.line).collect();
    numbers.dedup();
    let named: Vec<String> = numbers.iter().take(MOST_NAMED).map(u32::to_string).collect();
    let more = numbers.len() - named.len();
    match (&named[..], more) {
        ([], _) => String::new(),
        ([one], 0) => format!("; the same on line {one}"),
        ([first @ .., last], 0) => format!("; the same on lines {} and {last}", first.join(", ")),
        (named, more) => format!("; the same on lines {} and {more} more", named.join(", ")),
    }
}

/// One finding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable name of the rule, as in `docs/findings`.
    pub id: String,
    /// Rank, counted from 1; the most important finding is first.
    pub rank: u32,
    /// How much it matters.
    pub severity: Severity,
    /// Stable id of the cause, as on the page of the finding; empty in profiles of earlier versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cause: String,
    /// Stable id of the remedy; empty in profiles of earlier versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remedy: String,
    /// Whether the remedy was applied to the recorded addresses and the result was counted again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verified: bool,
    /// The basis of the figures that the cause depends on; absent in profiles of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Basis>,
    /// Title of about 60 characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Kernel; `None` if the finding concerns the program.
    pub kernel: Option<u32>,
    /// Source file; empty if unknown.
    pub file: String,
    /// Line, counted from 1; 0 if unknown.
    pub line: u32,
    /// Column, counted from 1; 0 if unknown.
    pub column: u32,
    /// Further lines of the file with the same problem, object and remedy. Figures are those of the first line; shares
    /// and gain are those of all lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<FindingLine>,
    /// Other instantiations of the kernel's template with the same problem. Figures and gain are those of `kernel`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_kernels: Vec<u32>,
    /// Position inside the library function that this line calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside_library: Option<Frame>,
    /// The affected allocation.
    pub allocation: Option<u64>,
    /// Name of a shared or local array, of a member or of a variable.
    pub object: Option<String>,
    /// The figures that the finding is based on.
    pub evidence: BTreeMap<String, f64>,
    /// One sentence that describes the problem and its cost.
    pub reason: String,
    /// One sentence that describes the suggested change.
    pub cure: String,
    /// Estimated gain, if it can be determined.
    pub gain: Option<Gain>,
}

impl Finding {
    /// Returns its kernels, starting with `kernel`.
    pub fn all_kernels(&self) -> impl Iterator<Item = u32> {
        self.kernel.into_iter().chain(self.other_kernels.iter().copied())
    }

    /// Returns its lines, starting with `line`.
    pub fn all_lines(&self) -> impl Iterator<Item = u32> {
        std::iter::once(self.line).chain(self.lines.iter().map(|line| line.line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_lines_are_reported_once_each_and_not_without_end() {
        let lines = |numbers: &[u32]| -> Vec<FindingLine> {
            numbers.iter().map(|&line| FindingLine { line, column: 1 }).collect()
        };
        assert_eq!(also_on(&[]), "");
        assert_eq!(also_on(&lines(&[7, 7])), "; the same on line 7");
        assert_eq!(also_on(&lines(&[7, 8, 9])), "; the same on lines 7, 8 and 9");
        let many: Vec<u32> = (1..=20).collect();
        assert_eq!(also_on(&lines(&many)), "; the same on lines 1, 2, 3, 4, 5, 6, 7, 8 and 12 more");
    }
}
