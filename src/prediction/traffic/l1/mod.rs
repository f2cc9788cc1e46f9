//! Loads between L2 and L1: some blocks are replayed through the L1 of their SM ([`replay`]), and their misses stand for all
//! ([`first_level`]).

mod first_level;
mod kinds;
mod replay;
mod requests;
mod sm;

pub use replay::Replay;
