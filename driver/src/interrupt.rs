//! What has to go when the user interrupts a compilation: folders of intermediate files.
//!
//! A signal's handler may do next to nothing, so it wakes a thread that removes them and then lets the signal do what it does.

use std::io::Read;
use std::os::fd::{IntoRawFd, RawFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, Once, PoisonError};

/// Signals that end a compilation from outside.
const SIGNALS: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// Where the handler writes to; -1 before there is a thread that reads.
static WAKE: AtomicI32 = AtomicI32::new(-1);

/// Removes a folder when the process is ended from outside.
pub fn removes(folder: PathBuf) {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).push(folder);
    static ONCE: Once = Once::new();
    // Without it, files may be left behind; nothing else is lost.
    ONCE.call_once(|| _ = watch());
}

fn watch() -> std::io::Result<()> {
    let (mut read, write) = std::io::pipe()?;
    WAKE.store(write.into_raw_fd(), Ordering::Release);
    std::thread::Builder::new().name("interrupt".into()).spawn(move || {
        let mut signal = [0u8];
        if read.read_exact(&mut signal).is_ok() {
            let folders = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
            for folder in folders.iter() {
                // A compiler that has not ended yet may still write there; what cannot be removed stays.
                _ = std::fs::remove_dir_all(folder).or_else(|_| std::fs::remove_dir_all(folder));
            }
            end(i32::from(signal[0]));
        }
    })?;
    for signal in SIGNALS {
        // SAFETY: a handler that does nothing but write a byte. Who ignores a signal, as `nohup` does, goes on to.
        unsafe {
            let before = libc::signal(signal, handler as *const () as libc::sighandler_t);
            if before == libc::SIG_IGN {
                libc::signal(signal, libc::SIG_IGN);
            }
        }
    }
    Ok(())
}

extern "C" fn handler(signal: i32) {
    let descriptor: RawFd = WAKE.load(Ordering::Acquire);
    let byte = signal as u8;
    // SAFETY: one byte to a pipe that stays open.
    unsafe { libc::write(descriptor, (&raw const byte).cast(), 1) };
}

/// Ends the process by the signal, so that whoever waits for it sees what happened.
fn end(signal: i32) -> ! {
    // SAFETY: the signal's own effect is wanted.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
        libc::_exit(128 + signal)
    }
}
