//! HTTP on the loopback address. Other users of the machine can also reach it, so each request must contain a token.

use std::convert::Infallible;
use std::io::Read as _;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use hyper::service::service_fn;
use hyper::{Request, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use crate::error::ServeError;
use crate::server::Server;

/// Maximum bytes of a request.
const MOST_REQUEST: usize = 1 << 20;
/// Maximum seconds until a client has sent the header of a request.
const HEAD_SECONDS: u64 = 10;

type Service = StreamableHttpService<Server, LocalSessionManager>;

/// Serves on a port of 127.0.0.1 until the process ends.
pub(crate) async fn serve(server: Server, port: u16, token: Option<&str>) -> Result<(), ServeError> {
    let listening = |error| ServeError::Listen { port, error };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(listening)?;
    let port = listener.local_addr().map_err(listening)?.port();
    let token: Arc<str> = match token {
        Some(token) => token.into(),
        None => random_token().map_err(ServeError::Start)?.into(),
    };
    eprintln!("warpline: http://127.0.0.1:{port}/mcp\nwarpline: Authorization: Bearer {token}");
    let origins = [format!("http://127.0.0.1:{port}"), format!("http://localhost:{port}")];
    let config =
        StreamableHttpServerConfig::default().with_allowed_origins(origins).with_max_request_body_bytes(MOST_REQUEST);
    let service = StreamableHttpService::new(move || Ok(server.clone()), Arc::default(), config);
    loop {
        // A connection that fails before it is accepted affects only its client.
        let Ok((stream, _)) = listener.accept().await else { continue };
        let (service, token) = (service.clone(), Arc::clone(&token));
        tokio::spawn(async move {
            let answer = service_fn(move |request| answer(service.clone(), Arc::clone(&token), request));
            let mut connection = hyper::server::conn::http1::Builder::new();
            connection.timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(HEAD_SECONDS));
            // A client that disconnects is not an error of the server.
            _ = connection.serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}

type Response = hyper::Response<BoxBody<Bytes, Infallible>>;

async fn answer(service: Service, token: Arc<str>, request: Request<Incoming>) -> Result<Response, Infallible> {
    let sent = request.headers().get(AUTHORIZATION).map(|value| value.as_bytes());
    if !sent.is_some_and(|sent| is_same(sent, format!("Bearer {token}").as_bytes())) {
        return Ok(unauthorized());
    }
    Ok(service.handle(request).await)
}

fn unauthorized() -> Response {
    let text = "send the header `Authorization: Bearer TOKEN` with the token that `warpline mcp --http` printed\n";
    let mut response = Response::new(Full::new(Bytes::from(text)).boxed());
    *response.status_mut() = StatusCode::UNAUTHORIZED;
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

/// Compares texts in a time that does not depend on the position of a difference.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let differences = one.iter().zip(other).fold(0, |sum, (one, other)| sum | (one ^ other));
    one.len() == other.len() && differences == 0
}

fn random_token() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
