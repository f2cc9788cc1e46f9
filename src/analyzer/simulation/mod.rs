//! Runs the cache and locality engines over the requests of a trace.
//!
//! Each worker of the analysis has a [`Simulation`] that serves the SMs of its share: coalescing,
//! L1 and reuse distances. What leaves the SMs goes to the [`SharedStage`]; it
//! puts each batch of the trace back into its order and serves L2, in shares. So the figures are the same
//! for any number of workers.

mod bypass;
#[cfg(test)]
mod delta_tests;
#[cfg(test)]
mod measured_tests;
mod reorder;
mod settings;
mod stage;
mod tool;
#[cfg(test)]
mod wavefront_tests;

pub use bypass::Bypass;
pub use reorder::{Misfit, Reorder, ReorderError};
pub use settings::{ReuseScope, ReuseSettings, Settings};
pub use stage::SharedStage;
pub use tool::Simulation;
