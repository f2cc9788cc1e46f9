//! Call paths of the host. For compiled programs, they are the return addresses from unwinding, stored independently of
//! the objects' load addresses. Names and lines are determined later, off-line.

pub mod interpreted;
mod objects;
mod unwind;

pub use objects::Objects;
pub use unwind::{Entry, capture, capture_from};

/// The return addresses, innermost first.
pub type Frames = Vec<u64>;
