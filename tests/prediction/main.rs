//! Predicted launches against simulated ones.

mod calibration;
mod capacity;
mod command;
mod computed;
mod halos;
mod large;
mod spaces;

#[path = "../support/mod.rs"]
mod support;
#[path = "../support_programs/mod.rs"]
mod support_programs;
