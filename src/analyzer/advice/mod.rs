//! Finds changes that improve a kernel's cache behaviour by simulating its trace again.

mod advise;
#[cfg(test)]
mod advise_tests;

pub use advise::{Advice, Best, Choice, Equation, advise};
