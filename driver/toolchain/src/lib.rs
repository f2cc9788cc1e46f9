//! Finds the programs and files that compiling CUDA with Warpline needs, with their versions, and shows how to get
//! what is missing. It links nothing of them, so that `warpline doctor` works on a machine that has none. In addition,
//! what both binaries do so that nothing is left behind when they end early: at a signal, and at the limit on file
//! sizes.

pub mod cache;
pub mod clang;
pub mod cuda;
pub mod doctor;
pub mod fetch;
pub mod gpu;
pub mod installation;
pub mod interrupt;
pub mod large_files;
pub mod packages;
pub mod pins;
pub mod programs;

use std::path::PathBuf;

/// Exit code of everything that fails because a tool is missing or has the wrong version.
pub const EXIT_TOOLCHAIN: u8 = 6;

/// A part of the toolchain that is missing, wrong or unusable.
#[derive(Debug, thiserror::Error)]
pub enum ToolchainError {
    /// Not found in any searched place.
    #[error("{what} not found (searched: {looked_at}). To get it: {cure}")]
    Missing {
        /// What was searched.
        what: String,
        /// Places, for the reader.
        looked_at: String,
        /// A command or an instruction.
        cure: String,
    },
    /// Found, in a version that does not fit.
    #[error("{} is {what} {found}, needed is {wanted}. To get it: {cure}", .path.display())]
    WrongVersion {
        /// What it is.
        what: String,
        /// Where it is.
        path: PathBuf,
        /// Its version.
        found: String,
        /// The version that fits.
        wanted: String,
        /// A command or an instruction.
        cure: String,
    },
    /// Found, and did not do what it should.
    #[error("{} does not work: {cause}. {cure}", .path.display())]
    Broken {
        /// Where it is.
        path: PathBuf,
        /// What happened.
        cause: String,
        /// A command or an instruction.
        cure: String,
    },
    /// The user's cache folder cannot be used.
    #[error("cannot write the cache file {}: {cause}. Set XDG_CACHE_HOME to a folder that can be written", .path.display())]
    Cache {
        /// File or folder.
        path: PathBuf,
        /// The system's words.
        cause: std::io::Error,
    },
    /// No folder is known that could hold the cache.
    #[error("neither XDG_CACHE_HOME nor HOME is set: set one, Warpline keeps its cache there")]
    NoCache,
}
