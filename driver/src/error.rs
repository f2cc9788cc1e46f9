//! The errors that can end a compilation, and their exit codes.

use crate::command::StartError;
use crate::invocation::UsageError;
use std::path::PathBuf;
use warpline_toolchain::{EXIT_TOOLCHAIN, ToolchainError};

/// The reason why a compilation ended. Compiler errors have no text here, because the compiler has printed it, see
/// [`Self::Compiler`].
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// The command line is invalid.
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// A required tool is not installed.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// A program that was found cannot be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The compiler or linker failed and has printed the reason.
    #[error("the compiler failed with exit code {0}")]
    Compiler(i32),
    /// A file of the driver cannot be read or written.
    #[error("cannot {what} {}: {cause}", .path.display())]
    File {
        /// "read" or "write".
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error message.
        cause: std::io::Error,
    },
    /// A stage of the pass refused the code.
    #[error("{source_file}: {cause}")]
    Pass {
        /// The source that was compiled.
        source_file: String,
        /// The stage's message.
        cause: String,
    },
    /// An object with device code cannot be read.
    #[error("{}: {cause}", .path.display())]
    Object {
        /// The object or archive.
        path: PathBuf,
        /// The problem of the object.
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

    /// Converts an error while reading a file, for `map_err`.
    pub fn reading(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> DriverError {
        let path = path.into();
        move |cause| DriverError::File { what: "read", path, cause }
    }

    /// Converts an error while writing a file, for `map_err`.
    pub fn writing(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> DriverError {
        let path = path.into();
        move |cause| DriverError::File { what: "write", path, cause }
    }
}
