//! A server of the [Model Context Protocol](https://modelcontextprotocol.io): profiles for agents and other programs.
//!
//! `Server` has one tool per kind of query. The functions behind the formats of `warpline report`, `diff` and `explain`
//! produce the answers. Programs run in a child process of the `warpline` executable. [`Settings`] limits the folders,
//! seconds and memory that a client can use. Every answer is a page of bounded length.

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
                // A client that disconnects before the handshake is not an error.
                let Ok(running) = server.serve(transport).await else { return Ok(()) };
                running.waiting().await.map(drop).map_err(|error| ServeError::Transport(error.to_string()))
            }
        }
    });
    // Work of clients that have cancelled must not keep the process alive.
    runtime.shutdown_background();
    result
}
