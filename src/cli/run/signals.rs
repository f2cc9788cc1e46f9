//! Forwards signals that are sent to `warpline run` to the program. `warpline` itself keeps running to write the
//! profile.

use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use warpline_toolchain::interrupt;

const FORWARDED: [libc::c_int; 7] =
    [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGXCPU, libc::SIGUSR1, libc::SIGUSR2];

/// Process that receives the signals; [`NOT_YET`] before it runs, [`GONE`] after it has ended.
static TARGET: AtomicI32 = AtomicI32::new(NOT_YET);
const NOT_YET: i32 = 0;
const GONE: i32 = -1;
/// Signals that arrived before it ran, one bit each.
static EARLY: AtomicU32 = AtomicU32::new(0);

/// Forwards signals as long as it exists.
pub(super) struct Forwarding {
    before: Vec<(libc::c_int, libc::sigaction)>,
}

impl Forwarding {
    /// Installs the signal handlers.
    pub(super) fn install() -> Forwarding {
        TARGET.store(NOT_YET, Ordering::SeqCst);
        EARLY.store(0, Ordering::SeqCst);
        let mut before = Vec::new();
        for signal in FORWARDED {
            // SAFETY: both structures are plain data for which zeroes are valid; the handler only performs operations
            // that are allowed in handlers.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                let mut old: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, std::ptr::null(), &mut old);
                // A signal that was ignored deliberately (nohup) stays ignored, here and in the program.
                if old.sa_sigaction == libc::SIG_IGN {
                    continue;
                }
                action.sa_sigaction = forward as *const () as libc::sighandler_t;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
                if libc::sigaction(signal, &action, std::ptr::null_mut()) == 0 {
                    before.push((signal, old));
                }
            }
        }
        Forwarding { before }
    }

    /// Sets the process, and forwards earlier signals.
    pub(super) fn to(&self, process: u32) {
        TARGET.store(process as i32, Ordering::SeqCst);
        let early = EARLY.swap(0, Ordering::SeqCst);
        for signal in FORWARDED {
            if early >> signal & 1 == 1 {
                // SAFETY: the system call does not access memory.
                unsafe { libc::kill(process as i32, signal) };
            }
        }
    }
}

/// Stops the forwarding, because the process has ended and another process may get its number.
pub(super) fn to_no_one() {
    TARGET.store(GONE, Ordering::SeqCst);
}

impl Drop for Forwarding {
    fn drop(&mut self) {
        for (signal, old) in &self.before {
            // SAFETY: `old` is the value that `sigaction` returned for this signal.
            unsafe { libc::sigaction(*signal, old, std::ptr::null_mut()) };
        }
    }
}

extern "C" fn forward(signal: libc::c_int, information: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the system passes valid information to a handler installed with SA_SIGINFO.
    let code = unsafe { (*information).si_code };
    // The terminal also sends its signals to the program. The signal for the processor time limit is sent only to this
    // process.
    if code == libc::SI_KERNEL && signal != libc::SIGXCPU {
        return;
    }
    match TARGET.load(Ordering::SeqCst) {
        NOT_YET => _ = EARLY.fetch_or(1 << signal, Ordering::SeqCst),
        // Only the profile remains to be written, which is fast; without processor time it could not be written.
        GONE if signal == libc::SIGXCPU => interrupt::on_signal(signal),
        GONE => {}
        // SAFETY: `kill` is allowed in handlers. If the process has ended, the call has no effect, because its number
        // stays reserved until it is waited for.
        target => _ = unsafe { libc::kill(target, signal) },
    }
}

/// Returns the name of a signal for messages.
pub(super) fn name(signal: i32) -> &'static str {
    match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        _ => "see signal(7)",
    }
}
