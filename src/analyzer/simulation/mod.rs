//! Simulates caches and computes reuse distances for the requests of a trace.
//!
//! Each worker of the analysis has a [`Simulation`] that serves the SMs of its part: coalescing, L1 and reuse
//! distances. Requests that leave the SMs go to the [`SharedStage`]. It restores the trace's order within each batch
//! and serves L2, divided into shares. The figures therefore do not depend on the number of workers.

mod bypass;
#[cfg(test)]
mod delta_tests;
#[cfg(test)]
mod measured_tests;
mod reorder;
mod reuse;
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
