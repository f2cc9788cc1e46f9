//! Passes descriptors to the program.

use std::io;
use std::os::fd::RawFd;

/// Allows a child process to inherit a descriptor.
pub(super) fn inherit(descriptor: RawFd) -> io::Result<()> {
    // SAFETY: the call sets the flags of an open descriptor and does not access memory.
    if unsafe { libc::fcntl(descriptor, libc::F_SETFD, 0) } < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
