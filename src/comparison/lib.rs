//! Several profiles: compared, merged, gated, and followed over commits.
//!
//! [`compare`] pairs kernels, lines, allocations and findings (`matching/`), computes the figures of each pair (`figures`) and
//! keeps those that differ ([`document`]). [`limits`] decides whether the result is acceptable. [`gate`] compares a profile
//! with the latest recording of a branch, [`history`] follows a figure over recordings, [`merge`] adds profiles of processes,
//! ranks and runs. Nothing here depends on command lines or report formats.

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

pub use compare::{BESIDE_OTHERS, Options, compare};
pub use differences::find as differences;
pub use document::Diff;
pub use estimates::{EstimatedChange, Estimates, Recorded};
pub use figures::{Better, Figure, Figures, Subject, Unit, better, names, rank, unit};
pub use measured::{Measured, measure};
