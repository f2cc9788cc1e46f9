//! The JSON document of `history` without a figure, version 1: what is recorded. Fields are only ever added.

use serde::{Deserialize, Serialize};

use warpline_profile::store::Recorded;

const SCHEMA: &str = "warpline.recordings";
const VERSION: u32 = 1;

/// What is recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recordings {
    /// `warpline.recordings`.
    pub schema: String,
    /// Version of the document.
    pub version: u32,
    /// Oldest first.
    pub recordings: Vec<Recording>,
}

/// One recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// Its digest.
    pub record: String,
    /// Name of the history that it belongs to.
    pub name: String,
    /// The commit that was built.
    pub commit: Option<String>,
    /// When that was committed, else when the program ran.
    pub date: String,
    /// The branch that it was built on.
    pub branch: Option<String>,
    /// GPU models.
    pub models: Vec<String>,
    /// Compiler and its options, as they were recorded.
    pub compiler: Option<String>,
    /// Whether the profile is whole.
    pub complete: bool,
    /// Its profile's file, if files were requested and this one can be read.
    pub file: Option<String>,
}

/// Returns the document of recordings in their order; `file` names the file of each.
pub fn listing(records: &[Recorded], file: impl Fn(&Recorded) -> Option<String>) -> Recordings {
    let recording = |recorded: &Recorded| {
        let record = &recorded.record;
        Recording {
            record: recorded.id.to_string(),
            name: record.name.clone(),
            commit: record.commit.clone(),
            date: record.date().to_owned(),
            branch: record.branch.clone(),
            models: record.models.clone(),
            compiler: record.compiler.clone(),
            complete: record.complete,
            file: file(recorded),
        }
    };
    Recordings { schema: SCHEMA.to_owned(), version: VERSION, recordings: records.iter().map(recording).collect() }
}
