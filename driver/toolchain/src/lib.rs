//! Finds the programs and files that are needed for compiling CUDA with Warpline, with their versions, and shows how to
//! install missing parts. It does not link any of them, so that `warpline doctor` works on a machine that has none. It
//! also contains code for both binaries that removes temporary files when they end early: after a signal, and at the
//! limit on file sizes.

pub mod cache;
pub mod clang;
pub mod cuda;
pub mod doctor;
pub mod fetch;
pub mod gpu;
pub mod installation;
mod installer;
pub mod interrupt;
pub mod large_files;
pub mod linker;
pub mod packages;
pub mod pins;
pub mod programs;

use std::path::PathBuf;

/// The exit code if a tool is missing or has the wrong version.
pub const EXIT_TOOLCHAIN: u8 = 6;

/// A part of the toolchain that is missing, wrong or unusable.
#[derive(Debug, thiserror::Error)]
pub enum ToolchainError {
    /// The part was not found in any searched place.
    #[error("{what} not found (searched: {looked_at}). To get it: {cure}")]
    Missing {
        /// The part that was searched for.
        what: String,
        /// The searched places, for the message.
        looked_at: String,
        /// A command or an instruction.
        cure: String,
    },
    /// The part was found in an unsuitable version.
    #[error("{} is {what} {found}, needed is {wanted}. To get it: {cure}", .path.display())]
    WrongVersion {
        /// The name of the part.
        what: String,
        /// The path.
        path: PathBuf,
        /// The version that was found.
        found: String,
        /// The required version.
        wanted: String,
        /// A command or an instruction.
        cure: String,
    },
    /// The part was found, but it does not work.
    #[error("{} does not work: {cause}. {cure}", .path.display())]
    Broken {
        /// The path.
        path: PathBuf,
        /// The problem.
        cause: String,
        /// A command or an instruction.
        cure: String,
    },
    /// The toolkit parts could not be fetched, or not unpacked.
    #[error("cannot get NVIDIA's wheels with the CUDA toolkit parts: {cause}. {cure}")]
    NotFetched {
        /// The reason.
        cause: String,
        /// A command or an instruction.
        cure: String,
    },
    /// The user's cache folder cannot be used.
    #[error("cannot write the cache file {}: {cause}. Set XDG_CACHE_HOME to a folder that can be written", .path.display())]
    Cache {
        /// The path of the file or folder.
        path: PathBuf,
        /// The system's error message.
        cause: std::io::Error,
    },
    /// There is no known folder for the cache.
    #[error("neither XDG_CACHE_HOME nor HOME is set: set one, Warpline keeps its cache there")]
    NoCache,
}
