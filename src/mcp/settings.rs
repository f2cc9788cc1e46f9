//! Settings of a server: transport, folders and limits.

use std::path::PathBuf;

/// How clients reach the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Standard input and output.
    Stdio,
    /// HTTP on 127.0.0.1.
    Http {
        /// Port number; 0 selects a free port.
        port: u16,
        /// Token that clients must send; a random token if none is given.
        token: Option<String>,
    },
}

/// Settings of a server: transport, folders and limits.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Folders that clients can access; the current folder if empty.
    pub roots: Vec<PathBuf>,
    /// The `warpline` executable that runs programs.
    pub executable: PathBuf,
    /// How clients reach the server.
    pub transport: Transport,
    /// Maximum seconds of a run.
    pub seconds: u64,
    /// Maximum resident memory of a run's processes together, in bytes.
    pub memory: u64,
}
