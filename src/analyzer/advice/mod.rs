//! What would serve a kernel's caches better, found by simulating its trace again.

mod advise;
#[cfg(test)]
mod advise_tests;

pub use advise::{Advice, Best, Choice, Equation, advise};
