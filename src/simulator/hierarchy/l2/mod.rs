//! L2 and the DRAM traffic behind it.

mod egress;
mod level2;
mod request;
mod rules;
mod second_level;
mod written;

pub use egress::{Egress, EgressQueue, L2Request};
pub use level2::Level2;
pub use request::{L2Access, L2Op, L2Outcome};
pub use second_level::SecondLevel;
#[cfg(test)]
pub(super) use second_level::add;
pub use written::Written;
