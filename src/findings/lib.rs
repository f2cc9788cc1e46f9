//! Memory problems in a profile, with cause, suggested change and estimated gain.
//!
//! A rule is a file in `rules/` and a line in `rules/mod.rs`. It classifies the `Facts` of a profile and drafts
//! findings. [`find`] runs all rules and ranks the findings, [`suppress`] removes those that the user excludes. The page
//! `docs/findings/ID.md` contains the texts and describes the conditions.

mod diagnosis;
mod draft;
mod facts;
mod gain;
mod group;
mod library;
mod list;
pub mod nearest;
mod of_ranks;
mod phrase;
mod prelude;
mod rank;
mod rules;
mod subjects;
mod suppress;
mod text;
mod texture;
mod thresholds;
mod words;

pub use list::{Page, confidence, pages, unknown};
pub use of_ranks::is_of_ranks;
pub use rank::find;
pub use suppress::{Ignored, Suppression, SuppressionError, ends_with, suppress};
