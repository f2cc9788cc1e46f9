//! Precompiled headers: everything that clang reads before a CUDA source. These are clang's wrapper around CUDA's
//! headers, with the headers of the toolkit and of the standard library, and Warpline's own headers. Reading them takes
//! most of a second, for each side of each source.
//!
//! [`options`] selects the options on which they depend, [`store`] keeps them in the user's cache, [`inputs`] tracks
//! the files from which they were made, and [`precompiled`] compiles with them.

mod inputs;
mod options;
mod precompiled;
mod store;

pub use precompiled::Precompiled;
