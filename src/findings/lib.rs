//! What is wrong, why, what to do about it, and what that brings.
//!
//! A rule is a file in `rules/` and a line in [`list`]: it looks at a [`Facts`], the profile seen by access, and drafts
//! findings where its evidence holds. [`find`] ranks them. Page: `docs/findings/ID.md`.

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

pub use list::unknown;
pub use list::{Page, pages};
pub use of_ranks::is_of_ranks;
pub use rank::find;
pub use suppress::ends_with;
pub use suppress::{Ignored, Suppression, SuppressionError, suppress};
