//! What clang reads before every CUDA source, precompiled: its wrapper around CUDA's headers, the toolkit's and the
//! standard library's behind it, and our own. Reading them takes the better part of a second, for each side of each
//! source.
//!
//! [`options`] selects the options they depend on, [`store`] keeps them in the user's cache, [`inputs`] tracks the
//! files that they were made of, and [`precompiled`] compiles with them.

mod inputs;
mod options;
mod precompiled;
mod store;

pub use precompiled::Precompiled;
