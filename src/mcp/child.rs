//! Runs the `warpline` executable as a child process, within bounds.

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

/// How often memory is checked.
const INTERVAL: Duration = Duration::from_millis(200);
/// How often a client hears of a run.
const PROGRESS: Duration = Duration::from_secs(1);
/// What a run gets to end on its own, so that it removes its temporary files.
const GRACE: Duration = Duration::from_secs(2);
/// The end of each stream that is kept.
const MOST_OUTPUT: usize = 64 << 10;

/// Bounds of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Seconds that this run may take.
    pub(crate) seconds: u64,
    /// Seconds that any run may take.
    pub(crate) most_seconds: u64,
    /// Bytes of its processes in memory.
    pub(crate) memory: u64,
}

/// A run that has ended on its own.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    /// The end of standard output.
    pub(crate) output: String,
    /// The end of standard error.
    pub(crate) messages: String,
}

/// Ends what is left of a run, whichever way it is left.
struct Guard(u32);

impl Drop for Guard {
    fn drop(&mut self) {
        Members::find(self.0).signal(libc::SIGKILL);
    }
}

/// Runs the executable in a folder. No shell is involved.
pub(crate) async fn run(
    executable: &Path,
    arguments: &[OsString],
    folder: &Path,
    bounds: Bounds,
    context: &RequestContext<RoleServer>,
) -> Result<Finished, Refusal> {
    let mut command = Command::new(executable);
    // The profile of a rank would have another name than the requested one.
    for (variable, _) in std::env::vars().filter(|(variable, _)| names_a_rank(variable)) {
        command.env_remove(variable);
    }
    // SAFETY: between fork and exec only a system call is made.
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
        finished = ended => finished.map_err(|error| Refusal::Failed(format!("the run was lost: {error}"))),
        refusal = watch(id, bounds, context) => Err(refusal),
    };
    if result.is_err() {
        end(id).await;
    }
    drop(guard);
    result
}

/// Has the system send SIGTERM when the server ends, however it ends: the run then removes its temporary files.
fn end_with_parent() -> std::io::Result<()> {
    // SAFETY: sets an attribute of the calling process; no memory is touched.
    match unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Waits until a bound is exceeded or the client cancels; sends progress meanwhile.
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
            // A client that has left is noticed by the transport.
            _ = context.peer.notify_progress(progress).await;
        }
    }
}

/// Ends a run: first so that it can clean up.
async fn end(id: u32) {
    Members::find(id).signal(libc::SIGTERM);
    let start = Instant::now();
    while start.elapsed() < GRACE && !Members::find(id).is_empty() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The end of a stream, which is read to its end.
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
