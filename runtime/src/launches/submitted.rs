//! Work that is given to streams.

use crate::cuda::error::Error;
use crate::graphs::Work;
use crate::paths::Entry;
use crate::state::runtime::Runtime;

impl Runtime {
    /// Work for a stream: it becomes a node where the stream is being captured, else it is done at once.
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
