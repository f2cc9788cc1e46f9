//! What the program asks of the device: launches, copies, fills, and what they launch in turn.

pub(crate) mod arguments;
pub mod children;
pub(crate) mod cooperative;
pub mod copy;
pub(crate) mod failed;
pub(crate) mod fetched;
pub mod graph_work;
pub mod launch;
pub(crate) mod permitted;
pub(crate) mod sample;
pub mod sections;
pub mod submitted;
