//! What merging needs of a rank's profile, in addition to its document: thousands of ranks are merged, and most of the
//! time that took was for reading JSON.
//!
//! The section holds the same values as the document, field after field without names. Whoever cannot read it (another
//! release wrote it) reads the document, and merges to the same bytes. Which fields there are, of which types, and in
//! which order is summed up in a number that stands first in it (`section.rs`).

mod pack;
mod reader;
mod section;
mod types;
mod writer;

pub(super) use section::{read, section};
