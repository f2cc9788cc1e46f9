//! Operations on many numbers at once with the host's vector instructions, for the hot loops of the analyses.

pub mod processor;
mod sorted;

pub use sorted::sorted;
