//! `warpline run`: starts the program with a shared-memory ring, analyses the records in the ring while the program
//! runs, and writes the profile.

mod child;
mod execute;
mod further;
mod inherited;
mod messages;
mod naming;
mod plan;
mod processes;
mod progress;
mod ranked;
mod rounded;
mod signals;
mod stops;
mod tee;
mod unmatched;

pub(super) use execute::{execute, print_options, run, write};
pub(super) use messages::gpu_offer;
pub(super) use plan::Plan;
