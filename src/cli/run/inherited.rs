//! Descriptors that the program inherits.

use std::io;
use std::os::fd::RawFd;

/// Lets a child process have a descriptor.
pub(super) fn inherit(descriptor: RawFd) -> io::Result<()> {
    // SAFETY: sets the flags of a descriptor that is open; touches no memory.
    if unsafe { libc::fcntl(descriptor, libc::F_SETFD, 0) } < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
