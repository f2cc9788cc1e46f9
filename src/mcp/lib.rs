//! A server of the [Model Context Protocol](https://modelcontextprotocol.io): profiles for agents and other programs.
//!
//! `Server` has a tool for each question. What a tool answers is made by the functions behind the formats of `warpline
//! report`, `diff` and `explain`; what runs a program is a child process of the `warpline` executable. [`Settings`] bound what a
//! client can reach: folders, seconds and memory. Every answer is a page of bounded length.

mod arguments;
mod child;
mod error;
mod exchange;
mod http;
mod pages;
mod processes;
mod profiles;
mod resources;
mod roots;
mod server;
mod settings;
mod tools;
mod uri;

pub use error::ServeError;
pub use exchange::exchange;
pub use settings::{Settings, Transport};

use rmcp::ServiceExt as _;
use server::Server;

/// Serves until the client leaves.
///
/// # Errors
/// Returns an error if a folder cannot be served, the address is taken, or the transport fails.
pub fn serve(settings: &Settings) -> Result<(), ServeError> {
    let server = Server::new(settings)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(ServeError::Start)?;
    let result = runtime.block_on(async {
        match &settings.transport {
            Transport::Http { port, token } => http::serve(server, *port, token.as_deref()).await,
            Transport::Stdio => {
                let transport = rmcp::transport::io::stdio();
                // A client that leaves before it has introduced itself is not a failure.
                let Ok(running) = server.serve(transport).await else { return Ok(()) };
                running.waiting().await.map(drop).map_err(|error| ServeError::Transport(error.to_string()))
            }
        }
    });
    // Work that a client has given up on must not hold the process.
    runtime.shutdown_background();
    result
}
