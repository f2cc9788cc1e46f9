//! Figures of whole runs of which a budget recorded some launches: estimates with bounds.

mod quantile;
mod strata;
mod stratum;

pub use quantile::CONFIDENCE;
pub use strata::{Bounded, WholeRun};

pub(super) use strata::{SampleError, Strata};
