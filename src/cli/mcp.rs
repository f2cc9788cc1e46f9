//! `warpline mcp`.

use crate::cli::Failure;
use crate::cli::args::McpArguments;
use crate::exit_code;

#[cfg(not(feature = "mcp"))]
pub(in crate::cli) fn execute(_: &McpArguments) -> Result<u8, Failure> {
    let message = "this warpline was built without the server for agents; build with it: make build, or cargo build --release \
                   --features mcp";
    Err(Failure::new(exit_code::TOOLCHAIN, message))
}

#[cfg(feature = "mcp")]
pub(in crate::cli) fn execute(arguments: &McpArguments) -> Result<u8, Failure> {
    use crate::cli::quantities;
    use warpline_mcp::{Settings, Transport};

    let memory = quantities::size(&arguments.memory).filter(|bytes| *bytes > 0).ok_or_else(|| {
        let message = format!("--memory takes a size as 512M or 4G, not `{}`", arguments.memory);
        Failure::new(exit_code::USAGE, message)
    })?;
    let executable = std::env::current_exe()
        .map_err(|error| Failure::new(exit_code::UNEXPECTED, format!("cannot find this executable: {error}")))?;
    let transport = match arguments.http {
        None => Transport::Stdio,
        Some(port) => {
            let token = std::env::var("WARPLINE_MCP_TOKEN").ok().filter(|token| !token.is_empty());
            Transport::Http { port, token }
        }
    };
    let settings =
        Settings { roots: arguments.root.clone(), executable, transport, seconds: arguments.seconds, memory };
    warpline_mcp::serve(&settings).map_err(|error| Failure::new(exit_code::UNEXPECTED, error))?;
    Ok(exit_code::OK)
}
