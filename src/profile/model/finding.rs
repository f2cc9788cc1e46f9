//! What is wrong, why, what to do about it and what that brings; made by `src/findings`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::basis::Basis;
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

/// A further line of a finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FindingLine {
    /// From 1.
    pub line: u32,
    /// From 1; 0 unknown.
    pub column: u32,
}

/// Lines that a sentence names, at most.
const MOST_NAMED: usize = 8;

/// How the reason of a finding ends that has further lines.
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
    /// From 1, what matters most first.
    pub rank: u32,
    /// How much it matters.
    pub severity: Severity,
    /// Stable id of the cause, as in the page of the finding; empty in profiles of earlier versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cause: String,
    /// Stable id of the remedy, likewise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remedy: String,
    /// The remedy was applied to the recorded addresses and counted again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verified: bool,
    /// How the figures are obtained that the cause depends on; absent in profiles of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Basis>,
    /// What it is, in about 60 characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Kernel; `None` where it concerns the program.
    pub kernel: Option<u32>,
    /// Source file; empty when unknown.
    pub file: String,
    /// From 1; 0 unknown.
    pub line: u32,
    /// From 1; 0 unknown.
    pub column: u32,
    /// Further lines of the file where the same happens to the same object, and the same cure helps; figures are those
    /// of the first line, shares and gain those of all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<FindingLine>,
    /// Other instantiations of the kernel's template in which the same happens; figures and gain are those of the one
    /// in `kernel`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_kernels: Vec<u32>,
    /// Position inside the library that this line calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside_library: Option<Frame>,
    /// Allocation concerned.
    pub allocation: Option<u64>,
    /// Name of a shared or local array, a member or a variable.
    pub object: Option<String>,
    /// The numbers that it is based on.
    pub evidence: BTreeMap<String, f64>,
    /// What happens and why it costs, in a sentence.
    pub reason: String,
    /// What to do, in a sentence.
    pub cure: String,
    /// What that brings, if the estimate can determine it.
    pub gain: Option<Gain>,
}

impl Finding {
    /// Its kernels, the first of them first.
    pub fn all_kernels(&self) -> impl Iterator<Item = u32> {
        self.kernel.into_iter().chain(self.other_kernels.iter().copied())
    }

    /// Its lines, the first of them first.
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
