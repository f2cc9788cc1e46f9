//! What the host's processor does with many numbers at once, for the hot loops of the analyses.

pub mod processor;
mod sorted;

pub use sorted::sorted;
