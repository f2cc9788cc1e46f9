//! How requests use memory, as an explanation of their cost: the strides between lanes, what lanes of
//! an atomic operation meet on one address, an example of a bank conflict, and which sectors are touched at all.
//!
//! [`Patterns`] follows requests; all it keeps are sums, greatest values and sets, so that any number of workers gives
//! the same.

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
