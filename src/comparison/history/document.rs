//! The JSON document of `history --format json`, version 1. Fields are only ever added.

use serde::{Deserialize, Serialize};

use crate::document::Value;

/// Value of [`History::schema`].
pub(super) const SCHEMA: &str = "warpline.history";
/// Value of [`History::version`] that this release writes.
pub(super) const VERSION: u32 = 1;

/// A figure over commits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// `warpline.history`.
    pub schema: String,
    /// Version of the document.
    pub version: u32,
    /// Name of the figure.
    pub metric: String,
    /// One per name of a recording, GPU model and kernel.
    pub series: Vec<Series>,
}

/// A figure of one kernel, or of the whole program, over commits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Name of the recordings.
    pub name: String,
    /// Their first GPU model, whose figures these are.
    pub model: String,
    /// Demangled name; `None`: the whole program.
    pub kernel: Option<String>,
    /// Oldest first.
    pub points: Vec<Point>,
}

/// A value at a commit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The commit; `None` where the recording has none.
    pub commit: Option<String>,
    /// When it was committed, or else run; empty if it is unknown.
    pub date: String,
    /// The branch that it was built on.
    pub branch: Option<String>,
    /// Digest of the recording.
    pub record: String,
    /// The value; `None` where the kernel has no such figure, or is not there.
    pub value: Option<Value>,
    /// It differs from the point before.
    pub changed: bool,
}
