//! The L1 caches of all SMs.

mod by_sm;
mod level1;
mod queue;
mod request;
mod rules;
mod writers;

pub use level1::Level1;
pub(super) use queue::{Origin, RequestQueue};
pub use request::{L1Outcome, Route};
