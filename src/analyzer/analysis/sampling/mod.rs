//! Estimates, with error bounds, of the figures of a whole run if a budget recorded only a part of the launches.

mod lines;
mod quantile;
mod strata;
mod stratum;

pub use lines::LineFigure;
pub use quantile::CONFIDENCE;
pub use strata::{Bounded, WholeRun, WholeRuns};

pub(super) use lines::LineCounts;
pub(super) use strata::{SampleError, Strata};
