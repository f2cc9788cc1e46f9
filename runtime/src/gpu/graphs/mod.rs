//! Graphs on a GPU: executable graphs and their hooked twins, and the API calls for them.

pub mod calls;
pub mod changes;
pub mod error;
pub mod executables;
pub mod functions;
pub mod twin;
