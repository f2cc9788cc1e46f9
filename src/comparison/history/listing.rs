//! The JSON document of `history` without a figure, version 1: the list of recordings. Fields are only ever added.

use serde::{Deserialize, Serialize};

use warpline_profile::store::Recorded;

const SCHEMA: &str = "warpline.recordings";
const VERSION: u32 = 1;

/// The list of recordings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recordings {
    /// `warpline.recordings`.
    pub schema: String,
    /// Version of the document.
    pub version: u32,
    /// Recordings, the oldest first.
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
    /// Time of the commit if known; otherwise, of the run.
    pub date: String,
    /// The branch from which the program was built.
    pub branch: Option<String>,
    /// GPU models.
    pub models: Vec<String>,
    /// Compiler and its options, as they were recorded.
    pub compiler: Option<String>,
    /// Whether the profile is complete.
    pub complete: bool,
    /// File of its profile, if files were requested and it can be read.
    pub file: Option<String>,
}

/// Returns the document for recordings in their order; `file` returns the file of each.
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
