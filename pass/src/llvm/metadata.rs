//! Metadata notes.
