//! Contexts of CUDA's driver API. The memory and the streams are the same in all contexts. The state therefore consists
//! only of the existing handles, each thread's current contexts, and the allocations of contexts that the program may
//! destroy.

use crate::cuda::error::{self, Error};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// A context's handle; 0 means no context.
pub type Context = usize;

/// The context of the runtime API.
pub const PRIMARY: Context = 0x5770_c000_0000;

/// Whether `cuInit` was called, or a function of the runtime API, which has the same effect.
static STARTED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The calling thread's stack of contexts; the current one is last.
    static STACK: RefCell<Vec<Context>> = const { RefCell::new(Vec::new()) };
}

/// The state that a function of the driver API requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// No requirement.
    Nothing,
    /// `cuInit` was called.
    Start,
    /// A current context.
    Context,
}

impl Needs {
    /// Returns CUDA's error if the requirement is not fulfilled.
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

/// Called for each call of the runtime API: a thread without a context gets the primary one.
pub fn runtime_used() {
    start();
    // Destructors of static objects may call this after the thread's local variables have been destroyed.
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

/// Pushes a context, which becomes the current one.
pub fn push(context: Context) {
    _ = STACK.try_with(|stack| stack.borrow_mut().push(context));
}

/// Pops the current context; the context below it becomes current again.
pub fn pop() -> Option<Context> {
    STACK.try_with(|stack| stack.borrow_mut().pop()).ok().flatten()
}

/// The contexts of the process.
#[derive(Debug, Default)]
pub struct Contexts {
    /// For each handle, the addresses of the allocations that were made in the context and not freed.
    created: HashMap<Context, Vec<u64>>,
    count: usize,
    /// How often the primary context was retained and not yet released.
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

    /// Ends a context that the program created, and returns its remaining allocations.
    pub fn destroy(&mut self, context: Context) -> Result<Vec<u64>, Error> {
        self.created.remove(&context).ok_or(error::DEVICE_UNINITIALIZED)
    }

    /// Records an allocation in the current context.
    pub fn allocated(&mut self, address: u64) {
        if let Some(addresses) = self.created.get_mut(&current()) {
            addresses.push(address);
        }
    }

    /// Records that an allocation was freed, in any context.
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
