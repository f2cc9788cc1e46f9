//! Kernels of an executable that was built for profiling but not run: its site tables, with given or invented
//! arguments.

mod image;
mod kernel;

pub use image::{BuiltKernel, Module, modules};
pub use kernel::{Unlaunched, made_up, unseen_call};

use std::path::PathBuf;

/// Reasons why an executable cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ExecutableError {
    /// The file cannot be opened.
    #[error("{}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file is not an object file, or is damaged.
    #[error("{}: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The cause.
        reason: String,
    },
    /// The executable was not built for profiling.
    #[error("{}: no device code of this release in it: build it with `warpline cc`, or give a profile", path.display())]
    NoModules {
        /// The file.
        path: PathBuf,
    },
}
