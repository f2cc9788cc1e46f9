//! Figures of whole runs of which a budget recorded some launches: estimates with bounds.

mod lines;
mod quantile;
mod strata;
mod stratum;

pub use lines::LineFigure;
pub use quantile::CONFIDENCE;
pub use strata::{Bounded, WholeRun, WholeRuns};

pub(super) use lines::LineCounts;
pub(super) use strata::{SampleError, Strata};
