//! What one request costs, and sums of it.
//!
//! Definitions are those of the contract: a *sector* is a 32-byte aligned piece of memory, a *line*
//! a 128-byte one; a request's sectors are the distinct ones its lanes touch; *ideal sectors* are
//! the distinct bytes it touches divided by 32, rounded up.

mod banks;
mod counters;
mod footprint;
mod line_table;
#[cfg(test)]
mod reference;
mod scattered;

pub use banks::{WavefrontMemo, Wavefronts, wavefronts};
pub use counters::{Counters, Histogram};
pub use footprint::{Footprint, FootprintMemo, footprint, together};
pub use line_table::LineTable;
pub use scattered::Scattered;
