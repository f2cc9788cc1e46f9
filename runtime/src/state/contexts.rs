//! Contexts of CUDA's driver API. There is one memory and one set of streams, whichever context is current: what is kept
//! is which handles there are, what each thread made current, and what was allocated in contexts that end.

use crate::cuda::error::{self, Error};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// A context's handle; 0 is none.
pub type Context = usize;

/// The context of the runtime API.
pub const PRIMARY: Context = 0x5770_c000_0000;

/// After `cuInit`, or after a call of the runtime API, which does the same.
static STARTED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The calling thread's contexts, the current one last.
    static STACK: RefCell<Vec<Context>> = const { RefCell::new(Vec::new()) };
}

/// What a function of the driver API needs to have happened before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// `cuInit`.
    Start,
    /// A current context.
    Context,
}

impl Needs {
    /// CUDA's error where it has not.
    pub fn check(self) -> Result<(), Error> {
        if self != Needs::Nothing && !STARTED.load(Ordering::Relaxed) {
            return Err(error::INITIALIZATION_ERROR);
        }
        if self == Needs::Context && current() == 0 { Err(error::DEVICE_UNINITIALIZED) } else { Ok(()) }
    }
}

/// `cuInit`.
pub fn start() {
    STARTED.store(true, Ordering::Relaxed);
}

/// A call of the runtime API: a thread without a context gets the primary one.
pub fn runtime_used() {
    start();
    // Destructors of static objects may call when the thread's own variables are gone.
    _ = STACK.try_with(|stack| {
        let mut stack = stack.borrow_mut();
        if stack.is_empty() {
            stack.push(PRIMARY);
        }
    });
}

/// Returns the calling thread's context, or 0.
pub fn current() -> Context {
    STACK.try_with(|stack| stack.borrow().last().copied()).ok().flatten().unwrap_or(0)
}

/// Makes a context current, over the one that was.
pub fn push(context: Context) {
    _ = STACK.try_with(|stack| stack.borrow_mut().push(context));
}

/// Takes the current context away; the one below it is current again.
pub fn pop() -> Option<Context> {
    STACK.try_with(|stack| stack.borrow_mut().pop()).ok().flatten()
}

/// The contexts of the process.
#[derive(Debug, Default)]
pub struct Contexts {
    /// Keyed by handle, the addresses of what was allocated in it and not freed.
    created: HashMap<Context, Vec<u64>>,
    count: usize,
    /// How often the primary context was retained and not released.
    pub retained: u64,
}

impl Contexts {
    /// Creates a context.
    pub fn create(&mut self) -> Context {
        self.count += 1;
        let handle = PRIMARY + self.count * 64;
        self.created.insert(handle, Vec::new());
        handle
    }

    /// Returns whether a handle is a context.
    pub fn check(&self, context: Context) -> Result<(), Error> {
        let known = context == PRIMARY || self.created.contains_key(&context);
        if known { Ok(()) } else { Err(error::DEVICE_UNINITIALIZED) }
    }

    /// Ends a context that the program created; gives what is still allocated in it.
    pub fn destroy(&mut self, context: Context) -> Result<Vec<u64>, Error> {
        self.created.remove(&context).ok_or(error::DEVICE_UNINITIALIZED)
    }

    /// Something was allocated in the current context.
    pub fn allocated(&mut self, address: u64) {
        if let Some(addresses) = self.created.get_mut(&current()) {
            addresses.push(address);
        }
    }

    /// It was freed, in whatever context.
    pub fn freed(&mut self, address: u64) {
        self.created.values_mut().for_each(|addresses| addresses.retain(|known| *known != address));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_context_pushed_is_current() {
        let mut contexts = Contexts::default();
        assert_eq!((current(), pop()), (0, None));
        let (first, second) = (contexts.create(), contexts.create());
        push(first);
        contexts.allocated(1024);
        contexts.allocated(2048);
        contexts.freed(1024);
        push(second);
        assert_eq!(current(), second);
        assert_eq!(pop(), Some(second));
        assert_eq!(current(), first);
        assert_eq!(contexts.destroy(first), Ok(vec![2048]));
        assert!(contexts.destroy(first).is_err() && contexts.check(first).is_err() && contexts.check(second).is_ok());
        assert!(contexts.destroy(PRIMARY).is_err() && contexts.check(PRIMARY).is_ok() && contexts.check(0).is_err());
    }

    #[test]
    fn the_runtime_api_makes_the_primary_context_current_where_there_is_none() {
        runtime_used();
        assert_eq!(current(), PRIMARY);
        push(PRIMARY + 64);
        runtime_used();
        assert_eq!(current(), PRIMARY + 64);
        assert_eq!(Needs::Context.check(), Ok(()));
    }
}
