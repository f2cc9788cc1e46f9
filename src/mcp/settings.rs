//! What a server serves, and its bounds.

use std::path::PathBuf;

/// How clients reach the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Standard input and output.
    Stdio,
    /// HTTP on 127.0.0.1.
    Http {
        /// Port; 0 takes any.
        port: u16,
        /// Token that clients have to send; a random one where none is given.
        token: Option<String>,
    },
}

/// What a server serves, and its bounds.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Folders that clients can reach; none: the current folder.
    pub roots: Vec<PathBuf>,
    /// The `warpline` executable that runs programs.
    pub executable: PathBuf,
    /// How clients reach the server.
    pub transport: Transport,
    /// Seconds that a run may take.
    pub seconds: u64,
    /// Bytes that the processes of a run may have together in memory.
    pub memory: u64,
}
