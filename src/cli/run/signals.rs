//! Signals sent to `warpline run` continue to the program; `warpline` itself stays to write the profile.

use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use warpline_toolchain::interrupt;

const FORWARDED: [libc::c_int; 7] =
    [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGXCPU, libc::SIGUSR1, libc::SIGUSR2];

/// Process that signals go to; [`NOT_YET`] before it runs, [`GONE`] once it was waited for.
static TARGET: AtomicI32 = AtomicI32::new(NOT_YET);
const NOT_YET: i32 = 0;
const GONE: i32 = -1;
/// Signals that came before it ran, one bit each.
static EARLY: AtomicU32 = AtomicU32::new(0);

/// Forwards while it lives.
pub(super) struct Forwarding {
    before: Vec<(libc::c_int, libc::sigaction)>,
}

impl Forwarding {
    /// Takes the signals over.
    pub(super) fn install() -> Forwarding {
        TARGET.store(NOT_YET, Ordering::SeqCst);
        EARLY.store(0, Ordering::SeqCst);
        let mut before = Vec::new();
        for signal in FORWARDED {
            // SAFETY: both structures are plain data for which zeroes are valid; the handler only
            // does what is allowed in handlers.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                let mut old: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, std::ptr::null(), &mut old);
                // A signal that was ignored on purpose (nohup) stays ignored, here and in the program.
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

    /// Names the process, and hands on what came before.
    pub(super) fn to(&self, process: u32) {
        TARGET.store(process as i32, Ordering::SeqCst);
        let early = EARLY.swap(0, Ordering::SeqCst);
        for signal in FORWARDED {
            if early >> signal & 1 == 1 {
                // SAFETY: plain system call.
                unsafe { libc::kill(process as i32, signal) };
            }
        }
    }
}

/// Has signals go nowhere: the program was waited for, and its number may become another's.
pub(super) fn to_no_one() {
    TARGET.store(GONE, Ordering::SeqCst);
}

impl Drop for Forwarding {
    fn drop(&mut self) {
        for (signal, old) in &self.before {
            // SAFETY: `old` is what `sigaction` gave for this signal.
            unsafe { libc::sigaction(*signal, old, std::ptr::null_mut()) };
        }
    }
}

extern "C" fn forward(signal: libc::c_int, information: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the system passes valid information to a handler installed with SA_SIGINFO.
    let code = unsafe { (*information).si_code };
    // The terminal sends its signals to the program as well; the signal for our own processor time goes to this process
    // alone.
    if code == libc::SI_KERNEL && signal != libc::SIGXCPU {
        return;
    }
    match TARGET.load(Ordering::SeqCst) {
        NOT_YET => _ = EARLY.fetch_or(1 << signal, Ordering::SeqCst),
        // The profile is what remains to be done, and soon is; without time it never will be.
        GONE if signal == libc::SIGXCPU => interrupt::on_signal(signal),
        GONE => {}
        // SAFETY: `kill` is allowed in handlers. The process may have ended; then nothing happens, as its number stays
        // taken until it is waited for.
        target => _ = unsafe { libc::kill(target, signal) },
    }
}

/// Name of a signal for messages.
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
