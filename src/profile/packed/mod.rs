//! Encodes the data of a rank's profile that merging needs. A separate section avoids parsing JSON, which would
//! dominate the time to merge thousands of ranks.
//!
//! The section contains the same values as the document, as a sequence of fields without names. A release that cannot
//! read it, because another release wrote it, reads the document instead; the merged result is identical. The section
//! starts with a hash of its layout: the fields, their types and their order (`section.rs`).

mod pack;
mod reader;
mod section;
mod types;
mod writer;

pub(super) use section::{read, section};
