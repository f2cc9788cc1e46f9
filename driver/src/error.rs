//! Everything that can end a compilation, and the exit code that it gives.

use crate::command::StartError;
use crate::invocation::UsageError;
use std::path::PathBuf;
use warpline_toolchain::{EXIT_TOOLCHAIN, ToolchainError};

/// Why a compilation ended. Compiler errors are not among them: their text is the compiler's, see [`Self::Compiler`].
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// The command line.
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// Something is not installed.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// A program that was found does not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The compiler or linker failed and has printed the reason.
    #[error("the compiler failed with exit code {0}")]
    Compiler(i32),
    /// A file of ours cannot be read or written.
    #[error("cannot {what} {}: {cause}", .path.display())]
    File {
        /// "read" or "write".
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's words.
        cause: std::io::Error,
    },
    /// A stage of the pass refused the code.
    #[error("{source_file}: {cause}")]
    Pass {
        /// Source that was compiled.
        source_file: String,
        /// The stage's message.
        cause: String,
    },
    /// An object with device code cannot be read.
    #[error("{}: {cause}", .path.display())]
    Object {
        /// The object or archive.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
}

impl DriverError {
    /// Exit code of `warpline-cc`.
    pub fn exit_code(&self) -> u8 {
        match self {
            DriverError::Compiler(code) => u8::try_from(*code).unwrap_or(1),
            DriverError::Toolchain(_) | DriverError::Start(_) => EXIT_TOOLCHAIN,
            _ => 1,
        }
    }

    /// For `map_err` on reading a file.
    pub fn reading(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> DriverError {
        let path = path.into();
        move |cause| DriverError::File { what: "read", path, cause }
    }

    /// For `map_err` on writing a file.
    pub fn writing(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> DriverError {
        let path = path.into();
        move |cause| DriverError::File { what: "write", path, cause }
    }
}
