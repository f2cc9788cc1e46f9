//! What a running grid has launched, and the memory in which it leaves arguments.

use crate::cuda::error::{self, Error};
use crate::memory::windows::{PAGE, Window};
use crate::modules::configuration::{Configuration, check};
use crate::modules::module::Module;
use crate::output::message::note_once;
use std::collections::HashMap;
use warpline_format::abi::windows;
use warpline_format::options::Options;

/// Alignment of parameter buffers.
const ALIGN: u64 = 64;
/// Pages of the window are opened in such steps.
const STEP: u64 = 16 * PAGE;

/// Something that the device does when the grid has ended.
#[derive(Clone, Debug)]
pub enum Work {
    /// A kernel of the same module.
    Kernel {
        /// Its index.
        index: usize,
        /// Its shape.
        configuration: Configuration,
        /// Its parameter buffer.
        parameters: Vec<u64>,
    },
    /// `cudaMemcpyAsync`.
    Copy {
        /// Target.
        to: u64,
        /// Source.
        from: u64,
        /// Bytes.
        bytes: u64,
    },
    /// `cudaMemsetAsync`.
    Fill {
        /// Target.
        to: u64,
        /// The byte.
        value: u8,
        /// Bytes.
        bytes: u64,
    },
}

/// A thread of the running grid: block and thread in it.
pub type Thread = (u64, u32);

/// What a kernel gives with a launch.
pub struct Request {
    /// What a pointer to the kernel holds.
    pub kernel: u64,
    /// Its parameter buffer.
    pub buffer: u64,
    /// Its shape.
    pub configuration: Configuration,
    /// Whether it is `cudaStreamTailLaunch`.
    pub tail: bool,
}

/// The state of dynamic parallelism.
#[derive(Debug)]
pub struct Children {
    options: Options,
    window: Option<Window>,
    /// Bytes of the window that are open.
    open: u64,
    /// Bytes of the window in use.
    used: u64,
    /// Buffers that were given out and not launched.
    buffers: u64,
    ordinary: Vec<Work>,
    tail: Vec<Work>,
    /// Kernels that wait, of this grid and of those around it.
    pub waiting: u64,
    /// `cudaLimitDevRuntimePendingLaunchCount`.
    pub limit: u64,
    errors: HashMap<Thread, Error>,
    /// Streams and events made so far.
    handles: u64,
}

impl Children {
    /// None yet.
    pub fn new(options: &Options) -> Children {
        Children {
            options: options.clone(),
            window: None,
            open: 0,
            used: 0,
            buffers: 0,
            ordinary: Vec::new(),
            tail: Vec::new(),
            waiting: 0,
            limit: 0,
            errors: HashMap::new(),
            handles: 0,
        }
    }

    /// Takes the work of the grid that has ended, the first item last, and discards its threads.
    pub fn take(&mut self) -> Vec<Work> {
        let mut work = std::mem::take(&mut self.ordinary);
        work.append(&mut self.tail);
        work.reverse();
        self.errors.clear();
        (self.used, self.buffers) = (0, 0);
        work
    }

    /// Remembers an error for `cudaGetLastError`.
    pub fn fail(&mut self, thread: Thread, code: Error) -> Error {
        self.errors.insert(thread, code);
        code
    }

    /// Returns the thread's last error.
    pub fn last_error(&mut self, thread: Thread, reset: bool) -> Error {
        let found = if reset { self.errors.remove(&thread) } else { self.errors.get(&thread).copied() };
        found.unwrap_or(error::SUCCESS)
    }

    /// Returns a number for a stream or event.
    pub fn handle(&mut self) -> u64 {
        self.handles += 1;
        windows::KERNELS + windows::KERNELS_BYTES + self.handles
    }

    /// Queues something other than a kernel.
    pub fn add(&mut self, work: Work) {
        self.ordinary.push(work);
    }

    /// Memory for the arguments of a launch; 0 where there is no room for more launches.
    pub fn buffer(&mut self, thread: Thread, bytes: u64) -> u64 {
        if self.waiting + self.buffers >= self.limit {
            note_once(format!(
                "a kernel has {} launches waiting, as many as cudaLimitDevRuntimePendingLaunchCount allows; here none begins \
                 before its parent has ended, so a GPU may get further (cudaDeviceSetLimit raises it)",
                self.limit
            ));
            self.fail(thread, error::LAUNCH_PENDING_COUNT_EXCEEDED);
            return 0;
        }
        let bytes = bytes.max(1).next_multiple_of(ALIGN);
        match self.place(bytes) {
            Some(place) => {
                self.buffers += 1;
                place
            }
            None => {
                self.fail(thread, error::LAUNCH_OUT_OF_RESOURCES);
                0
            }
        }
    }

    fn place(&mut self, bytes: u64) -> Option<u64> {
        let window = match &self.window {
            Some(window) => window,
            None => self.window.insert(Window::reserve(windows::ARGUMENTS, windows::ARGUMENTS_BYTES).ok()?),
        };
        let place = windows::ARGUMENTS + self.used;
        let end = self.used.checked_add(bytes).filter(|end| *end <= windows::ARGUMENTS_BYTES)?;
        if end > self.open {
            let more = (end - self.open).next_multiple_of(STEP);
            window.commit(windows::ARGUMENTS + self.open, more).ok()?;
            self.open += more;
        }
        self.used = end;
        Some(place)
    }

    /// Queues a kernel.
    pub fn launch(&mut self, thread: Thread, module: &Module, request: Request) -> Error {
        if request.buffer < windows::ARGUMENTS || request.buffer >= windows::ARGUMENTS + self.used {
            return self.fail(thread, error::INVALID_VALUE);
        }
        self.buffers = self.buffers.saturating_sub(1);
        let room = windows::ARGUMENTS + self.open - request.buffer;
        let index = request.kernel.wrapping_sub(windows::KERNELS) as usize;
        let Some(kernel) = module.kernels().get(index) else {
            return self.fail(thread, error::INVALID_DEVICE_FUNCTION);
        };
        if let Err(refusal) = check(module, index, &self.options, &request.configuration) {
            let name = module.kernel_name(index);
            note_once(format!(
                "a kernel's launch of {name} was refused (CUDA error {}): {}",
                refusal.code, refusal.why
            ));
            return self.fail(thread, refusal.code);
        }
        let bytes = u64::from(kernel.parameter_bytes);
        if bytes > room {
            return self.fail(thread, error::INVALID_VALUE);
        }
        let mut parameters = vec![0u64; (bytes as usize).div_ceil(8).next_multiple_of(8)];
        // SAFETY: `bytes` from the buffer on are open, and the vector has room for them.
        unsafe {
            let from = request.buffer as *const u8;
            std::ptr::copy_nonoverlapping(from, parameters.as_mut_ptr().cast(), bytes as usize);
        }
        if self.buffers == 0 {
            self.used = 0;
        }
        self.waiting += 1;
        let work = Work::Kernel { index, configuration: request.configuration, parameters };
        if request.tail {
            self.tail.push(work)
        } else {
            self.ordinary.push(work)
        }
        error::SUCCESS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tail_launches_come_last_and_the_first_is_taken_first() {
        let mut children = Children::new(&Options::default());
        let fill = |value| Work::Fill { to: 0, value, bytes: 0 };
        children.add(fill(1));
        children.tail.push(fill(3));
        children.add(fill(2));
        let mut order = Vec::new();
        let mut work = children.take();
        while let Some(Work::Fill { value, .. }) = work.pop() {
            order.push(value);
        }
        assert_eq!(order, [1, 2, 3]);
        assert!(children.take().is_empty());
    }

    #[test]
    fn errors_belong_to_their_thread() {
        let mut children = Children::new(&Options::default());
        assert_eq!(children.buffer((0, 3), 8), 0, "no launch may wait");
        assert_eq!(children.last_error((0, 4), true), error::SUCCESS);
        assert_eq!(children.last_error((0, 3), false), error::LAUNCH_PENDING_COUNT_EXCEEDED);
        assert_eq!(children.last_error((0, 3), true), error::LAUNCH_PENDING_COUNT_EXCEEDED);
        assert_eq!(children.last_error((0, 3), true), error::SUCCESS);
    }
}
