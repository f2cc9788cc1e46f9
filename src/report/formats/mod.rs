//! Formats of other tools.

mod callgrind;
mod csv;
mod folded;
mod hatchet;
mod perfetto;
mod pprof;
mod sarif;
mod speedscope;
mod stacks;
mod tables;

pub use callgrind::callgrind;
pub use csv::csv;
pub use folded::folded;
pub use hatchet::hatchet;
pub use perfetto::perfetto;
pub use pprof::pprof;
pub use sarif::sarif;
pub use speedscope::speedscope;
pub use stacks::COSTS;
pub use tables::tables;

pub(super) use csv::quoted;
pub(super) use sarif::{Scanned, of_findings};
