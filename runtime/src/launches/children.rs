//! Runs the work that a grid has launched.

use crate::call_paths::Entry;
use crate::cuda::error::{self, Error};
use crate::device::children::queue::Work;
use crate::device::execution::warp::Stop;
use crate::memory::rows::Rows;
use crate::modules::configuration::Configuration;
use crate::modules::module::Member;
use crate::state::runtime::Runtime;

/// `cudaMemcpyDeviceToDevice`.
const WITHIN_DEVICE: i32 = 3;

/// The reason why no more children ran.
pub enum Ended {
    /// A child stopped.
    Stopped(Stop),
    /// A copy or fill was refused.
    Refused(Error),
}

impl Runtime {
    /// Runs the work that the ended kernel launched, and the work that this work launches, each to its end. Children
    /// have the call path of the host's launch.
    pub fn run_children(&mut self, module: usize, stream: u32, entry: Entry) -> Result<(), Ended> {
        let mut pending = self.children.take();
        while let Some(work) = pending.pop() {
            let done = self.run_child(work, module, stream, entry);
            if done.is_err() {
                self.drop_children();
                return done;
            }
            pending.append(&mut self.children.take());
        }
        Ok(())
    }

    /// Discards child launches that did not start.
    pub fn drop_children(&mut self) {
        self.children.take();
        self.refused(self.children.waiting);
        self.children.waiting = 0;
    }

    fn run_child(&mut self, work: Work, module: usize, stream: u32, entry: Entry) -> Result<(), Ended> {
        let rows = |start, bytes| Rows { start, pitch: bytes };
        match work {
            Work::Kernel { index, configuration, parameters } => {
                self.children.waiting -= 1;
                let member = Member { module, index };
                let configuration = Configuration { stream, ..configuration };
                // The configuration was checked when the kernel was launched.
                let resident = self.check_configuration(member, &configuration).map_or(1, |resident| resident);
                self.generate_hooks(member).map_err(|refusal| Ended::Refused(refusal.code))?;
                match self.begin(member, configuration, resident, 0, &parameters, entry) {
                    Some(stop) => Err(Ended::Stopped(stop)),
                    None => Ok(()),
                }
            }
            // SAFETY: a copy within the device checks both ends against live allocations.
            Work::Copy { to, from, bytes } => unsafe {
                self.copy(rows(to, bytes), rows(from, bytes), bytes, 1, WITHIN_DEVICE, entry).map_err(Ended::Refused)
            },
            Work::Fill { to, value, bytes } => {
                self.fill(rows(to, bytes), value, bytes, 1, entry).map_err(Ended::Refused)
            }
        }
    }
}

impl Ended {
    /// Returns CUDA's error code.
    pub fn code(&self) -> Error {
        match self {
            Ended::Stopped(stop) => crate::device::faults::cause::code_of(stop),
            Ended::Refused(code) if *code == error::SUCCESS => error::LAUNCH_FAILURE,
            Ended::Refused(code) => *code,
        }
    }
}
