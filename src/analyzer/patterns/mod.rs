//! Describes the access patterns that explain the cost of requests: strides between lanes, address collisions of atomic
//! operations, an example of a bank conflict, and the touched sectors.
//!
//! [`Patterns`] processes requests. It stores only sums, maxima and sets, so the result does not depend on the number
//! of workers.

mod atomics;
mod banks;
mod hottest;
mod majority;
mod serial;
mod strides;
mod tool;
mod touched;

pub use atomics::{Collisions, HotPlace};
pub use banks::BankExample;
pub use serial::SerialAtomics;
pub use strides::Strides;
pub use tool::{PatternSums, Patterns, SitePattern};
pub use touched::{Touched, TouchedMap, TouchedRows};
