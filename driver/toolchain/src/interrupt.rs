//! Removes temporary files and folders when a signal ends this process.
//!
//! A signal handler may do hardly anything, so it wakes a thread that removes them and then lets the signal have its
//! effect.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::fd::{IntoRawFd, RawFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Mutex, Once, PoisonError};

/// The signals that end a process from outside; the last one is sent when the process's time limit is reached (`ulimit
/// -t`).
const SIGNALS: [i32; 5] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGXCPU];

static PATHS: Mutex<BTreeMap<u64, PathBuf>> = Mutex::new(BTreeMap::new());
/// The descriptor to which the handler writes; -1 before a thread reads.
static WAKE: AtomicI32 = AtomicI32::new(-1);

/// A file or folder that is removed when a signal ends the process, as long as this value lives.
#[derive(Debug)]
#[must_use = "the path is removed only as long as this value lives"]
pub struct Removal(u64);

/// Makes a file or folder be removed when the process is ended from outside. It must still be removed in the other
/// cases, for example by `tempfile`.
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

/// Makes a started program end by SIGTERM when this process ends for any reason, so that it writes nothing afterwards.
/// The thread that starts the program must wait for it.
pub fn ends_with_us(command: &mut std::process::Command) {
    use std::os::unix::process::CommandExt as _;
    let us = std::process::id();
    // SAFETY: two system calls, which may be made between `fork` and `exec`.
    unsafe {
        command.pre_exec(move || {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
            // This process may already have ended.
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
            // The lock is held to the end, so that no other file is created in the meantime.
            let paths = PATHS.lock().unwrap_or_else(PoisonError::into_inner);
            for path in paths.values() {
                remove(path);
            }
            end(i32::from(signal[0]));
        }
    })?;
    for signal in SIGNALS {
        // SAFETY: the handler only writes a byte. A program that ignores a signal, as under `nohup`, still ignores it.
        unsafe {
            let before = libc::signal(signal, on_signal as *const () as libc::sighandler_t);
            if before == libc::SIG_IGN {
                libc::signal(signal, libc::SIG_IGN);
            }
        }
    }
    Ok(())
}

/// Removes a file or folder. A compiler that has not ended yet may still write to it; what cannot be removed stays.
fn remove(path: &Path) {
    if std::fs::symlink_metadata(path).is_ok_and(|there| there.is_dir()) {
        _ = std::fs::remove_dir_all(path).or_else(|_| std::fs::remove_dir_all(path));
    } else {
        _ = std::fs::remove_file(path);
    }
}

/// Ends the process by a signal after its temporary files have been removed. May be called by a handler.
pub extern "C" fn on_signal(signal: i32) {
    let descriptor: RawFd = WAKE.load(Ordering::Acquire);
    if descriptor < 0 {
        end(signal);
    }
    let byte = signal as u8;
    // SAFETY: the call writes one byte to a pipe that stays open.
    unsafe { libc::write(descriptor, (&raw const byte).cast(), 1) };
}

/// Ends the process by the signal, so that the waiting process receives the reason.
fn end(signal: i32) -> ! {
    // SAFETY: the signal's own effect is intended, in this thread, even if a handler that blocks the signal is running.
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
