//! What has to go when somebody ends this process by a signal: temporary files and folders.
//!
//! A signal's handler may do next to nothing, so it wakes a thread that removes them and then lets the signal do what
//! it does.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::fd::{IntoRawFd, RawFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Mutex, Once, PoisonError};

/// Signals that end a process from outside; the last comes when its processor time is used up (`ulimit -t`).
const SIGNALS: [i32; 5] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGXCPU];

static PATHS: Mutex<BTreeMap<u64, PathBuf>> = Mutex::new(BTreeMap::new());
/// Where the handler writes to; -1 before there is a thread that reads.
static WAKE: AtomicI32 = AtomicI32::new(-1);

/// A file or folder that goes when the process is ended by a signal, as long as this value lives.
#[derive(Debug)]
#[must_use = "the path is removed only as long as this value lives"]
pub struct Removal(u64);

/// Has a file or folder removed when the process is ended from outside. Who removes it otherwise, as `tempfile` does,
/// still has to.
pub fn removes(path: &Path) -> Removal {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    static ONCE: Once = Once::new();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    PATHS.lock().unwrap_or_else(PoisonError::into_inner).insert(number, path.to_owned());
    // Without it, files may be left behind; nothing else is lost.
    ONCE.call_once(|| _ = watch());
    Removal(number)
}

impl Drop for Removal {
    fn drop(&mut self) {
        PATHS.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

/// Makes a started program end, by SIGTERM, when this process ends for any reason, so that it writes nothing
/// afterwards. The thread that starts it has to wait for it.
pub fn ends_with_us(command: &mut std::process::Command) {
    use std::os::unix::process::CommandExt as _;
    let us = std::process::id();
    // SAFETY: two system calls, which may be made between `fork` and `exec`.
    unsafe {
        command.pre_exec(move || {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
            // We may have ended before.
            match libc::getppid() as u32 == us {
                true => Ok(()),
                false => Err(std::io::ErrorKind::Interrupted.into()),
            }
        });
    }
}

fn watch() -> std::io::Result<()> {
    let (mut read, write) = std::io::pipe()?;
    WAKE.store(write.into_raw_fd(), Ordering::Release);
    std::thread::Builder::new().name("interrupt".into()).spawn(move || {
        let mut signal = [0u8];
        if read.read_exact(&mut signal).is_ok() {
            // Held to the end, so that no other file is created meanwhile.
            let paths = PATHS.lock().unwrap_or_else(PoisonError::into_inner);
            for path in paths.values() {
                remove(path);
            }
            end(i32::from(signal[0]));
        }
    })?;
    for signal in SIGNALS {
        // SAFETY: a handler that does nothing but write a byte. A program that ignores a signal, as under `nohup`, continues to.
        unsafe {
            let before = libc::signal(signal, on_signal as *const () as libc::sighandler_t);
            if before == libc::SIG_IGN {
                libc::signal(signal, libc::SIG_IGN);
            }
        }
    }
    Ok(())
}

/// A compiler that has not ended yet may still write there; what cannot be removed stays.
fn remove(path: &Path) {
    if std::fs::symlink_metadata(path).is_ok_and(|there| there.is_dir()) {
        _ = std::fs::remove_dir_all(path).or_else(|_| std::fs::remove_dir_all(path));
    } else {
        _ = std::fs::remove_file(path);
    }
}

/// Ends the process by a signal once its temporary files are gone. May be called by a handler.
pub extern "C" fn on_signal(signal: i32) {
    let descriptor: RawFd = WAKE.load(Ordering::Acquire);
    if descriptor < 0 {
        end(signal);
    }
    let byte = signal as u8;
    // SAFETY: one byte to a pipe that stays open.
    unsafe { libc::write(descriptor, (&raw const byte).cast(), 1) };
}

/// Ends the process by the signal, so that whoever waits for it sees what happened.
fn end(signal: i32) -> ! {
    // SAFETY: the signal's own effect is wanted, in this thread, also where a handler is running that blocks it.
    unsafe {
        let mut own: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut own);
        libc::sigaddset(&mut own, signal);
        libc::signal(signal, libc::SIG_DFL);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &own, std::ptr::null_mut());
        libc::raise(signal);
        libc::_exit(128 + signal)
    }
}
