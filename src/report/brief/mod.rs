//! The brief: the information that a reader or a program needs to act, in a limited number of lines.

mod document;
mod json;
mod markdown;

pub use document::{Brief, BriefFinding, BriefGain, BriefKernel, Value, brief, brief_findings};
pub use json::brief_json;
pub use markdown::brief_markdown;
