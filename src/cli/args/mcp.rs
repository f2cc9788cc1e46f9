//! Arguments of `mcp`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `mcp`.
#[derive(Clone, Debug, Args)]
pub struct McpArguments {
    /// Folder that clients can reach; repeatable [default: the current folder]
    #[arg(long, value_name = "DIR")]
    pub root: Vec<PathBuf>,
    /// Serve HTTP on this port of 127.0.0.1 in the place of standard input and output; 0 takes a free port. Clients have to
    /// send the token that is printed, or that WARPLINE_MCP_TOKEN contains
    #[arg(long, value_name = "PORT")]
    pub http: Option<u16>,
    /// Seconds that a run may take
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub seconds: u64,
    /// Memory that the processes of a run may take together
    #[arg(long, value_name = "SIZE", default_value = "8G")]
    pub memory: String,
}
