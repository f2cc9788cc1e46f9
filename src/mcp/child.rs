//! Runs the `warpline` executable as a child process, with limits on time and memory.

use std::ffi::OsString;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rmcp::model::ProgressNotificationParam;
use rmcp::service::{RequestContext, RoleServer};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use tokio::time::Instant;

use crate::error::Refusal;
use crate::processes::Members;
use warpline_profile::ranks::names_a_rank;

/// Interval between checks of the memory.
const INTERVAL: Duration = Duration::from_millis(200);
/// Interval between progress reports to the client.
const PROGRESS: Duration = Duration::from_secs(1);
/// Time that a run gets to end by itself, so that it can remove its temporary files.
const GRACE: Duration = Duration::from_secs(2);
/// Bytes at the end of each stream that are kept.
const MOST_OUTPUT: usize = 64 << 10;

/// Limits of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Maximum seconds of this run.
    pub(crate) seconds: u64,
    /// Maximum seconds of any run.
    pub(crate) most_seconds: u64,
    /// Maximum resident memory of its processes in bytes.
    pub(crate) memory: u64,
}

/// A run that ended by itself.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    /// The end of standard output.
    pub(crate) output: String,
    /// The end of standard error.
    pub(crate) messages: String,
}

/// Ends the remaining processes of a run when it is dropped.
struct Guard(u32);

impl Drop for Guard {
    fn drop(&mut self) {
        Members::find(self.0).signal(libc::SIGKILL);
    }
}

/// Runs the executable in a folder, without a shell.
pub(crate) async fn run(
    executable: &Path,
    arguments: &[OsString],
    folder: &Path,
    bounds: Bounds,
    context: &RequestContext<RoleServer>,
) -> Result<Finished, Refusal> {
    let mut command = Command::new(executable);
    // In the environment of a rank, the profile would get another name than the requested one.
    for (variable, _) in std::env::vars().filter(|(variable, _)| names_a_rank(variable)) {
        command.env_remove(variable);
    }
    // SAFETY: only a system call is made between fork and exec.
    unsafe { command.pre_exec(end_with_parent) };
    let mut child = command
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|error| Refusal::Start { path: executable.to_owned(), error })?;
    let Some(id) = child.id() else { return Err(Refusal::Failed("the run ended before it began".to_owned())) };
    let guard = Guard(id);
    let streams = (child.stdout.take(), child.stderr.take());
    let ended = async {
        let (output, messages) = tokio::join!(tail(streams.0), tail(streams.1));
        child.wait().await.map(|status| Finished { status, output, messages })
    };
    let result = tokio::select! {
        finished = ended => finished.map_err(|error| Refusal::Failed(format!("the state of the run is unknown: {error}"))),
        refusal = watch(id, bounds, context) => Err(refusal),
    };
    if result.is_err() {
        end(id).await;
    }
    drop(guard);
    result
}

/// Requests that the system sends SIGTERM when the server ends for any reason. The run then removes its temporary
/// files.
fn end_with_parent() -> std::io::Result<()> {
    // SAFETY: the call sets an attribute of the calling process and does not access memory.
    match unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Waits until a limit is exceeded or the client cancels; sends progress in the meantime.
async fn watch(id: u32, bounds: Bounds, context: &RequestContext<RoleServer>) -> Refusal {
    let start = Instant::now();
    let mut reported = Duration::ZERO;
    loop {
        tokio::select! {
            () = context.ct.cancelled() => return Refusal::Cancelled,
            () = tokio::time::sleep(INTERVAL) => {}
        }
        let elapsed = start.elapsed();
        if elapsed.as_secs() >= bounds.seconds {
            return Refusal::Time { seconds: bounds.seconds, most: bounds.most_seconds };
        }
        if Members::find(id).resident_bytes() > bounds.memory {
            return Refusal::Memory(bounds.memory);
        }
        if let Some(token) = context.meta.get_progress_token().filter(|_| elapsed >= reported + PROGRESS) {
            reported = elapsed;
            let seconds = elapsed.as_secs_f64();
            let progress = ProgressNotificationParam::new(token, seconds)
                .with_total(bounds.seconds as f64)
                .with_message(format!("runs for {seconds:.0} s of at most {}", bounds.seconds));
            // The transport detects a client that has disconnected.
            _ = context.peer.notify_progress(progress).await;
        }
    }
}

/// Ends a run; it first gets time to clean up.
async fn end(id: u32) {
    Members::find(id).signal(libc::SIGTERM);
    let start = Instant::now();
    while start.elapsed() < GRACE && !Members::find(id).is_empty() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Reads a stream to its end, and returns the last part.
async fn tail(stream: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut stream) = stream else { return String::new() };
    let (mut kept, mut buffer) = (Vec::new(), vec![0; 8 << 10]);
    while let Ok(length @ 1..) = stream.read(&mut buffer).await {
        kept.extend_from_slice(&buffer[..length]);
        let beyond = kept.len().saturating_sub(MOST_OUTPUT);
        kept.drain(..beyond);
    }
    String::from_utf8_lossy(&kept).into_owned()
}
