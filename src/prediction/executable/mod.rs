//! Kernels of an executable that was built for profiling and never ran: its site tables, with arguments that are made up or given.

mod image;
mod kernel;

pub use image::{BuiltKernel, Module, modules};
pub use kernel::{Unlaunched, made_up, unseen_call};

use std::path::PathBuf;

/// Why an executable cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ExecutableError {
    /// It cannot be opened.
    #[error("{}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is not an object file, or a damaged one.
    #[error("{}: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// It was not built for profiling.
    #[error("{}: no device code of this release in it: build it with `warpline cc`, or give a profile", path.display())]
    NoModules {
        /// The file.
        path: PathBuf,
    },
}
