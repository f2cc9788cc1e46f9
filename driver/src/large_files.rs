//! The limit on file sizes (`ulimit -f`).

/// Lets a write beyond the limit fail, as on a full disk, instead of ending this process with its temporary files left behind.
/// Programs that are started have the system's way again, as they would not if the signal were ignored.
pub fn survive() {
    extern "C" fn nothing(_signal: libc::c_int) {}
    // SAFETY: the handler does nothing.
    unsafe { libc::signal(libc::SIGXFSZ, nothing as *const () as libc::sighandler_t) };
}
