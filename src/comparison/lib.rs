//! Operations on several profiles: comparison, merging, gates, and history over commits.
//!
//! [`compare`] pairs kernels, lines, allocations and findings (`matching/`), computes the figures of each pair
//! (`figures`) and keeps those that differ ([`document`]). [`limits`] decides whether the result is acceptable.
//! [`gate`] compares a profile with the latest recording of a branch, [`history`] collects a figure over recordings,
//! and [`merge`] adds profiles of processes, ranks and runs. This crate does not depend on the command line or on
//! report formats.

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
