//! Executes the nodes of graphs.

use crate::call_paths::Entry;
use crate::cuda::error::Error;
use crate::graphs::{KernelWork, Work};
use crate::modules::configuration::Configuration;
use crate::state::runtime::Runtime;
use std::ffi::c_void;
use std::time::Instant;

impl Runtime {
    /// Executes a node, except host functions and child graphs, which the caller executes.
    ///
    /// # Safety
    /// Host memory in the work is valid, as for [`Runtime::copy`].
    pub unsafe fn perform(&mut self, work: &Work, stream: u32, entry: Entry) -> Result<(), Error> {
        let outer = self.streams.order.current.replace(stream);
        // SAFETY: by the contract.
        let result = unsafe { self.perform_in(work, stream, entry) };
        self.streams.order.current = outer;
        result
    }

    /// The variant of [`Self::perform`] after the stream has been recorded as the current one.
    ///
    /// # Safety
    /// The requirements of [`Self::perform`] apply.
    unsafe fn perform_in(&mut self, work: &Work, stream: u32, entry: Entry) -> Result<(), Error> {
        match work {
            Work::Kernel(kernel) => {
                let configuration = Configuration { stream, ..kernel.configuration };
                let stub = kernel.stub as *const c_void;
                self.launch_packed(stub, configuration, kernel.parameters.clone(), entry)
            }
            Work::Copy(copy) => {
                for &(to, from, width, height) in &copy.pieces {
                    // SAFETY: by the contract.
                    unsafe { self.copy(to, from, width, height, copy.kind, entry)? };
                }
                Ok(())
            }
            Work::Fill(fill) => {
                for &plane in &fill.planes {
                    self.fill_with(plane, fill.value, fill.size, fill.width, fill.height, entry)?;
                }
                Ok(())
            }
            Work::Record(event) => {
                self.streams.event(*event)?.recorded = Some(Instant::now());
                let blocking = self.streams.is_blocking(stream);
                self.streams.order.record(*event, stream, blocking);
                Ok(())
            }
            Work::Wait(event) => {
                self.streams.event(*event)?;
                let blocking = self.streams.is_blocking(stream);
                self.streams.order.wait(stream, blocking, *event);
                Ok(())
            }
            Work::Empty | Work::Host(_) | Work::Child(_) | Work::Allocate(_) | Work::Free(_) => Ok(()),
        }
    }

    /// Returns the work of a kernel node.
    ///
    /// # Safety
    /// `arguments` fulfils the requirements of [`Runtime::launch`].
    pub unsafe fn kernel_work(
        &self,
        stub: *const c_void,
        configuration: Configuration,
        arguments: *const *const c_void,
    ) -> Result<Work, Error> {
        // SAFETY: the caller fulfils the contract.
        let parameters = unsafe { self.pack_arguments(stub, arguments)? };
        Ok(Work::Kernel(KernelWork { stub: stub as usize, configuration, parameters }))
    }
}
