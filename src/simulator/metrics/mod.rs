//! Counts the costs of requests.
//!
//! A *sector* is a 32-byte aligned piece of memory, and a *line* a 128-byte aligned piece. A request's sectors are the
//! distinct ones that its lanes touch. *Ideal sectors* are the distinct bytes that it touches, divided by 32 and
//! rounded up.

mod banks;
mod counters;
mod footprint;
mod line_bytes;
#[cfg(test)]
mod reference;
mod scattered;

pub use banks::{WavefrontMemo, Wavefronts, wavefronts};
pub use counters::{Counters, Histogram};
pub use footprint::{Footprint, FootprintMemo, footprint, together};
pub use line_bytes::LineBytes;
pub use scattered::Scattered;
