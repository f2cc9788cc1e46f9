//! GPU models: `models/*.toml`, each figure with its source. A figure that no source gives is absent
//! there; if a run needs one, the profile reports the value that is assumed here.

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
