//! The program's requests to the device: launches, copies, fills, and child launches.

pub(crate) mod argument_events;
pub mod children;
pub(crate) mod cooperative;
pub mod copy;
mod execute;
pub(crate) mod failed;
pub(crate) mod fetched;
pub mod graph_work;
pub mod launch;
pub(crate) mod permitted;
pub mod results;
mod sample;
pub mod sections;
mod serial;
pub mod submitted;
