//! The reliability of a profile's figures. It is derived from the document whenever it is shown, so profiles of earlier
//! versions have it, too.

mod block;
mod derive;

pub use block::{Assumption, Certainty, Effect, Group, MissingLaunches, Trust, Uncounted, is_count};
pub use derive::trust;
