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

/// What came of a gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// `warpline.gate`.
    pub schema: String,
    /// Version of the document.
    pub version: u32,
    /// The requested baseline: a branch or a commit.
    pub baseline: String,
    /// One per profile.
    pub programs: Vec<Program>,
}

impl Gate {
    /// Creates a `Gate` for these programs. What was typed is written so that it can be shown anywhere.
    pub fn new(baseline: &str, mut programs: Vec<Program>) -> Gate {
        let typed = programs.iter_mut().flat_map(|one| one.commit.iter_mut().chain(&mut one.branch));
        typed.for_each(visible::make_name);
        Gate { schema: SCHEMA.to_owned(), version: VERSION, baseline: visible::name(baseline).into_owned(), programs }
    }
}

/// Whether a program may go in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// All limits hold.
    Held,
    /// A limit is broken.
    Broken,
    /// There is nothing to compare with.
    NoBaseline,
    /// There is something, and it was not made alike.
    Unlike,
}

/// A profile and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// Name of its recordings.
    pub name: String,
    /// Its GPU models.
    pub models: Vec<String>,
    /// The commit that was judged.
    pub commit: Option<String>,
    /// The branch that it is on.
    pub branch: Option<String>,
    /// What came of it.
    pub verdict: Verdict,
    /// What it was compared with.
    pub baseline: Option<Baseline>,
    /// Nearer recordings that were not made alike.
    pub passed: Vec<Passed>,
    /// The comparison with its limits; with itself where there is no baseline, so that limits of worst values count.
    pub comparison: Option<Diff>,
}

/// What a profile was compared with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// Digest of the recording.
    pub record: String,
    /// Its commit.
    pub commit: Option<String>,
    /// Its branch.
    pub branch: Option<String>,
    /// When it was committed, or else run.
    pub date: String,
    /// Why it was taken.
    pub why: String,
}

impl Baseline {
    /// Returns a recording, and why it was taken.
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

/// A recording that was not made alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Passed {
    /// Digest of the recording.
    pub record: String,
    /// Its commit.
    pub commit: Option<String>,
    /// In what it differs.
    pub differences: Vec<Difference>,
}
