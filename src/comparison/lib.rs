//! Two profiles side by side: what got better or worse, what is new and what is gone.
//!
//! [`compare`] pairs kernels, lines, allocations and findings (`matching/`), takes the figures of each pair (`figures`) and
//! keeps those that differ ([`document`]). [`limits`] says whether the result is acceptable. Nothing here knows of files,
//! command lines or forms of report.

mod allocations;
mod compare;
mod differences;
pub mod document;
mod estimates;
mod figures;
pub mod gate;
pub mod history;
pub mod limits;
mod matching;
mod measured;
pub mod merge;

pub use compare::BESIDE_OTHERS;
pub use compare::{Options, compare};
pub use differences::find as differences;
pub use document::Diff;
pub use estimates::{EstimatedChange, Estimates, Recorded};
pub use figures::{Better, Figure, Figures, Subject, Unit, better, names, rank, unit};
pub use measured::{Measured, measure};
