//! How far the figures of a profile can be trusted. Derived from the facts of the document wherever it is shown, so that
//! profiles of earlier versions have it too.

mod block;
mod derive;

pub use block::{Assumption, Certainty, Effect, Group, MissingLaunches, Trust, Uncounted, is_count};
pub use derive::trust;
