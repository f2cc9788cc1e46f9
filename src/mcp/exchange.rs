//! Processes a whole conversation at once, for tests with hostile input.

use rmcp::ServiceExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::error::ServeError;
use crate::server::Server;
use crate::settings::Settings;

/// Bytes that are buffered in each direction.
const BUFFER: usize = 1 << 20;

/// Sends all bytes of a client to a server, and returns all answers of the server.
///
/// # Errors
/// Returns an error if a folder cannot be served, or there is no runtime.
pub fn exchange(settings: &Settings, input: &[u8]) -> Result<Vec<u8>, ServeError> {
    let server = Server::new(settings)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(ServeError::Start)?;
    let answers = runtime.block_on(async {
        let (client, transport) = tokio::io::duplex(BUFFER);
        let (mut reader, mut writer) = tokio::io::split(client);
        let serve = async {
            // Invalid input ends the conversation.
            if let Ok(running) = server.serve(transport).await {
                _ = running.waiting().await;
            }
        };
        let send = async {
            // The server may have ended before it has read everything.
            _ = writer.write_all(input).await;
            _ = writer.shutdown().await;
        };
        let receive = async {
            let mut answers = Vec::new();
            _ = reader.read_to_end(&mut answers).await;
            answers
        };
        let ((), (), answers) = tokio::join!(serve, send, receive);
        answers
    });
    runtime.shutdown_background();
    Ok(answers)
}
