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
    /// Series, one per name of recordings, GPU model and kernel.
    pub series: Vec<Series>,
}

/// A figure of one kernel, or of the whole program, over commits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Name of the recordings.
    pub name: String,
    /// Their first GPU model, to which the figures belong.
    pub model: String,
    /// Demangled name of the kernel; `None` for the whole program.
    pub kernel: Option<String>,
    /// Points, the oldest first.
    pub points: Vec<Point>,
}

/// A value at a commit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The commit; `None` if the recording has none.
    pub commit: Option<String>,
    /// Time of the commit if known, otherwise of the run; empty if unknown.
    pub date: String,
    /// The branch from which the program was built.
    pub branch: Option<String>,
    /// Digest of the recording.
    pub record: String,
    /// The value; `None` if the kernel is absent or does not have the figure.
    pub value: Option<Value>,
    /// Whether the value differs from the previous point.
    pub changed: bool,
}
