//! Arguments of `mcp`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `mcp`.
#[derive(Clone, Debug, Args)]
pub struct McpArguments {
    /// Folder that clients can access; repeatable [default: the current folder]
    #[arg(long, value_name = "DIR")]
    pub root: Vec<PathBuf>,
    /// Serve HTTP on this port of 127.0.0.1 instead of standard input and output; 0 selects a free port. Clients must
    /// send the printed token, or the token in WARPLINE_MCP_TOKEN
    #[arg(long, value_name = "PORT")]
    pub http: Option<u16>,
    /// Time limit of a run, in seconds
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub seconds: u64,
    /// Memory limit of the processes of a run together
    #[arg(long, value_name = "SIZE", default_value = "8G")]
    pub memory: String,
}
