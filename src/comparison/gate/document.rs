//! The JSON document of `gate --format json`, version 1. `docs/ci.md` describes it. Fields are only ever added.

use serde::{Deserialize, Serialize};
use warpline_format::visible;

use crate::Diff;
use crate::document::Difference;
use warpline_profile::store::Recorded;

/// Value of [`Gate::schema`].
const SCHEMA: &str = "warpline.gate";
/// Value of [`Gate::version`] that this release writes.
const VERSION: u32 = 1;

/// The result of a gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// `warpline.gate`.
    pub schema: String,
    /// Version of the document.
    pub version: u32,
    /// The requested baseline: a branch or a commit.
    pub baseline: String,
    /// Results, one per profile.
    pub programs: Vec<Program>,
}

impl Gate {
    /// Creates a `Gate` for these programs. The user's input is escaped for display.
    pub fn new(baseline: &str, mut programs: Vec<Program>) -> Gate {
        let typed = programs.iter_mut().flat_map(|one| one.commit.iter_mut().chain(&mut one.branch));
        typed.for_each(visible::make_name);
        Gate { schema: SCHEMA.to_owned(), version: VERSION, baseline: visible::name(baseline).into_owned(), programs }
    }
}

/// Whether a program passes the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// No limit is broken.
    Held,
    /// A limit is broken.
    Broken,
    /// No recording exists as a baseline.
    NoBaseline,
    /// Recordings exist, but they were created differently.
    Unlike,
}

/// The result for one profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// Name of its recordings.
    pub name: String,
    /// Its GPU models.
    pub models: Vec<String>,
    /// The commit that was judged.
    pub commit: Option<String>,
    /// The branch of the commit.
    pub branch: Option<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// The baseline of the comparison.
    pub baseline: Option<Baseline>,
    /// Nearer recordings that were created differently.
    pub passed: Vec<Passed>,
    /// The comparison with the results of limits. Without a baseline, it is a comparison of the profile with itself, so
    /// that absolute limits apply.
    pub comparison: Option<Diff>,
}

/// The recording with which a profile was compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// Digest of the recording.
    pub record: String,
    /// Its commit.
    pub commit: Option<String>,
    /// Its branch.
    pub branch: Option<String>,
    /// Time of the commit if known; otherwise, of the run.
    pub date: String,
    /// Reason for its selection.
    pub why: String,
}

impl Baseline {
    /// Creates a `Baseline` from a recording and the reason for its selection.
    pub fn from_record(recorded: &Recorded, why: &str) -> Baseline {
        Baseline {
            record: recorded.id.to_string(),
            commit: recorded.record.commit.clone(),
            branch: recorded.record.branch.clone(),
            date: recorded.record.date().to_owned(),
            why: why.to_owned(),
        }
    }
}

/// A recording that was created differently.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Passed {
    /// Digest of the recording.
    pub record: String,
    /// Its commit.
    pub commit: Option<String>,
    /// The differences.
    pub differences: Vec<Difference>,
}
