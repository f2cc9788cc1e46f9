//! Whether a stream records a graph.

use crate::cuda::error;
use crate::cuda::types::StreamHandle;
use crate::real::functions::Real;

/// Returns whether work given to the stream goes into a graph.
pub(super) fn is_capturing(real: &Real, stream: StreamHandle) -> bool {
    let mut status = 0;
    // SAFETY: the program's stream; a result through a pointer to a local.
    let code = unsafe { (real.is_capturing)(stream, &raw mut status) };
    if code != error::SUCCESS {
        // SAFETY: no arguments. The legacy stream cannot be queried while another captures.
        unsafe { (real.last_error)() };
    }
    code != error::SUCCESS || status != 0
}
