//! Reasons why a server does not start, and why a tool refuses a request.

use std::path::PathBuf;

use warpline_profile::ProfileError;

/// Reasons why the server does not start, or ends.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A folder to be served cannot be accessed.
    #[error("--root {path}: cannot serve this folder: {error}")]
    Root {
        /// Folder.
        path: PathBuf,
        /// Cause.
        error: std::io::Error,
    },
    /// The address is in use, or is not permitted.
    #[error("cannot listen on 127.0.0.1:{port}: {error}; choose another port with --http PORT")]
    Listen {
        /// Port.
        port: u16,
        /// Cause.
        error: std::io::Error,
    },
    /// The system cannot provide threads, pipes or random numbers.
    #[error("cannot start the server: {0}")]
    Start(std::io::Error),
    /// The connection failed.
    #[error("the connection failed: {0}")]
    Transport(String),
}

/// Reasons why a tool refuses a request, with the next step for the client.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("`{0}` lies outside the folders of this server ({1}); pass a path inside one of them")]
    Outside(String, String),
    #[error(
        "`{0}` is a symbolic link, or contains one, that leads out of the folders of this server; pass the path of the file itself"
    )]
    Link(String),
    #[error("`{path}`: {error}; paths are relative to {root}")]
    Path { path: String, error: String, root: String },
    #[error("`{0}` is not a file; pass the path of a file")]
    NotAFile(String),
    #[error("{0}")]
    Profile(#[from] ProfileError),
    #[error(
        "`{path}` has {bytes} bytes once unpacked, more than the limit of {most}; start the server with a larger --memory"
    )]
    TooLarge { path: String, bytes: u64, most: u64 },
    #[error("`{name}` is `{value}`: {expected}")]
    Argument { name: &'static str, value: String, expected: String },
    #[error("{0}")]
    NothingMatched(String),
    #[error("the cursor does not belong to this request, or the profile has changed; call again without a cursor")]
    Cursor,
    #[error(
        "the run took more than {seconds} s and was ended; pass a larger `seconds` (this server allows {most}), or a smaller problem"
    )]
    Time { seconds: u64, most: u64 },
    #[error(
        "the run took more than {0} bytes of memory and was ended; use a smaller problem, or start the server with a larger --memory"
    )]
    Memory(u64),
    #[error("the request was cancelled; the run was ended")]
    Cancelled,
    #[error("cannot start {path}: {error}")]
    Start { path: PathBuf, error: std::io::Error },
    #[error("{0}")]
    Failed(String),
}

impl Refusal {
    /// Returns the refusal of an invalid argument.
    pub(crate) fn argument(name: &'static str, value: impl Into<String>, expected: impl Into<String>) -> Refusal {
        // The client's text can have any length and is included in the answer, so it is truncated.
        let value: String = value.into().chars().take(80).collect();
        Refusal::Argument { name, value, expected: expected.into() }
    }
}
