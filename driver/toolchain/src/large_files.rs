//! The limit on file sizes (`ulimit -f`).

/// Makes a write beyond the limit fail, as on a full disk, instead of ending this process without removing its
/// temporary files. Started programs have the system's default behaviour, which would not be the case if the signal
/// were ignored.
pub fn survive() {
    extern "C" fn nothing(_signal: libc::c_int) {}
    // SAFETY: the structure is plain data for which zeroes are valid, and the handler does nothing.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = nothing as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGXFSZ, &action, std::ptr::null_mut());
    }
}
