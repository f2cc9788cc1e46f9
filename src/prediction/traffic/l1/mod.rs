//! Loads between L2 and L1. Some blocks are replayed through the L1 of their SM ([`replay`]); their misses are
//! extrapolated to all blocks ([`first_level`]).

mod first_level;
mod kinds;
mod replay;
mod requests;
mod sm;

pub use replay::Replay;
