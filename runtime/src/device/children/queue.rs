//! The work that a running grid has launched, and the memory for the arguments of that work.

use crate::cuda::error::{self, Error};
use crate::memory::windows::{PAGE, Window};
use crate::modules::configuration::{Configuration, check};
use crate::modules::module::Module;
use crate::output::message::note_once;
use std::collections::HashMap;
use warpline_format::abi::windows;
use warpline_format::options::Options;

/// The alignment of parameter buffers.
const ALIGN: u64 = 64;
/// The window's pages are opened in steps of this size.
const STEP: u64 = 16 * PAGE;

/// Work that the device performs after the grid has ended.
#[derive(Clone, Debug)]
pub enum Work {
    /// A kernel of the same module.
    Kernel {
        /// The kernel's index.
        index: usize,
        /// The launch configuration.
        configuration: Configuration,
        /// The kernel's parameter buffer.
        parameters: Vec<u64>,
    },
    /// `cudaMemcpyAsync`.
    Copy {
        /// The address of the destination.
        to: u64,
        /// The address of the source.
        from: u64,
        /// The number of bytes.
        bytes: u64,
    },
    /// `cudaMemsetAsync`.
    Fill {
        /// The address of the destination.
        to: u64,
        /// The value of each byte.
        value: u8,
        /// The number of bytes.
        bytes: u64,
    },
}

/// A thread of the running grid: its block, and its number in the block.
pub type Thread = (u64, u32);

/// The arguments that a kernel passes for a launch.
pub struct Request {
    /// The value of a pointer to the kernel.
    pub kernel: u64,
    /// The parameter buffer of the launched kernel.
    pub buffer: u64,
    /// The launch configuration.
    pub configuration: Configuration,
    /// Whether the stream is `cudaStreamTailLaunch`.
    pub tail: bool,
}

/// The state of dynamic parallelism.
#[derive(Debug)]
pub struct Children {
    options: Options,
    window: Option<Window>,
    /// The number of bytes of the window that are open.
    open: u64,
    /// The number of bytes of the window in use.
    used: u64,
    /// The number of buffers that were allocated and not launched.
    buffers: u64,
    ordinary: Vec<Work>,
    tail: Vec<Work>,
    /// The number of kernels that wait, of this grid and of the grids around it.
    pub waiting: u64,
    /// `cudaLimitDevRuntimePendingLaunchCount`.
    pub limit: u64,
    errors: HashMap<Thread, Error>,
    /// The number of streams and events that were created so far.
    handles: u64,
}

impl Children {
    /// Creates a state without any launches.
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

    /// Returns the work of the grid that has ended, with the first item last, and discards the state of its threads.
    pub fn take(&mut self) -> Vec<Work> {
        let mut work = std::mem::take(&mut self.ordinary);
        work.append(&mut self.tail);
        work.reverse();
        self.errors.clear();
        (self.used, self.buffers) = (0, 0);
        work
    }

    /// Stores an error for `cudaGetLastError`.
    pub fn fail(&mut self, thread: Thread, code: Error) -> Error {
        self.errors.insert(thread, code);
        code
    }

    /// Returns the thread's last error.
    pub fn last_error(&mut self, thread: Thread, reset: bool) -> Error {
        let found = if reset { self.errors.remove(&thread) } else { self.errors.get(&thread).copied() };
        found.unwrap_or(error::SUCCESS)
    }

    /// Returns a number for a new stream or event.
    pub fn handle(&mut self) -> u64 {
        self.handles += 1;
        windows::KERNELS + windows::KERNELS_BYTES + self.handles
    }

    /// Queues work other than a kernel.
    pub fn add(&mut self, work: Work) {
        self.ordinary.push(work);
    }

    /// Allocates memory for the arguments of a launch; returns 0 if no more launches are possible.
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
        // SAFETY: `bytes` from the start of the buffer are open, and the vector has enough capacity.
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
