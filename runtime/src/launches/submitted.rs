//! Work that the program submits to streams.

use crate::call_paths::Entry;
use crate::cuda::error::Error;
use crate::graphs::Work;
use crate::state::runtime::Runtime;

impl Runtime {
    /// Submits work to a stream: if the stream is being captured, the work becomes a node, otherwise it is performed
    /// immediately.
    ///
    /// # Safety
    /// The requirements of [`Runtime::perform`] apply.
    pub unsafe fn submit(&mut self, stream: usize, work: Work, entry: Entry) -> Result<(), Error> {
        let number = self.streams.get(stream)?.number;
        if self.captures.find(stream).is_some() {
            return self.captures.take(&mut self.graphs, stream, work);
        }
        // SAFETY: by the contract.
        unsafe { self.perform(&work, number, entry) }
    }
}
