//! Call paths of the host. Of compiled programs: return addresses by unwinding, made independent of where the objects
//! were loaded. Names and lines are looked up later, off-line.

pub mod interpreted;
mod objects;
mod unwind;

pub use objects::Objects;
pub use unwind::{Entry, capture, capture_from};

/// Return addresses, innermost first.
pub type Frames = Vec<u64>;
