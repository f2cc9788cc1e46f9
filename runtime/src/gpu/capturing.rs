//! Finds out whether a stream is being captured into a graph.

use crate::cuda::error;
use crate::cuda::types::StreamHandle;
use crate::real::functions::Real;

/// Returns whether work on the stream goes into a graph.
pub(super) fn is_capturing(real: &Real, stream: StreamHandle) -> bool {
    let mut status = 0;
    // SAFETY: the stream is the program's; the result goes to a local variable.
    let code = unsafe { (real.is_capturing)(stream, &raw mut status) };
    if code != error::SUCCESS {
        // SAFETY: the function has no arguments. The legacy stream cannot be queried while another stream is being
        // captured.
        unsafe { (real.last_error)() };
    }
    code != error::SUCCESS || status != 0
}
