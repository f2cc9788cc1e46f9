//! GPU models: `models/*.toml`, each figure with its source. Figures without a source are absent. If a run needs such a
//! figure, this module supplies an assumption, and the profile reports it.

mod curves;
mod device;
mod figure;
mod hierarchy;
mod model;
mod rates;

pub use curves::{Curve, CurveError, Path as CurvePath};
pub use device::DeviceFigures;
pub use figure::Figure;
pub use hierarchy::{CoalescingFigures, DramFigures, L1Figures, L2Figures, SharedFigures, StageFigures, TlbFigures};
pub use model::{DEFAULT_MODEL, Model, ModelError, RunDevice, Section, find, for_gpu, names, parse, sections};
pub use rates::{RateFigures, Rates};
